"""Call time over call index: where in a workload the slow calls are, the structural worst ones marked and named.

With the raw calls of a run every call is there; without them (the reference run has none) the slowest that are stored
for each case are, from schema version 2 on, and before that the structural worst call alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.figure import count, format_short, in_order, look
from lab.figure_axis import Axis, linear_axis, log_axis
from lab.figure_panel import Drawing, Line, Note, Panel, svg
from lab.units import format_count, format_ns
from lab.worst import SHOWN, short_cause

Row = Mapping[str, Any]
Calls = Mapping[str, Mapping[int, NDArray[np.int64]]]
"""subject -> process -> the ns of every call, in order."""

BINS = 120
"""Stretches of the workload for which the typical and the slowest call are drawn."""

ROOM = 3
"""How far over the slowest call the axis ends: what made it slow is written there."""

NAMED = 3
"""Slowest calls of a subject whose cause is written beside them."""


def calls_over_index(title: str, cases: Sequence[Row], rows: Sequence[Row], calls: Calls) -> list[Drawing]:
    """Return a picture for each subject of one case and operation: what its calls take as the workload goes on.

    `cases` are its rows of cases.parquet, `rows` those of its executions that are ok. [] where nothing is known of
    single calls. O(calls).
    """
    drawn = []
    for case in sorted(cases, key=lambda case: in_order(row["subject"] for row in cases).index(case["subject"])):
        members = [row for row in rows if row["subject"] == case["subject"]]
        if members and case["structural_worst_ns"] is not None:
            drawn.append(_drawing(title, case, members, calls.get(case["subject"], {})))
    top = ROOM * max((one.y.high for one, _ in drawn), default=1.0)
    low = min((one.y.low for one, _ in drawn), default=0.1)
    return [Drawing(svg(_with_y(panel, low, top)), said) for panel, said in drawn]


def slowest(case: Row) -> list[tuple[int, int, str]]:
    """Return (call, ns in every process at least, cause) of the calls that the structure made slow, slowest first.

    >>> slowest({"structural_worst_index": 3, "structural_worst_ns": 900, "worst_index": None})
    [(3, 900, '')]
    """
    if not case.get("worst_index"):
        return [(case["structural_worst_index"], case["structural_worst_ns"], "")]
    causes = case["worst_cause"] or [""] * len(case["worst_index"])
    found = zip(case["worst_index"], case["worst_ns"], map(short_cause, causes), strict=True)
    return sorted(list(found)[:SHOWN], key=lambda call: -call[1])


def _drawing(title: str, case: Row, rows: Sequence[Row], calls: Mapping[int, NDArray[np.int64]]) -> tuple[Panel, str]:
    subject = case["subject"]
    colour, mark = look(subject)
    total = (rows[0]["n"] or 0) + (rows[0]["warmup"] or 0)
    typical = median(row["p50_ns"] for row in rows)
    worst = slowest(case)
    lines = []
    if calls:
        least = np.minimum.reduce(list(calls.values()))
        edges = np.unique(np.linspace(0, len(least), BINS + 1).astype(int))
        starts, middles = edges[:-1], (edges[:-1] + edges[1:]) / 2
        highest = np.maximum.reduceat(least, starts)
        usual = [float(np.median(least[a:b])) for a, b in pairwise(edges)]
        band = [(x, max(1.0, low), max(1.0, float(high))) for x, low, high in zip(middles, usual, highest, strict=True)]
        points = [(float(x), max(1.0, y)) for x, y in zip(middles, usual, strict=True)]
        lines.append(Line("typical", points, colour, mark, band, marked=()))
    else:
        lines.append(Line("typical", [(0, typical), (max(total, 1), typical)], colour, mark, marked=()))
    at = [(float(call), float(ns)) for call, ns, _ in sorted(worst)]
    lines.append(Line("slowest", at, colour, mark, joined=False))
    x = linear_axis("call", [float(total), *(point[0] for point in at)], count)
    y = log_axis("a call", [typical, *(y for line in lines for _, y in line.points)], format_short)
    notes = [Note(float(call), float(ns), _named(ns, cause)) for call, ns, cause in worst[:NAMED]]
    return Panel(f"{title}: {subject}", x, y, lines, notes), _said(title, subject, typical, worst)


def _named(ns: int, cause: str) -> str:
    return f"{format_ns(ns)} {cause}".rstrip()


def _with_y(panel: Panel, low: float, high: float) -> Panel:
    """Give a panel the axis that all subjects share, so that they can be compared."""
    axis = log_axis(panel.y.label, [low * 1.15, high / 1.15], format_short)
    shared = Axis(axis.label, axis.place, low, high, axis.ticks)
    return Panel(panel.title, panel.x, shared, panel.lines, panel.notes, panel.floor, panel.extra)


def _said(title: str, subject: str, typical: float, worst: Sequence[tuple[int, int, str]]) -> str:
    slow = "; ".join(f"{format_ns(ns)} @ {format_count(call)} {cause}".rstrip() for call, ns, cause in worst[:NAMED])
    return f"{title}, {subject}: typical {format_ns(typical)}; slow in every process {slow}"
