"""Which cases make up the suites quick, standard and full, and how often each is run.

The parameters of `standard` are those of the documents; `quick` has the same tables scaled down, `full` adds the
sizes that take long. A suite is data, and `cases` crosses it with the subjects. Longer than 300 lines: the sizes of all
suites of timer queues stand here side by side; those of the other families are in runners/suite_*.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lab.case import Case
from queues.registry import PEERS, SUBJECTS, target
from runners import suite_advisory, suite_durable, suite_events, suite_pacing
from runners.lifecycle import PATTERNS
from runners.parts import PRIMITIVES as PRIMITIVES
from runners.parts import Part as Part
from runners.parts import crossed
from runners.spawn import Limits

Parameters = dict[str, int]

CLASSIC = ("linked", "linked-known-tail", "array", "array-naive")
"""The queues of the documents, in the order of their tables."""

FIELD = (*CLASSIC, "heap", "sorted", "chunked")
"""Beside them what one would reach for, and the queue that wants to lose to nothing."""


@dataclass(frozen=True, slots=True)
class Suite:
    """How much is measured: processes per case, and of the timer queues the subjects and every workload's parameters.

    `parts` has what is measured of other families, or of the timer queues with subjects or a clock of their own.
    """

    name: str
    sentence: str
    processes: int
    subjects: tuple[str, ...]
    limits: Limits
    cost_options: tuple[str, ...]
    latency: dict[str, list[Parameters]] = field(default_factory=dict)
    cost: dict[str, list[Parameters]] = field(default_factory=dict)
    batched: dict[str, list[Parameters]] = field(default_factory=dict)
    memory: dict[str, list[Parameters]] = field(default_factory=dict)
    counts: dict[str, list[Parameters]] = field(default_factory=dict)
    without_collector: tuple[str, ...] = ()
    """Latency workloads that are measured once more with the collector off, so that its price can be seen."""
    parts: tuple[Part, ...] = ()


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
    parts=(*suite_advisory.QUICK, *suite_pacing.QUICK),
)

STANDARD = Suite(
    name="standard",
    sentence="the tables of the documents at their sizes",
    processes=5,
    subjects=FIELD,
    limits=Limits(seconds=12),
    cost_options=_pyperf(values=3, min_seconds=0.01),
    latency={
        "cycle": _cycle((10_000, 200_000), {10: 4_000, 1_000: 100, 10_000: 20, 100_000: 5}),
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
        "window-cycle": [{"due": due, "queued": 200_000, "calls": calls} for due, calls in ((100, 100), (5_000, 40))],
        "free": [{"messages": 200_000}],
        "free-in-batches": [{"messages": 200_000, "limit": 1_000}],
    },
    cost={
        "enqueue-in-order": [{"messages": messages} for messages in (1_000, 20_000, 200_000)],
        "enqueue-out-of-order": [{"messages": messages} for messages in (500, 2_000, 8_000)],
        "cycle": _pairs((200_000,), (10, 10_000)),
    },
    batched={
        "reattach": [{"part": 10, "queued": 200_000}],
        "steady-enqueue": [{"queued": 200_000}],
        "steady-dispatch": [{"queued": 200_000}],
        "enqueue-at-random": [{"queued": 200_000}],
        "window-cycle": [{"due": 100, "queued": 200_000}],
        "process": [{"messages": 10_000}],
        **_lives(2_000),
    },
    memory={
        "resident": [{"messages": 200_000}],
        "drained": [{"messages": 200_000, "left": 10}],
    },
    without_collector=("growth", "free"),
    parts=(*suite_durable.STANDARD, *suite_events.STANDARD),
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
    cost={
        **STANDARD.cost,
        "enqueue-out-of-order": [{"messages": messages} for messages in (500, 2_000, 8_000, 200_000)],
    },
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
    parts=(*suite_advisory.FULL, *suite_pacing.FULL, *suite_durable.PARTS, *suite_events.FULL),
)


def _of_parts(name: str, sentence: str, limits: Limits, parts: tuple[Part, ...]) -> Suite:
    """Return a suite without tables of its own; three processes see that it works, a verdict takes --processes 5."""
    return Suite(name, sentence, processes=3, subjects=(), limits=limits, cost_options=(), parts=parts)


ADVISORY = _of_parts(
    "advisory",
    "advisory schedulers: every call over the number of jobs, jobs that meet, drift of the cadence",
    Limits(seconds=60),
    suite_advisory.PARTS,
)

PACING = _of_parts(
    "pacing",
    "tickers, rate limiters and cooperative sleep: how late, how fair, how dear",
    Limits(seconds=120, memory_bytes=12 << 30),
    suite_pacing.PARTS,
)

DURABLE = _of_parts(
    "durable",
    "timer queues that outlive the process, on SQLite, PostgreSQL and Redis: cycles, lives, batches put in",
    Limits(seconds=60),
    suite_durable.PARTS,
)

EVENTS = _of_parts(
    "events",
    "event queues on SQLite, PostgreSQL, MariaDB: what is pending, in every form, and claims by many workers",
    Limits(seconds=40),
    suite_events.PARTS,
)

SUITES = {suite.name: suite for suite in (QUICK, STANDARD, FULL, ADVISORY, PACING, DURABLE, EVENTS)}

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

    `workloads` keeps only those names, `subjects` those of every family; the parts come last. `targets` maps the name
    of a user's timer queue to its "module:Class". A timer queue brings the null loop along, and a case of memory its
    baseline: they are what the others are held against. Where `array` is measured, `array-twin` is the same queue once
    more in a few cases: what the two differ by is what nothing but chance makes. With the collector on, some cases are
    measured with it off as well. Counts have one arm, whatever is asked: the collector off.
    """
    asked = None if subjects is None else set(subjects)
    wanted = None if workloads is None else set(workloads)
    named = suite.subjects if subjects is None else subjects
    chosen = [subject for subject in dict.fromkeys([*named, *(targets or ())]) if _is_timer(suite, subject, targets)]
    parts = [case for part in suite.parts for case in part.cases(asked, wanted, clock, gc)]
    return [*_timer_cases(suite, chosen, wanted, clock, gc, targets or {}), *parts] if chosen else parts


