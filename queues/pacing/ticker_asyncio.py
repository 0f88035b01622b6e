"""What the two designs of an asyncio ticker share: checks, iteration, closing. The store is what makes the design."""

from __future__ import annotations

import asyncio
import time

from queues.pacing.ticker import checked_grid
from queues.pacing.turnstile_asyncio import AsyncTurnstile

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Any, Self


class AsyncioTicker:
    """A ticker for the tasks of one loop; queues.pacing.contract.AsyncTicker says what each call means."""

    __slots__ = ("__weakref__", "_grid", "_store", "_turnstile")

    store: Any
    """The class of the store."""
    kept = False
    """Whether a task produces the ticks."""

    def __init__(
        self,
        interval: Any,
        *,
        capacity: int = 1,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Start the grid at what the clock says now; no loop need run yet."""
        self._grid, size = checked_grid(interval, capacity, clock, sleep)
        self._store = self.store(self._grid, size)
        self._turnstile = AsyncTurnstile(self._store, clock, sleep, kept=self.kept)

    async def wait_next(self) -> Any:
        """Return the scheduled instant of a tick, waiting for it, or None after `close()`. O(1) on time."""
        tick = await self._turnstile.take(1)
        return None if tick is None else self._grid.at(tick)

    @property
    def origin(self) -> Any:
        """Where the grid begins: tick k is at `origin + k * interval`."""
        return self._grid.origin

    @property
    def dropped(self) -> int:
        """How many ticks have come until now and were not kept. O(log passed)."""
        turnstile = self._turnstile
        if not turnstile.line.closed:
            turnstile.line.serve(turnstile.clock())
        return int(self._store.dropped)

    def close(self) -> Awaitable[None]:
        """Wake everybody that waits, with None; await what it returns to be sure that no task is left."""
        return self._turnstile.close()

    def __aiter__(self) -> Self:
        """Iterate over the ticks until it is closed."""
        return self

    async def __anext__(self) -> Any:
        """Return the next tick."""
        tick = await self.wait_next()
        if tick is None:
            raise StopAsyncIteration
        return tick

    async def __aenter__(self) -> Self:
        """Close it at the end of an `async with` block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()
