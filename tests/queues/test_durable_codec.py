"""What a durable queue writes of starts and messages: places in exact order, lines that come back as they were."""

from __future__ import annotations

import doctest
import enum
import math
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.timer import durable_codec
from queues.timer.durable_codec import EXPECTED, line, read, read_text
from queues.timer.durable_place import LONGEST_REST, place

HUGE = 10**400
NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.integers(),
    st.integers(-(2**1100), 2**1100),
    st.fractions(),
    st.decimals(allow_nan=False, places=20),
    st.builds(lambda near, by: near + Fraction(by, 7), st.integers(2**53 - 4, 2**53 + 4), st.integers(-9, 9)),
    st.builds(lambda near, by: Fraction(near) + Fraction(by, 10**40), st.floats(-1e9, 1e9), st.integers(-3, 3)),
    st.sampled_from([HUGE, HUGE + 1, -HUGE, -HUGE - 1, Fraction(HUGE, 3), Decimal(HUGE), math.inf, -math.inf]),
    st.sampled_from([Decimal("Infinity"), Decimal("-Infinity"), True, False, -0.0, 5e-324, -5e-324]),
    st.sampled_from([Fraction(1, HUGE), Fraction(-1, HUGE), 1.7976931348623157e308, -1.7976931348623157e308]),
)
PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


