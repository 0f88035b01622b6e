"""Verdicts where something is just at its edge: a bound, a level, a floor, the last digit of a value."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lab import verdict
from lab.verdict import Verdict, compare_samples, corrected

A = [100.0, 101.0, 99.0, 100.5, 99.5]
MARGIN, FLOOR = math.log1p(0.05), math.log1p(0.02)


def judged(low: float, high: float, *, p: float = 0.0, medians: float = 1.0, floor: float = 0.02) -> Verdict:
    """What is said of two samples whose figures are these; the threshold is 0.05 and alpha 0.05."""
    logs: Any = SimpleNamespace(interval=lambda _: (low, high), p_beyond=lambda _: p, medians=medians, spread=0.1)
    blank = verdict._blank((5, 5), 0.05, floor)
    return verdict._judged(blank, logs, math.exp(medians), 0.05).verdict


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        (Verdict.SAME, {"low": -MARGIN, "high": MARGIN, "p": 1.0, "medians": 0.0}),
        (Verdict.SAME, {"low": -MARGIN, "high": MARGIN, "p": 1.0, "medians": 0.0, "floor": 0.05}),
        (Verdict.INCONCLUSIVE, {"low": -MARGIN, "high": MARGIN, "p": 1.0, "medians": 0.0, "floor": 0.051}),
        (Verdict.INCONCLUSIVE, {"low": -MARGIN - 1e-9, "high": MARGIN, "p": 1.0, "medians": 0.0}),
        (Verdict.INCONCLUSIVE, {"low": -MARGIN, "high": MARGIN + 1e-9, "p": 1.0, "medians": 0.0}),
        (Verdict.SLOWER, {"low": 0.1, "high": 0.2, "p": 0.05, "medians": 0.15}),
        (Verdict.FASTER, {"low": -0.2, "high": -0.1, "p": 0.05, "medians": -0.15}),
        (Verdict.INCONCLUSIVE, {"low": 0.1, "high": 0.2, "p": 0.0501, "medians": 0.15}),
        (Verdict.INCONCLUSIVE, {"low": FLOOR, "high": 0.2, "medians": 0.15}),
        (Verdict.INCONCLUSIVE, {"low": -0.2, "high": -FLOOR, "medians": -0.15}),
        (Verdict.INCONCLUSIVE, {"low": -0.2, "high": FLOOR / 2, "medians": -0.15}),
        (Verdict.INCONCLUSIVE, {"low": FLOOR + 1e-9, "high": 0.2, "medians": MARGIN}),
        (Verdict.SLOWER, {"low": FLOOR + 1e-9, "high": 0.2, "medians": MARGIN + 1e-9}),
        (Verdict.INCONCLUSIVE, {"low": -0.2, "high": -FLOOR - 1e-9, "medians": -MARGIN}),
        (Verdict.FASTER, {"low": -0.2, "high": -FLOOR - 1e-9, "medians": -MARGIN - 1e-9}),
    ],
)
def test_same_holds_at_just_the_threshold_and_a_difference_has_to_lie_beyond_it(
    said: Verdict, figures: dict[str, float]
) -> None:
    assert judged(**figures) is said


def test_a_difference_is_held_against_the_interval_of_alpha_and_same_against_that_of_twice_alpha() -> None:
    asked: list[float] = []

    def interval(outside: float) -> tuple[float, float]:
        asked.append(outside)
        return -1 / outside, 1 / outside

    logs: Any = SimpleNamespace(interval=interval, p_beyond=lambda _: 1.0, medians=0.0, spread=0.1)
    found = verdict._judged(verdict._blank((5, 5), 0.05, 0.0), logs, 1.0, 0.04)
    assert sorted(asked) == [0.04, 0.08]
    assert (found.low, found.high) == (math.exp(-25), math.exp(25))


def logs_of(a: list[float], b: list[float], draws: list[float]) -> verdict._Logs:
    """The logarithms of two samples whose medians, drawn again, come out as `draws`."""
    logs = verdict._Logs(a, b, seed=0)
    logs.draws = np.array(draws)
    return logs


def test_an_interval_ends_at_the_draw_nearest_to_its_share_of_them() -> None:
    logs = logs_of(A, A, [float(draw) for draw in range(-5_000, 6_000, 1_000)])  # 11, wider than all else
    for outside, end in ((0.0002, 5_000), (0.3, 3_000), (0.5, 3_000), (0.7, 1_000)):
        assert logs.interval(outside) == (-end, end)


def test_an_interval_reaches_to_the_ratio_of_medians_where_means_and_draws_do_not() -> None:
    lifted, still = [1.0, 1.0, 1.0, 1.0, math.e], [1.0] * 5
    low, high = logs_of(still, lifted, [0.2] * 3).interval(0.98)
    assert low == 0.0 < 0.2 < high
    low, high = logs_of(lifted, still, [-0.2] * 3).interval(0.98)
    assert low < -0.2 < 0.0 == high


def test_a_difference_inside_the_floor_or_just_as_large_has_the_highest_p() -> None:
    logs = verdict._Logs(A, [value * 1.1 for value in A], seed=0)
    assert logs.p_beyond(logs.means) == logs.p_beyond(logs.means + 0.01) == logs.p_beyond(10.0) == 1.0
    assert 0.0 < logs.p_beyond(0.0) < logs.p_beyond(0.05) < 0.01
    assert 0.99 < logs.p_beyond(logs.means - 1e-6) < 1.0


def test_values_closer_than_their_logarithms_can_tell_are_compared_exactly() -> None:
    value = 1e300
    beside = math.nextafter(value, math.inf)
    nearly = [value] + [beside] * 7  # of one logarithm
    same = compare_samples(nearly, nearly[::-1])
    assert (same.verdict, same.sentence, same.ratio, same.spread) == (Verdict.SAME, "exactly equal", 1.0, 0.0)
    half = [each / 2 for each in nearly]
    slower = compare_samples(half, nearly, threshold=0.5, floor=0.25)
    assert (slower.verdict, slower.sentence, slower.ratio) == (Verdict.SLOWER, "2 times, exactly", 2.0)
    assert (slower.n_a, slower.threshold, slower.floor) == (8, 0.5, 0.25)


def test_equal_values_need_no_room_for_rounding_to_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "ROUNDING", 0.0)
    found = compare_samples([7] * 5, [7] * 5, threshold=0.0)
    assert (found.verdict, found.p) == (Verdict.SAME, 1.0)


def test_a_count_beside_none_is_slower_however_small_and_none_beside_it_faster() -> None:
    more, less = compare_samples([0] * 5, [0.5] * 5), compare_samples([0.5] * 5, [0] * 5)
    assert (more.verdict, more.ratio, more.sentence) == (Verdict.SLOWER, math.inf, "inf times, exactly")
    assert (less.verdict, less.ratio, less.sentence) == (Verdict.FASTER, 0.0, "0 times, exactly")


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_smallest_value_without_a_logarithm_is_found_on_either_side(low: float) -> None:
    lacks = [low, 1.0, 2.0, 3.0, 4.0]
    for found in (compare_samples(A, lacks), compare_samples(lacks, A)):
        assert found.sentence == found.advice == "a value of 0 or less has no ratio"
        assert math.isnan(found.ratio)


def test_a_ratio_beyond_the_largest_number_is_infinite() -> None:
    assert [verdict._exp(logarithm) for logarithm in (0.0, 710.0, math.inf)] == [1.0, math.inf, math.inf]
    wild = compare_samples([1e-300, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1e300])
    assert (wild.verdict, wild.ratio, wild.high) == (Verdict.INCONCLUSIVE, 1.0, math.inf)


def test_the_seed_is_0_where_none_is_given() -> None:
    a, b = [96, 118, 89, 102, 81, 100, 109], [98, 94, 102, 107, 107, 122, 102]  # the draws reach farthest here
    assert compare_samples(a, b) == compare_samples(a, b, seed=0)
    assert compare_samples(a, b).low != compare_samples(a, b, seed=1).low


@pytest.mark.parametrize("wrong", [-0.01, math.inf, math.nan])
@pytest.mark.parametrize("name", ["threshold", "floor"])
def test_a_threshold_or_a_floor_is_a_finite_number_from_0(name: str, wrong: float) -> None:
    rules: dict[str, Any] = {"threshold": 0.05, "floor": 0.02, name: wrong}
    given = f"alpha 0.05, threshold {rules['threshold']}, floor {rules['floor']}"
    with pytest.raises(ValueError, match=f"^{re.escape(given)}: expected 0 < alpha < 0.5, others from 0$"):
        compare_samples(A, A, **rules)
    for fits in (0.0, 0.5, 2.0, 1e308):
        assert compare_samples(A, A, **{**rules, name: fits}).ratio == 1.0


def test_two_bounds_of_any_size_are_bounds() -> None:
    assert compare_samples(A, A, threshold=1e308, floor=1e308).verdict is Verdict.SAME


@pytest.mark.parametrize("wrong", [0.0, 0.5, math.nan, -0.1, 1.0])
def test_alpha_lies_between_0_and_a_half(wrong: float) -> None:
    given = f"alpha {wrong}, threshold 0.05, floor 0.0"
    with pytest.raises(ValueError, match=f"^{re.escape(given)}: expected 0 < alpha < 0.5, others from 0$"):
        compare_samples(A, A, alpha=wrong)


def test_a_correction_has_to_return_as_many_as_it_was_given() -> None:
    found = compare_samples(A, A)
    with pytest.raises(ValueError, match="is shorter than argument 1"):
        corrected([found, found], method=lambda every: list(every[:-1]))
    with pytest.raises(ValueError, match="is longer than argument 1"):
        corrected([found, found], method=lambda every: [*every, 1.0])
