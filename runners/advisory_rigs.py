"""Advisory schedulers set up for a workload, the loops that time their calls, and the check that comes after.

The clock is simulated: it moves as the advice says, so a schedule of hours is gone through in a second, and the k-th
call is the same call in every process. Jobs have periods of a minute to an hour, in an order that follows from the
seed; before the first timed call their next runs are spread over them. A loop is as in runners/latency.py.
"""

from __future__ import annotations

from contextvars import ContextVar
from itertools import repeat
from operator import is_

from runners.latency import NULL_CALLS, CheckFailed
from runners.rigs import Rig, shuffled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Samples: TypeAlias = tuple[Any, ...]
    Parameters: TypeAlias = dict[str, int]
    Arguments: TypeAlias = tuple[Any, ...]

PERIODS = (60.0, 61.0, 90.0, 120.0, 300.0, 320.0, 900.0, 3600.0)
"""Seconds. Some are alike, some are multiples of others."""

WORK = 0.001
"""Seconds that a job takes on the simulated clock."""

CHECKED = 50
"""So many calls of the check; a thousand jobs or fewer are all asked for."""

ALL = 1_000
LATER = 1e4
"""Seconds after which every job is overdue: none is two periods ahead."""


class Standing:
    """A clock that stands at `now`."""

    __slots__ = ("now",)

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class NullScheduler:
    """An advisory scheduler that does nothing, in the cheapest calls that the interpreter has, as runners.null has it.

    >>> scheduler = NullScheduler()
    >>> scheduler.next_job(5.0), scheduler.add("job", 60.0), scheduler.remove("job")
    (('job', 0.0, None), False, False)
    """

    __slots__ = ("add", "next_job", "remove", "spread", "update_period")

    def __init__(self) -> None:
        preset: ContextVar[Any] = ContextVar("preset")
        preset.set(("job", 0.0, None))
        self.next_job: Any = preset.get  # (now): the advice, whatever now is; it would be the default
        self.add: Any = is_  # (id, period)
        self.update_period: Any = is_  # (id, period)
        self.remove: Any = callable  # (id)
        self.spread: Any = callable  # (now)


def ids_and_periods(jobs: int, seed: int) -> Iterable[tuple[str, float]]:
    """Return so many ids, each with its period."""
    return ((f"job-{number}", PERIODS[int(place) % len(PERIODS)]) for number, place in enumerate(shuffled(jobs, seed)))


def filled(scheduler_class: Any, jobs: int, seed: int) -> tuple[Any, Standing]:
    """Return a scheduler with so many jobs, none of which ever ran, and its clock, which stands at 0."""
    clock = Standing()
    scheduler = scheduler_class(clock=clock)
    add = scheduler.add
    for job_id, period in ids_and_periods(jobs, seed):
        add(job_id, period)
    return scheduler, clock


def steady(scheduler_class: Any, jobs: int, seed: int) -> tuple[Any, Standing]:
    """Return the same with next runs that are spread; without `spread`, each is added and run at a time of its own."""
    if callable(getattr(scheduler_class, "spread", None)):
        scheduler, clock = filled(scheduler_class, jobs, seed)
        scheduler.spread(0.0)
        return scheduler, clock
    clock = Standing()
    scheduler = scheduler_class(clock=clock)
    for number, (job_id, period) in enumerate(ids_and_periods(jobs, seed)):
        clock.now = PERIODS[0] * number / jobs
        scheduler.add(job_id, period)
        scheduler.next_job(clock.now)
    return scheduler, clock


def expecting(scheduler: Any, clock: Standing, jobs: int) -> Callable[[], None]:
    """Return the check that `scheduler` has so many jobs, each of which comes once when all are overdue."""

    def check() -> None:
        found = scheduler.all_jobs()
        if len(found) != jobs or len(set(found)) != jobs:
            raise CheckFailed(f"the scheduler holds {len(found)} jobs, {len(set(found))} different: expected {jobs}")
        asked = jobs if jobs <= ALL else CHECKED
        clock.now += LATER
        advice = [scheduler.next_job(clock.now) for _ in range(asked)]
        ids = {job_id for job_id, _, _ in advice}
        if len(ids) != asked or not ids <= set(found):
            raise CheckFailed(f"{asked} calls with all jobs overdue advised {len(ids)} jobs: expected each once")
        if any(delay for _, delay, _ in advice):
            raise CheckFailed("an overdue job was advised with a delay")

    return check


