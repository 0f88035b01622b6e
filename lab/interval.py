"""Where a percentile of a case lies, when each of its processes has one of its own.

Two things move a percentile. Within a process the calls scatter: order statistics bound that, whatever their
distribution. Between processes the layout of memory, the hash seed and the state of the machine differ: calls of one
process share them, so pooling the calls of all processes would take m × n dependent samples for independent ones, and
its interval would shrink with n around a value that the next process does not have. So the order statistics are those
of the one execution that is shown, the process is the unit of everything else, and of the two the end that reaches
further is the one given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from lab.histogram import bucket_bounds
from lab.rank import ALPHA, P50, P90, P99, P999, least_n, percentile_interval

Row = Mapping[str, Any]

COLUMN = {P50: "p50_ns", P90: "p90_ns", P99: "p99_ns", P999: "p999_ns"}
"""quantile -> the column of `executions` that has it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From where to where, in ns; `processes` is how many stand behind it.

    `coverage` of that number says how sure it is of a typical process.
    """

    low_ns: float
    high_ns: float
    processes: int


def interval(rows: Sequence[Row], shown: Row, q: Fraction) -> Interval | None:
    """Return the interval of the `q` quantile of a case: the wider of `within` and `over_processes`, end by end.

    `rows` are those of its executions that are ok, `shown` the one whose percentile is printed; the interval holds
    that percentile. None where `shown` has fewer than `least_n(q)` samples, or where nothing is known about its calls
    and there is no other process. O(processes + buckets).
    """
    if shown["n"] is None or shown["n"] < least_n(q):
        return None
    column = COLUMN[q]
    ends = [within(shown, q), over_processes([row[column] for row in rows if row[column] is not None])]
    known = [pair for pair in ends if pair is not None]
    if not known:
        return None
    low = min(low for low, _ in known)
    high = max(high for _, high in known)
    return Interval(min(low, shown[column]), max(high, shown[column]), len(rows))


def within(row: Row, q: Fraction) -> tuple[float, float] | None:
    """Return where the `q` quantile lies as far as the calls of one execution tell, in ns per call.

    The two order statistics of `percentile_interval`, found in the histogram of the row and rounded outwards to the
    ends of their buckets (at most 1.6 % each), but not beyond the smallest and largest sample. Holds in 95 % of cases
    for independent calls. None with fewer than `least_n(q)` samples or without a histogram. O(buckets).

    >>> row = {"n": 6, "calls_per_sample": 1, "min_ns": 10.0, "max_ns": 131.0,
    ...        "histogram_bucket": [10, 20, 129], "histogram_count": [1, 3, 2]}
    >>> within(row, P50)
    (10.0, 131.0)
    """
    ranks = percentile_interval(row["n"], q) if row["n"] else None
    if ranks is None or row["histogram_bucket"] is None:
        return None
    ends = np.searchsorted(np.cumsum(row["histogram_count"]), ranks)
    buckets = row["histogram_bucket"]
    calls = row["calls_per_sample"] or 1
    low, high = bucket_bounds(int(buckets[ends[0]]))[0], bucket_bounds(int(buckets[ends[1]]))[1]
    return max(low / calls, row["min_ns"]), min(high / calls, row["max_ns"])


def over_processes(values: Sequence[float]) -> tuple[float, float] | None:
    """Return where the median over all processes there could be lies, from the values of those there were.

    The bootstrap over processes: the median of as many processes drawn again and again with replacement, from the
    2.5 % to the 97.5 % quantile of what comes out. For a median that distribution is known exactly (Maritz and
    Jarrett, JASA 73, 1978), so no draw is made and no seed is needed. A bootstrap is too narrow for few processes; from
    6 on it is widened to the order statistics that hold in 95 % of cases, below that it is the range, and `coverage`
    says what that holds. None with fewer than two values. O(m log m).

    >>> over_processes([12.0, 10.0, 11.0, 40.0, 13.0]), over_processes([7.0])
    ((10.0, 40.0), None)
    """
    if len(values) < 2:
        return None
    ordered = sorted(values)
    low, high = places(len(ordered))
    return ordered[low - 1], ordered[high - 1]


@lru_cache(maxsize=1024)
def places(processes: int) -> tuple[int, int]:
    """Return the ranks, from 1, of the two processes that bound the median; ValueError for fewer than 2.

    >>> places(5), places(7), places(10), places(20)
    ((1, 5), (1, 7), (2, 9), (6, 15))
    """
    if processes < 2:
        raise ValueError(f"{processes} process(es) bound nothing: expected at least 2")
    middle = (processes + 1) // 2  # of an even number the lower one; the other end mirrors it
    low = next(rank for rank in range(1, processes + 1) if _at_most(rank, processes, middle) > ALPHA / 2)
    holding = percentile_interval(processes, P50)
    if holding is not None:
        low = min(low, holding[0])
    return low, processes + 1 - low


def _at_most(rank: int, processes: int, middle: int) -> Fraction:
    """Return the chance that the median of a resample is at most the value at `rank`: `middle` of it must be."""
    under = range(middle, processes + 1)
    ways = sum(comb(processes, k) * rank**k * (processes - rank) ** (processes - k) for k in under)
    return Fraction(ways, processes**processes)


def coverage(processes: int) -> Fraction:
    """Return how often `over_processes` holds the true median at least, whatever the distribution over processes.

    The number of processes below the median is binomial. 0 for a single process, which says nothing about others.

    >>> [round(float(coverage(m)), 4) for m in (1, 2, 3, 5, 6, 10)]
    [0.0, 0.5, 0.75, 0.9375, 0.9688, 0.9785]
    """
    if processes < 2:
        return Fraction(0)
    low, high = places(processes)
    return Fraction(sum(comb(processes, below) for below in range(low, high)), 2**processes)
