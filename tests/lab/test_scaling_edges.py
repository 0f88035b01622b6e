"""The legs at just their bounds, over more than two sizes, and the whole of what they say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from lab import scaling
from lab.scaling import Leg, Scaling, bounded_leg, ratio_leg, slope_leg, verdict, worst_leg

CONSTANT, GROWS, INCONCLUSIVE = Scaling.CONSTANT, Scaling.GROWS, Scaling.INCONCLUSIVE
RISING = {10: [100.0, 110.0, 95.0, 102.0, 99.0], 100: [130.0, 125.0, 121.0, 128.0, 131.0]}
FALLING = dict(zip(RISING, reversed(RISING.values()), strict=True))

Calls = dict[int, list[list[int]]]


def calls(slow_ns: dict[int, list[int]]) -> Calls:
    """Processes of three calls, of which the second takes `slow_ns`: k -> one for each process."""
    return {k: [[1_000, ns, 1_000] for ns in each] for k, each in slow_ns.items()}


def test_a_factor_and_its_bound_are_those_of_the_largest_size_beside_the_smallest() -> None:
    assert bounded_leg("instructions", {100: 100, 10: 100, 10_000: 300}) == Leg(
        "instructions",
        GROWS,
        "instructions 100 at 10, 100 at 100, 300 at 10,000: 3.00x, bound 2.00x",
        "100 → 300",
        3.0,
    )
    assert ratio_leg({10: [1_000.0] * 5, 100: [9_000.0] * 5, 1_000: [1_000.0] * 5}) == Leg(
        "ratio",
        INCONCLUSIVE,
        "1.00 µs at 10, 1.00 µs at 1,000: 1.00x (1.00 .. 1.00), bound 1.58x; "
        "0.000 ns a message (at most 0.000); not inside the bound at 100",
        "1.00 µs → 1.00 µs, 1.00x (1.00 .. 1.00)",
        1.0,
        1.0,
        1.0,
    )
    assert worst_leg(calls({10: [2_000] * 5, 100: [9_000] * 5, 100_000: [2_100] * 5})) == Leg(
        "worst",
        CONSTANT,
        "worst call 2.00 µs at 10, 2.10 µs at 100,000: 1.05x (1.05 .. 1.05), bound 2.51x",
        "1.05x (1.05 .. 1.05)",
        1.05,
        1.05,
        1.05,
    )


def test_the_worst_call_is_looked_at_with_each_process_left_out_and_never_two() -> None:
    slow, two_fast = [9_000] * 5, [9_000, 2_000, 2_000, 9_000, 9_000]
    for large, small, value in ((two_fast, [2_000] * 5, 1.0), (slow, two_fast, 4.5)):
        leg = worst_leg(calls({10: small, 100: large}))
        assert (leg.value, leg.low, leg.high) == (value, value, value)


def test_a_worst_call_that_does_not_move_is_within_a_bound_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "SLOPE_BOUND", 0.0)
    assert worst_leg(calls({10: [2_000] * 5, 100: [2_000] * 5})).verdict == CONSTANT
    assert worst_leg(calls({10: [2_000] * 5, 100: [2_001] * 5})).verdict == GROWS


@pytest.mark.parametrize(
    ("times", "end", "beyond"),
    [(RISING, "high", CONSTANT), (FALLING, "low", CONSTANT), (RISING, "low", INCONCLUSIVE)],
    ids=["its upper end", "its lower end", "its lower end above"],
)
def test_an_interval_that_ends_at_just_the_bound_is_neither_inside_nor_beyond(
    times: dict[int, list[float]], end: str, beyond: Scaling, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = abs(getattr(slope_leg(times), end))
    monkeypatch.setattr(scaling, "SLOPE_BOUND", reach)
    assert slope_leg(times).verdict == INCONCLUSIVE
    monkeypatch.setattr(scaling, "SLOPE_BOUND", reach * 1.001)
    assert slope_leg(times).verdict == beyond
    monkeypatch.setattr(scaling, "SLOPE_BOUND", reach * 0.999)
    assert slope_leg(times).verdict == (GROWS if beyond == INCONCLUSIVE else INCONCLUSIVE)


def test_what_falls_says_so_beyond_the_bound_and_not_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    high = slope_leg(FALLING).high
    assert high is not None
    monkeypatch.setattr(scaling, "SLOPE_BOUND", -high)
    assert not slope_leg(FALLING).sentence.endswith("it falls")
    monkeypatch.setattr(scaling, "SLOPE_BOUND", 0.05)
    told = slope_leg(FALLING)
    assert told.sentence == f"slope {told.cell}, bound 0.05; could have shown {told.shown:.3f}: it falls"


def test_sizes_and_times_of_a_narrow_type_are_judged_as_precisely_as_any() -> None:
    narrow: Any = {np.int16(k): np.array(ns, np.float32) for k, ns in RISING.items()}
    plain = {k: [float(value) for value in ns] for k, ns in narrow.items()}
    for leg in (slope_leg, ratio_leg):
        assert leg(narrow) == leg({int(k): ns for k, ns in plain.items()})


def test_legs_that_are_all_constant_are_constant_be_they_one_or_three() -> None:
    constant, open_ = Leg("", CONSTANT, ""), Leg("", INCONCLUSIVE, "")
    assert [verdict([constant] * 1), verdict([constant] * 3)] == [CONSTANT, CONSTANT]
    assert [verdict([open_]), verdict([])] == [INCONCLUSIVE, INCONCLUSIVE]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({10: [1.0] * 5, 100: [0.0] * 5}, "a time that is not positive, or no time at all: expected what calls took"),
        ({10: [], 100: []}, "a time that is not positive, or no time at all: expected what calls took"),
    ],
    ids=["nothing took it", "nothing was timed"],
)
def test_times_that_are_none_are_refused_in_a_whole_sentence(times: dict[int, list[float]], said: str) -> None:
    for leg in (slope_leg, ratio_leg):
        with pytest.raises(ValueError, match=f"^{re.escape(said)}, in ns$"):
            leg(times)


def test_calls_that_do_not_go_together_are_refused_in_a_whole_sentence() -> None:
    said = "processes with unequal numbers of calls, or none after the warm-up: expected equal ones"
    uneven = [[5] * 9, *[[5] * 8] * 4]
    with pytest.raises(ValueError, match=f"^{said}$"):
        worst_leg({10: uneven, 100: uneven})
    with pytest.raises(ValueError, match=f"^{said}$"):
        worst_leg(calls({10: [2_000] * 5, 100: [2_000] * 5}), warmup=3)
