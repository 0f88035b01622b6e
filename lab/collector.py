"""What the garbage collector costs: the same case with it and without it, side by side.

A structure of many small containers pays for each of them whenever the collector walks, in the mean and above all in
the slowest call; one that holds few pays little. Nothing here knows which is which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.cells import NO_FIGURE
from lab.table import Table
from lab.units import format_count, format_ns
from lab.worst import short_cause

Row = Mapping[str, Any]
Case = tuple[str, str, str, str, str]

NAMES = ("kind", "workload", "params", "clock", "operation")


def apart(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows without those that only show a case with the collector off, and those.

    A run whose every case has the collector off keeps all its rows: they are what it measured. Counts have no arm.
    """
    every = list(rows)
    with_it = {_case(row) for row in every if row["gc"] == "on"}
    beside = [row for row in every if row["gc"] == "off" and row["kind"] != "counts" and _case(row) in with_it]
    taken = {id(row) for row in beside}
    return [row for row in every if id(row) not in taken], beside


def table(rows: Iterable[Row], worst: Iterable[Row], subjects: Sequence[str] = ()) -> Table:
    """Return a row for each subject and case that was timed with the collector and without; empty when there are none.

    `rows` are those of executions.parquet, `worst` those of cases.parquet, `subjects` the order within a case.
    Medians over processes. O(rows).
    """
    arms: dict[tuple[Case, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["status"] == "ok" and row["kind"] == "latency" and row["subject"] != "null":
            arms[_case(row), row["subject"]][row["gc"]].append(row)
    slowest = {(_case(row), row["subject"], row["gc"]): row for row in worst}
    rank = {subject: place for place, subject in enumerate(subjects)}
    both = {place: found for place, found in arms.items() if len(found) == 2}
    ordered = sorted(both, key=lambda place: (place[0], rank.get(place[1], len(rank)), place[1]))
    return Table(
        "The collector: the same calls with it and without it",
        (
            "case",
            "operation",
            "subject",
            "mean, on",
            "mean, off",
            "on ÷ off",
            "structural worst, on",
            "off",
            "collections 0/1/2",
        ),
        tuple(_line(place, both[place], slowest) for place in ordered),
        (
            "Mean of a call, clock included, and collections: medians over processes.",
            "Structural worst: the largest, over the calls, of the smallest time that a call took in any process; why.",
        ),
        frozenset({"case", "operation", "subject"}),
    )


def _case(row: Row) -> Case:
    kind, workload, params, clock, operation = (row[name] for name in NAMES)
    return kind, workload, params, clock, operation


def _line(
    place: tuple[Case, str], found: Mapping[str, list[Row]], slowest: Mapping[tuple[Case, str, str], Row]
) -> tuple[str, ...]:
    case, subject = place
    on, off = (median(row["mean_ns"] for row in found[arm]) for arm in ("on", "off"))
    return (
        f"{case[1]} {case[2]}",
        case[4],
        subject,
        format_ns(on),
        format_ns(off),
        f"{on / off:.2f}",
        *(_worst(slowest.get((case, subject, arm))) for arm in ("on", "off")),
        _collections(found["on"]),
    )


def _worst(row: Row | None) -> str:
    if row is None or row["structural_worst_ns"] is None:
        return NO_FIGURE
    at = dict(zip(row.get("worst_index") or (), row.get("worst_cause") or (), strict=False))
    cause = short_cause(at.get(row["structural_worst_index"]) or "")
    return f"{format_ns(row['structural_worst_ns'])}{f' ({cause})' if cause else ''}"


def _collections(rows: Sequence[Row]) -> str:
    counts = [[row[f"collections_{generation}"] for row in rows] for generation in range(3)]
    if any(count is None for generation in counts for count in generation):
        return NO_FIGURE
    return " / ".join(format_count(round(median(generation))) for generation in counts)
