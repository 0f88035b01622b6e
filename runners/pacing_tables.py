"""The tables of runners/pacing.py: results as they came from the workers, put into rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from lab.rank import P50, P99, P999, least_n, nearest_rank
from lab.table import Table
from lab.units import format_bytes, format_count, format_ns
from queues.conformance import Outcome
from runners.pacing_ticker import BARE, BARE_ASYNCIO
from runners.promises import SAID

LEFT = frozenset({"subject", "work", "call", "workers are", "promise"})
NOT_GIVEN = "–"
TOO_SMALL = "n too small"

Result = Mapping[str, Any]


def quantile(samples: Sequence[int], q: Fraction) -> int:
    """Return the `q` quantile by nearest rank.

    >>> quantile([30, 10, 20], P50)
    20
    """
    return sorted(samples)[nearest_rank(len(samples), q) - 1]


def told(samples: Sequence[int], q: Fraction) -> str:
    """Return a percentile for a cell, or that there are too few samples for it."""
    return format_ns(quantile(samples, q)) if len(samples) >= least_n(q) else TOO_SMALL


def reason(result: Result) -> str:
    """Return why there is no figure, for the notes."""
    which = " ".join(str(result[name]) for name in ("subject", "work", "operation") if name in result)
    return f"{which}: {result['status']}, {result['message']}"


def split(results: Sequence[Result], kind: str) -> tuple[list[Result], tuple[str, ...]]:
    """Return the results of a kind that have figures, and a note for each that has none."""
    chosen = [result for result in results if result["kind"] == kind]
    notes = tuple(reason(result) for result in chosen if result["status"] != "ok")
    return [result for result in chosen if result["status"] == "ok"], notes


def ticker_table(results: Sequence[Result]) -> Table:
    """Return phase error, drift, drops and cost of the tickers, and each p99 against that of the bare sleep."""
    fine, notes = split(results, "ticker")
    rows = tuple(
        (
            f"{result['work']:.0%}",
            result["subject"],
            *(told(result["phase_ns"], q) for q in (P50, P99, P999)),
            format_ns(max(result["phase_ns"])),
            _against_bare(result, fine),
            format_ns(result["drift_ns"]),
            format_count(result["dropped"]),
            format_ns(round(result["cpu_ns_per_tick"])),
        )
        for result in fine
    )
    header = ("work", "subject", "p50", "p99", "p99.9", "max", "p99 / bare", "drift", "dropped", "CPU a tick")
    some = next((f"{result['ticks']:,} ticks of {result['interval'] * 1000:g} ms. " for result in fine), "")
    about = (
        f"{some}Phase error: how long after its instant on the grid a tick came to its consumer,",
        "who works that part of the interval; a loop without a grid is held against the one that it began with.",
        "Drift: how far the last tick is behind that. CPU: of the process, without the work.",
        "bare: one time.sleep (for asyncio: asyncio.sleep) to the same instant; not for who is late anyway.",
    )
    return Table("Ticker: ticks against the grid", header, rows, (*about, *notes), LEFT)


def _against_bare(result: Result, results: Sequence[Result]) -> str:
    """Return the p99 of the phase error as a multiple of that of the yardstick of its kind."""
    wanted = BARE_ASYNCIO if result["awaited"] else BARE
    bare = next((one for one in results if one["subject"] == wanted and one["work"] == result["work"]), None)
    if bare is None or result["work"] >= 1 or len(result["phase_ns"]) < least_n(P99):
        return NOT_GIVEN
    return f"{quantile(result['phase_ns'], P99) / max(1, quantile(bare['phase_ns'], P99)):.2f}"


def calls_table(results: Sequence[Result]) -> Table:
    """Return what each call of a limiter costs where nobody waits."""
    fine, notes = split(results, "calls")
    rows = tuple(
        (
            result["operation"],
            result["subject"],
            *(told(result["call_ns"], q) for q in (P50, P99)),
            format_ns(max(result["call_ns"])),
            told(result["null_ns"], P50),
            format_ns(max(0, quantile(result["call_ns"], P50) - quantile(result["null_ns"], P50))),
        )
        for result in fine
    )
    about = ("On the thread's clock, each call on its own. null: a call that does nothing; net: p50 less that.",)
    header = ("call", "subject", "p50", "p99", "max", "null p50", "net p50")
    return Table("Limiter: every call, nobody waiting", header, rows, (*about, *notes), LEFT)


def waiters_table(results: Sequence[Result]) -> Table:
    """Return how a limiter does with many that wait."""
    fine, notes = split(results, "waiters")
    rows = tuple(
        (
            result["subject"],
            f"{result['rate_reached']:,.1f}",
            f"{result['of_rate']:.3%}",
            *(told(result["late_ns"], q) for q in (P50, P99)),
            format_ns(max(result["late_ns"])),
            format_count(result["out_of_order"]),
            f"{result['wakes_per_grant']:.2f}",
        )
        for result in fine
    )
    some = next(
        (
            f"{result['waiters']:,} waiters take {result['each']} permits each at {result['rate']:,} a second, burst "
            f"{result['burst']}. "
            for result in fine
        ),
        "",
    )
    about = (
        f"{some}The first round is left out.",
        "Late: against the rate, counted from the grant that came earliest for its number.",
        "Out of order: seen by its waiter after a later one.",
        "Wakes: waits that ended (those of the filling thread too), or steps of a task.",
    )
    header = ("subject", "rate", "of the rate set", "late p50", "late p99", "late max", "out of order", "wakes a grant")
    return Table("Limiter: many waiting", header, rows, (*about, *notes), LEFT)


def cooperative_table(results: Sequence[Result]) -> Table:
    """Return what the fixed plan costs in green threads, threads and tasks."""
    fine, notes = split(results, "cooperative")
    rows = tuple(
        (
            result["subject"],
            format_count(result["workers"]),
            format_bytes(round(result["bytes_per_worker"])),
            *(told(result["late_ns"], q) for q in (P50, P99)),
            format_ns(max(result["late_ns"])),
            format_ns(result["wall_ns"]),
            format_ns(result["plan_ns"]),
        )
        for result in fine
    )
    about = ["Blocking code, unchanged in green threads; written again for asyncio. Plan: the least it can take."]
    for result in fine:
        if "bound_early" in result:
            names = ", ".join(result["bound_early"]) or "nothing"
            about.append(f"Bound to the real sleep before it was replaced: {names}.")
            about.append(f"A sleep of 20 ms after 200 ms of work took {format_ns(result['slept_after_burning_ns'])}.")
    header = ("workers are", "workers", "memory each", "late p50", "late p99", "late max", "wall time", "plan")
    return Table("Cooperative sleep: one plan in many workers", header, rows, (*about, *notes), LEFT)


def promise_table(family: str, verdicts: Mapping[str, Sequence[Outcome]]) -> Table:
    """Return one row a promise and one column a subject, and below for each that breaks the bound, on which input."""
    names = [outcome.promise for outcome in next(iter(verdicts.values()))]
    found = {name: {one.promise: one for one in outcomes} for name, outcomes in verdicts.items()}
    rows = tuple((promise, *(SAID[found[name][promise].verdict] for name in verdicts)) for promise in names)
    notes = [
        f"{name} breaks {promise}: {found[name][promise].detail}"
        for promise in ("bound", "lateness-does-not-add-up")
        for name in verdicts
        if promise in names and found[name][promise].verdict == "broken"
    ]
    header = ("promise", *verdicts)
    return Table(f"Promises of a {family}", header, rows, ("–: not offered.", *notes), frozenset(header))


MEASURE: dict[str, Callable[[Result], float]] = {
    "ticker": lambda result: quantile(result["phase_ns"], P99),
    "calls": lambda result: quantile(result["call_ns"], P50),
    "waiters": lambda result: quantile(result["late_ns"], P99),
    "cooperative": lambda result: float(result["wall_ns"]),
}
"""What the executions of one case are put in order by."""


def medians(results: Sequence[Result]) -> list[Result]:
    """Return one result for each case: of several executions the middle one; of those without figures the first.

    >>> rows = [{"kind": "cooperative", "subject": "green", "status": "ok", "wall_ns": wall} for wall in (3, 1, 2)]
    >>> [row["wall_ns"] for row in medians(rows)]
    [2]
    """
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        case = tuple(result.get(name) for name in ("kind", "subject", "work", "operation"))
        groups.setdefault(case, []).append(result)
    found = []
    for group in groups.values():
        fine = sorted((one for one in group if one["status"] == "ok"), key=MEASURE[group[0]["kind"]])
        found.append(fine[(len(fine) - 1) // 2] if fine else group[0])
    return found


TABLES = {
    "ticker": ticker_table,
    "calls": calls_table,
    "waiters": waiters_table,
    "cooperative": cooperative_table,
}
