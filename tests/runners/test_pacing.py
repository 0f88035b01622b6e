"""The measurements of tickers, limiters and cooperative sleep: tiny ones in real processes, and their tables."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from lab import archive, families
from lab.case import Case
from lab.record import facts_of, figures_of
from queues.registry import PEERS, SUBJECTS, load
from runners import latency, pacing_calls, suite_pacing
from runners.latency import CheckFailed, bare, blank
from runners.pacing_limiter import grants
from runners.pacing_ticker import Notes, held_against_the_grid
from runners.pacing_workloads import WORKLOADS
from runners.promises import search_path
from runners.run import Settings, carry_out
from runners.spawn import Limits
from runners.suites import SUITES, cases
from runners.workloads import find
from tests.runners.test_run import started

TICKS: dict[str, Any] = {"ticks": 20, "interval_us": 1_000, "work_percent": 20}
WAITERS: dict[str, Any] = {"waiters": 20, "each": 2, "rate": 10_000, "burst": 5}
PLAN: dict[str, Any] = {"workers": 20, "ticks": 3, "interval_us": 2_000, "rate": 20_000, "burst": 50}


def rows_of(folder: Path, *planned: Case, seconds: float = 30.0) -> list[dict[str, Any]]:
    with started(folder, list(planned), processes=1) as run:
        carry_out(run, Settings(limits=Limits(seconds=seconds), path=search_path()))
        assert run.finish() == "complete"
        rows: list[dict[str, Any]] = run.rows().to_pylist()
    assert archive.verify(run.path) == []
    return rows


def test_the_suite_has_every_subject_and_enough_ticks_for_a_p999() -> None:
    found = cases(SUITES["pacing"])
    ticks = [case for case in found if case.workload == "ticks"]
    assert {case.subject for case in ticks} == {*SUBJECTS["ticker"], *PEERS["ticker"]}
    assert {case.param("work_percent") for case in ticks} == {0, 20, 120}
    fine = {case.param("ticks") for case in ticks if case.param("interval_us") == suite_pacing.FINE_US}
    assert fine == {suite_pacing.TICKS, suite_pacing.LATE_TICKS}
    assert suite_pacing.TICKS >= 3_688
    whole = [case for case in cases(SUITES["full"]) if case.workload == "ticks" and case.param("work_percent") != 120]
    assert {case.param("ticks") for case in whole} == {suite_pacing.TICKS}
    tried = {case.subject for case in found if case.workload == "try-acquire"}
    assert tried == {*SUBJECTS["limiter"], *PEERS["limiter"]}
    plans = [case for case in found if case.workload == "plan"]
    assert {case.subject for case in plans} == set(SUBJECTS["cooperative"])
    assert {case.param("workers") for case in plans} == {2_000, 10_000}
    assert {case.param("waiters") for case in found if case.workload == "waiters"} == {1_000}
    for case in found:
        find(case.family, case.workload).require_offered(load(case.family, case.subject))


def test_the_whole_suite_waits_less_than_four_minutes() -> None:
    """What its cases wait for by themselves, at three processes; the work and the starts come on top."""
    waited = 0.0
    for case in cases(SUITES["pacing"]):
        sizes = case.parameters
        if case.workload == "ticks":
            late = max(1.0, int(sizes["work_percent"]) / 100)
            waited += int(sizes["ticks"]) * int(sizes["interval_us"]) / 1e6 * late
        elif case.workload == "waiters":
            waited += int(sizes["waiters"]) * int(sizes["each"]) / int(sizes["rate"])
        elif case.workload == "plan":
            waited += (int(sizes["ticks"]) + 1) * int(sizes["interval_us"]) / 1e6
            waited += int(sizes["workers"]) / int(sizes["rate"])
    assert waited * SUITES["pacing"].processes < 180


@pytest.mark.processes
def test_a_ticker_stays_on_its_grid_and_the_naive_loop_drifts_by_its_work(tmp_path: Path) -> None:
    subjects = ("bare-sleep", "channel", "arithmetic-asyncio", "naive-sleep")
    planned = [Case.of("lateness", "ticker", name, "ticks", clock="wall", **TICKS) for name in subjects]
    rows = {row["subject"]: row for row in rows_of(tmp_path, *planned)}
    for row in rows.values():
        assert (row["status"], row["message"], row["operation"], row["n"]) == ("ok", "", "phase", 20)
        assert figures_of(row)["span_ns"] >= 19 * 1_000_000
    for name in subjects[:3]:
        figures = figures_of(rows[name])
        assert rows[name]["min_ns"] >= 0
        assert abs(figures["drift_ns"]) < 1_000
        assert figures["off_grid_ns"] < 1_000
    assert figures_of(rows["naive-sleep"])["drift_ns"] >= 0.2 * 1_000_000 * 19
    assert facts_of(rows["arithmetic-asyncio"]) == {"form": "awaited"}
    (ticker,) = families.tables(rows.values(), {})
    assert ticker.title == "Ticker: ticks against the grid"


def test_the_phase_of_a_loop_without_a_grid_is_held_against_the_one_it_began_with() -> None:
    notes = Notes(3)
    for place in range(3):
        notes.came[place] = notes.meant[place] = 100.0 + 1.25 * (place + 1)
    phase, figures = held_against_the_grid(100.0, 1.0, notes)
    assert phase.tolist() == [250_000_000, 500_000_000, 750_000_000]
    assert figures == {"drift_ns": 500_000_000.0, "off_grid_ns": 500_000_000.0, "span_ns": 3_750_000_000}


def test_the_phase_of_a_tick_is_how_long_after_its_instant_it_came() -> None:
    notes = Notes(2)
    notes.came[0], notes.meant[0] = 101.5, 101.0
    notes.came[1], notes.meant[1] = 103.25, 103.0
    phase, figures = held_against_the_grid(100.0, 1.0, notes)
    assert (phase.tolist(), figures["drift_ns"]) == ([500_000_000, 250_000_000], 0.0)


# Calls where nobody waits


CALLS = [name for name, found in WORKLOADS["limiter"].items() if "latency" in found.kinds]


@pytest.mark.parametrize("name", CALLS)
def test_the_null_run_fills_every_sample_and_allocates_nothing_inside_a_timed_region(name: str) -> None:
    workload = find("limiter", name)
    samples = tuple(blank(latency.NULL_CALLS) for _ in workload.operations)
    floor = blank(latency.NULL_CALLS)
    bare(sys.getallocatedblocks, floor)
    assert workload.loop is not None
    assert workload.null is not None
    workload.loop(sys.getallocatedblocks, samples, latency.NULL_CALLS, *workload.null({}))
    for each in samples:
        assert len(each) == latency.NULL_CALLS
        assert median(each) <= median(floor)


def test_a_timed_region_is_one_call_between_two_clock_reads_and_its_sample_is_stored_behind() -> None:
    tree = ast.parse(Path(pacing_calls.__file__).read_text(encoding="utf-8"))
    regions = []
    for node in ast.walk(tree):
        lines = [ast.unparse(line) for line in node.body] if isinstance(node, ast.For) else []
        for at, line in enumerate(lines):
            if line == "t0 = clock()":
                assert lines[at + 2] == "t1 = clock()"
                assert lines[at + 3].endswith("[call] = t1 - t0")
                regions.append(lines[at + 1])
    assert sorted(regions) == ["acquire()", "await acquire()"]


class Fickle:
    """Grants the first permit of a thousand, then none."""

    def __init__(self, rate: float, burst: int) -> None:
        self.left = 1

    def try_acquire(self) -> bool:
        self.left -= 1
        return self.left >= 0


@pytest.mark.parametrize("answer", pacing_calls.ANSWERS)
def test_a_limiter_whose_answer_changes_gets_no_number(answer: str) -> None:
    if answer == "granted":
        rig = pacing_calls.trying(Fickle, {"answer": answer}, 1)
        with pytest.raises(CheckFailed, match="a call that should be granted was not"):
            rig.check()
    else:
        rig = pacing_calls.trying(Fickle, {"answer": answer}, 1)
        rig.queue.left = 5
        with pytest.raises(CheckFailed, match="a call that should be refused was not"):
            rig.check()


@pytest.mark.processes
def test_every_call_of_a_limiter_is_timed_beside_the_null_call(tmp_path: Path) -> None:
    calls = 60
    planned = [
        Case.of("latency", "limiter", "arithmetic", "try-acquire", answer="granted", calls=calls),
        Case.of("latency", "limiter", "semaphore-asyncio", "try-acquire", answer="refused", calls=calls),
        Case.of("latency", "limiter", "aiolimiter", "try-acquire", answer="granted", calls=calls),
        Case.of("latency", "limiter", "limits-fixed", "try-acquire", answer="refused", calls=calls),
        Case.of("latency", "limiter", "semaphore", "acquire", calls=calls),
        Case.of("latency", "limiter", "aiolimiter", "acquire-awaited", calls=calls),
    ]
    rows = rows_of(tmp_path, *planned)
    assert [(row["status"], row["message"], row["n"] + row["warmup"]) for row in rows] == [("ok", "", calls)] * 6
    assert all(row["null_p50_ns"] > 0 for row in rows)
    (table,) = families.tables(rows, {})
    assert {cells[:2] for cells in table.rows} == {
        ("try_acquire", "granted"),
        ("try_acquire", "refused"),
        ("acquire", "granted"),
        ("await acquire", "granted"),
    }


# Many that wait


@pytest.mark.processes
def test_waiters_all_get_their_permits_within_the_bound_and_are_woken_a_few_times(tmp_path: Path) -> None:
    subjects = ("arithmetic", "semaphore", "arithmetic-asyncio")
    planned = [Case.of("throughput", "limiter", name, "waiters", clock="wall", **WAITERS) for name in subjects]
    for row in rows_of(tmp_path, *planned):
        assert (row["status"], row["message"]) == ("ok", "")
        figures = figures_of(row)
        assert figures["grants"] == 40
        assert row["n"] == 20  # the first round is left out
        assert row["min_ns"] >= 0
        assert figures["over_bound_permits"] <= 1e-9
        assert figures["wakes_per_grant"] <= (3 if row["subject"] == "semaphore" else 2)


def test_grants_are_held_against_the_rate_the_bound_and_the_order_of_the_waiters() -> None:
    params = {"rate": 1, "burst": 2, "waiters": 2, "each": 3}
    came = [(100.0, 7), (100.0, 8), (101.5, 7), (102.0, 8), (103.0, 7), (104.0, 8)]
    found = grants(100.0, came, params, {"wakes_per_grant": 1.5})
    assert found.samples["late"].tolist() == [500_000_000, 0, 0, 0]
    assert found.figures == {
        "grants": 6,
        "reached_per_second": 3 / 2.5,
        "of_rate_ratio": 3 / 2.5,
        "over_bound_permits": 0.0,
        "out_of_order_grants": 0,
        "fewest_grants": 2,
        "most_grants": 2,
        "wakes_per_grant": 1.5,
    }
    early = grants(100.0, [(100.0, 0), (100.0, 1), (100.5, 0), (102.0, 1)], {**params, "each": 2}, {})
    assert early.figures["over_bound_permits"] == 0.5
    circle = {"rate": 1, "burst": 4, "waiters": 4, "each": 2}
    numbers = [3, 1, 0, 2, 3, 0, 1, 2]
    turned = grants(0.0, [(float(place), number) for place, number in enumerate(numbers)], circle, {})
    assert turned.figures["out_of_order_grants"] == 1


def test_a_permit_that_never_came_gives_no_number() -> None:
    with pytest.raises(CheckFailed, match="3 permits were granted: expected 4"):
        grants(0.0, [(1.0, 0), (2.0, 1), (3.0, 0)], {"rate": 1, "burst": 2, "waiters": 2, "each": 2}, {})


# One plan in many workers


@pytest.mark.processes
def test_the_plan_runs_in_every_kind_of_worker(tmp_path: Path) -> None:
    planned = [
        Case.of("throughput", "cooperative", name, "plan", clock="wall", **PLAN) for name in SUBJECTS["cooperative"]
    ]
    rows = {row["subject"]: row for row in rows_of(tmp_path, *planned)}
    for row in rows.values():
        assert (row["status"], row["message"], row["n"]) == ("ok", "", 4 * 20)
        figures = figures_of(row)
        assert figures["plan_ns"] == 8_000_000
        assert figures["wall_ns"] >= figures["plan_ns"]
        assert 1 <= figures["most_at_once_workers"] <= 20
    assert "sched.scheduler.__init__(delayfunc=)" in facts_of(rows["green"])["bound_early"]
    assert figures_of(rows["green"])["slept_after_work_ns"] >= 20_000_000
    assert facts_of(rows["asyncio"]) == {"code": "written for asyncio"}
    (table,) = families.tables(rows.values(), {"cooperative": list(SUBJECTS["cooperative"])})
    assert [cells[0] for cells in table.rows] == list(SUBJECTS["cooperative"])
    assert any(note.startswith("green: bound to the real sleep") for note in table.notes)


@pytest.mark.processes
def test_what_a_subject_does_ends_as_a_status_and_stands_in_a_table(tmp_path: Path) -> None:
    hangs = Case.of(
        "lateness", "ticker", "arithmetic", "ticks", clock="wall", **{**TICKS, "interval_us": 3_600_000_000}
    )
    rows = rows_of(tmp_path, hangs, seconds=0.5)
    assert [row["status"] for row in rows] == ["timeout"]
    (table,) = families.tables(rows, {})
    assert table.title == "Pacing: no figure"
    assert table.rows[0][1] == "timeout"


def test_the_tiny_piece_of_the_quick_suite_is_tiny() -> None:
    tiny = [case for case in cases(SUITES["quick"]) if case.family != "timer"]
    assert {case.family for case in tiny} == {"advisory", "ticker", "limiter"}
    assert len(tiny) <= 10
