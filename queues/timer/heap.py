"""The binary heap everybody reaches for: `heapq`, with a sequence number that keeps equal starts in order of arrival.

Idea        Entries `(start, sequence, *message)`. Sequence numbers rise with each arrival and fall below zero with what
            is put back, so that it stands ahead of equal starts; no two are the same, so a comparison of entries ends
            there and never reaches a message.
Source      The priority queue of the `heapq` documentation; asyncio, trio and `sched` do the same. Cancelling lazily
            and purging when too much of the heap is dead is what asyncio and trio do.
Cost        enqueue         O(log n) if it has to rise to the top, O(1) in start order, which the heap does not notice
            take            O(due · log n): every message is popped on its own
            process         O(1) a message
            requeue         O(left · log n), or O(n + left) when that is less: every message is pushed on its own
            cancel          O(n): a heap has no order to search by; the message goes at once, its entry later
            memory          one pointer, one tuple and one number a message, and at most SLACK more dead entries than
                            live ones
Invariants  The heap property over (start, sequence); sequence numbers are distinct and within `_first` and `_next`.
            The top is live. `_cancelled` dead entries, at most SLACK more than live ones.
Weakness    What is due is moved one by one, twice: out of the heap and back into it. Whoever has to cancel often keeps
            an index of starts beside the heap; queues.timer.buckets is that.
"""

from __future__ import annotations

import time
from heapq import heapify, heappop, heappush
from weakref import ref

from queues.timer.array_batch import ArrayBatch, check_batch, find
from queues.timer.rules import (
    NEGATIVE_INFINITY,
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

CANCELLED = object()  # in place of the message in a dead entry
SLACK = 32  # dead entries not worth a purge


class Heap:
    """A timer queue in a binary heap; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Heap()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents())
    [(3, 'mail')]
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_cancelled",
        "_clock",
        "_first",
        "_heap",
        "_next",
        "_reference",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._heap: list[tuple[Any, ...]] = []
        self._cancelled = 0
        self._first = 0  # the lowest sequence number given to what was put back
        self._next = 0  # the next one for what arrives
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. O(log n), in order O(1)."""
        try:
            ordered = start >= NEGATIVE_INFINITY  # pragma: no mutate: without it require_instant is asked, and tells
        except (TypeError, ArithmeticError):
            ordered = False  # None is the same: only its truth is asked for
        if not ordered:
            require_instant(start)
        sequence = self._next
        heappush(self._heap, (start, sequence) + message)
        self._next = sequence + 1

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(due · log n)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        heap = self._heap
        items: list[Any] = []
        while heap and heap[0][0] <= now:
            entry = heappop(heap)
            if entry[-1] is CANCELLED:
                self._cancelled -= 1
                continue
            items.append((entry[0],) + entry[2:])
            if len(items) == most:
                break
        if not items:
            return None
        self._settle()
        return ArrayBatch(self._reference, items)

    def _settle(self) -> None:
        """Drop dead entries from the top, and all of them once they outweigh the live ones.

        A purge costs O(n) and comes after as many cancellations or messages taken as it looks at.
        """
        heap = self._heap
        if self._cancelled > len(heap) - self._cancelled + SLACK:
            heap[:] = [entry for entry in heap if entry[-1] is not CANCELLED]
            heapify(heap)
            self._cancelled = 0
        while heap and heap[0][-1] is CANCELLED:
            heappop(heap)
            self._cancelled -= 1

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. O(left · log n) or O(n + left)."""
        require_batch(batch, ArrayBatch, self)
        rest = batch.rest()
        left = len(rest)
        if not left:
            return 0
        heap = self._heap
        if heap and batch.latest > heap[0][0]:
            self.merged += left
        first = self._first - left
        entries = [(item[0], sequence, *item[1:]) for sequence, item in enumerate(rest, first)]
        if left * len(heap).bit_length() > len(heap) + left:
            heap += entries
            heapify(heap)
        else:
            for entry in entries:
                heappush(heap, entry)
        self._first = first
        batch.empty()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(n)."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            index, passed = find(batch.items, batch.at + 1, start, match)
            self.walked += passed
            if index is not None:
                item: tuple[Any, ...] = batch.items.pop(index)
                return item
        heap = self._heap
        self.walked += len(self)
        there = sorted((entry[1], at) for at, entry in enumerate(heap) if entry[0] == start)
        for sequence, at in there:
            entry = heap[at]
            if entry[-1] is not CANCELLED and (match is None or match(*entry[2:])):
                heap[at] = (entry[0], sequence, CANCELLED)  # it sorts where the message did
                self._cancelled += 1
                self._settle()
                return (entry[0],) + entry[2:]
        return None

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return len(self._heap) - self._cancelled

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        return self._heap[0][0] if self._heap else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call. O(n log n): the heap has to be sorted."""
        return ((entry[0],) + entry[2:] for entry in sorted(self._heap) if entry[-1] is not CANCELLED)

    def container(self) -> Iterator[object]:
        """The queue and its list."""
        yield self
        yield self._active
        yield self._heap

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        heap = self._heap
        dead = sum(entry[-1] is CANCELLED for entry in heap)
        keys = [entry[:2] for entry in heap]
        sequences = {entry[1] for entry in heap}
        wrong = []
        if any(keys[at] < keys[(at - 1) // 2] for at in range(1, len(keys))):
            wrong.append("a child comes before its parent")
        if len(sequences) != len(heap) or (heap and not self._first <= min(sequences) <= max(sequences) < self._next):
            wrong.append("sequence numbers are repeated or were never given")
        if dead != self._cancelled:
            wrong.append(f"{dead} entries are dead, not {self._cancelled}")
        if dead > len(heap) - dead + SLACK:
            wrong.append("a purge is due")
        if heap and heap[0][-1] is CANCELLED:
            wrong.append("the top is dead")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: first {self._first}, next {self._next}, {len(self._active)} being processed, "
                f"merged {self.merged}, walked {self.walked}, keys {keys}"
            )
