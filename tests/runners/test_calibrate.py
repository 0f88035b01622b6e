"""The instrument on known truths, small, through the real path; and that a fault of each kind is caught."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import pytest

from lab import alarms
from lab.archive import find_runs
from lab.calibration import Check
from lab.claim import Outcome
from lab.cli import main
from lab.verdict import Finding, Verdict, compare_samples
from runners import calibrate as calibrating
from runners import spawn
from runners.calibrate import (
    COMPARED,
    FULL,
    QUICK,
    Effort,
    calibrate,
    false_alarms,
    parts,
    planned,
    verdict_check,
    whole,
)
from tests.lab.replays import cycle, rows_of, stored
from tests.runners.faulty_instruments import CAUGHT, PARENTS, ROOT, SPINS, WORKERS, faulty_worker

SMALLEST = Effort(timed=1, others=1, seldom_calls=4_000, repetitions=1, messages=20_000, comparisons=1, resamplings=100)


def by_name(checks: list[Check]) -> dict[str, Check]:
    found = {check.what: check for check in checks}
    assert len(found) == len(checks)
    return found


@pytest.mark.processes
def test_no_truth_comes_out_wrong() -> None:
    command = [sys.executable, "-m", "lab", "calibrate", "--quick"]
    for _ in range(2):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if "it cannot have done its work" not in done.stdout + done.stderr:
            break  # else the machine was faster in a call than in the null call before it: that says nothing of us
    assert done.returncode in (0, 3), done.stdout + done.stderr  # 3: a machine that changed its speed meanwhile
    lines = done.stdout.splitlines()
    assert lines[0] == "The instrument on known truths"
    checks = [line for line in lines[2:] if line.endswith(("holds", "inconclusive"))]
    names = {name for _, names in CAUGHT.values() for name in names}
    names |= {"stored: files whole", *(f"verdict: {what}" for what in COMPARED)}
    missing = [name for name in names if not any(line.startswith(f"{name}  ") for line in checks)]
    assert missing == []
    assert len([line for line in checks if line.startswith("false alarms: ")]) == 3
    assert not any("does not hold" in line for line in lines)
    assert [line for line in checks if line.startswith("spin") and line.endswith("inconclusive")] == [
        line for line in checks if line.endswith("inconclusive")
    ]


@pytest.mark.processes
@pytest.mark.parametrize("fault", [*WORKERS, *PARENTS])
def test_a_fault_of_each_kind_is_caught(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part, names = CAUGHT[fault]
    few = {name: (subject, 600) for name, (subject, _) in calibrating.SPINS.items()}  # too few to be explained
    monkeypatch.setattr(calibrating, "SPINS", few)
    held = bytearray(b"x" * (64 << 20)) if fault == "inherits_the_peak" else None  # what a child could inherit
    if fault in WORKERS:
        monkeypatch.setattr(spawn, "WORKER", faulty_worker(tmp_path, fault))
    else:
        PARENTS[fault](monkeypatch)
    for attempt in range(3):
        checks = by_name(calibrate(SMALLEST, tmp_path / f"results-{attempt}", only=[part]))
        if not any(checks[name].outcome is Outcome.INCONCLUSIVE for name in names):
            break  # else the machine changed its speed meanwhile: that says nothing of the fault
    del held
    for name in names:
        assert checks[name].outcome is Outcome.FAILS, checks[name]


@pytest.mark.processes
@pytest.mark.parametrize(("fault", "code"), [("mixes_up_the_clocks", 1), ("", 0)])
def test_the_command_ends_as_its_checks_do(
    fault: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calibrating, "calibrate", partial(calibrate, only=["sleep"]))
    monkeypatch.setattr(calibrating, "QUICK", SMALLEST)
    monkeypatch.setattr(sys, "argv", ["lab", "calibrate", "--quick", "--keep", str(tmp_path)])
    if fault:
        monkeypatch.setattr(spawn, "WORKER", faulty_worker(tmp_path, fault))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    said = capsys.readouterr()
    if fault:
        assert (
            "lab: 1 of 3 checks hold; does not hold: sleep, on the clock on the wall, sleep, on the CPU clock"
            in said.err
        )
    else:
        assert "3 of 3 checks hold" in said.out
    assert len(find_runs(tmp_path)) == 1


def test_a_case_without_a_figure_is_a_check_that_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "Limits", partial(spawn.Limits, memory_bytes=1 << 20))
    checks = calibrate(SMALLEST, tmp_path, only=["sleep", "verdicts"])
    assert [check.came_out for check in checks[:-1]] == ["–"] * 3
    assert all(check.why for check in checks[:-1])
    assert Outcome.HOLDS not in {check.outcome for check in checks[:-1]}


def finding(*b: float) -> Finding:
    return compare_samples([100.0, 101.0, 102.0, 103.0, 104.0], b)


def test_a_verdict_that_is_wrong_once_does_not_hold() -> None:
    same, slower = finding(100, 101, 102, 103, 104), finding(130, 131, 132, 133, 134)
    unclear, faster = finding(90, 108, 112, 120, 95), finding(70, 71, 72, 73, 74)
    right = {
        "identical subjects": {same: True, unclear: True, slower: False, faster: False},
        "10 % slower": {same: False, unclear: True, slower: True, faster: False},
        "30 % slower": {same: False, unclear: False, slower: True, faster: False},
    }
    assert {one.verdict.value for one in (same, slower, unclear, faster)} == {
        "same",
        "slower",
        "inconclusive",
        "faster",
    }
    for what, found in right.items():
        for one, held in found.items():
            check = verdict_check(what, [slower if what != "identical subjects" else same, one])
            assert (check.outcome is Outcome.HOLDS) == held, (what, one)
            assert bool(check.why) != held


def test_verdicts_that_cry_wolf_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {cycle("array"): [100, 103, 101, 108, 99], cycle("array-twin"): [102, 100, 105, 98, 104]}
    rows = rows_of({(case, "take"): values for case, values in figures.items()})
    assert {check.outcome for check in false_alarms(rows, 300)} == {Outcome.HOLDS}

    def careless(a: list[float], b: list[float], **rules: float) -> Finding:
        """Say slower as soon as the median is higher."""
        return replace(compare_samples(a, b), verdict=Verdict.SLOWER if median(b) > median(a) else Verdict.SAME)

    monkeypatch.setattr(alarms, "rates", partial(alarms.rates, judge=careless))
    found = false_alarms(rows, 300)
    assert len(found) == 3
    assert {check.outcome for check in found} == {Outcome.FAILS}
    assert false_alarms([], 100)[0].outcome is Outcome.NOT_MEASURED


def test_a_file_that_does_not_belong_to_the_run_is_seen(tmp_path: Path) -> None:
    path = stored(tmp_path, {(cycle("array"), "take"): [100.0, 101.0]})
    assert whole(path).outcome is Outcome.HOLDS
    (path / "calls" / "other.parquet").write_bytes(b"")
    check = whole(path)
    assert check.outcome is Outcome.FAILS
    assert "other.parquet" in check.why


def test_every_check_of_the_table_is_seen_to_fail() -> None:
    """Those of the verdicts and of the files by the tests above, all others on an instrument with a fault."""
    shown = {name for _, names in CAUGHT.values() for name in names}
    spins = {f"{spin}: {figure}" for spin in SPINS for figure in ("p50", "mean", "p50 net of the null call")}
    others = {
        "percentiles, mean and extremes",
        "percentiles of the histogram",
        "slow once in 1,000: interval of p99.9",
        "slow once in 1,000: p99",
        "slow once in 1,000: where",
        "structural and machine told apart",
        "sleep, on the clock on the wall",
        "sleep, on the CPU clock",
        "collection: its time",
        "collection: how many",
        "collection: where and why",
        "memory: slope beyond the payload",
        "memory: 8 MiB once",
        "memory: peak, 8 MiB more for a moment",
        "memory: leak",
        "memory: no leak",
    }
    assert shown == spins | others


def test_every_part_is_planned_once_with_the_processes_it_needs() -> None:
    for effort in (QUICK, FULL):
        executions = planned(effort)
        assert len({execution.id for execution in executions}) == len(executions)
        cases = [case for part in parts(effort) for case in part.cases]
        assert {execution.case for execution in executions} == set(cases)
        assert len({case.key for case in cases}) == len(cases)
    assert {part.name for part in parts(FULL)} == {part for part, _ in CAUGHT.values()} | {"verdicts"}
    assert sum(execution.case.workload == "seldom" for execution in planned(FULL)) == 5 + 20 * 2 * 3
    assert planned(FULL, ["sleep"]) == [e for e in planned(FULL) if e.case.subject == "sleep"]
    assert [len(planned(replace(QUICK, comparisons=n), ["verdicts"])) for n in (1, 3)] == [20, 60]
    assert set(COMPARED) == {"identical subjects", "10 % slower", "30 % slower"}
