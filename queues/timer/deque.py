"""The double-ended queue: free at both ends, so what is due leaves in front and comes back there; nothing in between.

Idea        One `collections.deque` of tuples `(start, *message)` in start order. Append when in order; else a binary
            search and an insertion. What is due is popped off the left, what is left is put back with `extendleft`.
Source      CPython's deque, a linked list of blocks of 64 pointers. Whoever knows that all delays are the same needs no
            more than this.
Cost        enqueue         in order O(1); else O(log n · n/64) to find the place, for a deque walks its blocks to an
                            index, and O(n) to insert there, for it rotates the shorter side twice
            take            O(due): a search that doubles its stride from the front, and one pop a message
            process         O(1) a message
            requeue         O(left): one pointer after the other; a merge also takes out and sorts in the late arrivals
            cancel          as an enqueue out of order, and the equal starts that are passed over
            memory          one pointer and one tuple a message, at most two blocks half empty
Invariants  Starts never fall along the deque.
Weakness    The middle. An index costs a walk over blocks, an insertion or a removal moves pointers one by one and not
            in a block as a list does.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import deque
from itertools import pairwise
from weakref import ref

from queues.timer.array import due_end
from queues.timer.array_batch import START, ArrayBatch, check_batch, find
from queues.timer.rules import (
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
    watched,
)

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Deque:
    """A timer queue in a deque; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Deque()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.requeue(batch), list(queue.contents())
    (2, [(1, 'mail'), (2, 'mail'), (3, 'mail')])
    """

    __slots__ = ("__weakref__", "_active", "_clock", "_queue", "_reference", "_window", "merged", "walked")

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._queue: Any = deque()
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1), else O(n)."""
        queue = self._queue
        try:
            in_order = queue and start >= queue[-1][0]
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        if in_order:
            queue.append((start,) + message)
        else:
            require_instant(start)
            queue.insert(bisect_right(queue, start, key=START), (start,) + message)

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(due)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        queue = self._queue
        end = len(queue)
        if most and most < end:  # at equality there is nothing to choose
            end = most
        due = due_end(queue, now, 0, end)
        return ArrayBatch(self._reference, self._popped(due)) if due else None

    def _popped(self, count: int) -> list[Any]:
        """Take the first `count` messages out. O(count)."""
        pop = self._queue.popleft
        return [pop() for _ in range(count)]

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. O(left), and a sort with the late arrivals."""
        require_batch(batch, ArrayBatch, self)
        block = batch.rest()
        left = len(block)
        if not left:
            return 0
        queue = self._queue
        if queue and batch.latest > queue[0][0]:
            late = self._popped(bisect_left(queue, batch.latest, key=START))
            block = block + late  # two runs in order; the sort is stable, so equal starts of the batch lead
            block.sort(key=START)
            self.merged += left
        queue.extendleft(reversed(block))
        batch.empty()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(n)."""
        require_instant(start)
        match = watched(match, self, self._active)
        lists = [(batch.items, batch.at + 1) for batch in self._active] + [(self._queue, 0)]
        for items, low in lists:
            index, passed = find(items, low, start, match)
            self.walked += passed
            if index is not None:
                item: tuple[Any, ...] = items[index]
                del items[index]
                return item
        return None

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return len(self._queue)

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        return self._queue[0][0] if self._queue else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call: changing the queue meanwhile is safe."""
        return iter(list(self._queue))

    def container(self) -> Iterator[object]:
        """The queue and its deque, whose size counts its blocks."""
        yield self
        yield self._active
        yield self._queue

    def check(self) -> None:
        """Assert that the queue, and every batch being processed, is in order. O(messages)."""
        starts = [item[0] for item in self._queue]
        wrong = []
        if not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: {len(self._active)} being processed, merged {self.merged}, "
                f"walked {self.walked}, starts {starts}"
            )
