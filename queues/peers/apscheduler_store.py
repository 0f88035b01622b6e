"""APScheduler's memory job store behind the front of our contract.

Idea        A list of `(job, timestamp)` sorted by timestamp and job id, and a dict from id to job. The scheduler asks
            for the jobs that are due, submits them to an executor, and removes those that will not run again.
Source      APScheduler 3.11.3, apscheduler/jobstores/memory.py and apscheduler/job.py. `enqueue` is a Job and add_job,
            `take` is get_due_jobs and a remove_job for each, `requeue` is add_job, `cancel` is remove_job, `next_start`
            is get_next_run_time, `contents` is get_all_jobs. A job has a function, arguments, a run time, and the id
            that APScheduler gives; the trigger and the limits that its scheduler adds are left out.
Cost        enqueue         O(log n) in Python, a block move of all behind, a look at the function's signature
            take            O(due * log n) in Python, and a block move of all behind for each message
            requeue         O(left * log n) in Python, and a block move of all behind for each message
            cancel          O(log n) in Python, and a block move of all behind (and see queues.peers.handles)
            contents        O(n)
            memory          a pointer, two tuples, a job of 16 fields with a dict, an index entry, a long id a message
What differs
            Run times are datetimes. Starts and nows are rounded to the microsecond: what starts up to half of one later
            than now is taken early, and starts as close as that are ties. There are only the years 1 to 9999: a start
            that is infinite or beyond them is an OverflowError or a ValueError. Fraction and Decimal are a TypeError.
            Equal starts are ordered by their ids, which are random: checks that have equal starts by the way may break,
            or be kept by luck. What is put back keeps its id, so it is not ahead of equal starts either.
            A job store does not dispatch (the scheduler hands its jobs to a pool of threads), so there is no `process`.
            `take` cannot be limited.
Ours        The batch: the scheduler removes a job when it has been submitted. A `now` beyond the range of datetime is
            the end of the range, so that all is due at infinity. The clock is always time.time, as the scheduler's is.
            The length: the store has none but that of a list of all jobs, so `len` looks at its own.
            Which of several equal starts `cancel` takes: the store is told the id.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from apscheduler.job import Job
from apscheduler.jobstores.memory import MemoryJobStore

from queues.peers.handles import first, forget, keep, kept

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from queues.peers.handles import Kept

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
EARLIEST_SECONDS = -62_135_596_800
END_SECONDS = 253_402_300_800
"""The years 1 to 9999, as seconds since 1970: EARLIEST is the first of them, LATEST a microsecond before the end."""


class Zone:
    """What a job asks its scheduler for."""

    timezone = UTC


ZONE = Zone()


def dispatch(*_message: Any) -> None:
    """The function of every job; nobody calls it, the messages are its arguments."""


def moment(now: Any) -> datetime:
    """Return `now` as a datetime, rounded to the microsecond; beyond the range of datetime, the end of the range.

    >>> moment(0.5).isoformat(), moment(float("inf")).year, moment(float("-inf")).year
    ('1970-01-01T00:00:00.500000+00:00', 9999, 1)
    """
    if now >= END_SECONDS:
        return LATEST
    if now <= EARLIEST_SECONDS:
        return EARLIEST
    return datetime.fromtimestamp(now, UTC)


def message_of(job: Any) -> tuple[Any, ...]:
    """Return `(start, *message)` of a job."""
    arguments: tuple[Any, ...] = job.args
    return arguments


class JobBatch:
    """Jobs that were due; iterating yields `(start, *message)`."""

    __slots__ = ("__weakref__", "jobs")

    def __init__(self, jobs: list[Any]) -> None:
        """Hold `jobs`."""
        self.jobs = jobs

    def __len__(self) -> int:
        """Jobs left. O(1)."""
        return len(self.jobs)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The messages, in the order of the store."""
        return map(message_of, self.jobs)


class ApschedulerStore:
    """The memory job store as a timer queue; the module says what of `queues.contract.TimerQueue` it does not promise.

    >>> queue = ApschedulerStore()
    >>> for start in (2, 3, 1):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> list(batch), len(queue)
    ([(1, 'mail'), (2, 'mail')], 1)
    """

    __slots__ = ("__weakref__", "_jobs", "_kept", "_store")

    def __init__(self) -> None:
        """An empty queue."""
        self._store: Any = MemoryJobStore()
        self._jobs: list[Any] = self._store._jobs
        self._kept: Kept | None = None  # made by the first cancel

    def enqueue(self, start: Any, *message: Any) -> None:
        """Add a job. O(log n) and a block move; OverflowError or ValueError outside the years 1 to 9999."""
        run_time = datetime.fromtimestamp(start, UTC)
        self._add(Job(ZONE, func=dispatch, args=(start, *message), kwargs={}, next_run_time=run_time))

    def _add(self, job: Any) -> None:
        self._store.add_job(job)
        if self._kept is not None:
            keep(self._kept, job.args[0], job)

    def take(self, now: Any = None) -> JobBatch | None:
        """Remove the jobs that are due at `now` and return them, or None. O(due * (log n + block move))."""
        jobs = self._store.get_due_jobs(moment(time.time() if now is None else now))
        if not jobs:
            return None
        remove = self._store.remove_job
        for job in jobs:
            remove(job.id)
            if self._kept is not None:
                forget(self._kept, job.args[0], job)
        return JobBatch(jobs)

    def requeue(self, batch: JobBatch) -> int:
        """Add what is left again and return how many. O(left * (log n + block move))."""
        left = len(batch)
        for job in batch.jobs:
            self._add(job)
        batch.jobs = []
        return left

    def cancel(self, start: Any, match: Any = None) -> tuple[Any, ...] | None:
        """Remove the first queued job at exactly `start` that matches and return its message, or None."""
        if self._kept is None:
            self._kept = kept((job.args[0], job) for job in self._store.get_all_jobs())
        job = first(self._kept, start, match, message_of)
        if job is None:
            return None
        self._store.remove_job(job.id)
        forget(self._kept, job.args[0], job)
        return message_of(job)

    def __len__(self) -> int:
        """Jobs in the store. O(1)."""
        return len(self._jobs)

    @property
    def next_start(self) -> Any:
        """The earliest run time in seconds, as a float rounded to the microsecond, or None. O(1)."""
        run_time = self._store.get_next_run_time()
        return None if run_time is None else run_time.timestamp()

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The messages in the store, earliest first. O(n)."""
        return map(message_of, self._store.get_all_jobs())
