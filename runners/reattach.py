"""Judges the regression check of the constant-time put back: three legs for each operation, and an exit code.

What is measured stands in runners/guard.py. If the control, which walks, does not come out as growing, the instrument
is broken. Where the A/A pair or the control say that the machine is too noisy for legs of time, the exact leg alone
decides, and the judgement says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from lab import archive, environment
from lab.archive import Run
from lab.case import Case, Execution
from lab.front import Code
from lab.noise import twin_name
from lab.scaling import (
    Leg,
    Scaling,
    bounded_leg,
    exact_leg,
    ratio_leg,
    same_leg,
    slope_leg,
    verdict,
    worst_leg,
)
from lab.units import format_count
from runners.guard import (
    CONTROL,
    LIMITS,
    SHARED,
    SIZES,
    SUITE,
    Guard,
    case,
    instructions_in_time,
    planned,
    size_of,
    sizes_of,
)
from runners.interpreters import Interpreter
from runners.run import Settings, Step, carry_out

Row = Mapping[str, Any]
Watch = Callable[[Step], None]
Calls = Callable[[Case, str], Mapping[int, ArrayLike]]

NOISE_BOUND = 1.5
"""The A/A pair must come out within this factor."""

COUNTS = {"bytecodes": "bytecodes", "blocks": "allocated_blocks", "instructions": "instructions"}
"""Exact leg -> its column."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One operation of one subject: what each leg says, and the verdict of those that count."""

    operation: str
    guarded: bool
    exact: tuple[Leg, ...]
    timed: tuple[Leg, ...]
    verdict: Scaling

    @property
    def legs(self) -> tuple[Leg, ...]:
        """All legs, exact ones first."""
        return (*self.exact, *self.timed)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the whole check says: each operation, the control, the A/A pair, and the exit code.

    `noise` says why the legs of time do not count, "" when they do; `reasons` are the sentences behind the code.
    """

    guard: Guard
    judged: tuple[Judged, ...]
    control: tuple[Judged, ...]
    pair: dict[str, Leg]
    noise: str
    code: Code
    reasons: tuple[str, ...]


def measure(
    guard: Guard, interpreter: Interpreter, results: Path, seed: int, watch: Callable[[list[Execution]], Watch]
) -> tuple[Run, list[str]]:
    """Carry the check out as a run under `results`; return it, finished, and sentences about what was left out.

    `watch` is given all executions and returns what is told of every step. KeyboardInterrupt passes on, with what was
    measured kept. Raises what `lab.archive.create` raises.
    """
    todo = planned(guard, seed)
    facts = interpreter.environment
    options = {"subject": guard.subject, "exact": guard.exact}
    run = archive.create(
        results, environment.machine_name(facts), SUITE, seed=seed, options=options, environment=facts, planned=todo
    )
    notes: list[str] = []
    settings = Settings(
        limits=LIMITS,
        python=interpreter.path,
        path=interpreter.search,
        report=watch(todo),
        instructions=instructions_in_time(guard, notes),
        notes=notes,
    )
    with run:
        try:
            carry_out(run, settings)
        finally:
            run.finish()
    return run, notes


def judge(rows: Sequence[Row], calls: Calls, guard: Guard) -> Judgement:
    """Judge what a run of the check has measured; what is not there makes nothing hold.

    `rows` are those of executions, `calls(case, operation)` returns the raw calls by process, as `lab.archive.Run` has
    both.
    """
    pair = {} if guard.exact else _pair(rows, guard)
    noise = next((f"{name}: {leg.sentence}" for name, leg in pair.items() if leg.verdict != Scaling.CONSTANT), "")
    control = tuple(_judged(rows, calls, guard, CONTROL, operation, "") for operation in guard.guarded)
    if not guard.exact and not noise:
        noise = _shaken(control)
    judged = tuple(_judged(rows, calls, guard, guard.subject, operation, noise) for operation in guard.operations)
    code, reasons = _decided(judged, control, rows, guard)
    return Judgement(guard, judged, control, pair, noise, code, tuple(reasons))


def _judged(rows: Sequence[Row], calls: Calls, guard: Guard, subject: str, operation: str, noise: str) -> Judged:
    exact = tuple(_exact_legs(rows, guard, subject, operation))
    timed = () if guard.exact else tuple(_timed_legs(rows, calls, guard, subject, operation))
    said = verdict(exact if noise else (*exact, *timed))
    return Judged(operation, operation in guard.guarded, exact, timed, said)


def _of(rows: Sequence[Row], kind: str, subject: str, operation: str) -> dict[int, dict[int, Row]]:
    """k -> process -> the row of one operation, of the executions that are ok."""
    found: dict[int, dict[int, Row]] = {}
    for row in rows:
        if (row["kind"], row["subject"], row["operation"], row["status"]) == (kind, subject, operation, "ok"):
            found.setdefault(size_of(row["params"]), {})[row["process"]] = row
    return found


def _exact_legs(rows: Sequence[Row], guard: Guard, subject: str, operation: str) -> Iterable[Leg]:
    found = {k: row[0] for k, row in _of(rows, "counts", subject, operation).items() if 0 in row}
    yield from _missing(rows, "counts", guard, subject, operation, found)
    for name, column in COUNTS.items():
        counts = {k: row[column] / row["n"] for k, row in found.items() if row[column] is not None}
        if len(counts) < 2:
            continue
        if name == "instructions":
            yield bounded_leg(name, counts)
        else:
            yield exact_leg(name, counts, bounded=name == "bytecodes")


def _timed_legs(rows: Sequence[Row], calls: Calls, guard: Guard, subject: str, operation: str) -> Iterable[Leg]:
    found = _of(rows, "latency", subject, operation)
    yield from _missing(rows, "latency", guard, subject, operation, found)
    if len(found) < 2:
        return
    shared = sorted(set.intersection(*(set(by_process) for by_process in found.values())))
    times = {k: [by_process[process]["p50_ns"] for process in shared] for k, by_process in found.items()}
    yield slope_leg(times)
    yield ratio_leg(times)
    workload = next(name for name, operations in SHARED.items() if operation in operations)
    ends = {k: calls(case(guard, "latency", subject, workload, k), operation) for k in (min(found), max(found))}
    if all(set(shared) <= set(by_process) for by_process in ends.values()):
        warmup = next(iter(next(iter(found.values())).values()))["warmup"]
        yield worst_leg({k: [by_process[process] for process in shared] for k, by_process in ends.items()}, warmup)


def _missing(
    rows: Sequence[Row], kind: str, guard: Guard, subject: str, operation: str, found: Mapping[int, object]
) -> Iterable[Leg]:
    """A leg that cannot be conclusive where a size has no figures, with the reason that the process gave."""
    lacking = [k for k in sizes_of(guard, kind, subject) if k not in found]
    if not lacking:
        return
    workload = next(name for name, operations in SHARED.items() if operation in operations)
    why = {
        f"{row['status']}: {row['message'].splitlines()[0] if row['message'] else ''}"
        for row in rows
        if (row["kind"], row["subject"], row["workload"]) == (kind, subject, workload) and row["status"] != "ok"
    }
    sizes = ", ".join(map(format_count, lacking))
    reasons = "; ".join(sorted(why)) or "it was not measured"
    yield Leg(kind, Scaling.INCONCLUSIVE, f"no {kind} at k = {sizes}: {reasons}")


def _pair(rows: Sequence[Row], guard: Guard) -> dict[str, Leg]:
    """Guarded operation -> what the A/A pair says: the subject at the smallest k against its twin."""
    legs = {}
    for operation in guard.guarded:
        one = _of(rows, "latency", guard.subject, operation).get(SIZES[0], {})
        two = _of(rows, "latency", twin_name(guard.subject), operation).get(SIZES[0], {})
        shared = sorted(set(one) & set(two))
        first, second = ([found[process]["p50_ns"] for process in shared] for found in (one, two))
        legs[operation] = same_leg(first, second, NOISE_BOUND)
    return legs


def _shaken(control: Sequence[Judged]) -> str:
    """Why the control makes legs of time worthless: it grows, and its slope does not show it."""
    for judged in control:
        for leg in judged.timed:
            if leg.name == "slope" and leg.verdict != Scaling.GROWS:
                return f"{CONTROL} {judged.operation}: {leg.sentence}, and it grows"
    return ""


def _decided(
    judged: Sequence[Judged], control: Sequence[Judged], rows: Sequence[Row], guard: Guard
) -> tuple[Code, list[str]]:
    guarded = [one for one in judged if one.guarded]
    measured = {row["operation"] for row in rows if row["subject"] == guard.subject and row["status"] == "ok"}
    if not measured & set(guard.guarded):
        return Code.NOTHING_MEASURED, [f"nothing was measured of {guard.subject}", *_sentences(guarded)]
    flat = [one for one in control if one.verdict != Scaling.GROWS]
    if flat:
        said = ", ".join(f"{one.operation} {one.verdict}" for one in flat)
        return Code.INCONCLUSIVE, [
            f"the instrument is broken: {CONTROL} walks, and it came out as {said}",
            *_sentences(flat),
        ]
    for code, wanted in ((Code.REGRESSED, Scaling.GROWS), (Code.INCONCLUSIVE, Scaling.INCONCLUSIVE)):
        found = [one for one in guarded if one.verdict == wanted]
        if found:
            return code, _sentences(found)
    names = ", ".join(one.operation for one in guarded)
    return Code.HOLDS, [f"{names} of {guard.subject}: the same at every k"]


def _sentences(judged: Sequence[Judged]) -> list[str]:
    """One sentence for each operation and leg that did not come out as constant."""
    return [
        f"{one.operation} {one.verdict}: {leg.sentence}"
        for one in judged
        for leg in one.legs
        if leg.verdict != Scaling.CONSTANT
    ]
