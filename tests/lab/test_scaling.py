"""The three legs: what each catches, what it must not call constant, and what it says when it cannot tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lab.scaling import (
    LEAST_PROCESSES,
    Leg,
    Scaling,
    bound_of,
    bounded_leg,
    exact_leg,
    ratio_leg,
    same_leg,
    slope_leg,
    verdict,
    worst_leg,
)

SIZES = (10, 100, 1_000, 10_000, 100_000)
CONSTANT, GROWS, INCONCLUSIVE = Scaling.CONSTANT, Scaling.GROWS, Scaling.INCONCLUSIVE
WOBBLE = (0.98, 1.01, 1.0, 1.02, 0.99)
"""How the five processes of a quiet machine differ, in turn a little more at every size."""


def times(cost: dict[int, float], wobble: tuple[float, ...] = WOBBLE) -> dict[int, list[float]]:
    """Five processes that each take `cost`, a little more or less."""
    turned = [wobble[place:] + wobble[:place] for place in range(len(cost))]
    return {k: [ns * factor for factor in factors] for (k, ns), factors in zip(cost.items(), turned, strict=True)}


def linear(constant_ns: float, per_message_ns: float) -> dict[int, list[float]]:
    return times({k: constant_ns + per_message_ns * k for k in SIZES})


def test_what_takes_the_same_at_every_size_is_constant_by_every_leg() -> None:
    flat = linear(1_000, 0)
    assert [slope_leg(flat).verdict, ratio_leg(flat).verdict] == [CONSTANT, CONSTANT]


def test_a_move_of_8_bytes_a_message_behind_a_constant_of_1_us_grows_by_slope_and_ratio() -> None:
    moved = linear(1_000, 0.4)
    assert [slope_leg(moved).verdict, ratio_leg(moved).verdict] == [GROWS, GROWS]


def test_what_only_the_largest_size_shows_hides_from_the_slope_and_is_caught_by_the_ratio() -> None:
    hidden = linear(1_000, 0.017)  # 2.7 times the time at 100,000
    assert slope_leg(hidden).verdict == CONSTANT
    assert ratio_leg(hidden).verdict == GROWS
    assert "0.017 ns a message" in ratio_leg(hidden).sentence


def test_a_slow_power_of_k_hides_from_the_ratio_at_its_bound_no_more_than_from_the_slope() -> None:
    power = times({k: 1_000 * k**0.2 for k in SIZES})
    assert [slope_leg(power).verdict, ratio_leg(power).verdict] == [GROWS, GROWS]
    assert slope_leg(power).value == pytest.approx(0.2, abs=0.002)


def test_a_hump_in_the_middle_is_not_called_constant() -> None:
    hump = times({10: 1_000, 100: 1_000, 1_000: 9_000, 10_000: 1_000, 100_000: 1_000})
    assert slope_leg(hump).verdict == CONSTANT
    assert ratio_leg(hump).verdict == INCONCLUSIVE
    assert "not inside the bound at 1,000" in ratio_leg(hump).sentence


def test_noise_makes_a_verdict_inconclusive_and_says_what_it_could_have_shown() -> None:
    wild = times(dict.fromkeys(SIZES, 1000.0), (0.2, 5.0, 1.0, 0.4, 2.5))
    leg = slope_leg(wild)
    assert leg.verdict == INCONCLUSIVE
    assert leg.shown is not None
    assert leg.shown > 0.2
    assert f"could have shown {leg.shown:.3f}" in leg.sentence
    assert ratio_leg(wild).verdict == INCONCLUSIVE


def test_a_time_that_falls_with_k_is_no_proof_of_anything() -> None:
    falling = times({k: 100_000 / k**0.5 for k in SIZES})
    assert slope_leg(falling).verdict == INCONCLUSIVE
    assert "it falls" in slope_leg(falling).sentence
    assert ratio_leg(falling).verdict == INCONCLUSIVE


def test_fewer_than_five_processes_give_no_verdict_however_alike_they_are() -> None:
    few = {k: [1_000.0] * (LEAST_PROCESSES - 1) for k in SIZES}
    for leg in (slope_leg(few), ratio_leg(few), same_leg(few[10], few[100], 1.5)):
        assert leg.verdict == INCONCLUSIVE
        assert "a verdict needs 5" in leg.sentence
    calls = {k: [np.full(9, 1_000)] * 4 for k in SIZES}
    assert worst_leg(calls).verdict == INCONCLUSIVE


def test_at_a_slope_of_exactly_the_bound_constant_is_said_in_about_5_of_100() -> None:
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(600):
        noisy = {k: list(1_000 * k**0.1 * np.exp(random.normal(0, 0.1, 5))) for k in SIZES}
        wrong += slope_leg(noisy).verdict == CONSTANT
    assert 600 * 0.02 < wrong < 600 * 0.08


def test_what_the_data_could_have_shown_is_found_in_95_of_100() -> None:
    random = np.random.default_rng(6)
    shown = float(
        np.mean([slope_leg({k: list(np.exp(random.normal(7, 0.1, 5))) for k in SIZES}).shown or 0 for _ in range(100)])
    )
    found = 0
    for _ in range(300):
        leg = slope_leg({k: list(1_000 * k**shown * np.exp(random.normal(0, 0.1, 5))) for k in SIZES})
        found += leg.low is not None and leg.low > 0
    assert found > 300 * 0.9


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.floats(10, 1e6), min_size=5, max_size=5), min_size=2, max_size=5),
    st.floats(0.01, 100),
)
def test_the_unit_of_time_changes_no_verdict(rows: list[list[float]], unit: float) -> None:
    measured = dict(zip(SIZES, rows, strict=False))
    scaled = {k: [ns * unit for ns in row] for k, row in measured.items()}
    assert slope_leg(measured).value == pytest.approx(slope_leg(scaled).value, abs=1e-6)
    assert ratio_leg(measured).value == pytest.approx(ratio_leg(scaled).value, rel=1e-6)


@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(10, 1e6), min_size=5, max_size=5), min_size=5, max_size=5))
def test_turning_the_sizes_round_never_turns_growth_into_growth(rows: list[list[float]]) -> None:
    forth, back = dict(zip(SIZES, rows, strict=True)), dict(zip(SIZES, rows[::-1], strict=True))
    for leg in (slope_leg, ratio_leg):
        assert (leg(forth).verdict, leg(back).verdict) != (GROWS, GROWS)
    assert slope_leg(forth).value == pytest.approx(-(slope_leg(back).value or 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "said", "words"),
    [
        (dict.fromkeys(SIZES, 57), CONSTANT, "57 bytecodes at every k"),
        ({k: 57 + k for k in SIZES}, GROWS, "57 + k"),
        ({k: 57 + int(math.log10(k)) for k in SIZES}, GROWS, "differ: 58 at 10"),
        ({10: 57, 100: 57, 1_000: 57, 10_000: 57, 100_000: 58}, GROWS, "58 at 100,000"),
        ({10: 40, 100: 57, 1_000: 57, 10_000: 57, 100_000: 57}, CONSTANT, "equal at the two largest k: 40 at 10"),
        ({10: 40, 100: 400, 1_000: 999, 10_000: 999, 100_000: 999}, GROWS, "by more than the bound"),
        ({10: 57, 100: 57, 1_000: 57, 10_000: 57, 100_000: 40}, INCONCLUSIVE, "differ"),
    ],
)
def test_counts_are_constant_only_where_they_are_equal(counts: dict[int, float], said: Scaling, words: str) -> None:
    leg = exact_leg("bytecodes", counts)
    assert leg.verdict == said
    assert words.replace("57 + k", "67 at 10, 157 at 100") in leg.sentence


def test_a_block_more_from_a_small_size_on_is_no_growth_and_k_blocks_are() -> None:
    assert exact_leg("blocks", {10: -1, 100: -1, 1_000: -2, 10_000: -2}, bounded=False).verdict == CONSTANT
    assert exact_leg("blocks", {10: 10, 100: 100, 1_000: 1_000}, bounded=False).verdict == GROWS


def test_counts_that_were_higher_at_a_smaller_size_do_not_grow_with_it() -> None:
    assert exact_leg("blocks", {10: 5, 1_000: 8, 10_000: 2, 100_000: 5}, bounded=False).verdict == INCONCLUSIVE
    assert exact_leg("blocks", {10: 5, 1_000: 8, 10_000: 2, 100_000: 8}, bounded=False).verdict == GROWS
    assert exact_leg("blocks", {10: 5, 1_000: 8, 10_000: 2, 100_000: 9}, bounded=False).verdict == GROWS
    assert exact_leg("bytecodes", {10: 107, 1_000: 186, 10_000: 201, 100_000: 202}).verdict == GROWS


def test_instructions_may_move_a_little_and_not_by_the_bound() -> None:
    assert bounded_leg("instructions", {10: 2_390, 10_000: 2_394}).verdict == CONSTANT
    assert bounded_leg("instructions", {10: 2_390, 10_000: 9_900}).verdict == GROWS
    assert bound_of(10, 10_000) == pytest.approx(2.0, abs=0.01)


def calls(worst_ns: dict[int, int], disturbed: int = 0) -> dict[int, list[np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Five processes of 40 calls of 1 µs; call 30 takes `worst_ns`, and another in each of `disturbed` takes 1 ms."""
    found: dict[int, list[np.ndarray[tuple[int], np.dtype[np.int64]]]] = {}
    for k, ns in worst_ns.items():
        found[k] = [np.full(40, 1_000) for _ in range(5)]
        for process, row in enumerate(found[k]):
            row[0], row[30] = 50_000, ns
            if process < disturbed:
                row[10 + process] = 1_000_000
    return found


