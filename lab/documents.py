"""The tables of the documents, out of a run: ours row by row, the Perl figure beside it.

The row shown for a case is the execution with the median worst call, as in the documents; the range of the worst calls
over the processes stands behind it. A percentile that has too few samples says so instead of a number.
The module is longer than 300 lines because the tables, a function each, share how they choose and write a figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from lab.case import parse_parameters, subject_of
from lab.reference import PERL, Reference, perl
from lab.sample import P50, P99, P999, least_n, median_worst, slope
from lab.table import Table
from lab.units import format_bytes, format_count, format_ns, in_microseconds

Row = Mapping[str, Any]

NO_FIGURE = "–"
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
        lambda: _life(good),
        lambda: _free(good, reference),
        lambda: _memory(good, reference),
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


def _p50(row: Row) -> str:
    """The raw p50, with the net figure beside it where the clock's own cost is much of it."""
    if row["timer_bound"]:
        return f"{format_ns(row['p50_ns'])} (net {format_ns(max(0, row['net_p50_ns']))})"
    return format_ns(row["p50_ns"])


def _percentile(row: Row, q: Fraction, column: str) -> str:
    return format_ns(row[column]) if row["n"] >= least_n(q) else "n too small"


def _null(good: Sequence[Row]) -> Table:
    rows = []
    for identity, found in _groups(good, "latency", "null-loop").items():
        shown = median_worst(found)
        rows.append(
            (
                identity[4],
                identity[5],
                format_ns(shown["bare_p50_ns"]),
                format_ns(shown["p50_ns"]),
                _percentile(shown, P99, "p99_ns"),
                _percentile(shown, P999, "p999_ns"),
                _worst_range(found),
                "500 ns",
            )
        )
    header = ("clock", "collector", "two clock reads p50", "null call p50", "p99", "p99.9", "max (range)", "Perl p50")
    return Table("The instrument: what a call that does nothing is measured as", header, tuple(rows), left=LEFT)


def _worst_range(rows: Sequence[Row]) -> str:
    values = sorted(row["max_ns"] for row in rows)
    shown = median_worst(rows)["max_ns"]
    if len(values) == 1:
        return format_ns(shown)
    return f"{format_ns(shown)} ({in_microseconds(values[0], 1)} .. {in_microseconds(values[-1], 1)})"


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
                _p50(median_worst(found)),
                _p50(median_worst(requeue)),
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
    return Table("The cycle: take, then put everything back", header, tuple(rows), (note,), LEFT)


def _unused(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "latency", "requeue-unused").items():
        subject, _, params = identity[:3]
        sizes = parameters(params)
        names = (str(sizes["queued"]), str(sizes["due"]), str(sizes["unused"]))
        in_perl = perl(reference, "requeue_unused", subject, "requeue", *names, statistic="best_of_3")
        rows.append(
            (
                format_count(sizes["unused"]),
                subject,
                _p50(median_worst(found)),
                _worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("unused", "subject", "requeue p50", "max (range, µs)", "Perl")
    return Table("Requeue of the unused part of a batch", header, tuple(rows), left=LEFT)


_PRIMITIVES = {
    ("linked", "detach"): ("detach(count)", "detach_count"),
    ("linked", "reattach"): ("append_to(cursor)", "append_to"),
    ("linked-known-tail", "detach"): ("detach_through(stop)", "detach_through"),
    ("linked-known-tail", "reattach"): ("append_to(cursor, known_tail)", "append_to_known_tail"),
}


def _reattach(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "latency", "reattach").items():
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
                _p50(median_worst(found)),
                _worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("part", "subject", "operation", "p50", "max (range, µs)", "Perl")
    return Table("Reattach: the list's own calls, as they are and as proposed", header, tuple(rows), left=LEFT)


_LATENCY = ("growth", "steady-enqueue", "steady-dispatch", "window-cycle")
_STATISTICS = ("mean", "p50", "p99", "p99.9", "max")


def _latency(good: Sequence[Row], structural: Mapping[tuple[Any, ...], Row], reference: Reference) -> Table:
    rows: list[tuple[str, ...]] = []
    for identity, found in _groups(good, "latency", *_LATENCY).items():
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
    notes = (
        "structural worst: the largest, over the calls, of the smallest time that call took in any process.",
        f"n too small: p50 needs {least_n(P50)} calls, p99 {least_n(P99)}, p99.9 {format_count(least_n(P999))}.",
    )
    return Table("Every call on its own", header, tuple(rows), notes, LEFT)


def _figures(found: Sequence[Row], worst: Row | None) -> tuple[str, ...]:
    """Mean, p50, p99, p99.9 and max of the execution shown, then the structural worst call and its index."""
    shown = median_worst(found)
    structural = NO_FIGURE
    if worst:
        structural = f"{format_ns(worst['structural_worst_ns'])} @ {format_count(worst['structural_worst_index'])}"
    return (
        format_ns(shown["mean_ns"]),
        _p50(shown),
        _percentile(shown, P99, "p99_ns"),
        _percentile(shown, P999, "p999_ns"),
        _worst_range(found),
        structural,
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
    """The whole life of a message under each pattern of starts, and its dispatch alone, beside the array's."""
    workloads = tuple(dict.fromkeys(row["workload"] for row in good if row["kind"] == "batched"))
    grouped = _groups(good, "batched", *sorted(workloads))
    middle = {identity[:3]: median(row["p50_ns"] for row in found) for identity, found in grouped.items()}
    rows = []
    for identity, found in grouped.items():
        subject, workload, params = identity[:3]
        yardstick = middle.get(("array", workload, params))
        ratio = NO_FIGURE if yardstick is None else f"{middle[identity[:3]] / yardstick:.2f}"
        case = f"{workload.removeprefix('life-').replace('-', ' ')}, {_said(params)}"
        rows.append((case, subject, _over_processes(found, "p50_ns"), ratio))
    header = ("case", "subject", "a message, p50 (range of processes, µs)", "÷ array")
    note = "life: enqueue, take, process, a tenth put back, until all are dispatched. process: the dispatch alone."
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
                _worst_range(found),
                _perl_us(in_perl),
            )
        )
    header = ("what", "messages", "subject", "longest call (range, µs)", "Perl")
    return Table("Letting go of a queue", header, tuple(rows), left=LEFT)


def _memory(good: Sequence[Row], reference: Reference) -> Table:
    rows = []
    for identity, found in _groups(good, "memory", "resident", "drained").items():
        subject, workload, params = identity[:3]
        sizes = parameters(params)
        if workload == "resident":
            values = sorted(
                slope(zip(row["points_messages"], row["points_rss_bytes"], strict=True))
                for row in found
                if row["points_messages"]
            )
            if not values:
                continue
            what = f"resident, a message (slope to {format_count(sizes['messages'])})"
            ours = f"{median(values):.0f} B ({values[0]:.0f} .. {values[-1]:.0f})"
            in_perl = perl(reference, "memory", subject, "resident", str(sizes["messages"]), statistic="per_message")
        else:
            sized = sorted(row["container_bytes"] for row in found if row["container_bytes"] is not None)
            if not sized:
                continue
            what = f"container, {format_count(sizes['messages'])} drained to {sizes['left']}"
            ours = format_bytes(median(sized))
            in_perl = perl(reference, "memory_drained", subject, "container", str(sizes["left"]), statistic="shallow")
        rows.append((what, subject, ours, NO_FIGURE if in_perl is None else format_bytes(in_perl)))
    return Table("Memory", ("what", "subject", "ours", "Perl"), tuple(rows), left=LEFT)


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
