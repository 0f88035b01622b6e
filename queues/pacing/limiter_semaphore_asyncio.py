"""The rate limiter of the document for asyncio: a semaphore that a ticker fills, in a task while somebody waits.

As queues/pacing/limiter_semaphore.py.
"""

from __future__ import annotations

from queues.pacing.limiter_asyncio import AsyncioLimiter
from queues.pacing.permits import Permits


class SemaphoreAsyncioLimiter(AsyncioLimiter):
    """A rate limiter with a ticker; queues.pacing.contract.AsyncRateLimiter says what each call means.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     async with SemaphoreAsyncioLimiter(rate=4, burst=2, clock=clock) as limiter:
    ...         for _ in range(4):
    ...             await limiter.acquire()
    ...         return clock()
    >>> run(main)
    0.5
    """

    __slots__ = ()
    store = Permits
    kept = True
