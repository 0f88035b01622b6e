"""Faults that real schedulers had, part B of the list, each as a small input with the right outcome, by the rule."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from queues.advisory.model import Model
from queues.registry import SUBJECTS, load

ROOT = Path(__file__).resolve().parent.parent.parent.parent
NAN, INFINITY = float("nan"), float("inf")


@pytest.fixture(params=[*SUBJECTS["advisory"], "model"])
def scheduler_class(request: pytest.FixtureRequest) -> Any:
    return Model if request.param == "model" else load("advisory", request.param)


def ids(scheduler: Any, count: int, now: Any) -> list[Any]:
    return [scheduler.next_job(now)[0] for _ in range(count)]


# B01, B03: what decides between jobs that tie


@pytest.mark.parametrize(
    "names",
    [
        [str(number) for number in range(11)],
        [str(number) for number in range(10, -1, -1)],
        ["b", "B", "a", "ä", "", " "],
        [10, 9, "9", (9,), None, 9.5, b"9", frozenset()],
    ],
    ids=["rising", "falling", "letters", "mixed"],
)
def test_b01_ties_go_by_order_of_adding_never_by_the_id(scheduler_class: Any, names: list[Any]) -> None:
    scheduler = scheduler_class()
    for name in names:
        scheduler.add(name, 60)
    assert ids(scheduler, len(names), 0) == names
    assert ids(scheduler, len(names), 60) == names  # and then by the order of being chosen


TRACE = """
import sys
from queues.registry import load
scheduler = load("advisory", sys.argv[1])()
for number in range(40):
    scheduler.add(f"job-{number}", 10 + number % 3)
for number in range(0, 40, 7):
    scheduler.remove(f"job-{number}")
    scheduler.add(f"job-{number}", 11)
