"""The array one writes first: a plain list, cut with `del` and put back with a slice assignment at the front.

Idea        One list of tuples `(start, *message)` in start order. `bisect` finds the cut, `del queue[:due]` removes it,
            `queue[:0] = rest` puts back.
Source      The obvious Python: the `bisect` module's own recipes, without thought for what a list does at its front.
Cost        enqueue         in order O(1), amortised over growth; else O(log n) and a block move of all behind the place
            take            O(log n + due), and a block move of everything behind
            process         O(1) a message
            requeue         O(left in the batch), and a block move of everything behind; a merge sorts everything
            cancel          O(log n + equal starts), and a block move of everything behind
            memory          one pointer and one tuple a message; the list gives its room back by halves
Invariants  Starts never fall along the list.
Weakness    A Python list has no room in front: `take` and `requeue` move every pointer of the queue, each time. Kept to
            show that cost next to queues.timer.array.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from itertools import pairwise
from weakref import ref

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


class ArrayNaive:
    """A timer queue in a plain list; `queues.contract.TimerQueue` says what each call means.

    >>> queue = ArrayNaive()
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
        self._queue: list[Any] = []
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1) amortised, else a block move."""
        require_instant(start)
        queue = self._queue
        if not queue or start >= queue[-1][0]:
            queue.append((start,) + message)
        else:
            queue.insert(bisect_right(queue, start, key=START), (start,) + message)

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(messages queued)."""
        if now is None:
            now = self._clock()
        require_instant(now, "now")
        queue = self._queue
        due = bisect_right(queue, now, key=START)
        if limit is not None:
            due = min(due, require_limit(limit))
        if not due:
            return None
        batch = ArrayBatch(self._reference, queue[:due])
        del queue[:due]
        return batch

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. O(messages queued)."""
        require_batch(batch, ArrayBatch, self)
        rest = batch.rest()
        if not rest:
            return 0
        queue = self._queue
        late = bool(queue) and batch.latest > queue[0][0]
        queue[:0] = rest
        batch.empty()
        if late:
            queue.sort(key=START)  # stable: equal starts of the batch stay in front
            self.merged += len(rest)
        return len(rest)

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(messages queued)."""
        require_instant(start)
        match = watched(match, self, self._active)
        lists = [(batch.items, batch.at + 1) for batch in self._active] + [(self._queue, 0)]
        for items, low in lists:
            index, passed = find(items, low, start, match)
            self.walked += passed
            if index is not None:
                item: tuple[Any, ...] = items.pop(index)
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
        return iter(self._queue[:])

    def container(self) -> Iterator[object]:
        """The queue and its list."""
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
