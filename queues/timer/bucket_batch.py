"""The batch of queues.timer.buckets: whole lists of messages with equal starts, handed over as they are.

Idea        The lists in start order, and a place in them: which list, and which message of it, is the first one left.
            Used slots are set to None, so that the message is released; a used list is replaced by an empty one.
Source      As queues.timer.array_batch, one level higher.
Cost        dispatch        O(1) a message, and one step for each list
            find            O(log lists + equal starts)
            len()           O(1), kept by hand
Invariants  Starts rise from list to list and are equal within one. What is before the place is used up. `left` messages
            are behind it. A list may be empty: all of it was cancelled.
Weakness    Two numbers beside the lists, and all who read the lists have to honour them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref


class BucketBatch:
    """Messages cut off the front of a queue, as `buckets`, a list of lists, and the `starts` they belong to.

    Used up are the first `number` lists, and the first `at` messages of the next one.
    """

    __slots__ = ("_reference", "at", "buckets", "latest", "left", "number", "processing", "starts")

    def __init__(self, reference: ref[Any], starts: list[Any], buckets: list[list[Any]], left: int) -> None:
        self._reference = reference
        self.starts = starts
        self.buckets = buckets
        self.left = left
        self.number = 0
        self.at = 0
        self.latest = buckets[-1][-1][0]
        self.processing = False

    @property
    def queue(self) -> Any:
        """The queue it was taken from; None once that is gone, for a batch does not keep its queue alive."""
        return self._reference()

    def __len__(self) -> int:
        return self.left

    def dispatch(
        self, active: list[BucketBatch], handler: Callable[..., object], clock: Callable[[], Any], deadline: Any
    ) -> int:
        """Hand out messages until `clock() >= deadline`, listed in `active` meanwhile; return how many. O(1) each."""
        done = 0
        self.processing = True
        active.append(self)
        try:
            while self.left:
                bucket = self.buckets[self.number]
                if self.at == len(bucket):  # used up, or all of it cancelled
                    self.buckets[self.number] = []
                    self.number += 1
                    self.at = 0
                    continue
                if clock() >= deadline:
                    break
                handler(*bucket[self.at])
                bucket[self.at] = None
                self.at += 1
                self.left -= 1
                done += 1
        except StopDispatch:
            pass
        finally:
            active.remove(self)
            self.processing = False
        return done

    def cancel(self, start: Any, match: Callable[..., object] | None) -> tuple[tuple[Any, ...] | None, int]:
        """Remove the first message at `start` behind the one being handled that matches; and how many were passed."""
        number = bisect_left(self.starts, start, self.number)  # from 0 is the same: what is used up is empty
        if number == len(self.starts) or self.starts[number] != start:
            return None, 0
        bucket = self.buckets[number]
        first = self.at + 1 if number == self.number else 0
        at = first_match(bucket, first, match)
        if at == len(bucket):
            return None, max(0, at - first)
        self.left -= 1
        item: tuple[Any, ...] = bucket.pop(at)
        return item, at - first

    def rest(self) -> list[tuple[Any, list[Any]]]:
        """What is left, as pairs of a start and its list, which is the reader's from then on. O(lists)."""
        rest = [(start, bucket) for start, bucket in zip(self.starts, self.buckets, strict=True) if bucket]
        if self.at:
            bucket = rest[0][1]
            del bucket[: self.at]
            self.at = 0
            return rest if bucket else rest[1:]
        return rest

    def empty(self) -> None:
        """Let go of what is left. O(1), and the freeing."""
        self.starts = []
        self.buckets = []
        self.number = self.at = self.left = 0


def first_match(bucket: list[Any], first: int, match: Callable[..., object] | None) -> int:
    """The index, from `first` on, of the first message that matches (None: of the first), or where the list ends.

    >>> first_match([(1, "a"), (1, "b"), (1, "c")], 1, lambda name: name > "a")
    1
    """
    at = first
    if match is not None:
        while at < len(bucket) and not match(*bucket[at][1:]):
            at += 1
    return min(at, len(bucket))


def check_batch(batch: BucketBatch) -> list[str]:
    """What is wrong with a batch: used slots that hold something, its count, or its order. O(length)."""
    used = [item for bucket in batch.buckets[: batch.number] for item in bucket]
    wrong = []
    if batch.left:
        used += batch.buckets[batch.number][: batch.at]
    lists = [bucket[batch.at if number == batch.number else 0 :] for number, bucket in enumerate(batch.buckets)]
    if any(item is not None for item in used):
        wrong.append("a batch still holds what was dispatched")
    if sum(map(len, lists[batch.number :])) != batch.left:
        wrong.append(f"a batch says {batch.left} left and holds {lists[batch.number :]}")
    if not all(earlier < later for earlier, later in pairwise(batch.starts)):
        wrong.append(f"a batch is out of order: {batch.starts}")
    if any(item[0] != start for start, bucket in zip(batch.starts, lists, strict=True) for item in bucket):
        wrong.append(f"a batch has a message in the list of another start: {batch.starts}")
    return wrong
