"""The event queue in MariaDB 10.6 or newer, through PyMySQL."""

from __future__ import annotations

import re
import secrets

from pymysql import err
from pymysql.constants import CLIENT

from queues.addresses import url_of
from queues.events import statements
from queues.events.connection import AGAIN, BUSY, FULL, GONE
from queues.events.mariadb_connection import connected
from queues.events.pipeline import Pipeline
from queues.events.rules import EventsError, now_us, require_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from queues.events.connection import Parameters

TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL"
"""Equal means the same characters, as on the other engines: case, accents and spaces at the end count."""

TABLES = (
    f"""CREATE TABLE IF NOT EXISTS events (
        id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        job VARCHAR(100) {TEXT},
        task VARCHAR(200) {TEXT},
        result VARCHAR(20) {TEXT},
        at_us BIGINT NOT NULL) ENGINE=InnoDB""",
    f"""CREATE TABLE IF NOT EXISTS subscriptions (
        source VARCHAR(100) {TEXT},
        consumer VARCHAR(100) {TEXT},
        ready TINYINT NOT NULL,
        PRIMARY KEY (source, consumer)) ENGINE=InnoDB""",
    f"""CREATE TABLE IF NOT EXISTS work (
        consumer VARCHAR(100) {TEXT},
        task VARCHAR(200) {TEXT},
        source VARCHAR(100) {TEXT},
        event BIGINT NOT NULL,
        at_us BIGINT NOT NULL,
        worker VARCHAR(100) {TEXT},
        token BIGINT NOT NULL,
        until_us BIGINT NOT NULL,
        PRIMARY KEY (consumer, task, source),
        KEY work_next (consumer, source, at_us, event)) ENGINE=InnoDB""",
)
INDEXES = (
    "ALTER TABLE events ADD COLUMN IF NOT EXISTS once TINYINT AS (IF(result = 'SUCCEEDED', 1, NULL)) VIRTUAL",
    "CREATE INDEX IF NOT EXISTS events_by_job ON events (job, result, at_us, id, task)",
    "CREATE UNIQUE INDEX IF NOT EXISTS events_success ON events (job, task, once)",
)
"""There are no indexes over a part of a table: a column that is NULL for the rest, all different, stands in for it."""

INSERT = "INSERT IGNORE INTO events (job, task, result, at_us) VALUES (:job, :task, :result, :at_us)"
LOCK_NEXT = f"{statements.NEXT} FOR UPDATE SKIP LOCKED"
TAKE = """
    UPDATE work SET worker = :worker, token = token + 1, until_us = :until_us
    WHERE consumer = :by AND source = :of AND task = :task"""
TAKEN = "SELECT event, task, at_us, token FROM work WHERE consumer = :by AND source = :of AND task = :task"

DEADLOCK, LOCK_WAIT, NO_DATABASE = 1213, 1205, 1049
NO_ROOM = (1021, 1114, 1041, 3019)
LOST = (2002, 2003, 2006, 2013, 1053, 1152, 1158, 1159, 1160, 1161, 1927)
OLDEST = (10, 6)


