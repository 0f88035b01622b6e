"""What a worker has measured, operation by operation: its samples read, and the columns that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.case import Case
from lab.record import require_columns
from lab.sample import operation_columns
from runners.disturbed import Measured
from runners.remains import reading, samples
from runners.rows import counter_columns, figure_columns, impossible, memory_columns
from runners.spawn import Outcome


def operations(case: Case, outcome: Outcome, folder: Path, facts: Mapping[str, str]) -> Measured:
    """Return the outcome of a worker that ended well, the columns of each operation, and the raw calls.

    `facts` are those that the parent knows; the worker's own come beside them. Unreadable when it left anything else
    than a worker does.
    """
    with reading():
        outcome.result["facts"] = {**facts, **outcome.result.get("facts", {})}
        measured = _operations(case, outcome, folder)
        for columns in measured[1]:
            require_columns(columns)
        return measured


def _operations(case: Case, outcome: Outcome, folder: Path) -> Measured:
    result = outcome.result
    bare = samples(folder, result["bare"]["samples"]) if result.get("bare") else None
    shared = {**counter_columns(result), **memory_columns(result), **figure_columns(result)}
    rows: list[dict[str, Any]] = []
    calls: dict[str, Any] = {}
    for operation in result.get("operations", []):
        name = operation["operation"]
        found = calls[name] = samples(folder, operation["samples"])
        columns = operation_columns(
            found,
            warmup=operation.get("warmup", 0),
            calls_per_sample=operation.get("calls_per_sample", 1),
            null_before=_optional(folder, operation.get("null_before")),
            null_after=_optional(folder, operation.get("null_after")),
            bare=bare,
            same_work=operation.get("same_work", False),
        )
        if case.subject != "null" and impossible(columns):
            message = f"{name} took less than the null call ({columns['p50_ns']:.0f} ns): it cannot have done its work"
            return Outcome("check-failed", message, result, outcome.duration_ns), [], {}
        rows.append({"operation": name, **columns, **shared})
    if not rows:
        rows.append({"operation": case.workload, **shared})
    return outcome, rows, calls


def _optional(folder: Path, name: str | None) -> NDArray[np.int64] | None:
    return samples(folder, name) if name else None
