"""Where a server is: addresses as URLs, from the caller or from the environment that a run gives its workers."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENGINE_OF = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mariadb",
    "mariadb": "mariadb",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
}
"""scheme -> engine."""


def variable(engine: str) -> str:
    """Return the name under which a worker finds the address of an engine.

    >>> variable("mariadb")
    'LAB_MARIADB_URL'
    """
    return f"LAB_{engine.upper()}_URL"


def engine_of(url: str) -> str:
    """Return the engine that a URL leads to. ValueError for another scheme, which does not tell the rest of the URL.

    >>> engine_of("postgresql://reader@db.example/events")
    'postgresql'
    >>> engine_of("https://db.example")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the address of a server begins with 'https:': expected postgresql, postgres, mysql, mariadb, redis...
    """
    scheme = url.partition(":")[0]
    if ":" not in url or scheme not in ENGINE_OF:
        given = f"begins with {scheme + ':'!r}" if ":" in url else "has no scheme"
        raise ValueError(f"the address of a server {given}: expected {', '.join(ENGINE_OF)}, as in redis://host:6379/0")
    return ENGINE_OF[scheme]


def url_of(engine: str, url: str | None = None) -> str:
    """Return `url`, or the address that the run has put into the environment; LookupError when there is neither."""
    found = url or os.environ.get(variable(engine), "")
    if not found:
        raise LookupError(
            f"no address of a {engine} server: expected url=..., or {variable(engine)} in the environment "
            f"(a run of the lab starts one and sets it)"
        )
    return found


def mariadb_arguments(url: str) -> dict[str, Any]:
    """Return a MariaDB URL as the arguments of `pymysql.connect`; ValueError when it is none.

    >>> mariadb_arguments("mysql://lab:a%2Fb@localhost/events?unix_socket=%2Frun%2Fdb.sock")["unix_socket"]
    '/run/db.sock'
    """
    from urllib.parse import parse_qs, unquote, urlsplit

    if engine_of(url) != "mariadb":
        raise ValueError("the address is not one of MariaDB: expected mysql://user:password@host:3306/database")
    parts = urlsplit(url)
    arguments: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": parts.port or 3306,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")),
    }
    query = parse_qs(parts.query)
    if "unix_socket" in query:
        arguments["unix_socket"] = query["unix_socket"][0]
    return arguments
