"""The place of a start on the line of numbers, as two columns that every store can keep in order: a float and bytes.

Idea        `low`, the greatest float not above the start, and `rest`, bytes that order what lies between `low` and the
            next float. Whoever measures time in floats, or in ints up to 2**53, has an empty rest: one float column
            then does all the work. Equal starts have equal places, whatever their types.
Source      The rest is the continued fraction of `start - low`, each term written so that bytes compare as terms do;
            every second term is complemented, because there a greater term makes a smaller number (Gosper, HAKMEM 101A,
            1972, orders continued fractions so). Terms have their length in front, which is what makes a shorter one
            sort first; an end counts as infinity.
Cost        O(1) for a float and a small int, else O(digits²) for the divisions
Invariants  place(a) < place(b) exactly when a < b. A rest has at most LONGEST_REST bytes, which every index can hold.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from math import nextafter

from queues.timer.rules import NEGATIVE_INFINITY, require_instant

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Place: TypeAlias = tuple[float, bytes]

EXACT_INT = 2**53  # up to here every int is a float
LONGEST_REST = 1024
LARGEST_EXPONENT = 5000  # a Decimal beyond would have to be written out with all its zeros
ONE_BYTE = 0xC0  # terms below are one byte; above, the byte says in how many the term follows
END = b"\xff"
COMPLEMENT = bytes(255 - byte for byte in range(256))


def place(number: Any, name: str = "start") -> Place:
    """Return (low, rest) of an instant, so that places compare as instants do, by exact value.

    O(1) for a float and an int up to 2**53. ±inf have a place, -0.0 has that of 0. Raises ValueError for NaN, and for a
    number so long that its rest would pass LONGEST_REST bytes (an int of more than about 2,400 digits); TypeError for
    what is neither int, float, Fraction nor Decimal.

    >>> place(2.5), place(2) == place(2.0) == place(Fraction(2))
    ((2.5, b''), True)
    >>> place(0.1) < place(Fraction(1, 9)) < place(Decimal("0.2")) < place(10**400) < place(float("inf"))
    True
    """
    if type(number) is float:
        if number != number:
            require_instant(number, name)
        return number + 0.0, b""  # -0.0 becomes 0.0
    if type(number) is int and -EXACT_INT <= number <= EXACT_INT:
        return float(number), b""
    return _exact(number, name)


def _exact(number: Any, name: str) -> Place:
    """Return the place of any number, by way of a Fraction."""
    require_instant(number, name)
    if isinstance(number, float):
        return float(number) + 0.0, b""
    if isinstance(number, Decimal):
        if number.is_infinite():
            return float(number), b""
        if number and abs(number.adjusted()) > LARGEST_EXPONENT:
            raise ValueError(f"{name} is {number!r}: expected an exponent of at most {LARGEST_EXPONENT:,} to keep it")
    elif not isinstance(number, int | Fraction):
        raise TypeError(f"{name} is {number!r} ({type(number).__name__}): expected int, float, Fraction or Decimal")
    exact = Fraction(number)
    low = _floor(exact)
    if low == NEGATIVE_INFINITY:
        rest = _terms(-exact).translate(COMPLEMENT)  # further below what is greater
    else:
        above = exact - Fraction(low)
        rest = _terms(above) if above else b""
    if len(rest) > LONGEST_REST:
        kind = type(number).__name__
        raise ValueError(f"{name} is too long a number ({kind}) to keep its order: expected about 2,400 digits at most")
    return low, rest


def _floor(exact: Fraction) -> float:
    """Return the greatest float that is not above `exact`; -inf where there is none."""
    try:
        low = exact.numerator / exact.denominator
    except OverflowError:
        # what overflows is huge: that it is > 0, >= 0 or > 1 is the same
        return sys.float_info.max if exact > 0 else NEGATIVE_INFINITY
    return low if Fraction(low) <= exact else nextafter(low, NEGATIVE_INFINITY)


def _terms(exact: Fraction) -> bytes:
    """Return the continued fraction of a number of at least 0, as bytes that sort as such numbers do."""
    above, below = exact.numerator, exact.denominator
    words = []
    while below:
        term, left = divmod(above, below)
        words.append(_ordered(term))
        above, below = below, left
    words.append(END)
    return b"".join(word.translate(COMPLEMENT) if at % 2 else word for at, word in enumerate(words))


def _ordered(term: int) -> bytes:
    """Return a whole number of at least 0 as bytes that sort as numbers do, none of which begins another."""
    if term < ONE_BYTE:
        return bytes((term,))
    length = (term.bit_length() + 7) // 8
    # "big" may as well be left out, it is what Python does anyway; said here because the order hangs on it
    if length < 0xFE - ONE_BYTE:
        return bytes((ONE_BYTE + length,)) + term.to_bytes(length, "big")
    return b"\xfe" + length.to_bytes(4, "big") + term.to_bytes(length, "big")
