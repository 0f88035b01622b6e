"""Pictures of a run as SVG text: one colour and one mark per subject everywhere, readable without colour."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.case import parse_parameters

Row = Mapping[str, Any]

LOOKS: dict[str, tuple[str, str]] = {
    "linked": ("#d55e00", "o"),
    "linked-known-tail": ("#e69f00", "s"),
    "array": ("#0072b2", "^"),
    "array-naive": ("#56b4e9", "v"),
    "chunked": ("#009e73", "D"),
    "heap": ("#cc79a7", "P"),
    "sorted": ("#7f7f7f", "X"),
}
"""Colour (Okabe and Ito's, which the colour-blind tell apart) and mark of a subject."""

OTHER_LOOK = ("#444444", "*")
OPERATIONS = ("take", "requeue")
NS_A_US = 1000


def queued_sizes(rows: Iterable[Row]) -> list[int]:
    """Return the lengths behind the batch that the run has cycles for, ascending."""
    return sorted(
        {
            int(dict(parse_parameters(row["params"]))["queued"])
            for row in rows
            if row["status"] == "ok" and row["kind"] == "latency" and row["workload"] == "cycle"
        }
    )


def cycle_points(rows: Iterable[Row], queued: int) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return (operation, subject) -> [(due, median over processes of p50 in ns)], by due, of the cycle before `queued`.

    Empty when the run has no such case.
    """
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        if row["status"] == "ok" and row["kind"] == "latency" and row["workload"] == "cycle":
            sizes = dict(parse_parameters(row["params"]))
            if sizes["queued"] == queued:
                found.setdefault((row["operation"], row["subject"], int(sizes["due"])), []).append(row["p50_ns"])
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for operation, subject, due in sorted(found):
        points.setdefault((operation, subject), []).append((due, median(found[operation, subject, due])))
    return points


def cycle_svg(rows: Sequence[Row], queued: int, subjects: Sequence[str]) -> str:
    """Return the picture of take and requeue over the batch, log-log, one line a subject, labelled at its end."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    points = cycle_points(rows, queued)
    with mpl.rc_context({"svg.hashsalt": "lab", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 3.8), sharey=True, layout="constrained")
        for axis, operation in zip(axes, OPERATIONS, strict=True):
            ends = _lines(axis, points, operation, subjects)
            _labels(axis, ends)
            axis.set_title(operation)
            axis.set_xlabel("messages in the batch")
        axes[0].set_ylabel("a call, p50 (µs)")
        figure.suptitle(f"Take what is due, then put it back: {queued:,} messages behind")
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def _lines(
    axis: Any, points: Mapping[tuple[str, str], list[tuple[int, float]]], operation: str, subjects: Sequence[str]
) -> list[tuple[str, str, float, float]]:
    ends = []
    for subject in subjects:
        drawn = points.get((operation, subject))
        if not drawn:
            continue
        colour, mark = LOOKS.get(subject, OTHER_LOOK)
        due = [x for x, _ in drawn]
        us = [y / NS_A_US for _, y in drawn]
        axis.loglog(due, us, color=colour, marker=mark, markersize=4, linewidth=1.4)
        ends.append((subject, colour, float(due[-1]), us[-1]))
    axis.grid(visible=True, which="major", color="#cccccc", linewidth=0.5)
    axis.set_xlim(right=axis.get_xlim()[1] * 30)
    return ends


LEAST_RATIO = 1.6
"""How far apart two labels stand on the logarithmic axis, so that they do not overlap."""


def _labels(axis: Any, ends: Sequence[tuple[str, str, float, float]]) -> None:
    """Write each subject's name behind the end of its line, pushed up where two would overlap."""
    lowest = 0.0
    for subject, colour, x, y in sorted(ends, key=lambda end: end[3]):
        height = max(y, lowest * LEAST_RATIO)
        lowest = height
        axis.annotate(subject, (x, y), (x * 1.5, height), color=colour, va="center", fontsize=8)