def _is_timer(suite: Suite, subject: str, targets: dict[str, str] | None) -> bool:
    """Whether the tables of the suite itself are about this subject: a timer queue, where it has such tables."""
    known = {*SUBJECTS["timer"], *PEERS["timer"], *(targets or ())}
    return bool(suite.subjects) and subject in known


def _timer_cases(
    suite: Suite, chosen: list[str], wanted: set[str] | None, clock: str, gc: str, targets: dict[str, str]
) -> list[Case]:
    found = [Case.of("latency", "timer", "null", "null-loop", calls=50_000, clock=clock, gc=gc)]
    for kind, sizes in _kinds(suite).items():
        for workload, parameters in sizes.items():
            if wanted is not None and workload not in wanted:
                continue
            found += crossed(kind, workload, parameters, chosen, clock, gc, targets)
            if kind == "latency" and gc == "on" and workload in suite.without_collector:
                found += crossed(kind, workload, parameters, chosen, clock, "off", targets)
    if TWIN_OF in chosen:
        found += _twins(suite, wanted, clock, gc)
    filled = [int(dict(case.params)["messages"]) for case in found if case.kind == "memory"]
    if filled:
        found.append(Case.of("memory", "timer", "null", "baseline", messages=max(filled), clock=clock, gc=gc))
    if wanted is None or "complexity" in wanted:
        found += crossed("complexity", "complexity", [{}], chosen, clock, gc, targets)
    return found


def _twins(suite: Suite, wanted: set[str] | None, clock: str, gc: str) -> Iterator[Case]:
    """The second half of the A/A pair: the first sizes of every workload in TWINNED, at most 5 % of a suite's time."""
    for kind, workload in TWINNED:
        sizes = _kinds(suite)[kind].get(workload, [])[:1]
        left_out = wanted is not None and workload not in wanted
        if left_out or (kind == "cost" and suite.processes < LEAST_FOR_VERDICTS):
            continue
        yield from crossed(kind, workload, sizes, [TWIN], clock, gc, {TWIN: target("timer", TWIN_OF)})


def _kinds(suite: Suite) -> dict[str, dict[str, list[Parameters]]]:
    return {"cost": suite.cost, "latency": suite.latency, "batched": suite.batched, "memory": suite.memory} | {
        "counts": suite.counts
    }


def workload_names() -> list[str]:
    """Return the names of all workloads that any suite measures, in table order.

    >>> "cycle" in workload_names()
    True
    """
    names: dict[str, None] = {}
    for suite in SUITES.values():
        tables = [*_kinds(suite).values(), *(sizes for part in suite.parts for sizes in part.by_kind().values())]
        for workloads in tables:
            names.update(dict.fromkeys(workloads))
    return [*names, "complexity"]
