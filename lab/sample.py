"""Statistics of timed calls: what one row of samples comes to, and slopes.

Samples are one-dimensional arrays of int64 nanoseconds. A percentile is a sample that was measured, never a value
between two; `lab.rank` says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lab.histogram import Histogram as Histogram
from lab.histogram import as_samples as as_samples
from lab.histogram import bucket_bounds as bucket_bounds
from lab.histogram import encode as encode
from lab.rank import P50 as P50
from lab.rank import P90 as P90
from lab.rank import P99 as P99
from lab.rank import P999 as P999
from lab.rank import least_n as least_n
from lab.rank import nearest_rank as nearest_rank
from lab.rank import percentile_interval as percentile_interval
from lab.steady import steadiness
from lab.worst import structural_worst as structural_worst

TIMER_BOUND_BELOW = 3  # times the null call


def percentile(samples: ArrayLike, q: Fraction) -> int:
    """Return the `q` quantile of the samples by nearest rank, in ns; O(n). Errors as for `nearest_rank`.

    >>> percentile([30, 10, 20], P50), percentile([30, 10, 20], P999)
    (20, 30)
    """
    array = as_samples(samples)
    place = nearest_rank(len(array), q) - 1
    return int(np.partition(array, place)[place])


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
    same_work: bool = False,
) -> dict[str, Any]:
    """Return every statistics column of one row of `executions`: the samples', the null calls' and the net figures.

    Figures are ns per call: the sample's divided by `calls_per_sample`; histograms keep the samples. With `same_work`
    every call does the same, and whether they are steady is said where there are enough of them. O(n log n).
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
        columns["clock_step_ns"] = clock_step(bare)
    found_steady = steadiness(as_samples(samples)[warmup:]) if same_work else None
    if found_steady is not None:
        columns["steady"], columns["drift"] = found_steady.steady, found_steady.drift
    return columns


def clock_step(bare: ArrayLike) -> int | None:
    """Return the smallest step of the clock, in ns, that pairs of reads with nothing between them show; None if none.

    The least by which two of the pairs differ, or the least pair that is not 0: a clock that ticks every microsecond
    gives whole microseconds only, whatever resolution the system claims for it. O(n log n).

    >>> clock_step([771, 781, 771, 801]), clock_step([0, 0, 1_000]), clock_step([0, 0])
    (10, 1000, None)
    """
    values = np.unique(as_samples(bare))
    steps = np.concatenate([np.diff(values), values[values > 0]])
    return int(steps.min()) if len(steps) else None


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
    above = sum((x - middle_x) * y for x, y in pairs)  # y from wherever it counts: the x - middle_x come to 0
    return float(above / sum((x - middle_x) ** 2 for x, _ in pairs))
