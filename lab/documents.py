"""The tables of the documents, out of a run: ours row by row, the Perl figure beside it.

The row shown for a case is the execution with the median worst call, as in the documents; the range of the worst calls
over the processes stands behind it. A percentile that has too few samples says so instead of a number.
The module is longer than 300 lines because the tables, a function each, share how they choose and write a figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.arms import arms, arms_table
from lab.case import parse_parameters, subject_of
from lab.cells import NO_FIGURE, interval_notes, p50_cell, percentile_cell, structural_cell, worst_range
from lab.memory import memory_table
from lab.reference import PERL, Reference, perl
from lab.sample import P50, P99, P999, median_worst
from lab.table import Table
from lab.units import format_count, format_ns, in_microseconds

Row = Mapping[str, Any]

LEFT = frozenset({"order", "subject", "operation", "case", "method", "what", "why"})


def tables(
    rows: Iterable[Row], worst: Iterable[Row], reference: Reference, subjects: Sequence[str] = ()
) -> list[Table]:
    """Return every table that the run has a figure for, in the documents' order, then what has no figure and why.

    `rows` are those of executions.parquet, `worst` those of cases.parquet (the structural worst calls). `subjects`
    says in which order subjects stand within a table; others follow by name.
    """
    rank = {subject: f"{number:03}" for number, subject in enumerate(subjects)}
    everything = sorted(rows, key=lambda row: rank.get(row["subject"], f"~{row['subject']}"))
    good = [row for row in everything if row["status"] == "ok"]
    structural = {_identity(row): row for row in worst if row["structural_worst_ns"] is not None}
    makers: tuple[Callable[[], Table], ...] = (
        lambda: _null(good),
        lambda: _enqueue(good, reference),
        lambda: _cycle(good, reference),
        lambda: _unused(good, reference),
        lambda: _reattach(good, reference),
        lambda: _latency(good, structural, reference),
        lambda: arms_table(arms(good), _said),
        lambda: _life(good),
        lambda: _free(good, reference),
        lambda: memory_table(_groups(good, "memory", "resident", "baseline", "drained"), reference),
        lambda: _complexity(good, reference),
        lambda: _missing(everything),
    )
    return [table for table in (make() for make in makers) if table.rows]


def _identity(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("subject", "workload", "params", "kind", "clock", "gc", "operation"))


def _groups(rows: Iterable[Row], kind: str, *workloads: str) -> dict[tuple[Any, ...], list[Row]]:
    """Group the rows of one kind by case and operation, in order of size first and subject last."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == kind and row["workload"] in workloads:
            found[_identity(row)].append(row)
    ordered = sorted(found, key=lambda identity: (workloads.index(identity[1]), *_sizes(identity[2])))
    return {identity: found[identity] for identity in ordered}


def _sizes(params: str) -> tuple[int, ...]:
    values = parameters(params)
    return tuple(-values.get(name, 0) if name == "queued" else values.get(name, 0) for name in _SIZE_ORDER)


_SIZE_ORDER = ("queued", "messages", "due", "unused", "part", "left", "limit")


def parameters(text: str) -> dict[str, int]:
    """Return the whole-number parameters behind the text of the column `params`.

    >>> parameters("due=10,queued=200")
    {'due': 10, 'queued': 200}
    """
    return {name: value for name, value in parse_parameters(text) if isinstance(value, int)}


def _perl_us(value: float | None) -> str:
    return NO_FIGURE if value is None else format_ns(value * 1000)


def _over_processes(rows: Sequence[Row], column: str) -> str:
    """The median over the processes, and the range behind it where there are several."""
    values = sorted(row[column] for row in rows)
    if len(values) == 1:
        return format_ns(values[0])
    return f"{format_ns(median(values))} ({in_microseconds(values[0])} .. {in_microseconds(values[-1])})"


