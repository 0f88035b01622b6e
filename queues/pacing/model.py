"""Obviously right tickers and limiters, slow and without waiting: what the designs are compared with.

Both are told the time. Fractions throughout, one step for each tick; no cleverness.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from queues.pacing.instants import exact, reached


class TickerModel:
    """One consumer's view of a ticker: what `wait_next` returns, and when.

    >>> model = TickerModel(0, 1, capacity=1)
    >>> [model.wait_next(0), model.wait_next(4.7), model.wait_next(4.7)], model.dropped
    ([(1, 1), (4.7, 2), (5, 5)], 2)
    """

    def __init__(self, origin: Any, interval: Any, capacity: int = 1) -> None:
        """No tick has come."""
        self.origin = origin
        self.interval = interval
        self.capacity = capacity
        self.kept: list[Any] = []
        self.dropped = 0
        self.k = 1

    def _instant(self) -> Any:
        return self.origin + self.k * self.interval

    def pass_until(self, now: Any) -> None:
        """Let every tick until `now` come, one by one."""
        while self._instant() <= now:
            if len(self.kept) < self.capacity:
                self.kept.append(self._instant())
            else:
                self.dropped += 1
            self.k += 1

    def wait_next(self, now: Any) -> tuple[Any, Any]:
        """Return when one that asks at `now` goes on, and with which tick."""
        self.pass_until(now)
        if self.kept:
            return now, self.kept.pop(0)
        instant = self._instant()
        self.k += 1
        return instant, instant


class LimiterModel:
    """A token bucket that counts in fractions, and those who wait before it, by name.

    >>> model = LimiterModel(Fraction(1, 2), 1, now=0)
    >>> model.try_acquire(1), model.try_acquire(1), model.enter("a", 1), model.pass_until(10)
    (True, False, None, [('a', Fraction(2, 1))])
    """

    def __init__(self, rate: Any, burst: int, now: Any) -> None:
        """A full bucket."""
        self.rate = exact(rate)
        self.burst = burst
        self.level = Fraction(burst)
        self.now = now
        self.waiting: list[tuple[str, int]] = []

    def pass_until(self, now: Any) -> list[tuple[str, Any]]:
        """Move on to `now`, serving whose turn comes; return who and when, an instant that the clock can show.

        A `now` before the last one is a clock that went back: no time has passed.
        """
        served = []
        while self.waiting:
            name, n = self.waiting[0]
            instant = self.now
            if self.level < n:
                if not self.rate:
                    break
                instant = reached(now, exact(self.now) + (n - self.level) / self.rate)
            if instant > now:
                break
            self._flow(instant)
            self.level -= n
            served.append((name, instant))
            self.waiting.pop(0)
        self._flow(now)
        return served

    def _flow(self, now: Any) -> None:
        passed = max(Fraction(0), exact(now) - exact(self.now))
        self.level = min(Fraction(self.burst), self.level + self.rate * passed)
        self.now = now

    def try_acquire(self, n: int) -> bool:
        """Take n now, if nobody waits and there are enough."""
        if n == 0:
            return True
        if self.waiting or self.level < n:
            return False
        self.level -= n
        return True

    def enter(self, name: str, n: int) -> None:
        """Let `name` wait for n."""
        self.waiting.append((name, n))

    def leave(self, name: str) -> None:
        """Let `name` wait no more."""
        self.waiting = [pair for pair in self.waiting if pair[0] != name]

    def wait_time(self, n: int) -> Fraction | float:
        """Return the exact span until n more than all who wait want have flowed in, from an instant to `self.now`."""
        missing = sum(wanted for _, wanted in self.waiting) + n - self.level
        if n == 0 or missing <= 0:
            return Fraction(0)
        return missing / self.rate if self.rate else float("inf")


def worst_excess(grants: list[tuple[Any, int]], rate: Any, burst: int) -> tuple[Fraction, tuple[Any, Any]] | None:
    """Return by how much `grants`, (instant, n) in order, exceed `burst + rate * T` at worst, and in which span.

    Over every pair of grants, exactly; None when no span is exceeded. O(grants) with the largest debt so far in hand.

    >>> worst_excess([(0, 1), (0, 1), (1, 1)], 1, 1)
    (Fraction(1, 1), (0, 0))
    """
    worst: tuple[Fraction, tuple[Any, Any]] | None = None
    best_start: tuple[Fraction, Any] | None = None  # the smallest of (granted before - rate * instant)
    granted = Fraction(0)
    flow = exact(rate)
    for instant, n in grants:
        at = exact(instant)
        start = granted - flow * at
        if best_start is None or start < best_start[0]:
            best_start = (start, instant)
        granted += n
        excess = granted - flow * at - best_start[0] - burst
        if excess > 0 and (worst is None or excess > worst[0]):
            worst = (excess, (best_start[1], instant))
    return worst
