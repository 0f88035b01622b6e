"""The place of a start, byte for byte: what a store keeps, every later version must put into the same order."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from queues.timer import durable_place
from queues.timer.durable_place import LONGEST_REST, _ordered, place

LARGEST = int(1.7976931348623157e308)
"""The greatest float; what is more has its rest behind it."""


class Real(float):
    """A float of a type of its own."""


class Ordered:
    """What can be compared with numbers and is none that has a place."""

    def __ge__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "Ordered()"


def said(error: type[BaseException], *given: Any) -> str:
    with pytest.raises(error) as refused:
        place(*given)
    return str(refused.value)


def test_floats_and_ints_that_floats_hold_need_no_fraction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable_place, "_exact", None)
    for number in (0.0, 2.5, -1e308, math.inf, -math.inf, 0, 7, 2**53, -(2**53)):
        assert place(number) == (float(number), b"")
        assert type(place(number)[0]) is float


@pytest.mark.parametrize(
    "zero",
    [0.0, -0.0, 0, False, Real(-0.0), Fraction(0), Decimal("-0"), Decimal("0E+9999"), Decimal("0E-9999")],
    ids=repr,
)
def test_every_zero_has_the_place_of_zero(zero: Any) -> None:
    assert repr(place(zero)) == "(0.0, b'')"


@pytest.mark.parametrize(
    ("number", "low"),
    [
        (Real(2.5), 2.5),
        (np.float64(-7.5), -7.5),
        (Real(math.inf), math.inf),
        (Decimal("Infinity"), math.inf),
        (Decimal("-Infinity"), -math.inf),
        (Decimal("2.5"), 2.5),
        (Fraction(-5, 2), -2.5),
        (2**53 + 2, 2.0**53 + 2),
        (-(2**60), -(2.0**60)),
        (True, 1.0),
        (LARGEST, float(LARGEST)),
        (-LARGEST, -float(LARGEST)),
        (Fraction(5e-324), 5e-324),
    ],
    ids=repr,
)
def test_what_a_float_holds_has_no_rest_whatever_its_type(number: Any, low: float) -> None:
    found = place(number)
    assert (type(found[0]), found) == (float, (low, b""))


@pytest.mark.parametrize(
    ("number", "low", "rest"),
    [
        (2**53 + 1, 2.0**53, "01 00"),
        (-(2**53) - 1, -(2.0**53) - 2, "01 00"),
        (Fraction(2**54 + 1, 2), 2.0**53, "00 fd ff"),
        (2**53 + Fraction(1, 3), 2.0**53, "00 fc ff"),
        (2**53 + Fraction(7, 5), 2.0**53, "01 fd 02 00"),
        (2**53 + Fraction(1, 191), 2.0**53, "00 40 ff"),
        (2**53 + Fraction(1, 192), 2.0**53, "00 3e 3f ff"),
        (LARGEST + 5, float(LARGEST), "05 00"),
        (-LARGEST - 1, -math.inf, "01 ff ff ff 7f" + 6 * " 00" + " 07" + 120 * " ff" + " fe ff"),
        (Fraction(1, 10), 0.09999999999999999, None),
        (Fraction(-1, 10), -0.1, None),
        (Fraction(1, 10**400), 0.0, None),
        (Fraction(-1, 10**400), -5e-324, None),
        (10**400, float(LARGEST), None),
        (-(10**400), -math.inf, None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_the_rest_is_written_as_it_always_was(number: Any, low: float, rest: str | None) -> None:
    found = place(number)
    assert found[0] == low
    assert found[1]
    if rest is not None:
        assert found[1].hex(" ") == rest


@pytest.mark.parametrize(
    ("term", "kept"),
    [
        (0, "00"),
        (1, "01"),
        (191, "bf"),
        (192, "c1 c0"),
        (255, "c1 ff"),
        (256, "c2 01 00"),
        (65_535, "c2 ff ff"),
        (65_536, "c3 01 00 00"),
        (256**61 - 1, "fd" + 61 * " ff"),
        (256**61, "fe 00 00 00 3e 01" + 61 * " 00"),
        (256**62, "fe 00 00 00 3f 01" + 62 * " 00"),
        (256**70 - 1, "fe 00 00 00 46" + 70 * " ff"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_term_is_written_as_it_always_was(term: int, kept: str) -> None:
    assert _ordered(term).hex(" ") == kept


def test_no_term_begins_another_and_they_sort_as_numbers_do() -> None:
    terms = [0, 1, 100, 190, 191, 192, 193, 254, 255, 256, 257, 65_535, 65_536]
    terms += [256**size + by for size in (20, 60, 61, 62, 63, 100, 300) for by in (-1, 0, 1)]
    kept = [_ordered(term) for term in terms]
    assert kept == sorted(set(kept))
    assert not any(later.startswith(earlier) for at, earlier in enumerate(kept) for later in kept[at + 1 :])


def test_all_fractions_of_small_numbers_are_told_apart_and_in_order() -> None:
    base = 2**53  # neighbouring floats are 2 apart here, so that all of them have a rest
    rising = sorted({base + Fraction(above, below) for below in range(1, 31) for above in range(1, 2 * below)})
    places = [place(number) for number in rising]
    assert len(rising) > 500
    assert places == sorted(set(places))
    assert place(base) < places[0]
    assert places[-1] < place(base + 2)


def test_a_rest_may_be_as_long_as_an_index_holds_and_no_longer() -> None:
    longest = LARGEST + 256**1018 - 1
    assert len(place(longest)[1]) == LONGEST_REST == 1024
    assert said(ValueError, longest + 1) == (
        "start is too long a number (int) to keep its order: expected about 2,400 digits at most"
    )


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            (math.nan,),
            ValueError,
            "start is nan: expected a number that can be ordered; leave out or replace the message",
        ),
        (
            (math.nan, "now"),
            ValueError,
            "now is nan: expected a number that can be ordered; leave out or replace the message",
        ),
        (
            (Decimal("NaN"), "now"),
            ValueError,
            "now is Decimal('NaN'): expected a number that can be ordered; leave out or replace the message",
        ),
        (("5", "now"), TypeError, "now is '5' (str): expected a number (int, float, Fraction, Decimal)"),
        ((Ordered(),), TypeError, "start is Ordered() (Ordered): expected int, float, Fraction or Decimal"),
        ((Ordered(), "now"), TypeError, "now is Ordered() (Ordered): expected int, float, Fraction or Decimal"),
        (
            (Decimal("1E-5001"), "now"),
            ValueError,
            "now is Decimal('1E-5001'): expected an exponent of at most 5,000 to keep it",
        ),
        (
            (Decimal("1E+5001"),),
            ValueError,
            "start is Decimal('1E+5001'): expected an exponent of at most 5,000 to keep it",
        ),
        (
            (Decimal("1E-5000"),),
            ValueError,
            "start is too long a number (Decimal) to keep its order: expected about 2,400 digits at most",
        ),
        (
            (Fraction(1, 10**5000), "now"),
            ValueError,
            "now is too long a number (Fraction) to keep its order: expected about 2,400 digits at most",
        ),
    ],
)
def test_what_has_no_place_is_refused_by_name(given: tuple[Any, ...], error: type[Exception], words: str) -> None:
    assert said(error, *given) == words
