"""The pieces of the notebook about latency: how slow the slowest calls are, where they are, and what made them slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.case import parse_parameters
from lab.figure_calls import calls_over_index, slowest
from lab.figure_tail import tails
from lab.notebook import REFERENCE, Reading, nothing
from lab.notebook_html import Piece
from lab.record import case_of
from lab.sample import median_worst
from lab.slowest import slowest_tables
from lab.units import format_count, format_ns

Row = dict[str, Any]
Place = tuple[str, str]
"""Parameters and operation of a case."""


def curves(reading: Reading, workload: str) -> list[Piece]:
    """Return the percentile curves of a workload, a picture for each size and operation, and what they show."""
    pieces: list[Piece] = []
    for (params, operation), rows in _places(reading.good, workload).items():
        title = f"{operation} of {workload}, {sizes(params)}"
        pieces += [*tails(title, rows), _tail_sentence(rows)]
    pictures = [piece for piece in pieces if not isinstance(piece, str)]
    sentences = [piece for piece in pieces if isinstance(piece, str) and piece]
    return [*pictures, *sentences] or [nothing(f"the workload {workload}")]


def _places(rows: Sequence[Row], workload: str) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = {}
    for row in rows:
        if row["kind"] == "latency" and row["workload"] == workload and row["subject"] != "null":
            found.setdefault((row["params"], row["operation"]), []).append(row)
    return dict(sorted(found.items(), key=lambda item: (list(_numbers(item[0][0]).values()), item[0][1])))


def _numbers(params: str) -> dict[str, int]:
    return {name: value for name, value in parse_parameters(params) if isinstance(value, int) and name != "calls"}


def sizes(params: str) -> str:
    """Return the parameters of a case in words, without the number of calls.

    >>> sizes("calls=40,due=10000,queued=200000")
    '10,000 due, 200,000 queued'
    """
    return ", ".join(f"{format_count(value)} {name}" for name, value in _numbers(params).items())


def _tail_sentence(rows: Sequence[Row]) -> str:
    """Return whose p99.9 is lowest and whose highest, where there are samples enough for one."""
    shown = {subject: median_worst([row for row in rows if row["subject"] == subject]) for subject in _subjects(rows)}
    known = {subject: row["p999_ns"] for subject, row in shown.items() if (row["n"] or 0) >= 3_688 and row["p999_ns"]}
    if len(known) < 2:
        return ""
    first, last = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    operation, workload = rows[0]["operation"], rows[0]["workload"]
    return (
        f"**One {operation} of {workload} in 1,000 takes longer than {format_ns(known[first])} on `{first}`, "
        f"than {format_ns(known[last])} on `{last}`.**"
    )


def _subjects(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["subject"] for row in rows))


def over_index(reading: Reading, workload: str) -> list[Piece]:
    """Return call time over call index of a workload, a picture for each subject, and the worst call of all."""
    pieces: list[Piece] = []
    worst: list[tuple[int, str, int, str]] = []
    shared = reading.run.path.parent.name == REFERENCE  # its raw calls are on one machine, and in no repository
    for (params, operation), rows in _places(reading.good, workload).items():
        cases = [row for row in reading.cases if _is(row, workload, params, operation)]
        calls = {} if shared else {case["subject"]: reading.run.calls(case_of(case), operation) for case in cases}
        pieces += calls_over_index(f"{operation} of {workload}, {sizes(params)}", cases, rows, calls)
        for case in cases:
            if case["structural_worst_ns"] is not None:
                call, ns, cause = slowest(case)[0]
                worst.append((ns, case["subject"], call, cause))
    if not worst:
        return [nothing(f"structural worst calls of {workload}")]
    (low, least, at, _), (high, most, call, cause) = min(worst), max(worst)
    why = f", {cause}" if cause else ""
    said = f"**The slowest call that the structure itself makes takes {format_ns(high)} on `{most}` (call "
    said += f"{format_count(call)}{why}) and {format_ns(low)} on `{least}` (call {format_count(at)}).**"
    return [*pieces, said]


def _is(row: Row, workload: str, params: str, operation: str) -> bool:
    kind = (row["kind"], row["workload"], row["params"], row["operation"])
    return kind == ("latency", workload, params, operation) and row["subject"] != "null"


def slow_calls(reading: Reading, workload: str, *subjects: str) -> list[Piece]:
    """Return the table of the slowest calls of a workload for each of `subjects` (all when none is named)."""
    cases = [
        row
        for row in reading.cases
        if row["workload"] == workload and row["kind"] == "latency" and (not subjects or row["subject"] in subjects)
    ]
    found: list[Piece] = list(slowest_tables(cases, reading.good))
    return found or [nothing(f"the slowest calls of {workload} (they are kept since schema version 2)")]
