"""Promises about the table of jobs: periods, ids, userdata, and what is told of a job."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from queues.advisory.trial import Promise, Trial, promise
from queues.promises.holding import Prickly

JOBS: list[Promise] = []


class Thing:
    """Something that can be asked whether it is still there."""


@promise(JOBS, "job-data", "job_data")
def job_data(trial: Trial) -> None:
    """`job_data` is (last run, next run, period), and (0, 0, period) before the first run."""
    scheduler = trial.with_jobs(("a", 10), now=100)
    trial.expect(scheduler.job_data("a"), (0, 0, 10))
    scheduler.next_job(100)
    trial.expect(scheduler.job_data("a"), (100, 110, 10))
    scheduler.next_job(104)
    trial.expect(scheduler.job_data("a"), (110, 120, 10))
    scheduler.next_job(105)
    trial.expect(scheduler.job_data("a"), (110, 120, 10))


@promise(JOBS, "update-counts-from-last-run", "update_period")
def update_counts_from_last_run(trial: Trial) -> None:
    """`update_period`: the next run is the last run plus the new period, at once."""
    scheduler = trial.with_jobs(("a", 3600))
    trial.expect_advice(scheduler, 0, "a", 0)
    scheduler.update_period("a", 5)
    trial.expect_advice(scheduler, 1, "a", 4)
    scheduler.update_period("a", 60)
    trial.expect_advice(scheduler, 10, "a", 55)


@promise(JOBS, "update-reorders", "update_period")
def update_reorders(trial: Trial) -> None:
    """A shorter period moves a job ahead of others, a longer one behind them."""
    scheduler = trial.with_jobs(("a", 100), ("b", 50), ("c", 70))
    trial.expect_ids(scheduler, 0, "abc")
    scheduler.update_period("a", 20)
    scheduler.update_period("b", 90)
    trial.expect_ids(scheduler, 100, "acb")


@promise(JOBS, "update-of-a-new-job-stays-due", "update_period")
def update_of_a_new_job_stays_due(trial: Trial) -> None:
    """A job that never ran stays due when its period is changed, and stays in its place."""
    scheduler = trial.with_jobs(("a", 60), ("b", 60), now=1000)
    scheduler.update_period("a", 3600)
    trial.expect_advice(scheduler, 1000, "a", 0)
    trial.expect_advice(scheduler, 1000, "b", 0)


@promise(JOBS, "update-keeps-tie-place", "update_period")
def update_keeps_tie_place(trial: Trial) -> None:
    """`update_period` with the same value changes nothing, and there and back leaves the place among ties."""
    scheduler = trial.with_jobs(("a", 10), ("b", 10), ("c", 10))
    trial.expect_ids(scheduler, 0, "abc")
    scheduler.update_period("a", 10)
    scheduler.update_period("b", 99)
    scheduler.update_period("b", 10)
    trial.expect_ids(scheduler, 10, "abc")


@promise(JOBS, "removed-is-gone", "remove")
def removed_is_gone(trial: Trial) -> None:
    """A removed job is not advised again; the others are as before."""
    scheduler = trial.with_jobs(("a", 10), ("b", 10), ("c", 10))
    scheduler.remove("a")
    trial.expect_ids(scheduler, 0, "bc")
    scheduler.remove("c")
    trial.expect_ids(scheduler, 10, "bb")


@promise(JOBS, "added-again-is-new", "remove")
def added_again_is_new(trial: Trial) -> None:
    """A job that is removed and added again has no state of the old one: due at once, last among the new."""
    scheduler = trial.with_jobs(("a", 10), ("b", 10), ("c", 10))
    scheduler.remove("a")
    scheduler.add("a", 10)
    trial.expect_ids(scheduler, 0, "bca")
    scheduler.remove("b")
    scheduler.add("b", 10)
    trial.expect_advice(scheduler, 5, "b", 0)


@promise(JOBS, "all-jobs", "all_jobs remove")
def all_jobs(trial: Trial) -> None:
    """`all_jobs` is a list of its own, in order of adding, so jobs may be removed while one goes through it."""
    scheduler = trial.with_jobs(("b", 10), ("a", 10), ("c", 10))
    trial.expect(scheduler.all_jobs(), ["b", "a", "c"])
    for job_id in scheduler.all_jobs():
        scheduler.remove(job_id)
    trial.expect(scheduler.all_jobs(), [])


@promise(JOBS, "userdata-as-given", "userdata update_userdata delete_userdata")
def userdata_as_given(trial: Trial) -> None:
    """Userdata comes back as it was given, also 0, "", False and None; it can be replaced and deleted."""
    values: tuple[Any, ...] = (0, "", False, None, [], {"colour": "red"})
    for value in values:
        scheduler = trial.scheduler()
        scheduler.add("a", 10, value)
        trial.expect(scheduler.next_job(0)[2] is value, True, f"{value!r} is advised with the job")
        trial.expect(scheduler.userdata("a") is value, True, f"{value!r} is the userdata")
        scheduler.update_userdata("a", "other")
        trial.expect(scheduler.next_job(0)[2], "other", "userdata advised")
        scheduler.update_userdata("a", value)
        trial.expect(scheduler.userdata("a") is value, True, f"{value!r} is the userdata")
        scheduler.delete_userdata("a")
        trial.expect(scheduler.userdata("a"), None)
        scheduler.delete_userdata("a")


@promise(JOBS, "userdata-not-looked-at", "userdata update_userdata remove")
def userdata_not_looked_at(trial: Trial) -> None:
    """Userdata is never compared, hashed or asked for truth."""
    scheduler = trial.scheduler()
    for name in "abc":
        scheduler.add(name, 10, Prickly(name))
    trial.expect([scheduler.next_job(0)[2].name for _ in range(6)], list("abcabc"))
    scheduler.update_userdata("a", Prickly("other"))
    trial.expect(scheduler.userdata("a").name, "other")
    scheduler.remove("a")


@promise(JOBS, "userdata-let-go", "remove update_userdata delete_userdata")
def userdata_let_go(trial: Trial) -> None:
    """Userdata that was replaced, deleted or removed with its job is let go of, and so is the id."""
    scheduler = trial.scheduler().bare

    def added(job_id: Any) -> weakref.ref[Thing]:
        thing = Thing()
        scheduler.add(job_id, 10, thing)
        return weakref.ref(thing)

    kept = [added(number) for number in range(4)]
    scheduler.next_job(0)
    scheduler.update_userdata(0, None)
    scheduler.delete_userdata(1)
    scheduler.remove(2)
    gc.collect()
    trial.expect([thing() is None for thing in kept], [True, True, True, False], "replaced, deleted, removed, kept")


@promise(JOBS, "arguments-by-name", "update_period remove")
def arguments_by_name(trial: Trial) -> None:
    """Arguments may be given by their names."""
    scheduler = trial.scheduler()
    scheduler.add(job_id="a", period=10, userdata="data")
    trial.expect(scheduler.next_job(now=0), ("a", 0, "data"))
    scheduler.update_period(job_id="a", period=20)
    scheduler.remove(job_id="a")
