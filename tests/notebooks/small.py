"""Small runs for the tests, made by code: one that has a bit of everything, and ones with much that is missing."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab import archive
from lab.case import Case, Execution, execution_of
from lab.manifest import COMPLETE
from lab.record import CASES, case_of, execution_columns, table_of
from lab.recorded import GROUP
from lab.sample import operation_columns
from lab.storage import write_table
from lab.worst import NOT_LOOKED_FOR, slowest
from tests.lab.replays import MACHINE, SEED

SUBJECTS = ("linked", "linked-known-tail", "array", "chunked", "heap")
SPEED = {"linked": 2.0, "linked-known-tail": 1.7, "array": 1.0, "chunked": 0.8, "heap": 1.4, "array-twin": 1.01}
FEW = 3
"""Calls of the case that has too few for any percentile with an interval."""

NULL = Case.of("latency", "timer", "null", "null-loop", calls=1000)


def latencies(subject: str) -> list[Case]:
    def of(workload: str, **sizes: int) -> Case:
        return Case("latency", "timer", subject, workload, tuple(sizes.items()))

    cycles = [
        of("cycle", calls=200, due=due, queued=queued) for queued in (1_000, 20_000) for due in (10, 1_000, 10_000)
    ]
    return [
        *cycles,
        of("growth", messages=4_000),
        of("steady-enqueue", calls=4_000, queued=20_000),
        of("steady-dispatch", calls=400, queued=20_000),
        of("window-cycle", calls=FEW, due=100, queued=20_000),
        of("requeue-unused", calls=50, due=1_000, queued=20_000, unused=1_000),
        of("free", messages=4_000),
        of("free-in-batches", limit=1_000, messages=4_000),
        *(of("reattach", calls=200, part=part, queued=20_000) for part in (10, 1_000) if subject.startswith("linked")),
    ]


def others(subject: str) -> list[Case]:
    return [
        *(Case.of("cost", "timer", subject, "enqueue-in-order", messages=size) for size in (1_000, 20_000)),
        *(Case.of("cost", "timer", subject, "enqueue-out-of-order", messages=size) for size in (500, 20_000)),
        Case.of("cost", "timer", subject, "cycle", due=10, queued=20_000),
        *(
            Case.of("batched", "timer", subject, f"life-{pattern}", messages=2_000)
            for pattern in ("constant-delay", "all-ties", "random-delay")
        ),
        Case.of("batched", "timer", subject, "process", messages=10_000),
        Case.of("memory", "timer", subject, "resident", messages=50_000),
        Case.of("memory", "timer", subject, "drained", left=10, messages=50_000),
    ]


def cases(subjects: tuple[str, ...] = SUBJECTS) -> list[Case]:
    return [NULL, *(case for subject in subjects for case in (*latencies(subject), *others(subject)))]


OPERATIONS = {
    "null-loop": ("null",),
    "cycle": ("take", "requeue"),
    "window-cycle": ("take", "requeue"),
    "requeue-unused": ("requeue",),
    "reattach": ("detach", "reattach"),
    "growth": ("enqueue",),
    "steady-enqueue": ("enqueue",),
    "steady-dispatch": ("take+process",),
    "free-in-batches": ("free",),
}


def operations(case: Case) -> tuple[str, ...]:
    if case.workload.startswith("life-"):
        return ("life",)
    return OPERATIONS.get(case.workload, (case.workload,)) if case.kind == "latency" else (case.workload,)


def typical_ns(case: Case, operation: str) -> float:
    """What a call usually takes: it grows with what the operation works on, as the subjects' documents say."""
    sizes = case.parameters
    cost = 1_500.0
    if operation in ("take", "requeue", "reattach", "detach") and case.subject not in ("chunked", "linked-known-tail"):
        cost += 8.0 * float(sizes.get("due", sizes.get("part", 0)) or 0)
    if case.workload == "enqueue-out-of-order":
        cost += 0.4 * float(sizes["messages"])
    return 600.0 if case.subject == "null" else cost * SPEED.get(case.subject, 1.2)


