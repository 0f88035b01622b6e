"""Carries out a run: plans the executions of a suite, does them one after the other and records each as it ends.

The order is seeded random blocks: block p holds the p-th process of every case, shuffled, so that a machine that
drifts touches all subjects alike. What ended is on disk before the next one starts; a run that was stopped goes on
with what is left.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from lab.archive import Run
from lab.case import Case, Execution, execution_of, parse_key
from lab.record import case_of
from queues.registry import target
from runners import allocations, exact, mean
from runners.complexity import complexity
from runners.disturbed import Budget, Measured, disturbed, undisturbed
from runners.explain import Explainer
from runners.folders import working_folder
from runners.operations import operations
from runners.remains import Unreadable, in_words
from runners.rows import complexity_columns
from runners.spawn import Limits, Outcome, prime, run_worker
from runners.workload import NotOffered

STATUS = {"error": "failed", "crashed": "failed"}
"""How the status of a process is recorded, where the names differ."""

HOPELESS = frozenset({"timeout", "memory-limit", "not-offered", "check-failed"})
"""Ends that the next process of the same case would only repeat, or whose figures would be worth nothing."""

FRONT = 1_000
"""So many messages a check looks at, and at the length, once a process of the same case has found all in order."""

UNTIMED_FACTOR = 4
"""A process that explains makes the calls of a timed one twice, beside another one: it may take that much longer."""

ONCE = frozenset({"complexity", "counts"})
"""Kinds that a second execution would only repeat."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the caller is told around each execution: which one, how many in all, and its end once it has one."""

    number: int
    total: int
    execution: Execution
    status: str = ""
    message: str = ""
    duration_ns: int = 0
    interpreter: str = ""


@dataclass(slots=True)
class Settings:
    """What holds for every execution of a run."""

    limits: Limits
    python: str = sys.executable
    cost_options: tuple[str, ...] = ("-p", "1", "-n", "3", "-w", "1", "--min-time", "0.01")
    path: tuple[str, ...] = ()
    report: Callable[[Step], None] = lambda step: None
    tell: Callable[[str], None] = lambda sentence: None
    """Told in a sentence of what takes its time beside the executions."""
    loops: dict[str, int] = field(default_factory=dict)
    hopeless: dict[str, tuple[str, str]] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)
    """Keys of cases of which one process has read the whole queue after its last call, and found it right."""
    repeats: Budget = field(default_factory=Budget)
    memray: bool = False
    instructions: Callable[[Execution], bool] = lambda execution: True
    notes: list[str] = field(default_factory=list)
    environment: Callable[[Case], Mapping[str, str]] = lambda case: {}
    """What the worker of a case finds in its environment besides, such as its server's address; or NotOffered."""
    facts: Callable[[Case], Mapping[str, str]] = lambda case: {}
    """What is stored beside every figure of a case, such as its server's version and settings."""


def plan(cases: Sequence[Case], processes: int, seed: int) -> list[Execution]:
    """Return all executions in the order in which they are done: blocks of one process per case, each shuffled.

    Within a block, what only differs in the subject stands side by side, in random order: a machine whose speed changes
    from minute to minute then changes for all subjects of a comparison, and their ratio within a block holds.
    Complexity is read off the source and counts are exact (each is two processes already): they have one execution.

    >>> [execution.process for execution in plan([Case.of("latency", "timer", "null", "null-loop", calls=9)], 2, 1)]
    [0, 1]
    """
    order = random.Random(seed)
    planned: list[Execution] = []
    for process in range(processes):
        alike: dict[tuple[object, ...], list[Case]] = {}
        for case in cases:
            if process == 0 or case.kind not in ONCE:
                alike.setdefault((case.kind, case.family, case.workload, case.params, case.clock, case.gc), []).append(
                    case
                )
        groups = list(alike.values())
        order.shuffle(groups)
        for group in groups:
            order.shuffle(group)
            planned += [execution_of(case, process, seed) for case in group]
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
    for _ in carrying_out(run, settings):
        pass


def carrying_out(run: Run, settings: Settings) -> Generator[Execution, None, None]:
    """Do what `carry_out` does, one execution each time the next one is asked for; yield what has been recorded."""
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
        yield execution
    Explainer(run, partial(_start, settings, timed=False)).all(settings.tell)


def _remember(run: Run, settings: Settings) -> None:
    """Take over from what is recorded loop counts of pyperf, hopeless cases, and the time that repeats have taken."""
    rows = run.rows().to_pylist()
    settings.repeats.remember(rows)
    for row in rows:
        key = case_of(row).key
        if row["loops"]:
            settings.loops[key] = row["loops"]
        if row["status"] in HOPELESS:
            settings.hopeless[key] = (row["status"], row["message"])
        if row["status"] == "ok":
            settings.checked.add(key)


