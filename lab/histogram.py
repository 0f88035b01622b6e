"""Samples as an array, and their log-scale histogram, from which every percentile can be had again within 1 %."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.rank import P999 as P999
from lab.rank import nearest_rank

Samples = NDArray[np.int64]

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
