"""Schedulers with one fault in which job they advise, when, or what that does to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from queues.advisory.model import Model, Row
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("essential-methods")
class OnlyAdds:
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        pass


@breaks("new-job-due-at-once")
class NewIsDueAtZero(Model):
    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        super().add(job_id, period, userdata)
        self.rows[-1].next_run = Fraction(0)


class After(Model):
    """A scheduler that does something else to the row that was chosen."""

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        before = {row.job_id: (row.last_run, row.next_run, row.chosen) for row in self.rows}
        advice = super().next_job(now)
        self.after(self.row(advice[0]), *before[advice[0]], self.at(now))
        return advice

    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        raise NotImplementedError


@breaks("next-run-a-period-later")
class SkipsOne(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if row.next_run != next_run:
            row.next_run = at + 2 * row.period


@breaks("early-advice-counts-as-run")
class EarlyAdviceIsNoRun(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if next_run is not None and next_run > at:
            row.last_run, row.next_run = last_run, next_run


@breaks("idle-polling-moves-nothing")
class PollingPushes(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if row.next_run == next_run:
            row.last_run, row.next_run = next_run, next_run + row.period


@breaks("idle-polling-counts-as-chosen")
class PollingDoesNotCount(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if row.next_run == next_run:
            row.chosen = chosen


@breaks("cadence-counts-from-the-run")
class KeepsAGrid(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if next_run is not None and next_run < at:
            row.next_run = next_run + row.period * ((at - next_run) // row.period + 1)


@breaks("catch-up-once")
class OwesEveryRun(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if next_run is not None and next_run < at:
            row.next_run = next_run + row.period


@breaks("ties-least-recently-chosen")
class TiesByAdding(After):
    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        row.chosen = 0


@breaks("model-agreement")
class LateByMuchIsSkipped(After):
    """A fault that needs a job to be late by more than three periods while another is early."""

    def after(self, row: Row, last_run: Any, next_run: Any, chosen: int, at: Fraction) -> None:
        if next_run is not None and at - next_run > 3 * row.period and len(self.rows) > 1:
            row.next_run = at


class Ordered(Model):
    """A scheduler that looks at the rows in another order."""

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        rows = self.rows
        self.rows = self.ordered(rows)
        try:
            return super().next_job(now)
        finally:
            self.rows = rows

    def ordered(self, rows: list[Row]) -> list[Row]:
        raise NotImplementedError


@breaks("ties-least-recently-added")
class TiesByIdAsText(Ordered):
    def ordered(self, rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: str(row.job_id))


@breaks("ids-never-ordered")
class TiesById(Ordered):
    def ordered(self, rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: row.job_id)  # type: ignore[arg-type, return-value]


@breaks("head-blocks-nobody")
class FirstAddedFirst(Ordered):
    def ordered(self, rows: list[Row]) -> list[Row]:
        return rows[:1]


@breaks("most-overdue-first")
class LeastOverdueFirst(Ordered):
    def ordered(self, rows: list[Row]) -> list[Row]:
        late = [row for row in rows if row.next_run is not None and row.next_run <= 100]
        return sorted(late, key=lambda row: row.next_run or 0)[-1:] if len(late) == len(rows) else rows


@breaks("zero-is-a-time")
class ZeroIsNoTime(Model):
    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        return super().next_job(now or None)


@breaks("asks-the-clock")
class AsksOnce(Model):
    def __init__(self, *, auto_spread: bool = False, clock: Callable[[], Any] = time.time) -> None:
        now = clock()
        super().__init__(auto_spread=auto_spread, clock=lambda: now)


@breaks("clock-may-go-back")
@breaks("model-agreement-clock-back")
class WaitsOutTheStep(Model):
    def pass_time(self, at: Fraction) -> None:
        self.seen = at


@breaks("exact-numbers")
class CountsInFloats(Model):
    def at(self, now: Any) -> Fraction:
        return Fraction(float(super().at(now)))