class Mariadb(Pipeline):
    """Events in the database `name` at `url`; without a name in a private database that goes with the object.

    Without `url` the address is LAB_MARIADB_URL of the environment. How durable a commit is is the server's setting
    (innodb_flush_log_at_trx_commit). EventsError for a server older than 10.6, which has no SKIP LOCKED.
    """

    engine = "mariadb"
    title = "MariaDB"
    indexes = INDEXES
    locking = " FOR UPDATE"
    waiting = "LOCK IN SHARE MODE"

    def __init__(
        self,
        url: str | None = None,
        *,
        name: str | None = None,
        indexed: bool = True,
        busy_seconds: float = 5.0,
        clock: Callable[[], int] = now_us,
    ) -> None:
        """Connect; make the database and the tables where they are not there."""
        self._url = url_of(self.engine, url)
        self._private = name is None
        self.name = f"events_{secrets.token_hex(8)}" if name is None else require_plain(name)
        super().__init__(indexed=indexed, busy_seconds=busy_seconds, clock=clock)

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more; the address is not among them."""
        return {"name": self.name, "indexed": self.indexed}

    def facts(self) -> dict[str, str]:
        """Return what decides a figure, by name, as the connection has it."""
        names = ("version", "innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_buffer_pool_size")
        texts = ", ".join(f"CAST(@@{name} AS CHAR)" for name in (*names, "tx_isolation"))
        found = self._run(f"SELECT {texts}", {})[0][0]
        version, *rest = (str(value) for value in found)
        return {
            "engine": self.engine,
            "version": version.split("-")[0],
            **dict(zip((*names[1:], "isolation"), rest, strict=True)),
        }

    def _open(self) -> None:
        connection = connected(self._url, autocommit=True, client_flag=CLIENT.FOUND_ROWS, charset="utf8mb4")
        try:
            require_skip_locked(connection.get_server_info())
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION innodb_lock_wait_timeout = %s", (max(1, round(self.busy_seconds)),))
                cursor.execute("SET SESSION lock_wait_timeout = %s", (max(1, round(self.busy_seconds)),))
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'")
                cursor.execute(f"CREATE DATABASE IF NOT EXISTS `{require_plain(self.name)}`")
                connection.select_db(self.name)
                if not cursor.execute("SHOW TABLES LIKE 'work'"):  # the last one that is made
                    for text in (TABLES[0], *(INDEXES if self.indexed else ()), *TABLES[1:]):
                        cursor.execute(text)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _run(self, text: str, parameters: Parameters, *, fresh_plan: bool = False) -> tuple[list[Any], int]:
        with self._connection.cursor() as cursor:
            cursor.execute(statements.percent(text), parameters)
            return list(cursor.fetchall()), int(cursor.rowcount)

    def _insert(self, parameters: Parameters) -> tuple[int, bool]:
        with self._connection.cursor() as cursor:
            cursor.execute(statements.percent(INSERT), parameters)
            if cursor.rowcount == 1:
                return int(cursor.lastrowid), True
        return int(self._run(statements.FIRST_SUCCESS, parameters)[0][0][0]), False

    def _take(self, parameters: Parameters) -> tuple[int, str, int, int] | None:
        rows = self._run(LOCK_NEXT, parameters)[0]
        if not rows:
            return None
        found = {**parameters, "task": rows[0][0]}
        self._run(TAKE, found)
        event, task, at_us, token = self._run(TAKEN, found)[0][0]
        return event, task, at_us, token

    def _ignoring(self, text: str) -> str:
        return text.replace("INSERT INTO", "INSERT IGNORE INTO", 1)

    def _explain(self, text: str, parameters: Parameters) -> str:
        rows = self._run(f"EXPLAIN {text}", parameters)[0]
        return "; ".join(_step(row) for row in rows)

    def _kind(self, error: Exception) -> str:
        if isinstance(error, err.InterfaceError):
            return GONE
        code = error.args[0] if isinstance(error, err.MySQLError) and error.args else 0
        if code == DEADLOCK:
            return AGAIN
        if code == LOCK_WAIT:
            return BUSY
        if code in NO_ROOM:
            return FULL
        return GONE if code in LOST else ""

    def _disconnect(self) -> None:
        try:
            if self._private and self._connection is not None and self._connection.open:
                self._insist(lambda: self._run(f"DROP DATABASE IF EXISTS `{require_plain(self.name)}`", {}))
        finally:
            self._drop()


class MariadbRelaxed(Mariadb):
    """The same on a server whose commits need not be on disk."""


def require_skip_locked(version: str) -> None:
    """Refuse a server that has no SKIP LOCKED; EventsError names its version and what is wanted.

    >>> require_skip_locked("10.11.6-MariaDB-0+deb12u1")
    >>> require_skip_locked("10.5.23-MariaDB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    queues.events.rules.EventsError: the server is 10.5.23-MariaDB, which has no SKIP LOCKED, so claims would wait ...
    """
    numbers = re.search(r"(?:^5\.5\.5-)?(\d+)\.(\d+)", version)
    found = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    if "MariaDB" not in version:
        raise EventsError(f"the server is {version}, which is no MariaDB: expected MariaDB 10.6 or newer")
    if found < OLDEST:
        raise EventsError(
            f"the server is {version}, which has no SKIP LOCKED, so claims would wait for each other: "
            f"expected MariaDB 10.6 or newer"
        )


def _step(row: tuple[Any, ...]) -> str:
    """Return a line of EXPLAIN: which table, how it is read, by which key, and what is said besides."""
    _, select, table, way, _, key, _, reference, _, extra = row
    parts = (select, table, way, f"key {key}" if key else "", f"by {reference}" if reference else "", extra)
    return " ".join(str(part) for part in parts if part)
