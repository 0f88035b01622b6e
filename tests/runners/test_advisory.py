"""Measuring the advisory schedulers: loops that time one call, checks that find a wrong one, and their suite."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from lab import archive, families
from queues.advisory.heap import Heap
from queues.registry import PEERS, SUBJECTS, load, target
from runners import advisory_rigs, advisory_simulated, latency, suite_advisory
from runners.advisory_rigs import NullScheduler, Standing, filled, steady
from runners.advisory_simulated import CALLERS, at_once, planned
from runners.advisory_workloads import WORKLOADS
from runners.latency import CheckFailed, bare, blank
from runners.parts import Part
from runners.promises import search_path
from runners.run import Settings, carry_out
from runners.spawn import Limits, Outcome, run_worker
from runners.suites import SUITES, cases
from runners.workload import NotOffered
from runners.workloads import find
from tests import door
from tests.runners.test_run import started

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


@pytest.mark.parametrize("name", [name for name, found in WORKLOADS["advisory"].items() if "latency" in found.kinds])
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
    assert suite_advisory.calls_of("sorted-each-call", "next-job", 100_000) == 30
    assert suite_advisory.calls_of("sorted-each-call", "next-job", 10) == suite_advisory.MOST_CALLS
    assert suite_advisory.calls_of("heap", "replace", 100_000) == suite_advisory.MOST_CALLS
    assert suite_advisory.calls_of("heap", "spread", 100_000) == 3


def test_the_suite_has_every_call_at_every_size_and_asks_nobody_for_what_he_cannot() -> None:
    found = cases(SUITES["advisory"])
    timed = {(case.subject, case.workload, case.param("jobs")) for case in found if case.kind == "latency"}
    for subject in SUBJECTS["advisory"]:
        workloads = {name for who, name, _ in timed if who == subject}
        assert workloads == {"next-job", "update-period", "replace", "spread"}
        assert {jobs for who, _, jobs in timed if who == subject} == set(suite_advisory.SIZES)
    assert {jobs for who, _, jobs in timed if who == "sched"} == set(suite_advisory.SIZES[:-1])
    whole = cases(SUITES["full"], list(PEERS["advisory"]), workloads=["next-job"])
    assert {case.param("jobs") for case in whole if case.family == "advisory"} == set(suite_advisory.SIZES)
    for case in found:
        find("advisory", case.workload).require_offered(load("advisory", case.subject))


# Simulated


def test_the_peak_of_a_schedule_in_phase_is_all_of_it_and_one_when_spread() -> None:
    for jobs in (1, 10, 200):
        found = advisory_simulated.meeting(Heap, {"jobs": jobs}, 1)
        assert found.samples == {}
        assert found.figures["due_at_once_before_jobs"] == found.figures["in_an_hour_before_jobs"] == jobs
        assert found.figures["due_at_once_after_jobs"] == 1
        assert found.figures["in_an_hour_after_jobs"] <= max(1, jobs // 5)


def test_who_meets_in_an_hour_is_counted_by_instant() -> None:
    for until, most in ((80, 1), (91, 2)):  # a: 0, 90, b: 30, 90, c: 87
        scheduler = Heap()
        for name, period, run in (("a", 90, -90), ("b", 60, -30), ("c", 100, -13)):
            scheduler.add(name, period)
            assert scheduler.next_job(run)[0] == name
        assert planned(scheduler) == 1
        assert at_once(scheduler, until) == most


def drift_of(subject: str, caller: str) -> dict[str, float]:
    params = {"caller": caller, "period_ms": 10_000, "runs": 1_000}
    return advisory_simulated.cadence(load("advisory", subject), params, 1).figures


@pytest.mark.parametrize("subject", ALL)
def test_a_caller_that_waits_as_advised_does_not_drift(subject: str) -> None:
    punctual, *_ = CALLERS
    assert drift_of(subject, punctual) == {"drift_ns": 0.0, "drift_a_run_ns": 0.0}


@pytest.mark.parametrize("subject", SUBJECTS["advisory"])
def test_a_caller_that_asks_late_drifts_by_that_each_run(subject: str) -> None:
    assert drift_of(subject, "asks-late")["drift_a_run_ns"] == 1e9
    assert drift_of(subject, "oversleeps")["drift_ns"] == 1e9
    with pytest.raises(NotOffered, match=r"job_data\(\) is not offered"):
        drift_of("sched", "asks-late")


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
def test_the_suite_measures_and_its_tables_are_shown(tmp_path: Path) -> None:
    tiny = replace(
        SUITES["advisory"],
        parts=(
            Part(
                "advisory",
                ("heap", "sorted-each-call"),
                latency={"next-job": [{"jobs": 10, "calls": 60}], "spread": [{"jobs": 10, "calls": 3}]},
                lateness={
                    "meeting": [{"jobs": 10}],
                    "cadence": [{"caller": "oversleeps", "period_ms": 100, "runs": 5}],
                },
            ),
        ),
    )
    with started(tmp_path, cases(tiny), processes=1) as run:
        carry_out(run, Settings(limits=Limits(seconds=30), path=search_path()))
        assert run.finish() == "complete"
        rows = run.rows().to_pylist()
    assert {(row["status"], row["message"]) for row in rows} == {("ok", "")}
    assert archive.verify(run.path) == []
    titles = [table.title for table in families.tables(rows, {"advisory": ["heap"]})]
    assert titles == ["Advice: every call", "Advice: jobs that meet", "Advice: drift of the cadence"]
    said = door.lab("show", str(run.path))
    assert said.returncode == 0, said.stderr
    assert "Advice: jobs that meet" in said.stdout
    assert "The cycle" not in said.stdout


def test_a_clock_stands_until_it_is_moved() -> None:
    clock = Standing(3.0)
    assert (clock(), clock()) == (3.0, 3.0)
    scheduler, own = filled(Heap, 3, 1)
    assert own() == 0.0
    assert scheduler.next_job()[1] == 0