def test_the_worst_call_of_the_structure_grows_or_not_whatever_the_machine_does_to_single_calls() -> None:
    assert worst_leg(calls({10: 2_000, 100_000: 2_100}, disturbed=5), warmup=3).verdict == CONSTANT
    assert worst_leg(calls({10: 2_000, 100_000: 9_000}, disturbed=5), warmup=3).verdict == GROWS
    assert worst_leg(calls({10: 2_000, 100_000: 2_100}), warmup=0).value == 1.0  # the warm-up is the worst of both


def test_a_worst_call_that_one_process_decides_is_inconclusive() -> None:
    found = calls({10: 2_000, 100_000: 9_000})
    found[100_000][2][30] = 2_000
    leg = worst_leg(found, warmup=3)
    assert leg.verdict == INCONCLUSIVE
    assert "1.00x (1.00 .. 4.50)" in leg.sentence


def test_identical_things_that_come_out_apart_say_that_the_machine_is_noisy() -> None:
    quiet = [1_000.0, 1_010.0, 990.0, 1_005.0, 995.0]
    assert same_leg(quiet, quiet[::-1], 1.5).verdict == CONSTANT
    assert same_leg(quiet, [ns * factor for ns, factor in zip(quiet, (1, 3, 1, 0.4, 2), strict=True)], 1.5).verdict == (
        INCONCLUSIVE
    )


