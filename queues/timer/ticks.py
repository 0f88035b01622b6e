"""Which tick of a clock an instant lies in: floor(start / span), exact for every kind of number and never out of range.

Idea        A tick is a whole number, so that a wheel can file by its digits and an index can look it up. It is 0 below
            `-LIMIT` spans and HIGHEST from `LIMIT` spans on, which is where the infinities and the huge numbers are;
            between them it is the exact floor, counted from the low edge, so that no tick is negative.
Source      `float // float` is the exact floor as long as the quotient stays far below 2**53: the remainder of C's
            `fmod` is exact, and what is left over is rounded to a whole number. Ints are divided as ints, all else by
            its `as_integer_ratio`.
Cost        O(1); a Fraction or Decimal costs a division of long ints, and a start beyond an edge one comparison
Invariants  A start that is not earlier has a tick that is not smaller, whatever the two types; equal starts share one.
Weakness    Starts beyond an edge are all in one tick. A number without `as_integer_ratio` goes through Fraction.
"""

from __future__ import annotations

from math import inf, nextafter

from queues.timer.rules import NEGATIVE_INFINITY, require_instant

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LIMIT = 1 << 50  # spans on either side of 0: with a span of a second 35 million years
HIGHEST = LIMIT + LIMIT


def require_span(span: Any, name: str) -> None:
    """Refuse a span that is no positive finite number: ValueError, or TypeError for what is no number at all.

    >>> require_span(0, "tick")
    Traceback (most recent call last):
        ...
    ValueError: tick is 0: expected a positive finite span
    """
    require_instant(span, name)
    if not 0 < span < inf:
        raise ValueError(f"{name} is {span!r}: expected a positive finite span")


def tick_counter(span: Any) -> Callable[[Any], int]:
    """A function from an instant, which must be one, to its tick: LIMIT for what starts from 0 up to one span.

    >>> tick_of = tick_counter(60)
    >>> [tick_of(start) - LIMIT for start in (-0.1, 0, 59.9, 60, 121)]
    [-1, 0, 0, 1, 2]
    >>> tick_of(float("-inf")), tick_of(10**400) == HIGHEST
    (0, True)
    """
    numerator, denominator = ratio(span)
    high = high_edge(span)
    low = -high
    divisor: float | None = None
    if numerator < 1 << 53 or isinstance(span, float):  # pragma: no mutate: only who goes the fast way below
        divisor = float(span)  # pragma: no mutate: without it all go the slow way, to the same tick
        if divisor != span:
            divisor = None

    def tick_of(start: Any) -> int:
        if start >= high:  # pragma: no mutate: at the edge both ways give HIGHEST
            return HIGHEST
        if start <= low:  # pragma: no mutate: at the edge both ways give 0
            return 0
        kind = type(start)  # pragma: no mutate: only who goes the fast way
        if kind is float and divisor is not None:
            return LIMIT + int(start // divisor)
        if kind is int:
            return LIMIT + int(start) * denominator // numerator
        above, below = ratio(start)
        return LIMIT + above * denominator // (below * numerator)

    return tick_of


def high_edge(span: Any) -> Any:
    """The start from which on everything is in the tick HIGHEST: exact for int and float, rounded down for the rest.

    >>> high_edge(2.0) == 2 * LIMIT, high_edge(1e300) == int(1e300) * LIMIT
    (True, True)
    """
    if isinstance(span, int | float) and (edge := span * LIMIT) < inf:  # by a power of two, so that it is exact
        return edge
    numerator, denominator = ratio(span)
    return numerator * LIMIT // denominator


def ratio(start: Any) -> tuple[int, int]:
    """`start` as two whole numbers, exactly. Raises TypeError when there is no way to say it so.

    >>> from decimal import Decimal
    >>> ratio(Decimal("0.25"))
    (1, 4)
    """
    try:
        return start.as_integer_ratio()  # type: ignore[no-any-return]
    except AttributeError:
        from fractions import Fraction  # only for a number that lacks it: the import is not free

        above, below = Fraction(start).as_integer_ratio()
        return int(above), int(below)  # numpy's whole numbers are no ints, and stay themselves in a Fraction


def end_of(tick: int, span: Any) -> Any:
    """A bound below which a start that is not before `tick` is sure to be in it: the end of the tick, or a bit less.

    -inf, which promises nothing, where the end cannot be said in one number of the span's type.

    >>> end_of(LIMIT + 1, 60), end_of(LIMIT, 0.1) < 0.1, end_of(HIGHEST, 1.0)
    (120, True, -inf)
    """
    if tick == HIGHEST or tick == 0:
        return NEGATIVE_INFINITY
    if isinstance(span, int):
        return (tick - LIMIT + 1) * span
    if isinstance(span, float):
        return nextafter((tick - LIMIT + 1) * span, NEGATIVE_INFINITY)  # the product is rounded by half a step at most
    return NEGATIVE_INFINITY
