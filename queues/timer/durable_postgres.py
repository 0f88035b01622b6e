"""The store of a durable queue in PostgreSQL: one named queue in one database.

Idea        As in SQLite: messages in one table whose key is the order in which they are taken, batches as one text
            under the number of a lease. `take` is one statement, which deletes what is due and keeps it as a lease;
            rows that another take holds are skipped, so that takers do not wait for each other.
Source      DELETE ... RETURNING over rows chosen FOR UPDATE SKIP LOCKED is how queues in PostgreSQL have worked since
            9.5; a row that is deleted and not marked leaves no new version of itself behind in any index.
Invariants  Arrivals have positions from a sequence, above 0; what is put back has positions below 0, which fall.
Weakness    Deleted rows stand at the front of the index until the server has vacuumed them.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from functools import partial
from secrets import token_hex

import psycopg
from psycopg import errors

from queues.addresses import url_of
from queues.timer.durable import checked, rows_of

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    from queues.timer.durable_place import Place
    from queues.timer.durable_store import Row

    Connection: TypeAlias = psycopg.Connection[Any]
    Result = TypeVar("Result")

MAKING = 0x71756575  # the number of the lock under which tables are made
ATTEMPTS = 8  # at a transaction that the server ended for the sake of another one
SYNCHRONOUS_COMMIT = {"on": "SET synchronous_commit TO on", "off": "SET synchronous_commit TO off"}
SCHEMA = (
    """CREATE TABLE IF NOT EXISTS timer_queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, first bigint NOT NULL)""",
    "CREATE SEQUENCE IF NOT EXISTS timer_position",
    """CREATE TABLE IF NOT EXISTS timer_message (
    queue bigint NOT NULL, low float8 NOT NULL, rest bytea NOT NULL,
    position bigint NOT NULL DEFAULT nextval('timer_position'), line text NOT NULL,
    PRIMARY KEY (queue, low, rest, position))""",
    """CREATE TABLE IF NOT EXISTS timer_lease (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue bigint NOT NULL, until float8 NOT NULL,
    done bigint NOT NULL, text text NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS timer_lease_until ON timer_lease (queue, until)",
)
ADD = "INSERT INTO timer_message (queue, low, rest, line) VALUES (%s, %s, %s, %s)"
ADD_MANY = "COPY timer_message (queue, low, rest, line) FROM STDIN"
IN_FRONT = "COPY timer_message (queue, low, rest, position, line) FROM STDIN"
CUT = r"""
WITH gone AS (
    DELETE FROM timer_message WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM timer_message WHERE queue = %s AND (low, rest) <= (%s::float8, %s)
        ORDER BY low, rest, position LIMIT %s FOR UPDATE SKIP LOCKED))
    RETURNING low, rest, position, line),
batch AS (SELECT string_agg(line, E'\n' ORDER BY low, rest, position) AS text FROM gone)
INSERT INTO timer_lease (queue, until, done, text) SELECT %s, %s, 0, text FROM batch WHERE text IS NOT NULL
RETURNING id, text"""
EXPIRED = "SELECT id, done, text FROM timer_lease WHERE queue = %s AND until <= %s ORDER BY id DESC"
EXPIRED_LOCKED = (
    "SELECT id, done, text FROM timer_lease WHERE queue = %s AND until <= %s ORDER BY id DESC FOR UPDATE SKIP LOCKED"
)
ALL = "SELECT low, rest, position, line FROM timer_message WHERE queue = %s ORDER BY low, rest, position"
FIRST = "SELECT low, rest, line FROM timer_message WHERE queue = %s ORDER BY low, rest, position LIMIT 1"
FORGET = (
    "DELETE FROM timer_message WHERE queue = %s",
    "DELETE FROM timer_lease WHERE queue = %s",
    "DELETE FROM timer_queue WHERE id = %s",
)


