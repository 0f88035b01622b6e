"""The pieces of the notebook about event queues: what is pending, in which form, with what index, on which engine."""

from __future__ import annotations

from statistics import median

from lab import events
from lab.claims_events import judge_run
from lab.events import BOUNDED, FORMS, UNBOUNDED
from lab.figure_scaling import scaling
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.table import Table
from lab.units import format_count, format_ns

FASTEST = "not-exists"
"""The form that the pictures show."""


def pending(reading: Reading, index: str, form: str = FASTEST) -> list[Piece]:
    """Return what a bounded question costs over the rows of the table, an engine a line."""
    return _picture(reading, BOUNDED, index, form)


def whole(reading: Reading, index: str, form: str = FORMS[0]) -> list[Piece]:
    """Return the same for a question of the whole table."""
    return _picture(reading, UNBOUNDED, index, form)


def _picture(reading: Reading, workload: str, index: str, form: str) -> list[Piece]:
    series: dict[str, dict[int, list[float]]] = {}
    for (subject, kind, which), by_rows in events.pending(reading.good, workload).items():
        if (kind, which) == (index, form):
            series[subject] = {count: [float(row["p50_ns"]) for row in found] for count, found in by_rows.items()}
    if not series:
        return [nothing(f"the workload {workload}, {index}, {form}")]
    sentence = "; ".join(f"{subject} {_from_to(by_rows)}" for subject, by_rows in series.items())
    return [*scaling(f"{form}, {index}", "rows", series), f"**{sentence}.**"]


def _from_to(by_rows: dict[int, list[float]]) -> str:
    few, many = min(by_rows), max(by_rows)
    costs = " → ".join(format_ns(median(by_rows[count])) for count in (few, many))
    return f"{costs} at {format_count(few)} → {format_count(many)} rows"


def table_of_recent(reading: Reading) -> list[Piece]:
    """Return the document's table, every form and engine."""
    return _whole(events.bounded_table(reading.rows), "the workload pending")


def table_of_whole(reading: Reading) -> list[Piece]:
    """Return the table of the whole-table question, with what ran out of its time."""
    return _whole(events.unbounded_table(reading.rows), "the workload pending-unbounded")


def claims(reading: Reading) -> list[Piece]:
    """Return how many events a second are claimed, and the fastest of it in a sentence."""
    groups = events.claims(reading.good)
    if not groups:
        return [nothing("the workload claims")]
    rates = {key: events.rate(found["claim"]) for key, found in groups.items()}
    most = max(rates, key=lambda key: rates[key])
    said = f"**The most are {format_count(round(rates[most]))} events a second: {most[0]} with {most[1]} workers.**"
    return [events.claims_table(reading.good), said]


def plans(reading: Reading) -> list[Piece]:
    """Return the plan behind every figure."""
    return _whole(events.plans_table(reading.good), "plans of queries")


def settings(reading: Reading) -> list[Piece]:
    """Return which servers they were, and the settings that decide."""
    return _whole(events.settings_table(reading.good), "settings of engines")


def verdicts(reading: Reading) -> list[Piece]:
    """Return the claims about event queues with the verdict of this run on each."""
    from lab import claim

    judged = judge_run(reading.run)
    return [claim.table(judged)] if judged else [nothing("event queues")]


def _whole(table: Table, what: str) -> list[Piece]:
    return [table] if table.rows else [nothing(what)]
