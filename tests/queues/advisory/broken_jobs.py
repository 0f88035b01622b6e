"""Schedulers with one fault in the table of jobs, or in what they refuse."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from queues.advisory.model import Model, Row
from queues.advisory.rules import require_period, unknown
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("job-data")
class TellsTheDelay(Model):
    def job_data(self, job_id: Any) -> tuple[Any, Any, Any]:
        last_run, next_run, period = super().job_data(job_id)
        return last_run, max(next_run, last_run + period), period


@breaks("update-counts-from-last-run")
@breaks("update-reorders")
class UpdateWaitsForTheNextRun(Model):
    def update_period(self, job_id: Any, period: Any) -> None:
        next_run = self.row(job_id).next_run
        super().update_period(job_id, period)
        self.row(job_id).next_run = next_run


@breaks("update-of-a-new-job-stays-due")
class NeverRanIsRanAtZero(Model):
    def update_period(self, job_id: Any, period: Any) -> None:
        super().update_period(job_id, period)
        row = self.row(job_id)
        if row.last_run is None:
            row.next_run = row.period


@breaks("update-keeps-tie-place")
class UpdateIsAChoice(Model):
    def update_period(self, job_id: Any, period: Any) -> None:
        super().update_period(job_id, period)
        self.advice += 1
        self.row(job_id).chosen = self.advice


@breaks("removed-is-gone")
class RemovesTheLast(Model):
    def remove(self, job_id: Any) -> None:
        self.row(job_id)
        del self.rows[-1]


@breaks("added-again-is-new")
class RemembersRemoved(Model):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.graves: dict[Any, tuple[Row, int]] = {}

    def remove(self, job_id: Any) -> None:
        row = self.row(job_id)
        self.graves[job_id] = row, self.rows.index(row)
        super().remove(job_id)

    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        super().add(job_id, period, userdata)
        if job_id in self.graves:
            row, place = self.graves.pop(job_id)
            self.rows.insert(place, row)
            del self.rows[-1]


@breaks("all-jobs")
class AllJobsIsTheTable(Model):
    def all_jobs(self) -> list[Any]:
        return Live(self)


class Live(list[Any]):
    """A view that shrinks while one goes through it."""

    def __init__(self, scheduler: Model) -> None:
        super().__init__(row.job_id for row in scheduler.rows)
        self.scheduler = scheduler

    def __iter__(self) -> Any:
        return (row.job_id for row in self.scheduler.rows)


@breaks("userdata-as-given")
class EmptyIsNothing(Model):
    def userdata(self, job_id: Any) -> Any:
        return super().userdata(job_id) or None


@breaks("userdata-not-looked-at")
class AsksForTruth(Model):
    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        job_id, delay, userdata = super().next_job(now)
        return job_id, delay, userdata if userdata else None


@breaks("userdata-let-go")
class KeepsRemoved(Model):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.trash: list[Row] = []

    def remove(self, job_id: Any) -> None:
        self.trash.append(self.row(job_id))
        super().remove(job_id)


@breaks("arguments-by-name")
class OtherNames(Model):
    def next_job(self, when: Any = None) -> tuple[Any, Any, Any]:
        return super().next_job(when)


@breaks("bad-period-refused")
class TakesTrue(Model):
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        super().add(job_id, 1 if period is True else period, userdata)


@breaks("bad-update-refused")
class UpdatesFirst(Model):
    def update_period(self, job_id: Any, period: Any) -> None:
        row = self.row(job_id)
        row.next_run = None if row.last_run is None else row.last_run
        require_period(period)
        super().update_period(job_id, period)


@breaks("repeated-id-refused")
class AddsOver(Model):
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        if job_id in self.all_jobs():
            self.remove(job_id)
        super().add(job_id, period, userdata)


@breaks("unknown-id-refused")
class RemovesNothing(Model):
    def remove(self, job_id: Any) -> None:
        if job_id in self.all_jobs():
            super().remove(job_id)


@breaks("unknown-id-refused-by-views")
class NoDataIsNone(Model):
    def userdata(self, job_id: Any) -> Any:
        return next((row.userdata for row in self.rows if row.job_id == job_id), None)


@breaks("no-hash-no-id")
class IdsByText(Model):
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        super().add(str(job_id) if isinstance(job_id, list) else job_id, period, userdata)


@breaks("no-job-refused")
class NoJobIsNone(Model):
    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        return super().next_job(now) if self.rows else (None, 0, None)


@breaks("bad-now-refused")
class NanIsNow(Model):
    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        return super().next_job(None if now is not None and now != now else now)


@breaks("bad-spread-refused")
class SpreadsTextAtZero(Model):
    def spread(self, now: Any = None) -> None:
        super().spread(0 if isinstance(now, str) else now)


@breaks("failing-clock-changes-nothing")
class ChoosesFirst(Model):
    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        if now is None and self.rows:
            self.rows[0].next_run = Fraction(0)
        return super().next_job(now)


@breaks("failing-clock-spreads-nothing")
class AddsFirst(Model):
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        spread, self.auto_spread = self.auto_spread, False
        super().add(job_id, period, userdata)
        self.auto_spread = spread
        self.spread_automatically(self.at(None) if spread else None)


@breaks("model-agreement-auto-spread")
class RemoveForgetsToSpread(Model):
    def remove(self, job_id: Any) -> None:
        if job_id not in self.all_jobs():
            raise unknown(job_id)
        self.rows.remove(self.row(job_id))
