"""The rate limiter without a producer: one stored instant and one count (queues/pacing/bucket.py).

Idea        Each waiter works out when its permits will have come and sleeps until then, once.
Cost        try_acquire  O(1): one clock, a lock, two float operations
            acquire      the same, and one sleep when it waits
            memory       two numbers, whatever passes
Weakness    A waiter in a `sleep` that somebody gave cannot be woken when one in front of it leaves.
"""

from __future__ import annotations

from queues.pacing.bucket import Bucket
from queues.pacing.limiter import BlockingLimiter
from queues.pacing.rules import NO_ORDER, require_count, require_origin


class ArithmeticLimiter(BlockingLimiter):
    """A rate limiter that computes; queues.pacing.contract.RateLimiter says what each call means.

    >>> limiter = ArithmeticLimiter(rate=5, burst=2, clock=lambda: 100.0)
    >>> [limiter.try_acquire() for _ in range(3)], limiter.wait_time(2)
    ([True, True, False], 0.4000000000000057)
    """

    __slots__ = ()
    store = Bucket

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False. O(1).

        Asking again in vain is what most calls do where it is slow: they need no more than a look at the clock.
        """
        if n.__class__ is int and 0 < n <= self._burst:
            store = self._store
            with self._lock:
                now = self._clock()
                try:
                    in_vain = store.last <= now < store.shut_until
                except NO_ORDER:
                    require_origin(now)
                    raise
                if in_vain and not self._line.closed:
                    store.last = now
                    return False
                if not self._waiting:
                    return self._take(n, now) is not None
        return self._asked(require_count(n, self._burst))
