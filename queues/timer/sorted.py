"""The sorted container that people install: `SortedList` of sortedcontainers, with a sequence number for equal starts.

Idea        Entries `(start, sequence, *message)` in a SortedList, which keeps sorted lists of about a thousand and
            bisects over their largest entries. Sequence numbers rise with each arrival and fall below zero with
            what is put back, so no two entries are equal, no message is compared, and what is put back comes first.
Source      sortedcontainers by Grant Jenks, version 2.4; its documentation proposes it for priority queues.
Cost        enqueue         O(log n + load) in any order, load being the thousand: no fast path in start order
            take            O(log n) for the cut, then O(due), and O(n) when an eighth or more of the queue goes
            process         O(1) a message
            requeue         O(left · (log n + load)), or a sort of everything when left is a quarter or more of n
            cancel          O(log n + load + equal starts)
            memory          one pointer, one tuple and one number a message, and a tree of positions
Invariants  Entries rise by (start, sequence). Sequence numbers are within `_first` and `_next`. The container's length
            and its list of largest entries agree with its lists.
Weakness    A range cannot be handed over: it is read, then deleted, and what is put back is new entries. `key=start`
            would save the sequence numbers, but that list has no way to put in front of equals.
"""

from __future__ import annotations

import time
from itertools import pairwise
from weakref import ref

from sortedcontainers import SortedList

from queues.timer.array_batch import ArrayBatch, check_batch, find
from queues.timer.rules import (
    INFINITY,
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


class Sorted:
    """A timer queue in a SortedList; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Sorted()
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
        "_clock",
        "_entries",
        "_first",
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
        self._entries: Any = SortedList()
        self._first = 0  # the lowest sequence number given to what was put back
        self._next = 0  # the next one for what arrives
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. O(log n + load)."""
        try:
            ordered = start >= NEGATIVE_INFINITY  # pragma: no mutate: without it require_instant is asked, and tells
        except (TypeError, ArithmeticError):
            ordered = False  # None is the same: only its truth is asked for
        if not ordered:
            require_instant(start)
        sequence = self._next
        self._entries.add((start, sequence) + message)
        self._next = sequence + 1

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(log n + due)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        entries = self._entries
        if not entries or not entries[0][0] <= now:
            return None
        due = entries.bisect_right((now, INFINITY))  # behind every sequence number
        if most and most < due:  # at equality there is nothing to choose
            due = most
        items = [(entry[0],) + entry[2:] for entry in entries.islice(0, due)]  # None for 0 is the same
        del entries[:due]
        return ArrayBatch(self._reference, items)

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. O(left · (log n + load))."""
        require_batch(batch, ArrayBatch, self)
        rest = batch.rest()
        left = len(rest)
        if not left:
            return 0
        entries = self._entries
        if entries and batch.latest > entries[0][0]:
            self.merged += left
        first = self._first - left
        entries.update([(item[0], sequence, *item[1:]) for sequence, item in enumerate(rest, first)])
        self._first = first
        batch.empty()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(log n + load + equals)."""
        require_instant(start)
        match = watched(match, self, self._active)
        item: tuple[Any, ...]
        for batch in self._active:
            index, passed = find(batch.items, batch.at + 1, start, match)
            self.walked += passed
            if index is not None:
                item = batch.items.pop(index)
                return item
        entries = self._entries
        at = entries.bisect_left((start, NEGATIVE_INFINITY))  # in front of every sequence number
        for entry in entries.islice(at):
            if entry[0] != start:
                break  # pragma: no mutate: behind it there is only the return
            if match is None or match(*entry[2:]):
                del entries[at]
                item = (entry[0],) + entry[2:]
                return item
            self.walked += 1
            at += 1
        return None

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return len(self._entries)

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        return self._entries[0][0] if self._entries else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call: changing the queue meanwhile is safe."""
        return ((entry[0],) + entry[2:] for entry in list(self._entries))

    def container(self) -> Iterator[object]:
        """The queue, the SortedList with what it keeps of itself, and each of its lists."""
        entries = self._entries
        yield self
        yield self._active
        yield entries
        yield vars(entries)
        yield entries._maxes
        yield entries._index
        yield entries._lists
        yield from entries._lists

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        lists = self._entries._lists
        keys = [entry[:2] for part in lists for entry in part]
        sequences = [key[1] for key in keys]
        wrong = []
        if not all(earlier < later for earlier, later in pairwise(keys)):
            wrong.append("out of order")
        if keys and not self._first <= min(sequences) <= max(sequences) < self._next:
            wrong.append("a sequence number was never given")
        if len(self._entries) != len(keys):
            wrong.append("the length is wrong")
        if [part[-1][:2] for part in lists if part] != [entry[:2] for entry in self._entries._maxes]:
            wrong.append("the largest entries are not those of the lists")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: length {len(self._entries)}, first {self._first}, next {self._next}, "
                f"{len(self._active)} being processed, merged {self.merged}, walked {self.walked}, keys {keys}"
            )
