"""What a schedule does, counted on a simulated clock: how many jobs meet in one instant, and how a cadence drifts.

Nothing is timed, so the figures are the same on every machine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

from runners.advisory_rigs import Standing, filled
from runners.latency import CheckFailed
from runners.realtime import Found
from runners.workload import NotOffered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any

    Parameters = dict[str, Any]

HOUR = 3600.0
SECOND_NS = 10**9

CALLERS = {
    "waits-as-advised": "asks when the work is done, a tenth of the period later, and waits as advised",
    "oversleeps": "the same, but wakes up a second late each time",
    "asks-late": "asks a second after the job was due, each time",
}
"""Who asks a scheduler, by name."""


def at_once(scheduler: Any, until: float) -> int:
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


def meeting(scheduler_class: Any, params: Parameters, seed: int) -> Found:
    """Find how many jobs meet in a schedule, of the next runs and of all in an hour, and in the same one when spread.

    >>> from queues.advisory.heap import Heap
    >>> meeting(Heap, {"jobs": 10}, 1).figures["due_at_once_before_jobs"]
    10
    """
    as_added, _ = filled(scheduler_class, params["jobs"], seed)
    spread, _ = filled(scheduler_class, params["jobs"], seed)
    spread.spread(0.0)
    found = {"due_at_once_before_jobs": planned(as_added), "due_at_once_after_jobs": planned(spread)}
    hour = {"in_an_hour_before_jobs": at_once(as_added, HOUR), "in_an_hour_after_jobs": at_once(spread, HOUR)}
    if any(len(scheduler.all_jobs()) != params["jobs"] for scheduler in (as_added, spread)):
        raise CheckFailed(f"a scheduler does not hold its {params['jobs']} jobs any more")
    return Found(figures={**found, **hour})


def run_instants(scheduler_class: Any, caller: str, period: Any, runs: int) -> list[Any]:
    """Return when the first `runs` runs of one job begin; NotOffered where the caller needs what is not offered."""
    clock = Standing(period * 0)
    scheduler = scheduler_class(clock=clock)
    scheduler.add("job", period)
    if caller == "asks-late" and not callable(getattr(scheduler, "job_data", None)):
        raise NotOffered("job_data() is not offered: who asks late looks there when the job is due")
    found: list[Any] = []
    for run in range(runs):
        if caller == "asks-late" and run:
            clock.now = scheduler.job_data("job")[1] + 1
        clock.now += scheduler.next_job(clock.now)[1]
        if caller == "oversleeps" and run:
            clock.now += 1
        found.append(clock.now)
        clock.now += period / 10
    return found


def cadence(scheduler_class: Any, params: Parameters, seed: int) -> Found:
    """Find how far the last of `runs` runs is from the grid `start + k * period`, and what a run adds to that.

    The sum is exact: what is found is of the instants, which are floats.

    >>> from queues.advisory.heap import Heap
    >>> how = {"period_ms": 10_000, "runs": 1_000}
    >>> [cadence(Heap, {**how, "caller": caller}, 1).figures["drift_ns"] for caller in CALLERS]
    [0.0, 1000000000.0, 999000000000.0]
    """
    period, runs = params["period_ms"] / 1000, params["runs"]
    instants = run_instants(scheduler_class, params["caller"], period, runs)
    behind = Fraction(instants[-1]) - Fraction(instants[0]) - (runs - 1) * Fraction(period)
    a_run = behind / max(1, runs - 1)
    return Found(figures={"drift_ns": float(behind * SECOND_NS), "drift_a_run_ns": float(a_run * SECOND_NS)})
