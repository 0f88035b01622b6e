"""Intervals of percentiles: against exact enumeration, scipy, and simulations in which the truth is known."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from statistics import median_high, median_low
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from lab.interval import COLUMN, coverage, interval, over_processes, places, within
from lab.rank import P50, P90, P99, P999, least_n, percentile_interval
from lab.sample import operation_columns

Row = dict[str, Any]


def row(samples: Any, process: int = 0, **columns: Any) -> Row:
    return {"process": process, **operation_columns(samples, **columns)}


@pytest.mark.parametrize("processes", [2, 3, 4, 5, 6])
def test_the_bootstrap_over_processes_is_the_one_that_draws_every_resample(processes: int) -> None:
    medians = sorted(
        (median_low(drawn), median_high(drawn)) for drawn in product(range(1, processes + 1), repeat=processes)
    )
    lower = sorted(low for low, _ in medians)
    every = len(lower)
    low = next(
        rank for rank in range(1, processes + 1) if Fraction(sum(v <= rank for v in lower), every) > Fraction(1, 40)
    )
    assert places(processes)[0] <= low
    assert places(processes) == (low, processes + 1 - low)  # up to 6 the bootstrap itself is the wider one


def test_where_the_bootstrap_is_too_narrow_the_order_statistics_take_over() -> None:
    # the bootstrap of 7 and of 8 would leave out the extremes, and hold the median in 87.5 % and 93.0 % of cases
    assert [places(processes) for processes in (7, 8)] == [(1, 7), (1, 8)]
    for processes in range(6, 40):
        low, high = places(processes)
        order = percentile_interval(processes, P50)
        assert order is not None
        assert low <= order[0] <= order[1] <= high
        assert coverage(processes) >= Fraction(95, 100)


@given(st.integers(2, 60))
def test_the_coverage_stated_is_the_binomial_one(processes: int) -> None:
    low, high = places(processes)
    exact = binom.cdf(high - 1, processes, 0.5) - binom.cdf(low - 1, processes, 0.5)
    assert float(coverage(processes)) == pytest.approx(exact, rel=1e-9)


def test_one_process_says_nothing_about_the_next() -> None:
    assert over_processes([5.0]) is None
    assert over_processes([]) is None
    assert coverage(1) == 0
    with pytest.raises(ValueError, match="1 process\\(es\\) bound nothing"):
        places(1)


@given(st.lists(st.integers(0, 10**9), min_size=6, max_size=400), st.sampled_from([P50, P90, P99]))
def test_the_interval_of_one_process_has_its_order_statistics_in_it(values: list[int], q: Fraction) -> None:
    found = within(row(values), q)
    ranks = percentile_interval(len(values), q)
    assert (found is None) == (ranks is None) == (len(values) < least_n(q))
    if found is None or ranks is None:
        return
    ordered = sorted(values)
    low, high = ordered[ranks[0] - 1], ordered[ranks[1] - 1]
    assert found[0] <= low
    assert high <= found[1]
    assert low - found[0] <= low / 64 + 1
    assert found[1] - high <= high / 64 + 1


def test_known_distributions() -> None:
    constant = row([700] * 5_000)
    assert [within(constant, q) for q in (P50, P99, P999)] == [(700, 700)] * 3
    slow_once_in_a_thousand = row([800] * 9_990 + [50_000] * 10)
    assert slow_once_in_a_thousand["p999_ns"] == 800
    found = [
        within(row([100] * 500 + [900] * 500), P50),  # the median may be in either heap
        within(slow_once_in_a_thousand, P999),  # the percentile misses it by one rank, its interval does not
        within(row([700] * 50, calls_per_sample=10), P50),
    ]
    assert found == [(100, 900), (800, 50_000), (70, 70)]


@pytest.mark.parametrize("q", [P50, P90, P99, P999])
def test_just_under_the_least_n_there_is_no_interval_and_at_it_there_is(q: Fraction) -> None:
    n = least_n(q)
    under, enough = [row(np.arange(1, n + more)) for more in (0, 1)]
    assert interval([under, under], under, q) is None
    found = interval([enough], enough, q)
    assert found is not None
    assert found.high_ns == n  # the largest sample
    assert (found.low_ns == 1) == (q == P50)


def test_a_single_call_has_no_interval() -> None:
    assert interval([row([42])], row([42]), P50) is None


def test_the_interval_reaches_as_far_as_the_wider_of_the_two_at_each_end() -> None:
    calls = np.arange(900, 1_100)
    rows = [row(calls + shift, process) for process, shift in enumerate((0, -500, 40))]
    found = interval(rows, rows[0], P50)
    alone = within(rows[0], P50)
    assert found is not None
    assert alone is not None
    assert found.low_ns == rows[1]["p50_ns"]
    assert found.high_ns == max(alone[1], rows[2]["p50_ns"])
    assert found.processes == 3
    without_calls = [{"n": 400, "p50_ns": 10.0 + k, "histogram_bucket": None} for k in range(10)]
    edge = interval(without_calls, without_calls[0], P50)
    assert edge is not None
    assert (edge.low_ns, edge.high_ns) == (10.0, 18.0)  # the one shown is always in it
    lonely = [{"n": 400, "p50_ns": 10.0, "histogram_bucket": None}]
    assert interval(lonely, lonely[0], P50) is None


def test_calls_that_were_never_measured_have_no_interval() -> None:
    cost = {"n": None, "p50_ns": 10.0, "histogram_bucket": None}
    assert interval([cost], cost, P50) is None


def simulated(rng: np.random.Generator, processes: int, n: int, between: float) -> list[Row]:
    """Processes that differ by a factor, calls of a heavy-tailed distribution with p50 exp(7) ns."""
    factors = np.exp(rng.normal(0, between, processes))
    calls = np.exp(
        rng.normal(7, 0.3, (processes, n)) + rng.exponential(0.2, (processes, n)) * (rng.random((processes, n)) < 0.05)
    )
    return [
        row((factor * each).astype(np.int64), process)
        for process, (factor, each) in enumerate(zip(factors, calls, strict=True))
    ]


@cache
def truth(q: Fraction) -> float:
    rng = np.random.default_rng(99)
    calls = np.exp(rng.normal(7, 0.3, 2_000_000) + rng.exponential(0.2, 2_000_000) * (rng.random(2_000_000) < 0.05))
    return float(np.quantile(calls, float(q)))


@pytest.mark.parametrize(
    ("processes", "between", "reached"),
    [
        (3, 0.15, 0.75),  # what 3 processes can promise
        (5, 0.15, 0.93),
        (10, 0.15, 0.95),
        (5, 0.0, 0.95),  # processes that do not differ: the order statistics alone hold
        (1, 0.0, 0.95),
    ],
)
def test_the_interval_holds_the_percentile_of_a_typical_process_as_often_as_it_says(
    processes: int, between: float, reached: float
) -> None:
    rng = np.random.default_rng([processes, int(100 * between)])
    times = 200
    margin = 3 * (reached * (1 - reached) / times) ** 0.5  # of the simulation itself
    held = {P50: 0, P99: 0}
    for _ in range(times):
        rows = simulated(rng, processes, 400, between)
        for q in held:
            found = interval(rows, rows[0], q)
            assert found is not None
            held[q] += found.low_ns <= truth(q) <= found.high_ns
    assert min(held.values()) / times >= reached - margin, held


def test_pooling_the_calls_of_all_processes_would_be_far_too_sure() -> None:
    rng = np.random.default_rng(7)
    true, held = truth(P50), 0
    for _ in range(200):
        rows = simulated(rng, 5, 400, 0.15)
        pooled: Row = {"n": 2_000, "calls_per_sample": 1, "min_ns": 0, "max_ns": 10**9}
        counts: dict[int, int] = {}
        for each in rows:
            for bucket, count in zip(each["histogram_bucket"], each["histogram_count"], strict=True):
                counts[bucket] = counts.get(bucket, 0) + count
        pooled |= {"histogram_bucket": sorted(counts), "histogram_count": [counts[bucket] for bucket in sorted(counts)]}
        found = within(pooled, P50)
        assert found is not None
        held += found[0] <= true <= found[1]
    assert held / 200 < 0.5  # where it claims 95 %


def test_every_percentile_that_is_stored_has_its_column() -> None:
    assert set(COLUMN.values()) == {"p50_ns", "p90_ns", "p99_ns", "p999_ns"}
