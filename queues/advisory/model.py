"""The obviously right advisory scheduler, that the others are compared with. Slow: every call looks at every job.

Every instant and period is an exact Fraction from the moment it comes in, so there is no rounding to think about, and
there is no order to keep up: a call looks for what it needs. A clock that goes back moves every job back at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from queues.advisory.rules import (
    exact,
    no_job,
    repeated,
    require_clock,
    require_id,
    require_now,
    require_period,
    unknown,
)


class Row:
    """One job. `last_run` and `next_run` are None before there is one."""

    def __init__(self, job_id: Hashable, period: Any, userdata: Any) -> None:
        """A new job."""
        self.job_id = job_id
        self.given = period
        self.userdata = userdata
        self.last_run: Fraction | None = None
        self.next_run: Fraction | None = None
        self.unsure = False  # planned before the clock went back
        self.chosen = 0

    @property
    def period(self) -> Fraction:
        """The period, exact."""
        return exact(self.given)


class Model:
    """The contract of `queues.advisory.contract.AdvisoryScheduler`, word by word.

    >>> scheduler = Model()
    >>> scheduler.add("mail", 300)
    >>> scheduler.next_job(now=1000), scheduler.job_data("mail") == (1000, 1300, 300)
    (('mail', 0, None), True)
    """

    def __init__(self, *, auto_spread: bool = False, clock: Callable[[], Any] = time.time) -> None:
        """A scheduler without jobs."""
        require_clock(clock)
        self.auto_spread = auto_spread
        self.clock = clock
        self.rows: list[Row] = []  # in order of adding
        self.advice = 0
        self.seen: Fraction | None = None

    def add(self, job_id: Hashable, period: Any, userdata: Any = None) -> None:
        """Add a job."""
        require_period(period)
        require_id(job_id)
        now = self.at(None) if self.auto_spread else None
        if any(row.job_id == job_id for row in self.rows):
            raise repeated(job_id)
        self.rows.append(Row(job_id, period, userdata))
        self.spread_automatically(now)

    def update_period(self, job_id: Hashable, period: Any) -> None:
        """Set the period."""
        require_period(period)
        now = self.at(None) if self.auto_spread else None
        row = self.row(job_id)
        row.given = period
        row.next_run = None if row.last_run is None else row.last_run + row.period
        self.spread_automatically(now)

    def remove(self, job_id: Hashable) -> None:
        """Forget the job."""
        now = self.at(None) if self.auto_spread else None
        self.rows.remove(self.row(job_id))
        self.spread_automatically(now)

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        """Return (id, delay, userdata)."""
        at = self.at(now)
        if not self.rows:
            raise no_job()
        self.pass_time(at)
        new = [row for row in self.rows if row.next_run is None]
        known = [row.next_run for row in self.rows if row.next_run is not None]
        tied = new or [row for row in self.rows if row.next_run == min(known)]
        row = next(row for row in tied if row.chosen == min(other.chosen for other in tied))
        self.advice += 1
        row.chosen = self.advice
        if row.next_run is None or row.next_run <= at:
            row.last_run, row.next_run, row.unsure = at, at + row.period, False
            return row.job_id, 0, row.userdata
        delay = row.next_run - at
        if delay < row.period:
            row.last_run, row.next_run, row.unsure = row.next_run, row.next_run + row.period, False
        return row.job_id, min(delay, row.period) if row.unsure else delay, row.userdata

    def spread(self, now: Any = None) -> None:
        """Put jobs of similar period evenly over that period."""
        at = self.at(now)
        self.pass_time(at)
        self.place(at)

    def spread_automatically(self, at: Fraction | None) -> None:
        """Spread after a change, when that was asked for."""
        if at is not None:
            self.pass_time(at)
            self.place(at)

    def place(self, at: Fraction) -> None:
        """Give every cluster its places; those that keep them come first, the others are shifted out of their way."""
        clusters = self.clusters()
        taken: set[Fraction] = set()
        open_: list[tuple[list[Row], Fraction, Fraction]] = []
        steps = []
        for cluster in clusters:
            distance = cluster[0].period / len(cluster)
            waiting = [row for row in cluster if row.last_run is None or row.next_run is None or row.next_run >= at]
            waiting.sort(key=lambda row: (row.next_run is None, row.next_run or 0, row.chosen, self.rows.index(row)))
            if waiting:
                alone = waiting[0].next_run if len(cluster) == 1 and waiting[0].last_run is not None else None
                first = at + distance * (len(cluster) - len(waiting)) if alone is None else alone
                steps.append(distance)
                open_.append((waiting, first, distance))
        shifted = []
        for waiting, first, distance in open_:
            kept = waiting[0].next_run
            if kept is None or not first <= kept < first + distance or not put(waiting, kept, distance, taken):
                shifted.append((waiting, first, distance))
        for number, (waiting, first, distance) in enumerate(shifted):
            while not put(waiting, first + min(steps) * mirrored(number), distance, taken):
                number += 1

    def clusters(self) -> list[list[Row]]:
        """The jobs in clusters: none has a period more than a quarter above the shortest of its cluster."""
        left = sorted(self.rows, key=lambda row: row.period)
        found = []
        while left:
            found.append([row for row in left if row.period <= left[0].period * Fraction(5, 4)])
            left = left[len(found[-1]) :]
        return found

    def all_jobs(self) -> list[Any]:
        """The ids."""
        return [row.job_id for row in self.rows]

    def job_data(self, job_id: Hashable) -> tuple[Any, Any, Any]:
        """Return (last run, next run, period)."""
        row = self.row(job_id)
        return row.last_run or Fraction(0), row.next_run or Fraction(0), row.given

    def userdata(self, job_id: Hashable) -> Any:
        """The userdata."""
        return self.row(job_id).userdata

    def update_userdata(self, job_id: Hashable, value: Any) -> None:
        """Replace the userdata."""
        self.row(job_id).userdata = value

    def delete_userdata(self, job_id: Hashable) -> None:
        """Let go of the userdata."""
        self.row(job_id).userdata = None

    def row(self, job_id: Hashable) -> Row:
        """The row of a job."""
        require_id(job_id)
        for row in self.rows:
            if row.job_id == job_id:
                return row
        raise unknown(job_id)

    def at(self, now: Any) -> Fraction:
        """Return `now`, or the clock's, exact."""
        now = self.clock() if now is None else now
        require_now(now)
        return exact(now)

    def pass_time(self, at: Fraction) -> None:
        """Let it be `at`; when that is back, every job goes back as far."""
        if self.seen is not None and at < self.seen:
            for row in self.rows:
                row.unsure = row.last_run is not None
                row.last_run = None if row.last_run is None else row.last_run - (self.seen - at)
                row.next_run = None if row.next_run is None else row.next_run - (self.seen - at)
        self.seen = at


def put(rows: list[Row], first: Fraction, distance: Fraction, taken: set[Fraction]) -> bool:
    """Place `rows` from `first` on, unless one of their places is taken."""
    found = [first + distance * k for k in range(len(rows))]
    if any(place in taken for place in found):
        return False
    for row, place in zip(rows, found, strict=True):
        row.next_run = place
        taken.add(place)
    return True


def mirrored(number: int) -> Fraction:
    """Return 0, 1/2, 1/4, 3/4, 1/8, … for 0, 1, 2, …: the binary digits behind the point, in reverse.

    >>> [str(mirrored(number)) for number in range(5)]
    ['0', '1/2', '1/4', '3/4', '1/8']
    """
    found, weight = Fraction(0), Fraction(1, 2)
    while number:
        found += weight * (number % 2)
        number //= 2
        weight /= 2
    return found
