"""A run carried out: seeded blocks, recorded one by one, resumed after the worst."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import archive, environment
from lab.case import Case
from runners.run import HOPELESS, Settings, Step, carry_out, plan, planned_executions, spec_of
from runners.spawn import Limits

pytestmark = pytest.mark.processes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def tiny(subject: str = "array", target: str = "") -> Case:
    return Case.of("latency", "timer", subject, "cycle", due=3, queued=5, calls=4, target=target)


def started(folder: Path, cases: list[Case], processes: int = 2) -> archive.Run:
    return archive.create(
        folder,
        "test",
        "quick",
        seed=5,
        options={},
        environment=environment.capture(),
        planned=plan(cases, processes, 5),
    )


def settings(report: Callable[[Step], None] = lambda step: None) -> Settings:
    return Settings(limits=Limits(seconds=20), path=(str(HERE),), report=report)


def test_a_plan_holds_every_case_once_in_every_block() -> None:
    cases = [tiny("array"), tiny("linked"), tiny("array-naive")]
    planned = plan(cases, 3, seed=1)
    for process in range(3):
        block = planned[process * 3 : process * 3 + 3]
        assert {execution.process for execution in block} == {process}
        assert {execution.case for execution in block} == set(cases)


def test_what_only_differs_in_the_subject_stands_side_by_side_in_a_block() -> None:
    subjects = ("array", "linked", "chunked")
    cases = [Case.of("memory", "timer", subject, "resident", messages=n) for n in (20, 30, 40) for subject in subjects]
    planned = plan(cases, 2, seed=1)
    for at in range(0, len(planned), 3):
        group = planned[at : at + 3]
        assert len({(execution.case.params, execution.process) for execution in group}) == 1
        assert {execution.case.subject for execution in group} == set(subjects)
    assert [e.case for e in planned[:9]] != [e.case for e in planned[9:]]


def test_a_plan_depends_on_the_seed_and_on_nothing_else() -> None:
    cases = [tiny(subject) for subject in ("array", "linked", "array-naive", "linked-known-tail")]
    assert plan(cases, 4, 1) == plan(cases, 4, 1)
    assert plan(cases, 4, 1) != plan(cases, 4, 2)


def test_code_is_read_once_however_many_processes() -> None:
    cases = [Case.of("complexity", "timer", "array", "complexity"), tiny()]
    assert [execution.case.kind for execution in plan(cases, 3, 1)].count("complexity") == 1


def test_every_kind_of_case_ends_in_rows_that_say_ok(tmp_path: Path) -> None:
    cases = [
        Case.of("latency", "timer", "null", "null-loop", calls=50),
        tiny(),
        Case.of("cost", "timer", "array", "enqueue-in-order", messages=50),
        Case.of("memory", "timer", "array", "resident", messages=2_000),
        Case.of("memory", "timer", "array", "drained", messages=500, left=10),
        Case.of("complexity", "timer", "array", "complexity"),
    ]
    steps: list[Step] = []
    with started(tmp_path, cases, processes=1) as run:
        carry_out(run, settings(report=steps.append))
        assert run.finish() == "complete"
        rows = run.rows().to_pylist()
    assert {row["status"] for row in rows} == {"ok"}, [row["message"] for row in rows]
    assert {row["kind"] for row in rows} == {"latency", "cost", "memory", "complexity"}
    cost = next(row for row in rows if row["kind"] == "cost")
    assert cost["loops"] >= 1
    assert cost["min_ns"] <= cost["mean_ns"] <= cost["max_ns"]
    resident = next(row for row in rows if row["workload"] == "resident")
    assert resident["points_messages"][-1] == 2_000
    drained = next(row for row in rows if row["workload"] == "drained")
    assert drained["container_bytes"] > 0
    assert [step.status for step in steps if step.status] == ["ok"] * len(cases)
    assert archive.verify(run.path) == []


def test_a_queue_that_crashes_is_recorded_with_its_stderr_and_the_run_goes_on(tmp_path: Path) -> None:
    cases = [tiny("raises", target="queues_that_misbehave:Raises"), tiny()]
    with started(tmp_path, cases) as run:
        carry_out(run, settings())
        run.finish()
        rows = run.rows().to_pylist()
    broken = [row for row in rows if row["subject"] == "raises"]
    assert [row["status"] for row in broken] == ["failed", "failed"]
    assert all("Traceback" in row["message"] and "the wheel has no spokes" in row["message"] for row in broken)
    assert [row["status"] for row in rows if row["subject"] == "array"] == ["ok"] * 4


def test_a_queue_that_fails_its_check_gets_no_number(tmp_path: Path) -> None:
    with started(tmp_path, [tiny("loses", target="queues_that_misbehave:Loses")]) as run:
        carry_out(run, settings())
        run.finish()
        rows = run.rows().to_pylist()
    assert {row["status"] for row in rows} == {"check-failed"}
    assert all(row["p50_ns"] is None and row["mean_ns"] is None for row in rows)


def test_pyperf_gives_no_number_for_a_queue_that_fails_its_check(tmp_path: Path) -> None:
    case = Case.of("cost", "timer", "own", "enqueue-in-order", messages=20, target="queues_that_misbehave:Forgets")
    with started(tmp_path, [case], processes=1) as run:
        carry_out(run, settings())
        run.finish()
        (row,) = run.rows().to_pylist()
    assert row["status"] == "check-failed"
    assert row["mean_ns"] is None


def test_a_case_over_its_time_is_not_tried_again_in_the_same_run(tmp_path: Path) -> None:
    with started(tmp_path, [tiny("hangs", target="queues_that_misbehave:Hangs")], processes=3) as run:
        chosen = Settings(limits=Limits(seconds=1), path=(str(HERE),))
        carry_out(run, chosen)
        run.finish()
        rows = run.rows().to_pylist()
    assert [row["status"] for row in rows] == ["timeout"] * 3
    assert [row["message"].startswith("not tried again") for row in rows] == [False, True, True]
    assert "timeout" in HOPELESS


def test_a_run_that_was_stopped_goes_on_with_what_is_left(tmp_path: Path) -> None:
    cases = [tiny(), tiny("linked")]

    def stop_after_two(step: Step) -> None:
        if step.number == 3:
            raise KeyboardInterrupt

    run = started(tmp_path, cases)
    with run:
        with pytest.raises(KeyboardInterrupt):
            carry_out(run, settings(report=stop_after_two))
        assert run.finish() == "interrupted"
    with archive.resume(run.path) as again:
        left = planned_executions(again)
        assert len(left) == 2
        carry_out(again, settings())
        assert again.finish() == "complete"
        rows = again.rows().to_pylist()
    assert sorted((row["subject"], row["process"], row["operation"]) for row in rows) == sorted(
        (case.subject, process, operation)
        for case in cases
        for process in range(2)
        for operation in ("take", "requeue")
    )
    assert archive.verify(run.path) == []


def test_a_run_killed_in_the_middle_resumes_to_the_same_set_of_executions(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab", "run", "--suite", "quick", "--workload", "cycle", "--subject", "array"]
    command += ["--processes", "3", "--results", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    process.stderr.readline()  # the first execution has ended
    os.kill(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()
    (path,) = archive.find_runs(tmp_path)
    stopped = archive.open_run(path)
    assert stopped.state == "running"
    assert 0 < len(stopped.done()) < len(stopped.planned)
    said = subprocess.run(
        [sys.executable, "-m", "lab", "run", "--resume", "--results", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "complete" in said.stdout
    whole = archive.open_run(path)
    assert whole.done() == set(whole.planned)
    assert archive.verify(path) == []
    facts = json.loads((path / "run.json").read_text(encoding="utf-8"))
    assert facts["state"] == "complete"


INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "from lab.cli import main; sys.argv = ['lab', *sys.argv[1:]]; main()"
)
"""Whoever starts a job in the background may have it ignore SIGINT; a person at a terminal does not."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_keeps_what_was_measured_and_says_how_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", INTERRUPTIBLE, "run", "--suite", "quick", "--workload", "cycle"]
    command += ["--subject", "array", "--processes", "9", "--results", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    process.stderr.readline()  # the first execution has ended
    os.kill(process.pid, number)
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    (path,) = archive.find_runs(tmp_path)
    assert f"lab run --resume {path}" in said
    assert "Traceback" not in said
    stopped = archive.open_run(path)
    assert stopped.state == "interrupted"
    assert 0 < len(stopped.done()) < len(stopped.planned)
    assert archive.verify(path) == []


def test_the_seed_of_the_workload_is_the_same_for_every_subject_and_process() -> None:
    planned = plan([tiny("array"), tiny("linked")], 2, 9)
    assert len({spec_of(execution)["seed"] for execution in planned}) == 1
    assert len({execution.hash_seed for execution in planned}) == len(planned)
