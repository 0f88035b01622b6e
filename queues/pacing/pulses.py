"""The grid of a rate: pulse k at `origin + k / rate`, exactly, whatever floats make of a sum or a quotient.

A ticker's grid (queues/pacing/grid.py) is made of the clock's own numbers; this one is made of fractions, and looks for
the last pulse in floats where their error cannot matter.
"""

from __future__ import annotations

from math import floor, nan

from queues.pacing.instants import exact

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Any

EPSILON = 2.0**-49
"""More than the relative error of `(now - origin) * rate` in floats: three roundings of 2**-53 each."""
SMALLEST, LARGEST = 1e-200, 1e200
"""Rates outside are left to fractions: floats lose digits near their smallest number and overflow near the largest."""


def fast_rate(rate: Fraction) -> float:
    """Return a rate as a float, or NaN where floats would not do.

    >>> from fractions import Fraction
    >>> fast_rate(Fraction(1, 4)), fast_rate(Fraction(10) ** 300)
    (0.25, nan)
    """
    return float(rate) if rate == 0 or SMALLEST < rate < LARGEST else nan


class Pulses:
    """`origin + k / rate` for k = 1, 2, …

    >>> pulses = Pulses(1e9, exact(3))
    >>> pulses.last(1, 1e9 + 1), float(pulses.at(3))
    (3, 1000000001.0)
    """

    __slots__ = ("_fast_origin", "_fast_rate", "_rate", "origin")

    def __init__(self, origin: Any, rate: Fraction) -> None:
        """`origin` is what the clock said; `rate` is above 0."""
        self.origin = origin
        self._rate = rate
        self._fast_origin = origin
        self._fast_rate = fast_rate(rate)

    def move_back(self, span: Fraction) -> None:
        """Move all pulses by `span` to earlier."""
        self.origin = exact(self.origin) - span
        self._fast_origin = nan

    def at(self, k: int) -> Fraction:
        """Return instant `k`. O(1)."""
        return exact(self.origin) + k / self._rate

    def last(self, k: int, now: Any) -> int:
        """Return the last index that has come at `now`, at least `k - 1`. O(1)."""
        try:
            passed = (now - self._fast_origin) * self._fast_rate
            low, high = floor(passed - passed * EPSILON), floor(passed + passed * EPSILON)
        except (TypeError, ValueError, ArithmeticError):  # Decimal and float do not mix; NaN and inf have no floor
            low, high = 0, 1
        if low != high:
            low = floor((exact(now) - exact(self.origin)) * self._rate)
        return max(k - 1, int(low))
