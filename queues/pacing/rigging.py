"""What a rig of any form has: what the class under it offers, who waits, and a clock that can be stepped."""

from __future__ import annotations

import inspect
from typing import Any, Self

METHODS = ("wait_next", "try_acquire", "acquire", "wait_time", "close", "dropped", "__iter__", "__aiter__")
SETTINGS = ("clock", "sleep", "capacity")


def is_awaited(subject: Any) -> bool:
    """Whether a class is an asyncio form: one of its calls that wait is a coroutine function."""
    calls = (getattr(subject, name, None) for name in ("wait_next", "acquire"))
    return any(inspect.iscoroutinefunction(call) for call in calls)


def offer(subject: Any) -> frozenset[str]:
    """Return which methods and settings a class has. One that waits without a `sleep` or a loop can not wait here.

    >>> from queues.pacing.limiter_arithmetic import ArithmeticLimiter
    >>> sorted(offer(ArithmeticLimiter))
    ['acquire', 'clock', 'close', 'sleep', 'try_acquire', 'wait_time']
    """
    names = {name for name in METHODS if hasattr(subject, name)}
    parameters = inspect.signature(subject).parameters
    names |= {name for name in SETTINGS if name in parameters}
    if "sleep" not in names and not is_awaited(subject):
        names -= {"acquire", "wait_next"}
    return frozenset(names)


class Waiting:
    """One that waits: `done`, then `at` (when), `result` or `error`, and in how many `steps`."""

    def __init__(self) -> None:
        """It has not ended."""
        self.done = False
        self.at: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.steps = 0
        self.handle: Any = None

    def end(self, at: Any, result: Any, error: BaseException | None) -> None:
        """Write down what came of it."""
        self.done, self.at, self.result, self.error = True, at, result, error


class Rig:
    """A subject in virtual time; see the module. `subject` is the ticker or limiter itself."""

    subject: Any
    offset: Any = 0
    """How far the clock has been stepped; nobody who sleeps notices."""

    def _made(self, subject: Any, settings: tuple[Any, ...], named: dict[str, Any], sleep: Any) -> Any:
        names = offer(subject)
        given = {"clock": self.clock, "sleep": sleep} if sleep is not None else {"clock": self.clock}
        return subject(*settings, **named, **{name: value for name, value in given.items() if name in names})

    def clock(self) -> Any:
        """Return what the clock of the subject says."""
        raise NotImplementedError

    def step_clock(self, span: Any) -> None:
        """Set the clock forward or, below 0, back: no time passes."""
        self.offset += span

    def __enter__(self) -> Self:
        """Take everything down at the end."""
        return self
