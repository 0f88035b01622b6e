"""kombu's Timer, the heap of callbacks under the event loop of a Celery worker, behind the front of our contract.

Idea        A heap of `(eta, priority, entry)`. The loop iterates over the timer, which yields an entry that is due or
            how long to wait, and calls one entry after the other. A cancelled entry stays where it is, marked.
Source      kombu 5.7.0, kombu/asynchronous/timer.py. `enqueue` is call_at, `take` is the timer's own iteration with
            `now` for its clock, `process` is apply_entry, `requeue` is enter_at, `cancel` is cancel, `len` is len,
            `contents` is queue.
Cost        enqueue         O(log n): an entry, a proxy of it, a named tuple and a dict for each message
            take            O(due * log n)
            process         O(1) a message
            requeue         O(left * log n)
            cancel          O(1): a mark (and see queues.peers.handles)
            contents        O(n log n): kombu sorts a copy
            memory          a pointer, a named tuple, an entry with its dict, tuple and proxy a message
What differs
            Equal starts are ordered by the addresses of their entries, which is no order at all: checks that have equal
            starts by the way may break, or be kept by luck. What is put back is not ahead of equal starts either.
            An exception of a handler goes to kombu's log, its message is gone, and the next one is called. That
            includes StopDispatch, so no handler closes a window. What is no Exception gets out; its message is gone as
            well. A cancelled message stays in the heap, with all it holds, until it is due, counted and shown.
            The time to wait is worked out in every take: Decimal against float or Fraction, or a number that no float
            can hold, raises there, though it was entered. NaN is due at once. None is now, a datetime an instant.
            The clock is monotonic by default, as kombu's is. `process` without a deadline has no end but the batch's.
Ours        The batch: kombu calls each entry as it leaves the heap. So that what a handler enters waits for the next
            take is the batch's merit; in kombu's loop it is called in the same pass, if due.
            The window: kombu leaves the loop to its caller, who may stop between two entries; there we ask the clock.
            Which of several equal starts `cancel` takes: kombu is told the entry. A message in a batch is out of reach.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import repeat

from kombu.asynchronous.timer import Timer

from queues.peers.handles import first, forget, keep, kept

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from queues.peers.handles import Kept


def no_handler(*_message: Any) -> None:
    """What an entry calls until `process` says what: kombu wants to know when it enters, our contract tells later."""


def message_of(entry: Any) -> tuple[Any, ...]:
    """Return `(start, *message)` of an entry."""
    arguments: tuple[Any, ...] = entry.args
    return arguments


class KombuTimer:
    """kombu's Timer as a timer queue; the module says which promises of `queues.contract.TimerQueue` it does not make.

    >>> queue = KombuTimer()
    >>> for start in (2, 3, 1):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print), len(queue)
    1 mail
    2 mail
    (2, 1)
    """

    __slots__ = ("__weakref__", "_clock", "_kept", "_timer")

    def __init__(self, *, clock: Callable[[], Any] = time.monotonic) -> None:
        """An empty queue; `clock` is asked by `take` without a time and by `process` with a deadline."""
        self._clock = clock
        self._timer: Any = Timer()  # type: ignore[no-untyped-call]
        self._kept: Kept | None = None  # made by the first cancel

    def enqueue(self, start: Any, *message: Any) -> None:
        """Enter an entry at `start`. O(log n)."""
        entry = self._timer.call_at(start, no_handler, (start, *message))
        if self._kept is not None:
            keep(self._kept, start, entry)

    def take(self, now: Any = None, limit: int | None = None) -> deque[Any] | None:
        """Iterate as long as the timer yields what is due at `now`; return the entries, or None. O(due * log n)."""
        if now is None:
            now = self._clock()
        batch: deque[Any] = deque()
        for _, entry in self._timer.__iter__(nowfun=repeat(now).__next__):
            if entry is None:
                break
            batch.append(entry)
            if len(batch) == limit:
                break
        if self._kept is not None:
            for entry in batch:
                forget(self._kept, entry.args[0], entry)
        return batch or None

    def process(self, batch: deque[Any], handler: Callable[..., object], deadline: Any = None) -> int:
        """Let kombu call one entry after the other, whatever comes of it, and return how many. O(1) a message."""
        apply, clock = self._timer.apply_entry, self._clock
        dispatched = 0
        while batch and (deadline is None or not clock() >= deadline):
            entry = batch.popleft()  # as the iteration does: it has left the heap when it is called
            entry.fun = handler
            dispatched += 1
            apply(entry)
        return dispatched

    def requeue(self, batch: deque[Any]) -> int:
        """Enter what is left again and return how many. O(left * log n)."""
        enter_at = self._timer.enter_at
        left = len(batch)
        for entry in batch:
            enter_at(entry, entry.args[0])
            if self._kept is not None:
                keep(self._kept, entry.args[0], entry)
        batch.clear()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Mark the entry of the first queued message at exactly `start` that matches and return it, or None. O(1)."""
        if self._kept is None:
            waiting = (event.entry for event in self._timer.queue)
            self._kept = kept((entry.args[0], entry) for entry in waiting)
        entry = first(self._kept, start, match, message_of)
        if entry is None:
            return None
        self._timer.cancel(entry)
        forget(self._kept, entry.args[0], entry)
        return message_of(entry)

    def __len__(self) -> int:
        """Entries in the heap, cancelled ones too. O(1)."""
        return len(self._timer)

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The entries in the heap, earliest first, cancelled ones too. O(n log n)."""
        return (event.entry.args for event in self._timer.queue)
