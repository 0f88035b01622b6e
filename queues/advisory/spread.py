"""How jobs are spread: which periods are similar, and at which instants the jobs of similar period then run.

Clusters    Sorted by period, a job joins the cluster before it while its period is at most a quarter longer than the
            shortest one there; else it begins a new cluster. Why: the cluster is laid over its shortest period, so that
            no job waits longer than its own, and a quarter bounds what is left empty of the longest one to a fifth.
            300 s and 320 s are similar, 60 s and 3,600 s are not. Cutting at the widest gaps, as k-means or natural
            breaks do, has no such bound (1.0, 1.2, 1.4 … up to 100 is one cluster), needs the number of clusters, and
            asks a library for what one pass over sorted numbers does: greedy from the shortest gives the fewest
            clusters that keep the bound. Source: covering points by intervals, in any book on greedy algorithms.
Places      A cluster of n jobs and shortest period p has the places `now + k * p / n`, k = 0 … n - 1. Overdue jobs that
            have run before stay where they are and use up the first places, one each. The others follow in their order:
            by next run, then least recently chosen, then least recently added; those that are due at once last.
Even        When the first of these others has its next run within its place (from it to the next one) already, it
already     keeps it and the places start there: a schedule that is even stays as it is, however often it is spread. A
            job that has run and is alone in its cluster stays where it is.
Different   A cluster whose places meet those of another is shifted by a part of the smallest distance of all, 1/2, 1/4,
            3/4, 1/8 … (van der Corput's sequence), so all jobs differ and one at most is due right now.
Rounding    Places are worked out in the clock's arithmetic. Where that cannot tell two of them apart, or leaves the
            period (a float clock near the end of its precision), they are exact Fractions.
Cost        O(n log n) for the two sorts; O(n) numbers
"""

from __future__ import annotations

from itertools import count, pairwise
from operator import attrgetter

from queues.advisory.rules import AT_ONCE, exact, minus, plus

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    Jobs: TypeAlias = list[Any]  # with period, last_run, next_run, chosen and added, as queues.advisory.jobs.Job

PERIOD = attrgetter("period")
EXACT_INTEGERS = 2**53
"""Beyond it a float does not hold every whole number."""

TRIES = 32
"""Shifts tried in the clock's arithmetic; it may have none left, exact numbers always have."""


def places(jobs: Iterable[Any], now: Any) -> list[tuple[Any, Any]]:
    """Return (job, next run) for every job that a spread at `now` places; changes nothing. O(n log n).

    >>> from queues.advisory.jobs import Job
    >>> [place for _, place in places([Job(name, 10, None, at) for at, name in enumerate("abcd")], 100)]
    [100, 102.5, 105, 107.5]
    """
    clusters = [Cluster(members, now) for members in similar(jobs)]
    waiting = [cluster for cluster in clusters if cluster.waiting]
    taken: set[Any] = set()
    found: list[tuple[Any, Any]] = []
    unplaced = []
    for cluster in waiting:
        kept = cluster.kept()
        if kept is None or not taken.isdisjoint(kept):
            unplaced.append(cluster)
            continue
        taken.update(kept)
        found += zip(cluster.waiting, kept, strict=True)
    step = min((cluster.place(1) for cluster in waiting), default=0)
    for number, cluster in enumerate(unplaced):
        shifted = free(cluster, number, step, taken)
        taken.update(shifted)
        found += zip(cluster.waiting, shifted, strict=True)
    return found


def free(cluster: Cluster, number: int, step: Any, taken: set[Any]) -> list[Any]:
    """Return places for `cluster` that nobody has; the `number`-th cluster begins with the `number`-th shift."""
    late = cluster.late
    for tried in range(number, number + TRIES):
        shift = share(step, *part(tried), cluster.now)
        base = plus(cluster.base, shift) if shift else cluster.base
        if plus(base, cluster.place(late)) not in taken:  # look at one before making all
            shifted = cluster.from_place(base, late)
            if shifted is not None and taken.isdisjoint(shifted):
                return shifted
    base, step = exact(cluster.base), exact(step)
    bases = (base + step * numerator / denominator for numerator, denominator in map(part, count(number)))
    tries = (cluster.exactly(one, late) for one in bases)
    return next(shifted for shifted in tries if taken.isdisjoint(shifted))


