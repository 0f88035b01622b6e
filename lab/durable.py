"""The tables of queues that outlive the process, out of a run: what the same calls cost where they must be kept.

They stand apart from the other timer queues, because they are on the wall clock: most of a call is waited for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.cells import NO_FIGURE, interval_notes, p50_cell, percentile_cell
from lab.record import facts_of
from lab.sample import P99, median_worst
from lab.table import Table
from lab.units import format_count, format_ns

Row = Mapping[str, Any]
Groups = dict[tuple[str, str, str], list[Row]]

LEFT = frozenset({"subject", "case", "kept where, and how"})
BASE = "array"
"""The queue in memory that the others are held against."""

FAMILY = "durable"
"""What a page asks for that is about these queues: a part of the family of timer queues, by the names of workloads."""

PREFIX = "durable-"
BESIDE = frozenset({BASE, "chunked"})
"""The queues in memory that are measured by the same workloads."""


def own(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows of the workloads of durable queues, in memory or not, whatever their end.

    >>> own([{"family": "timer", "workload": "cycle"}])
    []
    """
    return [dict(row) for row in rows if row["family"] == "timer" and row["workload"].startswith(PREFIX)]


def kept_outside(subjects: Iterable[str]) -> list[str]:
    """Return the subjects that keep messages outside the process, each once.

    >>> kept_outside(["array", "sqlite", "sqlite"])
    ['sqlite']
    """
    return [subject for subject in dict.fromkeys(subjects) if subject not in BESIDE]


def planned(keys: Iterable[str]) -> bool:
    """Return whether cases, by their keys, are of several durable queues: fewer are beside the point of another suite.

    >>> planned(["timer/sqlite/durable-life/messages=3/batched/wall/gc-on"])
    False
    """
    named = (key.split("/") for key in keys)
    subjects = [names[1] for names in named if names[0] == "timer" and names[2].startswith(PREFIX)]
    return len(kept_outside(subjects)) > 1


def sizes(row: Row) -> dict[str, int]:
    """Return the parameters of a row by name.

    >>> sizes({"params": "calls=8,due=10"})
    {'calls': 8, 'due': 10}
    """
    return {name: int(value) for name, value in parse_parameters(row["params"])}


def tables(rows: Iterable[Row], subjects: Sequence[str] = ()) -> list[Table]:
    """Return the tables of which a run has a figure: cycles, ways of putting in, lives, and the settings behind them.

    `subjects` says in which order subjects stand within a table; others follow by name.
    """
    rank = {subject: f"{number:03}" for number, subject in enumerate(subjects)}
    good = [row for row in rows if row["status"] == "ok" and row["workload"].startswith("durable-")]
    good.sort(key=lambda row: rank.get(row["subject"], f"~{row['subject']}"))
    found = (_cycle(good), _enqueue(good), _life(good), _settings(good))
    return [one for one in found if one.rows]


def _groups(rows: Iterable[Row], workload: str, operation: str) -> Groups:
    """Group by (workload, params, subject), the smaller sizes first."""
    found: Groups = defaultdict(list)
    for row in rows:
        if row["workload"] == workload and row["operation"] == operation:
            found[workload, row["params"], row["subject"]].append(row)
    ordered = sorted(
        found, key=lambda key: [value for name, value in parse_parameters(key[1]) if name != "calls"][::-1]
    )
    return {key: found[key] for key in ordered}


def _against(groups: Groups, key: tuple[str, str, str]) -> str:
    """How many times the median of the base a median is, over the processes."""
    base = groups.get((*key[:2], BASE))
    if base is None:
        return NO_FIGURE
    return f"{median(row['p50_ns'] for row in groups[key]) / median(row['p50_ns'] for row in base):,.1f}"


def _cycle(good: Sequence[Row]) -> Table:
    takes, requeues = (_groups(good, "durable-cycle", operation) for operation in ("take", "requeue"))
    rows = []
    for key, found in takes.items():
        sizes = dict(parse_parameters(key[1]))
        rows.append(
            (
                format_count(int(sizes["queued"])),
                format_count(int(sizes["due"])),
                key[2],
                p50_cell(found),
                _against(takes, key),
                p50_cell(requeues[key]),
                _against(requeues, key),
            )
        )
    header = ("queued behind", "due", "subject", "take p50", "÷ array", "requeue p50", "÷ array ")
    notes = ("wall clock; p50: of the execution with the median worst call.", *interval_notes(takes.values()))
    return Table("Durable queues: take, then put everything back", header, tuple(rows), notes, LEFT)


def _enqueue(good: Sequence[Row]) -> Table:
    rows = []
    for workload, case in (("durable-enqueue", "one by one"), ("durable-enqueue-many", "at once")):
        groups = _groups(good, workload, "enqueue")
        for key, found in groups.items():
            middle = median(row["p50_ns"] for row in found)
            messages = dict(parse_parameters(key[1]))["messages"]
            p99 = percentile_cell(found, median_worst(found), P99) if workload == "durable-enqueue" else NO_FIGURE
            rate = format_count(round(1e9 / middle)) if middle else NO_FIGURE
            rows.append((f"{format_count(int(messages))} {case}", key[2], format_ns(middle), p99, rate))
    header = ("case", "subject", "a message, p50", "p99", "a second")
    note = "wall clock, in order from empty; at once: one call, one transaction, its time divided by the messages."
    return Table("Durable queues: putting in", header, tuple(rows), (note,), LEFT)


def _life(good: Sequence[Row]) -> Table:
    groups = _groups(good, "durable-life", "life")
    rows = [
        (f"{format_count(int(dict(parse_parameters(key[1]))['messages']))} messages", key[2], format_ns(middle))
        + (_against(groups, key),)
        for key, found in groups.items()
        for middle in (median(row["p50_ns"] for row in found),)
    ]
    note = "wall clock: enqueue one by one, take, process, a tenth put back, until all are dispatched."
    header = ("case", "subject", "a message, p50", "÷ array")
    return Table("Durable queues: the life of a message", header, tuple(rows), (note,), LEFT)


def _settings(good: Sequence[Row]) -> Table:
    """Return what decides the figures above: one line a subject, and as many as there are different settings."""
    said = {(row["subject"], ", ".join(f"{name} {text}" for name, text in facts_of(row).items())): None for row in good}
    rows = tuple((subject, text) for subject, text in said if text)
    header = ("subject", "kept where, and how")
    return Table("Durable queues: engine and settings", header, rows, (), LEFT)
