"""What the measurements of pacing share: spans in ns, work that takes its time, and a task whose steps are counted."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

SECOND_NS = 1_000_000_000


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
