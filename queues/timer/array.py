"""The strongest array that CPython allows: one list with a gap in front, which never pays for the length behind.

Idea        One list of tuples `(start, *message)` in start order. Removing from the front of a Python list moves all
            the rest, so nothing is removed there: the head moves up and leaves empty slots, the gap, into which a
            batch is put back by one slice assignment of the same length. The slot in front of the gap holds a floor
            that starts at -inf, so the last item of the list always has a start to compare with, in an empty queue too.
Source      Appending when in order and else a binary search and an insertion is POE::Queue::Array; moving the start
            instead of the rest is what Perl's `splice` and `unshift` do; the search for the cut doubles its stride from
            the front and then bisects (Bentley and Yao, "An almost optimal algorithm for unbounded searching", 1976);
            the merge of two runs is `list.sort`, which is made for that.
Cost        enqueue         in order O(1), amortised over growth; else O(log n) to find the place and a block move
                            of the pointers on its shorter side
            take            O(log due) to find the cut, a slice of `due` pointers and as many cleared
            process         O(1) a message
            requeue         a block copy of what is left; a merge sorts it with the late arrivals, O(left + late)
            cancel          O(log n + equal starts), and a block move of the shorter side
            memory          one pointer and one tuple a message; the gap is at most as long as what is queued, or a
                            minimum, when a batch is used up or the next one is taken
Invariants  Slot 0 is the floor, slots 1 to head - 1 are None, from the head on starts never fall. Nothing queued: the
            list is the floor alone and the head is 1.
Weakness    Growth and the closing of the gap now and then move every pointer in one call. The list keeps room for what
            it once held until the gap is closed. Taking and putting back copy a pointer for every message in the batch.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from itertools import pairwise
from weakref import ref

from queues.timer.array_batch import START, ArrayBatch, check_batch, find
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

FLOOR = (NEGATIVE_INFINITY,)
BLANK = [None] * 2048  # a filler as long as a large batch would cost more to make than to use
SMALLEST_GAP = 1024  # a gap up to here is not worth closing
FRONT_FAVOUR = 16  # copying a pointer on the front side costs about as much as moving this many behind


class Array:
    """A timer queue in one list with a gap in front; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Array()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents()), queue.walked
    ([(3, 'mail')], 0)
    """

    __slots__ = ("__weakref__", "_active", "_clock", "_head", "_items", "_reference", "_window", "merged", "walked")

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._items: list[Any] = [FLOOR]
        self._head = 1
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1) amortised, else see `_insert`."""
        items = self._items
        try:
            in_order = start >= items[-1][0]
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        if in_order:
            items.append((start,) + message)
        else:
            self._insert(start, (start,) + message)

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that starts before the last one, moving the shorter side. O(log n) and a block move."""
        if not start >= NEGATIVE_INFINITY:  # -inf itself may be asked about or not: it is an instant
            require_instant(start)
        items = self._items
        head = self._head
        place = bisect_right(items, start, head, key=START)
        if (place - head) * FRONT_FAVOUR < len(items) - place:
            self._put_in_front([*items[head:place], item], place)
        else:
            items.insert(place, item)

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(due), a block copy."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        items = self._items
        head = self._head
        if head > SMALLEST_GAP and head + head > len(items):
            head = self._close_gap()
        end = len(items)
        if most and head + most < end:  # at equality there is nothing to choose
            end = head + most
        try:
            cut = due_end(items, now, head, end)
        except (TypeError, ArithmeticError):
            require_instant(now, "now")
            raise
        if cut == head:
            require_instant(now, "now")
            return None
        batch = ArrayBatch(self._reference, items[head:cut])
        if cut == len(items):
            del items[1:]
            cut = 1
        elif cut - head == 1:
            items[head] = None
        else:
            blank(items, head, cut)
        self._head = cut
        return batch

    def _close_gap(self) -> int:
        """Move what is queued down to the floor and return the new head, 1.

        Only called when the gap is longer than what is queued, so each message taken has paid for it in advance.
        """
        del self._items[1 : self._head]
        self._head = 1
        return 1

    def _put_in_front(self, block: list[Any], end: int) -> None:
        """Let `block` stand in place of the items from the head up to index `end`; it may be longer than they are.

        It grows into the gap. When that is too short, everything moves once and the gap is made a quarter as long as
        what is behind, so that many small blocks do not each move everything.
        """
        items = self._items
        head = end - len(block)
        if head < 1:
            spare = (len(items) - end) // 4
            items[1:end] = [None] * spare + block
            head = 1 + spare
        else:
            items[head:end] = block
        self._head = head

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        if type(batch) is not ArrayBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        done = batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))
        head = self._head
        if head > SMALLEST_GAP and not batch and head + head > len(self._items):
            self._close_gap()
        return done

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. A block copy of that; a merge sorts it in."""
        if type(batch) is not ArrayBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ArrayBatch, self)
        left = len(batch)
        if not left:
            return 0
        block = batch.rest()
        items = self._items
        head = self._head
        if head == len(items) or batch.latest <= items[head][0]:
            self._put_in_front(block, head)
        else:
            late = bisect_left(items, batch.latest, head, key=START)
            block = block + items[head:late]  # two runs in order; the sort is stable, so equal starts of the batch lead
            block.sort(key=START)
            self._put_in_front(block, late)
            self.merged += left
        batch.empty()  # last, so that nothing is lost if a comparison is interrupted
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(log n) and a block move."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            index, passed = find(batch.items, batch.at + 1, start, match)
            self.walked += passed
            if index is not None:
                item: tuple[Any, ...] = batch.items.pop(index)
                return item
        index, passed = find(self._items, self._head, start, match)
        self.walked += passed
        return None if index is None else self._remove(index)

    def _remove(self, index: int) -> tuple[Any, ...]:
        """Take one item out, moving the shorter side."""
        items = self._items
        head = self._head
        item: tuple[Any, ...] = items[index]
        if (index - head) * FRONT_FAVOUR < len(items) - index:
            items[head : index + 1] = [None, *items[head:index]]
            self._head = head = head + 1
        else:
            del items[index]
        if head == len(items) or (head > SMALLEST_GAP and head + head > len(items)):
            self._close_gap()
        return item

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return len(self._items) - self._head

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        items = self._items
        head = self._head
        return items[head][0] if head < len(items) else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call: changing the queue meanwhile is safe."""
        return iter(self._items[self._head :])

    def container(self) -> Iterator[object]:
        """The queue and its list; the floor and the filler of the gap are shared by all queues."""
        yield self
        yield self._active
        yield self._items

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages and gap)."""
        items = self._items
        head = self._head
        starts = [item and item[0] for item in items[head:]]
        wrong = []
        if items[0] is not FLOOR:
            wrong.append("slot 0 is not the floor")
        if not 1 <= head <= len(items) or any(item is not None for item in items[1:head]):
            wrong.append("the gap is not empty")
        if None in starts or not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        if not starts and len(items) != 1:
            wrong.append("an empty queue keeps a gap")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: head {head}, {len(items)} slots, {len(self._active)} being processed, "
                f"merged {self.merged}, walked {self.walked}, starts {starts}"
            )


def blank(items: list[Any], low: int, high: int) -> None:
    """Set the items from `low` up to `high` to None, in their places. O(how many), nothing behind is moved.

    >>> items = [1, 2, 3, 4]
    >>> blank(items, 1, 3)
    >>> items
    [1, None, None, 4]
    """
    size = len(BLANK)
    if high - low <= size:  # at equality both ways do the same
        items[low:high] = BLANK[: high - low]
        return
    for at in range(low, high - size, size):
        items[at : at + size] = BLANK
    items[high - size : high] = BLANK  # clears some slots again: cheaper than a filler for the odd rest


def due_end(items: list[Any], now: Any, low: int, end: int) -> int:
    """The index behind the last item from `low` up to `end` with start <= now. O(log of how many there are).

    >>> due_end([(1,), (2,), (2,), (4,)], 2, 0, 4)
    3
    """
    probe = low
    stride = 1
    while probe < end and items[probe][0] <= now:
        low = probe + 1
        probe += stride
        stride += stride
    if low < probe:  # at equality there is nothing between them to search
        low = bisect_right(items, now, low, min(probe, end), key=START)
    return low
