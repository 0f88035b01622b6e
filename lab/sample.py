"""Statistics of timed calls: percentiles, their intervals, histograms, worst calls and slopes.

Samples are one-dimensional arrays of int64 nanoseconds. A percentile is a sample that was measured, never a value
between two; `lab.rank` says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.rank import P50 as P50
from lab.rank import P90 as P90
from lab.rank import P99 as P99
from lab.rank import P999 as P999
from lab.rank import least_n as least_n
from lab.rank import nearest_rank as nearest_rank
from lab.rank import percentile_interval as percentile_interval

Samples = NDArray[np.int64]

TIMER_BOUND_BELOW = 3  # times the null call
HISTOGRAM_BITS = 7  # a bucket is at most 1/64 of its value wide, so its middle is within 0.8 % of every sample in it


def as_samples(values: ArrayLike, what: str = "samples") -> Samples:
    """Return `values` as a one-dimensional int64 array without copying where that is possible.

    ValueError when there are none, when they have another shape or when they are no whole numbers.
    """
    array = np.asarray(values)
    if array.ndim != 1 or not len(array):
        raise ValueError(f"{what} of shape {array.shape}: expected one row with at least one duration")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{what} of type {array.dtype}: expected whole nanoseconds")
    return array.astype(np.int64, copy=False)


def percentile(samples: ArrayLike, q: Fraction) -> int:
    """Return the `q` quantile of the samples by nearest rank, in ns; O(n). Errors as for `nearest_rank`.

    >>> percentile([30, 10, 20], P50), percentile([30, 10, 20], P999)
    (20, 30)
    """
    array = as_samples(samples)
    place = nearest_rank(len(array), q) - 1
    return int(np.partition(array, place)[place])


@dataclass(frozen=True)
class Histogram:
    """How many samples fell into each bucket; buckets ascend and none is empty.

    Log-linear: durations under 128 ns have a bucket each, from there on every doubling has 64 buckets of equal width
    (the layout of HdrHistogram with 7 bits). `bucket` is int32, `count` int64.
    """

    bucket: NDArray[np.int32]
    count: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of samples in it."""
        return int(self.count.sum())

    def percentile(self, q: Fraction) -> int:
        """Return the `q` quantile within 1 % of the sample at its rank, in ns; O(buckets)."""
        place = np.searchsorted(np.cumsum(self.count), nearest_rank(self.n, q))
        low, high = bucket_bounds(int(self.bucket[place]))
        return (low + high) // 2

    @staticmethod
    def merge(*histograms: Histogram) -> Histogram:
        """Return one histogram of the samples of all of them; ValueError for none."""
        if not histograms:
            raise ValueError("no histograms to merge: expected at least one")
        buckets = np.concatenate([histogram.bucket for histogram in histograms])
        counts = np.concatenate([histogram.count for histogram in histograms])
        unique, place = np.unique(buckets, return_inverse=True)
        total = np.zeros(len(unique), dtype=np.int64)
        np.add.at(total, place, counts)
        return Histogram(unique.astype(np.int32), total)


def encode(samples: ArrayLike) -> Histogram:
    """Return the histogram of the samples; O(n log n). ValueError for a negative duration.

    >>> histogram = encode([5, 5, 130, 131, 1_000_000])
    >>> histogram.bucket.tolist(), histogram.count.tolist(), histogram.percentile(P999)
    ([5, 129, 954], [2, 2, 1], 1003519)
    """
    array = as_samples(samples)
    if array.min() < 0:
        raise ValueError(f"a sample of {array.min()} ns: expected no negative duration")
    values, counts = np.unique(array, return_counts=True)
    # beyond 2**53 frexp may round up to the next power of two, and the bucket comes out the same
    shift = np.maximum(np.frexp(values.astype(np.float64))[1].astype(np.int64) - HISTOGRAM_BITS, 0)
    buckets = shift * 2 ** (HISTOGRAM_BITS - 1) + (values >> shift)
    unique, first = np.unique(buckets, return_index=True)
    return Histogram(unique.astype(np.int32), np.add.reduceat(counts, first).astype(np.int64))


