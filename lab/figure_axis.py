"""The axes of a panel: how a value is placed along one, and where its ticks stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its label with the unit, how a value is placed along it, from where to where, and its ticks."""

    label: str
    place: Callable[[float], float]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies: 0 at its beginning, 1 at its end."""
        first, last = self.place(self.low), self.place(self.high)
        return (self.place(value) - first) / (last - first)


NOTHING = 1e-300
"""Values as close as that are one: no step between them has a logarithm."""


def log_axis(label: str, values: Iterable[float], said: Callable[[float], str]) -> Axis:
    """Return a logarithmic axis that holds the values, its ticks at powers of ten written by `said`.

    Where it spans less than two powers, 2 and 5 times each have a tick too; of many every second or third is written.
    ValueError for values that are not positive, or none.

    >>> [text for _, text in log_axis("k", [10, 100_000], lambda value: f"{value:g}").ticks]
    ['10', '100', '1000', '10000', '100000']
    """
    found = list(values)
    if not found or min(found) <= 0:
        raise ValueError("a logarithmic axis over nothing, or over what is not positive: expected positive values")
    low, high = min(found) / 1.15, max(found) * 1.15
    decades = range(floor(log10(low)) - 1, ceil(log10(high)) + 2)
    steps = [step * 10.0**power for power in decades for step in ((1, 2, 5) if high / low < 100 else (1,))]
    ticks = [step for step in steps if low <= step <= high]
    if len(ticks) < 2:  # the values lie between two ticks: reach out to both
        low = min(low, max(step for step in steps if step <= low))
        high = max(high, min(step for step in steps if step >= high))
        ticks = [step for step in steps if low <= step <= high]
    every = ceil(len(ticks) / 7)
    return Axis(label, log10, low, high, tuple((tick, said(tick)) for tick in ticks[::every]))


def linear_axis(label: str, values: Iterable[float], said: Callable[[float], str], *, zero: bool = True) -> Axis:
    """Return a linear axis that holds the values (and 0, unless `zero` is False), with at most seven round ticks."""
    found = [*values, *([0.0] if zero else [])]
    low, high = min(found), max(found)
    high = high if high - low > NOTHING else low + 1
    step = _round_step((high - low) / 5)
    low, high = (low if low == 0 else low - (high - low) / 40), high + (high - low) / 40
    ticks = tuple((tick * step, said(tick * step)) for tick in range(ceil(low / step), floor(high / step) + 1))
    return Axis(label, float, low, high, ticks)


def _round_step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * 0.999)


def tail_axis(label: str, quantiles: Iterable[float]) -> Axis:
    """Return an axis of quantiles over 1/(1 − q) from the smallest on: p99 is as far from p90 as p99.9 is from p99.

    ValueError for a quantile of 1 or more, which would lie at infinity.

    >>> [text for _, text in tail_axis("", [0, 0.999]).ticks]
    ['0 %', '50 %', '90 %', '99 %', '99.9 %']
    """
    found = list(quantiles)
    low, high = min(found), max(found)
    if high >= 1:
        raise ValueError(f"the quantile {high} has no place on this axis: expected one under 1")
    ticks = [(0.0, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %")]
    ticks += [(1 - 10.0**-nines, f"99.{'9' * (nines - 2)} %") for nines in range(3, 10)]
    shown = tuple(tick for tick in ticks if low - 1e-12 <= tick[0] <= high + 1e-12)
    return Axis(label, lambda q: -log10(1 - q), low, high if high > low else low + 0.01 * (1 - low), shown)
