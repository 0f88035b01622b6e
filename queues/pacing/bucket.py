"""The token bucket as one stored instant and one count: the store behind the arithmetic limiter.

Idea        While the bucket is not full, the permits in it at `now` are `burst - taken + rate * (now - origin)`: origin
            is the instant at which it was last full and a permit was taken, taken how many have been taken since.
            Nothing is ever added to a float, so nothing drifts; a step costs O(1) and an idle bucket nothing.
Source      The generic cell rate algorithm (ITU-T I.371) with its theoretical arrival time, `origin + taken / rate`,
            kept as the pair that it is made of.
Exactness   Every decision is the one that exact arithmetic makes on the numbers given (a float is the number that it
            is: for a third of a permit a second give Fraction(1, 3)). Two float operations decide where their error,
            which is bounded, cannot matter; fractions decide the rest.
Bound       In every span T at most `burst + rate * T` permits: at its start there are at most `burst`.
Clock       When the clock goes back, `origin` goes back with it: the permits are what they were at the last look, and
            time goes on from there. In a span that the clock runs through twice, permits come twice, as time did.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, nan

from queues.pacing.grants import Handed
from queues.pacing.instants import INFINITY, exact
from queues.pacing.pulses import EPSILON, fast_rate
from queues.pacing.rules import NO_ORDER, require_origin

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any

    from queues.pacing.grants import Grant


class Bucket:
    """A bucket of `burst` permits that `rate` permits a second flow into; it starts full and reads no clock itself.

    >>> bucket = Bucket(2, 3)
    >>> [bucket.take(1, 10.0) for _ in range(4)], bucket.take(1, 10.5)
    ([True, True, True, None], True)
    """

    __slots__ = (
        "_fast_origin",
        "_fast_rate",
        "_handed",
        "_not_full_until",
        "_origin",
        "_out",
        "_rate",
        "burst",
        "epoch",
        "last",
        "shut_until",
        "taken",
    )

    def __init__(self, rate: Any, burst: int) -> None:
        """`rate` at least 0 and finite, `burst` at least 1: the caller has checked them."""
        self.burst = burst
        self.taken = 0  # since the bucket was full; 0: it is full
        self.epoch = 0
        self._rate = exact(rate, "rate")
        self._fast_rate = fast_rate(self._rate)
        self._origin: Any = 0
        self._fast_origin: Any = 0  # NaN when it is no number of the clock any more: then fractions decide
        self.last: Any = -inf  # what the clock said at the last look
        self.shut_until: Any = -inf  # nothing is granted before, if the clock does not go back
        self._not_full_until: Any = -inf
        self._handed = Handed(burst)
        self._out = self._handed.out

    def take(self, n: int, now: Any) -> bool | None:
        """Take `n` permits, 1 to `burst`, and return True, or None when there are too few. O(1)."""
        try:
            taken = self.taken
            if self.last <= now < self._not_full_until and taken + n <= self.burst and not self._out:
                self.last, self.taken = now, taken + n
                return True
            if now < self.last:
                self._step_back(now)
            if taken:
                try:
                    credit = (now - self._fast_origin) * self._fast_rate
                    slack = credit * EPSILON
                except (TypeError, ArithmeticError):  # Decimal and float do not mix, and the largest numbers overflow
                    credit = slack = nan
                missing = taken + n - self.burst
                if credit + slack < missing:
                    self.last = now
                    self.shut_until = self._float_before(taken + 1 - self.burst)
                    return None
                if credit - slack >= taken:
                    taken = 0  # it is full
                elif not (credit + slack < taken and credit - slack >= missing):
                    credit = self._credit(now)
                    if credit < missing:
                        self.last = now
                        return None
                    taken = taken if credit < taken else 0
            if self._out:
                self._handed.taking(self._level(now) if taken else self.burst)
            if not taken:
                if now - now != 0:  # NaN or inf
                    exact(now)
                self.epoch += 1
                self._origin = self._fast_origin = now
            self.last, self.taken = now, taken + n
            self._not_full_until = self._float_before(self.taken)
            return True
        except NO_ORDER:
            require_origin(now)
            raise

    def _float_before(self, flowed: int) -> Any:
        """Return an instant before which surely fewer than `flowed` permits have flowed in, or -inf.

        It stays one while permits are taken: only what is given back, or a clock that goes back, undoes it.
        """
        if flowed <= 0 or type(self._fast_origin) is not float or not self._fast_rate:
            return -INFINITY
        span = flowed / self._fast_rate
        return self._fast_origin + span - (abs(self._fast_origin) + span) * EPSILON

    def _credit(self, now: Any) -> Fraction:
        """Return what has flowed in since the bucket was full, exactly."""
        return (exact(now) - exact(self._origin)) * self._rate

    def _step_back(self, now: Any) -> None:
        """Move the origin by as much as the clock went back, exactly."""
        if self.last != INFINITY and self.taken:
            self._origin = exact(self._origin) - (exact(self.last) - exact(now))
            self._fast_origin = nan
        self.shut_until = self._not_full_until = -INFINITY
        self.last = now

    def settle(self, now: Any, _waiting: int = 0) -> None:
        """Bring the bucket to `now`: what has run over is gone. O(1)."""
        try:
            if self.last <= now < self._not_full_until:
                self.last = now
                return
            if now < self.last:
                self._step_back(now)
            if now - now != 0:  # NaN or inf
                exact(now)
            if self.taken and self._credit(now) >= self.taken:
                self.taken = 0
            self.last = now
        except NO_ORDER:
            require_origin(now)
            raise

    def hand(self, n: int) -> Grant | None:
        """Take `n` permits for somebody who is asleep, as of the last `settle`."""
        if self.last < self.shut_until or not self.take(n, self.last):
            return None
        return self._handed.hand(n, self.epoch)

    def collect(self, grant: Grant) -> None:
        """Whom they were handed to has woken up. O(handed)."""
        self._handed.collect(grant)

    def give_back(self, grant: Grant) -> None:
        """Undo a `hand`, as far as a bucket that never took these permits would hold more now. O(handed).

        None when the bucket has been full in between.
        """
        back = self._handed.give_back(grant)
        self.shut_until = self._not_full_until = -INFINITY
        if grant.epoch == self.epoch:
            self.taken = max(0, self.taken - back)

    def _level(self, now: Any) -> int:
        """Return how many permits there are, rounded up."""
        return min(self.burst, ceil(self.burst - self.taken + self._credit(now))) if self.taken else self.burst

    def mark(self, total: int) -> object:
        """Return what `instant(total)` depends on: as long as it is the same, so is the instant."""
        return self.epoch, self._origin, self.taken + total

    def instant(self, total: int) -> Any:
        """Return when `total` more permits will have come, if none goes elsewhere; inf for never. O(1), exact."""
        missing = self.taken + total - self.burst
        if missing <= 0:
            return self.last
        return exact(self._origin) + missing / self._rate if self._rate else INFINITY
