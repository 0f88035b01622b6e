"""The part of the suites that measures advisory schedulers: every call over the number of jobs, jobs that meet, drift.

Calls are few where a call looks at every job: `sorted-each-call` and the peers then have no p99.
"""

from __future__ import annotations

from runners.advisory_simulated import CALLERS
from runners.parts import Part

SIZES = (10, 100, 1_000, 10_000, 100_000)
CALLS = ("next-job", "update-period", "replace")

MOST_CALLS = 4_000
"""Timed calls of a case, enough for a p99.9."""

JOBS_LOOKED_AT = {"sorted-each-call": 3_000_000, "apscheduler": 20_000_000, "sched": 20_000_000}
"""For subjects of which some call looks at every job: how many jobs a case may look at, which bounds its calls."""

LEAST_CALLS = 20
SPREADS = 200_000
"""Jobs spread in a case, each once, at least three times."""

MOST_SPREADS = 450
"""Enough for a p99."""

MEETING = {"heap": (10, 100, 1_000, 10_000), "sorted-each-call": (10, 100, 1_000)}
"""Sizes of the schedules an hour of which is simulated."""

OURS = ("sorted-each-call", "heap")
PEERS = ("sched", "apscheduler")

RUNS = 1_000
PERIODS_MS = dict.fromkeys(CALLERS, (10_000,)) | {"waits-as-advised": (10_000, 100)}
"""caller -> periods of the job whose drift is counted; sums of a tenth of a second are rounded."""


def calls_of(subject: str, workload: str, jobs: int) -> int:
    """Return how many calls of a case are timed: few where a call is slow.

    >>> calls_of("heap", "next-job", 100_000), calls_of("sorted-each-call", "next-job", 100_000)
    (4000, 30)
    """
    if workload == "spread":
        return min(MOST_SPREADS, max(3, SPREADS // jobs))
    return max(LEAST_CALLS, min(MOST_CALLS, JOBS_LOOKED_AT.get(subject, jobs * MOST_CALLS) // jobs))


def part_of(subject: str, sizes: tuple[int, ...] = SIZES) -> Part:
    """Return what is measured of one subject; a peer that has no `spread` is not asked for it."""
    spreads = subject in OURS
    timed = (*CALLS, *(("spread",) if spreads else ()))
    callers = tuple(CALLERS) if spreads else ("waits-as-advised", "oversleeps")
    cadence: list[dict[str, int | str]] = [
        {"caller": caller, "period_ms": period, "runs": RUNS} for caller in callers for period in PERIODS_MS[caller]
    ]
    meeting = [{"jobs": jobs} for jobs in MEETING.get(subject, ()) if jobs <= max(sizes)]
    return Part(
        "advisory",
        (subject,),
        latency={
            workload: [{"jobs": jobs, "calls": calls_of(subject, workload, jobs)} for jobs in sizes]
            for workload in timed
        },
        lateness={"meeting": meeting, "cadence": cadence},
    )


FULL = tuple(part_of(subject) for subject in (*OURS, *PEERS))
"""The whole of it."""

PARTS = (*(part_of(subject) for subject in OURS), *(part_of(subject, SIZES[:-1]) for subject in PEERS))
"""The same without the peers at the largest size, which alone take half of the time."""

QUICK = (
    Part(
        "advisory",
        OURS,
        latency={"next-job": [{"jobs": 1_000, "calls": 400}]},
    ),
    Part("advisory", ("heap",), lateness={"meeting": [{"jobs": 100}]}),
)
"""A taste of it, in two seconds."""
