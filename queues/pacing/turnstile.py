"""Where threads take something or wait their turn: a Line, its lock, its clock, and its keeper where it has one.

All blocking designs are this with another store. The lock is held for a few steps and never while anybody sleeps, so
that a green thread that has only its `time.sleep` replaced never meets it locked.
"""

from __future__ import annotations

import threading
import weakref

from queues.pacing.instants import INFINITY
from queues.pacing.line import Line
from queues.pacing.waiting import Stopped, backing_of

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from queues.pacing.line import Waiter


class Turnstile:
    """The blocking front of a store. `kept`: a thread of its own watches the time for all that wait.

    That thread is started when first somebody has to wait. While nobody waits it sleeps: what would have been put
    meanwhile is put when somebody looks, and nobody can tell the difference.
    """

    __slots__ = ("__weakref__", "_backing", "_kept", "_owner", "_thread", "clock", "line", "lock")

    def __init__(self, store: Any, clock: Callable[[], Any], sleep: Any, *, kept: bool) -> None:
        """Nobody waits, no thread runs."""
        self.line = Line(store)
        self.lock = threading.Lock()
        self.clock = clock
        self._backing = backing_of(sleep)
        self._kept = kept
        self._thread: Any = None
        self._owner: Any = None

    def belongs_to(self, owner: object) -> None:
        """Let the keeper end when `owner` is no more, should nobody have closed it."""
        self._owner = weakref.ref(owner)

    def take(self, n: int) -> Any:
        """Return `n` from the store, waiting its turn, or None when it is or gets closed. O(1), one wake-up.

        Whatever `sleep` or the clock raises here reaches the caller, who then has taken nothing and waits no more.
        """
        line = self.line
        with self.lock:
            if line.closed:
                return None
            got = line.take(n, self.clock())
            if got is not None:
                return got
            if self._kept and self._thread is None:
                self._start()
            waiter = line.enter(n, self._backing.alarm() if self._kept else self._backing.timer())
        return self._wait(waiter)

    def _wait(self, waiter: Waiter) -> Any:
        line = self.line
        try:
            while True:
                with self.lock:
                    if waiter.got is None and waiter.error is None and not line.closed and not self._kept:
                        now = self.clock()
                        line.serve(now)
                    if waiter.got is not None:
                        return line.collect(waiter)
                    if waiter.error is not None:
                        raise waiter.error
                    if line.closed:
                        return None
                    span = INFINITY if self._kept else line.span(waiter, now)
                waiter.alarm.wait(span)
        except BaseException:
            with self.lock:
                line.leave(waiter)
            raise

    def _start(self) -> None:
        """Start the keeper. It holds this turnstile and not its owner, so that an owner nobody holds is let go."""
        alarm = self._backing.timer()
        self._thread = self._backing.start(lambda: keep(self, alarm), "pacing keeper")
        self.line.keeper = alarm
        owner = self._owner and self._owner()
        if owner is not None:
            weakref.finalize(owner, abandon, self.line).atexit = False

    def close(self) -> None:
        """Wake everybody and end the keeper; when it returns its thread is gone. O(waiting).

        Only a keeper that is in a `sleep` which cannot be woken ends by itself when that returns.
        """
        with self.lock:
            self.line.close()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread() and not self.line.keeper.asleep:
            thread.join()


def keep(turnstile: Turnstile, alarm: Any) -> None:
    """Serve those who wait, when their time has come, until it is closed. An exception goes to the first of them."""
    line = turnstile.line
    while True:
        try:
            with turnstile.lock:
                if line.closed:
                    return
                span = INFINITY
                if line.waiting:
                    now = turnstile.clock()
                    line.serve(now)
                    if line.waiting:
                        span = line.span(line.waiting[0], now)
            alarm.wait(span)
        except Stopped:
            return
        except BaseException as error:  # noqa: BLE001 - whoever waits for it has to see it
            with turnstile.lock:
                line.fail(error)


def abandon(line: Line) -> None:
    """End the keeper of a line whose owner is gone; without the lock, since the collector may run anywhere."""
    line.closed = True
    line.keeper.set()
