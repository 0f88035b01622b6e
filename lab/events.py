"""The tables of event queues, out of a run: what is pending in every form, claims by many workers, plans, settings.

Pure functions from the rows of executions.parquet; rows of other families are passed over.
"""

from __future__ import annotations

from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.cells import NO_FIGURE, interval_notes, percentile_cell, worst_spans
from lab.rank import P50
from lab.record import facts_of, figures_of
from lab.sample import P99, P999, median_worst
from lab.table import Table
from lab.units import format_count, format_ns

Row = Mapping[str, Any]
Key = tuple[str, ...]

FAMILY = "events"
BOUNDED, UNBOUNDED = "pending", "pending-unbounded"
FORMS = ("not-in", "not-exists", "left-join", "except")
INDEXES = ("indexed", "bare")
PLAN = "plan of "
STOPPED_AT = " was stopped at "
"""What the message of an execution that did not end in its time has before the plan that it was at, in quotes."""

INDEX_WORDS = {"indexed": "with its indexes", "bare": "with no index but the key"}


def tables(rows: Iterable[Row], subjects: Sequence[str] = ()) -> list[Table]:
    """Return every table that the rows have a figure for; `subjects` says in which order subjects stand. O(rows)."""
    rank = {subject: f"{number:03}" for number, subject in enumerate(subjects)}
    own = [row for row in rows if row["family"] == FAMILY]
    own.sort(key=lambda row: rank.get(row["subject"], f"~{row['subject']}"))
    made = (bounded_table(own), unbounded_table(own), claims_table(own), plans_table(own), settings_table(own))
    return [table for table in (*made, missing_table(own)) if table.rows]


def sizes_of(row: Row) -> dict[str, Any]:
    """Return the parameters of a row by name.

    >>> sizes_of({"params": "calls=7,form=not-in,rows=2005"})["rows"]
    2005
    """
    return dict(parse_parameters(row["params"]))


