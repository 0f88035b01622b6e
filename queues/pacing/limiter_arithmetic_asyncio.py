"""The rate limiter without a producer for asyncio: whoever waits has a timer of the loop, and nothing else runs.

As queues/pacing/limiter_arithmetic.py; the next in line is woken at once whatever the `sleep`.
"""

from __future__ import annotations

from queues.pacing.bucket import Bucket
from queues.pacing.limiter_asyncio import AsyncioLimiter
from queues.pacing.rules import NO_ORDER, require_count, require_origin


class ArithmeticAsyncioLimiter(AsyncioLimiter):
    """A rate limiter that computes; queues.pacing.contract.AsyncRateLimiter says what each call means.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     async with ArithmeticAsyncioLimiter(rate=4, burst=2, clock=clock) as limiter:
    ...         for _ in range(4):
    ...             await limiter.acquire()
    ...         return clock()
    >>> run(main)
    0.5
    """

    __slots__ = ()
    store = Bucket

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False. O(1).

        Asking again in vain is what most calls do where it is slow: they need no more than a look at the clock.
        """
        if n.__class__ is int and 0 < n <= self._burst and not self._line.closed:
            store = self._store
            now = self._clock()
            try:
                in_vain = store.last <= now < store.shut_until
            except NO_ORDER:
                require_origin(now)
                raise
            if in_vain:
                store.last = now
                return False
            if not self._waiting:
                return self._take(n, now) is not None
        return self._asked(require_count(n, self._burst))
