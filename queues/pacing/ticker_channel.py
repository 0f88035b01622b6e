"""The ticker of the document: a producer puts each tick into a bounded queue, unless it is full.

Idea        A thread sleeps until the next instant of the grid and tries to put its tick; who waits is woken by that.
            While nobody waits the thread sleeps on: what it would have put, or dropped, is settled by whoever looks
            next, before it looks. So a consumer can never overtake a producer that is late, and what it sees does not
            depend on which of two threads came first.
Source      "Parataxis, Eventually": a background fiber and `$channel->try_put`.
Cost        wait_next   two changes of thread a tick when it waits, O(1) when it is late
            memory      a thread, from the first wait until `close()`; `capacity` numbers
Weakness    The thread. In green threads it needs `threading` patched as well as `time.sleep`.
"""

from __future__ import annotations

from queues.pacing.ticker import BlockingTicker
from queues.pacing.ticks import Channel


class ChannelTicker(BlockingTicker):
    """A ticker with a producer; queues.pacing.contract.Ticker says what each call means.

    >>> from queues.pacing.virtual import VirtualTime
    >>> with VirtualTime() as time, ChannelTicker(1.0, clock=time.clock, sleep=time.sleep) as ticker:
    ...     first = ticker.wait_next()
    ...     time.sleep(3.7)
    ...     [first, *(ticker.wait_next() for _ in range(3)), ticker.dropped]
    [1.0, 2.0, 5.0, 6.0, 2]
    """

    __slots__ = ()
    store = Channel
    kept = True
