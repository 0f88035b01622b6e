"""Percentile curves over 1/(1 − q): what half, 99 %, 99.9 % of the calls stay under, process by process as a band.

Read from the stored histograms, within 1 % of the samples, so a run without its raw calls has them as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, log10
from statistics import median
from typing import Any

import numpy as np

from lab.figure import format_short, in_order, look
from lab.figure_axis import log_axis, tail_axis
from lab.figure_panel import Drawing, Line, Panel, svg
from lab.histogram import bucket_bounds
from lab.interval import places
from lab.rank import least_n
from lab.units import format_ns

Row = Mapping[str, Any]

STEP = 0.1
"""How far apart the points of a curve lie on the axis: ten for every further nine of the quantile."""

ROOM = 2
"""How far under the floor the axis begins: its name stands there, under the curves."""

NAMED = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000))
"""The quantiles that carry the mark of the subject."""


def curve(row: Row, quantiles: Sequence[float], prefix: str = "") -> list[float] | None:
    """Return the quantiles of a row in ns per call, from its histogram; None where it has none. O(buckets).

    `prefix` "null_" reads the null call's.

    >>> row = {"histogram_bucket": [10, 20], "histogram_count": [3, 1], "calls_per_sample": 1}
    >>> curve(row, [0.5, 0.99])
    [10.0, 20.0]
    """
    buckets, counts = row.get(f"{prefix}histogram_bucket"), row.get(f"{prefix}histogram_count")
    if not buckets or not counts:
        return None
    upto = np.cumsum(counts)
    ranks = [max(1, int(np.ceil(q * upto[-1] - 1e-9))) for q in quantiles]
    found = np.searchsorted(upto, ranks)
    calls = 1 if prefix else row.get("calls_per_sample") or 1
    return [sum(bucket_bounds(int(buckets[place]))) / 2 / calls for place in found]


def reach(n: int) -> float:
    """Return how far on the axis a curve of `n` samples may go: to the last quantile that has an interval.

    >>> round(1 - 10 ** -reach(3_688), 4), reach(5)
    (0.999, 0.0)
    """
    if n < least_n(Fraction(1, 2)):
        return 0.0
    # from n samples on the quantile q has an interval: q ** n is at most 2.5 %
    return min(-log10(1 - 0.025 ** (1 / n)), 9.0)


def tails(title: str, rows: Sequence[Row], unit: str = "a call") -> list[Drawing]:
    """Return the picture of the calls of one operation, a curve a subject and the null call as the floor.

    `rows` are those that are ok of one case and operation, all subjects and processes. A curve is the median over the
    processes, the band where a typical process lies (`lab.interval`); it ends where its samples end. [] without a
    histogram. O(rows × buckets).
    """
    lines = []
    for subject in in_order(row["subject"] for row in rows):
        members = [row for row in rows if row["subject"] == subject and row["histogram_bucket"] and row["n"]]
        line = _line(subject, members) if members else None
        if line is not None:
            lines.append(line)
    floor = _floor(rows)
    if not lines:
        return []
    values = [y for line in lines for _, *ys in (*line.points, *line.band) for y in ys if y > 0]
    y = log_axis(f"{unit}, at most", [*values, floor / ROOM] if floor else values, format_short)
    x = tail_axis("share of the calls", [point[0] for line in lines for point in line.points])
    named = (floor, f"null call, p50 {format_ns(round(floor))}") if floor else None
    return [Drawing(svg(Panel(title, x, y, lines, floor=named)), _said(title, lines, floor))]


def _line(subject: str, rows: Sequence[Row]) -> Line | None:
    far = reach(min(row["n"] for row in rows))
    if far <= 0:
        return None
    first = -log10(0.5)
    steps = [first, *(step * STEP for step in range(ceil(first / STEP), int(far / STEP) + 1)), max(far, first)]
    marks = [float(q) for q in NAMED if -log10(1 - float(q)) <= far + 1e-9]
    quantiles = sorted({*(1 - 10**-step for step in steps), *marks})
    curves = [found for row in rows if (found := curve(row, quantiles)) is not None]
    columns = [sorted(column) for column in zip(*curves, strict=True)]
    points = [(q, max(median(column), 1.0)) for q, column in zip(quantiles, columns, strict=True)]
    band = []
    if len(curves) > 1:
        low, high = places(len(curves))
        ends = zip(quantiles, columns, strict=True)
        band = [(q, max(column[low - 1], 1.0), max(column[high - 1], 1.0)) for q, column in ends]
    marked = [point for point in points if point[0] in marks]
    return Line(subject, points, *look(subject), band=band, marked=marked)


def _floor(rows: Sequence[Row]) -> float:
    known = [row["null_p50_ns"] for row in rows if row["null_p50_ns"]]
    return float(median(known)) if known else 0.0


def _said(title: str, lines: Sequence[Line], floor: float) -> str:
    said = [title + (f"; a call that does nothing {format_ns(round(floor))}" if floor else "")]
    for line in lines:
        figures = (f"{100 * q:g} % within {format_ns(round(ns))}" for q, ns in line.marked or ())
        said.append(f"{line.name}: {', '.join(figures)}")
    return "\n".join(said)
