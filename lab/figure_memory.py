"""Memory over messages: what is resident as a queue is filled, with the slope in bytes a message behind every name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from lab.figure import count, in_order, look
from lab.figure_axis import linear_axis
from lab.figure_panel import Drawing, Line, Panel, svg
from lab.memory import per_message
from lab.units import format_bytes, format_count

Row = Mapping[str, Any]

MIB = 2**20


def memory_slope(rows: Sequence[Row]) -> list[Drawing]:
    """Return the picture of what is resident beyond the empty queue, median over processes, from rows that are ok.

    [] without a resident case. O(points).
    """
    lines, behind = [], {}
    for subject in in_order(row["subject"] for row in rows):
        members = [
            row
            for row in rows
            if row["subject"] == subject
            and row["workload"] == "resident"
            and len(set(row["points_messages"] or ())) > 1
        ]
        if not members:
            continue
        cost = per_message([list(zip(row["points_messages"], row["points_rss_bytes"], strict=True)) for row in members])
        behind[subject] = "" if cost is None else f"{cost.bytes:.0f} B"
        lines.append(Line(subject, [(at, held / MIB) for at, held in beyond(members)], *look(subject)))
    if not lines:
        return []
    title = "Resident memory while a queue is filled"
    x = linear_axis("messages", [x for line in lines for x, _ in line.points], count)
    y = linear_axis("MiB beyond the first reading", [y for line in lines for _, y in line.points], "{:g}".format)
    said = [f"{title}: bytes a message (slope), and what is held at the end"]
    said += [
        f"{line.name}: {behind[line.name]}, {format_bytes(round(line.points[-1][1] * MIB))} at "
        f"{format_count(int(line.points[-1][0]))}"
        for line in lines
    ]
    return [Drawing(svg(Panel(title, x, y, lines, extra=behind)), "\n".join(said))]


def beyond(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return (messages, bytes beyond the first point), the median over processes that have the same points.

    >>> beyond([{"points_messages": [0, 10], "points_rss_bytes": [100, 300]}])
    [(0, 0), (10, 200)]
    """
    places = rows[0]["points_messages"]
    alike = [row["points_rss_bytes"] for row in rows if row["points_messages"] == places]
    return [(at, median(own[place] - own[0] for own in alike)) for place, at in enumerate(places)]
