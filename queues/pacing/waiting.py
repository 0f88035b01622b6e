"""What a blocking design waits with: alarms that sleep and can be woken, and threads; chosen by its `sleep`.

default     `time.sleep` (not given, or given as such): a lock with a timeout, which takes as long and can be woken.
patched     something cooperative stands in place of `time.sleep`. If `threading.Lock` was replaced too, the lock with a
            timeout is cooperative as it is. If not, a real lock would stop all green threads, so the wait is a sleep.
given       any callable: the wait is one call of it, with the span in the clock's own kind. It cannot be woken; that a
            ticker or limiter is closed, or that a place in line came free, is seen when it returns.
backing     a `sleep` with an attribute `backing` brings its own alarms and threads, as the virtual clock does
            (queues/pacing/virtual.py). A backing has `timer()`, `alarm()` and `start(function)`.

Alarms and threads are made when they are needed, so what stands in place of `time.sleep` then is what counts.
"""

from __future__ import annotations

import threading

from queues.pacing.cooperative import is_ordinary, locks_are_patched, sleep, sleep_is_patched
from queues.pacing.instants import INFINITY

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_S = 86_400.0
"""Seconds of one wait: longer ones are made of several, since neither locks nor `time.sleep` take any span."""


class Stopped(BaseException):
    """Raised out of a wait by a backing that is being taken down: the thread has to end."""


class LockAlarm:
    """A wait that ends after a span or when `set` is called, whichever is first; a `set` before it counts.

    >>> alarm = LockAlarm()
    >>> alarm.set()
    >>> alarm.wait(INFINITY)
    """

    __slots__ = ("_lock", "_rung", "asleep")

    def __init__(self) -> None:
        """Not set."""
        self._lock = threading.Lock()
        self._lock.acquire()
        self._rung = False
        self.asleep = False  # whether it is in a sleep that cannot be woken; never

    def set(self) -> None:
        """End the wait, or the next one. Called under the lock of the design."""
        if not self._rung:
            self._rung = True
            self._lock.release()

    def wait(self, span: Any) -> None:
        """Wait `span` seconds, inf for ever, or less; the caller looks whether it was enough."""
        if span == INFINITY:
            self._lock.acquire()
        elif span <= 0 or not self._lock.acquire(timeout=min(float(span), LONGEST_S)):
            return
        self._rung = False


class SleepAlarm(LockAlarm):
    """The same through a `sleep` that cannot be woken: `set` counts before and after it."""

    __slots__ = ("_longest", "_sleep")

    def __init__(self, sleep: Callable[[Any], object], longest: Any = None) -> None:
        """`longest`: what to sleep at most at a time, and where never to wait on the lock; None: no such limit."""
        super().__init__()
        self._sleep = sleep
        self._longest = longest

    def wait(self, span: Any) -> None:
        """Sleep `span` in the clock's unit, once; for ever means until `set`."""
        if self._longest is not None:
            span = min(span, self._longest)
        if span == INFINITY or span <= 0:
            super().wait(span)
            return
        self.asleep = True
        try:
            if self._rung:
                super().wait(span)
            else:
                self._sleep(span)
        finally:
            self.asleep = False


class Threads:
    """The backing of the default sleep."""

    def timer(self) -> LockAlarm:
        """Return an alarm for a wait with an end."""
        if sleep_is_patched() and not locks_are_patched():
            return SleepAlarm(sleep, LONGEST_S)
        return LockAlarm()

    def alarm(self) -> LockAlarm:
        """Return an alarm for a wait that somebody else ends."""
        return LockAlarm()

    def start(self, function: Callable[[], object], name: str) -> threading.Thread:
        """Run `function` in a thread that does not keep the process alive, and return what can be joined."""
        thread = threading.Thread(target=function, name=name, daemon=True)
        thread.start()
        return thread


class GivenSleep(Threads):
    """The backing of a `sleep` that somebody gave."""

    def __init__(self, sleep: Callable[[Any], object]) -> None:
        """Wait with `sleep`."""
        self._sleep = sleep

    def timer(self) -> LockAlarm:
        """Return an alarm for a wait with an end."""
        return SleepAlarm(self._sleep)


def backing_of(sleep: Any) -> Any:
    """Return the backing that a `sleep` asks for.

    >>> type(backing_of(lambda span: None)).__name__
    'GivenSleep'
    """
    own = getattr(sleep, "backing", None)
    if own is not None:
        return own
    return Threads() if is_ordinary(sleep) else GivenSleep(sleep)
