"""Rows of advisory schedulers, tickers, limiters and crowds for the tests of tables and claims; nothing is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import archive
from lab.case import Case, Execution, execution_of
from lab.record import case_of, execution_columns
from tests.lab.replays import MACHINE, SEED, Row, rows_of, spread

REAL: dict[str, Any] = {"clock": "wall"}
TICKS: dict[str, Any] = {"ticks": 3_700, "interval_us": 500, "work_percent": 20}
WAITERS: dict[str, Any] = {"waiters": 1_000, "each": 8, "rate": 5_000, "burst": 100}
PLAN: dict[str, Any] = {"workers": 10_000, "ticks": 3, "interval_us": 500_000, "rate": 20_000, "burst": 100}
CALLS = {
    "sorted-each-call": {100: 30_000, 1_000: 300_000, 100_000: 60_000_000},
    "heap": {100: 2_000, 1_000: 2_100, 100_000: 4_000},
}


def timed(case: Case, operation: str, value: float, *, n: int = 3_700, processes: int = 5, **columns: Any) -> list[Row]:
    """Rows of one case whose samples are about `value` ns, one a process."""
    made = rows_of({(case, operation): spread(value, processes=processes)}, **columns)
    null = {"null_p50_ns": 700.0, "n": n} if case.kind == "latency" else {"n": n, "timer_bound": None}
    return [{**row, **null, "net_p50_ns": row["p50_ns"] - 700.0} for row in made]


def found(
    case: Case, figures: Mapping[str, float], facts: Sequence[str] = (), *, value: float = 0, **columns: Any
) -> list[Row]:
    """Rows of one case with figures, and samples about `value` ns where it is given."""
    operation = {"ticks": "phase", "waiters": "late", "plan": "late"}.get(case.workload, case.workload)
    rows = timed(case, operation, value or 1.0, **columns)
    named = {"figure_names": list(figures), "figure_values": [float(one) for one in figures.values()]}
    if not value:
        times = ("n", "warmup", "mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "net_p50_ns")
        rows = [{**row, **dict.fromkeys(times)} for row in rows]
    return [{**row, **named, "facts": list(facts) or None} for row in rows]


def schedules() -> list[Row]:
    """Of advisory schedulers: next_job and spread, jobs that meet, drift."""
    rows = []
    for subject, by_jobs in CALLS.items():
        for jobs, value in by_jobs.items():
            calls = 4_000 if subject == "heap" else max(30, 3_000_000 // jobs)
            case = Case.of("latency", "advisory", subject, "next-job", jobs=jobs, calls=calls)
            rows += timed(case, "next_job", value, n=calls - calls // 10)
        case = Case.of("latency", "advisory", subject, "spread", jobs=100, calls=450)
        rows += timed(case, "spread", 130_000, n=405)
        figures = {"due_at_once_before_jobs": 100, "due_at_once_after_jobs": 1}
        figures |= {"in_an_hour_before_jobs": 100, "in_an_hour_after_jobs": 2}
        rows += found(Case.of("lateness", "advisory", subject, "meeting", jobs=100, **REAL), figures)
        for caller, drift in (("waits-as-advised", 0.0), ("asks-late", 999e9)):
            params: dict[str, Any] = {"caller": caller, "period_ms": 10_000, "runs": 1_000}
            case = Case.of("lateness", "advisory", subject, "cadence", **params, **REAL)
            rows += found(case, {"drift_ns": drift, "drift_a_run_ns": drift / 999})
    return rows


def ticks(subject: str, p50_ns: float, *, work: int = 20, form: str = "blocking", **figures: float) -> list[Row]:
    """Of one ticker."""
    case = Case.of("lateness", "ticker", subject, "ticks", **{**TICKS, "work_percent": work}, **REAL)
    whole = {"drift_ns": 0.0, "off_grid_ns": 0.0001, "span_ns": 1.85e9, "dropped_ticks": 0, "cpu_ns_per_tick": 9_000}
    return found(case, {**whole, **figures}, [f"form={form}"], value=p50_ns)


def waiting(subject: str, **figures: float) -> list[Row]:
    """Of one limiter with many that wait."""
    case = Case.of("throughput", "limiter", subject, "waiters", **WAITERS, **REAL)
    whole = {
        "grants": 8_000,
        "reached_per_second": 4_999.0,
        "of_rate_ratio": 0.9998,
        "over_bound_permits": 0.0,
        "out_of_order_grants": 3,
        "fewest_grants": 7,
        "most_grants": 7,
        "wakes_per_grant": 1.01,
    }
    return found(case, {**whole, **figures}, value=400_000, n=7_000)


def pacing() -> list[Row]:
    """Of tickers, limiters and crowds."""
    rows = [*ticks("bare-sleep", 60_000), *ticks("arithmetic", 66_000), *ticks("channel", 90_000, dropped_ticks=2)]
    rows += ticks("naive-sleep", 5e8, drift_ns=160_000 * 3_699, off_grid_ns=250_000)
    rows += [*ticks("arithmetic", 300_000, work=120), *ticks("bare-asyncio-sleep", 90_000, form="awaited")]
    rows += ticks("arithmetic-asyncio", 100_000, form="awaited")
    for answer in ("granted", "refused"):
        for subject, value in (("arithmetic", 1_100), ("aiolimiter", 9_000)):
            case = Case.of("latency", "limiter", subject, "try-acquire", answer=answer, calls=10_000)
            rows += timed(case, "try_acquire", value, n=9_936)
    rows += timed(
        Case.of("latency", "limiter", "aiolimiter", "acquire-awaited", calls=10_000), "acquire", 9_500, n=9_936
    )
    rows += [*waiting("arithmetic"), *waiting("semaphore", wakes_per_grant=1.9, of_rate_ratio=0.99953)]
    rows += waiting("aiolimiter", over_bound_permits=1.5)
    plan = {"wall_ns": 2.6e9, "plan_ns": 2.495e9, "bytes_per_worker": 15_000, "most_at_once_workers": 9_800}
    green = Case.of("throughput", "cooperative", "green", "plan", **PLAN, **REAL)
    facts = ["bound_early=early.sleep", "code=blocking, unchanged"]
    rows += found(green, {**plan, "slept_after_work_ns": 20_100_000}, facts, value=3e6, n=40_000)
    tasks = Case.of("throughput", "cooperative", "asyncio", "plan", **PLAN, **REAL)
    rows += found(tasks, plan, ["code=written for asyncio"], value=4e6, n=40_000)
    return rows


def stored(root: Path, rows: Sequence[Row]) -> Path:
    """The same as a complete run in a folder."""
    grouped: dict[Execution, list[Row]] = {}
    for row in rows:
        execution = execution_of(case_of(row), row["process"], SEED)
        own = execution_columns(execution)
        kept = {name: value for name, value in row.items() if name not in own and value is not None}
        grouped.setdefault(execution, []).append(kept)
    plan = list(grouped)
    with archive.create(root, "a-machine", "full", seed=SEED, options={}, environment=MACHINE, planned=plan) as run:
        for position, (execution, members) in enumerate(grouped.items()):
            run.record(execution, [{**row, "position": position} for row in members])
        assert run.finish() == "complete"
    return run.path
