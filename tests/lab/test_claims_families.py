"""The claims about schedulers, tickers and limiters: each holds, fails and cannot tell on rows made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import archive, claims_advisory, claims_pacing
from lab.bench import Bench
from lab.claim import Judgement, Outcome, text
from lab.claims import judge_run
from lab.evidence import Evidence
from lab.reference import read_reference
from tests import door
from tests.lab import kindred
from tests.lab.replays import LIFE, rows_of, spread

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "claims-families.txt"
Rows = list[dict[str, Any]]


def of_advisory(rows: Rows) -> dict[str, Judgement]:
    bench = Bench(Evidence(rows, family="advisory"), read_reference())
    return {one.name: one for one in claims_advisory.judge(bench, rows)}


def of_pacing(rows: Rows) -> dict[str, Judgement]:
    return {one.name: one for one in claims_pacing.judge(rows)}


def times(rows: Rows, factor: float, **where: Any) -> Rows:
    """The same rows, the times of those that are meant `factor` times as long."""
    columns = ("p50_ns", "p99_ns", "max_ns")
    meant = [all(str(row[name]).find(str(value)) >= 0 for name, value in where.items()) for row in rows]
    return [
        {**row, **{name: row[name] * factor for name in columns if row[name]}} if ours else row
        for row, ours in zip(rows, meant, strict=True)
    ]


def with_figure(rows: Rows, workload: str, name: str, value: float, processes: int = 5) -> Rows:
    changed = []
    for row in rows:
        if row["workload"] == workload and row["process"] < processes and name in (row["figure_names"] or ()):
            values = [
                value if own == name else old
                for own, old in zip(row["figure_names"], row["figure_values"], strict=True)
            ]
            row = {**row, "figure_values": values}
        changed.append(row)
    return changed


def test_the_claims_read_as_they_did() -> None:
    """When a claim is to read otherwise: read claims-families.got, then let it take the place of the text."""
    judged = [*of_advisory(kindred.schedules()).values(), *of_pacing(kindred.pacing()).values()]
    got = GOLDEN.with_suffix(".got")
    got.write_text(text(judged) + "\n", encoding="utf-8")
    assert got.read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN} with {got}"
    got.unlink()


def test_every_claim_holds_on_rows_that_bear_it_out() -> None:
    assert {one.outcome for one in of_advisory(kindred.schedules()).values()} == {Outcome.HOLDS}
    found = of_pacing([row for row in kindred.pacing() if row["subject"] != "channel"])
    assert {name: one.outcome for name, one in found.items()} == dict.fromkeys(found, Outcome.HOLDS)


@pytest.mark.parametrize(
    ("claim", "rows"),
    [
        ("heap-stays", times(kindred.schedules(), 4, subject="heap", params="jobs=100000")),
        ("heap-leads", times(kindred.schedules(), 0.01, subject="sorted-each-call", params="jobs=100000")),
        ("spread-parts", with_figure(kindred.schedules(), "meeting", "due_at_once_after_jobs", 2)),
        ("no-drift", with_figure(kindred.schedules(), "cadence", "drift_ns", 5_000.0)),
    ],
)
def test_a_claim_about_schedulers_fails_on_rows_that_contradict_it(claim: str, rows: Rows) -> None:
    assert of_advisory(rows)[claim].outcome is Outcome.FAILS


def test_a_cost_that_does_not_grow_contradicts_that_sorting_does() -> None:
    level = [row for row in kindred.schedules() if row["workload"] == "next-job"]
    level = [{**row, "p50_ns": 30_000.0 + row["process"], "net_p50_ns": 29_000.0 + row["process"]} for row in level]
    assert of_advisory(level)["sorting-grows"].outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("claim", "workload", "figure", "value"),
    [
        ("naive-drifts", "ticks", "drift_ns", 90_000.0 * 3_699),
        ("ticker-stays", "ticks", "off_grid_ns", 2_000.0),
        ("limiter-keeps-bound", "waiters", "over_bound_permits", 0.5),
        ("limiter-reaches-rate", "waiters", "of_rate_ratio", 0.99),
        ("limiter-reaches-rate", "waiters", "of_rate_ratio", 1.01),
        ("wakes-are-few", "waiters", "wakes_per_grant", 2.5),
    ],
)
def test_a_claim_about_pacing_fails_where_most_processes_contradict_it_and_else_cannot_tell(
    claim: str, workload: str, figure: str, value: float
) -> None:
    rows = kindred.pacing()
    assert of_pacing(with_figure(rows, workload, figure, value))[claim].outcome is Outcome.FAILS
    assert of_pacing(with_figure(rows, workload, figure, value, 2))[claim].outcome is Outcome.INCONCLUSIVE


def test_a_ticker_that_is_later_than_twice_a_bare_sleep_contradicts_that_it_is_near() -> None:
    late = times(kindred.pacing(), 4, subject="arithmetic", family="ticker")
    assert of_pacing(late)["ticker-is-near"].outcome is Outcome.FAILS
    alone = [row for row in kindred.pacing() if not row["subject"].startswith("bare")]
    assert of_pacing(alone)["ticker-is-near"].outcome is Outcome.NOT_MEASURED


def test_three_processes_are_too_few_for_a_span_and_enough_for_a_count() -> None:
    few = [row for row in [*kindred.schedules(), *kindred.pacing()] if row["process"] < 3]
    advisory, pacing = of_advisory(few), of_pacing(few)
    unclear = {name for name, one in {**advisory, **pacing}.items() if one.outcome is Outcome.INCONCLUSIVE}
    assert unclear == {"sorting-grows", "heap-stays", "heap-leads", "ticker-is-near"}
    assert "needs 5 processes, has 3" in advisory["heap-leads"].lines[0].said


def test_what_a_run_has_no_rows_of_is_not_judged() -> None:
    assert {one.outcome for one in of_pacing([]).values()} == {Outcome.NOT_MEASURED}
    assert {one.outcome for one in of_advisory([]).values()} == {Outcome.NOT_MEASURED}


def test_a_run_of_other_families_is_judged_by_their_claims_alone_and_one_of_all_by_all(tmp_path: Path) -> None:
    others = archive.open_run(kindred.stored(tmp_path / "others", [*kindred.schedules(), *kindred.pacing()]))
    names = [one.name for one in judge_run(others)[0]]
    assert names == [*of_advisory([]), *of_pacing([])]
    timers = rows_of({(LIFE, "life"): spread(900)})
    every = archive.open_run(kindred.stored(tmp_path / "every", [*timers, *kindred.pacing()]))
    both = [one.name for one in judge_run(every)[0]]
    assert both[-len(of_pacing([])) :] == list(of_pacing([]))
    assert "array-beats-linked" in both
    assert "heap-stays" not in both


def test_the_command_judges_a_run_of_other_families(tmp_path: Path) -> None:
    path = kindred.stored(tmp_path, kindred.schedules())
    said = door.lab("claims", str(path))
    assert (said.returncode, said.stderr) == (0, "")
    assert "HOLDS          With a heap, next_job costs" in said.stdout
    assert "linked" not in said.stdout