def pending(rows: Iterable[Row], workload: str) -> dict[Key, dict[int, list[Row]]]:
    """Return (subject, index, form) -> rows of the table -> the executions, whatever their end."""
    found: dict[Key, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["family"] == FAMILY and row["workload"] == workload:
            sizes = sizes_of(row)
            own = str(sizes.get("form", row["operation"]))
            for form in FORMS if workload == BOUNDED and row["status"] != "ok" else (own,):
                found[row["subject"], str(sizes["index"]), form][int(sizes["rows"])].append(row)
    order = {name: place for place, name in enumerate((*INDEXES, *FORMS))}
    subjects = list(dict.fromkeys(key[0] for key in found))
    ordered = sorted(found, key=lambda key: (subjects.index(key[0]), order[key[1]], order[key[2]]))
    return {key: dict(sorted(found[key].items())) for key in ordered}


def cell(found: Sequence[Row]) -> str:
    """Return the p50 over the processes, or how the case ended that has none: what ran out of its time says so."""
    good = [row for row in found if row["status"] == "ok"]
    if good:
        return format_ns(float(median(row["p50_ns"] for row in good)))
    ends = {row["status"]: row for row in found}
    if "timeout" in ends:
        return f"> {format_ns(max(row['duration_ns'] or 0 for row in found))}, stopped"
    return next(iter(ends), NO_FIGURE)


def bounded_table(rows: Iterable[Row]) -> Table:
    """Return the document's table: what is pending among the recent events, form by form, over its rows."""
    return _pending_table(rows, BOUNDED, "Events: what is pending, looking at the recent events only")


def unbounded_table(rows: Iterable[Row]) -> Table:
    """Return the same for a query that looks at the whole table."""
    return _pending_table(rows, UNBOUNDED, "Events: what is pending, looking at the whole table")


def _pending_table(rows: Iterable[Row], workload: str, title: str) -> Table:
    groups = pending(rows, workload)
    counts = sorted({count for by_rows in groups.values() for count in by_rows})
    body = tuple(
        (*key, *(cell(by_rows[count]) if count in by_rows else NO_FIGURE for count in counts))
        for key, by_rows in groups.items()
    )
    header = ("subject", "index", "form", *(f"{format_count(count)} rows" for count in counts))
    notes = ("wall clock; the median over the processes of the p50; 5 events are pending, all else is finished.",)
    return Table(title, header, body, notes, frozenset(header[:3]))


def claims(rows: Iterable[Row]) -> dict[Key, dict[str, list[Row]]]:
    """Return (subject, workers, finished tasks before) -> operation -> the executions that are ok."""
    found: dict[Key, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["family"] == FAMILY and row["workload"] == "claims" and row["status"] == "ok":
            sizes = sizes_of(row)
            found[row["subject"], str(sizes["workers"]), str(sizes["history"])][row["operation"]].append(row)
    subjects = list(dict.fromkeys(key[0] for key in found))
    ordered = sorted(found, key=lambda key: (subjects.index(key[0]), int(key[2]), int(key[1])))
    return {key: dict(found[key]) for key in ordered}


def rate(found: Iterable[Row]) -> float:
    """Return the median over the processes of the events claimed and completed in a second, by all workers together."""
    return float(median(figures_of(row)["events_per_second"] for row in found))


def claims_table(rows: Iterable[Row]) -> Table:
    """Return how many events a second are claimed and completed, and what one claim takes."""
    body = []
    groups = claims(rows)
    for (subject, workers, history), by_operation in groups.items():
        found = by_operation["claim"]
        shown = median_worst(found)
        body.append(
            (
                subject,
                format_count(int(history)),
                workers,
                format_count(round(rate(found))),
                *(percentile_cell(found, shown, q) for q in (P50, P99, P999)),
                worst_spans(found),
                percentile_cell(by_operation["complete"], median_worst(by_operation["complete"]), P50),
            )
        )
    whose = ("subject", "finished before", "workers", "events a second")
    header = (*whose, "claim p50", "p99", "p99.9", "worst", "complete p50")
    notes = (
        "wall clock; each event is claimed by one process and completed by it; workers wait for nothing else.",
        *interval_notes([by_operation["claim"] for by_operation in groups.values()]),
    )
    return Table("Events: claims by many workers at once", header, tuple(body), notes, frozenset({"subject"}))


def plans(rows: Iterable[Row], workload: str) -> dict[Key, str]:
    """Return (subject, index, form) -> how the engine goes about it at the most rows, in its time or beyond it."""
    found = {}
    for key, by_rows in pending(rows, workload).items():
        for _, executions in sorted(by_rows.items()):
            for row in executions:
                if text := facts_of(row).get(PLAN + key[2]) or stopped_at(row):
                    found[key] = text
    return found


def stopped_at(row: Row) -> str:
    """Return the plan at which an execution was stopped; "" for one that ended, or that left no word of it.

    >>> stopped_at({"status": "timeout", "message": "did not end within 20 s and was stopped at 'SCAN e'"})
    'SCAN e'
    """
    said = (row["message"] or "").partition(STOPPED_AT)[2] if row["status"] == "timeout" else ""
    return str(literal_eval(said)) if said else ""


def plans_table(rows: Iterable[Row]) -> Table:
    """Return the plan of every query, in the engine's own words."""
    own = list(rows)
    body = tuple(
        (which, *key, text)
        for workload, which in ((BOUNDED, "recent events"), (UNBOUNDED, "whole table"))
        for key, text in plans(own, workload).items()
    )
    header = ("looking at", "subject", "index", "form", "plan")
    return Table(
        "Events: how each engine goes about it", header, body, ("of the largest table measured.",), frozenset(header)
    )


def settings_table(rows: Iterable[Row]) -> Table:
    """Return what decides the figures above: one line for every set of settings that a subject was measured with."""
    said: dict[Key, None] = {}
    for row in rows:
        facts = {name: text for name, text in facts_of(row).items() if not name.startswith(PLAN)}
        if facts:
            said[row["subject"], ", ".join(f"{name} {text}" for name, text in facts.items())] = None
    header = ("subject", "engine and settings")
    return Table("Events: engine and settings", header, tuple(said), (), frozenset(header))


def missing_table(rows: Iterable[Row]) -> Table:
    """Return which cases have no figure, and why; what ran out of its time stands in the tables above."""
    why = {
        (row["subject"], row["workload"], row["params"]): row for row in rows if row["status"] not in ("ok", "timeout")
    }
    body = tuple((f"{' '.join(key[:2])}, {key[2]}", row["status"], row["message"]) for key, row in why.items())
    return Table("Events: no figure", ("case", "end", "why"), body, (), frozenset({"case", "end", "why"}))
