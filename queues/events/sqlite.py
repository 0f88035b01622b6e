"""The event queue in an SQLite file: the default, with nothing to install and no server.

Writers take turns, readers are not held up (WAL). `durable=False` (synchronous=NORMAL) keeps everything when a process
is killed and may lose the last commits when the power goes.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile

from queues.events import statements
from queues.events.connection import AGAIN, FULL
from queues.events.pipeline import Pipeline
from queues.events.rules import EventsError, now_us, require_busy, require_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from queues.events.connection import Parameters

TABLES = (
    """CREATE TABLE IF NOT EXISTS events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job TEXT NOT NULL,
        task TEXT NOT NULL,
        result TEXT NOT NULL,
        at_us INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS subscriptions (
        source TEXT NOT NULL,
        consumer TEXT NOT NULL,
        ready INTEGER NOT NULL,
        PRIMARY KEY (source, consumer)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS work (
        consumer TEXT NOT NULL,
        task TEXT NOT NULL,
        source TEXT NOT NULL,
        event INTEGER NOT NULL,
        at_us INTEGER NOT NULL,
        worker TEXT NOT NULL,
        token INTEGER NOT NULL,
        until_us INTEGER NOT NULL,
        PRIMARY KEY (consumer, task, source)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS work_next ON work (consumer, source, at_us, event)",
)
INDEXES = (
    "CREATE INDEX IF NOT EXISTS events_by_job ON events (job, result, at_us, id, task)",
    "CREATE UNIQUE INDEX IF NOT EXISTS events_success ON events (job, task) WHERE result = 'SUCCEEDED'",
)
INSERT = """
    INSERT INTO events (job, task, result, at_us) VALUES (:job, :task, :result, :at_us)
    ON CONFLICT DO NOTHING"""

BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FULL_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC)
UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: expected a file in a folder that is there",
    sqlite3.SQLITE_NOTADB: "is no database: expected one of SQLite, or the name of a new file",
    sqlite3.SQLITE_CORRUPT: "is damaged: expected a sound database, from a copy, or the name of a new file",
    sqlite3.SQLITE_READONLY: "cannot be written: expected a file and a folder in which this user may write",
}
"""What an error says of the file, whoever else uses it."""


class Sqlite(Pipeline):
    """Events in the file at `path`; without one in a private file that goes with the object.

    >>> with Sqlite(clock=lambda: 1_000_000) as queue:
    ...     first = queue.record("fetch", "page 1", "SUCCEEDED")
    ...     claim = queue.claim("fetch", "parse", worker="w1", lease_us=60_000_000)
    ...     done = queue.complete(claim, "SUCCEEDED")
    ...     claim.event, queue.pending("fetch", "parse")
    (Event(1, 'fetch', 'page 1', 'SUCCEEDED', 1000000), [])
    """

    engine = "sqlite"
    title = "SQLite"
    indexes = INDEXES

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        indexed: bool = True,
        durable: bool = True,
        busy_seconds: float = 5.0,
        clock: Callable[[], int] = now_us,
        max_pages: int | None = None,
    ) -> None:
        """Open or make the file. `max_pages`: how many pages of 4096 bytes it may have, beyond which StorageFull."""
        given = None if path is None else require_path(path)
        require_busy(busy_seconds)
        self._folder = tempfile.mkdtemp(prefix="lab-events-") if given is None else ""
        self._owner = os.getpid()
        self.path = given or os.path.join(self._folder, "events.db")  # noqa: PTH118
        self.durable = durable
        self.max_pages = max_pages
        super().__init__(indexed=indexed, busy_seconds=busy_seconds, clock=clock)

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more."""
        return {"path": self.path, "indexed": self.indexed, "durable": self.durable}

    def facts(self) -> dict[str, str]:
        """Return what decides a figure, by name, as the connection has it."""
        names = ("journal_mode", "synchronous", "page_size", "cache_size")
        found = {name: str(self._read(lambda: self._run(f"PRAGMA {name}", {}))[0][0][0]) for name in names}  # noqa: B023
        return {"engine": self.engine, "version": sqlite3.sqlite_version, **found}

    def _open(self) -> None:
        # No waiting in the engine: it pauses ever longer between two looks, so that one of many writers may starve.
        connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'FULL' if self.durable else 'NORMAL'}")
            if self.max_pages is not None:
                connection.execute(f"PRAGMA max_page_count={int(self.max_pages)}")
            known = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if "events" in known and "subscriptions" not in known:
                raise EventsError(f"SQLite: {self.path} has a table 'events' of something else: name another file")
            if not {"events", "subscriptions", "work", "work_next"} <= known:
                connection.execute("BEGIN IMMEDIATE")
                for text in (*TABLES, *(INDEXES if self.indexed else ())):
                    connection.execute(text)
                connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _begin(self) -> None:
        self._run("BEGIN IMMEDIATE", {})

    def _run(self, text: str, parameters: Parameters, *, fresh_plan: bool = False) -> tuple[list[Any], int]:
        cursor = self._connection.execute(text, parameters)
        return cursor.fetchall(), cursor.rowcount

    def _insert(self, parameters: Parameters) -> tuple[int, bool]:
        cursor = self._connection.execute(INSERT, parameters)
        if cursor.rowcount == 1:
            return int(cursor.lastrowid), True
        return int(self._run(statements.FIRST_SUCCESS, parameters)[0][0][0]), False

    def _take(self, parameters: Parameters) -> tuple[int, str, int, int] | None:
        rows = self._run(TAKE, parameters)[0]
        return rows[0] if rows else None

    def _explain(self, text: str, parameters: Parameters) -> str:
        rows = self._run(f"EXPLAIN QUERY PLAN {text}", parameters)[0]
        return "; ".join(str(row[3]) for row in rows)

    def _kind(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 0xFF in BUSY_CODES:
            return AGAIN
        return FULL if code in FULL_CODES else ""

    def _raise(self, error: Exception, kind: str) -> NoReturn:
        said = UNUSABLE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        if said is not None:
            raise EventsError(f"SQLite: {self.path} {said}") from error
        super()._raise(error, kind)

    def _disconnect(self) -> None:
        self._drop()
        if self._folder and self._owner == os.getpid():  # one that was forked leaves it to whoever made it
            shutil.rmtree(self._folder, ignore_errors=True)


TAKE = statements.take()


class SqliteRelaxed(Sqlite):
    """The same, whose commits need not be on disk."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, durable: bool = False, **more: Any) -> None:
        """Open or make the file."""
        super().__init__(path, durable=durable, **more)
