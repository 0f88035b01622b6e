"""A counted semaphore that a ticker fills: the store behind the semaphore limiter.

Idea        A count of permits, and a ticker of one tick a permit that runs while the count is below the burst. It
            starts anew, at the instant of the grant, each time the semaphore is left full. A ticker that ran on for
            ever would break the bound: `burst` permits just before a tick and one more just after it.
Source      "Parataxis, Eventually": a semaphore initialised with the burst, and a ticker that calls try_up.
Exactness   The grid of the ticker is made of fractions (queues/pacing/pulses.py): tick k is at `origin + k / rate`.
Clock       When the clock goes back the grid goes back with it, as the origin of a Bucket does.
"""

from __future__ import annotations

from queues.pacing.grants import Grant, Handed
from queues.pacing.instants import INFINITY, exact, reached
from queues.pacing.pulses import Pulses
from queues.pacing.rules import NO_ORDER, require_origin
from queues.pacing.ticks import Ticks

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any


class Permits:
    """A semaphore of at most `burst` permits, filled by `rate` ticks a second; it starts full and reads no clock.

    >>> permits = Permits(2, 3)
    >>> [permits.take(1, 10.0) for _ in range(4)], permits.take(1, 10.5)
    ([True, True, True, None], True)
    """

    __slots__ = ("_due", "_handed", "_last", "_out", "_put", "_rate", "_ticks", "burst", "count", "epoch")

    def __init__(self, rate: Any, burst: int) -> None:
        """`rate` at least 0 and finite, `burst` at least 1: the caller has checked them."""
        self.burst = burst
        self.count = burst
        self.epoch = 0
        self._rate = exact(rate, "rate")
        self._ticks: Ticks | None = None  # the ticker, while it runs
        self._put = 0  # how many of its ticks have been put
        self._due: Any = INFINITY  # before this the next one is not
        self._last: Any = -INFINITY
        self._handed = Handed(burst)
        self._out = self._handed.out

    def settle(self, now: Any, _waiting: int = 0) -> None:
        """Put the permits of all ticks that have come until `now`. O(1)."""
        try:
            if now < self._last:
                self._step_back(now)
            if now - now != 0:  # NaN or inf
                exact(now)
            if now >= self._due and self._ticks is not None:
                self._ticks.settle(now)
                came = self._ticks.take_all()
                self._put += came
                self.count = min(self.burst, self.count + came)
                self._pause_or_go_on(now)
            self._last = now
        except NO_ORDER:
            require_origin(now)
            raise

    def _pause_or_go_on(self, now: Any) -> None:
        """A full semaphore needs no ticks."""
        if self.count == self.burst or self._ticks is None:
            self._ticks = None
            self._due = INFINITY
        else:
            self._due = reached(now, self._ticks.grid.at(self._put + 1))

    def _step_back(self, now: Any) -> None:
        if self._ticks is not None and self._last != INFINITY:
            self._ticks.grid.move_back(exact(self._last) - exact(now))
            self._due = reached(now, self._ticks.grid.at(self._put + 1))
        self._last = now

    def take(self, n: int, now: Any) -> bool | None:
        """Take `n` permits, 1 to `burst`, and return True, or None when there are too few. O(1) between ticks."""
        try:
            if not self._last <= now < self._due:
                self.settle(now)
            if n > self.count:
                self._last = now
                return None
            if self._out:
                self._handed.taking(self._level(now))
            if self.count == self.burst:
                self._start(now)
            self._last = now
            self.count -= n
            return True
        except NO_ORDER:
            require_origin(now)
            raise

    def _start(self, now: Any) -> None:
        """Start the ticker at the instant at which the semaphore is left full."""
        if now - now != 0:  # NaN or inf
            exact(now)
        self.epoch += 1
        if self._rate:
            self._ticks = Ticks(Pulses(now, self._rate), self.burst)
            self._put = 0
            self._due = reached(now, self._ticks.grid.at(1))

    def hand(self, n: int) -> Grant | None:
        """Take `n` permits for somebody who is asleep, as of the last `settle`."""
        return self._handed.hand(n, self.epoch) if self.take(n, self._last) else None

    def collect(self, grant: Grant) -> None:
        """Whom they were handed to has woken up. O(handed)."""
        self._handed.collect(grant)

    def give_back(self, grant: Grant) -> None:
        """Undo a `hand`, as far as a semaphore that never gave these permits would hold more now. O(handed).

        None when the semaphore has been full in between.
        """
        back = self._handed.give_back(grant)
        if grant.epoch == self.epoch and self.count < self.burst:
            self.count = min(self.burst, self.count + back)
            self._pause_or_go_on(self._last)

    def _level(self, now: Any) -> int:
        """Return how many permits there are, a tick under way counted as one."""
        ticks = self._ticks
        under_way = ticks is not None and ticks.grid.at(self._put) < exact(now)
        return min(self.burst, self.count + under_way)

    def mark(self, total: int) -> object:
        """Return what `instant(total)` depends on: as long as it is the same, so is the instant."""
        return self.epoch, self._ticks and self._ticks.grid.origin, self._put - self.count + total

    def instant(self, total: int) -> Any:
        """Return when `total` more permits will have come, if none goes elsewhere; inf for never. O(1), exact."""
        missing = total - self.count
        if missing <= 0:
            return self._last
        return INFINITY if self._ticks is None else self._ticks.grid.at(self._put + missing)


class Unlimited:
    """The store of a limiter with rate inf: everything is granted, always.

    >>> Unlimited(3).take(3, 0.0)
    True
    """

    __slots__ = ("burst",)
    last = shut_until = -INFINITY

    def __init__(self, burst: int) -> None:
        """`burst` is the most that one call may ask for."""
        self.burst = burst

    def take(self, _n: int, _now: Any) -> bool:
        """Grant it."""
        return True

    def hand(self, n: int) -> Grant:
        """Grant it, though nobody ever waits."""
        return Grant(n, 0)

    def settle(self, now: Any, waiting: int = 0) -> None:
        """Nothing to bring up to date."""

    def collect(self, grant: Grant) -> None:
        """Nothing to forget."""

    give_back = collect

    def mark(self, _total: int) -> object:
        """Nothing that an instant would depend on."""
        return None

    def instant(self, _total: int) -> float:
        """It is always there."""
        return -INFINITY