def test_one_leg_that_grows_decides_and_one_that_cannot_tell_keeps_from_constant() -> None:
    constant, grows, open_ = (Leg("", said, "") for said in (CONSTANT, GROWS, INCONCLUSIVE))
    assert verdict([constant, open_]) == INCONCLUSIVE
    assert verdict([open_, grows]) == GROWS


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        ({10: [1.0] * 5}, "at least two"),
        ({0: [1.0] * 5, 10: [1.0] * 5}, "from 1 on"),
        ({10: [1.0] * 5, 100: [1.0] * 4}, "as many at every k"),
        ({10: [1.0] * 5, 100: [0.0] * 5}, "not positive"),
    ],
)
def test_what_cannot_be_judged_is_refused(measured: dict[int, list[float]], words: str) -> None:
    for leg in (slope_leg, ratio_leg):
        with pytest.raises(ValueError, match=words):
            leg(measured)


def test_unequal_numbers_of_calls_are_refused() -> None:
    uneven = [np.full(9, 5), *[np.full(8, 5)] * 4]
    with pytest.raises(ValueError, match="unequal numbers of calls"):
        worst_leg({10: uneven, 100: uneven})


def test_the_legs_of_counts_say_each_count_at_its_size_and_the_two_ends_in_short() -> None:
    said = "40 at 10, 57 at 100, 57 at 1,000"
    assert exact_leg("bytecodes", {1_000: 57, 10: 40, 100: 57}) == Leg(
        "bytecodes", CONSTANT, f"bytecodes equal at the two largest k: {said}", "40 → 57"
    )
    assert exact_leg("blocks", {1: 57, 2: 57}) == Leg("blocks", CONSTANT, "57 blocks at every k", "57")
    assert exact_leg("blocks", {10: 4, 100: 1_057.5}) == Leg(
        "blocks", GROWS, "blocks differ: 4 at 10, 1,057.5 at 100", "4 → 1,057.5"
    )
    assert exact_leg("blocks", {10: 1, 100: 2, 1_000: 2}) == Leg(
        "blocks", GROWS, "blocks differ by more than the bound: 1 at 10, 2 at 100, 2 at 1,000", "1 → 2"
    )
    assert bounded_leg("instructions", {10_000: 2_394.5, 10: 2_390}) == Leg(
        "instructions",
        CONSTANT,
        "instructions 2,390 at 10, 2,394.5 at 10,000: 1.00x, bound 2.00x",
        "2,390 → 2,394.5",
        2_394.5 / 2_390,
    )


