"""The store of a durable queue in SQLite: one named queue in one database file.

Idea        Messages stand in one table in the order in which they are taken, so that what is due is its beginning: it
            is read, deleted as a range, and kept as one text under the number of a lease. Numbers of leases are never
            used again.
Invariants  Positions are below `next` of their queue and at least its `first`, which falls as messages are put back.
Weakness    One writer at a time. The whole of a batch is written once more when it is taken.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial

from queues.timer.durable import checked, rows_of
from queues.timer.durable_sqlite_file import SYNCHRONOUS, SQLiteFile

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable

    from queues.timer.durable_place import Place
    from queues.timer.durable_sqlite_file import Connection
    from queues.timer.durable_store import Row

VERSION = 1
SCHEMA = (
    """CREATE TABLE IF NOT EXISTS timer_queue (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first INTEGER NOT NULL, next INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS timer_message (
    queue INTEGER NOT NULL, low REAL NOT NULL, rest BLOB NOT NULL, position INTEGER NOT NULL, line TEXT NOT NULL,
    PRIMARY KEY (queue, low, rest, position)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS timer_lease (
    id INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL, until REAL NOT NULL, done INTEGER NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS timer_lease_until ON timer_lease (queue, until)",
    "CREATE TABLE IF NOT EXISTS timer_held (lease INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "PRAGMA user_version=1",
)
ADD = "INSERT INTO timer_message VALUES (?, ?, ?, ?, ?)"
FRONT = """SELECT line FROM timer_message WHERE queue = ? AND (low, rest) <= (?, ?)
    ORDER BY low, rest, position LIMIT ?"""
LAST = """SELECT low, rest, position FROM timer_message WHERE queue = ?
    ORDER BY low, rest, position LIMIT 1 OFFSET ?"""
DROP_DUE = "DELETE FROM timer_message WHERE queue = ? AND (low, rest) <= (?, ?)"
DROP_THROUGH = "DELETE FROM timer_message WHERE queue = ? AND (low, rest, position) <= (?, ?, ?)"
ALL = "SELECT low, rest, position, line FROM timer_message WHERE queue = ? ORDER BY low, rest, position"
EXPIRED = "SELECT id FROM timer_lease WHERE queue = ? AND until <= ? ORDER BY id DESC"
EVERYTHING = -1  # as a LIMIT
LARGEST_LIMIT = 2**62


class SQLiteStore:
    """One named queue in one database file; queues.timer.durable_store.Store says what each call does."""

    def __init__(
        self,
        database: str | os.PathLike[str] | None,
        name: str,
        busy: float,
        sleep: Callable[[float], object],
        synchronous: str,
    ) -> None:
        """Open the file, or make it; without one, a file in a new folder that `close` removes."""
        given = "" if database is None else os.fsdecode(database)
        if database is not None and (not given or "\0" in given):
            raise ValueError(f"database is {database!r}: expected the name of a file")
        self.private = None if given else tempfile.mkdtemp(prefix="timer-queue-")
        self.owner = os.getpid()
        path = os.path.join(self.private, "queue.db") if self.private else given  # noqa: PTH118
        try:
            self.file = SQLiteFile(path, busy, sleep, fresh=self.private is not None)
            try:
                self.queue = self.file.write(partial(_prepared, name=name))
                self.file.read(SYNCHRONOUS[synchronous])
            except BaseException:
                self.file.close()
                raise
        except BaseException:
            self._tidy()
            raise

    def add(self, rows: list[Row]) -> None:
        """One insert a row, behind all that came before."""
        self.file.write(lambda connection: self._insert(connection, rows))

    def _insert(self, connection: Connection, rows: list[Row]) -> None:
        connection.execute("UPDATE timer_queue SET next = next + ? WHERE id = ?", (len(rows), self.queue))
        ((end,),) = connection.execute("SELECT next FROM timer_queue WHERE id = ?", (self.queue,))
        self._place(connection, rows, end - len(rows))

    def _place(self, connection: Connection, rows: list[Row], first: int) -> None:
        """Insert rows at positions from `first` on."""
        queue = self.queue
        if len(rows) == 1:
            ((low, rest, line),) = rows
            connection.execute(ADD, (queue, low, rest, first, line))
        else:
            connection.executemany(
                ADD, [(queue, low, rest, position, line) for position, (low, rest, line) in enumerate(rows, first)]
            )

    def cut(self, at: Place, limit: int | None, now: float, until: float) -> tuple[int, str] | None:
        """Read from the front, keep that as one text, delete the range."""
        return self.file.write(partial(self._cut, at=at, limit=limit, now=now, until=until))

    def _cut(
        self, connection: Connection, at: Place, limit: int | None, now: float, until: float
    ) -> tuple[int, str] | None:
        self._reclaim(connection, now)
        most = EVERYTHING if limit is None else min(limit, LARGEST_LIMIT)
        lines = connection.execute(FRONT, (self.queue, *at, most)).fetchall()
        if not lines:
            return None
        if len(lines) == most:
            ((*last,),) = connection.execute(LAST, (self.queue, most - 1))
            connection.execute(DROP_THROUGH, (self.queue, *last))
        else:
            connection.execute(DROP_DUE, (self.queue, *at))
        text = "\n".join([line for (line,) in lines])
        lease = connection.execute("INSERT INTO timer_lease VALUES (NULL, ?, ?, 0)", (self.queue, until)).lastrowid
        connection.execute("INSERT INTO timer_held VALUES (?, ?)", (lease, text))
        return lease or 0, text

    def _reclaim(self, connection: Connection, now: float) -> None:
        """Put back what is left of leases that have run out, the youngest first, so that the oldest ends in front."""
        for (lease,) in connection.execute(EXPIRED, (self.queue, now)).fetchall():
            ((done, text),) = connection.execute(
                "SELECT done, text FROM timer_lease JOIN timer_held ON lease = id WHERE id = ?", (lease,)
            )
            self._in_front(connection, rows_of(text, done))
            self._forget(connection, lease)

    def _in_front(self, connection: Connection, rows: list[Row]) -> None:
        connection.execute("UPDATE timer_queue SET first = first - ? WHERE id = ?", (len(rows), self.queue))
        ((first,),) = connection.execute("SELECT first FROM timer_queue WHERE id = ?", (self.queue,))
        self._place(connection, rows, first)

    @staticmethod
    def _forget(connection: Connection, lease: int) -> bool:
        connection.execute("DELETE FROM timer_held WHERE lease = ?", (lease,))
        return connection.execute("DELETE FROM timer_lease WHERE id = ?", (lease,)).rowcount == 1

    def confirm(self, lease: int, done: int, until: float) -> bool:
        """One small update; the text of the lease stands elsewhere, so that it is not written again."""
        return self.file.change("UPDATE timer_lease SET done = ?, until = ? WHERE id = ?", done, until, lease) == 1

    def finish(self, lease: int) -> bool:
        """Drop the lease and its lines."""
        return self.file.write(lambda connection: self._forget(connection, lease))

    def rewrite(self, lease: int, text: str) -> bool:
        """Write all lines of a lease again."""
        return self.file.change("UPDATE timer_held SET text = ? WHERE lease = ?", text, lease) == 1

    def put_back(self, lease: int, rows: list[Row]) -> bool | None:
        """Insert what is left at positions below all that were there, and drop the lease."""
        return self.file.write(partial(self._put_back, lease=lease, rows=rows))

    def _put_back(self, connection: Connection, lease: int, rows: list[Row]) -> bool | None:
        if not self._forget(connection, lease):
            return None
        first = connection.execute(LAST, (self.queue, 0)).fetchone()
        self._in_front(connection, rows)
        return first is not None and first[:2] < rows[-1][:2]

    def at(self, where: Place, now: float) -> list[tuple[int, str]]:
        """A look-up in the order of the table."""
        self._settle(now)
        return self.file.read(
            "SELECT position, line FROM timer_message WHERE queue = ? AND low = ? AND rest = ? ORDER BY position",
            self.queue,
            *where,
        )

    def remove(self, where: Place, position: int, line: str) -> bool:
        """Delete one row."""
        statement = "DELETE FROM timer_message WHERE queue = ? AND low = ? AND rest = ? AND position = ?"
        return self.file.change(statement, self.queue, *where, position) == 1

    def _settle(self, now: float) -> None:
        """Put back what has run out, if anything has: a look is no transaction that anybody waits for."""
        if self.file.read(EXPIRED, self.queue, now):
            self.file.write(lambda connection: self._reclaim(connection, now))

    def count(self, now: float) -> int:
        """Count the rows."""
        self._settle(now)
        ((count,),) = self.file.read("SELECT count(*) FROM timer_message WHERE queue = ?", self.queue)
        return int(count)

    def first(self, now: float) -> str | None:
        """Read the first row."""
        self._settle(now)
        found = self.file.read(
            "SELECT line FROM timer_message WHERE queue = ? ORDER BY low, rest, position LIMIT 1", self.queue
        )
        return found[0][0] if found else None

    def lines(self, now: float) -> list[str]:
        """Read all rows."""
        self._settle(now)
        return [row[-1] for row in self.file.read(ALL, self.queue)]

    def check(self) -> list[str]:
        """Whether SQLite finds its file sound, and every row is where it belongs."""
        wrong = [f"SQLite says: {found}" for (found,) in self.file.read("PRAGMA quick_check") if found != "ok"]
        rows = self.file.read(ALL, self.queue)
        ((first, end),) = self.file.read("SELECT first, next FROM timer_queue WHERE id = ?", self.queue)
        positions = [position for _, _, position, _ in rows]
        if positions and not first <= min(positions) <= max(positions) < end:
            wrong.append(f"positions are not all from {first} up to {end}: {positions}")
        held = self.file.read("SELECT count(*) FROM timer_lease LEFT JOIN timer_held ON lease = id WHERE lease IS NULL")
        if held != [(0,)]:
            wrong.append("a lease has no lines")
        return wrong + checked(rows)

    def facts(self) -> dict[str, str]:
        """As the connection says, not as it was told."""
        return self.file.facts()

    def close(self) -> None:
        """Close the connection; what is private is removed, without waiting for the disk."""
        if self.private is not None and self.file.connection is not None:
            self.file.read(SYNCHRONOUS["OFF"])
        self.file.close()
        self._tidy()

    def _tidy(self) -> None:
        """Remove a private folder; the process that made it does, not one that it forked."""
        if self.private is not None and self.owner == os.getpid():
            shutil.rmtree(self.private, ignore_errors=True)


def _require_ours(connection: Connection, version: int) -> None:
    """Refuse a database in which another program has something under one of our names, or our version and no table."""
    found = {
        name: _plain(statement or "")
        for name, statement in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE name LIKE 'timer\\_%' ESCAPE '\\'"
        )
    }
    for statement in SCHEMA[:-1]:
        wanted = _plain(statement.replace("IF NOT EXISTS ", ""))
        name = wanted.split()[2]
        if found.get(name, "" if version == VERSION else wanted) != wanted:
            raise ValueError(
                f"the database has {name!r} otherwise than a timer queue has it, or not at all: it is another "
                "program's; expected one that a timer queue made, or a new file"
            )


def _plain(statement: str) -> str:
    return " ".join(statement.split())


def _prepared(connection: Connection, name: str) -> int:
    """Make the tables and the queue unless they are there; return the number of the queue."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version not in (0, VERSION):
        raise ValueError(
            f"the database has version {version}: expected {VERSION}, or a file with no version of its own"
        )
    _require_ours(connection, version)
    if version != VERSION:
        for statement in SCHEMA:
            connection.execute(statement)
    connection.execute("INSERT OR IGNORE INTO timer_queue VALUES (NULL, ?, 0, 0)", (name,))
    ((number,),) = connection.execute("SELECT id FROM timer_queue WHERE name = ?", (name,))
    return int(number)
