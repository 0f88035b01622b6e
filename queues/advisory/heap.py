"""A binary heap over the next runs, so that no call looks at more than a path from its top to its bottom.

Idea        Entries `(next run, chosen, added, number, job)`. What `next_job` advises is the top, and it is replaced
            there, so polling makes no entry that was not there before. A job that is moved or removed leaves its entry
            behind, dead; a job knows the number of the one that is alive. No two entries have the same number, so a
            comparison never reaches a job, and a job does not refer to its entry, so dropping the scheduler frees all.
Source      The priority queue of the `heapq` documentation. Purging once too much of the heap is dead is what asyncio
            does with cancelled timers.
Cost        next_job        O(log n)
            add             O(log n), because a new job is due at once and rises to the top
            update_period   O(log n), amortised over the purges; O(1) for a job that never ran
            remove          O(1), amortised over the purges
            spread          O(n log n)
            memory          a pointer, a tuple of five, a number and a job a job; at most SLACK more dead entries than
                            live ones
Invariants  The heap property over (next run, chosen, added). Every job has exactly one live entry, equal to its key.
            The top is live. `_dead` entries are dead, at most SLACK more than there are jobs.
Weakness    The call that purges takes O(n): one in n of those that move or remove a job.
"""

from __future__ import annotations

import time
from heapq import heapify, heappop, heappush, heapreplace

from queues.advisory.jobs import ORDER, Job, Jobs

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

SLACK = 32  # dead entries not worth a purge


class Heap(Jobs):
    """An advisory scheduler in a binary heap; `queues.advisory.contract.AdvisoryScheduler` says what each call means.

    >>> scheduler = Heap()
    >>> scheduler.add("mail", 300)
    >>> scheduler.add("news", 320, "all of it")
    >>> scheduler.next_job(now=1000), scheduler.next_job(now=1000), scheduler.next_job(now=1000)
    (('mail', 0, None), ('news', 0, 'all of it'), ('mail', 300, None))
    >>> scheduler.job_data("news")
    (1000, 1320, 320)
    """

    __slots__ = ("_dead", "_heap", "_number")

    def __init__(self, *, auto_spread: bool = False, clock: Callable[[], Any] = time.time) -> None:
        """A scheduler without jobs; TypeError for a clock that cannot be called."""
        super().__init__(auto_spread=auto_spread, clock=clock)
        self._heap: list[tuple[Any, int, int, int, Job]] = []
        self._dead = 0
        self._number = 0  # entries ever made

    def _front(self) -> Job:
        return self._heap[0][4]

    def _entry(self, job: Job) -> tuple[Any, int, int, int, Job]:
        self._number = job.entry = number = self._number + 1
        return job.next_run, job.chosen, job.added, number, job

    def _advanced(self, job: Job) -> None:
        """Replace the top. O(log n)."""
        heapreplace(self._heap, self._entry(job))
        if self._dead:
            self._settle()

    def _entered(self, job: Job) -> None:
        heappush(self._heap, self._entry(job))

    def _moved(self, job: Job, before: Any) -> None:
        if job.next_run != before:
            heappush(self._heap, self._entry(job))
            self._dead += 1
            self._settle()

    def _left(self, job: Job) -> None:
        """A dead entry holds on to its job, so the job lets go of what is the user's."""
        job.entry = 0
        job.job_id = job.userdata = None
        self._dead += 1
        self._settle()

    def _all_moved(self) -> None:
        """Make the heap anew. O(n)."""
        self._heap[:] = [self._entry(job) for job in self._jobs.values()]
        heapify(self._heap)
        self._dead = 0

    def _settle(self) -> None:
        """Drop dead entries from the top, and all of them once they outweigh the live ones.

        A purge costs O(n) and comes after as many calls that left a dead entry.
        """
        heap = self._heap
        if self._dead > len(self._jobs) + SLACK:
            heap[:] = [entry for entry in heap if entry[3] == entry[4].entry]
            heapify(heap)
            self._dead = 0
        while heap and heap[0][3] != heap[0][4].entry:
            heappop(heap)
            self._dead -= 1

    def container(self) -> Iterator[object]:
        """The scheduler, its table and its heap with the entries, dead ones too."""
        yield self
        yield self._jobs
        yield self._heap
        yield from self._heap

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(n)."""
        heap = self._heap
        keys = [entry[:3] for entry in heap]
        live = [entry for entry in heap if entry[3] == entry[4].entry]
        wrong = []
        if any(keys[at] < keys[(at - 1) // 2] for at in range(1, len(keys))):
            wrong.append("a child comes before its parent")
        if len(live) != len(self._jobs) or {id(entry[4]) for entry in live} != set(map(id, self._jobs.values())):
            wrong.append(f"{len(live)} live entries for {len(self._jobs)} jobs")
        if any(entry[:3] != ORDER(entry[4]) for entry in live):
            wrong.append("a live entry is not the key of its job")
        if any(job_id is not job.job_id for job_id, job in self._jobs.items()):
            wrong.append("a job stands under another id")
        if self._dead != len(heap) - len(live):
            wrong.append(f"{len(heap) - len(live)} entries are dead, not {self._dead}")
        if self._dead > len(self._jobs) + SLACK:
            wrong.append("a purge is due")
        if heap and heap[0][3] != heap[0][4].entry:
            wrong.append("the top is dead")
        if wrong:
            raise AssertionError(f"{'; '.join(wrong)}: {len(self._jobs)} jobs, heap {keys[:50]}")