def _null(good: Sequence[Row]) -> Table:
    rows = []
    grouped = _groups(good, "latency", "null-loop")
    for identity, found in grouped.items():
        shown = median_worst(found)
        steps = [row["clock_step_ns"] for row in found if row["clock_step_ns"] is not None]
        rows.append(
            (
                identity[4],
                identity[5],
                format_ns(min(steps)) if steps else NO_FIGURE,
                format_ns(shown["bare_p50_ns"]),
                percentile_cell(found, shown, P50),
                percentile_cell(found, shown, P99),
                percentile_cell(found, shown, P999),
                worst_range(found),
                "500 ns",
            )
        )
    header = (
        "clock",
        "collector",
        "its step",
        "two clock reads p50",
        "null call p50",
        "p99",
        "p99.9",
        "max (range, µs)",
        "Perl p50",
    )
    title = "The instrument: what a call that does nothing is measured as"
    return Table(title, header, tuple(rows), interval_notes(grouped.values()), LEFT)


def _enqueue(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "cost", "enqueue-in-order", "enqueue-out-of-order").items():
        subject, workload, params = identity[:3]
        messages = parameters(params)["messages"]
        order = workload.removeprefix("enqueue-").replace("-", " ")
        in_perl = perl(reference, workload.replace("-", "_"), subject, "enqueue", str(messages), statistic="mean")
        rows.append((order, format_count(messages), subject, _over_processes(found, "mean_ns"), _perl_us(in_perl)))
    header = ("order", "messages", "subject", "a message, mean (range of processes, µs)", "Perl")
    return Table("Enqueue", header, tuple(rows), left=LEFT)


def _cycle(good: Sequence[Row], reference: Reference) -> Table:
    pairs = {identity[:3]: found for identity, found in _groups(good, "cost", "cycle").items()}
    timed = _groups(good, "latency", "cycle")
    rows = []
    for identity, found in timed.items():
        subject, _, params = identity[:3]
        if identity[6] != "take":
            continue
        requeue = timed[(*identity[:6], "requeue")]
        sizes = parameters(params)
        text_sizes = (str(sizes["queued"]), str(sizes["due"]))
        in_perl = [
            perl(reference, "cycle", subject, operation, *text_sizes, statistic="best_of_3")
            for operation in ("take", "requeue")
        ]
        total = pairs.get((subject, "cycle", f"due={sizes['due']},queued={sizes['queued']}"))
        rows.append(
            (
                format_count(sizes["queued"]),
                format_count(sizes["due"]),
                subject,
                p50_cell(found),
                p50_cell(requeue),
                _over_processes(total, "mean_ns") if total else NO_FIGURE,
                *map(_perl_us, in_perl),
            )
        )
    header = (
        "queued behind",
        "due",
        "subject",
        "take p50",
        "requeue p50",
        "both, mean (range, µs)",
        "Perl take",
        "Perl requeue",
    )
    note = "p50: of the execution with the median worst call. both: pyperf, over the pair. Perl: best of 3."
    notes = (note, *interval_notes(timed.values()))
    return Table("The cycle: take, then put everything back", header, tuple(rows), notes, LEFT)


