"""Measuring the advisory schedulers: loops that time one call, checks that find a wrong one, and the command itself."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from lab import archive
from queues.advisory.heap import Heap
from queues.registry import PEERS, SUBJECTS, load, target
from runners import advisory, advisory_rigs, latency
from runners.advisory_rigs import NullScheduler, Standing, filled, steady
from runners.advisory_simulated import CALLERS, drift, meeting, peaks, planned
from runners.latency import CheckFailed, bare, blank
from runners.promises import search_path
from runners.spawn import Limits, Outcome, run_worker
from runners.workloads import WORKLOADS, find

ROOT = Path(__file__).resolve().parent.parent.parent
SMALL: dict[str, int] = {"jobs": 20, "calls": 30}
ALL = {**SUBJECTS["advisory"], **PEERS["advisory"]}


class Ticking(Heap):
    """A scheduler on which time passes only inside its calls, each of which takes as long as its place here says."""

    COSTS = ("next_job", "add", "remove", "update_period", "spread")
    now = 0

    @classmethod
    def clock(cls) -> int:
        return cls.now

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        Ticking.now += 3
        return super().next_job(now)

    def add(self, job_id: Any, period: Any, userdata: Any = None) -> None:
        Ticking.now += 5
        super().add(job_id, period, userdata)

    def remove(self, job_id: Any) -> None:
        Ticking.now += 7
        super().remove(job_id)

    def update_period(self, job_id: Any, period: Any) -> None:
        Ticking.now += 11
        super().update_period(job_id, period)

    def spread(self, now: Any = None) -> None:
        Ticking.now += 13
        super().spread(now)


@pytest.mark.parametrize(
    ("name", "expected"), [("next-job", [3]), ("replace", [7, 5]), ("update-period", [11]), ("spread", [13])]
)
def test_a_sample_is_the_time_of_its_call_and_of_nothing_else(name: str, expected: list[int]) -> None:
    workload = find("advisory", name)
    assert workload.setup is not None
    assert workload.loop is not None
    samples = tuple(blank(SMALL["calls"]) for _ in workload.operations)
    rig = workload.setup(Ticking, SMALL, 1)
    workload.loop(Ticking.clock, samples, SMALL["calls"], *rig.arguments)
    rig.check()
    assert [set(each) for each in samples] == [{took} for took in expected]


@pytest.mark.parametrize("name", WORKLOADS["advisory"])
def test_the_null_run_fills_every_sample_and_allocates_nothing_inside_a_timed_region(name: str) -> None:
    workload = find("advisory", name)
    samples = tuple(blank(latency.NULL_CALLS) for _ in workload.operations)
    floor = blank(latency.NULL_CALLS)
    clock = sys.getallocatedblocks
    bare(clock, floor)
    assert workload.loop is not None
    assert workload.null is not None
    workload.loop(clock, samples, latency.NULL_CALLS, *workload.null(SMALL))
    for each in samples:
        assert len(each) == latency.NULL_CALLS
        assert median(each) <= median(floor)


def test_a_timed_region_is_one_call_between_two_clock_reads_and_its_sample_is_stored_behind() -> None:
    tree = ast.parse(Path(advisory_rigs.__file__).read_text(encoding="utf-8"))
    regions = []
    for node in ast.walk(tree):
        lines = [ast.unparse(line) for line in node.body] if isinstance(node, ast.For) else []
        for at, line in enumerate(lines):
            if line == "t0 = clock()":
                assert lines[at + 2] == "t1 = clock()"
                assert lines[at + 3].endswith("[call] = t1 - t0")
                regions.append(lines[at + 1])
    assert sorted(regions) == [
        "add(job_id, period)",
        "advice = next_job(now)",
        "remove(job_id)",
        "spread(now)",
        "update_period(job_id, period)",
    ]


def test_the_null_scheduler_accepts_what_the_loops_give_and_makes_nothing_of_it() -> None:
    null = NullScheduler()
    assert null.next_job(5.0) is null.next_job(7.0)
    assert (null.add("a", 1.0), null.update_period("a", 1.0), null.remove("a"), null.spread(0.0)) == (False,) * 4


@pytest.mark.parametrize("subject", ALL)
def test_a_steady_schedule_has_every_job_once_and_runs_that_differ(subject: str) -> None:
    scheduler, clock = steady(load("advisory", subject), 40, 1)
    seen = []
    for _ in range(40):
        job_id, delay, _ = scheduler.next_job(clock.now)
        clock.now += delay
        seen.append((job_id, round(clock.now, 6)))
    assert len(set(scheduler.all_jobs())) == 40
    assert len({at for _, at in seen}) > 30
    advisory_rigs.expecting(scheduler, clock, 40)()


def test_the_kth_job_is_the_same_in_every_process_and_the_seed_decides_its_period() -> None:
    assert list(advisory_rigs.ids_and_periods(5, 1)) == list(advisory_rigs.ids_and_periods(5, 1))
    assert list(advisory_rigs.ids_and_periods(50, 1)) != list(advisory_rigs.ids_and_periods(50, 2))


class Forgets(Heap):
    """Loses a job each time one is removed."""

    def remove(self, job_id: Any) -> None:
        super().remove(job_id)
        if len(self.all_jobs()) > 5:
            super().remove(self.all_jobs()[0])


class Repeats(Heap):
    """Advises the same job for ever once it is asked late."""

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        return ("job-0", 0, None) if now and now > 8e3 else super().next_job(now)


class Dawdles(Heap):
    """Says that there is time for what is overdue."""

    def next_job(self, now: Any = None) -> tuple[Any, Any, Any]:
        job_id, delay, data = super().next_job(now)
        return job_id, delay or 1.0, data


class SpreadsNothing(Heap):
    """Leaves all jobs due at once."""

    def spread(self, now: Any = None) -> None:
        pass


@pytest.mark.parametrize(
    ("wrong", "name", "said"),
    [
        (Forgets, "replace", r"the scheduler holds \d+ jobs, \d+ different: expected 20"),
        (Repeats, "next-job", "20 calls with all jobs overdue advised 1 jobs: expected each once"),
        (Dawdles, "update-period", "an overdue job was advised with a delay"),
        (SpreadsNothing, "spread", "20 jobs have 1 next runs after spread: expected all different"),
    ],
)
def test_a_wrong_scheduler_gets_no_number(wrong: Any, name: str, said: str) -> None:
    workload = find("advisory", name)
    assert workload.setup is not None
    assert workload.loop is not None
    rig = workload.setup(wrong, SMALL, 1)
    workload.loop(int, tuple(blank(30) for _ in workload.operations), 30, *rig.arguments)
    with pytest.raises(CheckFailed, match=said):
        rig.check()


def test_calls_are_few_where_a_call_is_slow() -> None:
    assert advisory.calls_of("sorted-each-call", "next-job", 100_000) == 30
    assert advisory.calls_of("sorted-each-call", "next-job", 10) == advisory.MOST_CALLS
    assert advisory.calls_of("heap", "replace", 100_000) == advisory.MOST_CALLS
    assert advisory.calls_of("heap", "spread", 100_000) == 3
    found = advisory.cases(ALL, (10, 100))
    assert len({case.key for case in found}) == len(found) == 2 * (4 * 3 + 2)
    for case in found:
        find(case.family, case.workload).require(case.kind, {name: int(value) for name, value in case.params})


# Simulated


def test_the_peak_of_a_schedule_in_phase_is_all_of_it_and_one_when_spread() -> None:
    for jobs in (1, 10, 200):
        found = peaks("heap", Heap, jobs)
        assert (found.planned, found.planned_spread, found.in_an_hour) == (jobs, 1, jobs)
        assert found.in_an_hour_spread is not None
        assert found.in_an_hour_spread <= max(1, jobs // 5)
    without = peaks("sched", load("advisory", "sched"), 10)
    assert (without.planned_spread, without.in_an_hour_spread) == (None, None)


def test_who_meets_in_an_hour_is_counted_by_instant() -> None:
    for until, most in ((80, 1), (91, 2)):  # a: 0, 90, b: 30, 90, c: 87
        scheduler = Heap()
        for name, period, run in (("a", 90, -90), ("b", 60, -30), ("c", 100, -13)):
            scheduler.add(name, period)
            assert scheduler.next_job(run)[0] == name
        assert planned(scheduler) == 1
        assert meeting(scheduler, until) == most


@pytest.mark.parametrize("subject", ALL)
def test_a_caller_that_waits_as_advised_does_not_drift(subject: str) -> None:
    punctual, *_ = CALLERS
    found = drift(subject, load("advisory", subject), punctual, 10.0)
    assert found is not None
    assert (found.runs, found.behind_seconds) == (1_000, 0.0)


@pytest.mark.parametrize("subject", SUBJECTS["advisory"])
def test_a_caller_that_asks_late_drifts_by_that_each_run(subject: str) -> None:
    late = drift(subject, load("advisory", subject), "asks late", 10.0)
    slow = drift(subject, load("advisory", subject), "oversleeps", 10.0)
    assert late is not None
    assert slow is not None
    assert (late.a_run_seconds, slow.behind_seconds) == (1.0, 1.0)
    assert drift("sched", load("advisory", "sched"), "asks late", 10.0) is None


# In processes of their own


def worked(subject: str, workload: str, folder: Path) -> Outcome:
    spec = {"family": "advisory", "subject": subject, "target": target("advisory", subject), "path": [*search_path()]}
    how = {"kind": "latency", "workload": workload, "params": SMALL, "seed": 1, "clock": "cpu", "gc": "on"}
    return run_worker({**spec, **how}, folder, limits=Limits(seconds=30))


@pytest.mark.processes
@pytest.mark.parametrize(
    ("subject", "workload"),
    [("heap", "next-job"), ("sorted-each-call", "spread"), ("sched", "replace"), ("apscheduler", "update-period")],
)
def test_a_worker_carries_out_a_case(subject: str, workload: str, tmp_path: Path) -> None:
    ended = worked(subject, workload, tmp_path)
    assert (ended.status, ended.message) == ("ok", "")
    names = [operation["operation"] for operation in ended.result["operations"]]
    assert names == list(find("advisory", workload).operations)
    assert {operation["n"] for operation in ended.result["operations"]} == {30}


@pytest.mark.processes
def test_a_worker_says_that_a_peer_cannot_spread(tmp_path: Path) -> None:
    ended = worked("sched", "spread", tmp_path)
    assert (ended.status, ended.message) == ("not-offered", "spread() is not offered: workload 'spread' needs it")


@pytest.mark.processes
def test_the_command_measures_and_keeps_a_run_that_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_CALLS", "MOST_SPREADS"):
        monkeypatch.setattr(advisory, name, 60)
    given = ["--subject", "heap", "--jobs", "10", "--results", str(tmp_path)]
    assert advisory.main(given) == 0
    printed = capsys.readouterr().out
    for words in ("Every call", "update_period", "Jobs that meet", "Drift of the cadence", "asks late"):
        assert words in printed
    run = archive.open_run(archive.newest(tmp_path))
    rows = run.rows().to_pylist()
    assert archive.verify(run.path) == []
    assert {row["operation"] for row in rows} == {"next_job", "update_period", "remove", "add", "spread"}
    assert {row["status"] for row in rows} == {"ok"}


@pytest.mark.processes
def test_the_help_of_the_command_has_an_example() -> None:
    command = [sys.executable, "-m", "runners.advisory", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert "Example: python -m runners.advisory" in said


@pytest.mark.parametrize("wrong", [["--jobs", "0"], ["--jobs", "ten"], ["--subject", "rope"], ["--processes", "-1"]])
def test_wrong_usage_is_one_sentence(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        advisory.main(wrong)
    assert stopped.value.code == 2
    assert repr(wrong[1]) in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a-file").write_text("no folder", encoding="utf-8")
    given = ["--subject", "heap", "--jobs", "10", "--results", str(tmp_path / "a-file")]
    assert advisory.main(given) == 2
    assert "a-file" in capsys.readouterr().err


def row(operation: str, jobs: int, subject: str, p50_ns: int, **more: Any) -> dict[str, Any]:
    columns = {"status": "ok", "message": "", "n": 4000, "null_p50_ns": 700, "p99_ns": 2 * p50_ns, "max_ns": 9 * p50_ns}
    named = {"operation": operation, "params": f"calls=9,jobs={jobs}", "subject": subject, "process": 0}
    return {**columns, **named, "p50_ns": p50_ns, **more}


def test_the_table_has_ratios_and_says_where_calls_are_too_few() -> None:
    rows = [
        row("next_job", 100_000, "sorted-each-call", 60_000_000, n=30),
        row("next_job", 100_000, "heap", 3_000),
        row("next_job", 100, "heap", 2_000),
        row("spread", 100, "heap", 5_000, status="failed", message="out of time"),
    ]
    table = advisory.calls_table(rows)
    assert [cells[:3] for cells in table.rows] == [
        ("next_job", "100", "heap"),
        ("next_job", "100,000", "sorted-each-call"),
        ("next_job", "100,000", "heap"),
    ]
    assert table.rows[1][4:] == ("60.0 ms", "700 ns", "n too small", "540 ms", "2e+04")
    assert table.notes == ("heap: out of time",)
    assert advisory.growth(rows) == {
        "heap next_job, 100,000 jobs / 100 jobs": 1.5,
        "next_job at 100,000 jobs, sorted-each-call / heap": 20_000,
    }


def test_the_data_is_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("next_job", 100, "heap", 2_000, workload="next-job")]
    monkeypatch.setattr(advisory, "measure", lambda *given: rows)
    assert advisory.main(["--json", "--subject", "heap", "--jobs", "10"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["calls"][0]["p50_ns"] == 2_000
    assert data["peaks"][0]["planned_spread"] == 1
    assert {one["caller"] for one in data["drift"]} == set(CALLERS)
    monkeypatch.setattr(advisory, "measure", lambda *given: [{**rows[0], "status": "failed"}])
    assert advisory.main(["--json", "--subject", "heap", "--jobs", "10"]) == 4


def test_a_clock_stands_until_it_is_moved() -> None:
    clock = Standing(3.0)
    assert (clock(), clock()) == (3.0, 3.0)
    scheduler, own = filled(Heap, 3, 1)
    assert own() == 0.0
    assert scheduler.next_job()[1] == 0
