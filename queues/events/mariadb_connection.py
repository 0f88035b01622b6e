"""Connects to MariaDB with PyMySQL, by URL."""

from __future__ import annotations

import socket

import pymysql

from queues.addresses import mariadb_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONNECT_SECONDS = 5


def connected(url: str, **options: Any) -> Any:
    """Return an open connection; `options` are those of `pymysql.connect`. Raises what PyMySQL raises.

    The socket is opened here because PyMySQL leaves one open where nobody listens.
    """
    arguments = mariadb_arguments(url)
    path = arguments.pop("unix_socket", None)
    connection = pymysql.connect(**arguments, connect_timeout=CONNECT_SECONDS, defer_connect=True, **options)
    connection.connect(_opened(path, arguments))
    return connection


def _opened(path: str | None, arguments: dict[str, Any]) -> socket.socket:
    try:
        if path is None:
            opened = socket.create_connection((arguments["host"], arguments["port"]), CONNECT_SECONDS)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return opened
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            opened.settimeout(CONNECT_SECONDS)
            opened.connect(path)
        except BaseException:
            opened.close()
            raise
    except OSError as error:
        raise pymysql.err.OperationalError(2003, f"nobody answers at the address ({error.strerror})") from None
    return opened
