"""What the pacing workers share: samples of a case, processor time, memory, and a task whose steps are counted.

Worker side: the standard library and `queues` only.
"""

from __future__ import annotations

import time
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

SECOND_NS = 1_000_000_000


class CheckFailed(Exception):
    """The subject did not do what it was asked: the case gives no number."""


def nanoseconds(seconds: float) -> int:
    """Return a span in whole ns.

    >>> nanoseconds(0.0015)
    1500000
    """
    return round(seconds * SECOND_NS)


def busy_until(instant: float) -> int:
    """Use the processor until the monotonic clock shows `instant`; return the processor time that it took, in ns."""
    before = time.thread_time_ns()
    while time.monotonic() < instant:
        pass
    return time.thread_time_ns() - before


def timed_calls(call: Callable[[], Any], calls: int) -> tuple[array[int], array[int]]:
    """Time `calls` calls on the thread's clock, each on its own, and as many of a function that does nothing.

    Returns the ns of each call and of each null call. What the calls return is not looked at.
    """
    samples = array("q", bytes(8 * calls))
    null = array("q", bytes(8 * calls))
    clock = time.thread_time_ns
    for function, into in ((nothing, null), (call, samples)):
        for place in range(calls):
            t0 = clock()
            function()
            t1 = clock()
            into[place] = t1 - t0
    return samples, null


def nothing() -> None:
    """The null call."""


class Counted:
    """An awaitable that counts how often a coroutine is gone on with after it began to wait."""

    __slots__ = ("_coroutine", "steps")

    def __init__(self, coroutine: Any) -> None:
        """Count for `coroutine`."""
        self._coroutine = coroutine
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        """Await it."""
        inner = self._coroutine.__await__()
        while True:
            try:
                future = next(inner)
            except StopIteration as stop:
                return stop.value
            try:
                yield future
            except BaseException as error:
                inner.throw(error)
                raise
            self.steps += 1
