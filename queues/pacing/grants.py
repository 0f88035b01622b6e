"""Permits that were handed to somebody who has not woken up yet, and what they are worth when they come back.

A bucket that never gave these permits would have held more since, but no more than fits in: what would have run over at
some moment in between is lost, or the bound would be broken. So for each grant that is out the highest level is kept
that the bucket had since, just before something else was taken; then the burst less that level is what fitted in.
"""

from __future__ import annotations


class Grant:
    """`n` permits, taken in the `epoch`-th time that the bucket was not full.

    `peak` is the highest level, rounded up, just before a later grant, until the next one of those that are out;
    0 for none yet.
    """

    __slots__ = ("epoch", "n", "peak")

    def __init__(self, n: int, epoch: int) -> None:
        """Nothing was taken since."""
        self.n = n
        self.epoch = epoch
        self.peak = 0


class Handed:
    """The grants that are out, in order. Every call is O(grants that are out), which are few.

    >>> handed = Handed(burst=3)
    >>> first, second = handed.hand(1, 1), handed.hand(1, 1)
    >>> handed.taking(3)
    >>> handed.give_back(second), handed.give_back(first)
    (0, 0)
    """

    __slots__ = ("_burst", "out")

    def __init__(self, burst: int) -> None:
        """None is out."""
        self._burst = burst
        self.out: list[Grant] = []
        """Those that are out, in order; nearly always empty."""

    def hand(self, n: int, epoch: int) -> Grant:
        """Return a new grant; `taking` was called for it already."""
        grant = Grant(n, epoch)
        self.out.append(grant)
        return grant

    def taking(self, level: int) -> None:
        """Something is being taken from `level`, rounded up."""
        last = self.out[-1]
        last.peak = max(last.peak, level)

    def collect(self, grant: Grant) -> None:
        """Whom it was handed to has woken up."""
        if grant in self.out:
            self._remove(self.out.index(grant))

    def give_back(self, grant: Grant) -> int:
        """Return how many of its permits the bucket would hold, had it never been taken. One not out is worth none."""
        if grant not in self.out:
            return 0
        place = self.out.index(grant)
        since = self.out[place:]
        back = max(0, min(grant.n, self._burst - max(other.peak for other in since)))
        for other in since:
            if other.peak:
                other.peak += back
        self._remove(place)
        return back

    def _remove(self, place: int) -> None:
        removed = self.out.pop(place)
        if place:
            before = self.out[place - 1]
            before.peak = max(before.peak, removed.peak)
