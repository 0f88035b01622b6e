"""The tables and claims of event queues: each cell and each verdict, on rows made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import claims_events, events
from lab.case import Case
from lab.claim import Judgement, Outcome
from lab.table import text
from tests.lab.replays import rows_of, spread

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "events.txt"
FLAT, STEEP = {2_005: 100_000.0, 20_005: 110_000.0}, {2_005: 500_000.0, 20_005: 5_000_000.0}
Rows = list[dict[str, Any]]


def asked(subject: str, index: str, by_rows: dict[int, float], *, processes: int = 3, **more: Any) -> Rows:
    """Rows of the workload `pending`: the forms cost alike."""
    made = []
    for count, value in by_rows.items():
        case = Case.of("latency", "events", subject, "pending", rows=count, index=index, calls=40, clock="wall")
        figures = {(case, form): spread(value, processes=processes) for form in events.FORMS}
        facts = [*(f"plan of {form}=SCAN {index}" for form in events.FORMS), "version=3.40"]
        made += rows_of(figures, facts=facts, **more)
    return made


def whole(subject: str, index: str, by_rows: dict[int, float], *, form: str = "not-in", **more: Any) -> Rows:
    """Rows of the workload `pending-unbounded`; a value of 0 stands for what was stopped."""
    made = []
    for count, value in by_rows.items():
        params: dict[str, Any] = {"rows": count, "index": index, "form": form, "calls": 7}
        case = Case.of("latency", "events", subject, "pending-unbounded", **params, clock="wall")
        if value:
            made += rows_of({(case, "pending"): spread(value, processes=3)}, **more)
        else:
            made += stopped(case)
    return made


def stopped(case: Case) -> Rows:
    """Rows of a case that did not end in its time."""
    rows = rows_of(
        {(case, ""): spread(1.0, processes=3)},
        status="timeout",
        message="did not end within 20 s",
        duration_ns=20_001_000_000,
    )
    return [{**row, **dict.fromkeys(("p50_ns", "n", "max_ns", "net_p50_ns"))} for row in rows]


def claimed(subject: str, workers: int, per_second: float, history: int = 0, processes: int = 3) -> Rows:
    """Rows of the workload `claims`."""
    params: dict[str, Any] = {"events": 400, "history": history, "workers": workers}
    case = Case.of("throughput", "events", subject, "claims", **params, clock="wall")
    figures = {
        (case, name): spread(value, processes=processes) for name, value in (("claim", 90_000), ("complete", 70_000))
    }
    named = {"figure_names": ["events_per_second", "took_ns"], "figure_values": [per_second, 4e11 / per_second]}
    return rows_of(figures, **named, facts=["fsync=on"])


def everything() -> Rows:
    return [
        *asked("sqlite", "indexed", FLAT),
        *asked("sqlite", "bare", STEEP),
        *whole("sqlite", "bare", {2_005: 1e6, 20_005: 1e8}),
        *whole("mariadb", "bare", {2_005: 1e6, 20_005: 0}),
        *claimed("sqlite", 1, 2_000),
        *claimed("sqlite", 4, 3_000),
        *claimed("sqlite", 4, 2_900, history=100_000),
    ]


def judged(rows: Rows) -> dict[str, Judgement]:
    return {one.name: one for one in claims_events.judge(rows)}


def test_the_tables_read_as_they_did() -> None:
    """When a table is to read otherwise: read events.got, then let it take the place of the text."""
    got = GOLDEN.with_suffix(".got")
    said = "\n\n".join(text(table) for table in events.tables(everything(), ["sqlite", "mariadb"]))
    got.write_text(said + "\n", encoding="utf-8")
    assert got.read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN} with {got}"
    got.unlink()


def test_a_run_without_event_queues_has_no_tables() -> None:
    other = [{**row, "family": "timer"} for row in everything()]
    assert events.tables(other) == []


def test_what_could_not_be_measured_says_why() -> None:
    rows = asked("mariadb", "indexed", FLAT, status="not-offered", message="MariaDB is not installed")
    (table,) = [one for one in events.tables(rows) if one.title == "Events: no figure"]
    assert {row[1:] for row in table.rows} == {("not-offered", "MariaDB is not installed")}


def test_what_was_stopped_is_explained_by_the_plan_that_it_was_stopped_at() -> None:
    rows = whole("sqlite", "bare", {2_005: 1e6, 20_005: 0}, facts=["plan of not-in=SEARCH"])
    for row in rows:
        if row["status"] == "timeout":
            row["message"] = "did not end within 20 s and was stopped at 'SCAN e; SCAN d'"
    key = ("sqlite", "bare", "not-in")
    assert events.plans(rows, events.UNBOUNDED) == {key: "SCAN e; SCAN d"}
    again = [{**row, "message": f"not tried again: {row['message']}"} for row in rows if row["status"] == "timeout"]
    assert events.plans(again, events.UNBOUNDED) == {key: "SCAN e; SCAN d"}
    wordless = stopped(Case.of("latency", "events", "sqlite", "pending", rows=5, index="bare"))
    assert events.plans(wordless, events.BOUNDED) == {}


def test_growth_is_told_as_a_slope_too() -> None:
    (line, *_) = judged(asked("sqlite", "bare", {2_005: 1e5, 200_500: 1e7}))["unindexed-grows"].lines
    assert line.said.endswith("100.00 times, slope 1.00")
    assert line.figures["slope"] == pytest.approx(1.0)


def test_every_claim_holds_on_rows_that_bear_it_out() -> None:
    rows = [*everything(), *asked("mariadb", "bare", {2_005: 1e6})]
    found = judged(rows)
    assert found["bounded-indexed-flat"].outcome is Outcome.HOLDS
    assert found["claims-stay"].outcome is Outcome.HOLDS
    whats = {line.what: line for line in found["unbounded-grows"].lines}
    assert whats["sqlite, bare"].outcome is Outcome.HOLDS
    assert "did not end in its time" in whats["mariadb, bare"].said


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("bounded-indexed-flat", asked("sqlite", "indexed", STEEP)),
        ("unindexed-grows", asked("sqlite", "bare", FLAT)),
        ("unbounded-grows", [*asked("sqlite", "bare", STEEP), *whole("sqlite", "bare", {2_005: 1e6, 20_005: 2e6})]),
        ("claims-stay", [*claimed("sqlite", 4, 3_000), *claimed("sqlite", 4, 300, history=100_000)]),
    ],
)
def test_a_claim_that_is_contradicted_does_not_hold(name: str, rows: Rows) -> None:
    assert judged(rows)[name].outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("bounded-indexed-flat", asked("sqlite", "indexed", FLAT, processes=2)),
        ("claims-stay", [*claimed("sqlite", 4, 3_000), *claimed("sqlite", 4, 2_900, history=100_000, processes=2)]),
    ],
)
def test_too_few_processes_cannot_tell(name: str, rows: Rows) -> None:
    assert judged(rows)[name].outcome is Outcome.INCONCLUSIVE


def test_tables_of_about_one_size_say_nothing_of_growth() -> None:
    rows = asked("sqlite", "indexed", {2_005: 1e5, 10_005: 1e5})
    assert judged(rows)["bounded-indexed-flat"].outcome is Outcome.NOT_MEASURED
