"""Where a reader stands that asks for pending events again and again: a bound that moves on and passes nothing over."""

from __future__ import annotations

from collections.abc import Sequence

from queues.events.rules import LOWEST, Event, require_whole


class Cursor:
    """A position (instant, id) and the bound `since_us` that lies `overlap_us` before it.

    The overlap must be at least as long as the longest transaction that writes events, and as far as the clocks of the
    writers may differ: an event that is dated before the bound when it is committed is never asked for. It costs that
    many old events being looked at in every query.

    >>> cursor = Cursor(overlap_us=10)
    >>> cursor.move([Event(7, "fetch", "page 1", "SUCCEEDED", 100)], now_us=500)
    >>> cursor.position, cursor.since_us
    ((100, 7), 90)
    """

    def __init__(self, overlap_us: int, position: tuple[int, int] = (LOWEST, 0)) -> None:
        """Start before everything, or where another cursor stood."""
        self.overlap_us = require_whole(overlap_us, "overlap_us", 0)
        self.position = position

    @property
    def since_us(self) -> int:
        """The bound of the next query."""
        return max(LOWEST, self.position[0] - self.overlap_us)

    def move(self, pending: Sequence[Event], now_us: int) -> None:
        """Go on to the first of all the events that are pending within the bound, or to `now_us` when there is none.

        `pending` is what a query without a limit has returned, asked at `now_us` or later. It never goes back, whatever
        the clock does: what became pending before the position, within the overlap, is still within the bound.
        """
        found = min(((event.at_us, event.id) for event in pending), default=(now_us, 0))
        self.position = max(self.position, found)
