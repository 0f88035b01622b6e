"""gevent's cooperative sleep in place of `time.sleep`, for a while, and with the manners of the real one.

Idea        `time.sleep` becomes gevent.sleep for the thread that asks for it, so that blocking code runs unchanged in
            green threads. Every design here that blocks looks `time.sleep` up when it sleeps
            (queues/pacing/waiting.py).
Source      gevent.monkey.patch_time, which does the same for good, and "Parataxis, Eventually", transparent unblocking.
Ours        What gevent.sleep lets pass is refused as `time.sleep` refuses it: a negative or NaN span (ValueError), what
            is no number (TypeError), a span too large (OverflowError). Other OS threads keep the real sleep: in them
            gevent.sleep would start a loop of its own. At the end the very same function is put back.
            Names that were bound to the real sleep before are found and listed: they go on blocking.
"""

from __future__ import annotations

import math
import time
from operator import index

import gevent
from gevent.monkey import get_original

from queues.pacing.cooperative import bound_sleeps

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any, Self

LONGEST_S = 2**63 / 1e9
"""The first span that `time.sleep` refuses, in seconds."""
get_ident = get_original("_thread", "get_ident")


def checked(span: Any) -> float:
    """Return `span` as a float, or refuse it as `time.sleep` does.

    >>> checked(-1)
    Traceback (most recent call last):
        ...
    ValueError: sleep of -1: expected a span of at least 0 seconds
    """
    try:
        seconds = span if isinstance(span, float) else float(index(span))
    except TypeError:
        raise TypeError(f"sleep of {span!r} ({type(span).__name__}): expected a number of seconds") from None
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"sleep of {span!r}: expected a span of at least 0 seconds")
    if seconds >= LONGEST_S:
        raise OverflowError(f"sleep of {span!r} seconds: expected fewer than {LONGEST_S:.3g}")
    return seconds


class GreenSleep:
    """A context in which `time.sleep` of this thread lets other green threads run; `bound` lists who does not take
    part.

    >>> real = time.sleep
    >>> with GreenSleep() as green:
    ...     time.sleep is real
    False
    >>> time.sleep is real
    True
    """

    def __init__(self) -> None:
        """Nothing is replaced yet."""
        self.bound: list[str] = []
        self._real: Any = None
        self._thread = 0

    def __enter__(self) -> Self:
        """Replace `time.sleep`, and look who has bound the real one."""
        self.bound = bound_sleeps()
        self._real = time.sleep
        self._thread = get_ident()
        time.sleep = self.sleep
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Put the very same function back."""
        time.sleep = self._real

    def sleep(self, span: Any, /) -> None:
        """Sleep as `time.sleep`, letting other green threads run."""
        if get_ident() != self._thread:
            self._real(span)
            return
        gevent.sleep(checked(span))


def run_green(functions: Iterable[Callable[[], object]]) -> list[Any]:
    """Run each function in a green thread of its own and return their results in order; raise what the first raised.

    >>> run_green([lambda: 1, lambda: 2])
    [1, 2]
    """
    started = [gevent.spawn(function) for function in functions]
    gevent.joinall(started, raise_error=True)
    return [one.value for one in started]


class GreenThreads:
    """A green thread for every worker, with `time.sleep` patched meanwhile: a crowd as in queues/pacing/crowds.py.

    >>> done = []
    >>> GreenThreads().run(lambda: done.append(1), 3)
    >>> len(done)
    3
    """

    awaited = False

    def __init__(self) -> None:
        """Nothing is replaced yet."""
        self.bound: tuple[str, ...] = ()

    def run(self, work: Callable[[], object], workers: int) -> None:
        """Run `work` in so many green threads; `bound` then lists who goes on with the real sleep."""
        with GreenSleep() as green:
            self.bound = tuple(green.bound)
            run_green([work] * workers)
