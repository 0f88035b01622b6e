"""aiolimiter's AsyncLimiter behind the front of our rate limiter.

Idea        A leaky bucket: a level in float that each grant raises and that time lowers; a heap of futures for who
            waits.
Source      aiolimiter 1.x.
Cost        try_acquire O(1); acquire O(log waiting), and one timer of the loop for all that wait
What differs
            The level is a float that each look lowers, so errors add up: a grant may come a little early or late.
            The heap is ordered by how many permits are wanted, then by arrival: few go before many, not first before
            next. Whoever comes when there is room takes it, ahead of those who wait.
            A loop clock that goes back raises the level. No `close`; no clock but that of the loop.
            Nothing tells how long it would take.
Ours        The names: burst is its max_rate, burst / rate its time_period. `try_acquire` is has_capacity, then acquire,
            which with room never waits.
"""

from __future__ import annotations

from aiolimiter import AsyncLimiter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any


class Aiolimiter:
    """`AsyncLimiter` as a rate limiter; the module says what of queues.pacing.contract it does not promise.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     limiter = Aiolimiter(rate=4, burst=2)
    ...     for _ in range(4):
    ...         await limiter.acquire()
    ...     return clock()
    >>> run(main)
    0.5
    """

    __slots__ = ("_limiter",)

    def __init__(self, rate: Any, burst: int) -> None:
        """A limiter for the loop that runs when it is first used."""
        self._limiter = AsyncLimiter(burst, burst / rate)

    async def acquire(self, n: int = 1) -> None:
        """Take n, waiting for room."""
        await self._limiter.acquire(n)

    def try_acquire(self, n: int = 1) -> bool:
        """Take n now if there is room. O(1)."""
        if not self._limiter.has_capacity(n):
            return False
        taking = self._limiter.acquire(n)
        try:
            taking.send(None)
        except StopIteration:
            return True
        taking.close()
        return False
