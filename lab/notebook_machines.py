"""The pieces of the notebook about machines: runs beside each other, as small pictures on one scale and as ratios."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lab import archive
from lab.compare import Comparison, compare, heading, judged, tables
from lab.figure import count, format_short, look, queued_sizes
from lab.figure_axis import log_axis
from lab.figure_heat import BASE, heat, leaders
from lab.figure_panel import Drawing, Line, Panel, svg
from lab.figure_scaling import middles, said, series
from lab.notebook import FAMILY, REFERENCE, RESULTS, Reading, choose, has_family, nothing
from lab.notebook_html import Piece
from lab.pairing import Side
from lab.table import Table
from lab.units import format_count, format_ns

ACROSS = ("machine", "interpreter", "commit")
"""What may differ between the runs because it is what is looked at."""

MOST_LINES = 40
"""Lines of a comparison that are shown; `lab compare` prints all of them."""


def choose_all(runs: Sequence[str | Path] = (), results: Path = RESULTS) -> list[Reading]:
    """Return the runs that stand beside each other: those named, else the newest of every machine in `results`.

    Of a machine of which there are runs of more than one interpreter, the newest of each. ArchiveError when a run
    cannot be read or there is none.
    """
    if runs:
        return [choose(run, results=results) for run in runs]
    newest: dict[tuple[str, str], Reading] = {}
    for path in archive.find_runs(results):
        if has_family(path, FAMILY) and not archive.CHECK.search(path.name):
            reading = choose(path, results=results)
            newest[path.parent.name, str(reading.run.environment.get("python"))] = reading
    found = sorted(newest.values(), key=lambda one: (one.run.path.parent.name == REFERENCE, one.name))
    return found or [choose(results=results)]


def names(readings: Sequence[Reading]) -> list[str]:
    """Return a short name for each run: its machine's label, with the interpreter where that is not enough."""
    plain = [one.run.path.parent.name for one in readings]
    python = [f"{one.run.environment.get('implementation')} {one.run.environment.get('python')}" for one in readings]
    longer = [f"{name}, {version}" for name, version in zip(plain, python, strict=True)]
    for wanted in (plain, longer):
        if len(set(wanted)) == len(wanted):
            return wanted
    return [one.name for one in readings]


def runs(readings: Sequence[Reading]) -> list[Piece]:
    """Return the table of the runs: machine, interpreter, suite, and what a call that does nothing takes there."""
    rows = []
    for name, one in zip(names(readings), readings, strict=True):
        null = [row["null_p50_ns"] for row in one.good if row["null_p50_ns"]]
        processes = str(len({row["process"] for row in one.good}))
        floor = format_ns(round(median(null))) if null else "–"
        rows.append((name, one.name, one.machine, one.run.suite, str(len(one.subjects)), processes, floor))
    header = ("name", "run", "machine", "suite", "subjects", "processes", "null call")
    pieces: list[Piece] = [Table("The runs", header, tuple(rows), left=frozenset(header[:4]))]
    if len(readings) == 1:
        pieces.append("**There is one run: `lab report RUN RUN` sets others beside it.**")
    return pieces


def cycles(readings: Sequence[Reading], operation: str) -> list[Piece]:
    """Return take or requeue over the batch, a panel for each run on one scale, before the longest queue."""
    found = {}
    for name, one in zip(names(readings), readings, strict=True):
        behind = queued_sizes(one.good)
        if behind:
            found[name, behind[-1]] = series(
                one.good, "due", kind="latency", workload="cycle", operation=operation, queued=behind[-1]
            )
    every = [point for by_subject in found.values() for by in by_subject.values() for point in middles(by)]
    if not every:
        return [nothing(f"{operation} of the cycle")]
    x = log_axis("messages in the batch", [size for size, _ in every], count)
    y = log_axis("a call, p50", [ns for _, ns in every], format_short)
    pieces: list[Piece] = []
    for (name, queued), by_subject in found.items():
        lines = [Line(subject, middles(by), *look(subject)) for subject, by in by_subject.items()]
        title = f"{operation}, {format_count(queued)} behind: {name}"
        pieces.append(Drawing(svg(Panel(title, x, y, lines)), said(title, "messages in the batch", by_subject)))
    return pieces


def rankings(readings: Sequence[Reading], base: str = BASE) -> list[Piece]:
    """Return who needs least for each operation, run by run, and on how many operations all runs agree."""
    by_run = [leaders(heat(one.good, one.cases, base), base) for one in readings]
    operations = list(dict.fromkeys(operation for found in by_run for operation in found))
    if not operations:
        return [nothing(f"anything beside `{base}`")]
    rows = tuple((what, *(found.get(what, "–") for found in by_run)) for what in operations)
    header = ("operation", *names(readings))
    table = Table("Who needs least", header, rows, left=frozenset(header))
    if len(readings) == 1:
        return [table]
    shared = [row for row in rows if "–" not in row[1:]]
    alike = sum(len(set(row[1:])) == 1 for row in shared)
    return [table, f"**The runs agree on {alike} of {len(shared)} operations that all of them have.**"]


def comparisons(readings: Sequence[Reading]) -> list[Piece]:
    """Return what `lab compare` says of each run beside the first: its counts and its largest changes."""
    if len(readings) < 2:
        return [nothing("a second run to compare the first with")]
    sides = [Side(name, one.run.environment, one.every) for name, one in zip(names(readings), readings, strict=True)]
    found = judged([compare(sides[0], other, across=ACROSS) for other in sides[1:]])
    return [piece for one in found for piece in _comparison(one)]


def _comparison(one: Comparison) -> list[Piece]:
    pieces: list[Piece] = ["  \n".join(heading(one))]
    for table in tables(one):
        more = len(table.rows) - MOST_LINES
        notes = (*table.notes, *((f"{more} more: `lab compare` prints them.",) if more > 0 else ()))
        pieces.append(Table(table.title, table.header, table.rows[:MOST_LINES], notes, table.left))
    return pieces
