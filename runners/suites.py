"""Which cases make up the suites quick, standard and full, and how often each is run.

The parameters of `standard` are those of the documents; `quick` has the same tables scaled down, `full` adds the
sizes that take long. A suite is data: SIZES says what is done, `cases` crosses it with the subjects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lab.case import Case
from queues.registry import PEERS, SUBJECTS, target
from runners.lifecycle import PATTERNS
from runners.spawn import Limits

Parameters = dict[str, int]

CLASSIC = ("linked", "linked-known-tail", "array", "array-naive")
"""The queues of the documents, in the order of their tables."""

FIELD = (*CLASSIC, "heap", "sorted", "chunked")
"""Beside them what one would reach for, and the queue that wants to lose to nothing."""


@dataclass(frozen=True, slots=True)
class Suite:
    """How much is measured: processes per case, subjects, limits, and the parameters of every workload."""

    name: str
    sentence: str
    processes: int
    subjects: tuple[str, ...]
    limits: Limits
    cost_options: tuple[str, ...]
    latency: dict[str, list[Parameters]]
    cost: dict[str, list[Parameters]]
    batched: dict[str, list[Parameters]]
    memory: dict[str, list[Parameters]]
    counts: dict[str, list[Parameters]] = field(default_factory=dict)
    without_collector: tuple[str, ...] = ()
    """Latency workloads that are measured once more with the collector off, so that its price can be seen."""


def _cycle(queued: Iterable[int], calls_by_due: dict[int, int]) -> list[Parameters]:
    return [{"due": due, "queued": behind, "calls": calls} for behind in queued for due, calls in calls_by_due.items()]


def _pairs(queued: Iterable[int], due: Iterable[int]) -> list[Parameters]:
    return [{"due": batch, "queued": behind} for behind in queued for batch in due]


def _pyperf(values: int, min_seconds: float) -> tuple[str, ...]:
    """One process of pyperf a time, because the run repeats it; the loops fill at least `min_seconds`."""
    return ("-p", "1", "-n", str(values), "-w", "1", "--min-time", str(min_seconds))


def _lives(messages: int, patterns: Iterable[str] = tuple(PATTERNS)) -> dict[str, list[Parameters]]:
    return {f"life-{pattern}": [{"messages": messages}] for pattern in patterns}


QUICK = Suite(
    name="quick",
    sentence="every table, scaled down; to see that all works and roughly how it stands",
    processes=3,
    subjects=CLASSIC,
    limits=Limits(seconds=10),
    cost_options=_pyperf(values=3, min_seconds=0.01),
    latency={
        "cycle": _cycle((20_000,), {10: 400, 1_000: 100}),
        "requeue-unused": [{"due": 1_000, "unused": unused, "queued": 20_000, "calls": 50} for unused in (0, 1_000)],
        "reattach": [{"part": part, "queued": 10_000, "calls": 200} for part in (10, 1_000)],
        "growth": [{"messages": 20_000}],
        "steady-enqueue": [{"queued": 20_000, "calls": 5_000}],
        "steady-dispatch": [{"queued": 20_000, "calls": 5_000}],
        "window-cycle": [{"due": 100, "queued": 20_000, "calls": 50}],
        "free": [{"messages": 20_000}],
        "free-in-batches": [{"messages": 20_000, "limit": 1_000}],
    },
    cost={
        "enqueue-in-order": [{"messages": 20_000}],
        "enqueue-out-of-order": [{"messages": 2_000}],
        "cycle": _pairs((20_000,), (1_000,)),
    },
    batched={
        "reattach": [{"part": 10, "queued": 10_000}],
        "steady-enqueue": [{"queued": 20_000}],
        "steady-dispatch": [{"queued": 20_000}],
        "window-cycle": [{"due": 100, "queued": 20_000}],
        "requeue-unused": [{"due": 1_000, "unused": unused, "queued": 20_000} for unused in (0, 1_000)],
        "process": [{"messages": 1_000}],
        **_lives(1_000, ("constant-delay",)),
    },
    memory={
        "resident": [{"messages": 50_000}],
        "drained": [{"messages": 50_000, "left": 10}],
    },
)

STANDARD = Suite(
    name="standard",
    sentence="the tables of the documents at their sizes",
    processes=5,
    subjects=FIELD,
    limits=Limits(seconds=12),
    cost_options=_pyperf(values=3, min_seconds=0.02),
    latency={
        "cycle": _cycle((10_000, 200_000), {10: 4_000, 1_000: 400, 10_000: 40, 100_000: 8}),
        "requeue-unused": [
            {"due": 10_000, "unused": unused, "queued": 200_000, "calls": 10} for unused in (0, 10, 1_000, 10_000)
        ],
        "reattach": [
            {"part": 10, "queued": 200_000, "calls": 4_000},
            {"part": 1_000, "queued": 200_000, "calls": 400},
            {"part": 100_000, "queued": 200_000, "calls": 8},
        ],
        "growth": [{"messages": 200_000}],
        "steady-enqueue": [{"queued": 200_000, "calls": 50_000}],
        "steady-dispatch": [{"queued": 200_000, "calls": 50_000}],
        "window-cycle": [{"due": due, "queued": 200_000, "calls": 100} for due in (100, 5_000)],
        "free": [{"messages": 200_000}],
        "free-in-batches": [{"messages": 200_000, "limit": 1_000}],
    },
    cost={
        "enqueue-in-order": [{"messages": messages} for messages in (1_000, 20_000, 200_000)],
        "enqueue-out-of-order": [{"messages": messages} for messages in (500, 2_000, 8_000, 200_000)],
        "cycle": _pairs((200_000,), (10, 10_000)),
    },
    batched={
        "reattach": [{"part": 10, "queued": 200_000}],
        "steady-enqueue": [{"queued": 200_000}],
        "steady-dispatch": [{"queued": 200_000}],
        "window-cycle": [{"due": 100, "queued": 200_000}],
        "process": [{"messages": 10_000}],
        **_lives(2_000),
    },
    memory={
        "resident": [{"messages": 200_000}],
        "drained": [{"messages": 200_000, "left": 10}],
    },
    without_collector=("growth", "free"),
)

FULL = Suite(
    name="full",
    sentence="the standard suite with ten processes a case, every subject, growth to 2,000,000, and exact counts",
    processes=10,
    subjects=(*SUBJECTS["timer"], *PEERS["timer"]),
    limits=Limits(seconds=120, memory_bytes=12 << 30),
    cost_options=_pyperf(values=5, min_seconds=0.05),
    latency={
        **STANDARD.latency,
        "growth": [{"messages": messages} for messages in (200_000, 1_000_000, 2_000_000)],
    },
    cost=STANDARD.cost,
    batched={
        **STANDARD.batched,
        "window-cycle": [{"due": due, "queued": 200_000} for due in (100, 5_000)],
        "requeue-unused": [{"due": 10_000, "unused": unused, "queued": 200_000} for unused in (0, 10, 1_000, 10_000)],
    },
    memory=STANDARD.memory,
    counts={
        "cycle": [{"due": 1_000, "queued": 1_000, "calls": 11}],
        "steady-enqueue": [{"queued": 1_000, "calls": 11}],
        "reattach": [{"part": 1_000, "queued": 1_000, "calls": 11}],
    },
    without_collector=("growth", "free", "free-in-batches"),
)

SUITES = {suite.name: suite for suite in (QUICK, STANDARD, FULL)}

PRIMITIVES = frozenset({"linked", "linked-known-tail"})
"""The subjects that offer the reattach primitives on their own; the others are not asked."""

TWIN_OF, TWIN = "array", "array-twin"
TWINNED = (
    ("latency", "cycle"),
    ("latency", "steady-enqueue"),
    ("batched", "process"),
    ("batched", "life-constant-delay"),
    ("cost", "cycle"),
    ("memory", "resident"),
)
"""The cheap cases, one or more for every operation, in which a run measures one subject twice: its A/A pair."""

LEAST_FOR_VERDICTS = 5  # processes; where there are fewer, the pair in pyperf would cost more than it is good for


def cases(
    suite: Suite,
    subjects: Iterable[str] | None = None,
    *,
    workloads: Iterable[str] | None = None,
    clock: str = "cpu",
    gc: str = "on",
    targets: dict[str, str] | None = None,
) -> list[Case]:
    """Return the cases of `suite` for `subjects` (default: the suite's), in the order of the documents' tables.

    `workloads` keeps only those names. `targets` maps the name of a user's queue to its "module:Class". The null loop
    is always there, and with a case of memory its baseline: they are what the others are held against. Where `array`
    is measured, `array-twin` is the same queue once more in a few cases: what the two differ by is what nothing but
    chance makes. With the collector on, some cases are measured with it off as well. Counts have one arm, whatever is
    asked: the collector off.
    """
    chosen = list(suite.subjects if subjects is None else subjects)
    wanted = None if workloads is None else set(workloads)
    found = [Case.of("latency", "timer", "null", "null-loop", calls=50_000, clock=clock, gc=gc)]
    for kind, sizes in _kinds(suite).items():
        for workload, parameters in sizes.items():
            if wanted is not None and workload not in wanted:
                continue
            found += _crossed(kind, workload, parameters, chosen, clock, gc, targets or {})
            if kind == "latency" and gc == "on" and workload in suite.without_collector:
                found += _crossed(kind, workload, parameters, chosen, clock, "off", targets or {})
    if TWIN_OF in chosen:
        found += _twins(suite, wanted, clock, gc)
    filled = [int(dict(case.params)["messages"]) for case in found if case.kind == "memory"]
    if filled:
        found.append(Case.of("memory", "timer", "null", "baseline", messages=max(filled), clock=clock, gc=gc))
    if wanted is None or "complexity" in wanted:
        found += _crossed("complexity", "complexity", [{}], chosen, clock, gc, targets or {})
    return found


def _twins(suite: Suite, wanted: set[str] | None, clock: str, gc: str) -> Iterator[Case]:
    """The second half of the A/A pair: the first sizes of every workload in TWINNED, at most 5 % of a suite's time."""
    for kind, workload in TWINNED:
        sizes = _kinds(suite)[kind].get(workload, [])[:1]
        left_out = wanted is not None and workload not in wanted
        if left_out or (kind == "cost" and suite.processes < LEAST_FOR_VERDICTS):
            continue
        yield from _crossed(kind, workload, sizes, [TWIN], clock, gc, {TWIN: target("timer", TWIN_OF)})


def _kinds(suite: Suite) -> dict[str, dict[str, list[Parameters]]]:
    return {"cost": suite.cost, "latency": suite.latency, "batched": suite.batched, "memory": suite.memory} | {
        "counts": suite.counts
    }


def _crossed(
    kind: str,
    workload: str,
    parameters: list[Parameters],
    subjects: list[str],
    clock: str,
    gc: str,
    targets: dict[str, str],
) -> Iterator[Case]:
    for values in parameters:
        for subject in subjects:
            if workload == "reattach" and subject not in PRIMITIVES and subject not in targets:
                continue
            if kind == "counts":
                clock, gc = "cpu", "off"  # no clock is read, and a collection would be counted
            yield Case.of(
                kind, "timer", subject, workload, clock=clock, gc=gc, target=targets.get(subject, ""), **values
            )


def workload_names() -> list[str]:
    """Return the names of all workloads that any suite measures, in table order.

    >>> "cycle" in workload_names()
    True
    """
    names: dict[str, None] = {}
    for suite in SUITES.values():
        for sizes in _kinds(suite).values():
            names.update(dict.fromkeys(sizes))
    return [*names, "complexity"]
