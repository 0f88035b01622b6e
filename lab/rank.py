"""Which of the sorted samples is a percentile, which two bound it, and how many samples that takes.

Arithmetic on ranks only; the samples are elsewhere. A quantile is an exact fraction, because 0.999 as a float already
names another rank.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, log

from lab.chance import binomial_cdf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

P50, P90, P99, P999 = Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000)
ALPHA = Fraction(5, 100)  # intervals are two-sided and hold in 95 % of all cases, each tail at most 2.5 %


def nearest_rank(n: int, q: Fraction) -> int:
    """Return the rank, from 1, of the `q` quantile of `n` samples: ceil(q*n), and 1 for q = 0.

    O(1). ValueError for no samples, for q outside 0 … 1 and for q as a float.

    >>> nearest_rank(1000, P999), nearest_rank(1001, P999)
    (999, 1000)
    """
    if n < 1:
        raise ValueError(f"{n} samples have no percentile: expected at least 1")
    return max(1, ceil(_quantile(q) * n))


@lru_cache(maxsize=1024)
def least_n(q: Fraction) -> int:
    """Return how many samples an interval for the `q` quantile needs: 6, 36, 368 and 3,688 for p50, p90, p99, p99.9.

    With fewer, even the interval from the smallest to the largest sample misses the quantile too often on one side:
    q**n and (1-q)**n must both be at most 2.5 %. Computed exactly. ValueError for q = 0, q = 1 and q outside.

    >>> [least_n(q) for q in (P50, P90, P99, P999)]
    [6, 36, 368, 3688]
    """
    q = _quantile(q)
    larger = max(q, 1 - q)
    if larger == 1:
        raise ValueError(f"the quantile {q} is an end of the distribution: no number of samples gives it an interval")
    n = max(1, round(log(ALPHA / 2) / log(larger)) - 2)
    above, below = larger.numerator**n, larger.denominator**n
    while above * ALPHA.denominator * 2 > below * ALPHA.numerator:
        n, above, below = n + 1, above * larger.numerator, below * larger.denominator
    return n


@lru_cache(maxsize=4096)
def percentile_interval(n: int, q: Fraction) -> tuple[int, int] | None:
    """Return the ranks, from 1, of a two-sided 95 % interval for the `q` quantile of `n` samples; None if n is small.

    Needs no assumption on the distribution, only that the samples are independent: the number of samples below the
    quantile is binomial. O(log n) evaluations of the binomial. Source: David and Nagaraja, Order Statistics, 7.1.

    >>> percentile_interval(10_000, P99), percentile_interval(367, P99)
    ((9880, 9920), None)
    """
    if n < least_n(q):
        return None
    probability, tail = float(q), float(ALPHA / 2)
    lower = _first(1, n, lambda rank: binomial_cdf(rank, n, probability) > tail)
    upper = _first(1, n, lambda rank: binomial_cdf(rank - 1, n, probability) >= 1 - tail)
    return lower, upper


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` to `high` for which `holds` is true, which stays true once it is."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _quantile(q: Fraction) -> Fraction:
    if not isinstance(q, (Fraction, int)) or not 0 <= q <= 1:
        raise ValueError(f"{q!r} is no quantile: expected a Fraction from 0 to 1, such as P99 = Fraction(99, 100)")
    return Fraction(q)
