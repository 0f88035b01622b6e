"""The ticker without a producer for asyncio: whoever waits has a timer of the loop, and nothing else runs.

As queues/pacing/ticker_arithmetic.py; `close()` wakes at once whatever the `sleep`.
"""

from __future__ import annotations

from queues.pacing.ticker_asyncio import AsyncioTicker
from queues.pacing.ticks import Ticks


class ArithmeticAsyncioTicker(AsyncioTicker):
    """A ticker that computes; queues.pacing.contract.AsyncTicker says what each call means.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     async with ArithmeticAsyncioTicker(1.0, clock=clock) as ticker:
    ...         return [await ticker.wait_next() for _ in range(3)]
    >>> run(main)
    [1.0, 2.0, 3.0]
    """

    __slots__ = ()
    store = Ticks
