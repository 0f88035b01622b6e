"""Virtual time for asyncio: an event loop whose clock jumps to the next timer as soon as all tasks wait.

What waits for files or sockets is not for it. Runs are the same every time and take no time.
"""

from __future__ import annotations

import asyncio
import selectors
from math import ulp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any


FREE_TURNS, MOST_TURNS = 1_000, 20_000
"""After so many turns of a loop at one instant each takes a nanosecond, for one that waits for an instant which
rounding put before it gets on in real time too; after so many it is taken for one without end."""


class LoopDeadlock(RuntimeError):
    """No task can go on any more, or the tasks go on for ever without time passing."""


class _Jump(selectors.DefaultSelector):
    """A selector that lets the clock jump where another would wait."""

    loop: VirtualLoop
    turns = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Move the clock to the next timer, `timeout` away."""
        if timeout is None:
            raise LoopDeadlock("no task can go on any more")
        before = self.loop.now
        if timeout > 0:
            self.loop.jump(timeout)
        self.turns = self.turns + 1 if self.loop.now == before else 0
        if self.turns > FREE_TURNS:
            self.loop.creep()
        if self.turns > MOST_TURNS:
            raise LoopDeadlock(f"{self.turns} turns of the loop at {self.loop.now!r}: time does not pass any more")
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time.

    >>> loop = VirtualLoop(100.0)
    >>> loop.run_until_complete(asyncio.sleep(3600)), loop.time()
    (None, 3700.0)
    >>> loop.close()
    """

    def __init__(self, now: float = 0.0) -> None:
        """The clock stands at `now`."""
        selector = _Jump()
        super().__init__(selector)
        selector.loop = self
        self._jump = selector
        self.late = 0.0
        self._set(now)

    def _set(self, now: float) -> None:
        """A loop fires the timers before `time() + resolution`: with one unit in the last place, those until now."""
        self.now = now
        self._clock_resolution = ulp(now)

    def time(self) -> float:
        """Return the time."""
        return self.now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *given: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Set a timer, which fires `late` seconds after its instant."""
        return super().call_at(when + self.late if self.late else when, callback, *given, context=context)

    def run_forever(self) -> None:
        """Run until it is stopped; turns count from here."""
        self._jump.turns = 0
        super().run_forever()

    def creep(self) -> None:
        """Let a nanosecond pass, or what the clock can show of it."""
        self._set(self.now + max(1e-9, ulp(self.now)))

    def jump(self, span: float) -> None:
        """Move the clock on to the next timer, or by `span` where the loop does not say which that is."""
        timers = getattr(self, "_scheduled", None)
        self._set(max(self.now, timers[0].when() if timers else self.now + span))


def run(main: Callable[[Callable[[], float]], Coroutine[Any, Any, Any]], now: float = 0.0) -> Any:
    """Run `main(clock)` in a virtual loop and return what it returns; whatever task is left is an error.

    >>> async def main(clock):
    ...     await asyncio.sleep(1.5)
    ...     return clock()
    >>> run(main, now=10.0)
    11.5
    """
    loop = VirtualLoop(now)
    try:
        result = loop.run_until_complete(main(loop.time))
        left = asyncio.all_tasks(loop)
        if left:
            raise RuntimeError(f"{len(left)} tasks are left: {sorted(task.get_name() for task in left)}")
        return result
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