def similar(jobs: Iterable[Any]) -> list[Jobs]:
    """Return the jobs in clusters of similar period, by period; within a cluster by period and order of `jobs`.

    >>> from queues.advisory.jobs import Job
    >>> clusters = similar(Job("mail", period, None, 0) for period in (3600, 320, 60, 300, 75))
    >>> [[job.period for job in cluster] for cluster in clusters]
    [[60, 75], [300, 320], [3600]]
    """
    clusters: list[Jobs] = []
    shortest: Any = None
    for job in sorted(jobs, key=PERIOD):
        period = job.period
        if clusters and (period == shortest or 4 * minus(period, shortest) <= shortest):
            clusters[-1].append(job)
        else:
            clusters.append([job])
            shortest = period
    return clusters


def part(number: int) -> tuple[int, int]:
    """Return the `number`-th of 0, 1/2, 1/4, 3/4, 1/8, … as (numerator, denominator): its bits, mirrored.

    >>> [part(number) for number in range(5)]
    [(0, 1), (1, 2), (1, 4), (3, 4), (1, 8)]
    """
    bits = f"{number:b}" if number else ""
    return int(bits[::-1] or "0", 2), 1 << len(bits)


def share(period: Any, k: int, n: int, now: Any) -> Any:
    """Return `period * k / n`, to be added to `now`: whole where it is, else in the arithmetic of the clock.

    >>> share(10, 2, 5, 0), share(10, 1, 4, 0), share(10, 1, 4, 10**18)
    (4, 2.5, Fraction(5, 2))
    """
    if not k:
        return 0
    if isinstance(period, float):
        return period * (k / n) or exact(period) * k / n  # k / n first, or a huge period times k would be infinite
    if isinstance(period, int):
        whole, rest = divmod(period * k, n)
        if not rest:
            return whole
        if isinstance(now, float) or (isinstance(now, int) and abs(now) + period < EXACT_INTEGERS):
            return period * k / n if period < EXACT_INTEGERS else exact(period) * k / n
        return exact(period) * k / n if isinstance(now, int) else type(now)(period) * k / n
    return period * k / n


class Cluster:
    """Jobs of similar period: how many are `late`, who is `waiting` for a place, and where the first place is.

    `base` is the first place: now, or the next run of a job that has run and is alone.
    """

    __slots__ = ("base", "late", "now", "period", "size", "waiting")

    def __init__(self, members: Jobs, now: Any) -> None:
        """Sort `members`, of which the first has the shortest period."""
        self.now = now
        self.size = len(members)
        self.period = members[0].period
        # The times of all, of the jobs that are late but have never run as well, are up to us; theirs are not.
        waiting = [job for job in members if job.last_run is None or job.next_run >= now]
        self.late = self.size - len(waiting)
        self.waiting = sorted(waiting, key=_order)
        alone = self.size == 1 and waiting and waiting[0].last_run is not None
        self.base = waiting[0].next_run if alone else now

    def place(self, k: int) -> Any:
        """Return how far the k-th place is behind the first."""
        return share(self.period, k, self.size, self.now)

    def kept(self) -> list[Any] | None:
        """Return the places when the first one that waits is in its place already, else None."""
        next_run = self.waiting[0].next_run
        first = plus(self.base, self.place(self.late))
        if not first <= next_run < plus(self.base, self.place(self.late + 1)):
            return None
        return self.from_place(self.base, self.late) if next_run == first else self.from_place(next_run, 0)

    def from_place(self, base: Any, first: int) -> list[Any] | None:
        """Return a place for everyone that waits, `base` and `first` places on and so forth, rising.

        None when `base` was rounded so far that they do not lie in the period from the first place on.
        """
        found = [plus(base, self.place(k)) for k in range(first, first + len(self.waiting))]
        rising = all(one < other for one, other in pairwise(found))
        if rising and self.base <= found[0] and found[-1] < plus(self.base, self.period):
            return found
        found = self.exactly(base, first)
        inside = self.base <= found[0] and found[-1] < exact(self.base) + exact(self.period)
        return found if inside else None

    def exactly(self, base: Any, first: int) -> list[Any]:
        """Return the same in exact numbers."""
        begin, distance = exact(base), exact(self.period) / self.size
        return [begin + distance * k for k in range(first, first + len(self.waiting))]


def _order(job: Any) -> tuple[bool, Any, int, int]:
    return job.next_run == AT_ONCE, job.next_run, job.chosen, job.added
