"""APScheduler's memory job store and interval trigger behind the front of the advisory scheduler, as far as they go.

Idea        A list of `(job, timestamp)` sorted by timestamp and job id, and a dict from id to job. What its scheduler
            does to a due job: the runs that were missed are made one, and the trigger says when the next is.
Source      APScheduler 3.11.3, apscheduler/jobstores/memory.py, triggers/interval.py and _process_jobs of
            schedulers/base.py. `add` is add_job with a first run now, `next_job` is the body of the loop in
            _process_jobs on the first job, `update_period` is reschedule_job, `remove` is remove_job.
Cost        next_job        O(missed runs + log n) in Python, and two block moves of all behind
            add             O(log n) in Python, a block move of all behind, a look at the function's signature
            update_period   as next_job
            remove          O(log n) in Python, a block move of all behind
            memory          a pointer, two tuples, a job of 16 fields with a dict, a trigger, an index entry a job
What differs
            The cadence is a grid from the first run on, whenever the caller comes.
            Advice that is early moves the job as well, as a run does: whoever polls an idle schedule pushes it on.
            Ties go by id as text, so "10" comes before "2". Ids are text, anything else is a TypeError.
            A period that is changed counts from now, not from the last run.
            Instants are rounded to the microsecond, between the years 1 and 9999. A period of 0 is one of a second,
            negative ones are accepted, an infinite one is an OverflowError. Fraction and Decimal are a TypeError. The
            runs that were missed are listed before they are made one, so a long silence takes time and memory.
            An id that is there already is a KeyError.
            There is no spreading but a random jitter, and nothing is told of a job.
Ours        The clock: the library asks datetime.now. That a first run now is asked for, which is an option of add_job.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from apscheduler.job import Job
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.triggers.interval import IntervalTrigger

from queues.peers.apscheduler_store import ZONE, dispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class AdvisoryApscheduler:
    """The memory job store as an advisory scheduler; the module says what it does not promise.

    >>> scheduler = AdvisoryApscheduler(clock=lambda: 1000)
    >>> scheduler.add("mail", 300)
    >>> scheduler.next_job(now=1000), scheduler.next_job(now=1100)
    (('mail', 0, None), ('mail', 200.0, None))
    """

    __slots__ = ("__weakref__", "_clock", "_jobs", "_store")

    def __init__(self, *, clock: Callable[[], Any] = time.time) -> None:
        """A scheduler without jobs; `clock` is asked by add and update_period, and by `next_job` without a time."""
        self._clock = clock
        self._store: Any = MemoryJobStore()
        self._jobs: list[Any] = self._store._jobs

    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        """Add a job with a first run now. O(log n) and a block move."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        trigger = IntervalTrigger(seconds=period, start_date=now, timezone=UTC)
        job = Job(ZONE, id=job_id, trigger=trigger, func=dispatch, args=(userdata,), kwargs={}, next_run_time=now)
        self._store.add_job(job)

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        """Do to the first job what a run does. O(missed runs + log n), two block moves; LookupError without jobs."""
        if now is None:
            now = self._clock()
        at = datetime.fromtimestamp(now, UTC)
        if not self._jobs:
            raise LookupError("there is no job: add one before asking for the next")
        job, start = self._jobs[0]
        due = job._get_run_times(at)
        last = due[-1] if due else job.next_run_time
        job._modify(next_run_time=job.trigger.get_next_fire_time(last, max(at, last)))
        self._store.update_job(job)
        return job.id, 0 if due else start - now, job.args[0]

    def update_period(self, job_id: Any, period: Any) -> None:
        """Reschedule with a new trigger, which begins a period from now. Two block moves."""
        job = self._store.lookup_job(job_id)
        if job is None:
            raise KeyError(job_id)
        now = datetime.fromtimestamp(self._clock(), UTC)
        trigger = IntervalTrigger(seconds=period, start_date=now + timedelta(seconds=period), timezone=UTC)
        job._modify(trigger=trigger, next_run_time=trigger.get_next_fire_time(None, now))
        self._store.update_job(job)

    def remove(self, job_id: Any) -> None:
        """Remove the job; JobLookupError, a KeyError, for an unknown id. O(log n) and a block move."""
        self._store.remove_job(job_id)

    def all_jobs(self) -> list[Any]:
        """The ids in the order of the store, by next run. O(n)."""
        return [job.id for job in self._store.get_all_jobs()]
