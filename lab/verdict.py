"""Verdicts on two samples of processes: the ratio B ÷ A, its interval, and faster, slower, same or inconclusive.

The unit of replication is the process: a sample is one value (a p50, a mean, a count) for each fresh process, because
calls of one process share its memory layout, its hash seed and its moment.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from statistics import median

import numpy as np

from lab.chance import student_cdf, student_quantile
from lab.correction import benjamini_hochberg as benjamini_hochberg
from lab.correction import holm as holm
from lab.scaling import LEAST_PROCESSES as LEAST_PROCESSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

MOST_PROCESSES = 1_000  # beyond that nobody would start them
RESAMPLINGS = 2_000
MEDIAN_ERROR = math.sqrt(math.pi / 2)  # of a median beside that of a mean, for normal values
ROUNDING = 1e-12  # of two logarithms: 105 beside 100 is not outside ±5 %


class Verdict(StrEnum):
    """What can be said of B beside A."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with its figures; those that there are not are NaN.

    `ratio` is the ratio of medians B ÷ A, `low` and `high` its interval, `p` the chance of such a difference between
    samples whose ratio lies inside the floor, `spread` the standard deviation of the logarithms within a side,
    `sentence` what a person should read, and `advice` the part of it that says what would settle an inconclusive one.
    """

    verdict: Verdict
    ratio: float
    low: float
    high: float
    p: float
    n_a: int
    n_b: int
    sentence: str = ""
    spread: float = math.nan
    threshold: float = 0.05
    floor: float = 0.0
    advice: str = ""


def compare_samples(
    a: Sequence[float],
    b: Sequence[float],
    *,
    threshold: float = 0.05,
    floor: float = 0.0,
    alpha: float = 0.05,
    seed: int = 0,
    exact: bool = False,
) -> Finding:
    """Return what can be said of the values of B beside those of A, one value per process; lower is faster.

    - slower, faster: the 1 − `alpha` interval lies outside ±`floor` (what identical subjects of the run differ by),
      p ≤ `alpha`, and the ratio of medians lies outside ±`threshold` and ±`floor`;
    - same: the 1 − 2 `alpha` interval lies inside ±`threshold` (two one-sided tests), and the floor does as well;
    - inconclusive: everything else, fewer than 5 processes on a side included; the sentence says what would settle it.

    ±5 % is 1/1.05 to 1.05, so that A beside B says the opposite of B beside A. Test and interval are Welch's t on the
    logarithms: a percentile bootstrap of 5 values is too narrow (it calls one in ten A/A pairs different), and a
    permutation test of 5 against 5 cannot go below p = 2/252, so that no family of comparisons could ever reject.
    Simulation holds the false alarms of Welch's t to `alpha` for normal, skewed, heavy-tailed and two-humped
    processes (tests/lab/test_verdict.py). Under a family's much smaller level it leans on the normal shape, which five
    processes cannot show. The interval is stretched to the seeded bootstrap interval of the ratio of medians and to
    the ratio itself, so it is never the narrower of the two.

    Values that are all equal within each side are compared exactly. `exact` says that they are counts: then one process
    a side is enough, and counts that differ within a side are inconclusive. A value of 0 or less has no logarithm:
    unless both sides are exact, that is inconclusive. O(processes × resamplings). ValueError for NaN or ±inf, a
    negative threshold or floor, and an alpha outside 0 .. 0.5.

    >>> finding = compare_samples([100, 101, 102, 103, 104], [150, 152, 149, 151, 153])
    >>> finding.verdict.value, round(finding.ratio, 2), finding.n_a
    ('slower', 1.48, 5)
    >>> compare_samples([100, 101, 102], [150, 152, 149]).sentence
    'needs 5 processes, has 3'
    """
    given = _checked(a), _checked(b)
    if not (0 < alpha < 0.5 and 0 <= threshold < math.inf and 0 <= floor < math.inf):
        raise ValueError(
            f"alpha {alpha}, threshold {threshold}, floor {floor}: expected 0 < alpha < 0.5, others from 0"
        )
    sizes = len(given[0]), len(given[1])
    blank = _blank(sizes, threshold, floor)
    fewest = min(sizes)
    if fewest < (1 if exact else LEAST_PROCESSES):
        return _unsettled(_with_ratio(blank, given), f"needs {1 if exact else LEAST_PROCESSES} processes, has {fewest}")
    if given[0][0] == given[0][-1] and given[1][0] == given[1][-1]:
        return _exactly(blank, given[0][0], given[1][0])
    if exact:
        return _unsettled(_with_ratio(blank, given), "the counts differ from process to process: that is the finding")
    if min(given[0][0], given[1][0]) <= 0:
        return _unsettled(blank, "a value of 0 or less has no ratio")
    logs = _Logs(*given, seed=seed)
    if not logs.error:  # apart by less than a logarithm can tell
        return _exactly(blank, given[0][0], given[1][0])
    return _judged(blank, logs, median(given[1]) / median(given[0]), alpha)


def _blank(sizes: tuple[int, int], threshold: float, floor: float) -> Finding:
    nan = math.nan
    return Finding(Verdict.INCONCLUSIVE, nan, nan, nan, nan, *sizes, threshold=threshold, floor=floor)


def _unsettled(found: Finding, advice: str) -> Finding:
    return replace(found, sentence=advice, advice=advice)


def _with_ratio(found: Finding, given: tuple[list[float], list[float]]) -> Finding:
    """Return the finding with the ratio of medians where there is one, for those who only want to look."""
    if not all(given) or min(given[0][0], given[1][0]) <= 0:
        return found
    return replace(found, ratio=median(given[1]) / median(given[0]))


def _checked(values: Sequence[float]) -> list[float]:
    ordered = sorted(float(value) for value in values)
    if not all(map(math.isfinite, ordered)):
        raise ValueError(f"values {ordered}: expected finite numbers")
    return ordered


def _exactly(blank: Finding, a: float, b: float) -> Finding:
    """Judge two values that are known to the last digit."""
    if a != b and min(a, b) < 0:
        return _unsettled(blank, "a value under 0 has no ratio")
    ratio = 1.0 if a == b else b / a if a else math.inf
    d = 0.0 if a == b else math.log(b) - math.log(a) if a and b else math.copysign(math.inf, b - a)
    allowed = math.log1p(max(blank.threshold, blank.floor)) + ROUNDING
    # that d > 0 or d >= 0 is asked is the same: a d of 0 is SAME
    verdict = Verdict.SAME if abs(d) <= allowed else Verdict.SLOWER if d > 0 else Verdict.FASTER
    p = 1.0 if abs(d) <= math.log1p(blank.floor) + ROUNDING else 0.0
    said = "exactly equal" if a == b else f"{ratio:.4g} times, exactly"
    found = replace(blank, verdict=verdict, ratio=ratio, low=ratio, high=ratio, p=p, sentence=said, spread=0.0)
    if verdict is Verdict.SAME and d and blank.floor > blank.threshold:
        return _spoken(replace(found, verdict=Verdict.INCONCLUSIVE), alpha=0.05)  # pragma: no mutate: the floor decides
    return found


class _Logs:
    """The logarithms of two samples: their difference, its error and its intervals; B beside A mirrors A beside B."""

    def __init__(self, a: list[float], b: list[float], *, seed: int) -> None:
        self.sides = np.log(a), np.log(b)
        (n_a, n_b), (v_a, v_b) = map(len, self.sides), (float(side.var(ddof=1)) for side in self.sides)
        self.medians = math.log(median(b)) - math.log(median(a))
        self.means = float(self.sides[1].mean() - self.sides[0].mean())
        self.spread = math.sqrt((v_a + v_b) / 2)
        self.error = math.sqrt(v_a / n_a + v_b / n_b)
        self.draws = _medians(*self.sides, seed)
        if not self.error:
            return
        self.freedom = self.error**4 / ((v_a / n_a) ** 2 / (n_a - 1) + (v_b / n_b) ** 2 / (n_b - 1))

    def p_beyond(self, floor: float) -> float:
        """Return the two-sided p of Welch's t against a true difference of at most `floor`."""
        return 2 * student_cdf(self.freedom, min(0.0, floor - abs(self.means)) / self.error)

    def interval(self, outside: float) -> tuple[float, float]:
        """Return the interval that leaves `outside` in both tails together: the widest of the three."""
        half = student_quantile(self.freedom, 1 - outside / 2) * self.error
        cut = round(outside / 2 * (len(self.draws) - 1))
        low = min(self.means - half, float(self.draws[cut]), self.medians)
        return low, max(self.means + half, float(self.draws[-1 - cut]), self.medians)


