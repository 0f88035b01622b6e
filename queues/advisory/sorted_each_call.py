"""The document's algorithm: every call of `next_job` puts all jobs in order and takes the first.

Idea        A table of jobs and no order at all; `next_job` sorts it by next run, least recently chosen, least recently
            added.
Source      Schedule::Advisory 1.002, section ALGORITHM. Not taken over: its `now=0` that counts as no time at all, and
            its last run of 0 that counts as a run at 0.
Cost        next_job        O(n log n), and a key for every job
            add             O(1)
            update_period   O(1)
            remove          O(1)
            spread          O(n log n)
            memory          a job and an index entry a job; a list and n keys while it sorts
Invariants  None beyond the table.
Weakness    All of it, for one job: `heap` does the same in O(log n).
"""

from __future__ import annotations

from queues.advisory.jobs import ORDER, Job, Jobs

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator


class SortedEachCall(Jobs):
    """An advisory scheduler that sorts at each call; `queues.advisory.contract.AdvisoryScheduler` says what is what.

    >>> scheduler = SortedEachCall()
    >>> scheduler.add("mail", 300)
    >>> scheduler.add("news", 320, "all of it")
    >>> scheduler.next_job(now=1000), scheduler.next_job(now=1000), scheduler.next_job(now=1000)
    (('mail', 0, None), ('news', 0, 'all of it'), ('mail', 300, None))
    >>> scheduler.job_data("news")
    (1000, 1320, 320)
    """

    __slots__ = ()

    def _front(self) -> Job:
        """The first of all jobs in order. O(n log n)."""
        return sorted(self._jobs.values(), key=ORDER)[0]

    def container(self) -> Iterator[object]:
        """The scheduler and its table."""
        yield self
        yield self._jobs

    def check(self) -> None:
        """Assert that every job is where its id says, with the whole table in the failure. O(n)."""
        wrong = [(job_id, job.job_id) for job_id, job in self._jobs.items() if job_id is not job.job_id]
        if wrong:
            raise AssertionError(f"jobs under another id: {wrong}; all: {self.all_jobs()}")
