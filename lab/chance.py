"""The two distributions behind intervals and p-values: the binomial, and Student's t with its quantile.

scipy has them too, and importing it takes longer than all that `lab show` does besides; the tests hold these to its
values. Both are the incomplete beta function. Source: DLMF 8.17; the continued fraction is evaluated by Lentz's method
as in Press et al., Numerical Recipes, 6.4.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, gamma, inf, isfinite, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

SMALLEST = 1e-300
CONVERGED = 1e-15


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return the chance of at most `k` successes in `n` trials of chance `p`, 0 < p < 1; O(√n).

    Right to about eight digits at n of 1,000,000, to twelve at 1,000.

    >>> round(binomial_cdf(1, 4, 0.5), 6), binomial_cdf(4, 4, 0.5), binomial_cdf(-1, 4, 0.5)
    (0.3125, 1.0, 0.0)
    """
    if k < 0:
        return 0.0
    return 1.0 if k >= n else _beta(n - k, k + 1, 1 - p, p)


def student_cdf(freedom: float, t: float) -> float:
    """Return the chance of at most `t` under Student's t with so many degrees of freedom, above 0.

    >>> round(student_cdf(4, 2.776445), 6), student_cdf(4, 0)
    (0.975, 0.5)
    """
    if not isfinite(t):
        return 1.0 if t > 0 else 0.0
    total = freedom + t * t
    tail = _beta(freedom / 2, 0.5, freedom / total, t * t / total) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def student_quantile(freedom: float, p: float) -> float:
    """Return the t that a share `p` lies under, -inf for 0 and inf for 1; ValueError outside.

    Newton's method on the distribution function, kept between bounds that close in.

    >>> round(student_quantile(4, 0.975), 6), student_quantile(9, 0.5)
    (2.776445, 0.0)
    """
    if not 0 <= p <= 1:
        raise ValueError(f"{p} is no share: expected a number from 0 to 1")
    if p < 0.5:
        return -student_quantile(freedom, 1 - p)
    if p in (0.5, 1):
        return 0.0 if p == 0.5 else inf
    low, high = 0.0, 1.0
    while student_cdf(freedom, high) < p:
        low, high = high, 2 * high
    t = min(high, max(low, NormalDist().inv_cdf(p)))
    for _ in range(200):
        beyond = student_cdf(freedom, t) - p
        low, high = (low, t) if beyond > 0 else (t, high)
        step = t - beyond / _student_density(freedom, t)
        if abs(step - t) <= 1e-14 * t:  # before the bounds are asked: a step of nothing is on one of them
            return step
        t = step if low < step < high else (low + high) / 2
    return t


def _student_density(freedom: float, t: float) -> float:
    if freedom < 100:
        scale = gamma((freedom + 1) / 2) / gamma(freedom / 2)
    else:
        scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2))
    return scale / sqrt(freedom * pi) * exp(-(freedom + 1) / 2 * log1p(t * t / freedom))


def _beta(a: float, b: float, x: float, y: float) -> float:
    """Return the regularised incomplete beta function at `x`; `y` is 1 - x, which the caller knows without rounding."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y))
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(b, a, y) / b
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction; it ends after about the square root of the larger of `a` and `b`."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found, m = d, 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            found *= c * d
        if abs(c * d - 1) <= CONVERGED or m > 1_000_000:
            return found


def _not_zero(value: float) -> float:
    return value if abs(value) > SMALLEST else SMALLEST
