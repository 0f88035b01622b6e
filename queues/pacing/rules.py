"""What tickers and limiters refuse, and how: one check and one wording for all designs."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from queues.pacing.instants import INFINITY, exact

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any

NUMBERS = (int, float, Fraction, Decimal)
NO_ORDER = (ArithmeticError, TypeError)
"""What comparing and adding raise where something is no finite number: Decimal's NaN and infinity, and what is none."""


class LimiterClosed(RuntimeError):
    """Raised by `acquire` and `try_acquire` of a limiter after `close()`, also where one waits when it is closed.

    >>> from queues.pacing.limiter_arithmetic import ArithmeticLimiter
    >>> limiter = ArithmeticLimiter(1, 1)
    >>> limiter.close()
    >>> limiter.try_acquire()
    Traceback (most recent call last):
        ...
    queues.pacing.rules.LimiterClosed: the limiter is closed: make a new one
    """

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__("the limiter is closed: make a new one")


def require_number(value: Any, name: str, expected: str) -> None:
    """Refuse what is no number, a bool included (TypeError), and NaN (ValueError).

    >>> require_number(True, "rate", "a number of permits a second")
    Traceback (most recent call last):
        ...
    TypeError: rate is True (bool): expected a number of permits a second
    """
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise TypeError(f"{name} is {value!r} ({type(value).__name__}): expected {expected}")
    if value.is_nan() if isinstance(value, Decimal) else value != value:  # comparing a signalling NaN raises
        raise ValueError(f"{name} is {value!r}: expected {expected}")


def require_interval(value: Any) -> None:
    """Refuse an interval that is not positive and finite (ValueError) or no number (TypeError).

    >>> require_interval(0)
    Traceback (most recent call last):
        ...
    ValueError: interval is 0: expected a positive finite number of seconds
    """
    expected = "a positive finite number of seconds"
    require_number(value, "interval", expected)
    if not 0 < value < INFINITY:
        raise ValueError(f"interval is {value!r}: expected {expected}")


def require_rate(value: Any) -> None:
    """Refuse a rate below 0 (ValueError) or no number (TypeError); 0 and inf are rates.

    >>> require_rate(-1)
    Traceback (most recent call last):
        ...
    ValueError: rate is -1: expected a number of permits a second, 0 (never) to inf (always)
    """
    expected = "a number of permits a second, 0 (never) to inf (always)"
    require_number(value, "rate", expected)
    if value < 0:
        raise ValueError(f"rate is {value!r}: expected {expected}")


def whole(value: Any, name: str, least: int, expected: str) -> int:
    """Return `value` as an int of at least `least`; a float, Fraction or Decimal that is whole will do.

    ValueError for other numbers, TypeError for what is none.

    >>> whole(2.0, "burst", 1, "a whole number of permits, at least 1")
    2
    """
    require_number(value, name, expected)
    if value in (INFINITY, -INFINITY) or value != int(value) or value < least:
        raise ValueError(f"{name} is {value!r}: expected {expected}")
    return int(value)


def require_burst(value: Any) -> int:
    """Return the burst as an int of at least 1.

    >>> require_burst(0)
    Traceback (most recent call last):
        ...
    ValueError: burst is 0: expected a whole number of permits, at least 1
    """
    return whole(value, "burst", 1, "a whole number of permits, at least 1")


def require_capacity(value: Any) -> int:
    """Return the capacity as an int of at least 1: a buffer that holds no tick would lose those that come on time.

    >>> require_capacity(0)
    Traceback (most recent call last):
        ...
    ValueError: capacity is 0: expected a whole number of ticks, at least 1
    """
    return whole(value, "capacity", 1, "a whole number of ticks, at least 1")


def require_count(value: Any, burst: int) -> int:
    """Return the number of permits asked for as an int from 0 to `burst`: more would never be granted.

    >>> require_count(6, 5)
    Traceback (most recent call last):
        ...
    ValueError: n is 6: expected at most the burst, 5; ask in parts
    """
    count = whole(value, "n", 0, f"a whole number of permits, 0 to {burst}")
    if count > burst:
        raise ValueError(f"n is {value!r}: expected at most the burst, {burst}; ask in parts")
    return count


def require_callable(value: Any, name: str, does: str) -> None:
    """Refuse a clock or a sleep that cannot be called (TypeError)."""
    if not callable(value):
        raise TypeError(f"{name} is {value!r}: expected something to call that {does}")


def require_origin(now: Any) -> None:
    """Refuse a clock that shows no finite number: ValueError, or TypeError for what is no number at all.

    >>> require_origin("noon")
    Traceback (most recent call last):
        ...
    TypeError: the clock is 'noon' (str): expected a finite number
    """
    require_number(now, "the clock", "a finite number")
    exact(now)
