"""The instants `origin + k * interval`, k = 1, 2, …, each worked out on its own: no sum of sums, so no drift."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from queues.pacing.instants import INFINITY, WHOLE_FLOATS, exact

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any


class Grid:
    """`origin + k * interval` in the arithmetic of the clock: two roundings for floats, whatever k; none for fractions.

    >>> grid = Grid(1e9, 1 / 3)
    >>> grid.at(3), grid.last(1, 1e9 + 10)
    (1000000001.0, 30)
    """

    __slots__ = ("interval", "origin")

    def __init__(self, origin: Any, interval: Any) -> None:
        """ValueError for an interval so long that the clock cannot show its first tick."""
        self.origin = origin
        self.interval = _matching(origin, interval)
        if self.at(1) == INFINITY:
            raise ValueError(f"interval is {interval!r}: expected one whose first tick the clock can show")

    def at(self, k: int) -> Any:
        """Return instant `k`; inf for one beyond what the clock can show. O(1)."""
        try:
            return self.origin + k * self.interval
        except ArithmeticError:  # no float holds k
            return _beyond_floats(self.origin, k, self.interval)

    def due(self, k: int, now: Any) -> bool:
        """Whether instant `k` has come. O(1)."""
        instant = self.at(k)
        return bool(instant <= now and instant != INFINITY)

    def last(self, k: int, now: Any) -> int:
        """Return the last index that has come at `now`, at least `k - 1`, where `k` is the first that is asked about.

        O(log passed) comparisons with `at` itself: a division could round to the other side of an instant.
        """
        if not self.due(k, now):
            return k - 1
        step = 1
        while self.due(k + step, now):
            k += step
            step *= 2
        beyond = k + step
        while beyond - k > 1:
            middle = (k + beyond) // 2
            if self.due(middle, now):
                k = middle
            else:
                beyond = middle
        return k


def _beyond_floats(origin: Any, k: int, interval: Any) -> Any:
    """Return instant `k` where no float holds `k`: the clock gets there all the same where the interval is so short."""
    if not isinstance(interval, float):
        return INFINITY
    try:
        return float(exact(origin) + k * exact(interval))
    except OverflowError:
        return INFINITY


def _matching(origin: Any, interval: Any) -> Any:
    """Return `interval` in a kind that can be added to `origin` without an error or a coarser sum than need be."""
    if isinstance(interval, Decimal) and isinstance(origin, float | Fraction):
        return Fraction(interval)
    if isinstance(origin, Decimal) and isinstance(interval, float):
        return Decimal(interval)
    if isinstance(origin, Decimal) and isinstance(interval, Fraction):
        return Decimal(interval.numerator) / Decimal(interval.denominator)
    if isinstance(origin, int) and abs(origin) >= WHOLE_FLOATS and isinstance(interval, float):
        return Fraction(interval)  # nanoseconds since 1970 in a float are 256 ns apart
    return interval
