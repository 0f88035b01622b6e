"""The ticker of the document for asyncio: a task puts each tick into a bounded queue, unless it is full.

As queues/pacing/ticker_channel.py; the task runs only while somebody waits.
"""

from __future__ import annotations

from queues.pacing.ticker_asyncio import AsyncioTicker
from queues.pacing.ticks import Channel


class ChannelAsyncioTicker(AsyncioTicker):
    """A ticker with a producer; queues.pacing.contract.AsyncTicker says what each call means.

    >>> from queues.pacing.virtual_loop import run
    >>> async def main(clock):
    ...     async with ChannelAsyncioTicker(1.0, clock=clock) as ticker:
    ...         return [await ticker.wait_next() for _ in range(3)]
    >>> run(main)
    [1.0, 2.0, 3.0]
    """

    __slots__ = ()
    store = Channel
    kept = True
