"""What the advisory schedulers have in common: the table of jobs, the time line, and what advice does to a job.

A scheduler adds the one thing in which they differ, the way to the job that is next: `_front`, and four notes that
tell it what has changed. Meant to be inherited from, by the subjects of this folder.

Time line   A clock may go back. Inside, time never does: `_back` is how far the clock has gone back in all, an instant
            of the clock plus `_back` is one of the time line, and `_latest` is the furthest that was reached there.
            While the clock has never gone back nothing is added, so nothing is rounded. `_stepped` is where it last
            went back.
Errors      Everything that can be refused is worked out first and written down last, so a call that raises has changed
            nothing. The clock is asked before anything is looked at, so it may call the scheduler.
"""

from __future__ import annotations

import time
from operator import attrgetter

from queues.advisory.rules import (
    AT_ONCE,
    INFINITY,
    NEGATIVE_INFINITY,
    minus,
    no_job,
    plus,
    repeated,
    require_clock,
    require_id,
    require_now,
    require_period,
    unknown,
)
from queues.advisory.spread import places

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import Any

ORDER = attrgetter("next_run", "chosen", "added")
"""Most overdue, then least recently chosen, then least recently added; no two jobs are added at once."""


class Job:
    """What is known of one job.

    `last_run` is None before the first, `planned` is when advice last moved it, `entry` numbers its place in a heap.
    """

    __slots__ = ("added", "chosen", "entry", "job_id", "last_run", "next_run", "period", "planned", "userdata")

    def __init__(self, job_id: Hashable, period: Any, userdata: Any, added: int) -> None:
        """A job that never ran; `added` counts the jobs before it."""
        self.job_id: Hashable = job_id
        self.period = period
        self.userdata = userdata
        self.added = added
        self.chosen = 0
        self.last_run: Any = None
        self.next_run: Any = AT_ONCE
        self.planned: Any = INFINITY
        self.entry = 0


def advised(job: Job, now: Any, stepped: Any = NEGATIVE_INFINITY) -> tuple[Any, Any, Any]:
    """Return (delay, last run, next run) of `job` when it is advised at `now`; the clock last went back at `stepped`.

    "A period or more ahead" is asked by the sum that set the next run, so that rounding cannot move it. A job that was
    advised early, before the clock went back, may be almost two periods ahead: how much of that is over, nobody knows,
    so its delay is a period. O(1).

    >>> job = Job("mail", 10, None, 0)
    >>> advised(job, 5)
    (0, 5, 15)
    """
    next_run, period = job.next_run, job.period
    after = plus(now, period)
    if next_run <= now:
        return 0, now, after
    delay = minus(next_run, now)
    if next_run >= after:
        return period if job.planned <= stepped and delay > period else delay, job.last_run, next_run
    return delay, next_run, plus(next_run, period)


