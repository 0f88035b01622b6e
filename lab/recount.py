"""The figures of a run worked out anew from its raw calls, in memory that does not grow with the number of calls.

What is stored came from all calls of an execution at once (lab.sample). Here the calls go by in pieces, twice: once to
count them into a histogram, once to tell apart the values in those buckets where a percentile lies. So each way of
working a figure out checks the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from lab.histogram import Histogram, Samples, as_samples, bucket_bounds, encode
from lab.rank import P50, P90, P99, P999, nearest_rank
from lab.record import case_of
from lab.recorded import Recorded
from lab.sample import Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TIMED = ("mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
COUNTED = ("n", "max_index")

Read = Callable[[], Iterable[ArrayLike]]


def summarize_pieces(read: Read, warmup: int = 0) -> Summary:
    """Return what `summarize` says of the calls that `read()` yields piece by piece, in order; it is asked twice.

    O(calls) of time. O(a piece) of memory, and the values that differ within the buckets of the four percentiles: a
    bucket is at most 1/64 of its value wide. ValueError when nothing is left after the warm-up and for a negative
    duration.

    >>> found = summarize_pieces(lambda: [[900, 30, 10], [20, 50]], warmup=1)
    >>> found.n, found.mean_ns, found.p50_ns, found.max_ns, found.max_index
    (4, 27.5, 20, 50, 4)
    """
    n = total = 0
    least = worst = worst_index = -1
    histogram: Histogram | None = None
    for start, piece in _kept(read(), warmup):
        n, total = n + len(piece), total + int(piece.sum())
        low, at = int(piece.min()), int(np.argmax(piece))
        least = low if least < 0 else min(least, low)
        if piece[at] > worst:
            worst, worst_index = int(piece[at]), start + at
        counted = encode(piece)
        histogram = counted if histogram is None else Histogram.merge(histogram, counted)
    if histogram is None:
        raise ValueError(f"no call after a warm-up of {warmup}: expected at least one")
    p50, p90, p99, p999 = _at_ranks(read, warmup, histogram, [nearest_rank(n, q) for q in (P50, P90, P99, P999)])
    return Summary(n, warmup, total / n, least, p50, p90, p99, p999, worst, worst_index, histogram)


def problems(run: Recorded) -> list[str]:
    """Return every figure of a run that does not follow from its raw calls, one sentence a figure; [] means sound.

    Rows without raw calls, which need not be kept, are passed over. ArchiveError when a file of calls is damaged.
    O(calls), a piece in memory.
    """
    found = []
    for row in run.rows().to_pylist():
        if row["status"] == "ok" and row["n"] is not None:
            found += _of_row(run, row)
    return found


def _of_row(run: Recorded, row: Mapping[str, Any]) -> list[str]:
    case, operation, process = case_of(row), row["operation"], row["process"]
    if process not in run.pieces(case, operation):
        return []
    where = f"{case.key}, process {process}, {operation}"
    try:
        summary = summarize_pieces(lambda: run.pieces(case, operation)[process], row["warmup"] or 0)
    except ValueError as error:
        return [f"{where}: {error}"]
    share = row["calls_per_sample"] or 1
    worked_out = {name: getattr(summary, name) for name in COUNTED}
    worked_out |= {name: getattr(summary, name) / share for name in TIMED}
    return [
        f"{where}: {name} is {row[name]} and the raw calls say {value}"
        for name, value in worked_out.items()
        if row[name] != value
    ]


def _kept(pieces: Iterable[ArrayLike], warmup: int) -> Iterator[tuple[int, Samples]]:
    """Yield the calls after the warm-up, each piece with the index of its first call."""
    start = 0
    for piece in pieces:
        samples = as_samples(piece)
        skipped = min(len(samples), max(0, warmup - start))
        if skipped < len(samples):
            yield start + skipped, samples[skipped:]
        start += len(samples)


def _at_ranks(read: Read, warmup: int, histogram: Histogram, ranks: list[int]) -> list[int]:
    """Return the calls at the ranks, from 1: the buckets that hold them are known, their values are told apart here."""
    reached = np.cumsum(histogram.count)
    places = [int(np.searchsorted(reached, rank)) for rank in ranks]
    values = {place: np.empty(0, dtype=np.int64) for place in places}
    counts = dict(values)
    for _, piece in _kept(read(), warmup):
        for place in values:
            low, high = bucket_bounds(int(histogram.bucket[place]))
            found, number = np.unique(piece[(piece >= low) & (piece <= high)], return_counts=True)
            values[place], where = np.unique(np.concatenate([values[place], found]), return_inverse=True)
            merged = np.zeros(len(values[place]), dtype=np.int64)
            np.add.at(merged, where, np.concatenate([counts[place], number]))
            counts[place] = merged
    below = [int(reached[place] - histogram.count[place]) for place in places]
    return [
        int(values[place][np.searchsorted(np.cumsum(counts[place]), rank - before)])
        for place, rank, before in zip(places, ranks, below, strict=True)
    ]
