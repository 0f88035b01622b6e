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

    The socket is opened here because PyMySQL leaves one open where nobody listens. Once it is open the greeting is
    waited for with the timeout of reading, which is set meanwhile: something else may listen, and say nothing.
    """
    arguments = mariadb_arguments(url)
    path = arguments.pop("unix_socket", None)
    connection: Any = pymysql.connect(**arguments, connect_timeout=CONNECT_SECONDS, defer_connect=True, **options)
    patience, connection._read_timeout = connection._read_timeout, CONNECT_SECONDS  # PyMySQL has no other way to it
    connection.connect(_opened(path, arguments))
    connection._read_timeout = patience
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