def test_a_difference_of_just_the_bound_is_within_it() -> None:
    bound = bound_of(10, 100_000)
    assert exact_leg("blocks", {10: 1.0, 1_000: bound, 100_000: bound}).verdict == CONSTANT
    assert exact_leg("blocks", {10: 1.0, 1_000: bound * 1.001, 100_000: bound * 1.001}).verdict == GROWS
    assert exact_leg("blocks", {10: 1, 1_000: 2, 100_000: 2}).verdict == CONSTANT
    assert exact_leg("blocks", {10: 0, 1_000: 2, 100_000: 2}).verdict == GROWS  # 0 has no factor
    assert bounded_leg("instructions", {10: 1.0, 100_000: bound}).verdict == CONSTANT
    assert bounded_leg("instructions", {10: 1.0, 100_000: bound * 1.001}).verdict == GROWS


def test_the_legs_of_time_say_their_figures_with_units_interval_and_bound() -> None:
    flat, hidden = linear(1_000, 0), linear(1_000, 0.017)
    leg = slope_leg(flat)
    assert (leg.name, leg.cell) == ("slope", "0.000 (-0.002 .. 0.002)")
    assert leg.sentence == "slope 0.000 (-0.002 .. 0.002), bound 0.1; could have shown 0.005"
    leg = ratio_leg(hidden)
    assert (leg.name, leg.cell) == ("ratio", "1.00 µs → 2.70 µs, 2.70x (2.64 .. 2.76)")
    assert leg.sentence == (
        "1.00 µs at 10, 2.70 µs at 100,000: 2.70x (2.64 .. 2.76), bound 2.51x; 0.017 ns a message (at most 0.017)"
    )
    humps = ratio_leg(times({10: 1_000, 100: 9_000, 1_000: 9_000, 10_000: 1_000, 100_000: 1_000}))
    assert humps.sentence.endswith("; not inside the bound at 100, 1,000")
    both = ratio_leg(times({10: 1_000, 100: 9_000, 1_000: 9_000}))
    assert both.verdict == GROWS
    assert "not inside" not in both.sentence  # that it grows says it
    leg = worst_leg(calls({10: 2_000, 100_000: 2_100}, disturbed=5), warmup=3)
    assert leg == Leg(
        "worst",
        CONSTANT,
        "worst call 2.00 µs at 10, 2.10 µs at 100,000: 1.05x (1.05 .. 1.05), bound 2.51x",
        "1.05x (1.05 .. 1.05)",
        1.05,
        1.05,
        1.05,
    )


def test_an_interval_is_students_of_one_value_a_process_at_90_percent() -> None:
    measured = {10: [100.0, 110.0, 95.0, 102.0, 99.0], 1_000: [120.0, 118.0, 130.0, 107.0, 111.0]}
    logs = [math.log(b / a) for a, b in zip(measured[10], measured[1_000], strict=True)]
    low, high = stats.t.interval(0.9, 4, np.mean(logs), stats.sem(logs))
    slope, ratio, pair = slope_leg(measured), ratio_leg(measured), same_leg(measured[10], measured[1_000], 1.5)
    for leg in (ratio, pair):
        assert (leg.value, leg.low, leg.high) == pytest.approx((math.exp(np.mean(logs)), math.exp(low), math.exp(high)))
    decades = math.log(100)
    figures = (np.mean(logs) / decades, low / decades, high / decades, (high - low) / decades)
    assert (slope.value, slope.low, slope.high, slope.shown) == pytest.approx(figures)
    more = [(b - a) / 990 for a, b in zip(measured[10], measured[1_000], strict=True)]
    most = stats.t.interval(0.9, 4, np.mean(more), stats.sem(more))[1]
    assert ratio.sentence.endswith(f"; {np.mean(more):.3f} ns a message (at most {most:.3f})")


