"""What the two designs of a blocking ticker share: checks, iteration, closing. The store is what makes the design."""

from __future__ import annotations

import time

from queues.pacing.cooperative import sleep as default_sleep
from queues.pacing.grid import Grid
from queues.pacing.rules import require_callable, require_capacity, require_interval, require_origin
from queues.pacing.turnstile import Turnstile

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self


def checked_grid(interval: Any, capacity: Any, clock: Any, sleep: Any) -> tuple[Grid, int]:
    """Return the grid that starts now, and the capacity; ValueError or TypeError for settings that make no sense."""
    require_interval(interval)
    size = require_capacity(capacity)
    require_callable(clock, "clock", "returns the time")
    require_callable(sleep, "sleep", "waits for a span")
    origin = clock()
    require_origin(origin)
    return Grid(origin, interval), size


class BlockingTicker:
    """A ticker for threads, and for green threads; queues.pacing.contract.Ticker says what each call means."""

    __slots__ = ("__weakref__", "_grid", "_store", "_turnstile")

    store: Any
    """The class of the store."""
    kept = False
    """Whether a thread produces the ticks."""

    def __init__(
        self,
        interval: Any,
        *,
        capacity: int = 1,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], object] = default_sleep,
    ) -> None:
        """Start the grid at what the clock says now."""
        self._grid, size = checked_grid(interval, capacity, clock, sleep)
        self._store = self.store(self._grid, size)
        self._turnstile = Turnstile(self._store, clock, sleep, kept=self.kept)
        self._turnstile.belongs_to(self)

    def wait_next(self) -> Any:
        """Return the scheduled instant of a tick, waiting for it, or None after `close()`. O(1) on time."""
        tick = self._turnstile.take(1)
        return None if tick is None else self._grid.at(tick)

    @property
    def origin(self) -> Any:
        """Where the grid begins: tick k is at `origin + k * interval`."""
        return self._grid.origin

    @property
    def dropped(self) -> int:
        """How many ticks have come until now and were not kept. O(log passed)."""
        turnstile = self._turnstile
        with turnstile.lock:
            if not turnstile.line.closed:
                turnstile.line.serve(turnstile.clock())
            return int(self._store.dropped)

    def close(self) -> None:
        """Wake everybody that waits, with None, and end the producer where there is one."""
        self._turnstile.close()

    def __iter__(self) -> Self:
        """Iterate over the ticks until it is closed."""
        return self

    def __next__(self) -> Any:
        """Return the next tick."""
        tick = self.wait_next()
        if tick is None:
            raise StopIteration
        return tick

    def __enter__(self) -> Self:
        """Close it at the end of a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
