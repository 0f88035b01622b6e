"""Verdicts: what they owe by their definition, and by simulation how often they are wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import t as student
from scipy.stats import ttest_ind

from lab.verdict import Finding, Verdict, benjamini_hochberg, compare_samples, corrected, settling

A = [100.0, 101.0, 99.0, 100.5, 99.5]
SAMPLES = st.lists(st.floats(0.001, 1e9), min_size=5, max_size=9)
OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

Shape = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]

SHAPES: dict[str, Shape] = {
    "normal, 5 %": lambda chance, size: np.exp(0.05 * chance.standard_normal(size)),
    "normal, 20 %": lambda chance, size: np.exp(0.2 * chance.standard_normal(size)),
    "skewed": lambda chance, size: 1 + 0.1 * chance.exponential(1, size),
    "heavy tails": lambda chance, size: np.exp(0.03 * chance.standard_t(2, size)),
    "two humps": lambda chance, size: np.where(chance.random(size) < 0.5, 1, 1.2) * chance.normal(1, 0.005, size),
    "a rare slow one": lambda chance, size: np.where(chance.random(size) < 0.2, 1.5, 1) * chance.normal(1, 0.01, size),
    "uniform": lambda chance, size: np.exp(0.3 * chance.random(size)),
    "coarse clock": lambda chance, size: np.round(chance.normal(10, 0.7, size)),
}


def noisy(chance: np.random.Generator, spread: float, n: int = 5, factor: float = 1.0) -> list[float]:
    values: list[float] = (factor * np.exp(spread * chance.standard_normal(n))).tolist()
    return values


def times(factor: float, values: list[float] = A) -> list[float]:
    return [value * factor for value in values]


def test_thirty_percent_more_is_slower_and_the_other_way_round_faster() -> None:
    slower = compare_samples(A, times(1.3))
    assert (slower.verdict, slower.n_a, slower.n_b) == (Verdict.SLOWER, 5, 5)
    assert slower.ratio == pytest.approx(1.3)
    assert slower.low < 1.3 < slower.high
    assert compare_samples(times(1.3), A).verdict is Verdict.FASTER


def test_within_the_threshold_is_same_and_the_sentence_does_not_say_equal() -> None:
    same = compare_samples(A, times(1.01))
    assert same.verdict is Verdict.SAME
    assert "inside ±0.05 as far as the processes can tell" in same.sentence


def test_a_significant_difference_inside_the_threshold_is_no_regression() -> None:
    found = compare_samples(A, times(1.03), threshold=0.05)
    assert found.p < 0.05
    assert found.verdict is Verdict.SAME
    assert compare_samples(A, times(1.03), threshold=0.01).verdict is Verdict.SLOWER


def test_what_the_data_could_not_show_is_inconclusive_and_says_how_many_processes_would() -> None:
    found = compare_samples([80, 125, 100, 90, 111], [81, 124, 100, 89, 112])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.advice in found.sentence
    assert 200 < int(found.advice.split()[1]) < 350  # (1.65 + 1)² · π · 0.17² / 0.0488² = 268
    assert found.advice.endswith("processes a side would settle it")


@pytest.mark.parametrize("factor", [1.0, 1.12])
def test_as_many_processes_as_it_asks_for_do_settle_it(factor: float) -> None:
    chance, wide = np.random.default_rng(3), [90.0, 95.0, 100.0, 105.0, 110.0]
    asked = compare_samples(wide, times(factor, wide))
    assert asked.verdict is Verdict.INCONCLUSIVE
    n = int(asked.advice.split()[1])
    again = [compare_samples(noisy(chance, asked.spread, n), noisy(chance, asked.spread, n, factor)) for _ in range(40)]
    settled = sum(found.verdict is not Verdict.INCONCLUSIVE for found in again)
    assert settled >= 20, (n, settled)


def test_a_small_p_does_not_help_where_the_medians_could_as_well_be_equal() -> None:
    found = compare_samples(A, [110, 100, 118, 104, 112])  # one of the five is no slower than A
    assert found.p < 0.05
    assert found.low <= 1
    assert found.verdict is Verdict.INCONCLUSIVE


def test_fewer_than_five_processes_get_no_verdict_but_the_ratio() -> None:
    found = compare_samples([1, 1, 1], [2, 2, 2])
    assert (found.verdict, found.sentence, found.ratio) == (Verdict.INCONCLUSIVE, "needs 5 processes, has 3", 2.0)
    assert math.isnan(found.p)
    assert compare_samples(A, A[:4]).sentence == "needs 5 processes, has 4"
    assert compare_samples([], A).sentence == "needs 5 processes, has 0"


def test_a_difference_inside_the_floor_is_a_tie() -> None:
    assert compare_samples(A, times(1.1)).verdict is Verdict.SLOWER
    inside = compare_samples(A, times(1.1), floor=0.12)
    assert inside.verdict is Verdict.INCONCLUSIVE
    assert inside.p == 1.0
    assert "identical subjects differ by 12.0% here" in inside.sentence
    assert compare_samples(A, times(1.3), floor=0.12).verdict is Verdict.SLOWER


def test_nothing_is_same_where_identical_subjects_differ_by_more_than_the_threshold() -> None:
    assert compare_samples(A, times(1.001), floor=0.05).verdict is Verdict.SAME
    assert compare_samples(A, times(1.001), floor=0.051).verdict is Verdict.INCONCLUSIVE


def test_values_that_do_not_scatter_are_compared_exactly() -> None:
    found = compare_samples([105] * 5, [105] * 5)
    assert (found.verdict, found.p, found.low, found.high) == (Verdict.SAME, 1.0, 1.0, 1.0)
    assert compare_samples([100] * 5, [105] * 5).verdict is Verdict.SAME
    assert compare_samples([100] * 5, [106] * 5).verdict is Verdict.SLOWER
    assert compare_samples([100] * 5, [101] * 5, threshold=0).verdict is Verdict.SLOWER
    assert compare_samples([0] * 5, [0] * 5).verdict is Verdict.SAME
    assert compare_samples([0] * 5, [3] * 5).verdict is Verdict.SLOWER
    assert compare_samples([3] * 5, [0] * 5).verdict is Verdict.FASTER


def test_counts_need_one_process_and_that_they_differ_is_a_finding() -> None:
    assert compare_samples([40], [41], threshold=0, exact=True).verdict is Verdict.SLOWER
    assert compare_samples([40], [40], threshold=0, exact=True).verdict is Verdict.SAME
    assert compare_samples([], [40], exact=True).sentence == "needs 1 processes, has 0"
    differ = compare_samples([40, 41], [40, 40], exact=True)
    assert (differ.verdict, differ.sentence) == (
        Verdict.INCONCLUSIVE,
        "the counts differ from process to process: that is the finding",
    )


def test_a_value_without_a_logarithm_is_inconclusive() -> None:
    found = compare_samples([0, 1, 2, 3, 4], A)
    assert (found.verdict, found.sentence) == (Verdict.INCONCLUSIVE, "a value of 0 or less has no ratio")
    assert compare_samples([-1] * 5, [2] * 5).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("a", "rules"),
    [([math.nan] * 5, {}), ([math.inf] * 5, {}), (A, {"alpha": 0}), (A, {"alpha": 0.5}), (A, {"threshold": -1.0}),
     (A, {"floor": -0.1}), (A, {"floor": math.nan})],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused(a: list[float], rules: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        compare_samples(a, A, **rules)  # type: ignore[arg-type]


def test_p_is_welchs_on_the_logarithms() -> None:
    b = [104.0, 99.0, 108.0, 101.0, 102.0, 97.0]
    expected = ttest_ind(np.log(A), np.log(b), equal_var=False).pvalue
    assert compare_samples(A, b).p == pytest.approx(float(expected))


@settings(max_examples=60)
@given(SAMPLES, SAMPLES, st.sampled_from([0.0, 0.02, 0.1]))
def test_swapping_the_sides_inverts_ratio_interval_and_verdict(a: list[float], b: list[float], floor: float) -> None:
    there, back = compare_samples(a, b, floor=floor), compare_samples(b, a, floor=floor)
    assert back.verdict is OPPOSITE.get(there.verdict, there.verdict)
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.p == there.p
    for bound, mirrored in ((there.low, back.high), (there.high, back.low)):
        if 1e-300 < bound < 1e300:
            assert mirrored == pytest.approx(1 / bound)


@settings(max_examples=60)
@given(SAMPLES)
def test_a_sample_beside_itself_is_never_faster_or_slower(a: list[float]) -> None:
    found = compare_samples(a, a[::-1])
    assert found.verdict in (Verdict.SAME, Verdict.INCONCLUSIVE)
    assert found.ratio == 1
    assert found.low <= 1 <= found.high


@settings(max_examples=60)
@given(SAMPLES, SAMPLES)
def test_a_verdict_agrees_with_its_own_figures(a: list[float], b: list[float]) -> None:
    found = compare_samples(a, b)
    assert found.low <= found.ratio <= found.high
    if found.verdict is Verdict.SLOWER:
        assert found.p <= 0.05
        assert found.ratio > 1.05
        assert found.low > 1
    if found.verdict is Verdict.SAME:
        assert 1 / 1.05 <= found.ratio <= 1.05


@settings(max_examples=40)
@given(SAMPLES, st.floats(0.01, 100))
def test_the_unit_of_the_values_does_not_matter(a: list[float], unit: float) -> None:
    b = a[1:] + [a[0] * 1.5]
    before, after = compare_samples(a, b), compare_samples(times(unit, a), times(unit, b))
    assume(abs(before.p - 0.05) > 1e-6)
    assert after.ratio == pytest.approx(before.ratio)
    assert after.verdict is before.verdict


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [5, 10])
def test_false_alarms_are_at_most_alpha(shape: str, n: int) -> None:
    """400 pairs that differ by chance alone; at a rate of 5 % more than 33 are seen once in 300 times."""
    chance = np.random.default_rng(17)
    pairs = zip(SHAPES[shape](chance, (400, n)), SHAPES[shape](chance, (400, n)), strict=True)
    findings = [compare_samples(a, b, threshold=0.0) for a, b in pairs]
    alarms = sum(found.verdict in OPPOSITE for found in findings)
    assert alarms <= 33, alarms


def test_a_percentile_bootstrap_would_cry_wolf() -> None:
    """Why it was not chosen: the same simulation, with the interval that the name "bootstrap" suggests."""
    chance = np.random.default_rng(17)
    alarms = 0
    for a, b in zip(*np.exp(0.05 * chance.standard_normal((2, 400, 5))), strict=True):
        draws = [np.log(side[chance.integers(0, 5, (500, 5))]).mean(axis=1) for side in (a, b)]
        low, high = np.quantile(draws[1] - draws[0], [0.025, 0.975])
        alarms += low > 0 or high < 0
    assert alarms > 33, alarms


def test_thirty_percent_is_found_and_never_called_same_ten_is_found_or_inconclusive() -> None:
    chance = np.random.default_rng(23)
    found: dict[float, list[Verdict]] = {1.1: [], 1.3: []}
    for factor, verdicts in found.items():
        for _ in range(200):
            a, b = np.exp(0.03 * chance.standard_normal((2, 5)))
            verdicts.append(compare_samples(a, factor * b).verdict)
    assert set(found[1.3]) == {Verdict.SLOWER}
    assert set(found[1.1]) <= {Verdict.SLOWER, Verdict.INCONCLUSIVE}


def test_same_is_wrong_at_most_as_often_as_alpha_says() -> None:
    """B is slower by just the threshold: the worst case for an equivalence test."""
    chance = np.random.default_rng(29)
    wrong = sum(
        compare_samples(a, 1.05 * b).verdict is Verdict.SAME
        for a, b in np.exp(0.02 * chance.standard_normal((400, 2, 8)))
    )
    assert wrong <= 33, wrong


def many(*findings: Finding) -> list[Verdict]:
    return [found.verdict for found in corrected(findings)]


def test_a_family_of_many_keeps_what_is_strong_and_drops_what_chance_explains() -> None:
    strong, weak = compare_samples(A, times(1.3)), compare_samples(A, [107, 103, 114, 105, 110])
    assert weak.verdict is Verdict.SLOWER
    assert 0.0025 < weak.p < 0.05
    flat = [compare_samples(A, A) for _ in range(20)]
    verdicts = many(strong, weak, *flat)
    assert verdicts[0] is Verdict.SLOWER
    assert verdicts[1] is Verdict.INCONCLUSIVE
    assert set(verdicts[2:]) == {Verdict.SAME}
    again = corrected([strong, weak, *flat])[1]
    assert again.p > 0.05
    assert again.advice
    assert corrected([weak, strong], method=benjamini_hochberg)[0].verdict is Verdict.SLOWER


def test_what_has_no_p_is_no_part_of_the_family() -> None:
    weak, few = compare_samples(A, [107, 103, 114, 105, 110]), compare_samples(A[:3], A[:3])
    assert many(weak, *[few] * 50) == [Verdict.SLOWER, *[Verdict.INCONCLUSIVE] * 50]
    assert corrected([]) == []


def test_settling_names_a_floor_or_a_ratio_that_no_number_of_processes_settles() -> None:
    assert "a quieter machine" in settling(compare_samples(A, times(1.1), floor=0.2))
    wide = [80.0, 125.0, 100.0, 90.0, 111.0]
    edge = settling(compare_samples(wide, times(1.05, wide)))
    assert edge == "more than 1,000 processes a side would be needed: it lies too near to ±0.05"
    assert settling(compare_samples([1], [2])) == "at least 5 processes a side are needed"


def test_a_finding_says_its_figures_and_what_they_rest_on() -> None:
    """Everything a table or a sentence is made of, for each of the verdicts."""
    slower = compare_samples(A, times(1.3))
    assert slower.sentence == f"1.300 times (1.281 .. 1.320), p = {slower.p:.2g}"
    assert (slower.threshold, slower.floor, slower.advice) == (0.05, 0.0, "")
    assert slower.spread == pytest.approx(np.std(np.log(A), ddof=1))
    same = compare_samples(A, times(1.01), threshold=0.04, floor=0.02)
    assert same.sentence == "1.010 times (0.995 .. 1.025), inside ±0.04 as far as the processes can tell"
    assert (same.threshold, same.floor) == (0.04, 0.02)
    tie = compare_samples(A, times(1.1), floor=0.12)
    assert tie.sentence == f"1.100 times (1.084 .. 1.117): {tie.advice}"
    assert tie.advice == "identical subjects differ by 12.0% here: a quieter machine would settle it"
    few = compare_samples([1, 1, 3], [2, 2, 2, 2])
    assert (few.ratio, few.n_a, few.n_b, few.advice) == (2.0, 3, 4, "needs 5 processes, has 3")
    assert all(map(math.isnan, (few.low, few.high, few.p, few.spread)))


def test_the_interval_is_welchs_where_that_is_the_widest() -> None:
    a, b = [90.0, *[100.0] * 7, 110.0], [100.0, *[104.0] * 9, 107.0]  # the medians of draws hardly move
    found, logs = compare_samples(a, b), [np.log(side) for side in (a, b)]
    welch = ttest_ind(logs[1], logs[0], equal_var=False)
    low, high = np.exp(welch.confidence_interval(0.95))
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))
    narrower, wider = compare_samples(a, b, alpha=0.2), compare_samples(a, b, alpha=0.01)
    assert wider.low < found.low < narrower.low
    assert narrower.high < found.high < wider.high


def test_alpha_decides_what_is_slower() -> None:
    b = [120.0, 131.0, 140.0, 126.0, 135.0]
    found = compare_samples(A, b)
    assert found.verdict is Verdict.SLOWER
    assert compare_samples(A, b, alpha=found.p / 2).verdict is Verdict.INCONCLUSIVE


def test_values_known_to_the_last_digit_have_that_ratio_and_say_so() -> None:
    found = compare_samples([100] * 5, [106] * 5)
    assert found.sentence == "1.06 times, exactly"
    assert (found.ratio, found.low, found.high, found.p, found.spread) == (1.06, 1.06, 1.06, 0.0, 0.0)
    equal = compare_samples([7] * 5, [7] * 5)
    assert equal.sentence == "exactly equal"
    assert (equal.ratio, equal.spread) == (1.0, 0.0)
    nothing = compare_samples([0] * 5, [0] * 5)
    assert (nothing.ratio, nothing.sentence) == (1.0, "exactly equal")
    assert compare_samples([0] * 5, [3] * 5).ratio == math.inf
    assert compare_samples([3] * 5, [0] * 5).ratio == 0
    assert compare_samples([-3] * 5, [-3] * 5).verdict is Verdict.SAME
    for a, b in ((-3, 3), (3, -3), (-3, -2), (-3, 0), (0, -3)):
        below = compare_samples([a] * 5, [b] * 5)
        assert (below.verdict, below.sentence) == (Verdict.INCONCLUSIVE, "a value under 0 has no ratio")
        assert below.advice == below.sentence


def test_exact_values_inside_the_floor_are_a_tie_and_the_same_only_where_the_threshold_is_wider() -> None:
    inside = compare_samples([100] * 5, [107] * 5, floor=0.1)
    assert (inside.verdict, inside.p) == (Verdict.INCONCLUSIVE, 1.0)
    assert inside.sentence == (
        "1.070 times (1.070 .. 1.070): identical subjects differ by 10.0% here: a quieter machine would settle it"
    )
    assert compare_samples([100] * 5, [107] * 5, threshold=0.1, floor=0.1).verdict is Verdict.SAME
    assert compare_samples([100] * 5, [100] * 5, floor=0.1).verdict is Verdict.SAME
    assert compare_samples([100] * 5, [111] * 5, floor=0.1).verdict is Verdict.SLOWER
    just = compare_samples([100] * 5, [110] * 5, threshold=0.2, floor=0.1)
    assert (just.verdict, just.p) == (Verdict.SAME, 1.0)  # just the floor is inside of it
    assert compare_samples([100] * 5, [111] * 5, threshold=0.2, floor=0.1).p == 0.0


def test_a_side_that_does_not_scatter_beside_one_that_does_is_judged_by_the_one_that_does() -> None:
    found = compare_samples([100.0] * 5, times(1.3))
    assert found.verdict is Verdict.SLOWER
    assert 0 < found.p < 0.001
    assert compare_samples(times(1.3), [100.0] * 5).verdict is Verdict.FASTER
    assert compare_samples([0.5, 0.6, 0.55, 0.52, 0.58], times(1.3)).verdict is Verdict.SLOWER  # under 1 is a value


def test_what_is_refused_is_said_with_what_was_given() -> None:
    with pytest.raises(ValueError, match=r"^values \[1\.0, inf\]: expected finite numbers$"):
        compare_samples([math.inf, 1], A)
    with pytest.raises(ValueError, match=r"^alpha 0\.05, threshold 0\.05, floor -1: expected 0 < alpha < 0\.5, others"):
        compare_samples(A, A, floor=-1)
    with pytest.raises(ValueError, match=r"threshold inf"):
        compare_samples(A, A, threshold=math.inf)
    assert compare_samples(A, A, threshold=0, floor=0, alpha=0.49).n_a == 5
    with pytest.raises(ValueError, match="alpha 0"):
        compare_samples(A, A, alpha=0)


def test_one_process_a_side_is_enough_for_counts_and_5_for_all_else() -> None:
    one = compare_samples([40], [50], exact=True)
    assert (one.verdict, one.n_a, one.n_b) == (Verdict.SLOWER, 1, 1)
    differ = compare_samples([40, 44], [60], exact=True)
    assert (differ.ratio, differ.advice) == (60 / 42, differ.sentence)
    assert math.isnan(compare_samples([0, 44], [60], exact=True).ratio)
    assert math.isnan(compare_samples([], [60]).ratio)
    assert compare_samples([0.5, 0.5, 0.5], [1.0] * 3).ratio == 2.0


def test_the_seed_decides_the_draws_and_nothing_else() -> None:
    rare = [100.0, 101.0, 100.5, 99.5, 160.0, 100.2, 99.8]
    found = {compare_samples(rare, times(1.2, rare[::-1]), seed=seed) for seed in range(6)}
    assert {one.p for one in found} == {compare_samples(rare, times(1.2, rare)).p}
    assert compare_samples(rare, times(1.2, rare)) == compare_samples(rare, times(1.2, rare), seed=0)


@pytest.mark.parametrize("factor", [1.0, 1.02, 1.12, 1.15])
def test_settling_asks_for_what_the_normal_approximation_says(factor: float) -> None:
    """By hand: the error of a median, and t + 1 of them between the ratio and what it is held against."""
    wide = [90.0, 95.0, 100.0, 105.0, 110.0]
    found = compare_samples(wide, times(factor, wide))
    assert found.verdict is Verdict.INCONCLUSIVE
    d, margin = math.log(factor), math.log(1.05)

    def settles(n: int) -> bool:
        error = math.sqrt(math.pi / 2) * found.spread * math.sqrt(2 / n)
        if d <= margin:
            return margin - d > (float(student.ppf(0.95, 2 * n - 2)) + 1) * error
        return d - margin > error and d > (float(student.ppf(0.975, 2 * n - 2)) + 1) * error

    least = next(n for n in range(6, 1_001) if settles(n))
    assert found.advice == f"about {least} processes a side would settle it"


def test_settling_never_asks_for_fewer_than_there_were() -> None:
    found = compare_samples(A, [110, 100, 118, 104, 112])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert int(found.advice.split()[1]) >= 6
    clear = compare_samples(A, times(1.3))
    assert settling(clear) == "about 5 processes a side would settle it"  # it is settled: the fewest that can


def test_the_correction_weighs_by_the_family_and_leaves_same_alone() -> None:
    weak, same = compare_samples(A, [107, 103, 114, 105, 110]), compare_samples(A, times(1.01))
    adjusted = corrected([weak, same, same])
    assert [found.p for found in adjusted] == pytest.approx([3 * weak.p, 2 * same.p, 2 * same.p])
    assert [found.verdict for found in adjusted[1:]] == [Verdict.SAME, Verdict.SAME]
    assert adjusted[0].verdict is Verdict.SLOWER
    assert adjusted[1].sentence == same.sentence
    dropped = corrected([weak, same, same], alpha=weak.p)[0]
    assert dropped.verdict is Verdict.INCONCLUSIVE
    assert dropped.sentence.endswith(dropped.advice)
    assert dropped.advice == settling(dropped, weak.p / 3)
    assert corrected([weak], alpha=weak.p)[0].verdict is Verdict.SLOWER  # at just alpha it stands
    faster = compare_samples([107, 103, 114, 105, 110], A)
    assert corrected([faster, same, same], alpha=faster.p)[0].verdict is Verdict.INCONCLUSIVE
