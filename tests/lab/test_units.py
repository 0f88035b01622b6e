"""Figures for people: three significant digits, and the next unit at exactly the right point."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.units import BYTES, NANOSECONDS, format_bytes, format_count, format_ns, format_span, in_microseconds, in_unit


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (0, "0 ns"),
        (7, "7 ns"),
        (11230, "11.2 µs"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (9_994, "9.99 µs"),
        (9_995, "10.0 µs"),
        (99_949, "99.9 µs"),
        (99_950, "100 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (999_499_999, "999 ms"),
        (999_500_000, "1.00 s"),
        (999_499_999_999, "999 s"),
        (999_500_000_000, "1,000 s"),
        (7_200_000_000_000, "7,200 s"),
    ],
)
def test_a_duration_changes_its_unit_where_three_digits_no_longer_hold_it(ns: int, shown: str) -> None:
    assert format_ns(ns) == shown
    assert format_ns(-ns) == (f"-{shown}" if ns else shown)


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (7.25, "7.25 ns"),
        (7.0, "7 ns"),
        (0.5, "0.500 ns"),
        (0.9994, "0.999 ns"),
        (Fraction(99949, 100000), "0.999 ns"),
        (Fraction(9995, 10000), "1.00 ns"),
        (999.4, "999 ns"),
        (999.5, "1.00 µs"),
        (-0.0001, "0.000 ns"),
    ],
)
def test_a_mean_may_be_a_fraction_of_a_nanosecond(ns: float, shown: str) -> None:
    assert format_ns(ns) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (1023, "0.999 KiB"),
        (1024, "1.00 KiB"),
        (1_023_487, "999 KiB"),
        (1_023_488, "0.976 MiB"),
        (2**20 - 1, "1.00 MiB"),
        (2**20, "1.00 MiB"),
        (2**30, "1.00 GiB"),
        (5 * 2**40, "5.00 TiB"),
        (56.44, "56.4 B"),
    ],
)
def test_a_size_changes_its_unit_where_three_digits_no_longer_hold_it(count: float, shown: str) -> None:
    assert format_bytes(count) == shown


@given(st.fractions(min_value=1, max_value=10**14))
def test_a_shown_duration_is_within_half_a_unit_of_the_third_digit(ns: Fraction) -> None:
    number, unit = format_ns(ns).split(" ")
    back = Fraction(number.replace(",", "")) * NANOSECONDS[unit]
    assert abs(back - ns) * 200 <= ns


@given(st.integers(min_value=1, max_value=2**49))
def test_a_shown_size_is_within_half_a_unit_of_the_third_digit(count: int) -> None:
    number, unit = format_bytes(count).split(" ")
    assert abs(Fraction(number.replace(",", "")) * BYTES[unit] - count) * 190 <= count


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_refused_and_the_sentence_says_what_it_should_have_been(value: float) -> None:
    wanted = ((format_ns, "a duration in ns"), (format_bytes, "a size in bytes"), (in_microseconds, "a duration in ns"))
    for show, what in wanted:
        with pytest.raises(ValueError, match=f"^{value!r} is not {what}: expected a finite number$"):
            show(value)


def test_a_count_has_its_thousands_apart_and_is_whole() -> None:
    assert [format_count(count) for count in (0, 999, 1000, -1234567)] == ["0", "999", "1,000", "-1,234,567"]
    for wrong in (1.5, True, "7"):
        with pytest.raises(TypeError, match="expected a whole number"):
            format_count(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ns", "digits", "shown"),
    [
        (11230, 2, "11.23"),
        (5, 3, "0.005"),
        (4, 2, "0.00"),
        (5, 2, "0.01"),
        (-4, 2, "0.00"),
        (1_234_567_890, 0, "1,234,568"),
    ],
)
def test_a_fixed_unit_rounds_half_up_and_keeps_its_decimals(ns: int, digits: int, shown: str) -> None:
    assert in_microseconds(ns, digits) == shown


def test_an_unknown_unit_is_refused_with_those_that_there_are() -> None:
    assert in_unit(1_500_000, "ms") == "1.50"
    assert in_microseconds(1_500) == "1.50"
    with pytest.raises(ValueError, match="'us' is no unit of time here: expected one of ns, µs, ms, s"):
        in_unit(1, "us")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-3, "0 s"),
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (3601, "1 h 01 min"),
        (90_000, "25 h 00 min"),
    ],
)
def test_the_time_left_is_never_shown_as_less_than_it_is(seconds: int, shown: str) -> None:
    assert format_span(seconds * 10**9) == shown
    assert format_span(seconds * 10**9 - 1) == shown or seconds in (3600, 90_000)
