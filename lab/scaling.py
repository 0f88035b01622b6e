"""Whether a cost depends on a size k: CONSTANT, GROWS, or INCONCLUSIVE, never "no difference" for lack of evidence.

A verdict stands on legs, each of which looks at what another one misses:

    exact   counts of a call are equal whatever k is (bytecodes, blocks; instructions within the bound below)
    slope   of log(time) over log(k), by an equivalence test inside ±0.1
    ratio   of the time at each k to that at the smallest, inside the factor that a slope of 0.1 makes of that range
    worst   the same factor for the structural worst call

The slope sees growth at every size and is blind to what only the largest one shows: a cost of a + b·k that hides behind
a constant a until the last decade. There the ratio looks. The legs of time are blind to what is small beside the clock,
the counts to what one bytecode moves inside C.

The unit of replication is the process: every process gives one slope, one ratio, and intervals come from how these
differ (Student's t, as for any mean of independent values). CONSTANT is an equivalence test (Schuirmann, 1987): the
whole 90 % interval lies within the bound, so a wrong CONSTANT has a chance of 5 % at most. GROWS is the mirror image:
the whole interval lies above it. With each verdict stands the smallest slope the data could have shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log, sqrt
from statistics import fmean, stdev

import numpy as np
from numpy.typing import ArrayLike

from lab.chance import student_quantile
from lab.sample import structural_worst
from lab.units import format_count, format_ns

SLOPE_BOUND = 0.1
"""A slope of log(time) over log(k) inside ± this is called constant: k times ten is then 1.26 times the time."""

LEAST_PROCESSES = 5
"""Fewer give no verdict."""

CONFIDENCE = 0.90
"""Of the two-sided interval; each side of an equivalence test then errs in 5 % of cases."""


class Scaling(StrEnum):
    """What the data say about a claim that a cost does not depend on k."""

    CONSTANT = "CONSTANT"
    GROWS = "GROWS"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class Leg:
    """What one leg says: `name`, `verdict`, the `sentence` with its figures, and `cell`, the figures alone.

    `value`, `low`, `high` are the slope or factor with its interval where the leg has one; `shown` is the smallest
    slope that the data could have shown, of the leg `slope` alone.
    """

    name: str
    verdict: Scaling
    sentence: str
    cell: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    shown: float | None = None


Times = Mapping[int, Sequence[float]]
"""k -> the time of a call in each process, ns; the processes in the same order at every k."""


def verdict(legs: Sequence[Leg]) -> Scaling:
    """Return what all legs say together: GROWS if one does, CONSTANT if all do, else INCONCLUSIVE; so for no leg.

    >>> constant, grows = (Leg("", verdict, "") for verdict in (Scaling.CONSTANT, Scaling.GROWS))
    >>> verdict([constant, constant]).value, verdict([constant, grows]).value, verdict([]).value
    ('CONSTANT', 'GROWS', 'INCONCLUSIVE')
    """
    said = {leg.verdict for leg in legs}
    if Scaling.GROWS in said:
        return Scaling.GROWS
    return Scaling.CONSTANT if said == {Scaling.CONSTANT} else Scaling.INCONCLUSIVE


def bound_of(smallest: int, largest: int) -> float:
    """Return the factor that a slope of SLOPE_BOUND makes of the range from `smallest` to `largest`.

    >>> round(bound_of(10, 100_000), 2)
    2.51
    """
    return exp(SLOPE_BOUND * log(largest / smallest))


def exact_leg(name: str, counts: Mapping[int, float], *, bounded: bool = True) -> Leg:
    """Judge counts of one call, k -> count: equal for every k, or at least at the two largest.

    What grows with k, however slowly, differs between the two largest and is the most at the largest: that is GROWS. A
    structure may go a shorter way for a small batch (an int up to 256 has no block of its own, a short batch is one
    chunk), so a difference at smaller sizes alone is named and allowed, up to the bound of the ratio if `bounded`.
    Counts that differ and fall, or rise to less than they were before, are INCONCLUSIVE: where a cut falls in a chunk
    makes such differences. ValueError for fewer than two sizes.

    >>> exact_leg("bytecodes", {10: 57, 100: 57, 1000: 57}).sentence
    '57 bytecodes at every k'
    >>> exact_leg("bytecodes", {10: 57, 100: 147, 1000: 1047}).verdict.value
    'GROWS'
    """
    sizes = _sizes(counts)
    last, before = counts[sizes[-1]], counts[sizes[-2]]
    pairs = ", ".join(f"{_plain(counts[k])} at {format_count(k)}" for k in sizes)
    least, most = min(counts.values()), max(counts.values())
    if least == most:
        return Leg(name, Scaling.CONSTANT, f"{_plain(last)} {name} at every k", _plain(last))
    cell = f"{_plain(counts[sizes[0]])} → {_plain(last)}"
    if last != before:
        said = Scaling.GROWS if last == most else Scaling.INCONCLUSIVE
        return Leg(name, said, f"{name} differ: {pairs}", cell)
    if bounded and (least <= 0 or most / least > bound_of(sizes[0], sizes[-1])):
        return Leg(name, Scaling.GROWS, f"{name} differ by more than the bound: {pairs}", cell)
    return Leg(name, Scaling.CONSTANT, f"{name} equal at the two largest k: {pairs}", cell)


def bounded_leg(name: str, counts: Mapping[int, float]) -> Leg:
    """Judge exact counts that where things lie in memory moves a little, such as instructions: within the bound or not.

    The factor is that of the largest k to the smallest; no interval, because nothing is random. ValueError for fewer
    than two sizes.

    >>> bounded_leg("instructions", {10: 2390, 10_000: 2394}).sentence
    'instructions 2,390 at 10, 2,394 at 10,000: 1.00x, bound 2.00x'
    """
    sizes = _sizes(counts)
    factor, bound = counts[sizes[-1]] / counts[sizes[0]], bound_of(sizes[0], sizes[-1])
    pairs = ", ".join(f"{_plain(counts[k])} at {format_count(k)}" for k in sizes)
    said = Scaling.GROWS if factor > bound else Scaling.CONSTANT
    cell = f"{_plain(counts[sizes[0]])} → {_plain(counts[sizes[-1]])}"
    return Leg(name, said, f"{name} {pairs}: {factor:.2f}x, bound {bound:.2f}x", cell, factor)


def slope_leg(times: Times) -> Leg:
    """Judge the slope of log(time) over log(k), fitted in each process by least squares over all k.

    The interval is that of the mean over processes. The smallest slope the data could have shown is the one that would
    have come out above 0 in 95 of 100 such experiments: the width of the interval. O(sizes × processes). ValueError for
    fewer than two sizes, unequal numbers of processes, or a time that is not positive.

    >>> slope_leg({k: [1000.0, 1010.0, 990.0, 1005.0, 995.0] for k in (10, 100, 1000)}).sentence
    'slope 0.000 (0.000 .. 0.000), bound 0.1; could have shown 0.000'
    """
    sizes = _sizes(times)
    places = np.log(np.asarray(sizes, dtype=np.float64))
    places -= places.mean()
    slopes = [float(slope) for slope in places @ _log_times(times, sizes) / (places @ places)]
    if len(slopes) < LEAST_PROCESSES:
        return _too_few("slope", len(slopes))
    value, low, high = _interval(slopes)
    cell = f"{_third(value)} ({_third(low)} .. {_third(high)})"
    text = f"slope {cell}, bound {SLOPE_BOUND:g}; could have shown {_third(high - low)}"
    said = _equivalent(low, high, SLOPE_BOUND)
    return Leg("slope", said, text + (": it falls" if high < -SLOPE_BOUND else ""), cell, value, low, high, high - low)


def ratio_leg(times: Times) -> Leg:
    """Judge the time at each k as a factor of that at the smallest k, paired by process.

    CONSTANT if at every k the whole interval lies inside the bound (each test alone at its level: that all hold needs
    no correction); GROWS if at the largest k the whole interval lies above it. The sentence says what a message costs
    more at the largest k, and how much the interval allows. Errors as for `slope_leg`.
    """
    sizes = _sizes(times)
    logs = _log_times(times, sizes)
    processes = logs.shape[1]
    if processes < LEAST_PROCESSES:
        return _too_few("ratio", processes)
    found = {k: _interval([float(v) for v in logs[place] - logs[0]]) for place, k in enumerate(sizes) if place}
    last = sizes[-1]
    bound = bound_of(sizes[0], last)
    said = {k: _equivalent(low, high, log(bound)) for k, (_, low, high) in found.items()}
    together = said[last] if said[last] != Scaling.CONSTANT else _all_constant(list(said.values()))
    value, low, high = (exp(part) for part in found[last])
    ends = [format_ns(float(np.median(times[k]))) for k in (sizes[0], last)]
    factor = f"{value:.2f}x ({low:.2f} .. {high:.2f})"
    text = (
        f"{ends[0]} at {format_count(sizes[0])}, {ends[1]} at {format_count(last)}: {factor}, bound {bound:.2f}x; "
        f"{_per_message(times, sizes)}"
    )
    odd = [format_count(k) for k in said if k != last and said[k] != Scaling.CONSTANT]
    if odd and together != Scaling.GROWS:
        text += f"; not inside the bound at {', '.join(odd)}"
    return Leg("ratio", together, text, f"{ends[0]} → {ends[1]}, {factor}", value, low, high)


def worst_leg(calls: Mapping[int, Sequence[ArrayLike]], warmup: int = 0) -> Leg:
    """Judge the structural worst call, from k -> the calls of each process in ns, the first `warmup` left out.

    All processes together give one structural worst call for each k, so the spread is found by leaving each process out
    in turn: CONSTANT if the factor of the largest k to the smallest stays inside the bound whichever is left out, GROWS
    if it never does. It may fall. O(processes × calls). ValueError for fewer than two sizes or unequal numbers of
    calls.
    """
    sizes = _sizes(calls)
    ends = [[np.asarray(process) for process in calls[k]] for k in (sizes[0], sizes[-1])]
    processes = min(map(len, ends))
    if processes < LEAST_PROCESSES:
        return _too_few("worst", processes)
    whole = [_worst(end, warmup) for end in ends]
    factors = [
        _worst([*ends[1][:out], *ends[1][out + 1 :]], warmup) / _worst([*ends[0][:out], *ends[0][out + 1 :]], warmup)
        for out in range(processes)
    ]
    bound = bound_of(sizes[0], sizes[-1])
    inside = {factor <= bound for factor in factors}
    said = Scaling.INCONCLUSIVE if len(inside) == 2 else Scaling.CONSTANT if True in inside else Scaling.GROWS
    value = whole[1] / whole[0]
    factor = f"{value:.2f}x ({min(factors):.2f} .. {max(factors):.2f})"
    text = (
        f"worst call {format_ns(whole[0])} at {format_count(sizes[0])}, {format_ns(whole[1])} at "
        f"{format_count(sizes[-1])}: {factor}, bound {bound:.2f}x"
    )
    return Leg("worst", said, text, factor, value, min(factors), max(factors))


def same_leg(one: Sequence[float], two: Sequence[float], bound: float) -> Leg:
    """Judge whether two identical things come out alike: the A/A pair, in ns, paired by process.

    CONSTANT if the interval of their ratio lies inside 1/bound to bound; else the machine is too noisy for a verdict.
    """
    if min(len(one), len(two)) < LEAST_PROCESSES:
        return _too_few("A/A", min(len(one), len(two)))
    value, low, high = _interval([log(b / a) for a, b in zip(one, two, strict=True)])
    said = Scaling.CONSTANT if -log(bound) < low and high < log(bound) else Scaling.INCONCLUSIVE
    cell = f"{exp(value):.2f}x ({exp(low):.2f} .. {exp(high):.2f})"
    return Leg("A/A", said, f"A/A {cell}, bound {bound:.2f}x", cell, exp(value), exp(low), exp(high))


def _sizes(by_size: Mapping[int, object]) -> list[int]:
    sizes = sorted(by_size)
    if len(sizes) < 2 or sizes[0] < 1:
        raise ValueError(f"sizes {sizes}: expected at least two, from 1 on")
    return sizes


def _log_times(times: Times, sizes: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The logarithms as one row for each k and one column for each process."""
    if len({len(times[k]) for k in sizes}) != 1:
        raise ValueError(f"{[len(times[k]) for k in sizes]} processes: expected as many at every k")
    array = np.asarray([times[k] for k in sizes], dtype=np.float64)
    if not array.size or array.min() <= 0:
        raise ValueError("a time that is not positive, or no time at all: expected what calls took, in ns")
    return np.log(array)


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its interval by Student's t; the values are one from each process."""
    middle = fmean(values)
    reach = student_quantile(len(values) - 1, 0.5 + CONFIDENCE / 2) * stdev(values) / sqrt(len(values))
    return middle, middle - reach, middle + reach


