"""What the two designs of an asyncio rate limiter share: checks, waiting, closing. The store makes the design."""

from __future__ import annotations

import asyncio
import time

from queues.pacing.instants import INFINITY
from queues.pacing.limiter import checked_store, closed
from queues.pacing.rules import LimiterClosed, require_count
from queues.pacing.turnstile_asyncio import AsyncTurnstile

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Any, Self


class AsyncioLimiter:
    """A rate limiter for the tasks of one loop; queues.pacing.contract.AsyncRateLimiter says what each call means."""

    __slots__ = ("__weakref__", "_burst", "_clock", "_line", "_store", "_take", "_turnstile", "_waiting")

    store: Any
    """The class of the store."""
    kept = False
    """Whether a task fills the store for those that wait."""

    def __init__(
        self,
        rate: Any,
        burst: int,
        *,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """A full bucket of `burst` permits; no loop need run yet."""
        store = self._store = checked_store(self.store, rate, burst, clock, sleep)
        self._burst: int = store.burst
        self._take = store.take
        self._clock = clock
        self._turnstile = AsyncTurnstile(store, clock, sleep, kept=self.kept)
        self._line = self._turnstile.line
        self._waiting = self._line.waiting

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False. O(1)."""
        if n.__class__ is int and 0 < n <= self._burst and not self._waiting:
            return self._take(n, self._clock()) is not None
        return self._asked(require_count(n, self._burst))

    def _asked(self, n: int) -> bool:
        """The rest of `try_acquire`: nothing is wanted, or somebody waits."""
        if self._line.closed:
            raise LimiterClosed
        return not n or self._line.take(n, self._clock()) is not None

    async def acquire(self, n: int = 1) -> None:
        """Take n permits, waiting its turn. O(1), and one wake-up when it waits."""
        if not self.try_acquire(n) and await self._turnstile.take(int(n)) is None:
            raise LimiterClosed

    def wait_time(self, n: int = 1) -> Any:
        """Return the seconds until n would be granted to one that came now. O(1), exact."""
        n = require_count(n, self._burst)
        if self._line.closed:
            return INFINITY
        now = self._clock()
        return self._line.behind(n, now) if n else now - now

    def close(self) -> Awaitable[None]:
        """Wake everybody that waits, with LimiterClosed; await what it returns to be sure that no task is left."""
        self._take = closed
        return self._turnstile.close()

    async def __aenter__(self) -> Self:
        """Close it at the end of an `async with` block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()
