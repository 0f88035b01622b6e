"""What every advisory scheduler refuses and how it adds: one check, one wording, one arithmetic for all of them.

Functions only, standard library only. `plus` and `minus` are Python's own, and exact where Python has no answer or
would lose what is added.
"""

from __future__ import annotations

import math
from numbers import Number, Rational

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Hashable
    from fractions import Fraction
    from typing import Any

INFINITY = math.inf
NEGATIVE_INFINITY = -math.inf

FAR = 2.0**52
"""From here on neighbouring floats are 1 apart and more, so that a sum may lose what was added."""

AT_ONCE = NEGATIVE_INFINITY
"""The next run of a job that is due whatever the time: it stands before all that have one."""


class UnknownJob(KeyError):
    """A KeyError whose text is a sentence, not the representation of one.

    >>> str(UnknownJob("no job 'mail'"))
    "no job 'mail'"
    """

    def __str__(self) -> str:
        """Return the sentence."""
        return str(self.args[0]) if self.args else ""


def require_period(period: Any) -> None:
    """Refuse a period that is no positive finite number; O(1).

    ValueError for zero, negative, infinite and NaN (Decimal's too); TypeError for what is no number. True is none: it
    is a flag that went astray.

    >>> require_period(0.5)
    >>> require_period(0)
    Traceback (most recent call last):
        ...
    ValueError: period is 0: expected a positive finite number
    >>> require_period("5")
    Traceback (most recent call last):
        ...
    TypeError: period is '5' (str): expected a positive finite number (int, float, Fraction, Decimal)
    """
    if not _between(0, period, "period", "a positive finite number"):
        raise ValueError(f"period is {period!r}: expected a positive finite number")


def require_now(now: Any) -> None:
    """Refuse an instant at which nothing can be due or not: ±inf and NaN (ValueError), what is no number (TypeError).

    >>> require_now(0)
    >>> require_now(float("inf"))
    Traceback (most recent call last):
        ...
    ValueError: now is inf: expected a finite number, the time on the clock
    """
    if not _between(NEGATIVE_INFINITY, now, "now", "the time on the clock, a finite number"):
        raise ValueError(f"now is {now!r}: expected a finite number, the time on the clock")


def _between(low: Any, value: Any, name: str, expected: str) -> bool:
    """Whether `low < value < inf`; TypeError for what cannot be ordered against numbers, or is a truth value."""
    if not isinstance(value, bool) and isinstance(value, Number):
        try:
            return bool(low < value < INFINITY)  # type: ignore[operator]
        except ArithmeticError:  # Decimal("NaN") raises InvalidOperation, which is no ValueError
            return False
        except TypeError:  # complex
            pass
    raise TypeError(
        f"{name} is {value!r} ({type(value).__name__}): expected {expected} (int, float, Fraction, Decimal)"
    ) from None


def require_clock(clock: Any) -> None:
    """Refuse a clock that cannot be called.

    >>> require_clock(0)
    Traceback (most recent call last):
        ...
    TypeError: clock is 0: expected something to call that returns the time
    """
    if not callable(clock):
        raise TypeError(f"clock is {clock!r}: expected something to call that returns the time")


def require_id(job_id: Hashable) -> None:
    """Refuse an id that cannot be hashed.

    >>> require_id(["mail"])
    Traceback (most recent call last):
        ...
    TypeError: job id is ['mail'] (list): expected something that can be hashed, such as a string
    """
    try:
        hash(job_id)
    except TypeError:
        raise TypeError(
            f"job id is {job_id!r} ({type(job_id).__name__}): expected something that can be hashed, such as a string"
        ) from None


def unknown(job_id: Hashable) -> UnknownJob:
    """Return what to raise for an id that no job has."""
    return UnknownJob(f"no job {job_id!r}: expected the id of a job that was added and not removed")


def repeated(job_id: Hashable) -> ValueError:
    """Return what to raise for an id that a job has already."""
    return ValueError(f"job {job_id!r} is there already: remove it first, or use update_period")


def no_job() -> LookupError:
    """Return what to raise where there is no job to advise."""
    return LookupError("there is no job: add one before asking for the next")


def exact(number: Any) -> Fraction:
    """Return a finite number as a Fraction of the same value.

    >>> exact(0.5) + exact(1)
    Fraction(3, 2)
    """
    from fractions import Fraction  # rarely needed, and it brings re and decimal along

    return Fraction(number) if isinstance(number, Rational) else Fraction(*number.as_integer_ratio())


def plus(one: Any, other: Any) -> Any:
    """Return the sum of two finite numbers; an exact Fraction where Python's own is an error, infinite or far out.

    Far out, from FAR on, a float swallows what is added to it.

    >>> from decimal import Decimal
    >>> plus(1, 0.5), plus(Decimal("0.1"), 0.5), plus(1e308, 1e308) == 2 * int(1e308), plus(1e17, 3) == 10**17 + 3
    (1.5, Fraction(3, 5), True, True)
    """
    try:
        total = one + other
    except (TypeError, OverflowError):  # Decimal and float; float and an int that is no float
        return exact(one) + exact(other)
    if -FAR < total < FAR and -FAR < one < FAR:
        return total
    return total if type(total) is int else exact(one) + exact(other)


def minus(one: Any, other: Any) -> Any:
    """Return the difference of two finite numbers, as `plus` does the sum.

    >>> minus(1, 0.5), minus(10**400, 0.5) == 10**400 - exact(0.5), minus(exact(1e17) + 3, 1e17)
    (0.5, True, Fraction(3, 1))
    """
    try:
        rest = one - other
    except (TypeError, OverflowError):
        return exact(one) - exact(other)
    if -FAR < rest < FAR and -FAR < one < FAR:
        return rest
    return rest if type(rest) is int else exact(one) - exact(other)
