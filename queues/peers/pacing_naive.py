"""What one writes first for "every second": a sleep of a second in a loop.

Idea        `sleep(interval)` after each piece of work. The work, and what the sleep takes longer, come on top of the
            interval.
Source      "Parataxis, Eventually" begins with it, as the loop not to write.
What differs
            There is no grid: the k-th tick is the sum of all intervals, all work and all lateness so far. Nothing is
            late, so nothing is dropped. The instant that is returned is the one at which it woke up. `close` ends it,
            but wakes nobody.
"""

from __future__ import annotations

import time

from queues.pacing.cooperative import sleep as default_sleep

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class NaiveSleep:
    """A sleep in a loop as a ticker; the module says what of queues.pacing.contract it does not promise.

    >>> now = 0.0
    >>> def sleep(span):
    ...     global now
    ...     now += span
    >>> ticker = NaiveSleep(1.0, clock=lambda: now, sleep=sleep)
    >>> ticker.wait_next()
    1.0
    >>> now += 0.25
    >>> ticker.wait_next()
    2.25
    """

    __slots__ = ("_clock", "_closed", "_interval", "_sleep")

    def __init__(
        self,
        interval: Any,
        *,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], object] = default_sleep,
    ) -> None:
        """`interval` is what each sleep is asked for."""
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._closed = False

    def wait_next(self) -> Any:
        """Sleep the interval and return the time, or None after `close()`."""
        if self._closed:
            return None
        self._sleep(self._interval)
        return self._clock()

    def close(self) -> None:
        """Let the next call return None."""
        self._closed = True