def samples(execution: Execution, operation: str) -> NDArray[np.int64]:
    """Calls around what is typical, the same for every process but for a little, one of them slow in all of them."""
    case = execution.case
    n = int(case.parameters.get("calls", case.parameters.get("messages", 400)))
    n = 30 if case.workload in ("free", "free-in-batches") else n
    seed = zlib.crc32(f"{execution.id}{operation}".encode())
    drawn = np.random.default_rng(seed).exponential(0.08, n)
    calls = (typical_ns(case, operation) * (1 + 0.01 * (execution.process % 3) + drawn)).astype(np.int64)
    calls[n * 2 // 3] *= 30
    return calls


def row_of(execution: Execution, operation: str, position: int) -> dict[str, Any]:
    case = execution.case
    row: dict[str, Any] = {"operation": operation, "status": "ok", "position": position, "python": "3.11.7"}
    row |= {"attempt": 0, "set_aside": "", "disturbed": ""}
    value = typical_ns(case, operation) * (1 + 0.01 * (execution.process % 3))
    if case.kind == "latency":
        null = np.full(50, 600 + execution.process, dtype=np.int64)
        return row | operation_columns(
            samples(execution, operation), null_before=null, null_after=null, bare=np.array([500, 510, 520])
        )
    if case.kind == "memory":
        held = 170 if case.subject in ("array", "chunked") else 210
        points = [0, 10_000, 30_000, 50_000]
        return row | {
            "points_messages": points,
            "points_rss_bytes": [9_000_000 + held * at for at in points],
            "container_bytes": 864 if case.workload == "drained" else 8 * 50_000,
            "rss_before_bytes": 9_000_000,
            "rss_after_bytes": 9_000_000 + held * 50_000,
        }
    ends = {"min_ns": value * 0.9, "p50_ns": value, "mean_ns": value * 1.02, "max_ns": value * 1.4}
    return row | {"n": 20, "warmup": 0, "calls_per_sample": 100, **ends}


def make(
    root: Path,
    machine: str = "small",
    *,
    subjects: tuple[str, ...] = SUBJECTS,
    processes: int = 5,
    broken: bool = False,
) -> Path:
    """Make a complete run and return its folder; with `broken` some executions failed, timed out or are not offered.

    Its tables are written as a run writes them in the end, not execution by execution, which would take seconds.
    """
    planned = plan(subjects, processes)
    rows = [row for position, one in enumerate(planned) for row in rows_of(one, position, broken=broken)]
    made = archive.create(root, machine, "small", seed=SEED, options={"gc": "on"}, environment=MACHINE, planned=planned)
    with made as run:
        table = table_of(rows)
        write_table(run.path / "executions.parquet", table)
        write_table(run.path / "cases.parquet", table_of(worst_of(rows, planned), CASES))
        run._seal(COMPLETE)
    return run.path


def make_unfinished(root: Path) -> Path:
    """Make a run that stopped after two thirds of its plan, with its raw calls, and return its folder."""
    planned = plan(("chunked",), 1)
    made = archive.create(root, "small", "small", seed=SEED, options={}, environment=MACHINE, planned=planned)
    with made as run:
        for position, one in enumerate(planned[: len(planned) * 2 // 3]):
            names = operations(one.case)
            raw = {name: samples(one, name) for name in names} if one.case.kind == "latency" else None
            run.record(one, [row_of(one, name, position) for name in names], raw)
        run.finish()
    return run.path


def plan(subjects: tuple[str, ...], processes: int) -> list[Execution]:
    return [execution_of(case, process, SEED) for process in range(processes) for case in cases(subjects)]


def rows_of(execution: Execution, position: int, *, broken: bool) -> list[dict[str, Any]]:
    """The rows of one execution with all that follows from it."""
    own = {**execution_columns(execution), "message": ""}
    if broken and (why := _fate(execution)):
        return [{**own, "operation": "", "status": why, "message": "as planned", "position": position}]
    return [{**row_of(execution, name, position), **own} for name in operations(execution.case)]


def worst_of(rows: list[dict[str, Any]], planned: list[Execution]) -> list[dict[str, Any]]:
    """The rows of cases.parquet: the slowest calls of every case and operation, their causes not looked for."""
    executions = {(one.key, one.process): one for one in planned}
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == "ok":
            groups.setdefault(tuple(row[name] for name in GROUP), []).append(row)
    found = []
    for group, members in groups.items():
        named = {**dict(zip(GROUP, group, strict=True)), "processes": len(members), "n": members[0].get("n")}
        if named["kind"] == "latency":
            key = case_of(members[0]).key
            calls = [samples(executions[key, row["process"]], str(named["operation"])) for row in members]
            slow = slowest([calls])
            assert slow is not None
            named |= {
                "structural_worst_ns": slow.structural_ns,
                "structural_worst_index": slow.structural_index,
                "worst_index": slow.index,
                "worst_ns": slow.least_ns,
                "worst_process_ns": [ns for of_call in slow.process_ns for ns in of_call],
                "worst_cause": [NOT_LOOKED_FOR] * len(slow.index),
            }
        found.append(named)
    return found


def _fate(execution: Execution) -> str:
    """How an execution of the broken run ends, "" for well: by case, so that some cases have no figure at all."""
    case = execution.case
    if case.subject == "heap":
        return "not-offered"
    if case.workload in ("growth", "process") and case.subject == "linked":
        return "timeout"
    return "failed" if case.workload.startswith("life-") and execution.process > 0 else ""
