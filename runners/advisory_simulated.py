"""What a schedule does, counted on a simulated clock: how many jobs meet in one instant, and how a cadence drifts.

Nothing is timed, so the figures are the same on every machine and need no process of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from runners.advisory_rigs import Standing, filled

HOUR = 3600.0
EXACT_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Peaks:
    """The most jobs in one instant: of the next run of each as planned, and of all runs in an hour."""

    subject: str
    jobs: int
    planned: int
    planned_spread: int | None
    in_an_hour: int
    in_an_hour_spread: int | None


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the last of `runs` runs is from the grid `start + k * period`, and what a run adds to that on average."""

    subject: str
    caller: str
    period: str
    runs: int
    behind_seconds: float
    a_run_seconds: float


def meeting(scheduler: Any, until: float) -> int:
    """Return the most jobs that run in one instant up to `until`, by a caller that takes no time over anything.

    It asks until it is told to wait, and what it is told to wait for runs then. A job counts once an instant.
    """
    runs: dict[float, set[Hashable]] = defaultdict(set)
    now = 0.0
    while now <= until:
        job_id, delay, _ = scheduler.next_job(now)
        now += delay
        runs[now].add(job_id)
    return max(map(len, runs.values()))


def planned(scheduler: Any) -> int:
    """Return the most jobs that have the same next run."""
    runs = Counter(scheduler.job_data(job_id)[1] for job_id in scheduler.all_jobs())
    return max(runs.values())


def peaks(subject: str, scheduler_class: Any, jobs: int, seed: int = 1) -> Peaks:
    """Return how many jobs meet in a schedule, and in the same one when it has been spread, if that is offered.

    >>> from queues.advisory.heap import Heap
    >>> found = peaks("heap", Heap, 10)
    >>> found.planned, found.planned_spread, found.in_an_hour
    (10, 1, 10)
    """
    made, _ = filled(scheduler_class, jobs, seed)
    if not callable(getattr(made, "spread", None)):
        return Peaks(subject, jobs, jobs, None, meeting(made, HOUR), None)
    before = planned(made)
    before_hour = meeting(made, HOUR)
    spread, _ = filled(scheduler_class, jobs, seed)
    spread.spread(0.0)
    return Peaks(subject, jobs, before, planned(spread), before_hour, meeting(spread, HOUR))


CALLERS = {
    "waits as advised": "asks when the work is done, a tenth of the period later, and waits as advised",
    "oversleeps": "the same, but wakes up a second late each time",
    "asks late": "asks a second after the job was due, each time",
}
"""Who asks a scheduler, by name."""


def run_instants(scheduler_class: Any, caller: str, period: Any, runs: int) -> list[Any] | None:
    """Return when the first `runs` runs of one job begin, or None where the caller needs what is not offered."""
    clock = Standing(period * 0)
    scheduler = scheduler_class(clock=clock)
    scheduler.add("job", period)
    if caller == "asks late" and not callable(getattr(scheduler, "job_data", None)):
        return None
    found: list[Any] = []
    for run in range(runs):
        if caller == "asks late" and run:
            clock.now = scheduler.job_data("job")[1] + 1
        clock.now += scheduler.next_job(clock.now)[1]
        if caller == "oversleeps" and run:
            clock.now += 1
        found.append(clock.now)
        clock.now += period / 10
    return found


def drift(subject: str, scheduler_class: Any, caller: str, period: Any, runs: int = EXACT_RUNS) -> Drift | None:
    """Return how far one job has come off its grid, or None where the caller needs what is not offered.

    >>> from queues.advisory.heap import Heap
    >>> [drift("heap", Heap, caller, 10.0).behind_seconds for caller in CALLERS]
    [0.0, 1.0, 999.0]
    """
    instants = run_instants(scheduler_class, caller, period, runs)
    if instants is None:
        return None
    behind = Fraction(instants[-1]) - Fraction(instants[0]) - (runs - 1) * Fraction(period)
    return Drift(subject, caller, str(period), runs, float(behind), float(behind / (runs - 1)))
