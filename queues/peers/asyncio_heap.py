"""The heap of timer handles inside an asyncio event loop, written out, behind the front of our contract.

Idea        A heap of handles that compare by their time. Cancelling marks a handle and drops what it holds. Marked ones
            leave when they come to the front, or all at once when more than 100 handles are scheduled and more than
            half of them are marked. A pass of the loop moves what is due to a queue of its own, and then calls it.
Source      asyncio of CPython 3.11, base_events.py (call_at, _run_once) and events.py (TimerHandle, Handle), written
            anew here because that heap cannot be had without its loop. `enqueue` is call_at, `take` the first half of a
            pass, `process` the second, `requeue` call_at again, `cancel` cancel of the handle.
Cost        enqueue         O(log n), each comparison a call in Python; a handle and a copy of the context
            take            O(due * log n), comparisons in Python; O(n) when the marked ones are purged
            process         O(1) a message, run in its context
            requeue         O(left * log n)
            cancel          O(1): a mark (and see queues.peers.handles)
            memory          a pointer, a handle, a tuple, a context a message; asyncio's handle has 5 more fields
What differs
            Handles compare by time alone, and a heap keeps no order among equals. What is put back is entered anew, so
            it is not ahead of equal starts either.
            An exception of a handler goes to the loop's exception handler (here it is counted, in `unhandled`), its
            message is gone, and the next one is called. That includes StopDispatch, so no handler closes a window.
            A cancelled message is let go at once, but its handle only by a later take.
            NaN and what compares with what is there are accepted, and spoil the heap.
            A pass cannot be limited, so neither can `take`. The clock is monotonic by default, as asyncio's is.
            `process` without a deadline works until all is dispatched.
Ours        The window: a pass calls all that it has cut. (That arrivals wait for the next pass is asyncio's.)
            Nothing runs early: asyncio adds the resolution of its clock to the time, so that what starts within a tick
            of now is called; our `now` is given, and has no tick.
            The count of marked handles stays right when a take meets some behind the front (asyncio's drifts), because
            the length is told from it.
            Which of several equal starts `cancel` takes: asyncio is told the handle. A message in a batch is out of
            reach, while in asyncio the owner of its handle could still cancel it.
"""

from __future__ import annotations

import time
from collections import deque
from contextvars import copy_context
from heapq import heapify, heappop, heappush

from queues.peers.handles import first, forget, keep, kept

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from queues.peers.handles import Kept

PURGE_ABOVE = 100
"""So many handles may be scheduled before marked ones are purged."""

PURGE_FRACTION = 0.5
"""The part of them that must be marked."""


class Handle:
    """A message that waits: `arguments` is `(start, *message)`, or empty when it was cancelled."""

    __slots__ = ("__weakref__", "arguments", "cancelled", "context", "when")

    def __init__(self, when: Any, arguments: tuple[Any, ...]) -> None:
        """Wait until `when`, in a copy of the caller's context."""
        self.when = when
        self.arguments = arguments
        self.context = copy_context()
        self.cancelled = False

    def __lt__(self, other: object) -> bool:
        """Compare by time alone."""
        if isinstance(other, Handle):
            return bool(self.when < other.when)
        return NotImplemented


def message_of(handle: Any) -> tuple[Any, ...]:
    """Return `(start, *message)` of a handle."""
    arguments: tuple[Any, ...] = handle.arguments
    return arguments


class AsyncioHeap:
    """asyncio's timer heap as a timer queue; the module says what of `queues.contract.TimerQueue` it does not promise.

    >>> queue = AsyncioHeap()
    >>> for start in (2, 3, 1):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print), len(queue)
    1 mail
    2 mail
    (2, 1)
    """

    __slots__ = ("__weakref__", "_clock", "_kept", "_marked", "_scheduled", "unhandled")

    def __init__(self, *, clock: Callable[[], Any] = time.monotonic) -> None:
        """An empty queue; `clock` is asked by `take` without a time and by `process` with a deadline."""
        self._clock = clock
        self._scheduled: list[Handle] = []
        self._marked = 0  # cancelled handles that are still in the heap
        self._kept: Kept | None = None  # made by the first cancel
        self.unhandled = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Push a handle. O(log n); None is a TypeError."""
        if start is None:
            raise TypeError("start is None: expected a number")
        handle = Handle(start, (start, *message))
        heappush(self._scheduled, handle)
        if self._kept is not None:
            keep(self._kept, start, handle)

    def take(self, now: Any = None) -> deque[Handle] | None:
        """Pop what is due at `now` and return it, or None. O(due * log n), or O(n) when half of it is cancelled."""
        if now is None:
            now = self._clock()
        self._let_go()
        scheduled = self._scheduled
        batch: deque[Handle] = deque()
        while scheduled and not scheduled[0].when > now:
            handle = heappop(scheduled)
            if handle.cancelled:
                self._marked -= 1
                continue
            batch.append(handle)
            if self._kept is not None:
                forget(self._kept, handle.when, handle)
        return batch or None

    def _let_go(self) -> None:
        """Drop cancelled handles: all of them when they are many, else those at the front."""
        scheduled = self._scheduled
        if len(scheduled) > PURGE_ABOVE and self._marked / len(scheduled) > PURGE_FRACTION:
            self._scheduled = [handle for handle in scheduled if not handle.cancelled]
            heapify(self._scheduled)
            self._marked = 0
            return
        while scheduled and scheduled[0].cancelled:
            heappop(scheduled)
            self._marked -= 1

    def process(self, batch: deque[Handle], handler: Callable[..., object], deadline: Any = None) -> int:
        """Call one after the other, each in its context, whatever comes of it, and return how many. O(1) a message."""
        clock = self._clock
        dispatched = 0
        while batch and (deadline is None or not clock() >= deadline):
            handle = batch.popleft()
            dispatched += 1
            try:
                handle.context.run(handler, *handle.arguments)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException:  # noqa: BLE001 - as asyncio does, which tells the loop's exception handler
                self.unhandled += 1
        return dispatched

    def requeue(self, batch: deque[Handle]) -> int:
        """Push a new handle for each that is left and return how many. O(left * log n)."""
        left = len(batch)
        while batch:
            self.enqueue(*batch.popleft().arguments)
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Mark the handle of the first queued message at exactly `start` that matches; return that, or None. O(1)."""
        if self._kept is None:
            waiting = (handle for handle in sorted(self._scheduled) if not handle.cancelled)
            self._kept = kept((handle.when, handle) for handle in waiting)
        handle = first(self._kept, start, match, message_of)
        if handle is None:
            return None
        message = message_of(handle)
        forget(self._kept, handle.when, handle)
        handle.arguments = ()
        handle.cancelled = True
        self._marked += 1
        return message

    def __len__(self) -> int:
        """Messages queued: handles in the heap that are not cancelled. O(1)."""
        return len(self._scheduled) - self._marked