class PostgresStore:
    """One named queue in one database; queues.timer.durable_store.Store says what each call does."""

    def __init__(self, url: str | None, name: str | None, busy: float, synchronous_commit: str) -> None:
        """Connect, and make the tables unless they are there; without a name, a queue that `close` removes."""
        self.private = name is None
        self.busy = busy
        self.connection: Connection | None = None
        try:
            self.connection = _connected(url)
            self.connection.execute(SYNCHRONOUS_COMMIT[synchronous_commit])
            self.connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{round(busy * 1000)}ms",))
            self.queue = self._write(partial(_prepared, name=name or f"private {token_hex(8)}"))
        except BaseException:
            self.private = False
            self.close()
            raise

    def _told(self, action: Callable[[Connection], Result]) -> Result:
        """Return what `action` returns, done again when the server chose it as the victim of a deadlock."""
        if self.connection is None:
            raise ValueError("the queue is closed: open another one of the same name")
        for attempt in range(ATTEMPTS):
            try:
                return action(self.connection)
            except (errors.DeadlockDetected, errors.SerializationFailure):
                if attempt == ATTEMPTS - 1:
                    raise
            except errors.LockNotAvailable:
                raise TimeoutError(
                    f"the rows of the queue were locked by another connection for {self.busy:g} s: expected shorter "
                    "transactions there, or a longer busy= here; nothing was changed"
                ) from None
            except (errors.DiskFull, errors.InternalError_) as error:
                if isinstance(error, errors.InternalError_) and "could not extend file" not in str(error):
                    raise  # that text: a file that may not grow, where the disk as such is not full
                raise OSError(
                    errno.ENOSPC, "the PostgreSQL server has no room to write; the queue is as it was"
                ) from None
            except psycopg.OperationalError as error:
                raise ConnectionError(
                    f"the PostgreSQL server is gone ({type(error).__name__}): what was kept before is safe there, "
                    "open another queue of the same name when it is back"
                ) from None
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _write(self, action: Callable[[Connection], Result]) -> Result:
        """Do `action` as one transaction."""

        def whole(connection: Connection) -> Result:
            with connection.transaction():
                return action(connection)

        return self._told(whole)

    def _read(self, statement: Any, *values: Any) -> list[Any]:
        """Return the rows of one statement, which is a transaction of its own."""
        return self._told(lambda connection: connection.execute(statement, values).fetchall())

    def _changed(self, statement: Any, *values: Any) -> int:
        """Return how many rows one statement changed."""
        return self._told(lambda connection: connection.execute(statement, values).rowcount)

    def add(self, rows: list[Row]) -> None:
        """One insert, or one copy of all: the sequence numbers rows in the order in which they come."""
        if len(rows) == 1:
            self._changed(ADD, self.queue, *rows[0])
        else:
            text = "".join(
                [f"{self.queue}\t{low!r}\t\\\\x{rest.hex()}\t{_escaped(line)}\n" for low, rest, line in rows]
            )
            self._write(partial(_copied, statement=ADD_MANY, text=text))

    def cut(self, at: Place, limit: int | None, now: float, until: float) -> tuple[int, str] | None:
        """One statement; and a look for leases that have run out."""
        self._settle(now)
        most = None if limit is None else min(limit, 2**62)
        found = self._read(CUT, self.queue, *at, most, self.queue, until)
        return (found[0][0], found[0][1]) if found else None

    def _settle(self, now: float) -> None:
        """Put back what is left of leases that have run out, the youngest first, so that the oldest ends in front."""
        if self._read(EXPIRED, self.queue, now):
            self._write(partial(self._reclaim, now=now))

    def _reclaim(self, connection: Connection, now: float) -> None:
        for lease, done, text in connection.execute(EXPIRED_LOCKED, (self.queue, now)).fetchall():
            self._in_front(connection, rows_of(text, done))
            connection.execute("DELETE FROM timer_lease WHERE id = %s", (lease,))

    def _in_front(self, connection: Connection, rows: list[Row]) -> None:
        cursor = connection.execute(
            "UPDATE timer_queue SET first = first - %s WHERE id = %s RETURNING first", (len(rows), self.queue)
        )
        ((first,),) = cursor.fetchall()
        text = "".join(
            [
                f"{self.queue}\t{low!r}\t\\\\x{rest.hex()}\t{position}\t{_escaped(line)}\n"
                for position, (low, rest, line) in enumerate(rows, first)
            ]
        )
        _copied(connection, IN_FRONT, text)

    def confirm(self, lease: int, done: int, until: float) -> bool:
        """One update; the text, if it is long, stands apart and is not written again."""
        return self._changed("UPDATE timer_lease SET done = %s, until = %s WHERE id = %s", done, until, lease) == 1

    def finish(self, lease: int) -> bool:
        """One delete."""
        return self._changed("DELETE FROM timer_lease WHERE id = %s", lease) == 1

    def rewrite(self, lease: int, text: str) -> bool:
        """Write all lines of a lease again."""
        return self._changed("UPDATE timer_lease SET text = %s WHERE id = %s", text, lease) == 1

    def put_back(self, lease: int, rows: list[Row]) -> bool | None:
        """Copy what is left to positions below all that were there, and drop the lease."""
        return self._write(partial(self._put_back, lease=lease, rows=rows))

    def _put_back(self, connection: Connection, lease: int, rows: list[Row]) -> bool | None:
        if connection.execute("DELETE FROM timer_lease WHERE id = %s", (lease,)).rowcount != 1:
            return None
        first = connection.execute(FIRST, (self.queue,)).fetchone()
        self._in_front(connection, rows)
        return first is not None and first[:2] < rows[-1][:2]

    def at(self, where: Place, now: float) -> list[tuple[int, str]]:
        """A look-up by the key."""
        self._settle(now)
        return self._read(
            "SELECT position, line FROM timer_message WHERE queue = %s AND low = %s AND rest = %s ORDER BY position",
            self.queue,
            *where,
        )

    def remove(self, where: Place, position: int, line: str) -> bool:
        """One delete."""
        statement = "DELETE FROM timer_message WHERE queue = %s AND low = %s AND rest = %s AND position = %s"
        return self._changed(statement, self.queue, *where, position) == 1

    def count(self, now: float) -> int:
        """Count the rows."""
        self._settle(now)
        return int(self._read("SELECT count(*) FROM timer_message WHERE queue = %s", self.queue)[0][0])

    def first(self, now: float) -> str | None:
        """Read the first row."""
        self._settle(now)
        found = self._read(FIRST, self.queue)
        return found[0][-1] if found else None

    def lines(self, now: float) -> list[str]:
        """Read all rows."""
        self._settle(now)
        return [row[-1] for row in self._read(ALL, self.queue)]

    def check(self) -> list[str]:
        """Whether every row is where it belongs, and above the positions of what was put back."""
        rows = self._read(ALL, self.queue)
        ((first,),) = self._read("SELECT first FROM timer_queue WHERE id = %s", self.queue)
        low = [position for _, _, position, _ in rows if position < first]
        return ([f"positions {low} are below {first}"] if low else []) + checked(rows)

    def facts(self) -> dict[str, str]:
        """As the server says."""
        names = ("server_version", "fsync", "synchronous_commit", "full_page_writes")
        said = {name: str(self._read("SELECT current_setting(%s)", name)[0][0]) for name in names}
        return {"engine": "postgresql", "version": said.pop("server_version").split()[0], **said}

    def close(self) -> None:
        """Remove a private queue and end the connection."""
        if self.connection is not None:
            with suppress(OSError, psycopg.Error):  # a server that is gone has nothing that could be removed now
                if self.private:
                    self._write(self._forget)
            connection, self.connection = self.connection, None
            connection.close()

    def _forget(self, connection: Connection) -> None:
        for statement in FORGET:
            connection.execute(statement, (self.queue,))


def _connected(url: str | None) -> Connection:
    """Return a connection in which a statement is a transaction of its own; its address is in no message."""
    try:
        return psycopg.connect(url_of("postgresql", url), autocommit=True)
    except psycopg.Error as error:
        raise ConnectionError(
            f"cannot reach the PostgreSQL server ({type(error).__name__}): expected one that is up and an address "
            "with a user and a password that it knows"
        ) from None


def _prepared(connection: Connection, name: str) -> int:
    """Make the tables and the queue unless they are there; return the number of the queue."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
    if connection.execute("SELECT to_regclass('timer_lease')").fetchone() == (None,):
        for statement in SCHEMA:
            connection.execute(statement)
    connection.execute("INSERT INTO timer_queue (name, first) VALUES (%s, 0) ON CONFLICT DO NOTHING", (name,))
    ((number,),) = connection.execute("SELECT id FROM timer_queue WHERE name = %s", (name,)).fetchall()
    return int(number)


def _copied(connection: Connection, statement: Any, text: str) -> None:
    """Send rows, as lines, in one stream."""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(text)


def _escaped(line: str) -> str:
    """Return a line of JSON as COPY reads it: it has no other character to escape than the backslash."""
    return line.replace("\\", "\\\\")
