"""What a server says of itself: its version, and the settings that decide what its figures are worth."""

from __future__ import annotations

import contextlib
from typing import Any

from runners.server_engines import ENGINES as BY_NAME

LIBRARIES = {"postgresql": "psycopg", "mariadb": "pymysql", "redis": "redis"}
"""What this process asks an engine's version and settings with."""

POSTGRESQL_SETTINGS = (
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "work_mem",
    "shared_buffers",
    "default_transaction_isolation",
)
MARIADB_SETTINGS = (
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "log_bin",
    "transaction_isolation",
    "tx_isolation",
)
REDIS_SETTINGS = ("appendonly", "appendfsync", "save", "maxmemory-policy")


class ServerError(Exception):
    """A server could not be had. Its text is one sentence, without a password."""


def asked(engine: str, url: str) -> tuple[str, dict[str, str]]:
    """Return the version of a server and the settings that decide what its figures are worth; ServerError if silent."""
    try:
        return {"postgresql": _postgresql, "mariadb": _mariadb, "redis": _redis}[engine](url)
    except ImportError as error:
        raise ServerError(
            f"{BY_NAME[engine].title} needs {error.name!r}, which cannot be imported here: `make setup` brings it"
        ) from error
    except Exception as error:
        kind = type(error).__name__
        raise ServerError(
            f"the {BY_NAME[engine].title} server does not answer as expected ({kind}): look at the host, the port, the "
            "user and the password of its address, and whether it runs"
        ) from error


def _postgresql(url: str) -> tuple[str, dict[str, str]]:
    import psycopg

    with psycopg.connect(url, connect_timeout=5) as connection:
        names = list(POSTGRESQL_SETTINGS)
        found = connection.execute("SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", (names,))
        settings = {str(name): str(value) for name, value in found}
        version = str(connection.info.parameter_status("server_version"))
        return version.split()[0], {name: settings[name] for name in names if name in settings}


def _mariadb(url: str) -> tuple[str, dict[str, str]]:
    from queues.events.mariadb_connection import connected

    connection = connected(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            version = str((cursor.fetchone() or ("",))[0])
            cursor.execute("SHOW VARIABLES WHERE Variable_name IN %s", (MARIADB_SETTINGS,))
            settings = {str(name): str(value) for name, value in cursor.fetchall()}
        found = {name: settings[name] for name in MARIADB_SETTINGS if name in settings}
        # The default; a queue says itself what its connections have.
        found = {"default_isolation" if "isolation" in name else name: value for name, value in found.items()}
        return version.split("-")[0], found
    finally:
        connection.close()


def _redis(url: str) -> tuple[str, dict[str, str]]:
    import redis

    client: Any = redis.Redis.from_url(url, socket_timeout=5, decode_responses=True)
    try:
        settings: dict[str, str] = {}
        with contextlib.suppress(redis.ResponseError):  # not every server lets itself be asked
            settings = {name: client.config_get(name).get(name, "") for name in REDIS_SETTINGS}
        return str(client.info("server")["redis_version"]), settings
    finally:
        client.close()
