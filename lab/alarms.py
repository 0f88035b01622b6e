"""How often our own verdicts cry wolf: comparisons of samples that differ by nothing, over many resamplings.

Three kinds of samples that can only differ by chance: the processes of an A/A pair dealt out anew, the processes of
one case dealt into two halves, and synthetic samples with the scatter of the run (labelled so).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.noise import Row, pairs
from lab.pairing import Sample, samples
from lab.table import Table
from lab.verdict import LEAST_PROCESSES, Finding, Verdict, compare_samples

Judge = Callable[..., Finding]
Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Values, Values]]

Z = 1.959964  # of the two-sided 95 % interval
LARGEST_SPREAD = 10.0  # of logarithms; beyond it a value is no duration any more


@dataclass(frozen=True, slots=True)
class Rate:
    """Of so many comparisons of like with like, how many said faster or slower; one count for each pool of values."""

    source: str
    synthetic: bool
    processes: str
    trials: tuple[int, ...]
    alarms: tuple[int, ...]

    @property
    def rate(self) -> float:
        """The share of false alarms."""
        return sum(self.alarms) / sum(self.trials)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate: Wilson's over the trials, or that over the pools where it is the wider one.

        Trials of one pool share its values, so that many trials of few pools say less than they seem to.

        >>> [round(bound, 3) for bound in Rate("", True, "5", (1000,), (0,)).interval]
        [0.0, 0.004]
        """
        n, p = sum(self.trials), self.rate
        middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        if len(self.trials) > 1:
            shares = [alarms / trials for alarms, trials in zip(self.alarms, self.trials, strict=True)]
            error = float(np.std(shares, ddof=1)) / math.sqrt(len(shares))
            return max(0.0, min(middle - half, p - Z * error)), min(1.0, max(middle + half, p + Z * error))
        return max(0.0, middle - half), min(1.0, middle + half)


def rates(
    rows: Iterable[Row],
    *,
    trials: int = 1_000,
    alpha: float = 0.05,
    threshold: float = 0.05,
    seed: int = 0,
    judge: Judge = compare_samples,
) -> list[Rate]:
    """Return the false-alarm rate of every source that the run has enough processes for, about `trials` each.

    Verdicts are asked without a floor, which could only silence them. A pair or a case with fewer than 5 processes a
    side cannot be dealt out; synthetic samples have 5 a side. `judge` is what is tried. O(trials × resamplings).
    """
    every = list(rows)
    found = samples(every)
    chance = np.random.default_rng(seed)
    sources: list[tuple[str, bool, list[tuple[int, Draw]]]] = [
        ("A/A pairs, dealt out anew", False, _dealt((*pair.a, *pair.b) for pair in pairs(every))),
        ("halves of one case", False, _dealt(one.values for one in found)),
        ("log-normal, each case's own spread", True, _log_normal(found)),
        ("drawn from the scatter of all cases", True, _scattered(found)),
    ]
    rules = {"alpha": alpha, "threshold": threshold}
    return [
        _rate(source, synthetic, draws, trials, chance, lambda a, b: judge(a, b, **rules))
        for source, synthetic, draws in sources
        if draws
    ]


def _rate(
    source: str,
    synthetic: bool,
    draws: Sequence[tuple[int, Draw]],
    trials: int,
    chance: np.random.Generator,
    judge: Callable[[list[float], list[float]], Finding],
) -> Rate:
    each = -(-trials // len(draws))
    alarms = []
    for _, draw in draws:
        verdicts = (judge(*(side.tolist() for side in draw(chance))).verdict for _ in range(each))
        alarms.append(sum(verdict in (Verdict.FASTER, Verdict.SLOWER) for verdict in verdicts))
    sizes = sorted({size for size, _ in draws})
    processes = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} .. {sizes[-1]}"
    return Rate(source, synthetic, processes, (each,) * len(draws), tuple(alarms))


def _dealt(pools: Iterable[Sequence[float]]) -> list[tuple[int, Draw]]:
    """Return for every pool that is large enough how its values are dealt into two halves."""
    found: list[tuple[int, Draw]] = []
    for pool in pools:
        half = len(pool) // 2
        if half >= LEAST_PROCESSES and min(pool) > 0 and len(set(pool)) > 1:
            found.append((half, _dealer(np.array(pool), half)))
    return found


def _dealer(pool: Values, half: int) -> Draw:
    def draw(chance: np.random.Generator) -> tuple[Values, Values]:
        shuffled = chance.permutation(pool)
        return shuffled[:half], shuffled[half : 2 * half]

    return draw


def _residuals(found: Iterable[Sample]) -> list[Values]:
    """Return for every case with at least 3 processes its logarithms about their mean, widened to the true spread."""
    residuals = []
    for one in found:
        if len(one.values) >= 3 and min(one.values) > 0 and len(set(one.values)) > 1:
            logs = np.log(one.values)
            residuals.append((logs - logs.mean()) * math.sqrt(len(logs) / (len(logs) - 1)))
    return residuals


def _log_normal(found: Iterable[Sample]) -> list[tuple[int, Draw]]:
    spreads = [min(float(np.sqrt(np.mean(logs**2))), LARGEST_SPREAD) for logs in _residuals(found)]
    if not spreads:
        return []

    def draw(chance: np.random.Generator) -> tuple[Values, Values]:
        spread = chance.choice(spreads)
        first, second = np.exp(spread * chance.standard_normal((2, LEAST_PROCESSES)))
        return first, second

    return [(LEAST_PROCESSES, draw)]


def _scattered(found: Iterable[Sample]) -> list[tuple[int, Draw]]:
    residuals = _residuals(found)
    if not residuals:
        return []
    pool = np.clip(np.concatenate(residuals), -LARGEST_SPREAD, LARGEST_SPREAD)

    def draw(chance: np.random.Generator) -> tuple[Values, Values]:
        first, second = np.exp(chance.choice(pool, (2, LEAST_PROCESSES)))
        return first, second

    return [(LEAST_PROCESSES, draw)]


def table(found: Sequence[Rate], alpha: float) -> Table:
    """Return the table of the rates beside the alpha that they are held to."""
    rows = []
    for one in found:
        low, high = one.interval
        kept = "above the stated alpha" if low > alpha else "held"
        source = f"synthetic: {one.source}" if one.synthetic else one.source
        counted = (f"{len(one.trials):,}", one.processes, f"{sum(one.trials):,}", f"{sum(one.alarms):,}")
        rows.append((source, *counted, f"{one.rate:.2%} ({low:.2%} .. {high:.2%})", f"{alpha:.0%}", kept))
    header = (
        "like beside like",
        "pools",
        "processes a side",
        "comparisons",
        "false alarms",
        "rate (95 % interval)",
        "stated",
        "so it is",
    )
    return Table("False alarms of our own verdicts", header, tuple(rows), left=frozenset({header[0], header[-1]}))
