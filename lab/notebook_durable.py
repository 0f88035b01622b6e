"""The pieces of the notebook about queues that outlive the process: what it costs to keep a message outside it."""

from __future__ import annotations

from lab import claim, durable
from lab.claims_durable import judge_run
from lab.figure_scaling import Series, scaling, series
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.units import format_count, format_ns

BEHIND = 10_000
"""Messages queued behind those that are due, in the pictures."""


def putting_in(reading: Reading) -> list[Piece]:
    """Return what a message costs that is put in with others, over how many these are."""
    found = series(reading.good, "messages", kind="batched", workload="durable-enqueue-many", operation="enqueue")
    if not found:
        return [nothing("the workload durable-enqueue-many")]
    return [*scaling("enqueue_many, a message", "messages", found), _best(found)]


def cycle(reading: Reading, operation: str) -> list[Piece]:
    """Return what taking or putting back costs, over the messages that are due."""
    workload = "durable-cycle"
    found = series(reading.good, "due", kind="latency", workload=workload, operation=operation, queued=BEHIND)
    if not found:
        return [nothing(f"the workload {workload}")]
    return [*scaling(operation, "due", found), _best(found)]


def _best(found: Series) -> str:
    """Return in a sentence who of those that keep messages outside costs least at the largest size, and array there."""
    most = max(size for by_size in found.values() for size in by_size)
    middles = {name: sorted(by_size[most]) for name, by_size in found.items() if most in by_size}
    costs = {name: values[len(values) // 2] for name, values in middles.items()}
    outside = {name: costs[name] for name in durable.kept_outside(costs)}
    if not outside:
        return nothing("a queue that keeps its messages outside the process")
    least = min(outside, key=lambda name: outside[name])
    said = f"At {format_count(most)} `{least}` costs least of those that outlive the process"
    said += f", {format_ns(outside[least])}"
    base = costs.get(durable.BASE)
    return f"**{said}{f', `{durable.BASE}` {format_ns(base)}' if base else ''}.**"


def tables(reading: Reading) -> list[Piece]:
    """Return every table of a run about these queues, settings of the engines included."""
    found: list[Piece] = [*durable.tables(reading.rows, reading.subjects)]
    return found or [nothing("queues that outlive the process")]


def verdicts(reading: Reading) -> list[Piece]:
    """Return the claims about these queues with the verdict of this run on each."""
    judged = judge_run(reading.run)
    return [claim.table(judged)] if judged else [nothing("claims about several queues that outlive the process")]
