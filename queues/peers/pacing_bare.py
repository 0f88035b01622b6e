"""No ticker at all: one sleep to the next instant of a grid, which is as near as a sleep comes.

Idea        Sleep until `origin + k * interval`, k the next one that is still ahead: the yardstick that a ticker is held
            against. `BareAsyncioSleep` is the same with asyncio.sleep.
Source      The arithmetic of "Parataxis, Eventually", without what makes it a ticker.
Cost        O(1), and O(instants missed) for one that comes late
What differs
            A consumer that is late never finds an old tick: what it missed is counted in `dropped` at the next call.
            `close` ends it, but wakes nobody.
"""

from __future__ import annotations

import asyncio
import time

from queues.pacing.cooperative import sleep as default_sleep

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any


class BareGrid:
    """The next instant of a grid that is still ahead."""

    __slots__ = ("_clock", "_closed", "_interval", "_k", "dropped", "origin")

    def __init__(self, interval: Any, *, clock: Callable[[], Any] = time.monotonic) -> None:
        """The grid begins now."""
        self._clock = clock
        self._interval = interval
        self._closed = False
        self._k = 0
        self.origin = clock()
        self.dropped = 0

    def next_instant(self, now: Any) -> Any:
        """Return the next instant of the grid after `now`, and count those that were missed."""
        self._k += 1
        while self.origin + self._k * self._interval <= now:
            self._k += 1
            self.dropped += 1
        return self.origin + self._k * self._interval

    def close(self) -> None:
        """Let the next call return None."""
        self._closed = True


class BareSleep(BareGrid):
    """One sleep at a time as a ticker; the module says what of queues.pacing.contract it does not promise.

    >>> now = 0.0
    >>> def sleep(span):
    ...     global now
    ...     now += span
    >>> ticker = BareSleep(1.0, clock=lambda: now, sleep=sleep)
    >>> ticker.wait_next()
    1.0
    >>> now += 1.25
    >>> ticker.wait_next(), ticker.dropped
    (3.0, 1)
    """

    __slots__ = ("_sleep",)

    def __init__(
        self,
        interval: Any,
        *,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], object] = default_sleep,
    ) -> None:
        """`interval` is the distance of two instants."""
        super().__init__(interval, clock=clock)
        self._sleep = sleep

    def wait_next(self) -> Any:
        """Sleep once and return the instant that was meant, or None after `close()`."""
        if self._closed:
            return None
        now = self._clock()
        instant = self.next_instant(now)
        self._sleep(instant - now)
        return instant


class BareAsyncioSleep(BareGrid):
    """The same with one asyncio.sleep; the module says what of queues.pacing.contract it does not promise."""

    __slots__ = ("_sleep",)

    def __init__(
        self,
        interval: Any,
        *,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`interval` is the distance of two instants."""
        super().__init__(interval, clock=clock)
        self._sleep = sleep

    async def wait_next(self) -> Any:
        """Sleep once and return the instant that was meant, or None after `close()`."""
        if self._closed:
            return None
        now = self._clock()
        instant = self.next_instant(now)
        await self._sleep(instant - now)
        return instant
