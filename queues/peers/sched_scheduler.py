"""The standard library's `sched.scheduler` behind the front of our contract.

Idea        A heap of `(time, priority, sequence, action, argument, kwargs)`. `run(blocking=False)` pops and calls what
            is due, one after the other, and returns when the next event is later.
Source      `sched` of CPython 3.11. `enqueue` is enterabs with priority 0, `take` is run(blocking=False) with `now` for
            its timefunc and an action that collects, `process` is the rest of the loop in run (removed, then called),
            `requeue` is enterabs, `cancel` is cancel, `contents` is queue.
Cost        enqueue         O(log n), under a lock: a named tuple, two tuples and a dict for each message
            take            O(due * log n), and a lock for each message
            process         O(1) a message
            requeue         O(left * log n)
            cancel          O(n): a linear search and a new heap (and see queues.peers.handles)
            contents        O(n log n): sched sorts a copy
            memory          a pointer, a named tuple of 6 with a sequence number, two tuples and a dict a message
What differs
            Equal starts keep arrival order, by the sequence number (since CPython 3.10). But what is put back gets a
            new number: it stands behind equal starts that came meanwhile.
            An exception of a handler reaches the caller, and its message is gone: `run` pops before it calls. To sched
            StopDispatch is an exception like any other.
            The time to wait is worked out in every take: Decimal against float or Fraction, or a number that no float
            can hold, raises there, though it was entered. NaN and what is no number are accepted, and spoil the heap.
            `run` cannot be limited, so neither can `take`. The clock is monotonic by default, as sched's is. `process`
            without a deadline works until all is dispatched.
Ours        The batch: `run` calls each event as it leaves the heap, and what an action enters is called by the same
            run, if due; that it waits for the next take is the batch's merit. The window: `run` has none.
            The delayfunc: by default sched calls `time.sleep(0)` after each event, to let other threads run; ours does
            nothing, so its figures are without that system call.
            The length: sched has none but that of a sorted copy, so `len` looks at its list.
            Which of several equal starts `cancel` takes: sched is told the event.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import repeat
from sched import scheduler

from queues.peers.handles import first, forget, keep, kept

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from queues.peers.handles import Kept

PRIORITY = 0


def no_delay(_seconds: Any) -> None:
    """Between two events, no other thread is let in; a `run` that does not block asks for no other delay."""


def message_of(event: Any) -> tuple[Any, ...]:
    """Return `(start, *message)` of an event, the one argument of its action."""
    message: tuple[Any, ...] = event.argument[0]
    return message


class SchedScheduler:
    """`sched.scheduler` as a timer queue; the module says what of `queues.contract.TimerQueue` it does not promise.

    >>> queue = SchedScheduler()
    >>> for start in (2, 3, 1):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print), len(queue)
    1 mail
    2 mail
    (2, 1)
    """

    __slots__ = ("__weakref__", "_clock", "_collect", "_collected", "_events", "_kept", "_scheduler")

    def __init__(self, *, clock: Callable[[], Any] = time.monotonic) -> None:
        """An empty queue; `clock` is asked by `take` without a time and by `process` with a deadline."""
        self._clock = clock
        self._scheduler = scheduler(clock, no_delay)
        self._events: list[Any] = self._scheduler._queue  # type: ignore[attr-defined]
        self._collected: list[Any] = []
        self._collect = self._collected.append  # the action of every event: no reference back to the queue
        self._kept: Kept | None = None  # made by the first cancel

    def enqueue(self, start: Any, *message: Any) -> None:
        """Enter an event at `start`. O(log n)."""
        event = self._scheduler.enterabs(start, PRIORITY, self._collect, ((start, *message),))
        if self._kept is not None:
            keep(self._kept, start, event)

    def take(self, now: Any = None) -> deque[Any] | None:
        """Run what is due at `now`, each event adding its message to the batch; return it, or None. O(due * log n)."""
        if now is None:
            now = self._clock()
        self._scheduler.timefunc = repeat(now).__next__
        self._scheduler.run(blocking=False)
        if not self._collected:
            return None
        batch = deque(self._collected)
        self._collected.clear()
        if self._kept is not None:
            for message in batch:
                self._kept.pop(message[0], None)  # equal starts are due together
        return batch

    def process(self, batch: deque[Any], handler: Callable[..., object], deadline: Any = None) -> int:
        """Remove and call, as the loop in `run` does, and return how many were called. O(1) a message."""
        clock = self._clock
        dispatched = 0
        while batch and (deadline is None or not clock() >= deadline):
            handler(*batch.popleft())
            dispatched += 1
        return dispatched

    def requeue(self, batch: deque[Any]) -> int:
        """Enter what is left again, in order, and return how many. O(left * log n)."""
        left = len(batch)
        while batch:
            self.enqueue(*batch.popleft())
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove the first queued message at exactly `start` that matches and return it, or None. O(n)."""
        if self._kept is None:
            self._kept = kept((event.time, event) for event in self._scheduler.queue)
        event = first(self._kept, start, match, message_of)
        if event is None:
            return None
        self._scheduler.cancel(event)
        forget(self._kept, event.time, event)
        return message_of(event)

    def __len__(self) -> int:
        """Events queued. O(1)."""
        return len(self._events)

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The messages queued, earliest first. O(n log n)."""
        return map(message_of, self._scheduler.queue)
