"""The pieces of the notebook about memory: bytes a message, and what is left when a queue has drained."""

from __future__ import annotations

from statistics import median

from lab.figure_memory import memory_slope
from lab.memory import per_message
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.units import format_bytes


def slopes(reading: Reading) -> list[Piece]:
    """Return what is resident as a queue is filled, and who needs least and most for a message."""
    drawn = memory_slope([row for row in reading.good if row["kind"] == "memory" and row["subject"] != "null"])
    if not drawn:
        return [nothing("memory while a queue is filled")]
    cost = {}
    for subject in reading.subjects:
        rows = [row for row in reading.good if row["subject"] == subject and row["workload"] == "resident"]
        points = [list(zip(row["points_messages"], row["points_rss_bytes"], strict=True)) for row in rows]
        found = per_message(points) if rows else None
        if found is not None:
            cost[subject] = found.bytes
    first, last = min(cost, key=lambda name: cost[name]), max(cost, key=lambda name: cost[name])
    least = " and ".join(f"`{name}`" for name, held in cost.items() if round(held) == round(cost[first]))
    said = f"**A message takes {cost[first]:.0f} B on {least}"
    return [*drawn, f"{said}, {cost[last]:.0f} B on `{last}`, {cost[last] / cost[first]:.2f} times that.**"]


def drained(reading: Reading) -> list[Piece]:
    """Return what each container still holds after a burst, in words; the table of memory has the figures."""
    held: dict[str, float] = {}
    for subject in reading.subjects:
        sizes = [
            row["container_bytes"]
            for row in reading.good
            if (row["subject"], row["kind"], row["workload"]) == (subject, "memory", "drained")
            and row["container_bytes"]
        ]
        if sizes:
            held[subject] = median(sizes)
    if not held:
        return [nothing("a queue that was drained")]
    ordered = sorted(held, key=lambda name: held[name])
    said = ", ".join(f"`{name}` {format_bytes(held[name])}" for name in ordered)
    return [f"**Drained after a burst, the container of the queue itself still holds: {said}.**"]
