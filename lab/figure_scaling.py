"""Pictures of a cost over a size, both logarithmic, with the slope that was fitted behind every name.

Works on `Series`: subject -> size -> one value a process. A slope of 1 is a cost in proportion to the size, 0 one that
does not depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.evidence import FIGURE
from lab.figure import count, format_short, in_order, look
from lab.figure_axis import log_axis
from lab.figure_panel import Drawing, Line, Panel, svg
from lab.sample import slope
from lab.units import format_count, format_ns

Row = Mapping[str, Any]
Series = Mapping[str, Mapping[int, Sequence[float]]]


def series(rows: Iterable[Row], along: str, *, kind: str, workload: str, operation: str, **sizes: int) -> Series:
    """Return subject -> size -> what the case usually costs in ns, one value a process, from rows that are ok.

    `sizes` are the parameters that must have a value; of the others `along` varies. The figure is the p50, or the mean
    where pyperf measured. O(rows).
    """
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if (row["kind"], row["workload"], row["operation"], row["status"]) == (kind, workload, operation, "ok"):
            values = dict(parse_parameters(row["params"]))
            if along in values and sizes.items() <= values.items() and row[FIGURE[kind]]:
                found[row["subject"]][int(values[along])].append(row[FIGURE[kind]])
    return {subject: dict(sorted(found[subject].items())) for subject in in_order(found)}


def middles(by_size: Mapping[int, Sequence[float]]) -> list[tuple[float, float]]:
    """Return (size, median over the processes), by size.

    >>> middles({10: [3.0, 1.0, 2.0]})
    [(10, 2.0)]
    """
    return [(size, median(values)) for size, values in sorted(by_size.items())]


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of log(value) over log(size), or None with fewer than two sizes or a value that is not positive.

    >>> exponent([(10, 5.0), (100, 50.0)])
    1.0
    """
    if len({size for size, _ in points}) < 2 or min(min(pair) for pair in points) <= 0:
        return None
    return round(slope([(log(size), log(value)) for size, value in points]), 12)


def hundredths(value: float) -> str:
    """Return a slope with two decimals, and no minus in front of nothing.

    >>> hundredths(-0.001), hundredths(0.755)
    ('0.00', '0.76')
    """
    return f"{round(value, 2) + 0.0:.2f}"


def times(value: float) -> str:
    """Return a factor with three digits, whole from 100 on.

    >>> times(3.14159), times(13_123.4)
    ('3.14', '13,123')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def scaling(title: str, along: str, found: Series, what: str = "a call, p50") -> list[Drawing]:
    """Return the picture of the series, or [] when no subject has a value. O(values)."""
    lines = []
    behind = {}
    for subject, by_size in found.items():
        points = middles(by_size)
        band = [(float(size), min(values), max(values)) for size, values in by_size.items()]
        fitted = exponent(points)
        behind[subject] = "" if fitted is None else hundredths(fitted)
        lines.append(Line(subject, points, *look(subject), band=band if len(points) > 1 else ()))
    if not lines:
        return []
    x = log_axis(along, [point[0] for line in lines for point in line.points], count)
    y = log_axis(what, [y for by_size in found.values() for values in by_size.values() for y in values], format_short)
    return [Drawing(svg(Panel(title, x, y, lines, extra=behind)), said(title, along, found))]


def said(title: str, along: str, found: Series) -> str:
    """Return what the picture shows as text: for each subject first and last point, and the slope."""
    lines = [f"{title} (over {along}; slope of log over log)"]
    for subject, by_size in found.items():
        points = middles(by_size)
        ends = " → ".join(
            f"{format_ns(y)} at {format_count(int(x))}" for x, y in (points[0], points[-1])[: len(points)]
        )
        fitted = exponent(points)
        lines.append(f"{subject}: {ends}" + ("" if fitted is None else f", slope {hundredths(fitted)}"))
    return "\n".join(lines)
