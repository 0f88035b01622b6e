"""The pieces of the notebook about cost: what a call usually takes, and how that grows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from lab.case import parse_parameters
from lab.figure import queued_sizes
from lab.figure_heat import BASE, heat, leader
from lab.figure_scaling import Series, scaling, series, times
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.units import format_count, format_ns


def enqueue(reading: Reading, order: str = "in-order") -> list[Piece]:
    """Return what queueing a message costs over the length of the queue, in start order or out of it."""
    workload = f"enqueue-{order}"
    found = series(reading.good, "messages", kind="cost", workload=workload, operation=workload)
    if not found:
        return [nothing(f"the workload {workload}")]
    title = f"Enqueue, {order.replace('-', ' ')}"
    return [*scaling(title, "messages queued", found, "a message, mean"), best_and_worst(found, "messages")]


def best_and_worst(found: Series, size: str) -> str:
    """Return who costs least and who most at the largest size that most were measured at, in one sentence."""
    sizes = [max(by_size) for by_size in found.values()]
    largest = max(set(sizes), key=lambda size: (sizes.count(size), size))
    middle = {subject: median(by_size[largest]) for subject, by_size in found.items() if by_size.get(largest)}
    first, last = min(middle, key=lambda name: middle[name]), max(middle, key=lambda name: middle[name])
    said = f"**At {format_count(largest)} {size} `{first}` costs least, {format_ns(middle[first])}"
    if len(middle) == 1:
        return said + "; nobody else was measured there.**"
    return (
        said + f"; `{last}` costs most, {format_ns(middle[last])}, {times(middle[last] / middle[first])} times that.**"
    )


def cycle(reading: Reading, operation: str) -> list[Piece]:
    """Return what take or requeue costs over the batch, a picture for each length of the queue behind it."""
    pieces: list[Piece] = []
    found: Series = {}
    for queued in queued_sizes(reading.good):
        found = series(reading.good, "due", kind="latency", workload="cycle", operation=operation, queued=queued)
        pieces += scaling(f"{operation}, {format_count(queued)} queued behind", "messages in the batch", found)
    return [*pieces, best_and_worst(found, "in the batch")] if pieces else [nothing("the cycle")]


def over_queue(reading: Reading, operation: str = "requeue") -> list[Piece]:
    """Return what an operation of the cycle costs over the length of the queue, a picture for each batch."""
    pieces: list[Piece] = []
    cycles = (row for row in reading.good if row["kind"] == "latency" and row["workload"] == "cycle")
    for due in sorted({int(dict(parse_parameters(row["params"]))["due"]) for row in cycles}):
        found = series(reading.good, "queued", kind="latency", workload="cycle", operation=operation, due=due)
        if any(len(by_size) > 1 for by_size in found.values()):
            pieces += scaling(f"{operation} of {format_count(due)}", "messages queued behind", found)
    return pieces or [nothing("the cycle at two lengths of the queue")]


def life(reading: Reading) -> list[Piece]:
    """Return the table of a message's whole life, and who is cheapest in how many patterns."""
    lives = [row for row in reading.good if row["kind"] == "batched" and row["workload"].startswith("life-")]
    best: dict[str, int] = {}
    for workload in {row["workload"] for row in lives}:
        costs = {
            subject: median(row["p50_ns"] for row in lives if (row["workload"], row["subject"]) == (workload, subject))
            for subject in reading.subjects
            if any((row["workload"], row["subject"]) == (workload, subject) for row in lives)
        }
        first = min(costs, key=lambda name: costs[name])
        best[first] = best.get(first, 0) + 1
    ordered = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    said = ", ".join(f"`{name}` in {count}" for name, count in ordered)
    total = sum(best.values())
    sentence = [f"**Of {total} patterns of starts a message's life is cheapest on {said}.**"] if total else []
    return [*reading.table("The life of a message"), *sentence]


def heat_table(reading: Reading, base: str = BASE) -> list[Piece]:
    """Return the heat table of the run, subject by operation, and who needs least where."""
    shaded = heat(reading.good, reading.cases, base)
    return [shaded, f"**{leader(shaded, base)}**"] if shaded.table.rows else [nothing(f"anything beside `{base}`")]


def pictures(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces that are no text."""
    return [piece for piece in pieces if not isinstance(piece, str)]
