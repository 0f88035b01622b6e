"""The part of the suites that measures event queues: the document's table, a growing log, claims by many workers."""

from __future__ import annotations

from queues.events.rules import FORMS
from runners.parts import Parameters, Part

SQLITE, SERVERS = ("sqlite",), ("postgresql", "mariadb")
ENGINES = (*SQLITE, *SERVERS)
RELAXED = tuple(f"{engine}-relaxed" for engine in ENGINES)
PEERS = ("huey", "procrastinate")

DOCUMENT_ROWS = tuple(range(2_005, 20_006, 2_000))
"""The rows of the document's two tables."""

UNBOUNDED_ROWS = (2_005, 10_005, 20_005, 40_005)
"""The document's first query took eight minutes at the last."""

LOG_ROWS = (1_005, 2_005, 20_005, 200_005, 1_000_005)
"""Up to a million events of the past, with 5 pending: a thousand times as many as in the smallest."""

WORKERS = (1, 2, 4, 8)
ENOUGH = 4_000
"""Events of a case that has a p99.9."""

HISTORY = 100_000
"""Finished tasks before those that are claimed."""


def asked(rows: tuple[int, ...], index: str, calls: int) -> list[Parameters]:
    """Return the parameters of the workload `pending`."""
    return [{"rows": count, "index": index, "calls": calls} for count in rows]


def unbounded(rows: tuple[int, ...], forms: tuple[str, ...] = FORMS) -> list[Parameters]:
    """Return the parameters of the workload `pending-unbounded`, whose calls are as few as a median needs."""
    return [
        {"rows": count, "form": form, "index": index, "calls": 7}
        for index in ("indexed", "bare")
        for form in forms
        for count in rows
    ]


def claimed(workers: tuple[int, ...], events: int, history: int = 0) -> list[Parameters]:
    """Return the parameters of the workload `claims`."""
    return [{"events": events, "history": history, "workers": count} for count in workers]


PARTS = (
    Part(
        "events",
        ENGINES,
        latency={
            "pending": [*asked(LOG_ROWS, "indexed", 200), *asked((2_005, 20_005), "bare", 20)],
            "pending-unbounded": [*unbounded((2_005, 10_005)), *unbounded((20_005, 40_005), FORMS[:1])],
        },
        throughput={"claims": [*claimed((1, 4), 400), *claimed((4,), 400, HISTORY)]},
        clock="wall",
    ),
    Part("events", (*RELAXED, *PEERS), throughput={"claims": claimed((1, 4), 400)}, clock="wall"),
)
"""The suite of its own: minutes, servers included. What an engine cannot do in its time is a finding."""

FULL = (
    Part(
        "events",
        ENGINES,
        latency={
            "pending": [
                *asked(tuple(sorted({*DOCUMENT_ROWS, *LOG_ROWS, 40_005})), "indexed", 400),
                *asked(DOCUMENT_ROWS, "bare", 40),
            ],
            "pending-unbounded": unbounded(UNBOUNDED_ROWS),
        },
        throughput={"claims": [*claimed(WORKERS, ENOUGH), *claimed((4,), ENOUGH, HISTORY)]},
        clock="wall",
    ),
    Part("events", (*RELAXED, *PEERS), throughput={"claims": claimed(WORKERS, ENOUGH)}, clock="wall"),
)
"""Every row of the document, a log of a million events, up to eight workers."""

STANDARD = (
    Part(
        "events",
        SQLITE,
        latency={
            "pending": [*asked((2_005, 20_005), "indexed", 200), *asked((2_005, 20_005), "bare", 20)],
            "pending-unbounded": unbounded((2_005,)),
        },
        throughput={"claims": claimed((1, 4), 400)},
        clock="wall",
    ),
)
"""What needs no server."""
