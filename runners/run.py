"""Carries out a run: plans the executions of a suite, does them one after the other and records each as it ends.

The order is seeded random blocks: block p holds the p-th process of every case, shuffled, so that a machine that
drifts touches all subjects alike. What ended is on disk before the next one starts; a run that was stopped goes on
with what is left.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lab.archive import Run
from lab.case import Case, Execution, execution_of, parse_key
from lab.record import case_of
from lab.sample import operation_columns
from queues.registry import target
from runners.complexity import complexity
from runners.cost import read_cost
from runners.spawn import Limits, Outcome, prime, run_cost, run_worker

STATUS = {"error": "failed", "crashed": "failed"}
"""How the status of a process is recorded, where the names differ."""

HOPELESS = frozenset({"timeout", "memory-limit", "not-offered"})
"""Ends that the next process of the same case would only repeat."""

NULL_SHARE = 0.8
"""A call below this share of the null call's p50 cannot have done its work (drift of the clock is far smaller)."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the caller is told around each execution: which one, how many in all, and its end once it has one."""

    number: int
    total: int
    execution: Execution
    status: str = ""
    message: str = ""
    duration_ns: int = 0


@dataclass(slots=True)
class Settings:
    """What holds for every execution of a run."""

    limits: Limits
    python: str = sys.executable
    cost_options: tuple[str, ...] = ("-p", "1", "-n", "3", "-w", "1", "--min-time", "0.01")
    path: tuple[str, ...] = ()
    report: Callable[[Step], None] = lambda step: None
    loops: dict[str, int] = field(default_factory=dict)
    hopeless: dict[str, tuple[str, str]] = field(default_factory=dict)


def plan(cases: Sequence[Case], processes: int, seed: int) -> list[Execution]:
    """Return all executions in the order in which they are done: blocks of one process per case, each shuffled.

    Complexity is read off the source and has one execution.

    >>> [execution.process for execution in plan([Case.of("latency", "timer", "null", "null-loop", calls=9)], 2, 1)]
    [0, 1]
    """
    order = random.Random(seed)
    planned: list[Execution] = []
    for process in range(processes):
        block = [case for case in cases if process == 0 or case.kind != "complexity"]
        order.shuffle(block)
        planned += [execution_of(case, process, seed) for case in block]
    return planned


def planned_executions(run: Run) -> list[Execution]:
    """Return what the run still has to do, as executions, in order."""
    found = []
    for key, process in run.left():
        case = replace(parse_key(key), target=run.targets.get(key, ""))
        found.append(execution_of(case, process, run.seed))
    return found


def carry_out(run: Run, settings: Settings) -> None:
    """Do everything that the run has left, recording each execution as it ends.

    KeyboardInterrupt passes on with all that ended recorded; the execution under way is not.
    """
    total = len(run.planned)
    prime(settings.python)
    _remember(run, settings)
    left = planned_executions(run)
    for number, execution in enumerate(left, start=total - len(left) + 1):
        settings.report(Step(number, total, execution))
        outcome = _execute(run, execution, settings, position=number - 1)
        settings.report(
            Step(number, total, execution, outcome.status, outcome.message, outcome.duration_ns),
        )


def _remember(run: Run, settings: Settings) -> None:
    """Take over from what is recorded the loop counts of pyperf, and the cases that a process more cannot help."""
    for row in run.rows().to_pylist():
        key = case_of(row).key
        if row["loops"]:
            settings.loops[key] = row["loops"]
        if row["status"] in HOPELESS:
            settings.hopeless[key] = (row["status"], row["message"])


def _execute(run: Run, execution: Execution, settings: Settings, position: int) -> Outcome:
    started = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="lab-") as name:
        folder = Path(name)
        outcome, operations, calls = _measure(execution, folder, settings)
    common = {
        "position": position,
        "started_utc": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "duration_ns": outcome.duration_ns,
        "python": outcome.result.get("python"),
        "status": STATUS.get(outcome.status, outcome.status),
        "message": _sentence(outcome),
    }
    rows = [{**common, **columns} for columns in operations] or [{**common, "operation": ""}]
    run.record(execution, rows, calls)
    if outcome.status in HOPELESS:
        settings.hopeless[execution.key] = (outcome.status, outcome.message)
    return outcome


def _sentence(outcome: Outcome) -> str:
    if outcome.ok or outcome.status in HOPELESS:
        return outcome.message
    return f"{outcome.message}\n{outcome.stderr}".strip()


Measured = tuple[Outcome, list[dict[str, Any]], dict[str, Any]]


def _measure(execution: Execution, folder: Path, settings: Settings) -> Measured:
    """Run one execution and return its outcome, one dict of columns per operation, and the raw calls."""
    known = settings.hopeless.get(execution.key)
    if known is not None:
        status, message = known
        return Outcome(status, f"not tried again: {message.removeprefix('not tried again: ')}"), [], {}
    if execution.case.kind == "complexity":
        return _complexity(execution.case)
    spec = spec_of(execution, settings.path)
    if execution.case.kind == "cost":
        return _cost(execution, spec, folder, settings)
    outcome = run_worker(
        spec,
        folder,
        python=settings.python,
        limits=settings.limits,
        hash_seed=execution.hash_seed,
        padding=execution.padding,
    )
    if not outcome.ok:
        return outcome, [], {}
    return _operations(execution.case, outcome, folder)


