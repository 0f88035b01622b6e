"""The asyncio loop that sets its next timer when the last one fires: `loop.call_later` in its own callback.

Idea        The callback hands its tick over and calls `call_later(interval, itself)`. The work of the consumer does not
            count then, but what the loop is late does, each time anew.
Source      What the documentation of asyncio shows for a periodic display of the time.
What differs
            The next timer counts from the moment at which the callback runs, so lateness adds up and the grid drifts.
            Ticks that nobody takes wait in a queue without an end: after a stall they come in a burst. The instant that
            is returned is the one at which the callback ran.
"""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any


class CallLater:
    """`call_later` as a ticker for tasks; the module says what of queues.pacing.contract it does not promise.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     ticker = CallLater(1.0)
    ...     ticks = [await ticker.wait_next() for _ in range(3)]
    ...     ticker.close()
    ...     return ticks
    >>> run(main)
    [1.0, 2.0, 3.0]
    """

    __slots__ = ("_interval", "_loop", "_ticks", "_timer")

    def __init__(self, interval: Any) -> None:
        """Set the first timer; a loop has to run."""
        self._interval = interval
        self._loop = asyncio.get_running_loop()
        self._ticks: asyncio.Queue[Any] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = self._loop.call_later(interval, self._tick)

    def _tick(self) -> None:
        self._ticks.put_nowait(self._loop.time())
        self._timer = self._loop.call_later(self._interval, self._tick)

    async def wait_next(self) -> Any:
        """Return when the callback ran, waiting for it, or None after `close()`."""
        if self._timer is None:
            return None
        return await self._ticks.get()

    def close(self) -> None:
        """Stop the timer; whoever waits is woken with None."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._ticks.put_nowait(None)
