"""How a subject looks in every picture, and the picture of the cycle: take what is due, put it back.

A subject has one colour and one mark everywhere; no two of a family have both alike, so a picture reads without colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any
from zlib import crc32

from lab.case import parse_parameters
from lab.figure_axis import log_axis
from lab.figure_panel import MARKS, WIDTH, Line, Panel, svg
from lab.units import format_count, format_ns

Row = Mapping[str, Any]

LOOKS: dict[str, tuple[str, str]] = {
    "linked": ("#d55e00", "o"),
    "linked-known-tail": ("#b07600", "s"),
    "array": ("#1f77c8", "^"),
    "array-naive": ("#3a8fb7", "v"),
    "chunked": ("#00946c", "D"),
    "heap": ("#c65b9b", "p"),
    "sorted": ("#808080", "x"),
    "deque": ("#8a63d2", "h"),
    "buckets": ("#a0624a", "<"),
    "markers": ("#6b8e23", ">"),
    "wheel": ("#cf4a6b", "+"),
    "sqlite": ("#5f7fbf", "O"),
    "kombu": ("#8f7a3c", "*"),
    "sched": ("#2a9190", "O"),
    "apscheduler": ("#b0578d", "s"),
    "asyncio-heap": ("#7a7fd0", "v"),
    "null": ("#808080", "O"),
}
"""Colour and mark of a subject; every colour stands out on white and on black paper (contrast 3 : 1 or more)."""

PALETTE = tuple(dict.fromkeys(colour for colour, _ in LOOKS.values()))

OPERATIONS = ("take", "requeue")


def look(subject: str) -> tuple[str, str]:
    """Return colour and mark of a subject: those of LOOKS, else ones that follow from its name, the same every time.

    >>> look("array"), look("my.queue") == look("my.queue")
    (('#1f77c8', '^'), True)
    """
    if subject in LOOKS:
        return LOOKS[subject]
    number = crc32(subject.encode())
    return PALETTE[number % len(PALETTE)], MARKS[number // len(PALETTE) % len(MARKS)]


def in_order(subjects: Iterable[str]) -> list[str]:
    """Return subjects in the order in which they stand in every picture and table: that of LOOKS, others by name.

    >>> in_order({"sorted", "mine", "array"})
    ['array', 'sorted', 'mine']
    """
    rank = {subject: place for place, subject in enumerate(LOOKS)}
    return sorted(set(subjects), key=lambda subject: (rank.get(subject, len(rank)), subject))


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
    points = cycle_points(rows, queued)
    panels = []
    for operation in OPERATIONS:
        drawn = {subject: points[operation, subject] for subject in subjects if (operation, subject) in points}
        lines = [Line(subject, at, *look(subject)) for subject, at in drawn.items()]
        if lines:
            title = f"{operation}: {format_count(queued)} messages behind the batch"
            everything = [y for (name, _), at in points.items() if name in OPERATIONS for _, y in at]
            x = log_axis("messages in the batch", [due for line in lines for due, _ in line.points], count)
            panels.append(Panel(title, x, log_axis("a call, p50", everything, format_short), lines))
    return beside([svg(panel) for panel in panels])


def format_short(ns: float) -> str:
    """Return a round duration for a tick: without digits that say nothing.

    >>> format_short(1000.0), format_short(50.0), format_short(2_000_000)
    ('1 µs', '50 ns', '2 ms')
    """
    number, unit = format_ns(ns).split(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def count(value: float) -> str:
    """Return a round number for a tick, its thousands apart; a fraction as it is."""
    return format_count(int(value)) if value == int(value) else f"{value:g}"


def beside(drawn: Sequence[str]) -> str:
    """Return several pictures as one, side by side: for a page that can show a single file.

    An empty picture for none.
    """
    height = max((float(found[1]) for one in drawn if (found := re.search(r'height="([\d.]+)"', one))), default=1)
    width = max(1, WIDTH * len(drawn))
    inside = [one.replace("<svg ", f'<svg x="{WIDTH * place}" ', 1) for place, one in enumerate(drawn)]
    size = f'viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "".join(inside) + "</svg>\n"