def _execute(run: Run, execution: Execution, settings: Settings, position: int) -> Outcome:
    started = datetime.now(UTC)
    measure = partial(_measure_in_a_folder, execution, settings)
    set_aside, (outcome, operations, calls) = undisturbed(execution.case.kind, measure, settings.repeats)
    common = {
        "attempt": len(set_aside),
        "set_aside": "; ".join(set_aside),
        "disturbed": disturbed(execution.case.kind, operations),
        "position": position,
        "started_utc": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "duration_ns": outcome.duration_ns,
        "python": outcome.result.get("python"),
        "status": STATUS.get(outcome.status, outcome.status),
        "message": _sentence(outcome),
    }
    if settings.memray and outcome.ok and execution.case.kind == "memory" and execution.process == 0:
        spec, keep = spec_of(execution, settings.path), partial(run.keep_flame, execution)
        columns, problems = allocations.measure(spec, keep, python=settings.python, limits=settings.limits)
        common |= columns
        settings.notes += problems
    rows = [{**common, **columns} for columns in operations] or [{**common, "operation": ""}]
    run.record(execution, rows, calls)
    if outcome.status in HOPELESS:
        settings.hopeless[execution.key] = (outcome.status, outcome.message)
    if outcome.ok:
        settings.checked.add(execution.key)
    return outcome


def _measure_in_a_folder(execution: Execution, settings: Settings) -> Measured:
    with working_folder() as folder:
        try:
            return _measure(execution, folder, settings)
        except Unreadable as error:
            return Outcome("error", str(error)), [], {}


def _sentence(outcome: Outcome) -> str:
    if outcome.ok or outcome.status in HOPELESS:
        return outcome.message
    return f"{outcome.message}\n{outcome.stderr}".strip()


def _measure(execution: Execution, folder: Path, settings: Settings) -> Measured:
    """Run one execution and return its outcome, one dict of columns per operation, and the raw calls."""
    known = settings.hopeless.get(execution.key)
    if known is not None:
        status, message = known
        return Outcome(status, f"not tried again: {message.removeprefix('not tried again: ')}"), [], {}
    if execution.case.kind == "complexity":
        return _complexity(execution.case)
    try:
        settings.environment(execution.case)
    except NotOffered as error:
        return Outcome("not-offered", str(error)), [], {}
    if execution.case.kind == "counts":
        return exact.measure(execution, _spec(execution, settings), folder, settings)
    if execution.case.kind == "cost":
        return mean.measure(execution, _spec(execution, settings), folder, settings)
    outcome = _start(settings, execution, folder, {})
    if not outcome.ok:
        return outcome, [], {}
    return operations(execution.case, outcome, folder, settings.facts(execution.case))


def _start(
    settings: Settings, execution: Execution, folder: Path, more: Mapping[str, Any], *, timed: bool = True
) -> Outcome:
    """Run the worker of one execution, with `more` in its case; one that is not timed has company, and longer."""
    limits = limits_of(execution.case, settings.limits)
    if not timed:
        limits = replace(limits, pinned=False, seconds=UNTIMED_FACTOR * limits.seconds)
    return run_worker(
        {**_spec(execution, settings), **more},
        folder,
        python=settings.python,
        limits=limits,
        hash_seed=execution.hash_seed,
        padding=execution.padding,
        more=settings.environment(execution.case),
    )


def _spec(execution: Execution, settings: Settings) -> dict[str, Any]:
    """Return what the worker of an execution is started with, and how far its check looks into the queue.

    Every process of a case makes the same calls, so what they leave is read whole until one process has found it right,
    and the others look at its length and its front.
    """
    return {**spec_of(execution, settings.path), "front": FRONT if execution.key in settings.checked else 0}


def limits_of(case: Case, limits: Limits) -> Limits:
    """Return the limits of a case: many workers at once may use every processor, all else is pinned to one.

    >>> limits_of(Case.of("throughput", "limiter", "arithmetic", "waiters"), Limits()).pinned
    False
    """
    return replace(limits, pinned=False) if case.kind == "throughput" else limits


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


def _complexity(case: Case) -> Measured:
    try:
        found = complexity(target_of(case))
    except (
        ImportError,
        LookupError,
        OSError,
        SyntaxError,
        TypeError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:
        return Outcome("error", in_words(f"no source to read for {case.subject}: {error}")), [], {}
    return Outcome("ok"), [complexity_columns(method) for method in found], {}
