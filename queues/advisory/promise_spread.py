"""Promises about spreading."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from queues.advisory.trial import Promise, Trial, promise

SPREADING: list[Promise] = []

NEAR = 1e-9


def in_phase(trial: Trial, count: int, period: Any, *, ran_at: Any = None, now: Any = 0) -> Any:
    """Return a scheduler with jobs 0 … count - 1 of one period; all ran at `ran_at`, if that is given."""
    scheduler = trial.with_jobs(*((job_id, period) for job_id in range(count)), now=now)
    for _ in range(count if ran_at is not None else 0):
        scheduler.next_job(ran_at)
    return scheduler


def next_runs(scheduler: Any) -> list[Any]:
    """Return the next runs of all jobs, in order of adding."""
    return [scheduler.job_data(job_id)[1] for job_id in scheduler.all_jobs()]


def expect_even(trial: Trial, runs: list[Any], now: Any, period: Any) -> None:
    """Break the promise unless `runs` are all different, in [now, now + period), and equally far apart."""
    ordered = sorted(runs)
    trial.expect(len(set(runs)), len(runs), "different next runs")
    trial.expect(now <= ordered[0] and ordered[-1] < now + period, True, "all next runs within a period from now")
    gap = period / len(runs)
    worst = max((abs(later - earlier - gap) for earlier, later in pairwise(ordered)), default=0)
    trial.expect(worst <= NEAR * max(1, period), True, f"gaps of {gap}")


@promise(SPREADING, "spread-even", "spread job_data all_jobs")
def spread_even(trial: Trial) -> None:
    """Jobs of one period are put evenly over it, all different, in their order; one is due now."""
    for count, period, ran_at in ((25, 10, None), (25, 10, 997), (7, 0.7, None), (3, 3600, 990), (200, 1.1, None)):
        scheduler = in_phase(trial, count, period, ran_at=ran_at, now=900)
        scheduler.spread(1000)
        runs = next_runs(scheduler)
        expect_even(trial, runs, 1000, period)
        trial.expect(runs, sorted(runs), "next runs in order")
        trial.expect(sum(run <= 1000 for run in runs), 1, "jobs due now")


@promise(SPREADING, "spread-one-due-now", "spread job_data all_jobs")
def spread_one_due_now(trial: Trial) -> None:
    """However many jobs there are, exactly one of those that never ran is due when they have been spread."""
    for count in (1, 2, 3, 7, 49, 161):
        for period in (10, 0.1, 1e-3, 7.3, 86_400):
            scheduler = in_phase(trial, count, period)
            scheduler.spread(0)
            trial.expect(sum(run <= 0 for run in next_runs(scheduler)), 1, "jobs due now")


@promise(SPREADING, "spread-different", "spread job_data all_jobs")
def spread_different(trial: Trial) -> None:
    """Jobs of different periods do not meet either; each waits less than its period."""
    periods = [10] * 8 + [20] * 4 + [40] * 2 + [80, 160, 7]
    scheduler = trial.with_jobs(*enumerate(periods))
    scheduler.spread(0)
    runs = next_runs(scheduler)
    trial.expect(len(set(runs)), len(runs), "different next runs")
    trial.expect(
        all(0 <= run < period for run, period in zip(runs, periods, strict=True)), True, "each run within its period"
    )
    trial.expect(sum(run == 0 for run in runs), 1, "jobs due now")


@promise(SPREADING, "spread-by-similar-period", "spread job_data all_jobs")
def spread_by_similar_period(trial: Trial) -> None:
    """Similar periods are spread together, over the shortest; others by themselves."""
    scheduler = trial.with_jobs(("a", 300), ("b", 320), ("c", 300), ("d", 86_400), ("e", 86_400))
    scheduler.spread(0)
    runs = next_runs(scheduler)
    expect_even(trial, runs[:3], 0, 300)
    expect_even(trial, runs[3:], 0, 86_400)


@promise(SPREADING, "spread-postpones-nothing-overdue", "spread job_data all_jobs")
def spread_postpones_nothing_overdue(trial: Trial) -> None:
    """A job that is overdue and has run before keeps its next run; the others find places beside it."""
    scheduler = in_phase(trial, 3, 10, ran_at=0)
    scheduler.add("new", 10)
    scheduler.add("newer", 10)
    scheduler.spread(25)
    runs = next_runs(scheduler)
    trial.expect(runs[:3], [10, 10, 10], "next runs of the overdue")
    trial.expect(25 <= runs[3] < runs[4] < 35, True, "the new ones within a period from now")
    trial.expect_ids(scheduler, 25, [0, 1, 2])


@promise(SPREADING, "spread-leaves-even", "spread job_data all_jobs")
def spread_leaves_even(trial: Trial) -> None:
    """What is even already stays as it is, when it is spread again at once or a little later."""
    scheduler = in_phase(trial, 8, 10, now=100)
    scheduler.add("other", 60)
    scheduler.spread(100)
    runs = next_runs(scheduler)
    scheduler.spread(100)
    trial.expect(next_runs(scheduler), runs, "next runs")
    trial.expect(tuple(scheduler.next_job(100))[:2], (0, 0))
    scheduler.spread(100.5)
    trial.expect(next_runs(scheduler)[1:8], runs[1:8], "next runs")


@promise(SPREADING, "spread-of-few", "spread job_data")
def spread_of_few(trial: Trial) -> None:
    """No job: nothing to spread. One job: it stays due when it is new, and where it is when it has run."""
    scheduler = trial.scheduler(5)
    scheduler.spread(5)
    scheduler.add("a", 10)
    scheduler.spread(5)
    trial.expect_advice(scheduler, 5, "a", 0)
    scheduler.spread(7)
    trial.expect(scheduler.job_data("a"), (5, 15, 10))


@promise(SPREADING, "spread-asks-the-clock", "spread job_data clock")
def spread_asks_the_clock(trial: Trial) -> None:
    """Without `now` spread asks the clock; `now=0` is a time."""
    scheduler = in_phase(trial, 2, 10, now=500)
    scheduler.spread()
    trial.expect([scheduler.job_data(job_id)[1] for job_id in (0, 1)], [500, 505], "next runs")
    scheduler = in_phase(trial, 2, 10, now=500)
    scheduler.spread(0)
    trial.expect([scheduler.job_data(job_id)[1] for job_id in (0, 1)], [0, 5], "next runs")


@promise(SPREADING, "auto-spread", "auto_spread clock update_period remove job_data all_jobs")
def auto_spread(trial: Trial) -> None:
    """With auto_spread the jobs are spread after each add, update_period and remove."""
    scheduler = trial.scheduler(100, auto_spread=True)
    for job_id in range(5):
        scheduler.add(job_id, 10)
        expect_even(trial, next_runs(scheduler), 100, 10)
    scheduler.remove(0)
    expect_even(trial, next_runs(scheduler), 100, 10)
    scheduler.update_period(1, 3600)
    expect_even(trial, next_runs(scheduler)[1:], 100, 10)


@promise(SPREADING, "auto-spread-postpones-nothing-overdue", "auto_spread clock job_data")
def auto_spread_postpones_nothing_overdue(trial: Trial) -> None:
    """auto_spread never postpones a job that is overdue and has run before."""
    scheduler = trial.scheduler(0, auto_spread=True)
    scheduler.add("a", 10)
    trial.expect_advice(scheduler, 0, "a", 0)
    for now in range(11, 100, 9):
        trial.clock.now = now
        scheduler.add(now, 10)
        trial.expect(scheduler.job_data("a")[1], 10, "next run of a")
