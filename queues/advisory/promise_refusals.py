"""Promises about what is refused, and that a refusal leaves everything as it was."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from queues.advisory.trial import Promise, Trial, promise

REFUSALS: list[Promise] = []

NAN = float("nan")
BAD_VALUES: tuple[Any, ...] = (
    *(0, -1, NAN, float("inf"), float("-inf"), -0.5, 0.0, Fraction(0), Fraction(-1, 3)),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal(0)),
)
NO_TIMES: tuple[Any, ...] = (NAN, float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"))
NO_NUMBERS: tuple[Any, ...] = ("5", None, True, False, 1j, [5], (5,), b"5", {}, print)


class Ran:
    """A scheduler with a job that ran at 100 and a new one, which must be left as they are."""

    def __init__(self, trial: Trial) -> None:
        """Make it."""
        self.trial = trial
        self.scheduler = trial.with_jobs(("ran", 10), now=100)
        trial.expect_advice(self.scheduler, 100, "ran", 0)
        self.scheduler.add("new", 20)

    def expect_unchanged(self) -> None:
        """Break the promise unless the two jobs come as if nothing had been."""
        self.trial.expect_advice(self.scheduler, 103, "new", 0)
        self.trial.expect_advice(self.scheduler, 103, "ran", 7)


@promise(REFUSALS, "bad-period-refused")
def bad_period_refused(trial: Trial) -> None:
    """add: ValueError for a period that is not positive and finite, TypeError for what is no number; nothing added."""
    ran = Ran(trial)
    for kind, values in ((ValueError, BAD_VALUES), (TypeError, NO_NUMBERS)):
        for value in values:
            trial.refused(kind, ran.scheduler.add, "bad", value)
    ran.expect_unchanged()


@promise(REFUSALS, "bad-update-refused", "update_period")
def bad_update_refused(trial: Trial) -> None:
    """update_period: the same, and the old period stays."""
    ran = Ran(trial)
    for kind, values in ((ValueError, BAD_VALUES), (TypeError, NO_NUMBERS)):
        for value in values:
            trial.refused(kind, ran.scheduler.update_period, "ran", value)
            trial.refused(kind, ran.scheduler.update_period, "new", value)
    ran.expect_unchanged()
    trial.expect_advice(ran.scheduler, 104, "ran", 16)


@promise(REFUSALS, "repeated-id-refused")
def repeated_id_refused(trial: Trial) -> None:
    """add: ValueError for an id that is there already; the job stays as it was."""
    ran = Ran(trial)
    trial.refused(ValueError, ran.scheduler.add, "ran", 5, "other")
    trial.refused(ValueError, ran.scheduler.add, "new", 5, "other")
    trial.expect(ran.scheduler.next_job(103), ("new", 0, None))
    trial.expect_advice(ran.scheduler, 103, "ran", 7)
    same = trial.with_jobs((1, 10))
    trial.refused(ValueError, same.add, 1.0, 5)
    trial.refused(ValueError, same.add, True, 5)


@promise(REFUSALS, "unknown-id-refused", "update_period remove")
def unknown_id_refused(trial: Trial) -> None:
    """update_period and remove: KeyError for an id that is not there, also for one that was removed."""
    ran = Ran(trial)
    ran.scheduler.add("gone", 30)
    ran.scheduler.remove("gone")
    for job_id in ("none", "gone", None, 0):
        trial.refused(KeyError, ran.scheduler.remove, job_id)
        trial.refused(KeyError, ran.scheduler.update_period, job_id, 5)
    ran.expect_unchanged()


@promise(REFUSALS, "unknown-id-refused-by-views", "job_data userdata update_userdata delete_userdata")
def unknown_id_refused_by_views(trial: Trial) -> None:
    """job_data, userdata, update_userdata and delete_userdata: KeyError for an id that is not there."""
    ran = Ran(trial)
    for name, *more in (("job_data",), ("userdata",), ("update_userdata", 1), ("delete_userdata",)):
        trial.refused(KeyError, getattr(ran.scheduler, name), "none", *more)
    ran.expect_unchanged()


@promise(REFUSALS, "no-hash-no-id")
def no_hash_no_id(trial: Trial) -> None:
    """add: TypeError for an id that cannot be hashed."""
    ran = Ran(trial)
    trial.refused(TypeError, ran.scheduler.add, ["list"], 5)
    ran.expect_unchanged()


@promise(REFUSALS, "no-job-refused", "remove")
def no_job_refused(trial: Trial) -> None:
    """next_job: LookupError when there is no job, or none left."""
    scheduler = trial.scheduler()
    trial.refused(LookupError, scheduler.next_job, 0)
    scheduler.add("a", 10)
    scheduler.remove("a")
    trial.refused(LookupError, scheduler.next_job, 0)


@promise(REFUSALS, "bad-now-refused")
def bad_now_refused(trial: Trial) -> None:
    """next_job: ValueError for a `now` that is not finite, TypeError for what is no number; nothing is chosen."""
    ran = Ran(trial)
    for value in NO_TIMES:
        trial.refused(ValueError, ran.scheduler.next_job, value)
    for value in NO_NUMBERS:
        if value is not None:
            trial.refused(TypeError, ran.scheduler.next_job, value)
    ran.expect_unchanged()


@promise(REFUSALS, "bad-spread-refused", "spread")
def bad_spread_refused(trial: Trial) -> None:
    """spread: the same, and nothing is moved."""
    ran = Ran(trial)
    for value in NO_TIMES:
        trial.refused(ValueError, ran.scheduler.spread, value)
    for value in NO_NUMBERS:
        if value is not None:
            trial.refused(TypeError, ran.scheduler.spread, value)
    ran.expect_unchanged()


class Stopped(Exception):
    """What a clock of a check raises."""


@promise(REFUSALS, "failing-clock-changes-nothing", "clock")
def failing_clock_changes_nothing(trial: Trial) -> None:
    """A clock that raises, or returns what is no time, reaches the caller and changes nothing."""
    ran = Ran(trial)
    for now, kind in ((Stopped("stopped"), Stopped), (NAN, ValueError), ("noon", TypeError)):
        trial.clock.now = now
        trial.refused(kind, ran.scheduler.next_job)
    ran.expect_unchanged()


@promise(REFUSALS, "failing-clock-spreads-nothing", "clock auto_spread update_period remove all_jobs job_data")
def failing_clock_spreads_nothing(trial: Trial) -> None:
    """With auto_spread, what the clock refuses leaves add, update_period and remove undone."""
    scheduler = trial.scheduler(100, auto_spread=True)
    scheduler.add("a", 10)
    scheduler.add("b", 10)
    before = [scheduler.job_data(job_id) for job_id in scheduler.all_jobs()]
    for now, kind in ((Stopped("stopped"), Stopped), (NAN, ValueError)):
        trial.clock.now = now
        trial.refused(kind, scheduler.add, "c", 10)
        trial.refused(kind, scheduler.update_period, "a", 99)
        trial.refused(kind, scheduler.remove, "a")
        trial.expect(scheduler.all_jobs(), ["a", "b"])
        trial.expect([scheduler.job_data(job_id) for job_id in ("a", "b")], before, "job data")
