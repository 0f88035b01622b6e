"""Small runs for the tests of the archive: made up, seeded, without a timed call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab import archive
from lab.archive import Run
from lab.case import Case, Execution, execution_of
from lab.sample import operation_columns

SEED = 5
ARRAY = Case.of("latency", "timer", "array", "cycle", due=10, queued=200)
HEAP = Case.of("latency", "timer", "heap", "cycle", due=10, queued=200)
OWN = Case.of("memory", "timer", "own.queue", "resident", messages=50, target="own:Queue")
ENVIRONMENT: dict[str, Any] = {"label": None, "processor": "made up", "python": "3.11.7", "commit": None}
OPERATIONS = ("take", "requeue")


def plan(processes: int = 3) -> list[Execution]:
    return [execution_of(case, process, SEED) for process in range(processes) for case in (ARRAY, HEAP, OWN)]


def calls_of(execution: Execution, operation: str, n: int = 40) -> NDArray[np.int64]:
    seed = [execution.process, len(execution.case.subject), len(operation)]
    return np.random.default_rng(seed).integers(600, 9_000, n)


def measure(run: Run, execution: Execution, position: int) -> None:
    """Record an execution: calls for two operations, or a failed one without figures for the memory case."""
    if execution.case.kind == "memory":
        run.record(execution, [{"operation": "", "status": "failed", "message": "it fell", "position": position}])
        return
    calls = {operation: calls_of(execution, operation) for operation in OPERATIONS}
    rows = [
        {"operation": operation, "status": "ok", "position": position, **operation_columns(samples)}
        for operation, samples in calls.items()
    ]
    run.record(execution, rows, calls)


def start(root: Path, *, planned: list[Execution] | None = None, **changes: Any) -> Run:
    given: dict[str, Any] = {"seed": SEED, "options": {"gc": "on"}, "environment": ENVIRONMENT}
    return archive.create(root, "a-machine", "quick", **{**given, "planned": planned or plan(), **changes})


def measured(root: Path, count: int | None = None, finish: bool = True) -> Path:
    """Make a run with the first `count` executions recorded and finish it."""
    with start(root) as run:
        for position, execution in enumerate(plan()[:count]):
            measure(run, execution, position)
        if finish:
            run.finish()
    return run.path
