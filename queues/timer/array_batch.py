"""The batch of the array queues: a list of messages with an index behind what is used up, and how to search it.

Idea        The slice that `take` cut, and `at`, the index of the first message left. A used slot is set to None, so
            that the message is released; the slots go when the batch does.
Source      The array version of the timer example of LinkedList::Single keeps such an index; clearing is added here.
Cost        dispatch        O(1) a message
            rest            O(1) for an unused batch, else O(left)
            find            O(log n + equal starts)
Invariants  Slots before `at` are None, from there on starts never fall.
Weakness    Where the batch stopped is a number beside the list, and all who read the list have to honour it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from operator import itemgetter

from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref

START = itemgetter(0)


class ArrayBatch:
    """Messages sliced off the front of a queue: the list `items`, of which those before index `at` are used up.

    A used slot is None. Shared with queues.timer.array_naive, so that the two differ in the queue only.
    """

    __slots__ = ("_reference", "at", "items", "latest", "processing")

    def __init__(self, reference: ref[Any], items: list[Any]) -> None:
        self._reference = reference
        self.items = items
        self.at = 0
        self.latest = items[-1][0]
        self.processing = False

    @property
    def queue(self) -> Any:
        """The queue it was taken from; None once that is gone, for a batch does not keep its queue alive."""
        return self._reference()

    def __len__(self) -> int:
        return len(self.items) - self.at

    def dispatch(
        self, active: list[ArrayBatch], handler: Callable[..., object], clock: Callable[[], Any], deadline: Any
    ) -> int:
        """Hand out messages until `clock() >= deadline`, listed in `active` meanwhile; return how many. O(1) each."""
        items = self.items
        at = first = self.at
        self.processing = True
        active.append(self)
        try:
            while at < len(items):  # asked anew: a handler may cancel a later message
                if clock() >= deadline:
                    break
                handler(*items[at])
                self.at = at = at + 1
                items[at - 1] = None
        except StopDispatch:
            pass
        finally:
            active.remove(self)
            self.processing = False
        return at - first

    def rest(self) -> list[Any]:
        """What is left, in a list not to be changed. O(1) for an unused batch, else O(left)."""
        return self.items[self.at :] if self.at else self.items

    def empty(self) -> None:
        """Let go of what is left. O(1), and the freeing."""
        self.items = []
        self.at = 0


def find(items: list[Any], low: int, start: Any, match: Callable[..., object] | None) -> tuple[int | None, int]:
    """The index of the first item from `low` at exactly `start` that matches, or None; and how many were passed over.

    O(log n + equal starts): the search lands on the first at `start`, only those are passed one by one.
    """
    first = index = bisect_left(items, start, low, key=START)
    while index < len(items) and items[index][0] == start:
        if match is None or match(*items[index][1:]):
            return index, index - first
        index += 1
    return None, index - first


def check_batch(batch: ArrayBatch) -> list[str]:
    """What is wrong with a batch: used slots that hold something, or its order. O(length)."""
    starts = [item and item[0] for item in batch.items[batch.at :]]
    wrong = []
    if any(item is not None for item in batch.items[: batch.at]):
        wrong.append("a batch still holds what was dispatched")
    if None in starts or not all(earlier <= later for earlier, later in pairwise(starts)):
        wrong.append(f"a batch is out of order: {starts}")
    return wrong
