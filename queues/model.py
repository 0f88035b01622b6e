"""The obviously right timer queue: one plain sorted list, searched from end to end or by the standard bisect.

It is what "right" means for every contestant: queues/conformance.py and the state machine of the tests compare with
it, call by call. Correctness is its only virtue; it is never timed.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Any

from queues.timer.rules import (
    StopDispatch,
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
    watched,
)

Message = tuple[Any, ...]
"""`(start, *message)`, as it was given to `enqueue`."""

START = itemgetter(0)
"""The start of a message."""


class ModelBatch:
    """Messages cut off the front of a Model, first one next."""

    def __init__(self, queue: Model, messages: list[Message]) -> None:
        """Hold `messages`, at least one, on behalf of whoever took them from `queue`."""
        self.queue = queue
        self.messages = messages
        self.latest = messages[-1][0]
        self.processing = False
        self.handling = 0
        """How many messages at the front are with a handler right now: 0 or 1."""

    def __len__(self) -> int:
        """Messages left."""
        return len(self.messages)


class Model:
    """The timer queue of queues/contract.py, written for the reader; O(n) in everything.

    >>> queue = Model()
    >>> queue.enqueue(2.0, "later")
    >>> queue.enqueue(1.0, "sooner")
    >>> batch = queue.take(1.5)
    >>> queue.process(batch, print, deadline=float("inf"))
    1.0 sooner
    1
    >>> len(queue), queue.next_start, queue.take(1.5)
    (1, 2.0, None)
    """

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """Start empty; `window` is how long `process` may work by default, in the clock's unit."""
        require_settings(window, clock)
        self.window = window
        self.clock = clock
        self.queued: list[Message] = []
        self.running: list[ModelBatch] = []
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Insert behind the last message that is not later. O(n)."""
        require_instant(start)
        place = bisect_right(self.queued, start, key=START)
        self.walked += len(self.queued) - place
        self.queued.insert(place, (start, *message))

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        """Cut off what is due, counted one by one. O(n)."""
        if now is None:
            now = self.clock()
        require_instant(now, "now")
        most = len(self.queued) if limit is None else require_limit(limit)
        due = 0
        while due < len(self.queued) and due < most and self.queued[due][0] <= now:
            due += 1
        if due == 0:
            return None
        cut = self.queued[:due]
        del self.queued[:due]
        return ModelBatch(self, cut)

    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        """Call `handler` for one message after the other; a message leaves the batch when its handler has returned."""
        require_batch(batch, ModelBatch, self)
        require_handler(handler)
        deadline = deadline_of(deadline, self.clock, self.window)
        dispatched = 0
        batch.processing = True
        self.running.append(batch)
        try:
            while batch.messages and not self.clock() >= deadline:
                batch.handling = 1
                handler(*batch.messages[0])
                del batch.messages[0]
                batch.handling = 0
                dispatched += 1
        except StopDispatch:
            pass
        finally:
            batch.handling = 0
            batch.processing = False
            self.running.remove(batch)
        return dispatched

    def requeue(self, batch: Any) -> int:
        """Put each left-over message, last to first, in front of the first queued one that is not earlier. O(n²)."""
        require_batch(batch, ModelBatch, self)
        left = batch.messages
        batch.messages = []
        if left and self.queued and not batch.latest <= self.queued[0][0]:
            self.merged += len(left)
        for message in reversed(left):
            place = bisect_left(self.queued, message[0], key=START)
            self.walked += place
            self.queued.insert(place, message)
        return len(left)

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        """Look through what running dispatchers have not reached, in the order they began, then the queue. O(n)."""
        require_instant(start)
        match = watched(match, self, self.running)
        places = [(batch.messages, batch.handling) for batch in self.running]
        for messages, first in [*places, (self.queued, 0)]:
            for place in range(first, len(messages)):
                message = messages[place]
                if message[0] == start and (match is None or match(*message[1:])):
                    del messages[place]
                    return message
                self.walked += 1
        return None

    def __len__(self) -> int:
        """Messages queued, those in batches not counted."""
        return len(self.queued)

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None."""
        return self.queued[0][0] if self.queued else None

    def contents(self) -> Iterator[Message]:
        """The queued messages, earliest first, as they were when this was asked."""
        return iter(tuple(self.queued))

    def container(self) -> Iterator[object]:
        """The one list that holds the messages."""
        yield self.queued

    def check(self) -> None:
        """Assert that starts never fall and that exactly the running batches are marked so."""
        starts = [message[0] for message in self.queued]
        assert all(not later < earlier for earlier, later in pairwise(starts)), self.queued
        assert all(batch.processing for batch in self.running), self.running
        assert self.merged >= 0, self.merged
        assert self.walked >= 0, self.walked
