"""One list for each distinct start, and a heap of the starts: what is due leaves list by list, whatever is in them.

Idea        A dictionary from a start to the list of its messages in order of arrival, and a heap of its keys. A start
            that is there already costs one look-up and one append; taking pops due keys and hands their lists over.
            The exact start is the key, so nothing is rounded: 1, 1.0, Decimal(1) and Fraction(1) are equal and hash
            alike, and every message keeps its own.
Source      libevent and Node.js keep a list for each common duration and a heap of the lists; Kafka's timer queues
            buckets instead of messages. Leaving an emptied key in the heap until it comes up, or until too many have
            gathered, is what asyncio does with cancelled timers.
Cost        n messages at m distinct starts:
            enqueue         O(1) at a start that is there, else O(log m); a new start in order O(1)
            take            O(due starts · log m), whatever is queued at them; a limit may cut one list, O(its length)
            process         O(1) a message
            requeue         O(starts left · log m), or O(m) when that is less, and the late arrivals at equal starts
            cancel          O(equal starts)
            memory          one pointer and one tuple a message; a list and a place in dictionary and heap a start
Invariants  The heap holds the keys of the dictionary, each once. The messages in a list start at its key. Emptied lists
            are counted, are never at the top, and are at most SLACK more than the others. `_count` messages in all.
Weakness    Distinct starts: then it is a heap with a dictionary and a list a message on top. A kind of number whose
            equal values hash differently would not meet its equals.
"""

from __future__ import annotations

import time
from heapq import heapify, heappop, heappush
from weakref import ref

from queues.timer.bucket_batch import BucketBatch, check_batch, first_match
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

SLACK = 16  # emptied lists not worth a purge


class Buckets:
    """A timer queue with a list for each start; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Buckets()
    >>> for start, name in ((1, "a"), (3, "b"), (1.0, "c")):
    ...     queue.enqueue(start, name)
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 a
    1.0 c
    2
    >>> list(queue.contents())
    [(3, 'b')]
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_buckets",
        "_clock",
        "_count",
        "_emptied",
        "_reference",
        "_starts",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._buckets: dict[Any, list[Any]] = {}
        self._starts: list[Any] = []  # a heap of the keys
        self._emptied = 0  # lists that all messages were cancelled from
        self._count = 0
        self._active: list[BucketBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. O(1) at a known start, else O(log starts)."""
        try:
            ordered = start >= NEGATIVE_INFINITY  # pragma: no mutate: without it require_instant is asked, and tells
        except (TypeError, ArithmeticError):
            ordered = False  # None is the same: only its truth is asked for
        if not ordered:
            require_instant(start)  # before it is hashed: each NaN would be a key of its own
        bucket = self._buckets.get(start)
        if bucket is None:
            heappush(self._starts, start)
            self._buckets[start] = [(start,) + message]
        else:
            if not bucket:
                self._emptied -= 1
            bucket.append((start,) + message)
        self._count += 1

    def take(self, now: Any = None, limit: int | None = None) -> BucketBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(due starts)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        heap = self._starts
        starts: list[Any] = []
        buckets: list[list[Any]] = []
        count = 0
        while heap and heap[0] <= now and (not most or count < most):
            start = heap[0]
            bucket = self._buckets[start]
            if most and count + len(bucket) > most:
                part = bucket[: most - count]
                del bucket[: most - count]
                bucket = part
            else:
                del self._buckets[heappop(heap)]
                if not bucket:
                    self._emptied -= 1
                    continue
            starts.append(start)
            buckets.append(bucket)
            count += len(bucket)
        if not count:
            return None
        self._count -= count
        self._settle()
        return BucketBatch(self._reference, starts, buckets, count)

    def _settle(self) -> None:
        """Drop emptied lists from the top, and all of them once they outweigh the others.

        A purge costs O(starts) and comes after as many cancellations or lists taken as it looks at.
        """
        heap = self._starts
        buckets = self._buckets
        if self._emptied > len(heap) - self._emptied + SLACK:
            self._buckets = buckets = {start: bucket for start, bucket in buckets.items() if bucket}
            heap[:] = buckets
            heapify(heap)
            self._emptied = 0
        while heap and not buckets[heap[0]]:
            del buckets[heappop(heap)]
            self._emptied -= 1

    def process(self, batch: BucketBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, BucketBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: BucketBatch) -> int:
        """Put what is left in front of the queue and return how many. O(starts left), and late arrivals at them."""
        require_batch(batch, BucketBatch, self)
        left = batch.left
        if not left:
            return 0
        heap = self._starts
        if heap and batch.latest > heap[0]:
            self.merged += left
        fresh = []
        for start, bucket in batch.rest():
            late = self._buckets.get(start)
            if late is None:
                fresh.append(start)
            else:
                if not late:
                    self._emptied -= 1
                bucket += late
            self._buckets[start] = bucket
        if len(fresh) * len(heap).bit_length() > len(heap) + len(fresh):
            heap += fresh
            heapify(heap)
        else:
            for start in fresh:
                heappush(heap, start)
        self._count += left
        batch.empty()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(equal starts)."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            item, passed = batch.cancel(start, match)
            self.walked += passed
            if item is not None:
                return item
        bucket = self._buckets.get(start)
        if bucket is None:
            return None
        at = first_match(bucket, 0, match)
        self.walked += at
        if at == len(bucket):
            return None
        found: tuple[Any, ...] = bucket.pop(at)
        self._count -= 1
        if not bucket:
            self._emptied += 1
            self._settle()
        return found

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return self._count

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        return self._buckets[self._starts[0]][0][0] if self._starts else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call. O(n + m log m): the heap has to be sorted."""
        return iter([item for start in sorted(self._starts) for item in self._buckets[start]])

    def container(self) -> Iterator[object]:
        """The queue, its dictionary, its heap, and every list of messages."""
        yield self
        yield self._active
        yield self._buckets
        yield self._starts
        yield from self._buckets.values()

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        heap = self._starts
        buckets = self._buckets
        emptied = sum(not bucket for bucket in buckets.values())
        wrong = []
        if any(heap[at] < heap[(at - 1) // 2] for at in range(1, len(heap))):
            wrong.append("a child comes before its parent")
        if len(heap) != len(buckets) or set(heap) != set(buckets):
            wrong.append("the heap does not hold the keys")
        if any(item[0] != start for start, bucket in buckets.items() for item in bucket):
            wrong.append("a message is in the list of another start")
        if sum(map(len, buckets.values())) != self._count:
            wrong.append("the count is wrong")
        if emptied != self._emptied:
            wrong.append(f"{emptied} lists are empty, not {self._emptied}")
        if emptied > len(buckets) - emptied + SLACK:
            wrong.append("a purge is due")
        if heap and not buckets.get(heap[0], True):
            wrong.append("the top is an emptied list")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: count {self._count}, {len(self._active)} being processed, "
                f"merged {self.merged}, walked {self.walked}, heap {heap}, lists {buckets}"
            )
