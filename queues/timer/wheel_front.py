"""The front of the wheel: what its tick has come to, one list in start order that is cut, and put back into, in front.

Idea        A list with a gap in front, as in queues.timer.array, but one that usually leaves and comes back whole: then
            the list itself is handed over and nothing is copied.
Source      queues.timer.array, without its care for a long rest: what is not due stands in the slots of the wheel.
Cost        insert          in order O(1), else O(log n) and a block move
            cut             O(log due), and a block copy unless all of it is due
            put_in_front    O(1) into an empty front, else a block copy; what it overlaps with is sorted in
Invariants  Items before the head are None, from there starts never fall. Nothing there: the list is empty.
Weakness    Late arrivals into a long front move a block of it, one by one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from queues.timer.array import blank, due_end
from queues.timer.array_batch import START, find

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SMALLEST_GAP = 1024  # a gap in front up to here is not worth closing


class WheelFront:
    """Messages `(start, *message)` in start order: `items` from index `head` on.

    >>> front = WheelFront()
    >>> for start in (1, 3, 2):
    ...     front.insert(start, (start, "mail"))
    >>> front.cut(2, 0), front.rest()
    ([(1, 'mail'), (2, 'mail')], [(3, 'mail')])
    """

    __slots__ = ("head", "items")

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.head = 0

    def __len__(self) -> int:
        return len(self.items) - self.head

    def rest(self) -> list[Any]:
        """What is there, as a list of its own. A block copy."""
        return self.items[self.head :]

    def insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Put a message behind all that start no later. In order O(1), else a block move."""
        items = self.items
        # with <= the same, by way of the search
        if items and start < items[-1][0]:
            items.insert(bisect_right(items, start, self.head, key=START), item)
        else:
            items.append(item)

    def extend(self, items: list[Any]) -> None:
        """Put messages behind all others. O(1) into an empty front: the list is taken over."""
        if self.items:
            self.items += items
        else:
            self.items = items

    def cut(self, now: Any, most: int) -> list[Any]:
        """Take out what is due, at most `most` unless that is 0. The list itself, if that is all."""
        items = self.items
        head = self.head
        end = len(items)
        if most and head + most < end:  # or <=, which sets it to what it is
            end = head + most
        cut = due_end(items, now, head, end)
        if cut == len(items):
            self.items = []
            self.head = 0
            return items[head:] if head else items
        due = items[head:cut]
        blank(items, head, cut)
        if cut > SMALLEST_GAP and cut + cut > len(items):
            del items[:cut]
            cut = 0
        self.head = cut
        return due

    def put_in_front(self, block: list[Any]) -> None:
        """Put messages in front of all that start no earlier. The list is taken over if nothing else is there."""
        items = self.items
        head = self.head
        if not items:
            self.items = block
            return
        late = bisect_left(items, block[-1][0], head, key=START)
        self.head = max(0, head - len(block))
        if late > head:  # or >=, which adds none and sorts what is in order
            block = block + items[head:late]
            block.sort(key=START)  # stable: what is put back comes first among equals
        items[self.head : late] = block

    def cancel(self, start: Any, match: Callable[..., object] | None) -> tuple[tuple[Any, ...] | None, int]:
        """Take out and return the first message at `start` that matches, or None; and how many were passed over."""
        index, passed = find(self.items, self.head, start, match)
        if index is None:
            return None, passed
        item: tuple[Any, ...] = self.items.pop(index)
        if self.head == len(self.items):
            self.items = []
            self.head = 0
        return item, passed

    def wrong(self) -> list[str]:
        """What is wrong with the front. O(length)."""
        starts = [item and item[0] for item in self.rest()]
        wrong = []
        if not 0 <= self.head <= len(self.items) or any(item is not None for item in self.items[: self.head]):
            wrong.append("the gap in front is not empty")
        if self.items and not starts:
            wrong.append("an empty front keeps a gap")
        if None in starts or not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("the front is out of order")
        return wrong
