"""The standard library's `sched.scheduler` behind the front of the advisory scheduler, as far as it goes.

Idea        A heap of events; `run(blocking=False)` pops what is due and calls it. For a periodic job the next event is
            entered when one has run, as in every recipe for a repeating timer.
Source      `sched` of CPython 3.11. `add` is enterabs at the clock's time, `next_job` is run(blocking=False) with a
            clock that stands at the first event or later, and enterabs; `remove` is cancel, `update_period` is cancel
            and enterabs. The action raises, which is how one gets out of `run` after one event.
Cost        next_job        O(log n) twice, under a lock
            add             O(log n)
            update_period   O(n): a linear search and a new heap
            remove          O(n): the same
            memory          a pointer, a named tuple of six with a sequence number, an index entry and a job a job
What differs
            sched has no periods: the next run is entered a period after the run. Whoever polls an idle schedule pushes
            it into the future, because nothing looks at how far ahead a job is.
            Ties go by a sequence number that each entry renews. That is the least recently chosen or added, but a job
            whose period is set loses its place.
            A new job is due when it was added, so it is late by the time of adding, not ahead of all that have run.
            A clock that goes back leaves everything where it was.
            NaN, infinities, negative numbers and what is no number are accepted, and spoil the heap.
            There is no spreading, and nothing is told of a job.
Ours        The table from id to event and period, with its KeyError and ValueError; userdata, which is an argument of
            the action.
"""

from __future__ import annotations

import time
from sched import scheduler

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any

PRIORITY = 0


def no_delay(_seconds: Any) -> None:
    """Between two events, no other thread is let in; a `run` that does not block asks for no other delay."""


class Advised(Exception):
    """Ends `run` after one event; `job` is what was run."""

    def __init__(self, job: Job) -> None:
        """Keep the job."""
        super().__init__(job)
        self.job = job


def advise(job: Job) -> None:
    """The action of every event."""
    raise Advised(job)


class Job:
    """What the action of an event gets: a job of `add`, and the event that stands for it now."""

    __slots__ = ("event", "job_id", "last_run", "period", "userdata")

    def __init__(self, job_id: Hashable, period: Any, userdata: Any) -> None:
        """A job without an event."""
        self.job_id = job_id
        self.period = period
        self.userdata = userdata
        self.last_run: Any = None
        self.event: Any = None


class AdvisorySched:
    """`sched.scheduler` as an advisory scheduler; the module says what it does not promise.

    >>> scheduler = AdvisorySched(clock=lambda: 1000)
    >>> scheduler.add("mail", 300)
    >>> scheduler.next_job(now=1000), scheduler.next_job(now=1100)
    (('mail', 0, None), ('mail', 200, None))
    """

    __slots__ = ("__weakref__", "_clock", "_events", "_jobs", "_scheduler")

    def __init__(self, *, clock: Callable[[], Any] = time.time) -> None:
        """A scheduler without jobs; `clock` is asked by `add`, and by `next_job` without a time."""
        self._clock = clock
        self._scheduler = scheduler(clock, no_delay)
        self._events: list[Any] = self._scheduler._queue  # type: ignore[attr-defined]
        self._jobs: dict[Hashable, Job] = {}

    def add(self, job_id: Hashable, period: Any, userdata: Any = None) -> None:
        """Enter an event at the clock's time. O(log n)."""
        if job_id in self._jobs:
            raise ValueError(f"job {job_id!r} is there already: remove it first")
        job = Job(job_id, period, userdata)
        self._enter(job, self._clock())
        self._jobs[job_id] = job

    def _enter(self, job: Job, at: Any) -> None:
        job.event = self._scheduler.enterabs(at, PRIORITY, advise, (job,))

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        """Run the first event as if it were its time, and enter the next one. O(log n); LookupError without jobs."""
        if now is None:
            now = self._clock()
        if not self._events:
            raise LookupError("there is no job: add one before asking for the next")
        first = self._events[0].time
        at = now if first <= now else first
        self._scheduler.timefunc = iter((at,)).__next__
        try:
            self._scheduler.run(blocking=False)
        except Advised as advised:
            job = advised.job
        job.last_run = at
        self._enter(job, at + job.period)
        return job.job_id, 0 if first <= now else first - now, job.userdata

    def update_period(self, job_id: Hashable, period: Any) -> None:
        """Cancel the event and enter one a period after the last run, at once for a job that never ran. O(n)."""
        job = self._jobs[job_id]
        self._scheduler.cancel(job.event)
        job.period = period
        self._enter(job, job.event.time if job.last_run is None else job.last_run + period)

    def remove(self, job_id: Hashable) -> None:
        """Cancel the event. O(n)."""
        self._scheduler.cancel(self._jobs.pop(job_id).event)

    def all_jobs(self) -> list[Any]:
        """The ids in order of adding, from our own table. O(n)."""
        return list(self._jobs)