def _unused(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    grouped = _groups(good, "latency", "requeue-unused")
    for identity, found in grouped.items():
        subject, _, params = identity[:3]
        sizes = parameters(params)
        names = (str(sizes["queued"]), str(sizes["due"]), str(sizes["unused"]))
        in_perl = perl(reference, "requeue_unused", subject, "requeue", *names, statistic="best_of_3")
        rows.append(
            (
                format_count(sizes["unused"]),
                subject,
                p50_cell(found),
                worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("unused", "subject", "requeue p50", "max (range, µs)", "Perl")
    return Table("Requeue of the unused part of a batch", header, tuple(rows), interval_notes(grouped.values()), LEFT)


_PRIMITIVES = {
    ("linked", "detach"): ("detach(count)", "detach_count"),
    ("linked", "reattach"): ("append_to(cursor)", "append_to"),
    ("linked-known-tail", "detach"): ("detach_through(stop)", "detach_through"),
    ("linked-known-tail", "reattach"): ("append_to(cursor, known_tail)", "append_to_known_tail"),
}


def _reattach(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    grouped = _groups(good, "latency", "reattach")
    for identity, found in grouped.items():
        subject, params, operation = identity[0], identity[2], identity[6]
        sizes = parameters(params)
        name, perl_name = _PRIMITIVES.get((subject, operation), (operation, operation))
        # The Perl study timed these on its list of 200,000 at every size of ours.
        names = ("200000", str(sizes["part"]))
        in_perl = perl(reference, "reattach", subject, perl_name, *names, statistic="mean")
        rows.append(
            (
                format_count(sizes["part"]),
                subject,
                name,
                p50_cell(found),
                worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("part", "subject", "operation", "p50", "max (range, µs)", "Perl")
    title = "Reattach: the list's own calls, as they are and as proposed"
    return Table(title, header, tuple(rows), interval_notes(grouped.values()), LEFT)


_LATENCY = ("growth", "steady-enqueue", "steady-dispatch", "window-cycle")
_STATISTICS = ("mean", "p50", "p99", "p99.9", "max")


def _latency(good: Sequence[Row], structural: Mapping[tuple[Any, ...], Row], reference: Reference) -> Table:
    rows: list[tuple[str, ...]] = []
    grouped = _groups(good, "latency", *_LATENCY)
    for identity, found in grouped.items():
        subject, workload, params, operation = identity[0], identity[1], identity[2], identity[6]
        case = f"{workload}, {_said(params)}"
        rows.append((case, operation, subject, *_figures(found, structural.get(identity))))
        in_perl = _perl_latency(reference, workload, subject, operation, parameters(params))
        if in_perl:
            rows.append((case, operation, f"  Perl {PERL[subject]}", *in_perl, NO_FIGURE))
    header = (
        "case",
        "operation",
        "subject",
        "mean",
        "p50",
        "p99",
        "p99.9",
        "max (range, µs)",
        "structural worst @ call",
    )
    worst_note = (
        "structural worst: the largest, over the calls, of the smallest time that call took in any process, "
        "and what happened in it (gc2: a collection of generation 2)."
    )
    notes = (worst_note, *interval_notes(grouped.values()))
    return Table("Every call on its own", header, tuple(rows), notes, LEFT)


def _figures(found: Sequence[Row], worst: Row | None) -> tuple[str, ...]:
    """Mean, p50, p99, p99.9 and max of the execution shown, then the structural worst call and its index."""
    shown = median_worst(found)
    return (
        format_ns(shown["mean_ns"]),
        p50_cell(found),
        percentile_cell(found, shown, P99),
        percentile_cell(found, shown, P999),
        worst_range(found),
        structural_cell(worst),
    )


def _said(params: str) -> str:
    values = parameters(params)
    return ", ".join(f"{format_count(values[name])} {name}" for name in _SIZE_ORDER if name in values)


def _perl_latency(
    reference: Reference, workload: str, subject: str, operation: str, sizes: Mapping[str, int]
) -> tuple[str, ...] | None:
    """The five statistics of the Perl row and the range of its worst runs, or None where it has no such row."""
    behind = str(sizes.get("queued", sizes.get("messages", "")))
    due = {"steady-dispatch": "1", "window-cycle": str(sizes.get("due", ""))}.get(workload, "")
    unused = due if workload == "window-cycle" else ""
    table = f"latency_{workload.replace('-', '_')}"
    found = {
        name: perl(reference, table, subject, operation, behind, due, unused, statistic=name)
        for name in (*_STATISTICS, "max_lowest_run", "max_highest_run")
    }
    if found["mean"] is None:
        return None
    lowest, highest = found["max_lowest_run"], found["max_highest_run"]
    span = "" if lowest is None or highest is None else f" ({lowest:g} .. {highest:g})"
    return (*(_perl_us(found[name]) for name in _STATISTICS[:-1]), _perl_us(found["max"]) + span)


def _life(good: Sequence[Row]) -> Table:
    """The whole life of a message under each pattern of starts, and parts of it alone, beside the array's."""
    batched = {row["workload"] for row in good if row["kind"] == "batched"}
    shown = sorted(name for name in batched if name.startswith(("life-", "process", "enqueue-at-random")))
    grouped = _groups(good, "batched", *shown)
    middle = {identity[:3]: median(row["p50_ns"] for row in found) for identity, found in grouped.items()}
    rows = []
    for identity, found in grouped.items():
        subject, workload, params = identity[:3]
        yardstick = middle.get(("array", workload, params))
        ratio = NO_FIGURE if yardstick is None else f"{middle[identity[:3]] / yardstick:.2f}"
        case = f"{workload.removeprefix('life-').replace('-', ' ')}, {_said(params)}"
        rows.append((case, subject, _over_processes(found, "p50_ns"), ratio))
    header = ("case", "subject", "a message, p50 (range of processes, µs)", "÷ array")
    note = (
        "life: enqueue, take, process, a tenth put back, until all are dispatched. process: the dispatch alone. "
        "enqueue at random: into a long queue, at seeded random places."
    )
    return Table("The life of a message", header, tuple(rows), (note,), LEFT)


def _free(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "latency", "free", "free-in-batches").items():
        subject, workload, params = identity[:3]
        sizes = parameters(params)
        at_once = workload == "free"
        in_perl = perl(reference, "free", subject, "free", str(sizes["messages"]), statistic="max") if at_once else None
        rows.append(
            (
                "at once" if at_once else f"in batches of {format_count(sizes['limit'])}",
                format_count(sizes["messages"]),
                subject,
                worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("what", "messages", "subject", "longest call (range, µs)", "Perl")
    return Table("Letting go of a queue", header, tuple(rows), left=LEFT)


_METHODS = ("enqueue", "_insert", "take", "process", "requeue", "_merge", "cancel")
"""The methods that do the work; how a queue is looked at says little about it."""

_METHOD_IN_PERL = {"take": "take", "requeue": "requeue", "_insert": "insert"}


def _complexity(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "complexity", "complexity").items():
        subject, method = identity[0], identity[6]
        if method not in _METHODS:
            continue
        row = found[0]
        perl_method = _METHOD_IN_PERL.get(method, "")
        in_perl = [
            perl(reference, "complexity", subject, perl_method, statistic=name)
            for name in ("statements", "branches", "index_operations")
        ]
        beside = NO_FIGURE if in_perl[0] is None else " · ".join(f"{value:g}" for value in in_perl if value is not None)
        rows.append(
            (subject, method, *(str(row[name]) for name in ("statements", "branches", "index_operations")), beside)
        )
    header = ("subject", "method", "statements", "branches", "index operations", "Perl (the same three)")
    note = "The class's own methods; what they call in the batch or in functions of the module is not counted."
    return Table("Code", header, tuple(rows), (note,), LEFT)


def _missing(everything: Sequence[Row]) -> Table:
    """What was planned and has no figure: one line a case, with the reason and how many processes ended so."""
    found: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for row in everything:
        if row["status"] != "ok":
            subject = row["subject"] or subject_of(row["target"])
            key = (row["kind"], row["workload"], row["params"], subject)
            found[key].append(f"{row['status']}: {row['message']}".splitlines()[0])
    rows = [
        (f"{kind} {workload}", params or NO_FIGURE, subject, str(len(why)), why[0])
        for (kind, workload, params, subject), why in sorted(found.items())
    ]
    return Table(
        "No figure", ("case", "parameters", "subject", "processes", "why"), tuple(rows), left=LEFT | {"parameters"}
    )
