"""Those who wait their turn, first come, first served: what all designs share, in threads and in asyncio.

Idea        Whoever looks serves all whose turn it is, in order; so one that oversleeps holds nobody up, and each is
            woken once a grant. What was handed to one that leaves (an exception, a cancellation) before it woke up goes
            back.
Waking      Without a keeper each waiter sleeps until the instant at which it would be served if nobody leaves. When
            somebody leaves, only the first of the line is woken, to look again; it may come sooner now. When that one
            is served and the next sleeps for too long, that one is woken, and so on: at most two wake-ups a grant.
            With a keeper (a thread or a task that fills the store) waiters sleep until they are woken, and only the
            keeper watches the time.
Cost        O(1) a grant and a wait; O(waiting) to leave, which is rare.

Pure: it reads no clock, takes no lock and sleeps nowhere. An alarm is anything with `set()`.
"""

from __future__ import annotations

from collections import deque

from queues.pacing.instants import INFINITY, span_until

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any


class Waiter:
    """One that waits for `n`: `got` is what it was handed, `error` what it has to raise instead."""

    __slots__ = ("alarm", "error", "got", "n", "plan")

    def __init__(self, n: int, alarm: Any) -> None:
        """`alarm.set()` wakes it."""
        self.n = n
        self.alarm = alarm
        self.got: Any = None
        self.error: BaseException | None = None
        self.plan: object = None  # what the instant it sleeps until depends on


class Line:
    """Waiters in order of arrival before one store (queues/pacing/ticks.py says what a store is).

    >>> from queues.pacing.bucket import Bucket
    >>> line = Line(Bucket(1, 1))
    >>> line.take(1, 0.0), line.take(1, 0.5)
    (True, None)
    >>> waiter = line.enter(1, None)
    >>> line.span(waiter, 0.5)
    0.5
    """

    __slots__ = ("closed", "keeper", "store", "total", "waiting")

    def __init__(self, store: Any) -> None:
        """Nobody waits."""
        self.store = store
        self.waiting: deque[Waiter] = deque()
        self.total = 0  # what those who wait want together
        self.keeper: Any = None  # the alarm of the keeper, where there is one
        self.closed = False

    def take(self, n: int, now: Any) -> Any:
        """Return `n` from the store, or None when there are too few or somebody came before. O(1)."""
        if self.waiting:
            self.serve(now)
            if self.waiting:
                return None
        return self.store.take(n, now)

    def enter(self, n: int, alarm: Any) -> Waiter:
        """Add one that waits for `n`, at the end. O(1)."""
        waiter = Waiter(n, alarm)
        self.waiting.append(waiter)
        self.total += n
        if self.keeper is not None and len(self.waiting) == 1:
            self.keeper.set()
        return waiter

    def serve(self, now: Any) -> None:
        """Hand out to all whose turn has come at `now`. O(served)."""
        self.store.settle(now, len(self.waiting))
        self._hand_out()

    def _hand_out(self) -> None:
        waiting = self.waiting
        served = False
        while waiting:
            got = self.store.hand(waiting[0].n)
            if got is None:
                break
            waiter = waiting.popleft()
            self.total -= waiter.n
            waiter.got = got
            waiter.alarm.set()
            served = True
        if served and waiting and self.keeper is None:
            first = waiting[0]
            if first.plan is not None and first.plan != self.store.mark(first.n):
                first.alarm.set()

    def span(self, waiter: Waiter, now: Any) -> Any:
        """Return how long `waiter` may sleep at `now`; inf for ever. O(1) for the last, else O(waiting)."""
        total = self._until(waiter)
        waiter.plan = self.store.mark(total)
        instant = self.store.instant(total)
        return INFINITY if instant == INFINITY else span_until(now, instant)

    def _until(self, waiter: Waiter) -> int:
        """Return what `waiter` and all before it want together."""
        if self.waiting[-1] is waiter:
            return self.total
        total = 0
        for other in self.waiting:
            total += other.n
            if other is waiter:
                break
        return total

    def behind(self, n: int, now: Any) -> Any:
        """Return the span until one that came at `now` and wanted `n` would be served; inf for never."""
        self.serve(now)
        instant = self.store.instant(self.total + n)
        return INFINITY if instant == INFINITY else span_until(now, instant)

    def collect(self, waiter: Waiter) -> Any:
        """Return what `waiter` was handed: it is awake and takes it."""
        self.store.collect(waiter.got)
        return waiter.got

    def leave(self, waiter: Waiter) -> None:
        """Let one go that does not want any more, with all that it was handed going to the next. O(waiting)."""
        if waiter.got is not None:
            self.store.give_back(waiter.got)
            waiter.got = None
        elif waiter in self.waiting:
            self.waiting.remove(waiter)
            self.total -= waiter.n
        self._hand_out()
        if self.keeper is not None:
            self.keeper.set()
        elif self.waiting:
            self.waiting[0].alarm.set()

    def fail(self, error: BaseException) -> None:
        """Let the first of the line raise what went wrong in the keeper."""
        if self.waiting:
            waiter = self.waiting.popleft()
            self.total -= waiter.n
            waiter.error = error
            waiter.alarm.set()

    def close(self) -> None:
        """Wake everybody: there is nothing more to wait for. O(waiting)."""
        self.closed = True
        for waiter in self.waiting:
            waiter.alarm.set()
        if self.keeper is not None:
            self.keeper.set()