def _equivalent(low: float, high: float, bound: float) -> Scaling:
    if -bound < low and high < bound:
        return Scaling.CONSTANT
    return Scaling.GROWS if low > bound else Scaling.INCONCLUSIVE


def _all_constant(said: Sequence[Scaling]) -> Scaling:
    return Scaling.CONSTANT if set(said) == {Scaling.CONSTANT} else Scaling.INCONCLUSIVE


def _too_few(name: str, processes: int) -> Leg:
    return Leg(name, Scaling.INCONCLUSIVE, f"{name}: {processes} processes, and a verdict needs {LEAST_PROCESSES}")


def _per_message(times: Times, sizes: Sequence[int]) -> str:
    """What one more message costs, as if all of the difference were in proportion to k, and the most it may be."""
    pairs = zip(times[sizes[0]], times[sizes[-1]], strict=True)  # pragma: no mutate: _log_times has counted them
    value, _, high = _interval([(large - small) / (sizes[-1] - sizes[0]) for small, large in pairs])
    return f"{value:.3f} ns a message (at most {high:.3f})"


def _worst(processes: Sequence[ArrayLike], warmup: int) -> int:
    found = structural_worst(processes, warmup)
    if found is None:
        raise ValueError("processes with unequal numbers of calls, or none after the warm-up: expected equal ones")
    return max(1, found[0])


def _third(value: float) -> str:
    """Three decimals, and no minus in front of nothing."""
    return f"{round(value, 3) + 0.0:.3f}"


def _plain(count: float) -> str:
    return format_count(int(count)) if count == int(count) else f"{count:,.1f}"
