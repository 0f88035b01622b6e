"""The contract of tickers and rate limiters as protocols: pure typing, nothing to inherit.

Numbers that stand for instants are whatever the clock returns; spans are in its unit, and so is what `sleep` is given.
The defaults count seconds. A clock may return int, float, Fraction or Decimal. A float is the number that it is: for
one permit every third of a second exactly, give the rate or interval as a Fraction.

The asyncio forms have the same names; `wait_next`, `acquire` and what `close` returns are awaited, a ticker is iterated
with `async for`, and `sleep` is a coroutine function, by default asyncio.sleep. They belong to the thread of one loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeAlias

Instant: TypeAlias = Any
Span: TypeAlias = Any
Clock: TypeAlias = Callable[[], Instant]


class Ticker(Protocol):
    """Ticks on the grid `t0 + k * interval`, k = 1, 2, …, where t0 is what the clock said at construction.

    Promises that hold for every design (queues/pacing/promises.py has a named check for each):

    * Each tick is on the grid, worked out from k alone, whatever was late before; indices rise, none comes twice.
    * No tick is returned before the clock has reached it.
    * Of the ticks that have come while nobody waited the oldest `capacity` are kept; each is returned at once when it
      is asked for. The others are counted in `dropped`. A tick that is due at the very instant of the call has come.
    * Of several that wait the one that came first gets the next tick. One that leaves by an exception takes none with
      it.
    * A clock that goes back brings no tick twice; one is waited for until the clock has reached it. (Give a clock that
      does not go back, as the default, where that must not take long.)
    * After `close()` nothing comes any more, those who wait get None at once, and no thread or task is left.

    An instant may be 0: compare with None, or iterate.
    """

    def __init__(self, interval: Span, *, capacity: int = 1, clock: Clock = ..., sleep: Callable[[Span], Any]) -> None:
        """Start the grid. Interval not positive and finite, capacity below 1: ValueError; no numbers: TypeError."""

    def wait_next(self) -> Instant | None:
        """Return the scheduled instant of a tick, waiting for it, or None after `close()`."""

    @property
    def origin(self) -> Instant:
        """Where the grid begins: what the clock said at construction."""

    @property
    def dropped(self) -> int:
        """How many ticks have come until now that were not kept; it stands still after `close()`."""

    def close(self) -> None:
        """End it; a second time does nothing."""

    def __iter__(self) -> Iterator[Instant]:
        """Iterate over the ticks until it is closed."""


class AsyncTicker(Protocol):
    """The same, awaited. A task that is cancelled in `wait_next` takes no tick with it."""

    async def wait_next(self) -> Instant | None:
        """Return the scheduled instant of a tick, waiting for it, or None after `close()`."""

    @property
    def origin(self) -> Instant:
        """Where the grid begins: what the clock said at construction."""

    @property
    def dropped(self) -> int:
        """How many ticks have come until now that were not kept; it stands still after `close()`."""

    def close(self) -> Awaitable[None]:
        """End it at once; await what it returns to be sure that no task is left."""

    def __aiter__(self) -> AsyncIterator[Instant]:
        """Iterate over the ticks until it is closed."""


class RateLimiter(Protocol):
    """A token bucket: it starts with `burst` permits, `rate` permits a second flow in, more than `burst` run over.

    Promises that hold for every design (queues/pacing/promises.py has a named check for each):

    * In every span T, granted <= burst + rate * T, exactly. Of "15 a minute" (rate 15/60, burst 15) a minute may so see
      30: the burst and what flowed in. Whoever must not see more than N in any span T takes burst + rate * T = N.
    * After exactly `wait_time(n)` n are granted, if nobody asked meanwhile: `now + wait_time` as the clock's own
      numbers add. Not before.
    * Waiters are served in the order in which they came, and before any `try_acquire`; at most two wake-ups a grant.
    * A refusal and an error change nothing. One that waits and leaves, by cancellation, KeyboardInterrupt or because
      `sleep` raised, has taken nothing; what was set aside for it goes to the next in line. Where `sleep` cannot be
      woken the next in line sees that at the latest when it would have been served otherwise.
    * n = 0 is granted at once. n > burst or n < 0: ValueError at once. n, burst: whole numbers.
    * Rate 0: the burst, then never; rate inf: always, up to `burst` at a time.
    * A clock that goes back mints and burns nothing: the permits are those of the last look, and more flow in from
      there on. Nobody waits longer than from then on for what is missing.
    * After `close()` everybody who waits or asks gets LimiterClosed, and no thread or task is left.
    """

    def __init__(self, rate: Any, burst: int, *, clock: Clock = ..., sleep: Callable[[Span], Any]) -> None:
        """A full bucket. Rate below 0 or NaN, burst below 1: ValueError; no numbers: TypeError."""

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False."""

    def wait_time(self, n: int = 1) -> Span:
        """Return the seconds until n would be granted to one that came now; 0 for at once, inf for never."""

    def acquire(self, n: int = 1) -> None:
        """Take n permits, waiting its turn."""

    def close(self) -> None:
        """End it; a second time does nothing. `wait_time` is inf from then on."""


class AsyncRateLimiter(Protocol):
    """The same; `acquire` is awaited, `try_acquire` and `wait_time` answer at once."""

    def try_acquire(self, n: int = 1) -> bool:
        """Take n permits now and return True, or take none and return False."""

    def wait_time(self, n: int = 1) -> Span:
        """Return the seconds until n would be granted to one that came now; 0 for at once, inf for never."""

    async def acquire(self, n: int = 1) -> None:
        """Take n permits, waiting its turn."""

    def close(self) -> Awaitable[None]:
        """End it at once; await what it returns to be sure that no task is left."""
