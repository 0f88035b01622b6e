"""The timer queue in a file: SQLite, of the standard library, with a write-ahead log.

Idea        One table in which messages stand in order, by queue, place and position, so that `take` reads from one end
            of it and deletes what it read. queues/timer/durable.py has leases, and how this differs from the contract.
Source      The table is its own index (WITHOUT ROWID), so a message is stored once and what is due lies together.
Cost        enqueue         O(log n) and a transaction; `enqueue_many` has one for all
            take            O(log n + due): one read, one delete of a range, one insert of the batch as a text
            process         O(1) a message, and a small transaction every `confirm` messages
            requeue         O(left · log n)
            cancel          O(log n + equal starts)
            durability      synchronous="NORMAL": a process that dies loses nothing, a machine that does may lose what
                            was committed last, never the order or the file. "FULL": nothing, for one fsync a call.
Weakness    One writer at a time: others wait, up to `busy` seconds. `len` counts rows. A network drive is no place for
            a write-ahead log.
"""

from __future__ import annotations

import time

from queues.timer.durable import CONFIRM, LEASE_SECONDS, Durable, require_durable_settings, require_name
from queues.timer.durable_sqlite import SQLiteStore
from queues.timer.durable_sqlite_file import SYNCHRONOUS

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any

BUSY_SECONDS = 30.0


class SQLite(Durable):
    """A timer queue in an SQLite database; `queues.contract.TimerQueue` says what each call means.

    Without a `database` it has a file of its own, removed when the queue is closed or dropped. With one, a queue of
    the same `name` finds its messages there, in another process and after a crash. A batch may stay out for `lease`
    seconds of `lease_clock`. A database that others keep locked is tried again for `busy` seconds, pausing by `sleep`.

    >>> queue = SQLite()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents())
    [(3, 'mail')]
    >>> queue.close()
    """

    __slots__ = ()
    synchronous = "NORMAL"

    def __init__(
        self,
        *,
        window: Any = 60.0,
        clock: Callable[[], Any] = time.time,
        database: str | os.PathLike[str] | None = None,
        name: str = "timer",
        lease: float = LEASE_SECONDS,
        lease_clock: Callable[[], float] = time.time,
        confirm: int = CONFIRM,
        busy: float = BUSY_SECONDS,
        sleep: Callable[[float], object] = time.sleep,
        synchronous: str = "",
    ) -> None:
        """Open the queue, or make it; ValueError or TypeError for settings that make no sense, OSError for the file."""
        require_durable_settings(window, clock, lease, lease_clock, confirm)
        chosen = synchronous or self.synchronous
        if chosen not in SYNCHRONOUS:
            raise ValueError(f"synchronous is {synchronous!r}: expected one of {', '.join(SYNCHRONOUS)}")
        store = SQLiteStore(database, require_name(name), busy, sleep, chosen)
        super().__init__(store, window=window, clock=clock, lease=lease, lease_clock=lease_clock, confirm=confirm)


class SQLiteFull(SQLite):
    """The same, with every call on the disk when it returns, whatever becomes of the machine."""

    __slots__ = ()
    synchronous = "FULL"
