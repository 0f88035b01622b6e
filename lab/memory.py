"""What queues hold in memory, out of the rows of a run: bytes a message, peaks of phases, allocations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

from lab.case import parse_parameters
from lab.chance import student_quantile
from lab.reference import Reference, perl
from lab.sample import slope
from lab.table import Table
from lab.units import format_bytes, format_count

Row = Mapping[str, Any]
Groups = Mapping[tuple[Any, ...], Sequence[Row]]

CONFIDENCE = 0.95
NO_FIGURE = "–"
SLOPE = "resident: mean slope over the processes, with the wider of two 95 % intervals: over processes and over points."
PEAK = "peak: the most that was resident in that phase, beyond what was there before the queue was made."
ALLOCATIONS = "allocations: as memray saw them in one process more; those of null are the workload's own."


@dataclass(frozen=True, slots=True)
class PerMessage:
    """What one message costs, in bytes, with the bounds of its 95 % interval; None where none is known."""

    bytes: float
    low: float | None
    high: float | None
    processes: int


def per_message(processes: Iterable[Sequence[tuple[float, float]]]) -> PerMessage | None:
    """Return the bytes per message from (messages, resident bytes) of several processes; None without any points.

    The value is the mean of the least-squares slopes, one of each process. Of two intervals of Student's t the wider is
    given, as everywhere in the lab: over the slopes of the processes (needs 2), and over the points around their line
    (needs 3). The second is not narrowed by more processes: a container that grows by steps, or an allocator that does,
    makes the same steps in each of them. Processes without two different places are left out. O(points).

    >>> per_message([[(0, 1000), (10, 2000)], [(0, 1000), (10, 2020)], [(0, 990), (10, 2000)]]).bytes
    101.0
    """
    used = [points for points in processes if len({messages for messages, _ in points}) > 1]
    if not used:
        return None
    slopes = [slope(points) for points in used]
    widths = [width for width in (_over_processes(slopes), _over_points(used, slopes)) if width is not None]
    middle, width = fmean(slopes), max(widths, default=None)
    low, high = (None, None) if width is None else (middle - width, middle + width)
    return PerMessage(middle, low, high, len(slopes))


def _over_processes(slopes: Sequence[float]) -> float | None:
    if len(slopes) < 2:
        return None
    return _quantile(len(slopes) - 1) * stdev(slopes) / sqrt(len(slopes))


def _over_points(processes: Sequence[Sequence[tuple[float, float]]], slopes: Sequence[float]) -> float | None:
    """Half the interval of a slope among its own points: the root of the mean square over the processes."""
    squares = []
    for points, found in zip(processes, slopes, strict=True):
        freedom = len(points) - 2
        if freedom >= 1:
            middle_x, middle_y = fmean(x for x, _ in points), fmean(y for _, y in points)
            rest = sum((y - middle_y - found * (x - middle_x)) ** 2 for x, y in points)
            spread = sum((x - middle_x) ** 2 for x, _ in points)
            squares.append(_quantile(freedom) ** 2 * rest / freedom / spread)
    return sqrt(fmean(squares)) if squares else None


def _quantile(freedom: int) -> float:
    return student_quantile(freedom, (1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of one case of memory."""

    subject: str
    workload: str
    messages: int
    left: int
    rows: Sequence[Row]

    def middle(self, column: str) -> float | None:
        known = [row[column] for row in self.rows if row.get(column) is not None]
        return median(known) if known else None


Cells = Iterator[tuple[str, str, float | None]]
"""What is shown, our figure, and the Perl figure in bytes where there is one."""


def memory_table(groups: Groups, reference: Reference) -> Table:
    """Return the table of what is held, from the rows of kind memory by (subject, workload, params, …).

    A row stands only where it has a figure: peaks need a kernel that lets them be reset, allocations a run with memray.
    """
    cases = []
    for (subject, workload, params, *_), found in groups.items():
        sizes = {name: int(value) for name, value in parse_parameters(params)}
        cases.append(_Held(subject, workload, sizes["messages"], sizes.get("left", 0), found))
    rows = [
        (what, held.subject, ours, NO_FIGURE if in_perl is None else format_bytes(in_perl))
        for cells in (_resident, _alone, _container, _peaks, _allocations)
        for held in cases
        for what, ours, in_perl in cells(held, reference)
    ]
    kinds = {"resident": SLOPE, "peak": PEAK, "allocations": ALLOCATIONS}
    notes = tuple(note for word, note in kinds.items() if any(row[0].startswith(f"{word}, ") for row in rows))
    return Table("Memory", ("what", "subject", "ours", "Perl"), tuple(rows), notes, frozenset({"what", "subject"}))


def _resident(held: _Held, reference: Reference) -> Cells:
    filled = [row for row in held.rows if row["points_messages"]] if held.workload != "drained" else []
    cost = per_message([list(zip(row["points_messages"], row["points_rss_bytes"], strict=True)) for row in filled])
    if cost is not None:
        behind = "" if cost.low is None or cost.high is None else f" ({round(cost.low)} .. {round(cost.high)})"
        messages = held.messages
        in_perl = perl(reference, "memory", held.subject, "resident", str(messages), statistic="per_message")
        yield f"resident, a message (slope to {format_count(messages)})", f"{round(cost.bytes)} B{behind}", in_perl


def _alone(held: _Held, reference: Reference) -> Cells:
    taken = held.middle("rss_after_bytes")
    if held.workload == "baseline" and taken is not None:
        yield "the interpreter and the workload alone", format_bytes(taken), None


def _container(held: _Held, reference: Reference) -> Cells:
    size = held.middle("container_bytes")
    if held.workload == "drained" and size is not None:
        in_perl = perl(reference, "memory_drained", held.subject, "container", str(held.left), statistic="shallow")
        yield f"container, {format_count(held.messages)} drained to {held.left}", format_bytes(size), in_perl


def _peaks(held: _Held, reference: Reference) -> Cells:
    if held.workload != "drained":
        return
    for column, phase in (("fill_peak_bytes", "filled in"), ("drain_peak_bytes", f"drained to {held.left}")):
        known = [row for row in held.rows if row.get(column) is not None and row["rss_before_bytes"] is not None]
        if known:
            beyond = median(row[column] - row["rss_before_bytes"] for row in known)
            yield f"peak, {format_count(held.messages)} {phase}", format_bytes(beyond), None


def _allocations(held: _Held, reference: Reference) -> Cells:
    count, high = held.middle("allocations"), held.middle("high_water_bytes")
    if count is not None and high is not None:
        case = f"{held.workload}, {format_count(held.messages)}"
        ours = f"{count / held.messages:.2f}, {format_bytes(high)}"
        yield f"allocations, a message, and the most held at one time ({case})", ours, None