def advising(scheduler_class: Any, params: Parameters, seed: int) -> Rig:
    """A steady schedule."""
    scheduler, clock = steady(scheduler_class, params["jobs"], seed)
    return Rig(scheduler, (scheduler, clock), expecting(scheduler, clock, params["jobs"]))


def updating(scheduler_class: Any, params: Parameters, seed: int) -> Rig:
    """A steady schedule, and the periods that are set, in turn."""
    rig = advising(scheduler_class, params, seed)
    return Rig(rig.queue, (*rig.arguments, PERIODS), rig.check)


def spreading(scheduler_class: Any, params: Parameters, seed: int) -> Rig:
    """As many schedulers as calls, all of whose jobs are due at once; the last one is looked at afterwards."""
    made = [filled(scheduler_class, params["jobs"], seed) for _ in range(params["calls"])]
    schedulers = [scheduler for scheduler, _ in made]
    last, clock = made[-1]

    def check() -> None:
        runs = [last.job_data(job_id)[1] for job_id in last.all_jobs()]
        if len(set(runs)) != params["jobs"]:
            raise CheckFailed(
                f"{params['jobs']} jobs have {len(set(runs))} next runs after spread: expected all different"
            )
        expecting(last, clock, params["jobs"])()

    return Rig(last, (schedulers, 0.0), check)


def null_advising(params: Parameters) -> Arguments:
    """Of the loops that ask for the next job."""
    return NullScheduler(), Standing()


def null_updating(params: Parameters) -> Arguments:
    """Of the loop that sets periods."""
    return NullScheduler(), Standing(), PERIODS


def null_spreading(params: Parameters) -> Arguments:
    """Of the loop that spreads."""
    return [*repeat(NullScheduler(), NULL_CALLS)], 0.0


def next_job_each(clock: Clock, samples: Samples, calls: int, scheduler: Any, time: Standing) -> None:
    """Ask for the next job; untimed, wait as advised and work."""
    (next_job_samples,) = samples
    next_job = scheduler.next_job
    for call in range(calls):
        now = time.now
        t0 = clock()
        advice = next_job(now)
        t1 = clock()
        next_job_samples[call] = t1 - t0
        time.now += advice[1] + WORK


def replace_each(clock: Clock, samples: Samples, calls: int, scheduler: Any, time: Standing) -> None:
    """Remove the job that comes next and add it again; untimed, it runs then, so the schedule is steady."""
    remove_samples, add_samples = samples
    next_job, remove, add = scheduler.next_job, scheduler.remove, scheduler.add
    for call in range(calls):
        job_id, delay, _ = next_job(time.now)
        time.now += delay + WORK
        period = PERIODS[call % len(PERIODS)]
        t0 = clock()
        remove(job_id)
        t1 = clock()
        remove_samples[call] = t1 - t0
        t0 = clock()
        add(job_id, period)
        t1 = clock()
        add_samples[call] = t1 - t0
        next_job(time.now)


def update_period_each(
    clock: Clock, samples: Samples, calls: int, scheduler: Any, time: Standing, periods: tuple[float, ...]
) -> None:
    """Set the period of the job that has just been advised."""
    (update_samples,) = samples
    next_job, update_period = scheduler.next_job, scheduler.update_period
    for call in range(calls):
        job_id, delay, _ = next_job(time.now)
        time.now += delay + WORK
        period = periods[call % len(periods)]
        t0 = clock()
        update_period(job_id, period)
        t1 = clock()
        update_samples[call] = t1 - t0


def spread_each(clock: Clock, samples: Samples, calls: int, schedulers: list[Any], now: float) -> None:
    """Spread one scheduler a call, of which all jobs are due at once."""
    (spread_samples,) = samples
    for call, scheduler in zip(range(calls), schedulers, strict=True):
        spread = scheduler.spread
        t0 = clock()
        spread(now)
        t1 = clock()
        spread_samples[call] = t1 - t0
