"""The slowest calls of a case as a table: what each took in every process, who made it slow, what happened in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.record import case_of
from lab.table import Table
from lab.units import format_count, format_ns
from lab.worst import made_by

Row = Mapping[str, Any]


def chosen(cases: Iterable[Row], wanted: str) -> list[Row]:
    """Return the rows of `cases` whose key and operation have every word of `wanted` in them.

    >>> case = dict(kind="latency", family="timer", subject="array", workload="growth", params="messages=5",
    ...             clock="cpu", gc="on", target="", operation="enqueue")
    >>> [len(chosen([case], wanted)) for wanted in ("array growth", "timer/array/growth/messages=5", "heap", "enqueue")]
    [1, 1, 0, 1]
    """
    return [
        case for case in cases if all(word in f"{case_of(case).key} {case['operation']}" for word in wanted.split())
    ]


def slowest_tables(cases: Sequence[Row], rows: Iterable[Row]) -> list[Table]:
    """Return a table for each of `cases` (rows of cases.parquet) that has slowest calls; `rows` are the executions'.

    First come the calls that took the most in every process, then those that took the most in any one of them.
    O(rows + calls shown).
    """
    members: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            members.setdefault((case_of(row).key, row["operation"]), []).append(row)
    shown = (case for case in cases if case["worst_index"])
    return [_table(case, members[case_of(case).key, case["operation"]]) for case in shown]


def _table(case: Row, rows: Sequence[Row]) -> Table:
    processes = sorted(row["process"] for row in rows)
    typical = median(row["p50_ns"] for row in rows)
    width = len(processes)
    lines = []
    for place, (call, least) in enumerate(zip(case["worst_index"], case["worst_ns"], strict=True)):
        process_ns = case["worst_process_ns"][place * width : (place + 1) * width]
        cause = (case["worst_cause"] or [""] * (place + 1))[place]
        lines.append(
            (format_count(call), format_ns(least), *map(format_ns, process_ns), made_by(process_ns, typical), cause)
        )
    header = ("call", "at least", *(f"process {process}" for process in processes), "slow by", "what happened in it")
    notes = (
        f"A call of this case takes {format_ns(typical)} (p50). Those that took the most in every process come first.",
        "structural: slow in every process; machine: slow in some only; both: the machine on top of the structure.",
        "gc2: a collection of generation 2 ran. An empty cell: nothing that is looked for happened.",
    )
    title = f"The slowest calls: {case_of(case).key}, {case['operation']}"
    return Table(title, header, tuple(lines), notes, frozenset({"slow by", "what happened in it"}))
