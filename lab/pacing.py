"""The tables of tickers, rate limiters and cooperative sleep, out of a run.

Pure functions from the rows of executions.parquet; rows of other families are passed over. The execution shown for a
case is the one with the median worst sample, as everywhere; figures besides times are medians over the processes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.cells import NO_FIGURE, interval_notes, p50_cell, percentile_cell, worst_spans
from lab.rank import P50, P99, P999, least_n
from lab.record import facts_of, figures_of
from lab.sample import median_worst
from lab.schedules import times
from lab.table import Table
from lab.units import format_bytes, format_count, format_ns

Row = Mapping[str, Any]
Groups = dict[tuple[str, str, str, str], list[Row]]
"""(workload, params, operation, subject) -> the rows of its executions that are ok."""

TICKER, LIMITER, COOPERATIVE = "ticker", "limiter", "cooperative"
FAMILIES = (TICKER, LIMITER, COOPERATIVE)
BARE = {"blocking": "bare-sleep", "awaited": "bare-asyncio-sleep"}
"""The form of a ticker -> the yardstick of that form."""

ALL = 100
"""Per cent of the interval: who works longer is late whatever the ticker does."""

LEFT = frozenset({"subject", "call", "answer", "workers are", "case", "end", "why", "code"})
KEPT = 1e-9
"""Permits over the bound that the rounding of floats makes."""


def tables(rows: Iterable[Row], subjects: Sequence[str] = ()) -> list[Table]:
    """Return every table that the rows have a figure for; `subjects` says in which order subjects stand. O(rows)."""
    rank = {subject: f"{number:03}" for number, subject in enumerate(subjects)}
    own = [row for row in rows if row["family"] in FAMILIES]
    ordered = sorted(own, key=lambda row: rank.get(row["subject"], f"~{row['subject']}"))
    made = (ticker_table, calls_table, waiters_table, plan_table, missing_table)
    return [table for table in (make(ordered) for make in made) if table.rows]


def groups(rows: Iterable[Row], family: str, *workloads: str) -> Groups:
    """Return the rows of a family that are ok, case by case: by workload, then size, then subject as the rows stand."""
    found: Groups = defaultdict(list)
    for row in rows:
        if row["family"] == family and row["status"] == "ok" and row["workload"] in workloads:
            found[row["workload"], row["params"], row["operation"], row["subject"]].append(row)
    sizes = {key: _in_order(key[1]) for key in found}
    return {key: found[key] for key in sorted(found, key=lambda key: (workloads.index(key[0]), sizes[key]))}


def figure(found: Sequence[Row], name: str) -> float | None:
    """Return the median of a figure over the processes that report it, or None where none does."""
    values = [figures_of(row)[name] for row in found if name in figures_of(row)]
    return median(values) if values else None


def p99_over_bare(rows: Iterable[Row]) -> dict[tuple[int, str], float]:
    """Return (work in per cent, ticker) -> the p99 of its phase error over that of a bare sleep of its form.

    Not for who is late anyway, and not where there are too few ticks for a p99. O(rows).
    """
    found = groups(rows, TICKER, "ticks")
    ratios = {}
    for (workload, params, operation, subject), members in found.items():
        work = int(dict(parse_parameters(params))["work_percent"])
        bare = found.get((workload, params, operation, BARE[facts_of(members[0]).get("form", "blocking")]))
        enough = min(row["n"] for row in (*members, *(bare or ()))) >= least_n(P99)
        if bare and enough and work < ALL:
            ratios[work, subject] = median(row["p99_ns"] for row in members) / median(row["p99_ns"] for row in bare)
    return ratios


def ticker_table(rows: Iterable[Row]) -> Table:
    """Return phase error, drift, drops and cost of the tickers, and each p99 against that of the bare sleep."""
    every = list(rows)
    found, ratios = groups(every, TICKER, "ticks"), p99_over_bare(every)
    body = []
    for (_, params, _, subject), members in found.items():
        shown = median_worst(members)
        work = int(dict(parse_parameters(params))["work_percent"])
        over = ratios.get((work, subject))
        cells = (percentile_cell(members, shown, q) for q in (P50, P99, P999))
        beside = (_ns(figure(members, "drift_ns")), _count(figure(members, "dropped_ticks")))
        ratio = NO_FIGURE if over is None else times(over)
        cpu = _ns(figure(members, "cpu_ns_per_tick"))
        body.append((f"{work} %", subject, *cells, worst_spans(members), ratio, *beside, cpu))
    header = ("work", "subject", "p50", "p99", "p99.9", "max", "p99 / bare", "drift", "dropped", "CPU a tick")
    intervals = {_size(params, "interval_us") for _, params, _, _ in found}
    notes = (
        f"An interval is {_list(intervals, 1_000)}. Phase error: how long after its instant on the grid a tick came",
        "to its consumer, who works that part of the interval; a loop without a grid is held against the one that it",
        "began with. Drift: how far the last tick is behind that grid. CPU: of the process, without the work. bare:",
        "one sleep of the same form to the same instant; not for who is late anyway.",
    )
    return Table("Ticker: ticks against the grid", header, tuple(body), _noted(found, notes), LEFT)


def calls_table(rows: Iterable[Row]) -> Table:
    """Return what each call of a limiter costs where nobody waits."""
    found = groups(rows, LIMITER, "try-acquire", "acquire", "acquire-awaited")
    body = []
    for (workload, params, _, subject), members in found.items():
        shown = median_worst(members)
        answer = str(dict(parse_parameters(params)).get("answer", "granted"))
        figures = (p50_cell(members), percentile_cell(members, shown, P99), worst_spans(members))
        null, net = format_ns(shown["null_p50_ns"]), format_ns(max(0, shown["net_p50_ns"]))
        call = {"acquire-awaited": "await acquire", "try-acquire": "try_acquire"}.get(workload, workload)
        body.append((call, answer, subject, *figures, null, net))
    header = ("call", "answer", "subject", "p50", "p99", "max", "null p50", "net p50")
    return Table("Limiter: every call, nobody waiting", header, tuple(body), _noted(found), LEFT)


def waiters_table(rows: Iterable[Row]) -> Table:
    """Return how a limiter does with many that wait."""
    found = groups(rows, LIMITER, "waiters")
    body = []
    for (_, _, _, subject), members in found.items():
        shown = median_worst(members)
        reached, of_rate = figure(members, "reached_per_second"), figure(members, "of_rate_ratio")
        rate = (f"{reached:,.1f}", f"{of_rate:.3%}".replace("%", " %"))
        late = (percentile_cell(members, shown, q) for q in (P50, P99))
        fewest, most = figure(members, "fewest_grants"), figure(members, "most_grants")
        even = f"{_count(fewest)} .. {_count(most)}"
        over = figure(members, "over_bound_permits") or 0.0
        woken = (_ratio(figure(members, name)) for name in ("wakes_per_grant", "switches_per_grant"))
        bound = "kept" if over <= KEPT else f"{over:.3g} over"
        cells = (*rate, bound, *late, worst_spans(members), even, _count(figure(members, "out_of_order_grants")))
        body.append((subject, *cells, *woken))
    rate_header = ("subject", "rate", "of the rate set", "bound", "late p50", "late p99", "late max")
    notes = _sentence(found) + (
        "Bound: over every span from when it was made. The first round is left out of all else. Late: against the",
        "rate, from the grant that was earliest for its number. Out of order: seen by its waiter after a later one.",
        "Wakes: waits that ended (those of a filling thread too), or steps of a task. Switches: times that the process",
        "waited.",
    )
    header = (*rate_header, "grants each", "out of order", "wakes a grant", "switches a grant")
    return Table("Limiter: many waiting", header, tuple(body), _noted(found, notes), LEFT)


def plan_table(rows: Iterable[Row]) -> Table:
    """Return what the fixed plan costs in green threads, threads and tasks."""
    found = groups(rows, COOPERATIVE, "plan")
    body = []
    notes = [
        "Plan: the least that it can take. At once: the most workers that had begun and not ended; memory is theirs."
    ]
    for (_, params, _, subject), members in found.items():
        shown = median_worst(members)
        size = figure(members, "bytes_per_worker")
        late = (percentile_cell(members, shown, q) for q in (P50, P99))
        spans = (_ns(figure(members, name)) for name in ("wall_ns", "plan_ns"))
        memory = NO_FIGURE if size is None else format_bytes(round(size))
        workers = format_count(_size(params, "workers"))
        facts = facts_of(members[0])
        at_once = _count(figure(members, "most_at_once_workers"))
        body.append((subject, facts["code"], workers, at_once, memory, *late, worst_spans(members), *spans))
        if "bound_early" in facts:
            notes.append(f"{subject}: bound to the real sleep before it was replaced: {facts['bound_early']}.")
        if (slept := figure(members, "slept_after_work_ns")) is not None:
            notes.append(f"{subject}: a sleep of 20 ms after 200 ms of work took {format_ns(round(slept))}.")
    header = (
        "workers are",
        "code",
        "workers",
        "at once",
        "memory each",
        "late p50",
        "late p99",
        "late max",
        "wall time",
        "plan",
    )
    return Table("Cooperative sleep: one plan in many workers", header, tuple(body), _noted(found, notes), LEFT)


def missing_table(rows: Iterable[Row]) -> Table:
    """Return which cases have no figure, and why."""
    why = {
        (row["family"], row["subject"], row["workload"], row["params"]): row for row in rows if row["status"] != "ok"
    }
    body = tuple((f"{' '.join(key[:3])}, {key[3]}", row["status"], row["message"]) for key, row in why.items())
    return Table("Pacing: no figure", ("case", "end", "why"), body, left=LEFT)


def _noted(found: Groups, notes: Sequence[str] = ()) -> tuple[str, ...]:
    return (*(notes if found else ()), *interval_notes(found.values()))


def _sentence(found: Groups) -> tuple[str, ...]:
    """Say how many wait for what."""
    said = []
    for params in dict.fromkeys(params for _, params, _, _ in found):
        sizes = {name: format_count(_size(params, name)) for name in ("waiters", "each", "rate", "burst")}
        said.append(
            f"{sizes['waiters']} waiters take {sizes['each']} permits each at {sizes['rate']} a second, burst "
            f"{sizes['burst']}."
        )
    return tuple(said)


def _list(values: Iterable[int], unit_ns: int) -> str:
    return ", ".join(format_ns(value * unit_ns) for value in sorted(values))


def _in_order(params: str) -> tuple[tuple[str, int, str], ...]:
    """Return what sizes are sorted by: name by name, numbers by their size."""
    return tuple(
        (name, value, "") if isinstance(value, int) else (name, 0, value) for name, value in parse_parameters(params)
    )


def _size(params: str, name: str) -> int:
    return int(dict(parse_parameters(params))[name])


def _ns(value: float | None) -> str:
    return NO_FIGURE if value is None else format_ns(round(value))


def _count(value: float | None) -> str:
    return NO_FIGURE if value is None else format_count(round(value))


def _ratio(value: float | None) -> str:
    return NO_FIGURE if value is None else f"{value:.2f}"