def _medians(a: NDArray[np.float64], b: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the sorted differences of medians of samples drawn from `a` and from `b` (sorted) with replacement."""
    if a.tolist() > b.tolist():  # the same draws for the same pair, whichever comes first
        return -_medians(b, a, seed)[::-1]
    drawn = [side[_places(len(side), seed, number)].mean(axis=0) for number, side in enumerate((a, b))]
    differences = drawn[1] - drawn[0]
    if a.tolist() == b.tolist():
        differences = np.concatenate((differences, -differences))
    return np.sort(differences)


@lru_cache(maxsize=64)
def _places(n: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return the places in a sorted sample of `n` at whose mean the median of each resampling lies: two rows.

    They do not depend on the values, so that thousands of comparisons share them.
    """
    chance = np.random.default_rng([seed, number])
    drawn = np.sort(chance.integers(0, n, (RESAMPLINGS, n)), axis=1)
    return np.stack((drawn[:, (n - 1) // 2], drawn[:, n // 2]))


def _judged(blank: Finding, logs: _Logs, ratio: float, alpha: float) -> Finding:
    margin, floor = math.log1p(blank.threshold), math.log1p(blank.floor)
    low, high = logs.interval(alpha)
    p = logs.p_beyond(floor)
    narrow_low, narrow_high = logs.interval(2 * alpha)
    verdict = Verdict.INCONCLUSIVE
    if p <= alpha and (low > floor or high < -floor) and abs(logs.medians) > max(margin, floor):
        # that > 0 or >= 0 is asked is the same: medians that are equal do not come here
        verdict = Verdict.SLOWER if logs.medians > 0 else Verdict.FASTER
    elif floor <= margin and -margin <= narrow_low and narrow_high <= margin:
        verdict = Verdict.SAME
    low, high = min(_exp(low), ratio), max(_exp(high), ratio)
    found = replace(blank, verdict=verdict, ratio=ratio, low=low, high=high, p=p, spread=logs.spread)
    return _spoken(found, alpha)


def _exp(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf


def _spoken(found: Finding, alpha: float) -> Finding:
    """Return the finding with its sentence, and its advice where it is inconclusive."""
    figures = f"{found.ratio:.3f} times ({found.low:.3f} .. {found.high:.3f})"
    if found.verdict is Verdict.INCONCLUSIVE:
        advice = settling(found, alpha)
        return replace(found, sentence=f"{figures}: {advice}", advice=advice)
    if found.verdict is Verdict.SAME:
        return replace(found, sentence=f"{figures}, inside ±{found.threshold:.3g} as far as the processes can tell")
    return replace(found, sentence=f"{figures}, p = {found.p:.2g}")


def settling(found: Finding, alpha: float = 0.05) -> str:
    """Return what would settle a finding: roughly how many processes a side, if it goes on as it began.

    The normal approximation of the two tests at the spread and the ratio that were seen, with one error to spare
    because the next median may turn out less lucky.

    >>> settling(compare_samples([90, 110, 100, 95, 105], [100, 125, 112, 107, 118]))
    'about 16 processes a side would settle it'
    """
    margin, floor = math.log1p(found.threshold), math.log1p(found.floor)
    if math.isnan(found.spread):
        return f"at least {LEAST_PROCESSES} processes a side are needed"
    d = abs(math.log(found.ratio)) if found.ratio > 0 else math.inf
    if margin < floor and d <= floor + ROUNDING:
        return f"identical subjects differ by {found.floor:.1%} here: a quieter machine would settle it"

    def settles(n: int) -> bool:
        error = MEDIAN_ERROR * found.spread * math.sqrt(2 / n)
        if d <= margin:  # pragma: no mutate: at just the threshold neither test is ever passed
            return margin - d > (student_quantile(2 * n - 2, 1 - alpha) + 1) * error
        return d - margin > error and d - floor > (student_quantile(2 * n - 2, 1 - alpha / 2) + 1) * error

    # that one or two more than MOST_PROCESSES are looked at is the same: all of them are more
    n = bisect_left(range(MOST_PROCESSES + 1), True, lo=LEAST_PROCESSES, key=settles)
    if n <= MOST_PROCESSES:
        least = max(n, min(found.n_a, found.n_b) + 1) if found.verdict is Verdict.INCONCLUSIVE else n
        return f"about {least} processes a side would settle it"
    return f"more than {MOST_PROCESSES:,} processes a side would be needed: it lies too near to ±{found.threshold:.3g}"


def corrected(
    findings: Iterable[Finding],
    *,
    alpha: float = 0.05,
    method: Callable[[Sequence[float]], list[float]] | None = None,
) -> list[Finding]:
    """Return the findings of one family with adjusted p, those that no longer stand turned into inconclusive.

    The family is every finding with a p; `method` is `holm` (default, for a gate) or `benjamini_hochberg`. "same" is
    left: its test is another one, and an equivalence that is not there is no alarm. O(findings log findings).
    """
    every = list(findings)
    tested = [place for place, found in enumerate(every) if not math.isnan(found.p)]
    adjusted = (method or holm)([every[place].p for place in tested])
    for place, p in zip(tested, adjusted, strict=True):
        found = replace(every[place], p=p)
        if found.verdict in (Verdict.FASTER, Verdict.SLOWER) and p > alpha:
            found = _spoken(replace(found, verdict=Verdict.INCONCLUSIVE), alpha / len(tested))
        every[place] = found
    return every
