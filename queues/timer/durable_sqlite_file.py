"""One connection to an SQLite file: transactions that are whole or not at all, and patience with a lock of others.

Idea        All writing is done in transactions that take the lock first, so none can fail half-way for want of it; one
            that does not get it is tried again, with pauses, up to a limit. SQLite's own timeout does the same, but not
            for all that can be locked (switching a new file to its write-ahead log is not covered).
Weakness    Whoever waits is not in any line: under a steady load of writers one may be unlucky for long.
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import suppress
from functools import partial

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    Connection: TypeAlias = sqlite3.Connection
    Result = TypeVar("Result")

PAUSES = (0.001, 0.05)  # seconds between two attempts on a locked database: the first pause, and the longest
SYNCHRONOUS = {
    "OFF": "PRAGMA synchronous=OFF",
    "NORMAL": "PRAGMA synchronous=NORMAL",
    "FULL": "PRAGMA synchronous=FULL",
    "EXTRA": "PRAGMA synchronous=EXTRA",
}


class SQLiteFile:
    """An open database; `busy` is how many seconds in all it pauses, by `sleep`, while others lock it."""

    def __init__(self, path: str, busy: float, sleep: Callable[[float], object], fresh: bool) -> None:
        """Open the file, or make it, with a write-ahead log; `fresh`: nobody knows it yet, nothing waits for the disk.

        OSError when it cannot be opened, ValueError when it is something else.
        """
        self.path = path
        self.busy = busy
        self.sleep = sleep
        try:
            self.connection: Connection | None = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError as error:
            raise OSError(
                errno.ENOENT, f"cannot open the database ({error}): expected a file in a folder that exists", path
            ) from None
        try:
            if fresh:
                self.read(SYNCHRONOUS["OFF"])
            self.read("PRAGMA journal_mode=WAL")
        except BaseException:
            self.close()
            raise

    def _open(self) -> Connection:
        if self.connection is None:
            raise ValueError("the queue is closed: open another one of the same name")
        return self.connection

    def _patiently(self, action: Callable[[], Result]) -> Result:
        """Return what `action` returns, done again while others lock the database, for up to `busy` seconds in all."""
        pause, longest = PAUSES
        waited = 0.0
        while True:
            try:
                return action()
            except sqlite3.DatabaseError as error:
                code = error.sqlite_errorcode & 0xFF
                if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise self._told(error, code) from error
                if waited >= self.busy:
                    raise TimeoutError(
                        f"{self.path} was locked by another connection for {self.busy:g} s: expected shorter "
                        "transactions there, or a longer busy= here; nothing was changed"
                    ) from None
            self.sleep(pause)
            waited += pause
            pause = min(2 * pause, longest)

    def _told(self, error: sqlite3.DatabaseError, code: int) -> Exception:
        """Return the exception that says what `error` means to the user of a queue; one that is our fault as it is."""
        if code == sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, "no room to write; the queue is as it was: make room and try again", self.path)
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return OSError(errno.EIO, f"cannot be read or written ({error}); the queue is as it was", self.path)
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return ValueError(f"{self.path} is no sound SQLite database ({error}): expected one, or a new file")
        return error

    def write(self, action: Callable[[Connection], Result]) -> Result:
        """Return what `action` returns, done in a transaction that has the lock from the start."""
        return self._patiently(partial(self._transaction, self._open(), action))

    @staticmethod
    def _transaction(connection: Connection, action: Callable[[Connection], Result]) -> Result:
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = action(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # some errors have ended it already
                connection.execute("ROLLBACK")
            raise
        return result

    def change(self, statement: str, *values: Any) -> int:
        """Return how many rows one statement changed, as a transaction of its own."""
        return self.write(lambda connection: connection.execute(statement, values).rowcount)

    def read(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of one statement, which sees the database as it is at one instant."""
        connection = self._open()
        return self._patiently(lambda: connection.execute(statement, values).fetchall())

    def facts(self) -> dict[str, str]:
        """Return the version and the settings that decide what a write costs, as the connection says."""
        ((mode,),) = self.read("PRAGMA journal_mode")
        ((synchronous,),) = self.read("PRAGMA synchronous")
        return {
            "engine": "sqlite",
            "version": sqlite3.sqlite_version,
            "journal_mode": str(mode),
            "synchronous": list(SYNCHRONOUS)[synchronous].lower(),
        }

    def close(self) -> None:
        """Close the connection; what cannot be tidied up now is when the file is opened next."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
