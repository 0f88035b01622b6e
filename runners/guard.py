"""What the regression check of the constant-time put back measures: its guard, its cases, and their order.

k messages are cut off or taken and put back, with k behind them, for k = 10 … 100,000: whatever an operation depends
on, the part or the queue, grows with k. Guarded operations decide the exit code. Of a subject with the relinks on
their own these are detach, reattach and requeue (its take walks what is due, so it is only shown); of any other take
and requeue. `linked`, which walks, is the control. The subject at the smallest k is measured a second time as its twin:
the A/A pair, which says whether the machine is quiet enough for a judgement of times.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lab.case import Case, Execution, parse_parameters
from lab.noise import twin_name
from queues.registry import target
from runners.folders import working_folder
from runners.run import plan
from runners.spawn import Limits, run_worker
from runners.suites import PRIMITIVES

SUITE = "reattach"
"""The name under which a run of this check is stored."""

SIZES = (10, 100, 1_000, 10_000, 100_000)
CONTROL = "linked"
CONTROL_SIZES = {"latency": (10, 1_000, 100_000), "counts": SIZES[:-1]}
"""What growth of the control needs; every step of its walk at 100,000 would be counted one by one."""

INSTRUCTED = (10, 10_000)
"""Sizes at which instructions are counted: callgrind takes its time over a larger queue."""

SECONDS = 60.0
"""What the whole check may take; callgrind, which comes last, is asked as long as it will keep to that."""

FIRST_SHARE = 1 / 8
"""What the first case under callgrind takes of all that came before it."""

OUT_OF_TIME = "instructions were not counted at every size: no time was left (`--exact` takes it)"

PROCESSES = 5
CALLS = {"reattach": 40, "level-cycle": 30}
COUNTED_CALLS = 3
SHARED = {"reattach": ("detach", "reattach"), "level-cycle": ("take", "requeue")}
"""workload -> its operations."""

LIMITS = Limits(seconds=30)


@dataclass(frozen=True, slots=True)
class Guard:
    """What is guarded: the subject, its class, whether it has relinks of its own, and whether only to count."""

    subject: str
    target: str
    primitives: bool
    exact: bool = False

    @property
    def workloads(self) -> tuple[str, ...]:
        """The workloads that show its operations."""
        return tuple(SHARED) if self.primitives else ("level-cycle",)

    @property
    def operations(self) -> tuple[str, ...]:
        """All operations that are shown, in the order of the report."""
        return tuple(operation for workload in self.workloads for operation in SHARED[workload])

    @property
    def guarded(self) -> tuple[str, ...]:
        """Those that decide the exit code."""
        return ("detach", "reattach", "requeue") if self.primitives else ("take", "requeue")


def guard_of(
    subject: str, own: str = "", *, exact: bool = False, python: str = sys.executable, path: Iterable[str] = ()
) -> Guard:
    """Return the guard of a registered subject, or of the user's own class `own`, which is asked for its relinks."""
    if not own:
        return Guard(subject, target("timer", subject), subject in PRIMITIVES, exact)
    spec = {
        "kind": "latency",
        "family": "timer",
        "subject": subject,
        "target": own,
        "path": list(path),
        "workload": "reattach",
        "params": {"part": 1, "queued": 1, "calls": 1},
        "seed": 0,
        "clock": "cpu",
        "gc": "off",
    }
    with working_folder() as folder:
        asked = run_worker(spec, folder, limits=LIMITS, python=python)
    return Guard(subject, own, asked.status != "not-offered", exact)


def case(guard: Guard, kind: str, subject: str, workload: str, k: int) -> Case:
    """Return one case of the check: k messages and k behind them, on the cpu clock, the collector off."""
    calls = COUNTED_CALLS if kind == "counts" else CALLS[workload]
    first = "part" if workload == "reattach" else "due"
    params = ((first, k), ("queued", k), ("calls", calls))
    return Case(kind, "timer", subject, workload, params, gc="off", target=_target(guard, subject))


def _target(guard: Guard, subject: str) -> str:
    """The class of a subject that the registry does not know by this name: the user's own queue, and every twin."""
    if subject == CONTROL:
        return ""
    try:
        return "" if target("timer", subject) == guard.target else guard.target
    except LookupError:
        return guard.target


def sizes_of(guard: Guard, kind: str, subject: str) -> tuple[int, ...]:
    """Return the sizes at which a subject is measured."""
    return SIZES if subject == guard.subject else CONTROL_SIZES[kind]


def cases(guard: Guard, kind: str) -> list[Case]:
    """Return the cases of one kind, `latency` or `counts`: subject, control, and the twin of the A/A pair."""
    subjects = dict.fromkeys((guard.subject, CONTROL))
    found = [
        case(guard, kind, subject, workload, k)
        for workload in guard.workloads
        for subject in subjects
        for k in sizes_of(guard, kind, subject)
    ]
    if kind == "latency":
        found += [case(guard, kind, twin_name(guard.subject), workload, SIZES[0]) for workload in guard.workloads]
    return found


def wants_instructions(guard: Guard, execution: Execution) -> bool:
    """Return whether the instructions of a case are worth callgrind's time: the subject's, at two sizes."""
    return execution.case.subject == guard.subject and _k(execution) in INSTRUCTED


def planned(guard: Guard, seed: int) -> list[Execution]:
    """Return all executions in order: counts, the blocks of timed processes, and what callgrind is asked for last."""
    counts = plan(cases(guard, "counts"), 1, seed)
    timed = [] if guard.exact else plan(cases(guard, "latency"), PROCESSES, seed)
    slow = [execution for execution in counts if wants_instructions(guard, execution)]
    slow.sort(key=lambda execution: (guard.workloads.index(execution.case.workload), _k(execution)))
    return [*(execution for execution in counts if execution not in slow), *timed, *slow]


def _k(execution: Execution) -> int:
    return size_of(execution.case.params_text)


def instructions_in_time(
    guard: Guard, notes: list[str], clock: Callable[[], float] = time.monotonic
) -> Callable[[Execution], bool]:
    """Return the predicate that asks callgrind as long as there is time; it leaves a note when there is none left.

    A workload is begun only if all its sizes will be done by the end of the minute, when each may take half as long
    again as the case before. `clock` says seconds.
    """
    started = clock()
    taken = {"at": 0.0, "seconds": 0.0}

    def wanted(execution: Execution) -> bool:
        if not wants_instructions(guard, execution) or OUT_OF_TIME in notes:
            return False
        now = clock()
        taken["seconds"] = now - taken["at"] if taken["at"] else FIRST_SHARE * (now - started)
        taken["at"] = now
        sizes = len(INSTRUCTED) - INSTRUCTED.index(_k(execution))
        if guard.exact or now + 1.5 * sizes * taken["seconds"] <= started + SECONDS:
            return True
        notes.append(OUT_OF_TIME)
        return False

    return wanted


def size_of(params: str) -> int:
    """Return the k of a case from its parameters.

    >>> size_of("calls=30,due=1000,queued=1000")
    1000
    """
    found = dict(parse_parameters(params))
    return int(found.get("part", found.get("due", 0)))
