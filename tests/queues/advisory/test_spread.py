"""Spreading: which periods are similar, where the places are, and what becomes of them in any arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.advisory.heap import Heap
from queues.advisory.jobs import Job
from queues.advisory.sorted_each_call import SortedEachCall
from queues.advisory.spread import part, places, share, similar

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(-1e15, 1e15),
    st.fractions(-(10**9), 10**9, max_denominator=1000),
    st.decimals(-(10**9), 10**9, places=3),
)
PERIODS = st.one_of(
    st.integers(1, 10**12),
    st.floats(1e-9, 1e12),
    st.fractions(Fraction(1, 1000), 10**6, max_denominator=1000),
    st.decimals("0.001", 10**6, places=3),
    st.sampled_from((5e-324, 1e308, 1.7e308, 10**400)),
)


def jobs(*periods: Any) -> list[Job]:
    return [Job(number, period, None, number) for number, period in enumerate(periods)]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(now=NUMBERS, periods=st.lists(PERIODS, min_size=1, max_size=12), copies=st.integers(1, 4))
def test_whatever_the_numbers_all_places_differ_and_one_is_now(now: Any, periods: list[Any], copies: int) -> None:
    found = places(jobs(*(periods * copies)), now)
    runs = [run for _, run in found]
    assert sorted(job.job_id for job, _ in found) == list(range(len(periods) * copies))
    assert len(set(runs)) == len(runs)
    assert min(runs) == now
    for job, run in found:
        assert now <= run
        assert Fraction(run) < Fraction(now) + Fraction(job.period)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    now=st.integers(0, 100),
    rows=st.lists(st.tuples(st.sampled_from((10, 11, 60, 7)), st.none() | st.integers(-50, 200)), max_size=14),
)
def test_a_job_that_has_run_is_never_moved_back_when_overdue(now: int, rows: list[tuple[int, int | None]]) -> None:
    made = jobs(*(period for period, _ in rows))
    for job, (_, next_run) in zip(made, rows, strict=True):
        if next_run is not None:
            job.last_run, job.next_run = next_run - job.period, next_run
    found = dict(places(made, now))
    overdue = [job for job in made if job.last_run is not None and job.next_run < now]
    assert not any(job in found for job in overdue)
    runs = [found.get(job, job.next_run) for job in made if job not in overdue]
    assert len(set(runs)) == len(runs)
    for job, run in found.items():
        job.next_run = run
    again = dict(places(made, now))
    for job, run in found.items():  # what is even stays, but for the rounding of a sum in another order
        assert abs(again.get(job, job.next_run) - run) <= 1e-12 * max(1, abs(run))


def test_clusters_are_bounded_by_their_shortest_period_and_as_few_as_can_be() -> None:
    assert [[job.period for job in cluster] for cluster in similar(jobs(125, 100, 126, 99))] == [[99, 100], [125, 126]]
    chain = similar(jobs(*(Fraction(6, 5) ** k for k in range(12))))  # neighbours are similar, the ends are not
    assert [len(cluster) for cluster in chain] == [2] * 6
    assert similar([]) == []


@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ((1e308, 1.2e308, 1.7e308), [2, 1]),
        ((5e-324, 1e-323), [1, 1]),
        ((10**400, 10**400 + 1), [2]),
        ((1, 1.0, Fraction(1), Decimal(1), Decimal("1.25"), 1.2500001), [5, 1]),
    ],
)
def test_similarity_is_exact_for_any_numbers(periods: tuple[Any, ...], expected: list[int]) -> None:
    assert [len(cluster) for cluster in similar(jobs(*periods))] == expected


@pytest.mark.parametrize(
    ("now", "period", "expected"),
    [
        (100, 10, [100, 102.5, 105, 107.5]),
        (100.0, 10, [100.0, 102.5, 105.0, 107.5]),
        (Fraction(1, 3), 10, [Fraction(1, 3) + Fraction(5, 2) * k for k in range(4)]),
        (Decimal("0.1"), 10, [Decimal("0.1"), Decimal("2.6"), Decimal("5.1"), Decimal("7.6")]),
        (10**18, 10, [10**18 + Fraction(5, 2) * k for k in range(4)]),  # no float holds 10**18 + 2.5
        (10**18, 10**9, [10**18 + 250_000_000 * k for k in range(4)]),
        (1e18, 10.0, [Fraction(10**18) + Fraction(5, 2) * k for k in range(4)]),
        (Decimal("0.1"), 0.5, [Fraction(1, 10) + Fraction(1, 8) * k for k in range(4)]),
        (0, 1.6e308, [0, 4e307, 8e307, 1.2e308]),
    ],
)
def test_places_are_exact_in_the_arithmetic_of_the_clock(now: Any, period: Any, expected: list[Any]) -> None:
    found = [run for _, run in places(jobs(*[period] * 4), now)]
    assert found == expected
    assert found[0] == now


def test_overdue_jobs_use_up_the_first_places() -> None:
    made = jobs(8, 8, 8, 8)
    for job in made[1:3]:
        job.last_run, job.next_run = 80, 88
    assert [(job.job_id, run) for job, run in places(made, 100)] == [(0, 104), (3, 106)]


def test_a_whole_clock_stays_whole_where_it_can() -> None:
    found = places(jobs(*[10**9] * 8), 1_700_000_000_000_000_000)
    assert {type(run) for _, run in found} == {int}
    assert share(7, 3, 7, 0) == 3


def test_many_clusters_that_all_begin_now_are_shifted_apart_within_the_smallest_distance() -> None:
    made = jobs(*(2**k for k in range(20)), *(2**k for k in range(20)))
    runs = sorted(run for _, run in places(made, 0))
    assert runs[0] == 0
    assert len(set(runs)) == 40
    assert sum(run < Fraction(1, 2) for run in runs) == 20  # one of each cluster, before the second of the first


def test_the_shifts_are_all_different_and_between_0_and_1() -> None:
    shifts = [Fraction(*part(number)) for number in range(1000)]
    assert len(set(shifts)) == 1000
    assert all(0 <= shift < 1 for shift in shifts)
    assert max(later - earlier for earlier, later in pairwise(sorted(shifts[:64]))) == Fraction(1, 64)


@pytest.mark.parametrize("scheduler_class", [Heap, SortedEachCall])
def test_adding_one_by_one_with_auto_spread_ends_even_and_leaves_no_phase(scheduler_class: Any) -> None:
    now = [0.0]
    scheduler = scheduler_class(auto_spread=True, clock=lambda: now[0])
    for number in range(16):
        scheduler.add(number, 16.0)
    assert sorted(scheduler.job_data(number)[1] for number in range(16)) == [float(k) for k in range(16)]
    runs = []
    while now[0] < 160:
        delay = scheduler.next_job()[1]
        now[0] += delay
        runs.append(now[0])
        now[0] += 0.25
    assert runs == [float(k) for k in range(len(runs))]  # one a second, ten rounds later as well
    scheduler.remove(3)
    scheduler.update_period(5, 1000.0)
    assert len({scheduler.job_data(job_id)[1] for job_id in scheduler.all_jobs()}) == 15


@pytest.mark.parametrize("scheduler_class", [Heap, SortedEachCall])
def test_adding_all_the_time_with_auto_spread_starves_nobody(scheduler_class: Any) -> None:
    now = [0]
    scheduler = scheduler_class(auto_spread=True, clock=lambda: now[0])
    for number in range(5):
        scheduler.add(number, 10)
    seen = []
    for tick in range(60):
        now[0] = tick
        scheduler.add(f"new {tick}", 10)
        seen.append(scheduler.next_job()[0])
    assert set(range(5)) <= set(seen)
    assert "new 20" in seen