class Jobs:
    """The table of jobs behind every scheduler; `queues.advisory.contract.AdvisoryScheduler` has the meaning of all.

    >>> Jobs().all_jobs()
    []
    """

    __slots__ = ("__weakref__", "_added", "_auto_spread", "_back", "_chosen", "_clock", "_jobs", "_latest", "_stepped")

    def __init__(self, *, auto_spread: bool = False, clock: Callable[[], Any] = time.time) -> None:
        """A scheduler without jobs; TypeError for a clock that cannot be called."""
        require_clock(clock)
        self._auto_spread = auto_spread
        self._clock = clock
        self._jobs: dict[Hashable, Job] = {}
        self._added = 0  # jobs ever added
        self._chosen = 0  # advice ever given
        self._back: Any = 0
        self._latest: Any = NEGATIVE_INFINITY
        self._stepped: Any = NEGATIVE_INFINITY

    # What a scheduler adds

    def _front(self) -> Job:
        """Return the job that is next; there is one."""
        raise NotImplementedError

    def _advanced(self, job: Job) -> None:
        """The job that `_front` returned was chosen and has perhaps another next run."""

    def _entered(self, job: Job) -> None:
        """The job is new."""

    def _moved(self, job: Job, before: Any) -> None:
        """The job has perhaps another next run; it was `before`."""

    def _left(self, job: Job) -> None:
        """The job is gone."""

    def _all_moved(self) -> None:
        """Any job may have another next run."""

    # Time

    def _asked(self, now: Any) -> Any:
        """Return `now`, or the clock's; refuse what is no finite number."""
        if now is None:
            now = self._clock()
        kind = type(now)
        if (kind is not float and kind is not int) or not NEGATIVE_INFINITY < now < INFINITY:
            require_now(now)
        return now

    def _placed(self, now: Any) -> tuple[Any, Any, Any]:
        """Return `now` on the time line, and what `_back` and `_stepped` then are."""
        back = self._back
        here = plus(now, back) if back else now
        if here < self._latest:
            return self._latest, plus(back, minus(self._latest, here)), self._latest
        return here, back, self._stepped

    # The contract

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        """Return (id, delay, userdata) of the job to run next."""
        here, back, stepped = self._placed(self._asked(now))
        if not self._jobs:
            raise no_job()
        job = self._front()
        delay, last_run, next_run = advised(job, here, stepped)
        self._latest, self._back, self._stepped = here, back, stepped
        self._chosen += 1
        if next_run is not job.next_run:
            job.last_run, job.next_run, job.planned = last_run, next_run, here
        job.chosen = self._chosen
        self._advanced(job)
        return job.job_id, delay, job.userdata

    def add(self, job_id: Hashable, period: Any, userdata: Any = None) -> None:
        """Add a job; it is due at once."""
        require_period(period)
        require_id(job_id)
        now = self._asked(None) if self._auto_spread else None
        if job_id in self._jobs:
            raise repeated(job_id)
        job = Job(job_id, period, userdata, self._added)
        planned = self._planned([*self._jobs.values(), job], now) if self._auto_spread else None
        self._jobs[job_id] = job
        self._added += 1
        self._entered(job)
        self._carry_out(planned)

    def update_period(self, job_id: Hashable, period: Any) -> None:
        """Set the period and with it the next run."""
        require_period(period)
        now = self._asked(None) if self._auto_spread else None
        job = self._job(job_id)
        before = job.period, job.next_run
        next_run = AT_ONCE if job.last_run is None else plus(job.last_run, period)
        job.period, job.next_run = period, next_run
        planned = None
        if self._auto_spread:
            try:
                planned = self._planned(self._jobs.values(), now)
            except BaseException:
                job.period, job.next_run = before
                raise
        self._moved(job, before[1])
        self._carry_out(planned)

    def remove(self, job_id: Hashable) -> None:
        """Forget the job."""
        now = self._asked(None) if self._auto_spread else None
        job = self._job(job_id)
        planned = None
        if self._auto_spread:
            planned = self._planned([other for other in self._jobs.values() if other is not job], now)
        del self._jobs[job_id]
        self._left(job)
        self._carry_out(planned)

    def spread(self, now: Any = None) -> None:
        """Put jobs of similar period evenly over that period. O(n log n)."""
        now = self._asked(now)
        self._carry_out(self._planned(self._jobs.values(), now))

    def _planned(self, jobs: Iterable[Job], now: Any) -> tuple[tuple[Any, Any, Any], list[tuple[Job, Any]]]:
        """Return what a spread at `now` will write down, changing nothing."""
        placed = self._placed(now)
        return placed, places(jobs, placed[0])

    def _carry_out(self, planned: tuple[tuple[Any, Any, Any], list[tuple[Job, Any]]] | None) -> None:
        if planned is not None:
            (self._latest, self._back, self._stepped), moves = planned
            for job, next_run in moves:
                job.next_run = next_run
            self._all_moved()

    def all_jobs(self) -> list[Any]:
        """The ids in order of adding, in a new list. O(n)."""
        return list(self._jobs)

    def job_data(self, job_id: Hashable) -> tuple[Any, Any, Any]:
        """Return (last run, next run, period), in the clock's time. O(1)."""
        job = self._job(job_id)
        last_run = 0 if job.last_run is None else self._on_the_clock(job.last_run)
        next_run = 0 if job.next_run == AT_ONCE else self._on_the_clock(job.next_run)
        return last_run, next_run, job.period

    def _on_the_clock(self, here: Any) -> Any:
        return minus(here, self._back) if self._back else here

    def userdata(self, job_id: Hashable) -> Any:
        """The userdata as given, or None. O(1)."""
        return self._job(job_id).userdata

    def update_userdata(self, job_id: Hashable, value: Any) -> None:
        """Replace the userdata. O(1)."""
        self._job(job_id).userdata = value

    def delete_userdata(self, job_id: Hashable) -> None:
        """Let go of the userdata. O(1)."""
        self._job(job_id).userdata = None

    def _job(self, job_id: Hashable) -> Job:
        require_id(job_id)
        job = self._jobs.get(job_id)
        if job is None:
            raise unknown(job_id)
        return job
