"""What the two designs of a blocking rate limiter share: checks, waiting, closing. The store makes the design."""

from __future__ import annotations

import time

from queues.pacing.cooperative import sleep as default_sleep
from queues.pacing.instants import INFINITY
from queues.pacing.permits import Unlimited
from queues.pacing.rules import LimiterClosed, require_burst, require_callable, require_count, require_rate
from queues.pacing.turnstile import Turnstile

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self


def checked_store(kind: Any, rate: Any, burst: Any, clock: Any, sleep: Any) -> Any:
    """Return a full store of `kind`; ValueError or TypeError for settings that make no sense."""
    require_rate(rate)
    size = require_burst(burst)
    require_callable(clock, "clock", "returns the time")
    require_callable(sleep, "sleep", "waits for a span")
    return Unlimited(size) if rate == INFINITY else kind(rate, size)


def closed(_n: int, _now: Any) -> Any:
    """Stands in place of the store's `take` after `close()`."""
    raise LimiterClosed


class BlockingLimiter:
    """A rate limiter for threads and green threads; queues.pacing.contract.RateLimiter says what each call means."""

    __slots__ = ("__weakref__", "_burst", "_clock", "_line", "_lock", "_store", "_take", "_turnstile", "_waiting")

    store: Any
    """The class of the store."""
    kept = False
    """Whether a thread fills the store for those that wait."""

    def __init__(
        self,
        rate: Any,
        burst: int,
        *,
        clock: Callable[[], Any] = time.monotonic,
        sleep: Callable[[Any], object] = default_sleep,
    ) -> None:
        """A full bucket of `burst` permits."""
        store = self._store = checked_store(self.store, rate, burst, clock, sleep)
        self._burst: int = store.burst
        self._take = store.take
        self._turnstile = Turnstile(store, clock, sleep, kept=self.kept)
        self._turnstile.belongs_to(self)
        self._clock = clock
        self._line = self._turnstile.line
        self._waiting = self._line.waiting
        self._lock = self._turnstile.lock

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False. O(1)."""
        if n.__class__ is int and 0 < n <= self._burst:
            with self._lock:
                if not self._waiting:
                    return self._take(n, self._clock()) is not None
        return self._asked(require_count(n, self._burst))

    def _asked(self, n: int) -> bool:
        """The rest of `try_acquire`: nothing is wanted, or somebody waits."""
        with self._lock:
            if self._line.closed:
                raise LimiterClosed
            return not n or self._line.take(n, self._clock()) is not None

    def acquire(self, n: int = 1) -> None:
        """Take n permits, waiting its turn. O(1), and one wake-up when it waits."""
        if not self.try_acquire(n) and self._turnstile.take(int(n)) is None:
            raise LimiterClosed

    def wait_time(self, n: int = 1) -> Any:
        """Return the seconds until n would be granted to one that came now. O(1), exact."""
        n = require_count(n, self._burst)
        with self._lock:
            if self._line.closed:
                return INFINITY
            now = self._clock()
            return self._line.behind(n, now) if n else now - now

    def close(self) -> None:
        """Wake everybody that waits, with LimiterClosed, and end the thread that fills where there is one."""
        self._take = closed
        self._turnstile.close()

    def __enter__(self) -> Self:
        """Close it at the end of a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