def spec_of(execution: Execution, path: Iterable[str] = ()) -> dict[str, Any]:
    """Return the plain data that a worker is started with."""
    case = execution.case
    return {
        "kind": case.kind,
        "family": case.family,
        "subject": case.subject,
        "target": target_of(case),
        "path": list(path),
        "workload": case.workload,
        "params": case.parameters,
        "seed": execution.seed,
        "clock": case.clock,
        "gc": case.gc,
    }


def target_of(case: Case) -> str:
    """Return the "module:Class" of the case's subject; empty for the null subject, which a worker has itself."""
    return case.target or ("" if case.subject == "null" else target(case.family, case.subject))


def _operations(case: Case, outcome: Outcome, folder: Path) -> Measured:
    result = outcome.result
    bare = _samples(folder, result["bare"]["samples"]) if result.get("bare") else None
    shared = {**_counters(result), **_memory(result), "merged": result.get("merged"), "walked": result.get("walked")}
    rows: list[dict[str, Any]] = []
    calls: dict[str, Any] = {}
    for operation in result.get("operations", []):
        name = operation["operation"]
        samples = calls[name] = _samples(folder, operation["samples"])
        columns = operation_columns(
            samples,
            warmup=operation.get("warmup", 0),
            calls_per_sample=operation.get("calls_per_sample", 1),
            null_before=_optional(folder, operation.get("null_before")),
            null_after=_optional(folder, operation.get("null_after")),
            bare=bare,
        )
        if case.subject != "null" and _impossible(columns):
            message = f"{name} took less than the null call ({columns['p50_ns']:.0f} ns): it cannot have done its work"
            return Outcome("check-failed", message, result, outcome.duration_ns), [], {}
        rows.append({"operation": name, **columns, **shared})
    if not rows:
        rows.append({"operation": case.workload, **shared})
    return outcome, rows, calls


def _impossible(columns: dict[str, Any]) -> bool:
    null_p50_ns = columns.get("null_p50_ns")
    return null_p50_ns is not None and columns["p50_ns"] < NULL_SHARE * null_p50_ns


def _samples(folder: Path, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.fromfile(folder / name, dtype=np.int64)


def _optional(folder: Path, name: str | None) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    return _samples(folder, name) if name else None


def _counters(result: dict[str, Any]) -> dict[str, Any]:
    counters = dict(result.get("counters") or {})
    collections = counters.pop("collections", None) or (None, None, None)
    return {**counters, **{f"collections_{generation}": count for generation, count in enumerate(collections)}}


def _memory(result: dict[str, Any]) -> dict[str, Any]:
    memory = dict(result.get("memory") or {})
    points = memory.pop("points", None)
    if points:
        memory["points_messages"] = [messages for messages, _ in points]
        memory["points_rss_bytes"] = [rss_bytes for _, rss_bytes in points]
    return memory


ONE_FILL = 5_000
"""A queue filled with so many messages is an average of its own: it is filled once a process, without calibration."""


def _cost(execution: Execution, spec: dict[str, Any], folder: Path, settings: Settings) -> Measured:
    """One pyperf measurement; the loop count that the first process calibrated serves the later ones."""
    options = settings.cost_options
    loops = settings.loops.get(execution.key)
    if int(execution.case.parameters.get("messages", 0)) >= ONE_FILL:
        options = ("-p", "1", "-n", "1", "-w", "0", "-l", "1")
    elif loops:
        options += ("-l", str(loops))
    outcome = run_cost(
        spec,
        folder,
        python=settings.python,
        limits=settings.limits,
        hash_seed=execution.hash_seed,
        padding=execution.padding,
        options=options,
    )
    if not outcome.ok:
        return outcome, [], {}
    cost = read_cost(folder / "cost.json")
    settings.loops[execution.key] = cost["loops"]
    values_ns = sorted(cost["values_ns"])
    row = {
        "operation": execution.case.workload,
        "loops": cost["loops"],
        "n": len(values_ns),
        "mean_ns": cost["mean_ns"],
        "min_ns": values_ns[0],
        "max_ns": values_ns[-1],
        "p50_ns": float(np.median(values_ns)),
    }
    return Outcome("ok", "", {"python": cost.get("python")}, outcome.duration_ns), [row], {}


def _complexity(case: Case) -> Measured:
    try:
        found = complexity(target_of(case))
    except (ImportError, LookupError, OSError, SyntaxError, TypeError) as error:
        return Outcome("error", f"no source to read for {case.subject}: {error}"), [], {}
    rows = [
        {
            "operation": method["method"],
            "statements": method["statements"],
            "branches": method["branches"],
            "index_operations": method["index_operations"],
        }
        for method in found
    ]
    return Outcome("ok"), rows, {}