def bucket_bounds(bucket: int) -> tuple[int, int]:
    """Return the smallest and the largest duration in ns that fall into a bucket; ValueError for a negative one.

    >>> bucket_bounds(127), bucket_bounds(128), bucket_bounds(954)
    ((127, 127), (128, 129), (999424, 1007615))
    """
    if bucket < 0:
        raise ValueError(f"{bucket} is no bucket: they count from 0")
    half = 2 ** (HISTOGRAM_BITS - 1)
    shift = max(0, bucket // half - 1)
    low = (bucket - shift * half) << shift
    return low, low + 2**shift - 1


@dataclass(frozen=True)
class Summary:
    """The figures of one row of samples, in ns; `n` and all figures leave out the first `warmup` samples.

    `max_index` is the place of the largest sample, from 0, warm-up included; of equal ones the first.
    """

    n: int
    warmup: int
    mean_ns: float
    min_ns: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int
    max_index: int
    histogram: Histogram


def summarize(samples: ArrayLike, warmup: int = 0) -> Summary:
    """Return the figures of the samples after the first `warmup` ones; O(n log n).

    Every percentile is given, also where `n` is under `least_n`: what prints it says that n is too small. ValueError
    when nothing is left after the warm-up, for a negative one and for a negative duration.
    """
    every = as_samples(samples)
    if not 0 <= warmup < len(every):
        raise ValueError(f"a warm-up of {warmup} of {len(every)} samples: expected at least one sample after it")
    kept = every[warmup:]
    places = [nearest_rank(len(kept), q) - 1 for q in (P50, P90, P99, P999)]
    p50, p90, p99, p999 = (int(value) for value in np.partition(kept, places)[places])
    worst = int(np.argmax(kept))
    return Summary(
        n=len(kept),
        warmup=warmup,
        mean_ns=int(kept.sum()) / len(kept),
        min_ns=int(kept.min()),
        p50_ns=p50,
        p90_ns=p90,
        p99_ns=p99,
        p999_ns=p999,
        max_ns=int(kept[worst]),
        max_index=warmup + worst,
        histogram=encode(kept),
    )


def operation_columns(
    samples: ArrayLike,
    *,
    warmup: int = 0,
    calls_per_sample: int = 1,
    null_before: ArrayLike | None = None,
    null_after: ArrayLike | None = None,
    bare: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return every statistics column of one row of `executions`: the samples', the null calls' and the net figures.

    Figures are ns per call: the sample's divided by `calls_per_sample`; histograms keep the samples. O(n log n).
    ValueError as for `summarize`, and for `calls_per_sample` below 1.
    """
    if calls_per_sample < 1:
        raise ValueError(f"{calls_per_sample} calls per sample: expected at least 1")
    found = summarize(samples, warmup)
    columns: dict[str, Any] = {name: getattr(found, name) for name in ("n", "warmup", "max_index")}
    for name in ("mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"):
        columns[name] = getattr(found, name) / calls_per_sample
    columns["calls_per_sample"] = calls_per_sample
    columns["histogram_bucket"] = found.histogram.bucket.tolist()
    columns["histogram_count"] = found.histogram.count.tolist()
    columns.update(_null_columns(found.p50_ns, calls_per_sample, null_before, null_after))
    if bare is not None:
        columns["bare_p50_ns"] = float(percentile(bare, P50))
    return columns


def _null_columns(
    p50_ns: int, calls_per_sample: int, before: ArrayLike | None, after: ArrayLike | None
) -> dict[str, Any]:
    """Return what the null calls before and after say, both taken together where both are there."""
    given = {"before": before, "after": after}
    arrays = {side: as_samples(values, f"null samples {side}") for side, values in given.items() if values is not None}
    if not arrays:
        return {}
    together = np.concatenate(list(arrays.values()))
    null, histogram = percentile(together, P50), encode(together)
    columns: dict[str, Any] = {
        f"null_p50_{side}_ns": percentile(array, P50) / calls_per_sample for side, array in arrays.items()
    }
    columns["null_n"] = len(together)
    columns["null_p50_ns"] = null / calls_per_sample
    columns["null_p99_ns"] = percentile(together, P99) / calls_per_sample
    columns["null_histogram_bucket"] = histogram.bucket.tolist()
    columns["null_histogram_count"] = histogram.count.tolist()
    columns["net_p50_ns"] = (p50_ns - null) / calls_per_sample
    columns["timer_bound"] = timer_bound(p50_ns, null)
    return columns


def timer_bound(p50_ns: float, null_p50_ns: float) -> bool:
    """Return whether a case says more about the clock than about the queue: p50 under 3 × the null call's p50.

    >>> timer_bound(2999, 1000), timer_bound(3000, 1000)
    (True, False)
    """
    return p50_ns < TIMER_BOUND_BELOW * null_p50_ns


def median_worst(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the row (it has `max_ns` and `process`) whose worst call is the median of the worst calls.

    For an even number of rows the lower of the two in the middle; of equal ones the earliest process. Rows without a
    `max_ns` have no worst call and do not count. ValueError when no row is left. O(rows log rows).
    """
    ranked = sorted(
        (row for row in rows if row["max_ns"] is not None and row["max_ns"] == row["max_ns"]),  # pandas' null is NaN
        key=lambda row: (row["max_ns"], row["process"]),
    )
    if not ranked:
        raise ValueError("no execution has a worst call: expected at least one that is ok")
    middle = ranked[(len(ranked) - 1) // 2]["max_ns"]
    return next(row for row in ranked if row["max_ns"] == middle)


def structural_worst(matrix: Iterable[ArrayLike], warmup: int = 0) -> tuple[int, int] | None:
    """Return (ns, index) of the worst call that the structure itself causes, from the calls of several processes.

    The k-th call is the same call in every process, so the smallest time of call k over the processes is what the
    structure costs there; the largest such value after the first `warmup` calls is the answer, and of equal ones the
    first. None with fewer than two processes, unequal numbers of calls, or no call after the warm-up. O(all samples).

    >>> structural_worst([[10, 90, 10, 11], [10, 12, 70, 12]])
    (12, 1)
    """
    arrays = [as_samples(calls) for calls in matrix]
    if len(arrays) < 2 or len({len(calls) for calls in arrays}) != 1 or len(arrays[0]) <= warmup:
        return None
    least = np.minimum.reduce(arrays)
    index = warmup + int(np.argmax(least[warmup:]))
    return int(least[index]), index


def slope(points: Iterable[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through (x, y), such as bytes per message from (messages, bytes).

    O(points). ValueError for fewer than two different x.

    >>> slope([(10_000, 5_000_000), (20_000, 6_000_000), (30_000, 7_000_000)])
    100.0
    """
    pairs = [(Fraction(x), Fraction(y)) for x, y in points]  # exact: the difference of large numbers is what counts
    if len({x for x, _ in pairs}) < 2:
        raise ValueError(f"a slope through {len(pairs)} points: expected at least two different places")
    middle_x = sum(x for x, _ in pairs) / len(pairs)
    middle_y = sum(y for _, y in pairs) / len(pairs)
    above = sum((x - middle_x) * (y - middle_y) for x, y in pairs)
    return float(above / sum((x - middle_x) ** 2 for x, _ in pairs))
