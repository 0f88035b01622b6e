"""Whether calls that all do the same work take the same time from the first to the last, or drift, step or swing.

The test is a cumulative sum of ranks over the medians of blocks. It needs no assumption on the distribution of the
calls: under independent noise every order of the block medians is equally likely. The sum runs away from zero where
several blocks in a row are slow, or fast; its range is compared with that of a Brownian bridge. A range, not a maximum
(which would be Pettitt's test, Applied Statistics 28, 1979), because a machine that is slow for a while and then
recovers leaves two small excursions where a step leaves one large. The distribution of the range is Kuiper's
(Proc. KNAW A 63, 1960). Ranks of so few blocks vary less than a bridge, so the test is on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.histogram import Samples, as_samples

BLOCKS = 64
LEAST_BLOCKS = 32
"""With fewer than 22 blocks even a perfect trend is not rare enough; with 32 a step may be overlaid with some noise."""
CALLS_PER_BLOCK = 4
LEAST_CALLS = LEAST_BLOCKS * CALLS_PER_BLOCK
CHANCE = 0.01
"""False alarms on independent noise are at most this share."""
MATTERS = 0.02
"""A change of less than this share is none: with enough calls every change is beyond chance."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the blocks say.

    `steady` is False when they change by more than chance (`p` below 1 %) and by more than 2 %; `p` is the chance of
    such a range under independent noise; `change` is the median of the blocks in the excursion over that of the others;
    `drift` the median of the last block over that of the first.
    """

    steady: bool
    p: float
    change: float
    drift: float


def steadiness(samples: ArrayLike) -> Steadiness | None:
    """Return whether the samples (warm-up left out) are steady; None with fewer than 128 of them.

    O(n): up to 64 medians of blocks of equal size. A median of 0 ns, of a clock too coarse for the call, has no ratio:
    None as well.

    >>> calls = [1_000 + 7 * (call * call % 11) for call in range(1_000)]
    >>> steadiness(calls).steady, steadiness(calls[:600] + [call + 100 for call in calls[600:]]).steady
    (True, False)
    """
    calls = as_samples(samples)
    if len(calls) < LEAST_CALLS:
        return None
    medians = block_medians(calls)
    if not medians.min():
        return None
    ranks = _mid_ranks(medians)
    path = np.concatenate([[0.0], np.cumsum(ranks - ranks.mean())])
    spread = ranks.std() * np.sqrt(len(ranks))
    p = kuiper((path.max() - path.min()) / spread) if spread else 1.0
    change = _change(medians, path)
    steady = p >= CHANCE or max(change, 1 / change) <= 1 + MATTERS
    return Steadiness(steady, p, change, float(medians[-1] / medians[0]))


def block_medians(samples: Samples) -> NDArray[np.int64]:
    """Return the median (by nearest rank) of each block in order, 64 of them or fewer, of at least 4 calls each.

    All blocks have the same size, because the median of 6 lies a little under that of 5; the last calls, less than a
    block of them, are left out.

    >>> block_medians(np.array([1, 9, 2, 5, 5, 7, 8, 6, 3])).tolist()
    [2, 6]
    """
    size = max(CALLS_PER_BLOCK, -(-len(samples) // BLOCKS))
    place = (size - 1) // 2
    blocks = samples[: len(samples) // size * size].reshape(-1, size)
    return np.partition(blocks, place, axis=1)[:, place]


def kuiper(spread: float) -> float:
    """Return the chance that the range of a Brownian bridge is larger than `spread`; 1 for 0.

    2 Σ (4 j² x² − 1) exp(−2 j² x²) over j = 1, 2, …; below 0.4 the sum needs more terms than it is worth, and the
    chance is 1 to nine digits.

    >>> round(kuiper(1.747), 3), round(kuiper(2.001), 3), kuiper(0.0)
    (0.05, 0.01, 1.0)
    """
    if spread < 0.4:
        return 1.0
    terms = ((4 * j * j * spread * spread - 1) * exp(-2 * j * j * spread * spread) for j in range(1, 20))
    return float(min(1.0, max(0.0, 2 * sum(terms))))


def _mid_ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each value from 1, equal ones sharing the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: NDArray[np.float64] = (last - (counts - 1) / 2)[place]
    return shared


def _change(medians: NDArray[np.int64], path: NDArray[np.float64]) -> float:
    """Return the median of the blocks in the excursion over that of the others, or the later over the earlier ones.

    The path is lowest and highest where the blocks change; with one step, one of the two is the beginning.
    """
    start, end = sorted((int(path.argmin()), int(path.argmax())))
    inside, outside = medians[start:end], np.concatenate([medians[:start], medians[end:]])
    if not len(inside) or not len(outside):
        return 1.0
    earlier, later = (inside, outside) if start == 0 else (outside, inside)
    return float(np.median(later) / np.median(earlier))
