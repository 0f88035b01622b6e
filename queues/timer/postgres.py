"""The timer queue in PostgreSQL, for several dispatchers on several machines.

Idea        A table in the order in which messages are taken; `take` is one statement that skips what another one holds.
            queues/timer/durable.py has leases, and how this differs from the contract.
Source      queues/timer/durable_postgres.py says where its statements come from.
Cost        enqueue         O(log n) and a round trip with a commit; `enqueue_many` copies all in one
            take            O(log n + due), one statement and a look for leases that have run out
            process         O(1) a message, and a round trip every `confirm` messages
            requeue         O(left · log n)
            cancel          O(log n + equal starts)
            durability      synchronous_commit on: what returned is on the disk. Off ("postgres-async"): a server that
                            dies may lose the last fraction of a second, never the order or the consistency.
Weakness    Every call is a round trip. `len` counts rows. Clocks of several machines differ: a lease is counted by the
            clock of whoever asks, so it should be longer than they can differ by.
"""

from __future__ import annotations

import time

from queues.timer.durable import CONFIRM, LEASE_SECONDS, Durable, require_durable_settings, require_name
from queues.timer.durable_postgres import PostgresStore

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BUSY_SECONDS = 30.0


class Postgres(Durable):
    """A timer queue in a PostgreSQL database; `queues.contract.TimerQueue` says what each call means.

    `url` is an address such as postgresql://user:password@host/database; None: that in LAB_POSTGRESQL_URL. Without a
    `name` the queue is private and removed when it is closed or dropped; with one, it is there for every process.
    LookupError without an address, ConnectionError for a server that cannot be reached.
    """

    __slots__ = ()
    synchronous_commit = "on"

    def __init__(
        self,
        *,
        window: Any = 60.0,
        clock: Callable[[], Any] = time.time,
        url: str | None = None,
        name: str | None = None,
        lease: float = LEASE_SECONDS,
        lease_clock: Callable[[], float] = time.time,
        confirm: int = CONFIRM,
        busy: float = BUSY_SECONDS,
    ) -> None:
        """Open the queue, or make it; ValueError or TypeError for settings that make no sense."""
        require_durable_settings(window, clock, lease, lease_clock, confirm)
        store = PostgresStore(url, None if name is None else require_name(name), busy, self.synchronous_commit)
        super().__init__(store, window=window, clock=clock, lease=lease, lease_clock=lease_clock, confirm=confirm)


class PostgresAsync(Postgres):
    """The same, and no call waits for the disk."""

    __slots__ = ()
    synchronous_commit = "off"