def test_the_pair_says_its_factor_with_the_interval_and_has_to_lie_inside_the_bound() -> None:
    one, twice = [1_000.0] * 5, [2_000.0] * 5
    leg = same_leg(one, twice, 2.5)
    assert (leg.name, leg.verdict, leg.cell) == ("A/A", CONSTANT, "2.00x (2.00 .. 2.00)")
    assert leg.sentence == "A/A 2.00x (2.00 .. 2.00), bound 2.50x"
    assert same_leg(one, twice, 2.0).verdict == same_leg(twice, one, 2.0).verdict == INCONCLUSIVE
    assert same_leg(twice, one, 2.5).verdict == CONSTANT
    for fewer in (same_leg(one, twice[1:], 2.0), same_leg(one[1:], twice, 2.0)):
        assert fewer == Leg("A/A", INCONCLUSIVE, "A/A: 4 processes, and a verdict needs 5")
    with pytest.raises(ValueError, match="is longer than argument 1"):
        same_leg(one, [*twice, 2_000.0], 2.0)


def test_no_process_or_one_size_without_times_is_refused() -> None:
    for leg in (slope_leg, ratio_leg):
        with pytest.raises(ValueError, match="or no time at all: expected what calls took, in ns"):
            leg({10: [], 100: []})
        with pytest.raises(ValueError, match=r"^\[5, 4\] processes: expected as many at every k$"):
            leg({10: [1.0] * 5, 100: [1.0] * 4})
    with pytest.raises(ValueError, match=r"^sizes \[10\]: expected at least two, from 1 on$"):
        bounded_leg("instructions", {10: 1})


def test_times_under_a_nanosecond_are_times() -> None:
    assert slope_leg({1: [0.5] * 5, 2: [0.5] * 5}).value == pytest.approx(0)


def test_too_few_processes_name_the_leg_and_how_many_there_are() -> None:
    few = {k: [1_000.0] * 4 for k in SIZES}
    assert slope_leg(few) == Leg("slope", INCONCLUSIVE, "slope: 4 processes, and a verdict needs 5")
    assert ratio_leg(few) == Leg("ratio", INCONCLUSIVE, "ratio: 4 processes, and a verdict needs 5")
    short = calls({10: 2_000, 100: 2_000})
    short[10].pop()
    assert worst_leg(short) == Leg("worst", INCONCLUSIVE, "worst: 4 processes, and a verdict needs 5")


def test_a_worst_call_counts_from_the_first_without_a_warm_up_and_0_ns_count_as_1() -> None:
    plain = [np.array([7_000, 1_000, 2_000])] * 5
    assert worst_leg({10: plain, 100: plain}).sentence.startswith("worst call 7.00 µs at 10, 7.00 µs at 100: ")
    assert worst_leg({10: [np.zeros(3, np.int64)] * 5, 100: [np.full(3, 2)] * 5}).value == 2
    bound = bound_of(10, 100_000)
    whole = {10: [np.array([10**9])] * 5, 100_000: [np.array([int(10**9 * bound)])] * 5}
    assert worst_leg(whole).verdict == CONSTANT
    assert worst_leg({**whole, 100_000: [np.array([int(10**9 * bound) + 1])] * 5}).verdict == GROWS


def test_what_falls_steeply_says_so_and_what_falls_a_little_does_not() -> None:
    assert "it falls" in slope_leg(times({k: 1e6 / k**0.2 for k in SIZES})).sentence
    assert "it falls" not in slope_leg(times({k: 1e6 / k**0.05 for k in SIZES})).sentence
    assert slope_leg(times({k: 1e6 / k**0.0001 for k in SIZES}, (1.0,) * 5)).cell == "0.000 (0.000 .. 0.000)"