trace = [scheduler.next_job(now // 20)[:2] for now in range(400)]
scheduler.spread(100)
trace += [scheduler.next_job(100)[:2] for _ in range(60)]
print(trace, scheduler.all_jobs())
"""


@pytest.mark.processes
@pytest.mark.parametrize("subject", SUBJECTS["advisory"])
def test_b03_the_same_trace_whatever_the_hash_seed(subject: str) -> None:
    traces = {
        subprocess.run(
            [sys.executable, "-S", "-c", TRACE, subject],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2, 3, 12345)
    }
    assert len(traces) == 1
    assert "job-39" in traces.pop()


# B04: nobody is blocked


@pytest.mark.parametrize("period", [1e9, 1e308, 1.7e308, 10**400, Fraction(10**9), Decimal(10) ** 9, 5e-324, 1e-300])
@pytest.mark.parametrize("blocker_first", [True, False])
def test_b04_a_head_that_is_never_due_or_always_due_blocks_nobody(
    scheduler_class: Any, period: Any, blocker_first: bool
) -> None:
    scheduler = scheduler_class()
    for name in ("A", "B") if blocker_first else ("B", "A"):
        scheduler.add(name, period if name == "A" else 5)
    assert sorted(ids(scheduler, 2, 0)) == ["A", "B"]
    for now in range(5, 105, 5):
        assert "B" in ids(scheduler, 2, now)


def test_b04_numbers_of_any_kind_live_beside_each_other(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    periods = [1, 2.5, Fraction(1, 3), Decimal("0.7"), 10**30, 1e-9]
    for number, period in enumerate(periods):
        scheduler.add(number, period)
    seen = set()
    for step, clock in enumerate((int, float, Fraction, Decimal) * 25):
        seen |= set(ids(scheduler, 4, clock(step)))
    assert seen == set(range(len(periods)))


# B05, B07: a new period


@pytest.mark.parametrize(("old", "new", "expected"), [(3600, 5, 5), (5, 3600, 3600), (10, 0.5, 0.5), (1, 10**9, 10**9)])
def test_b05_a_changed_period_counts_at_once_from_the_last_run(
    scheduler_class: Any, old: Any, new: Any, expected: Any
) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", old)
    scheduler.next_job(0)
    scheduler.update_period("a", new)
    assert scheduler.job_data("a") == (0, expected, new)
    assert scheduler.next_job(1) == ("a", max(0, expected - 1), None)


def test_b05_a_job_that_never_ran_stays_due(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10)
    scheduler.update_period("a", 3600)
    assert scheduler.job_data("a") == (0, 0, 3600)
    assert scheduler.next_job(1.7e9) == ("a", 0, None)
    spread = scheduler_class()
    for name in "ab":
        spread.add(name, 3600)
    spread.spread(100)
    assert spread.job_data("b") == (0, 1900, 3600)
    spread.update_period("b", 5)
    assert spread.job_data("b") == (0, 0, 5)
    assert spread.next_job(101)[:2] == ("b", 0)


@pytest.mark.parametrize("changes", [[10], [10.0], [99, 10], [1, 2, 3, 10], [Fraction(10)]])
def test_b07_an_update_that_changes_nothing_in_the_end_changes_nothing(
    scheduler_class: Any, changes: list[Any]
) -> None:
    scheduler = scheduler_class()
    for name in "abcd":
        scheduler.add(name, 10)
    ids(scheduler, 4, 0)
    for name in "ca":
        for period in changes:
            scheduler.update_period(name, period)
    assert scheduler.all_jobs() == list("abcd")
    assert ids(scheduler, 4, 10) == list("abcd")
    for name in scheduler.all_jobs():
        for _ in range(100):
            scheduler.update_period(name, 10)
    assert ids(scheduler, 8, 20) == list("abcdabcd")


# B08, B19: removing


def test_b08_jobs_can_be_removed_while_one_goes_through_them(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    for number in range(9):
        scheduler.add(number, 10)
    for job_id in scheduler.all_jobs():
        scheduler.remove(job_id)
    assert scheduler.all_jobs() == []
    with pytest.raises(LookupError):
        scheduler.next_job(0)
    scheduler.all_jobs().append("mine")
    assert scheduler.all_jobs() == []


def test_b19_a_job_that_is_added_again_is_the_last_among_ties(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    for name in "abc":
        scheduler.add(name, 10, f"data of {name}")
    scheduler.remove("a")
    scheduler.add("a", 10)
    assert ids(scheduler, 3, 0) == list("bca")
    assert scheduler.userdata("a") is None
    scheduler.remove("b")
    scheduler.add("b", 7)
    assert scheduler.job_data("b") == (0, 0, 7)
    assert scheduler.all_jobs() == list("cab")
    assert scheduler.next_job(1) == ("b", 0, None)
    assert ids(scheduler, 3, 10) == list("bca")  # b is due at 8, the others at 10


# B09: periods


@pytest.mark.parametrize(
    ("period", "error"),
    [
        *((value, ValueError) for value in (0, -1, 0.0, -0.0, -1e-9, NAN, -NAN, INFINITY, -INFINITY)),
        *((value, ValueError) for value in (Fraction(0), Fraction(-1, 2), Decimal(0), Decimal("-0"), Decimal(-1))),
        *((Decimal(text), ValueError) for text in ("NaN", "-NaN", "sNaN", "Infinity", "-Infinity")),
        *((value, TypeError) for value in ("5", "", b"5", None, True, False, 5j, [5], (), {5}, object, print)),
    ],
    ids=repr,
)
def test_b09_a_period_that_is_no_positive_finite_number_is_refused(
    scheduler_class: Any, period: Any, error: type[Exception]
) -> None:
    scheduler = scheduler_class()
    scheduler.add("there", 10, "data")
    for ran in (False, True):
        before = scheduler.job_data("there")
        with pytest.raises(error, match=r"period is .*: expected a positive finite number"):
            scheduler.add("new", period)
        with pytest.raises(error, match="period is"):
            scheduler.update_period("there", period)
        assert scheduler.all_jobs() == ["there"]
        assert scheduler.job_data("there") == before
        if not ran:
            scheduler.next_job(3)
    assert scheduler.next_job(5) == ("there", 8, "data")


@pytest.mark.parametrize("period", [1, 1.0, 5e-324, 1.7e308, 10**400, Fraction(1, 10**30), Decimal("1e-30")])
def test_b09_a_period_of_any_size_is_taken_as_it_is(scheduler_class: Any, period: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", period)
    assert scheduler.next_job(0) == ("a", 0, None)
    assert scheduler.next_job(0) == ("a", period, None)
    assert scheduler.job_data("a") == (0, period, period)
    assert type(scheduler.job_data("a")[2]) is type(period)


# B10: in phase for ever


def in_phase(scheduler_class: Any, count: int, period: Any) -> Any:
    scheduler = scheduler_class()
    for number in range(count):
        scheduler.add(number, period)
    return scheduler


@pytest.mark.parametrize("now", [0, 1000.0, Fraction(7, 3), Decimal("0.1"), -50])
def test_b10_25_jobs_of_10_are_spread_evenly_over_10(scheduler_class: Any, now: Any) -> None:
    scheduler = in_phase(scheduler_class, 25, 10)
    scheduler.spread(now)
    runs = sorted(scheduler.job_data(number)[1] for number in range(25))
    assert len(set(runs)) == 25
    assert runs[0] == now
    assert runs[-1] < now + 10
    assert all(abs(float(runs[k + 1] - runs[k]) - 0.4) < 1e-9 for k in range(24))
    advice = [scheduler.next_job(now) for _ in range(25)]
    assert [job_id for job_id, _, _ in advice] == list(range(25))
    assert [float(delay) for _, delay, _ in advice] == pytest.approx([0.4 * k for k in range(25)], abs=1e-9)


EVERY_SEVENTH = (0.7, 1 / 3, 3600, 1e-3, 86_399.9, 1e300, Decimal("0.1"), Fraction(1, 3))


@pytest.mark.parametrize(("period", "every"), [(10, 1), (0.1, 1), *((period, 7) for period in EVERY_SEVENTH)])
def test_b10_exactly_one_is_due_now_for_every_number_of_jobs(period: Any, every: int) -> None:
    for count in range(1, 201, every):
        scheduler = in_phase(load("advisory", "heap"), count, period)
        scheduler.spread(1000)
        runs = [scheduler.job_data(number)[1] for number in range(count)]
        assert sum(run <= 1000 for run in runs) == 1
        assert len(set(runs)) == count
        assert max(runs) < 1000 + Fraction(period)


def test_b10_one_is_due_now_with_several_periods_in_one_scheduler(scheduler_class: Any) -> None:
    for count in range(1, 60, 3):
        scheduler = scheduler_class()
        for number in range(count):
            scheduler.add(number, (10, 60, 3600, 0.5)[number % 4])
        scheduler.spread(0)
        runs = [scheduler.job_data(number)[1] for number in range(count)]
        assert sum(run <= 0 for run in runs) == 1
        assert len(set(runs)) == count


# B12, B13, B15, B18: time


def test_b12_the_cadence_counts_from_the_run_so_a_second_late_is_a_second_longer(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10)
    now, runs = 0, []
    for _ in range(101):
        assert scheduler.next_job(now)[1] == 0
        runs.append(now)
        now = scheduler.job_data("a")[1] + 1
    assert mean(later - earlier for earlier, later in pairwise(runs)) == 11


def test_b12_a_caller_that_waits_as_advised_does_not_drift(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", Fraction(1, 10))
    now = Fraction(0)
    for k in range(1000):
        now += scheduler.next_job(now)[1]
        assert now == Fraction(k, 10)
        now += Fraction(1, 100)  # the work


@pytest.mark.parametrize(("silent_until", "then"), [(95, 105), (10, 20), (1e9, 1e9 + 10), (10**30, 10**30 + 10)])
def test_b13_after_silence_a_job_runs_once_and_then_a_period_later(
    scheduler_class: Any, silent_until: Any, then: Any
) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10)
    scheduler.next_job(0)
    assert scheduler.next_job(silent_until)[1] == 0
    assert scheduler.job_data("a") == (silent_until, then, 10)
    assert scheduler.next_job(silent_until)[1] == 10


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, Fraction(0), Decimal(0)])
def test_b15_now_0_is_a_time_and_does_not_ask_the_clock(scheduler_class: Any, zero: Any) -> None:
    def clock() -> Any:
        raise AssertionError("the clock was asked")

    scheduler = scheduler_class(clock=clock)
    scheduler.add("a", 10)
    scheduler.add("b", 10)
    assert scheduler.next_job(now=zero)[:2] == ("a", 0)
    assert scheduler.job_data("a") == (0, 10, 10)
    scheduler.spread(now=zero)
    assert [scheduler.job_data(name)[1] for name in "ab"] == [0, 5]


@pytest.mark.parametrize("value", [0, "", None, False, 0.0, (), [], {}, NAN, Ellipsis], ids=repr)
def test_b15_userdata_comes_back_as_given(scheduler_class: Any, value: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10, value)
    scheduler.add("b", 10, "other")
    assert scheduler.userdata("a") is value
    assert scheduler.next_job(0)[2] is value
    scheduler.update_userdata("b", value)
    assert scheduler.next_job(0)[2] is value
    scheduler.delete_userdata("a")
    assert scheduler.userdata("a") is None
    assert scheduler.next_job(0)[2] is None


@pytest.mark.parametrize("step", [0.5, 1, 9, 10, 11, 500, 10**9])
@pytest.mark.parametrize("periods", [[10], [10, 10, 10], [10, 3600], [10, 0.5, 7]])
def test_b18_when_the_clock_goes_back_nobody_waits_longer_than_a_period(
    scheduler_class: Any, step: Any, periods: list[Any]
) -> None:
    scheduler = scheduler_class()
    for number, period in enumerate(periods):
        scheduler.add(number, period)
    ids(scheduler, len(periods), 1000)
    now = 1000 - step
    seen = set()
    while now < 1000 - step + 12:
        job_id, delay, _ = scheduler.next_job(now)
        assert 0 <= delay <= periods[job_id]
        seen.add(job_id)
        now += delay + 0.125  # the work
    assert seen == {number for number, period in enumerate(periods) if period <= 10}


def test_b18_after_a_step_back_job_data_speaks_in_the_new_time(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10)
    scheduler.next_job(1000)
    assert scheduler.next_job(500) == ("a", 10, None)
    assert scheduler.job_data("a") == (500, 510, 10)
    assert scheduler.next_job(510) == ("a", 0, None)
    assert scheduler.job_data("a") == (510, 520, 10)


@pytest.mark.parametrize("ahead", [0, 1, 5, 9.5])
@pytest.mark.parametrize("step", [0.25, 3, 10, 500])
def test_b18_when_the_clock_goes_back_during_a_wait_nobody_waits_longer_than_a_period(
    scheduler_class: Any, ahead: Any, step: Any
) -> None:
    scheduler = scheduler_class()
    for number, period in enumerate((10, 12, 30)):
        scheduler.add(number, period)
    for now in (1000, 1000, 1000, 1010 - ahead):
        scheduler.next_job(now)
    for _ in range(6):
        job_id, delay, _ = scheduler.next_job(1010 - ahead - step)
        assert delay <= (10, 12, 30)[job_id]


@pytest.mark.parametrize("far", [1.7e308, 1e17, -1.7e308, Decimal("1e300"), 10**400])
def test_b18_one_reading_far_off_loses_no_period_and_the_step_back_neither(scheduler_class: Any, far: Any) -> None:
    scheduler, model = scheduler_class(), Model()
    for each in (scheduler, model):
        each.add("slow", 10)
        each.add("fast", 7.0)
    now = 1000.0
    told, wanted = [], []
    for reading in (now, now, far, far, now, now):
        told.append(scheduler.next_job(reading)[:2])
        wanted.append(model.next_job(reading)[:2])
    assert told == wanted
    assert all(delay > 0 for _, delay in told[-2:]) or far < 0  # where it is a step back first, and then a silence
    for _ in range(40):
        job, delay, _ = scheduler.next_job(now)
        assert (job, delay) == model.next_job(now)[:2]
        now += float(delay)
    assert 1100 < now < 1300  # 17 runs in 70 s


def test_b18_a_step_forward_is_silence(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 10)
    scheduler.next_job(0)
    assert scheduler.next_job(10**9)[1] == 0
    assert scheduler.next_job(0)[1] <= 10


def test_nothing_that_was_planned_is_infinite(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add("a", 1.7e308)
    scheduler.next_job(1.7e308)
    assert scheduler.job_data("a")[1] == 2 * Fraction(1.7e308)
    assert scheduler.next_job(1.7e308)[1] == Fraction(1.7e308)
    assert not any(math.isinf(number) for number in (scheduler.job_data("a")[0], scheduler.job_data("a")[2]))
