"""Statistics against numpy, scipy, exact arithmetic and values worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.rank import ALPHA
from lab.record import COLUMNS, EXECUTIONS
from lab.sample import (
    P50,
    P90,
    P99,
    P999,
    Histogram,
    bucket_bounds,
    clock_step,
    encode,
    least_n,
    median_worst,
    nearest_rank,
    operation_columns,
    percentile,
    percentile_interval,
    slope,
    structural_worst,
    summarize,
    timer_bound,
)

durations = st.integers(0, 10**12)
samples = st.lists(durations, min_size=1, max_size=300)
quantiles = st.sampled_from([P50, P90, P99, P999, Fraction(0), Fraction(1), Fraction(1, 3), Fraction(7, 8)])


@given(samples, st.integers(0, 64))
def test_a_percentile_is_numpys_inverted_cdf(values: list[int], sixty_fourths: int) -> None:
    q = Fraction(sixty_fourths, 64)  # such a q is exact as a float too, so numpy means the same one
    assert percentile(values, q) == np.quantile(values, float(q), method="inverted_cdf")


@given(samples, quantiles)
def test_a_percentile_is_the_smallest_sample_that_enough_samples_do_not_exceed(values: list[int], q: Fraction) -> None:
    found = percentile(values, q)
    assert found in values
    assert sum(value <= found for value in values) >= q * len(values)
    assert sum(value < found for value in values) < max(q * len(values), Fraction(1))


@pytest.mark.parametrize(
    ("n", "q", "rank"),
    [
        (1, P50, 1),
        (2, P50, 1),
        (3, P50, 2),
        (10, P90, 9),  # 0.9 as a float times 10 would be rank 10 with exact products
        (1000, P999, 999),
        (1001, P999, 1000),
        (100, P99, 99),
        (101, P99, 100),
        (5, Fraction(0), 1),
        (5, Fraction(1), 5),
    ],
)
def test_the_rank_is_the_exact_ceiling(n: int, q: Fraction, rank: int) -> None:
    assert nearest_rank(n, q) == rank


@pytest.mark.parametrize("q", [0.9, Fraction(-1, 10), Fraction(11, 10), "0.9", None])
def test_a_quantile_that_is_no_exact_fraction_of_one_is_refused(q: Any) -> None:
    message = "is no quantile: expected a Fraction from 0 to 1"
    with pytest.raises(ValueError, match=message):
        nearest_rank(10, q)
    with pytest.raises(ValueError, match=message):
        percentile([1], q)
    with pytest.raises(ValueError, match=message):
        least_n(q)


def test_no_samples_no_percentile() -> None:
    with pytest.raises(ValueError, match="0 samples have no percentile"):
        nearest_rank(0, P50)
    for wrong, message in (([], "at least one duration"), ([[1]], "one row"), ([1.5], "expected whole nanoseconds")):
        with pytest.raises(ValueError, match=message):
            percentile(wrong, P50)


def test_the_least_n_of_the_percentiles_shown() -> None:
    assert [least_n(q) for q in (P50, P90, P99, P999, Fraction(9999, 10000))] == [6, 36, 368, 3688, 36887]


@given(st.integers(1, 199))
def test_the_least_n_is_the_first_whose_extremes_miss_a_tail_rarely_enough(two_hundredths: int) -> None:
    q = Fraction(two_hundredths, 200)
    n = least_n(q)
    assert max(q, 1 - q) ** n <= ALPHA / 2
    assert n == 1 or max(q, 1 - q) ** (n - 1) > ALPHA / 2


def test_the_ends_of_a_distribution_have_no_interval() -> None:
    for q in (Fraction(0), Fraction(1)):
        with pytest.raises(ValueError, match="is an end of the distribution"):
            least_n(q)


@pytest.mark.parametrize(
    ("n", "q", "interval"),
    [
        (10_000, P99, (9880, 9920)),
        (10_000, P999, (9983, 9997)),
        (100_000, P999, (99_880, 99_920)),
        (6, P50, (1, 6)),
        (5, P50, None),
        (35, P90, None),
        (367, P99, None),
        (3687, P999, None),
        (3688, P999, (3680, 3688)),
    ],
)
def test_known_intervals(n: int, q: Fraction, interval: tuple[int, int] | None) -> None:
    assert percentile_interval(n, q) == interval


def at_most(rank: int, n: int, q: Fraction) -> Fraction:
    """The exact chance that at most `rank` of `n` samples lie under the q quantile."""
    return sum((comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(rank + 1)), Fraction(0))


@given(st.integers(6, 60), st.integers(1, 19))
def test_an_interval_is_the_narrowest_whose_tails_are_small_enough(n: int, twentieths: int) -> None:
    q = Fraction(twentieths, 20)
    interval = percentile_interval(n, q)
    if n < least_n(q):
        assert interval is None
        return
    assert interval is not None
    lower, upper = interval
    assert 1 <= lower <= nearest_rank(n, q) <= upper <= n
    assert at_most(lower - 1, n, q) <= ALPHA / 2 < at_most(lower, n, q)
    assert 1 - at_most(upper - 1, n, q) <= ALPHA / 2 < 1 - at_most(upper - 2, n, q)


@given(samples, st.integers(0, 20))
def test_a_summary_agrees_with_numpy_on_what_is_left_after_the_warm_up(values: list[int], warmup: int) -> None:
    if warmup >= len(values):
        with pytest.raises(ValueError, match="expected at least one sample after it"):
            summarize(values, warmup)
        return
    found, kept = summarize(values, warmup), np.array(values[warmup:], dtype=np.int64)
    assert (found.n, found.warmup) == (len(kept), warmup)
    assert found.mean_ns == pytest.approx(float(np.mean(kept)), rel=1e-12)
    assert (found.min_ns, found.max_ns) == (kept.min(), kept.max())
    assert values[found.max_index] == found.max_ns
    assert found.max_index == warmup + int(np.argmax(kept))
    for name, q in (("p50_ns", P50), ("p90_ns", P90), ("p99_ns", P99), ("p999_ns", P999)):
        assert getattr(found, name) == percentile(kept, q)
    assert found.histogram.n == found.n


def test_a_negative_warm_up_and_a_negative_duration_are_refused() -> None:
    with pytest.raises(ValueError, match="a warm-up of -1 of 2 samples"):
        summarize([1, 2], -1)
    with pytest.raises(ValueError, match="a sample of -3 ns: expected no negative duration"):
        summarize([1, -3])


def test_known_distributions() -> None:
    constant = summarize([700] * 5000)
    assert {constant.mean_ns, constant.min_ns, constant.p50_ns, constant.p999_ns, constant.max_ns} == {700}
    assert constant.max_index == 0
    slow_once_in_a_thousand = summarize([50_000 if call % 1000 == 999 else 800 for call in range(10_000)])
    assert (slow_once_in_a_thousand.p99_ns, slow_once_in_a_thousand.p999_ns) == (800, 800)  # rank 9,990 of 10,000
    assert slow_once_in_a_thousand.max_index == 999
    assert summarize([800] * 998 + [9_000, 50_000]).p999_ns == 9_000
    one = summarize([42])
    assert (one.n, one.p50_ns, one.p999_ns, one.max_index) == (1, 42, 42, 0)
    bimodal = summarize([100] * 50 + [900] * 50)
    assert (bimodal.p50_ns, bimodal.p90_ns, bimodal.mean_ns) == (100, 900, 500)


@given(samples, quantiles)
def test_a_histogram_gives_every_percentile_back_within_one_percent(values: list[int], q: Fraction) -> None:
    exact = percentile(values, q)
    assert abs(encode(values).percentile(q) - exact) * 100 <= exact


@given(st.integers(0, 2**62))
def test_every_duration_falls_into_the_bucket_whose_bounds_hold_it(ns: int) -> None:
    histogram = encode([ns])
    low, high = bucket_bounds(int(histogram.bucket[0]))
    assert low <= ns <= high
    assert (high - low) * 64 <= ns


def test_buckets_follow_on_each_other_without_a_gap() -> None:
    bounds = [bucket_bounds(bucket) for bucket in range(3000)]
    assert bounds[0] == (0, 0)
    assert all(high + 1 == low for (_, high), (low, _) in pairwise(bounds))
    with pytest.raises(ValueError, match="-1 is no bucket"):
        bucket_bounds(-1)


@given(samples, samples)
def test_merged_histograms_are_the_histogram_of_all_samples(one: list[int], other: list[int]) -> None:
    merged, whole = Histogram.merge(encode(one), encode(other)), encode(one + other)
    assert merged.bucket.tolist() == whole.bucket.tolist()
    assert merged.count.tolist() == whole.count.tolist()
    assert np.all(np.diff(merged.bucket) > 0)
    assert merged.count.min() > 0
    assert [str(merged.bucket.dtype), str(merged.count.dtype)] == ["int32", "int64"]


def test_merging_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no histograms to merge"):
        Histogram.merge()


def rows(*worst: float | None) -> list[dict[str, Any]]:
    return [{"process": process, "max_ns": max_ns} for process, max_ns in enumerate(worst)]


@pytest.mark.parametrize(
    ("worst", "process"),
    [
        ((5,), 0),
        ((30, 10, 20), 2),
        ((30, 10, 20, 40), 2),  # the lower of 20 and 30
        ((10, 20), 0),
        ((20, 10, 20, 5, 30), 0),  # of equal ones the earliest process
        ((None, 10, float("nan"), 30, 20), 4),
    ],
)
def test_the_execution_shown_is_the_one_with_the_median_worst_call(worst: tuple[Any, ...], process: int) -> None:
    given = rows(*worst)
    assert median_worst(given) is given[process]
    assert median_worst(reversed(given)) is given[process]


def test_without_a_worst_call_there_is_no_execution_to_show() -> None:
    for nothing in ([], rows(None)):
        with pytest.raises(ValueError, match="no execution has a worst call"):
            median_worst(nothing)


def test_the_structural_worst_call_is_slow_in_every_process() -> None:
    calls = np.full((5, 20), 800)
    calls[:, 12] = [9000, 9100, 8800, 9050, 9900]  # the structure
    calls[2, 7] = 50_000  # the machine
    assert structural_worst(calls) == (8800, 12)
    assert structural_worst([[5, 5], [5, 5]]) == (5, 0)


@given(st.integers(2, 5), st.integers(1, 50), st.integers(0, 60), st.randoms(use_true_random=False))
def test_the_structural_worst_call_by_definition(processes: int, n: int, warmup: int, random: Any) -> None:
    matrix = [[random.randrange(100) for _ in range(n)] for _ in range(processes)]
    least = [min(calls) for calls in zip(*matrix, strict=True)]
    found = structural_worst(matrix, warmup)
    if warmup >= n:
        assert found is None
        return
    assert found == (max(least[warmup:]), warmup + least[warmup:].index(max(least[warmup:])))
    assert found[0] <= min(max(calls[warmup:]) for calls in matrix)


def test_a_structural_worst_call_needs_two_processes_with_the_same_calls() -> None:
    assert structural_worst([]) is None
    assert structural_worst([[1, 2]]) is None
    assert structural_worst([[1, 2], [1, 2, 3]]) is None


@given(
    st.integers(-1000, 1000), st.integers(-(10**12), 10**12), st.sets(st.integers(0, 10**6), min_size=2, max_size=20)
)
def test_the_slope_of_a_line_is_exact_however_far_away_it_lies(rise: int, start: int, places: set[int]) -> None:
    assert slope((x, start + rise * x) for x in places) == rise


def test_the_slope_of_scattered_points_is_the_least_squares_one() -> None:
    points = [(1, 3.0), (2, 5.5), (3, 6.0), (7, 20.0)]
    assert slope(points) == pytest.approx(np.polyfit([x for x, _ in points], [y for _, y in points], 1)[0])
    for few in ([], [(1, 1)], [(1, 1), (1, 2)]):
        with pytest.raises(ValueError, match="expected at least two different places"):
            slope(few)


def test_a_row_is_timer_bound_under_three_null_calls() -> None:
    assert timer_bound(2999, 1000)
    assert not timer_bound(3000, 1000)


def test_the_columns_of_a_row_are_per_call_and_keep_the_samples_in_the_histogram() -> None:
    columns = operation_columns(
        [9_999, 3000, 2000, 1000],
        warmup=1,
        calls_per_sample=10,
        null_before=[500, 700],
        null_after=[600],
        bare=[90, 80],
    )
    assert (columns["n"], columns["warmup"], columns["calls_per_sample"], columns["max_index"]) == (3, 1, 10, 1)
    assert (columns["mean_ns"], columns["min_ns"], columns["p50_ns"], columns["max_ns"]) == (200, 100, 200, 300)
    assert (columns["null_n"], columns["null_p50_ns"], columns["null_p99_ns"]) == (3, 60, 70)
    assert (columns["null_p50_before_ns"], columns["null_p50_after_ns"]) == (50, 60)
    assert (columns["net_p50_ns"], columns["timer_bound"], columns["bare_p50_ns"]) == (140, False, 80)
    assert columns["clock_step_ns"] == 10
    low, high = bucket_bounds(columns["histogram_bucket"][-1])
    assert low <= 3000 <= high
    assert sum(columns["histogram_count"]) == 3
    assert sum(columns["null_histogram_count"]) == 3


@pytest.mark.parametrize(
    ("bare", "step"),
    [
        ([771, 781, 771, 801], 10),
        ([1_000, 2_000, 1_000], 1_000),
        ([0, 0, 15_625_000], 15_625_000),  # a clock that ticks 64 times a second
        ([40, 40, 40], 40),  # it may be less: nothing smaller was seen
        ([7], 7),
        ([0, 0], None),
    ],
)
def test_the_step_of_the_clock_is_the_smallest_one_seen(bare: list[int], step: int | None) -> None:
    assert clock_step(bare) == step


@given(st.integers(1, 10_000), st.lists(st.integers(0, 50), min_size=1, max_size=200))
def test_a_clock_that_ticks_shows_no_step_under_its_tick(tick: int, ticks: list[int]) -> None:
    step = clock_step([tick * each for each in ticks])
    assert step is None or step % tick == 0


def test_whether_calls_are_steady_is_said_where_all_do_the_same_and_are_enough() -> None:
    drifting = [5_000] * 64 + [1_000 + call for call in range(1_000)]
    columns = operation_columns(drifting, warmup=64, same_work=True)
    assert columns["steady"] is False
    assert columns["drift"] == pytest.approx(1.96, abs=0.02)
    assert operation_columns([700] * 500, same_work=True)["steady"] is True
    for few_or_other in ({"same_work": False}, {"same_work": True, "warmup": 937}):
        assert not {"steady", "drift"} & set(operation_columns(drifting, **few_or_other))


def test_without_null_calls_nothing_is_said_about_the_clock() -> None:
    assert not {"null_p50_ns", "net_p50_ns", "timer_bound", "bare_p50_ns"} & set(operation_columns([1, 2]))
    only_before = operation_columns([10], null_before=[4])
    assert (only_before["null_p50_before_ns"], only_before["timer_bound"], only_before["net_p50_ns"]) == (4, True, 6)
    assert "null_p50_after_ns" not in only_before
    with pytest.raises(ValueError, match="0 calls per sample"):
        operation_columns([1], calls_per_sample=0)


def test_the_columns_of_a_row_are_those_of_the_table_and_are_all_filled() -> None:
    """Names as `lab.record` has them: a row with these columns can be stored."""
    timed = [5_000 + call % 7 for call in range(500)]
    columns = operation_columns(timed, null_before=[1_000, 3_000], null_after=[2_000], bare=[90, 80], same_work=True)
    known = {column.name for column in COLUMNS[EXECUTIONS]}
    assert set(columns) <= known
    wanted = {"n", "warmup", "max_index", "calls_per_sample", "histogram_bucket", "histogram_count", "timer_bound"}
    wanted |= {f"{name}_ns" for name in ("mean", "min", "p50", "p90", "p99", "p999", "max", "bare_p50", "clock_step")}
    wanted |= {f"null_{name}" for name in ("n", "histogram_bucket", "histogram_count", "p50_ns", "p99_ns")}
    assert set(columns) == wanted | {"null_p50_before_ns", "null_p50_after_ns", "net_p50_ns", "steady", "drift"}
    whole = encode([1_000, 3_000, 2_000])
    assert columns["null_histogram_bucket"] == whole.bucket.tolist()
    assert columns["null_histogram_count"] == whole.count.tolist()
    assert columns["histogram_count"] == encode(timed).count.tolist()
    assert (columns["timer_bound"], columns["net_p50_ns"]) == (True, 3_003)
    found = summarize(timed)
    for name in ("mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"):
        assert columns[name] == getattr(found, name)


def test_a_row_is_one_call_a_sample_without_a_warm_up_unless_it_is_said() -> None:
    columns = operation_columns([30, 10, 20])
    assert (columns["n"], columns["warmup"], columns["calls_per_sample"]) == (3, 0, 1)
    assert (columns["max_index"], columns["max_ns"], columns["min_ns"]) == (0, 30, 10)
    assert not {"steady", "drift"} & set(operation_columns([700] * 500))
    (halved, both) = (operation_columns([30, 10, 20], calls_per_sample=calls)["p90_ns"] for calls in (2, 1))
    assert (halved, both) == (15, 30)


def test_the_drift_is_that_of_the_samples_after_the_warm_up() -> None:
    drifting = [50_000] * 200 + [1_000 + call for call in range(1_000)]
    assert (
        operation_columns(drifting, warmup=200, same_work=True)["drift"]
        == (operation_columns(drifting[200:], same_work=True)["drift"])
    )


def test_what_is_wrong_is_named_with_what_was_given() -> None:
    with pytest.raises(ValueError, match="null samples before"):
        operation_columns([10], null_before=[1.5])
    with pytest.raises(ValueError, match="null samples after"):
        operation_columns([10], null_after=[[1]])
    with pytest.raises(ValueError, match=r"^a warm-up of 2 of 2 samples: expected at least one sample after it$"):
        summarize([1, 2], 2)
    with pytest.raises(ValueError, match=r"^-1 calls per sample: expected at least 1$"):
        operation_columns([1], calls_per_sample=-1)
    with pytest.raises(ValueError, match=r"^no execution has a worst call: expected at least one that is ok$"):
        median_worst([])
    with pytest.raises(ValueError, match=r"^a slope through 2 points: expected at least two different places$"):
        slope([(1, 2), (1, 3)])


def test_a_summary_says_what_it_left_out_and_what_is_left() -> None:
    found = summarize([99, 3, 1, 2], warmup=1)
    assert (found.n, found.warmup, found.mean_ns, found.min_ns, found.max_ns, found.max_index) == (3, 1, 2.0, 1, 3, 1)
    assert summarize([5, 7]).warmup == 0
    assert summarize([5, 7], 1).n == 1


def test_the_clock_has_a_step_of_a_nanosecond_too() -> None:
    assert clock_step([1, 1, 1]) == 1
    assert clock_step([5, 6, 5]) == 1
