"""How a figure of a case is written in a table: the percentile, how sure it is, and the marks behind it.

`found` are the rows of the executions of one case and operation that are ok, `shown` the one whose figures are printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from lab.interval import COLUMN, Interval, coverage, interval
from lab.rank import P50, least_n
from lab.sample import median_worst
from lab.units import NANOSECONDS, format_count, format_ns, in_microseconds, in_unit
from lab.worst import short_cause

Row = Mapping[str, Any]

NO_FIGURE = "–"
UNSTEADY = "†"
SYMMETRIC_UP_TO = Fraction(20, 100)
"""An interval that reaches no further than this to either side is written ±; a wider one from–to."""


def percentile_cell(found: Sequence[Row], shown: Row, q: Fraction, mark: str = "", net: str = "") -> str:
    """Return a percentile with its interval, or that n is too small for it, and how many it needs.

    `mark` stands behind the interval, `net` beside it in brackets.
    """
    if shown["n"] < least_n(q):
        return f"n too small (needs {format_count(least_n(q))})"
    value = shown[COLUMN[q]]
    return with_interval(value, interval(found, shown, q), mark, net)


def with_interval(value_ns: float, bounds: Interval | None, mark: str = "", net: str = "") -> str:
    """Return a duration, its interval, the mark, and the net figure.

    >>> with_interval(1_000, Interval(980, 1_025, 5)), with_interval(1_000, Interval(900, 1_900, 5), net="net 200 ns")
    ('1.00 µs ±3 %', '1.00 µs (0.90–1.90; net 200 ns)')
    """
    said = format_ns(value_ns)
    inside = [net] if net else []
    if bounds is not None and value_ns > 0:
        reach = Fraction(max(bounds.high_ns - value_ns, value_ns - bounds.low_ns)) / Fraction(value_ns)
        if reach <= SYMMETRIC_UP_TO:
            said += f" ±{ceil(100 * reach)} %"
        else:
            unit = said.rpartition(" ")[2]
            inside.insert(0, f"{_figure(bounds.low_ns, unit)}–{_figure(bounds.high_ns, unit)}")
    marked = f"{said} {mark}" if mark else said
    return f"{marked} ({'; '.join(inside)})" if inside else marked


def _figure(ns: float, unit: str) -> str:
    """Return a duration as a number of `unit` with three significant digits, or as many as stand before the point."""
    size = Fraction(ns) / NANOSECONDS[unit]
    digits = 2 if size < Fraction("9.995") else 1 if size < Fraction("99.95") else 0
    return in_unit(ns, unit, digits)


def p50_cell(found: Sequence[Row]) -> str:
    """Return the p50 of the execution with the median worst call, and what belongs beside it.

    Its interval; the mark of a case that is not steady in most of its processes; the net figure where the clock's own
    cost is much of it.
    """
    shown = median_worst(found)
    net = f"net {format_ns(max(0, shown['net_p50_ns']))}" if shown["timer_bound"] else ""
    return percentile_cell(found, shown, P50, UNSTEADY if unsteady(found) else "", net)


def unsteady(found: Sequence[Row]) -> bool:
    """Return whether more than half of the processes that can tell were not steady.

    >>> unsteady([{"steady": False}, {"steady": True}, {"steady": None}]), unsteady([{"steady": False}])
    (False, True)
    """
    told = [row["steady"] for row in found if row["steady"] is not None]
    return told.count(False) * 2 > len(told)


def worst_range(found: Sequence[Row]) -> str:
    """Return the worst call of the execution shown, and in µs the range of the worst calls over the processes."""
    values = sorted(row["max_ns"] for row in found)
    shown = median_worst(found)["max_ns"]
    if len(values) == 1:
        return format_ns(shown)
    return f"{format_ns(shown)} ({in_microseconds(values[0], 1)} .. {in_microseconds(values[-1], 1)})"


def worst_spans(found: Sequence[Row]) -> str:
    """Return the worst of the execution shown, and the range over the processes with units: what lasts for seconds.

    >>> worst_spans([{"max_ns": 2_000_000, "process": 0}, {"max_ns": 1_500_000, "process": 1}])
    '1.50 ms (1.50 ms .. 2.00 ms)'
    """
    shown, values = median_worst(found)["max_ns"], [row["max_ns"] for row in found]
    if len(values) == 1:
        return format_ns(shown)
    return f"{format_ns(shown)} ({format_ns(min(values))} .. {format_ns(max(values))})"


def structural_cell(worst: Row | None) -> str:
    """Return the structural worst call with its index, and why it is slow where that is known."""
    if worst is None or worst["structural_worst_ns"] is None:
        return NO_FIGURE
    index = worst["structural_worst_index"]
    said = f"{format_ns(worst['structural_worst_ns'])} @ {format_count(index)}"
    causes = dict(zip(worst["worst_index"] or (), worst["worst_cause"] or (), strict=True))
    cause = short_cause(causes.get(index, ""))
    return f"{said} ({cause})" if cause else said


def interval_notes(groups: Iterable[Sequence[Row]]) -> tuple[str, ...]:
    """Return how to read intervals and marks, as far as the rows of a table have any."""
    every = [found for found in groups if found]
    notes = []
    processes = {len(found) for found in every if len(found) > 1}
    if processes:
        sure = float(coverage(min(processes)))
        notes.append(
            f"±, from–to: where a typical process has this percentile; {min(processes)} processes make that "
            f"{100 * sure:.0f} % sure (order statistics of the process shown, bootstrap over the processes)."
        )
    if any(unsteady(found) for found in every):
        notes.append(f"{UNSTEADY} not steady: in most processes the same call takes longer or shorter as time goes on.")
    return tuple(notes)