def same(one: Any, other: Any) -> bool:
    """Whether two things are equal and of the same types all the way down; -0.0 is not 0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    return bool(one == other) and repr(one) == repr(other)


@settings(max_examples=600, derandomize=True, database=None)
@given(one=NUMBERS, other=NUMBERS)
def test_places_are_ordered_as_the_numbers_are(one: Any, other: Any) -> None:
    assert (place(one) < place(other), place(one) == place(other)) == (one < other, one == other)


def test_neighbours_that_a_float_cannot_tell_apart_have_different_places_in_order() -> None:
    rising = [-HUGE - 1, -HUGE, -Fraction(HUGE, 3), -1e308, Fraction(1, 10), 0.1, Fraction(1, 3), 2**53, 2**53 + 1]
    rising += [Fraction(2**54 + 3, 2), 1e308, Fraction(HUGE, 3), HUGE, HUGE + 1]
    places = [place(number) for number in rising]
    assert places == sorted(set(places))
    assert place(-math.inf) < places[0]
    assert places[-1] < place(math.inf)


@pytest.mark.parametrize("number", [0, 1.5, -(2**53), 1e308, 1700000000.25, math.inf, False])
def test_what_a_float_holds_needs_no_rest(number: Any) -> None:
    assert place(number) == (float(number), b"")


@pytest.mark.parametrize(
    "number", [10**2400, -(10**2400), Fraction(10**2400, 7), Decimal("1e2400")], ids=lambda x: type(x).__name__
)
def test_a_number_of_2400_digits_has_a_place_that_an_index_can_hold(number: Any) -> None:
    assert len(place(number)[1]) <= LONGEST_REST


@pytest.mark.parametrize(
    "number", [10**5000, Decimal("1e-5000"), Decimal("1e999999"), Fraction(1, 10**5000)], ids=lambda x: type(x).__name__
)
def test_a_number_too_long_for_an_index_is_refused_by_name(number: Any) -> None:
    with pytest.raises(ValueError, match=r"^start is .*expected"):
        place(number)


@settings(max_examples=300, derandomize=True, database=None)
@given(start=NUMBERS, message=st.lists(PARTS, max_size=3))
def test_a_message_comes_back_equal_and_of_the_same_types(start: Any, message: list[Any]) -> None:
    kept = line(start, tuple(message))
    assert kept.isascii()
    assert "\n" not in kept
    assert same(read([kept, kept]), [[start, *message], [start, *message]])


class Colour(enum.IntEnum):
    RED = 1


LOOP: list[Any] = []
LOOP.append(LOOP)
REFUSED: list[tuple[Any, type[Exception], str]] = [
    ((1, 2), TypeError, "message[1] is a tuple"),
    (b"x", TypeError, "message[1] is a bytes"),
    (Colour.RED, TypeError, "message[1] is a Colour"),
    (datetime(2026, 1, 1), TypeError, "message[1] is a datetime"),  # noqa: DTZ001
    ({"when": [1, {2}]}, TypeError, 'message[1]["when"][1] is a set'),
    ({"a": {3: 4}}, TypeError, 'message[1]["a"] has the key 3'),
    ([0.5, math.nan], ValueError, "message[1][1] is nan"),
    ({"x": -math.inf}, ValueError, 'message[1]["x"] is -inf'),
    (10**4001, ValueError, "message[1] is an int of more than 4,000 digits"),
    (LOOP, ValueError, "nested deeper than 100 levels"),
]


@pytest.mark.parametrize(("part", "error", "told"), REFUSED, ids=[told for *_, told in REFUSED])
def test_what_would_not_come_back_is_refused_with_its_type_and_place(
    part: Any, error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as refused:
        line(1.0, ("first", part))
    assert told in str(refused.value)
    assert "expected" in str(refused.value)


def test_a_start_of_a_type_of_its_own_is_refused() -> None:
    with pytest.raises(TypeError, match="start is a Colour: expected int"):
        line(Colour.RED, ())


@pytest.mark.parametrize("name", ["durable", "durable_place", "durable_codec", "sqlite"])
def test_the_examples_of_a_module_run(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"queues.timer.{name}"))
    assert failed == 0
    assert tried > 0


# What is written, to the letter: stores keep it, and every later version must read it


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        (1.5, "1.5"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (7, "7"),
        (True, "true"),
        (2**63 - 1, "9223372036854775807"),
        (2**63, '{"int":"0x8000000000000000"}'),
        (-(2**63), "-9223372036854775808"),
        (-(2**63) - 1, '{"int":"-0x8000000000000001"}'),
        (Fraction(-31, 17), '{"Fraction":"-1f/11"}'),
        (Decimal("0.10"), '{"Decimal":"0.10"}'),
        (Decimal("-Infinity"), '{"Decimal":"-Infinity"}'),
    ],
    ids=repr,
)
def test_a_start_is_written_as_it_always_was(start: Any, kept: str) -> None:
    assert line(start, ()) == f"[{kept}]"
    assert line(start, ("é", 1, None)) == f'[{kept},"\\u00e9",1,null]'
    assert same(read([f"[{kept}]", f'[{kept},"x"]']), [[start], [start, "x"]])


def test_a_float_and_text_alone_need_no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable_codec, "encode", None)
    assert line(1.5, ()) == "[1.5]"
    assert line(1.5, ("one",)) == '[1.5,"one"]'
    assert line(-0.5, ("one", 'tw"o', "\n")) == '[-0.5,"one","tw\\"o","\\n"]'


def test_lines_may_stand_apart_by_line_ends_or_commas() -> None:
    assert read_text('[1,"a"]\n[2,"b\\n"],[{"int":"-0xff"}]') == [[1, "a"], [2, "b\n"], [-255]]
    assert read_text("") == read([]) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_may_have_as_many_digits_as_python_reads_and_no_more(sign: int) -> None:
    longest = sign * (10**4000 - 1)
    assert read([line(1, (longest,))]) == [[1, longest]]
    with pytest.raises(
        ValueError, match=r"^message\[0\] is an int of more than 4,000 digits: expected a shorter one, or"
    ):
        line(1, (sign * 10**4000,))


@pytest.mark.parametrize(("kind", "step"), [("list", "[0]"), ("dict", '["k"]')])
def test_lists_and_dicts_may_be_nested_100_deep_and_no_deeper(kind: str, step: str) -> None:
    part: Any = [] if kind == "list" else {}
    for _ in range(99):
        part = [part] if kind == "list" else {"k": part}
    assert read([line(1, (part,))]) == [[1, part]]
    where = ("message[0]" + 100 * step)[:60]
    with pytest.raises(ValueError, match="expected") as refused:
        line(1, ([part] if kind == "list" else {"k": part},))
    assert str(refused.value) == (f"{where}… is nested deeper than 100 levels: expected fewer, and no list in itself")


@pytest.mark.parametrize(
    ("start", "part", "words"),
    [
        (1.5, {1}, f"message[0] is a set: {EXPECTED}"),
        (1.5, [math.inf], "message[0][0] is inf: expected a finite number, JSON has no other"),
        (1.5, {"é": {None: 1}}, 'message[0]["\\u00e9"] has the key None: expected str, JSON knows no other keys'),
        (None, 1, "start is a NoneType: expected int, float, Fraction or Decimal itself to keep it"),
        (1j, "text", "start is a complex: expected int, float, Fraction or Decimal itself to keep it"),
    ],
)
def test_a_refusal_says_what_was_expected(start: Any, part: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        line(start, (part,))
    assert str(refused.value) == words
    assert EXPECTED == "expected str, int, float, bool, None, list or dict, which JSON gives back as they were"
