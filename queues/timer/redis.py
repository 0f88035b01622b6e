"""The timer queue in Redis, for several dispatchers and little delay.

Idea        A sorted set by start, and scripts that run as a whole on the server. queues/timer/durable.py has leases,
            and how this differs from the contract.
Source      queues/timer/durable_redis.py says how equal starts keep their order in a sorted set, which has none.
Cost        enqueue         O(log n) and a round trip; `enqueue_many` sends all in one
            take            O(log n + due), a script and a look for leases that have run out
            process         O(1) a message, and a round trip every `confirm` messages
            requeue         O(left · log n)
            cancel          O(log n + equal starts)
            durability      the server's: "appendfsync always" keeps what returned, "everysec" all but a second of it,
                            without an append-only file what the last snapshot has
Weakness    Every call is a round trip, and everything is in the memory of the server, which does nothing else while a
            script runs.
"""

from __future__ import annotations

import time

from queues.timer.durable import CONFIRM, LEASE_SECONDS, Durable, require_durable_settings, require_name
from queues.timer.durable_redis import RedisStore

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class RedisQueue(Durable):
    """A timer queue in a Redis database; `queues.contract.TimerQueue` says what each call means.

    `url` is an address such as redis://:password@host:6379/0; None: that in LAB_REDIS_URL. Without a `name` the queue
    is private and removed when it is closed or dropped; with one, it is there for every process. LookupError without an
    address, ConnectionError for a server that cannot be reached.
    """

    __slots__ = ()

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
    ) -> None:
        """Open the queue, or make it; ValueError or TypeError for settings that make no sense."""
        require_durable_settings(window, clock, lease, lease_clock, confirm)
        store = RedisStore(url, None if name is None else require_name(name))
        super().__init__(store, window=window, clock=clock, lease=lease, lease_clock=lease_clock, confirm=confirm)
