"""Recorded runs for the tests of verdicts, made by code: every figure is given, nothing is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import archive
from lab.case import Case, execution_of
from lab.pairing import Side
from lab.record import schema

Row = dict[str, Any]
Figures = Mapping[tuple[Case, str], Sequence[float]]

SEED = 5
MACHINE: dict[str, Any] = {
    "label": None,
    "processor": "made up",
    "architecture": "x86_64",
    "cores": 2,
    "memory_bytes": 8 << 30,
    "kernel": "6.1",
    "python": "3.11.7",
    "implementation": "cpython",
    "commit": "a" * 40,
    "dirty": False,
    "packages": {"pyperf": "2.9.0", "numpy": "2.0.0"},
    "load_average": [0.1, 0.1, 0.1],
    "started_utc": "2026-11-30T19:45:00Z",
}

NULL = Case.of("latency", "timer", "null", "null-loop", calls=50_000)
LIFE = Case.of("batched", "timer", "array", "life-constant-delay", messages=2_000)
COST = Case.of("cost", "timer", "linked", "cycle", due=10, queued=200)
RESIDENT = Case.of("memory", "timer", "linked", "resident", messages=50_000)


def cycle(subject: str, *, calls: int = 400, **arm: str) -> Case:
    return Case.of("latency", "timer", subject, "cycle", calls=calls, due=10, queued=200, **arm)


def spread(middle: float, share: float = 0.005, processes: int = 5) -> list[float]:
    """Values about `middle`, evenly apart, the outer ones `share` away from it; the same at every call."""
    steps = [2 * place / (processes - 1) - 1 for place in range(processes)]
    return [middle * (1 + share * steps[(place * 3) % processes]) for place in range(processes)]


QUIET: Figures = {
    (NULL, "null"): spread(600),
    (cycle("array"), "take"): spread(2_000),
    (cycle("array"), "requeue"): spread(1_500),
    (cycle("linked"), "take"): spread(4_000),
    (cycle("linked"), "requeue"): spread(3_000),
    (LIFE, "life"): spread(900),
    (COST, "cycle"): spread(7_000),
    (RESIDENT, "resident"): spread(209),
}

TWIN: Figures = {
    (cycle("array-twin"), "take"): spread(2_020),
    (cycle("array-twin"), "requeue"): spread(1_500),
}
"""The second half of an A/A pair: 1 % apart at take, not at all at requeue."""


def scaled(figures: Figures, factor: float, *subjects: str) -> dict[tuple[Case, str], list[float]]:
    """The same figures, those of the subjects times `factor`."""
    return {
        (case, operation): [value * (factor if case.subject in subjects else 1) for value in values]
        for (case, operation), values in figures.items()
    }


def columns_of(case: Case, value: float, n: int = 384) -> Row:
    """The columns of one process whose figure is `value`: ns, or bytes a message for memory, or a count."""
    if case.kind == "memory":
        return {"points_messages": [0, 10_000], "points_rss_bytes": [0, round(value * 10_000)], "container_bytes": 864}
    if case.kind == "counts":
        return {"n": n, "bytecodes": round(value * n)}
    shape = {"n": n, "warmup": 16, "calls_per_sample": 1} if case.kind != "cost" else {"n": 5}
    ends = {
        "min_ns": value * 0.9,
        "p90_ns": value * 1.2,
        "p99_ns": value * 2,
        "p999_ns": value * 3,
        "max_ns": value * 9,
    }
    return {
        **shape,
        "p50_ns": float(value),
        "mean_ns": value * 1.05,
        **ends,
        "timer_bound": case.kind == "latency" and value < 1_800,
    }


def rows_of(figures: Figures, **columns: Any) -> list[Row]:
    """Full rows of executions.parquet; `columns` stand in every one of them."""
    blank = dict.fromkeys(schema().names)
    rows = []
    for (case, operation), values in figures.items():
        for process, value in enumerate(values):
            known = {name: getattr(case, name) for name in ("kind", "family", "subject", "workload", "clock", "gc")}
            seed = execution_of(case, process, SEED).seed
            own = {"params": case.params_text, "target": case.target, "process": process, "operation": operation}
            own["duration_ns"] = 100_000_000
            made = {**blank, **known, **own, "seed": seed, "python": "3.11.7", "status": "ok", "message": ""}
            rows.append({**made, **columns_of(case, value), **columns})
    return rows


def side(name: str, figures: Figures, environment: Mapping[str, Any] = MACHINE, **columns: Any) -> Side:
    return Side(name, environment, rows_of(figures, **columns))


def failed(
    case: Case, status: str = "timeout", message: str = "it took more than 10 s", processes: int = 5
) -> list[Row]:
    """Rows of a case that was tried and has no figure."""
    made = rows_of({(case, ""): [1.0] * processes})
    keep = ("kind", "family", "subject", "workload", "params", "clock", "gc", "target", "process", "operation", "seed")
    blank = dict.fromkeys(schema().names)
    return [{**blank, **{name: row[name] for name in keep}, "status": status, "message": message} for row in made]


def stored(root: Path, figures: Figures, *, environment: Mapping[str, Any] = MACHINE, **columns: Any) -> Path:
    """The same as a run in a folder, complete."""
    most = max(len(values) for values in figures.values())
    operations: dict[Case, dict[str, Sequence[float]]] = {}
    for (case, operation), values in figures.items():
        operations.setdefault(case, {})[operation] = values
    planned = [
        execution_of(case, process, SEED)
        for process in range(most)
        for case, found in operations.items()
        if process < min(map(len, found.values()))
    ]
    options = {"gc": "on"}
    made = archive.create(
        root, "a-machine", "quick", seed=SEED, options=options, environment=environment, planned=planned
    )
    with made as run:
        for position, execution in enumerate(planned):
            found = operations[execution.case]
            run.record(
                execution,
                [
                    {
                        "operation": operation,
                        "status": "ok",
                        "position": position,
                        "python": "3.11.7",
                        **columns_of(execution.case, values[execution.process]),
                        **columns,
                    }
                    for operation, values in found.items()
                ],
            )
        run.finish()
    return run.path
