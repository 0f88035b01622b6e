"""Durations, sizes and counts as people read them; nothing is parsed back.

Every figure has three significant digits and is rounded half up on its exact value, so 999,499 ns is still "999 µs" and
999,500 ns is already "1.00 ms".
"""

from __future__ import annotations

from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Number = int | float | Fraction

NANOSECONDS = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""unit -> its length in ns."""

BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""unit -> its size in bytes."""


def format_ns(ns: Number) -> str:
    """Return a duration of `ns` nanoseconds in the unit that suits it, with three significant digits.

    O(1). A whole number under 1,000 ns stays whole; from 1,000 s on it is whole seconds. Negative durations (a net
    figure) keep their sign. ValueError for NaN and for ±inf.

    >>> format_ns(11230), format_ns(999), format_ns(7.25), format_ns(999_500)
    ('11.2 µs', '999 ns', '7.25 ns', '1.00 ms')
    """
    return _scaled(ns, list(NANOSECONDS.items()), "a duration in ns")


def format_bytes(count: Number) -> str:
    """Return a size of `count` bytes in the binary unit that suits it, with three significant digits.

    O(1). The unit changes where three digits no longer hold the number of the smaller one (at 1,000, not at 1,024, so
    1,000 B is "0.977 KiB"); a whole number under 1,000 bytes stays whole. ValueError for NaN and for ±inf.

    >>> format_bytes(512), format_bytes(11_744_051), format_bytes(56.4)
    ('512 B', '11.2 MiB', '56.4 B')
    """
    return _scaled(count, list(BYTES.items()), "a size in bytes")


def format_count(count: int) -> str:
    """Return a whole number with its thousands apart: 200000 is "200,000"; TypeError for what is no whole number.

    >>> format_count(200_000)
    '200,000'
    """
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise TypeError(f"{count!r} is no count: expected a whole number")
    return f"{count:,d}"


def format_span(ns: int) -> str:
    """Return how long something takes for a progress line: the two largest units, the smaller one rounded up.

    O(1). Never less than the time left, so "0 s" means over; negative counts as over.

    >>> format_span(44_200_000_000), format_span(125_000_000_000), format_span(3_720_000_000_000), format_span(0)
    ('45 s', '2 min 05 s', '1 h 02 min', '0 s')
    """
    seconds = max(0, -(-ns // NANOSECONDS["s"]))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    minutes = -(-seconds // 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def in_unit(ns: Number, unit: str, digits: int = 2) -> str:
    """Return `ns` nanoseconds as a plain number of `unit` (ns, µs, ms or s) with `digits` decimals, rounded half up.

    For columns that name their unit in the head. ValueError for another unit, for NaN and for ±inf.

    >>> in_unit(11230, "ms", 4), in_unit(1_234_567_890, "µs", 0)
    ('0.0112', '1,234,568')
    """
    if unit not in NANOSECONDS:
        raise ValueError(f"{unit!r} is no unit of time here: expected one of {', '.join(NANOSECONDS)}")
    return _fixed(_exact(ns, "a duration in ns") / NANOSECONDS[unit], digits)


def in_microseconds(ns: Number, digits: int = 2) -> str:
    """Return `ns` nanoseconds as a plain number of microseconds with `digits` decimals.

    >>> in_microseconds(11230), in_microseconds(5, 3)
    ('11.23', '0.005')
    """
    return in_unit(ns, "µs", digits)


def _exact(value: Number, what: str) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{value!r} is not {what}: expected a finite number") from None


def _scaled(value: Number, units: Sequence[tuple[str, int]], what: str) -> str:
    """Return `value` in the first of `units` that shows it in three digits, or in the last one."""
    exact = _exact(value, what)
    first = units[0][0]
    if exact.denominator == 1 and abs(exact) < 1000:
        return f"{exact.numerator} {first}"
    fitting = (pair for pair in units if abs(exact) < pair[1] * Fraction(1999, 2))  # 999.5 would be shown as 1,000
    unit, size = next(fitting, units[-1])
    return f"{_three_digits(exact / size)} {unit}"


def _three_digits(value: Fraction) -> str:
    """Return `value` with three significant digits, or three decimals where it has no smaller unit to go to."""
    for digits, limit in ((3, "0.9995"), (2, "9.995"), (1, "99.95")):  # from there on it would gain a digit
        if abs(value) < Fraction(limit):
            return _fixed(value, digits)
    return _fixed(value, 0)


def _fixed(value: Fraction, digits: int) -> str:
    """Return `value` with `digits` decimals, half away from zero, thousands apart."""
    scale = 10**digits
    whole, rest = divmod(int(abs(value) * scale + Fraction(1, 2)), scale)
    sign = "-" if value < 0 and (whole or rest) else ""  # pragma: no mutate: of 0 nothing is left, so < or <= is one
    return f"{sign}{whole:,d}.{rest:0{digits}d}" if digits else f"{sign}{whole:,d}"
