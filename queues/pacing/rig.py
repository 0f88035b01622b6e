"""A ticker or limiter in virtual time, whatever its form: threads, asyncio, or an adapter with less than all of it.

What a check or a test does (move the clock, let somebody wait, throw an exception into a wait) reads the same for all
of them. Made by `rig_of`, used in a `with` block.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from queues.pacing.rig_loop import LoopRig
from queues.pacing.rigging import Rig, Waiting, is_awaited
from queues.pacing.virtual import VirtualTime, Worker


class ThreadRig(Rig):
    """The rig of what blocks. `plain`: give it a sleep that cannot be woken."""

    def __init__(
        self,
        subject: Any,
        *settings: Any,
        now: Any = 0.0,
        plain: bool = False,
        oversleep: Callable[[Any], Any] | None = None,
        **named: Any,
    ) -> None:
        """Make the subject at `now`."""
        self.time = VirtualTime(now, oversleep)
        self.subject = self._made(subject, settings, named, self.time.plain_sleep if plain else self.time.sleep)

    def clock(self) -> Any:
        """Return what the clock of the subject says."""
        return self.time.now + self.offset if self.offset else self.time.now

    def call(self, name: str, *given: Any) -> Any:
        """Call a method that does not wait, or that this thread waits in."""
        return getattr(self.subject, name)(*given)

    def calls(self, name: str, count: int) -> list[Any]:
        """Call a method without arguments `count` times and return what it returned."""
        return [getattr(self.subject, name)() for _ in range(count)]

    def get(self, name: str) -> Any:
        """Return a property."""
        return getattr(self.subject, name)

    def pass_until(self, instant: Any) -> None:
        """Let time pass until the scheduler's clock shows `instant`."""
        self.time.sleep_until(instant)
        self.settle()

    def settle(self) -> None:
        """Let everybody go on who can without time passing."""
        for _ in range(3):
            self.time.sleep_until(self.time.now)

    def enter(self, name: str, *given: Any, settle: bool = True) -> Waiting:
        """Let a thread call a method that waits, and go on when it waits; without `settle` at the next chance."""
        waiting = Waiting()

        def wait() -> None:
            try:
                result, error = getattr(self.subject, name)(*given), None
            except BaseException as raised:  # noqa: BLE001 - written down
                result, error = None, raised
            waiting.end(self.clock(), result, error)
            waiting.steps = waiting.handle.wakes

        waiting.handle = self.time.start(wait, name)
        if settle:
            self.settle()
        return waiting

    def throw(self, waiting: Waiting, error: BaseException) -> None:
        """Let what it waits in raise `error`; it goes on when time passes or `settle` is called."""
        worker: Worker = waiting.handle
        worker.throw(error)

    def throw_at(self, waiting: Waiting, instant: Any, *, early: bool) -> None:
        """Throw at `instant`, should it wait then. Its own wake-up at that instant comes first: nobody is earlier."""
        del early

        def throwing() -> None:
            self.time.sleep_until(instant)
            if not waiting.done and waiting.handle.waits:
                waiting.handle.throw(KeyboardInterrupt())

        self.time.start(throwing, "thrower")
        self.settle()

    def wake_late(self, span: Any) -> None:
        """Let every wait from now on take `span` longer than it was meant to."""
        self.time.oversleep = lambda wanted: wanted + span

    def left(self) -> list[str]:
        """Return the threads that are left."""
        return self.time.left()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End all threads."""
        self.time.__exit__(None, None, None)


def rig_of(subject: Any, *settings: Any, **named: Any) -> ThreadRig | LoopRig:
    """Return the rig that fits the class `subject`, made with `settings`.

    >>> from queues.pacing.limiter_arithmetic import ArithmeticLimiter
    >>> with rig_of(ArithmeticLimiter, 1, 1, now=100.0) as rig:
    ...     first, second = rig.enter("acquire"), rig.enter("acquire")
    ...     rig.pass_until(105.0)
    ...     first.at, second.at
    (100.0, 101.0)
    """
    return (LoopRig if is_awaited(subject) else ThreadRig)(subject, *settings, **named)
