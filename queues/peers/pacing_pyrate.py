"""pyrate-limiter's Limiter behind the front of our rate limiter, with two of its algorithms.

Idea        `PyrateLimiter`: the default, a log of the last grants in a list; a grant when fewer than `burst` of them
            are younger than `burst / rate`. `PyrateGcra`: its token bucket, one number.
Source      pyrate-limiter 4.x.
Cost        log: try_acquire O(log burst) and a list that moves when old entries leave, memory of a burst;
            token bucket: O(1). Both build an item and pass two locks and several objects a call.
What differs
            Time is in whole milliseconds, intervals too; a rate of which burst / rate is no whole number of
            milliseconds is another rate (log: rounded down, so faster than asked; token bucket: rounded up to a
            microsecond). The log grants a burst and then nothing until it has grown old: the bound is kept, but what
            flows in meanwhile is not given. Who waits looks again 50 ms after it could have gone, by the default of
            `buffer_ms`; there is no line. n > burst is not refused but never granted: `acquire` gives up and returns.
            Its blocking form sleeps with a `time.sleep` bound at import, which patching does not reach; we wait with
            its asyncio form. A background thread drops old entries.
Ours        The names: Rate(burst, burst / rate) and, for the token bucket, Rate(1000 * rate, 1000 s, burst).
            `acquire` raises what it does not get as RuntimeError.
"""

from __future__ import annotations

import time

from pyrate_limiter import InMemoryBucket, Limiter, MonotonicClock, Rate, SingleBucketFactory, StateBucket, TokenBucket

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = "permit"


class GivenClock(MonotonicClock):
    """A clock of the library that asks ours."""

    def __init__(self, clock: Callable[[], Any]) -> None:
        """Ask `clock`, which counts seconds."""
        self._clock = clock

    def now(self) -> int:
        """Return whole milliseconds, rounded down as the library does."""
        return int(self._clock() * 1000 // 1)


class PyrateLimiter:
    """`Limiter` with its default bucket; the module says what of queues.pacing.contract it does not promise.

    >>> limiter = PyrateLimiter(rate=5, burst=2, clock=lambda: 100.0)
    >>> [limiter.try_acquire() for _ in range(3)]
    [True, True, False]
    """

    __slots__ = ("_limiter", "_try")

    def __init__(self, rate: Any, burst: int, *, clock: Callable[[], Any] = time.monotonic) -> None:
        """A limiter in memory; AssertionError from the library for an interval below a millisecond."""
        its_clock = MonotonicClock() if clock is time.monotonic else GivenClock(clock)
        bucket = self._bucket(rate, burst, its_clock)
        self._limiter = Limiter(SingleBucketFactory(bucket, schedule_leak=clock is time.monotonic))
        self._try = self._limiter.try_acquire

    def _bucket(self, rate: Any, burst: int, clock: Any) -> Any:
        bucket = InMemoryBucket([Rate(burst, int(burst * 1000 / rate))])
        bucket._clock = clock
        return bucket

    def try_acquire(self, n: int = 1) -> bool:
        """Take n now if the log has room."""
        return bool(self._try(NAME, n, blocking=False))

    async def acquire(self, n: int = 1) -> None:
        """Wait until n are granted; RuntimeError when the library gives up."""
        if not await self._limiter.try_acquire_async(NAME, n):
            raise RuntimeError(f"pyrate-limiter gave up on {n}")


class PyrateGcra(PyrateLimiter):
    """`Limiter` with its token bucket.

    >>> limiter = PyrateGcra(rate=5, burst=2, clock=lambda: 100.0)
    >>> [limiter.try_acquire() for _ in range(3)]
    [True, True, False]
    """

    __slots__ = ()

    def _bucket(self, rate: Any, burst: int, clock: Any) -> Any:
        return StateBucket([Rate(max(1, round(rate * 1000)), 1_000_000, burst)], TokenBucket(), clock=clock)
