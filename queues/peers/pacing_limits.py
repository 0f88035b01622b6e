"""The strategies of `limits`, in memory, behind the front of our rate limiter.

Idea        `FixedWindow`: a counter that is dropped when its window ends; the window begins with the first hit.
            `MovingWindow`: a list of the last `burst` hits, newest first; a grant when the oldest is older than the
            window. `SlidingCounter`: two counters, the older one weighed by how much of its window still counts.
Source      limits 5.x, strategies over MemoryStorage.
Cost        FixedWindow, SlidingCounter: O(1); MovingWindow: O(burst), a list with a new front a hit. A timer thread
            every 10 ms while there are hits.
What differs
            "burst per burst / rate seconds", which has to be whole seconds: other rates cannot be said.
            Fixed windows let a burst pass at the end of one and at the beginning of the next; the counters guess where
            in their window the hits were. Both break the bound. Nothing waits, nothing closes.
            n > burst is refused with False. The clock is the wall's, `time.time`.
Ours        The names. With a `clock` of ours, the module's `time` is exchanged during each call and its timer thread,
            which only drops old entries, does not run.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage, memory
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class FixedWindow:
    """`FixedWindowRateLimiter` as a rate limiter; the module says what of queues.pacing.contract it does not promise.

    >>> limiter = FixedWindow(rate=5, burst=5, clock=lambda: 100.0)
    >>> [limiter.try_acquire(2) for _ in range(3)]
    [True, True, False]
    """

    __slots__ = ("_clock", "_hit", "_item", "_storage")

    strategy: Any = FixedWindowRateLimiter

    def __init__(self, rate: Any, burst: int, *, clock: Callable[[], Any] = time.time) -> None:
        """A limiter with a storage of its own; ValueError for a rate that limits cannot say."""
        seconds = burst / rate if rate else 0
        if not seconds or seconds != int(seconds):
            raise ValueError(f"rate {rate!r} with burst {burst!r}: limits counts in windows of whole seconds")
        self._item = RateLimitItemPerSecond(burst, int(seconds))
        self._storage = MemoryStorage()
        self._storage.timer.cancel()
        self._hit = self.strategy(self._storage).hit
        self._clock = None if clock is time.time else SimpleNamespace(time=clock)
        if self._clock is not None:
            vars(self._storage)["_MemoryStorage__schedule_expiry"] = lambda: None

    def try_acquire(self, n: int = 1) -> bool:
        """Hit n times, or not at all."""
        if self._clock is None:
            return bool(self._hit(self._item, cost=n))
        names = vars(memory)
        names["time"] = self._clock
        try:
            return bool(self._hit(self._item, cost=n))
        finally:
            names["time"] = time


class MovingWindow(FixedWindow):
    """`MovingWindowRateLimiter` as a rate limiter."""

    __slots__ = ()
    strategy = MovingWindowRateLimiter


class SlidingCounter(FixedWindow):
    """`SlidingWindowCounterRateLimiter` as a rate limiter."""

    __slots__ = ()
    strategy = SlidingWindowCounterRateLimiter
