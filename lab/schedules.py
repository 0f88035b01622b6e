"""The tables of advisory schedulers, out of a run: every call over the number of jobs, jobs that meet, drift.

Pure functions from the rows of executions.parquet; rows of other families are passed over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.cells import NO_FIGURE, interval_notes, p50_cell, percentile_cell, worst_spans
from lab.record import figures_of
from lab.sample import P99, median_worst
from lab.table import Table
from lab.units import format_count, format_ns

Row = Mapping[str, Any]
Groups = dict[tuple[str, int, str], list[Row]]
"""(operation, jobs, subject) -> the rows of its executions."""

FAMILY = "advisory"
OPERATIONS = ("next_job", "update_period", "remove", "add", "spread")
REFERENCE, SORTING = "heap", "sorted-each-call"
FEW, MANY = 100, 100_000
"""The numbers of jobs between which next_job of the heap may cost three times as much, no more."""

LEFT = frozenset({"operation", "subject", "caller"})

MET = {
    "next runs": "due_at_once_before_jobs",
    "after spread": "due_at_once_after_jobs",
    "in an hour": "in_an_hour_before_jobs",
    "in an hour, spread": "in_an_hour_after_jobs",
}
"""Column -> figure of the workload `meeting`."""


def tables(rows: Iterable[Row], subjects: Sequence[str] = ()) -> list[Table]:
    """Return every table that the rows have a figure for; `subjects` says in which order subjects stand. O(rows)."""
    rank = {subject: f"{number:03}" for number, subject in enumerate(subjects)}
    own = [row for row in rows if row["family"] == FAMILY]
    ordered = sorted(own, key=lambda row: rank.get(row["subject"], f"~{row['subject']}"))
    made = (calls_table(ordered), growth_table(ordered), meeting_table(ordered), drift_table(ordered))
    return [table for table in (*made, missing_table(ordered)) if table.rows]


def timed(rows: Iterable[Row]) -> Groups:
    """Return the rows of timed calls that are ok by operation and number of jobs, subjects in the order of the rows."""
    found: Groups = defaultdict(list)
    for row in rows:
        if row["family"] == FAMILY and row["status"] == "ok" and row["kind"] == "latency":
            found[row["operation"], jobs_of(row), row["subject"]].append(row)
    return {key: found[key] for key in sorted(found, key=lambda key: (OPERATIONS.index(key[0]), key[1]))}


def jobs_of(row: Row) -> int:
    """Return how many jobs the schedule of a row has.

    >>> jobs_of({"params": "calls=90,jobs=1000"})
    1000
    """
    return int(dict(parse_parameters(row["params"]))["jobs"])


def p50(found: Sequence[Row]) -> float:
    """Return what the call usually costs: the median over the processes of its p50, in ns."""
    return float(median(row["p50_ns"] for row in found))


def times(ratio: float) -> str:
    """Return a ratio with three digits, or the whole of it.

    >>> times(15_000.4), times(1.7812)
    ('15,000', '1.78')
    """
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def calls_table(rows: Iterable[Row]) -> Table:
    """Return every operation at every size: calls, p50, p99 and worst call, and the p50 over that of the heap."""
    found = timed(rows)
    body = []
    for (operation, jobs, subject), members in found.items():
        shown = median_worst(members)
        reference = found.get((operation, jobs, REFERENCE))
        ratio = times(p50(members) / p50(reference)) if reference else NO_FIGURE
        figures = (p50_cell(members), percentile_cell(members, shown, P99), worst_spans(members), ratio)
        body.append((operation, format_count(jobs), subject, format_count(shown["n"]), *figures))
    header = ("operation", "jobs", "subject", "calls", "p50", "p99", "max", f"p50 / {REFERENCE}")
    return Table("Advice: every call", header, tuple(body), interval_notes(found.values()), LEFT)


def growth(rows: Iterable[Row]) -> dict[str, float]:
    """Return how the reach is met, as far as the sizes were measured: sentence -> ratio of p50."""
    found = timed(rows)
    many, few = found.get(("next_job", MANY, REFERENCE)), found.get(("next_job", FEW, REFERENCE))
    sorting = found.get(("next_job", MANY, SORTING))
    ratios = {}
    if many and few:
        ratios[f"{REFERENCE} next_job, {MANY:,} jobs / {FEW:,} jobs"] = p50(many) / p50(few)
    if many and sorting:
        ratios[f"next_job at {MANY:,} jobs, {SORTING} / {REFERENCE}"] = p50(sorting) / p50(many)
    return ratios


def growth_table(rows: Iterable[Row]) -> Table:
    """Return the same as a table."""
    body = tuple((what, times(ratio)) for what, ratio in growth(rows).items())
    return Table("Advice: what many jobs cost", ("what", "ratio of p50"), body, left=frozenset({"what"}))


def meeting_table(rows: Iterable[Row]) -> Table:
    """Return how many jobs meet in one instant, before and after spread, and how long spreading them takes."""
    every = list(rows)
    spreading = {
        (jobs, subject): p50(found) for (name, jobs, subject), found in timed(every).items() if name == "spread"
    }
    body = []
    for row in _once(every, "meeting"):
        figures = figures_of(row)
        took = spreading.get((jobs_of(row), row["subject"]))
        cells = (format_count(int(figures[name])) for name in MET.values())
        body.append(
            (row["subject"], format_count(jobs_of(row)), *cells, NO_FIGURE if took is None else format_ns(took))
        )
    body.sort(key=lambda cells: int(cells[1].replace(",", "")))
    note = "The most jobs in one instant, of the next runs and of all runs in an hour, for a caller that takes no time."
    header = ("subject", "jobs", *MET, "spread takes")
    return Table("Advice: jobs that meet", header, tuple(body), (note,) if body else (), LEFT)


def drift_table(rows: Iterable[Row]) -> Table:
    """Return how far the last run of one job is from the grid that the first began, on a simulated clock."""
    body = []
    for row in _once(rows, "cadence"):
        how, figures = dict(parse_parameters(row["params"])), figures_of(row)
        period = format_ns(int(how["period_ms"]) * 1_000_000)
        behind = (format_ns(_short(figures["drift_ns"])), format_ns(_short(figures["drift_a_run_ns"])))
        body.append(
            (str(how["caller"]).replace("-", " "), period, row["subject"], format_count(int(how["runs"])), *behind)
        )
    body.sort(key=lambda cells: (cells[0] != "waits as advised", cells[0], cells[1]))
    notes = (
        "waits as advised: asks when the work is done, a tenth of the period later. oversleeps: the same, but wakes up",
        "a second late each time. asks late: asks a second after the job was due, each time.",
    )
    header = ("caller", "period", "subject", "runs", "behind the grid", "a run")
    return Table("Advice: drift of the cadence", header, tuple(body), notes if body else (), LEFT)


def missing_table(rows: Iterable[Row]) -> Table:
    """Return which cases have no figure, and why."""
    why = {(row["subject"], row["workload"], row["params"]): row for row in rows if row["status"] != "ok"}
    body = tuple((f"{' '.join(key[:2])}, {key[2]}", row["status"], row["message"]) for key, row in why.items())
    return Table("Advice: no figure", ("case", "end", "why"), body, left=frozenset({"case", "end", "why"}))


def _once(rows: Iterable[Row], workload: str) -> list[Row]:
    """Return one row for each case of a workload that is ok: what is counted is the same in every process."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row["family"] == FAMILY and row["workload"] == workload and row["status"] == "ok":
            found.setdefault((row["subject"], row["params"]), row)
    return list(found.values())


def _short(ns: float) -> float | int:
    """Return whole ns as a whole number, so that nothing is said with digits that it has not."""
    return int(ns) if ns == int(ns) else ns
