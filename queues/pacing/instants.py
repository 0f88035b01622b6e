"""Instants and spans of any clock without rounding by accident: exact values, and the span that reaches an instant.

Functions only, standard library only. A clock may count in int, float, Fraction or Decimal; what a sum of two floats
rounds away is what these functions are about.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import ceil, inf, nextafter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any

INFINITY = inf
WHOLE_FLOATS = 2**53
"""From here on not every whole number is a float."""


def exact(value: Any, name: str = "the clock") -> Fraction:
    """Return `value` as the fraction that it is.

    O(digits). ValueError for NaN and ±inf, TypeError for what is no number.

    >>> exact(0.5), exact(3)
    (Fraction(1, 2), Fraction(3, 1))
    >>> exact(float("inf"))
    Traceback (most recent call last):
        ...
    ValueError: the clock says inf: expected a finite number
    """
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} says {value!r}: expected a finite number") from None


def float_at_least(instant: Any) -> float:
    """Return the smallest float that is not below `instant`; inf when there is none. O(1).

    >>> float_at_least(Fraction(1, 3)) > Fraction(1, 3) > nextafter(float_at_least(Fraction(1, 3)), 0)
    True
    """
    try:
        nearest = float(instant)
    except OverflowError:
        return INFINITY if instant > 0 else -nextafter(INFINITY, 0)
    return nearest if nearest >= instant else nextafter(nearest, INFINITY)


def reached(now: Any, instant: Any) -> Any:
    """Return the smallest number of the kind that `now` is which is not below `instant`, as far as kinds have one.

    For float the next float; int, Fraction and Decimal: `instant` itself. To compare a clock with it is exact and
    cheap.
    """
    return float_at_least(instant) if type(now) is float else instant


def span_until(now: Any, instant: Any) -> Any:
    """Return the span to wait at `now` until `instant`, in the kind of the clock, such that `now + span >= instant`.

    0 of that kind when `instant` has come, inf when it never comes. For floats the sum is meant as floats add: the
    difference is made larger by as many units in the last place as the sum loses. O(1).

    >>> span_until(1e9, 1e9 + 0.25), span_until(5, 5), span_until(0, Fraction(1, 4)), span_until(0, 3)
    (0.25, 0, 0.25, 3)
    """
    if instant <= now:
        return now - now
    if instant == INFINITY:
        return INFINITY
    if type(now) is float:
        return _float_span(now, float_at_least(instant))
    if isinstance(now, int):
        return _span_of_whole(now, exact(instant, "the instant"))
    if isinstance(now, Decimal):
        return _decimal_span(now, instant)
    return exact(instant, "the instant") - now


def _float_span(now: float, instant: float) -> float:
    span = instant - now
    while now + span < instant:
        span = nextafter(span, INFINITY)
    while now + span > instant and now + nextafter(span, 0) >= instant:
        span = nextafter(span, 0)
    return span


def _span_of_whole(now: int, instant: Fraction) -> int | float:
    """A clock that shows whole numbers may go on in floats, unless they are too coarse for it."""
    if instant.denominator == 1 or abs(now) >= WHOLE_FLOATS:
        return ceil(instant) - now
    return _float_span(float(now), float_at_least(instant))


def _decimal_span(now: Decimal, instant: Any) -> Decimal:
    with localcontext() as context:
        context.rounding = ROUND_CEILING
        value = exact(instant, "the instant")
        span = Decimal(value.numerator) / Decimal(value.denominator) - now
    while now + span < value:
        span = span.next_plus()
    return span
