"""The pieces of the notebook about tickers, rate limiters and cooperative sleep: how late, how fair, how dear."""

from __future__ import annotations

from statistics import median
from typing import Any

from lab import pacing
from lab.case import parse_parameters
from lab.claims_pacing import judge_run
from lab.figure_tail import tails
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.table import Table
from lab.units import format_bytes, format_ns

Row = dict[str, Any]


def rows_of(reading: Reading) -> list[Row]:
    """Return the rows of tickers, limiters and crowds that are ok: one run may hold all three families."""
    return [row for row in reading.run.rows().to_pylist() if row["family"] in pacing.FAMILIES and row["status"] == "ok"]


def phase(reading: Reading, work_percent: int = 0) -> list[Piece]:
    """Return how late ticks come, as percentile curves, for a consumer who works that part of the interval."""
    rows = [
        row for row in rows_of(reading) if row["workload"] == "ticks" and _size(row, "work_percent") == work_percent
    ]
    drawn = tails(f"Phase error, work {work_percent} % of the interval", rows, "a tick")
    if not drawn:
        return [nothing(f"ticks with work of {work_percent} %")]
    ratios = {name: ratio for (work, name), ratio in pacing.p99_over_bare(rows).items() if work == work_percent}
    ours = {name: ratio for name, ratio in ratios.items() if not name.startswith("bare")}
    if not ours:
        return [*drawn]
    first, last = min(ours, key=lambda name: ours[name]), max(ours, key=lambda name: ours[name])
    said = (
        f"**Against a bare sleep of the same form, the p99 of `{first}` is {ours[first]:.2f} times as late, that of "
        f"`{last}` {ours[last]:,.2f} times.**"
    )
    return [*drawn, said]


def drift(reading: Reading) -> list[Piece]:
    """Return in a sentence who has come off the grid, and by how much."""
    found: dict[str, float] = {}
    for (_, params, _, subject), members in pacing.groups(rows_of(reading), pacing.TICKER, "ticks").items():
        value = pacing.figure(members, "drift_ns")
        if value is not None and 0 < int(dict(parse_parameters(params))["work_percent"]) < pacing.ALL:
            found[subject] = value
    if not found:
        return [nothing("the drift of a ticker whose consumer works")]
    off = {name: value for name, value in found.items() if abs(value) >= 1_000}
    fine = [f"`{name}`" for name in found if name not in off]
    said = [f"`{name}` ends {format_ns(round(value))} behind its grid" for name, value in off.items()]
    stays = [f"{', '.join(fine)} {'stays' if len(fine) == 1 else 'stay'} on it"] if fine else []
    return [f"**{'; '.join([*said, *stays])}.**"]


def ticks(reading: Reading) -> list[Piece]:
    """Return the table of tickers."""
    return _whole(pacing.ticker_table(rows_of(reading)), "tickers")


def calls(reading: Reading) -> list[Piece]:
    """Return what each call of a limiter costs where nobody waits, and whose try is cheapest."""
    rows = rows_of(reading)
    table = pacing.calls_table(rows)
    if not table.rows:
        return [nothing("calls of a limiter")]
    tried = pacing.groups(rows, pacing.LIMITER, "try-acquire")
    costs: dict[str, float] = {}
    for (_, params, _, subject), members in tried.items():
        if dict(parse_parameters(params))["answer"] == "granted":
            costs[subject] = median(row["p50_ns"] for row in members)
    ordered = sorted(costs, key=lambda name: costs[name])
    said = ", ".join(f"`{name}` {format_ns(round(costs[name]))}" for name in ordered)
    return [table, *([f"**A try that is granted costs: {said}.**"] if ordered else [])]


def waiters(reading: Reading) -> list[Piece]:
    """Return how a limiter does with many that wait, and who goes over the bound."""
    rows = rows_of(reading)
    table = pacing.waiters_table(rows)
    if not table.rows:
        return [nothing("many that wait for a limiter")]
    over = {
        subject: most
        for (_, _, _, subject), members in pacing.groups(rows, pacing.LIMITER, "waiters").items()
        if (most := pacing.figure(members, "over_bound_permits") or 0.0) > pacing.KEPT
    }
    said = ", ".join(f"`{name}` by {most:.3g} permits" for name, most in over.items())
    return [table, f"**Over the bound in some span: {said or 'nobody'}.**"]


def plan(reading: Reading) -> list[Piece]:
    """Return what one plan costs in green threads, threads and tasks, and what a worker takes."""
    rows = rows_of(reading)
    table = pacing.plan_table(rows)
    if not table.rows:
        return [nothing("the plan in many workers")]
    sizes = {
        subject: size
        for (_, _, _, subject), members in pacing.groups(rows, pacing.COOPERATIVE, "plan").items()
        if (size := pacing.figure(members, "bytes_per_worker")) is not None
    }
    said = ", ".join(
        f"{format_bytes(round(sizes[name]))} in `{name}`" for name in sorted(sizes, key=lambda n: sizes[n])
    )
    return [table, *([f"**A worker takes {said}.**"] if said else [])]


def verdicts(reading: Reading) -> list[Piece]:
    """Return the claims about tickers and limiters with the verdict of this run on each."""
    from lab import claim

    judged = judge_run(reading.run)
    return [claim.table(judged)] if judged else [nothing("tickers and limiters")]


def _whole(table: Table, what: str) -> list[Piece]:
    return [table] if table.rows else [nothing(what)]


def _size(row: Row, name: str) -> int:
    return int(dict(parse_parameters(row["params"]))[name])
