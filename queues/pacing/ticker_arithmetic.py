"""The ticker without a producer: whoever waits works out when the next tick is and sleeps until then.

Idea        The grid is known, so nobody has to produce ticks. What came while nobody looked is worked out at the next
            look: the oldest `capacity` are kept as runs of indices, the others counted.
Cost        wait_next   O(1) on time, O(log passed) after a silence; one sleep, no thread
            memory      a run for each silence, at most `capacity` runs
Weakness    A waiter in a `sleep` that somebody gave cannot be woken by `close()`; see queues/pacing/waiting.py.
"""

from __future__ import annotations

from queues.pacing.ticker import BlockingTicker
from queues.pacing.ticks import Ticks


class ArithmeticTicker(BlockingTicker):
    """A ticker that computes; queues.pacing.contract.Ticker says what each call means.

    >>> now = 0.0
    >>> def clock():
    ...     return now
    >>> def sleep(span):
    ...     global now
    ...     now += span
    >>> ticker = ArithmeticTicker(1.0, clock=clock, sleep=sleep)
    >>> ticker.wait_next()
    1.0
    >>> now = 4.7
    >>> [ticker.wait_next() for _ in range(3)], ticker.dropped
    ([2.0, 5.0, 6.0], 2)
    """

    __slots__ = ()
    store = Ticks
