"""The pieces of the notebook about advisory schedulers: who says what is next, at which price."""

from __future__ import annotations

from lab import schedules
from lab.claims_advisory import judge_run
from lab.figure_scaling import scaling, series
from lab.notebook import Reading, nothing
from lab.notebook_cost import best_and_worst
from lab.notebook_html import Piece
from lab.record import figures_of
from lab.table import Table
from lab.units import format_count

OPERATIONS = {"next_job": "next-job", "update_period": "update-period", "remove": "replace", "add": "replace"}
"""Operation -> the workload that times it, of those that are drawn over the number of jobs."""


def cost(reading: Reading, operation: str = "next_job") -> list[Piece]:
    """Return what a call costs over the number of jobs, and who is cheapest at the most."""
    workload = OPERATIONS.get(operation, operation)
    found = series(reading.good, "jobs", kind="latency", workload=workload, operation=operation)
    if not found:
        return [nothing(f"the workload {workload}")]
    return [*scaling(operation, "jobs", found), best_and_worst(found, "jobs")]


def reach(reading: Reading) -> list[Piece]:
    """Return how the cost of many jobs compares: with few, and with sorting at each call."""
    said = [f"{what}: {schedules.times(ratio)}" for what, ratio in schedules.growth(reading.good).items()]
    return [f"**{'; '.join(said)}.**"] if said else [nothing(f"next_job at {schedules.MANY:,} jobs")]


def meeting(reading: Reading) -> list[Piece]:
    """Return how many jobs meet before and after spread, and the worst of it in a sentence."""
    table = schedules.meeting_table(reading.good)
    if not table.rows:
        return [nothing("the workload meeting")]
    rows = [row for row in reading.good if row["workload"] == "meeting"]
    most = max(rows, key=lambda row: (schedules.jobs_of(row), row["subject"]))
    figures = figures_of(most)
    before, after = (int(figures[name]) for name in ("in_an_hour_before_jobs", "in_an_hour_after_jobs"))
    said = (
        f"**Of {format_count(schedules.jobs_of(most))} jobs {format_count(before)} meet in the worst instant of an "
        f"hour, {format_count(after)} when they have been spread.**"
    )
    return [table, said]


def drift(reading: Reading) -> list[Piece]:
    """Return how far a cadence comes off its grid, caller by caller."""
    return _whole(schedules.drift_table(reading.good), "the workload cadence")


def every_call(reading: Reading) -> list[Piece]:
    """Return the table of every call at every size."""
    return _whole(schedules.calls_table(reading.good), "timed calls")


def verdicts(reading: Reading) -> list[Piece]:
    """Return the claims about schedulers with the verdict of this run on each."""
    from lab import claim

    judged = judge_run(reading.run)
    return [claim.table(judged)] if judged else [nothing("advisory schedulers")]


def _whole(table: Table, what: str) -> list[Piece]:
    return [table] if table.rows else [nothing(what)]
