"""The rate limiter of the document: a semaphore that a ticker fills (queues/pacing/permits.py).

Idea        A thread sleeps until the next tick, puts its permit, and wakes the first waiter when there are enough for
            it. While nobody waits the thread sleeps on; what its ticker would have put is put by whoever looks next.
Source      "Parataxis, Eventually": `$semaphore->down` and a Ticker that calls `$semaphore->try_up`.
Cost        try_acquire  O(1), and some fractions when ticks have come since the last look
            acquire      the same, and two changes of thread when it waits
            memory       a thread, from the first wait until `close()`
Weakness    The thread. In green threads it needs `threading` patched as well as `time.sleep`.
"""

from __future__ import annotations

from queues.pacing.limiter import BlockingLimiter
from queues.pacing.permits import Permits


class SemaphoreLimiter(BlockingLimiter):
    """A rate limiter with a ticker; queues.pacing.contract.RateLimiter says what each call means.

    >>> limiter = SemaphoreLimiter(rate=5, burst=2, clock=lambda: 100.0)
    >>> [limiter.try_acquire() for _ in range(3)], limiter.wait_time(2)
    ([True, True, False], 0.4000000000000057)
    """

    __slots__ = ()
    store = Permits
    kept = True
