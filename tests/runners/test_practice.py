"""Faults of other benchmarks, part P of the list, where no other test has the rule in its name."""

from __future__ import annotations

import ast
from array import array
from pathlib import Path
from typing import Any

import pytest

from lab.case import Case
from lab.record import facts_of
from runners.operations import operations
from runners.pacing_ticker import Notes, held_against_the_grid
from runners.run import Settings, carry_out
from runners.spawn import Limits, Outcome
from tests.runners.test_run import started

TESTS = Path(__file__).resolve().parents[1]


def told(folder: Path, call_ns: int, null_ns: int, subject: str = "array") -> tuple[Outcome, list[dict[str, Any]]]:
    """What becomes of a worker's result whose calls and null calls took so long, each time."""
    for name, ns in (("take", call_ns), ("before", null_ns), ("after", null_ns)):
        with (folder / name).open("wb") as file:
            array("q", [ns] * 100).tofile(file)
    operation = {"operation": "take", "samples": "take", "null_before": "before", "null_after": "after"}
    case = Case.of("latency", "timer", subject, "cycle", due=3, queued=5, calls=4)
    outcome, rows, _ = operations(case, Outcome("ok", "", {"operations": [operation]}), folder, {})
    return outcome, rows


def test_p03_a_call_that_took_less_than_the_null_call_gets_no_number(tmp_path: Path) -> None:
    outcome, rows = told(tmp_path, call_ns=79, null_ns=100)
    assert (outcome.status, rows) == ("check-failed", [])
    assert outcome.message == "take took less than the null call (79 ns): it cannot have done its work"
    for call_ns in (80, 100, 5_000):
        outcome, (row,) = told(tmp_path, call_ns, null_ns=100)
        assert (outcome.status, row["p50_ns"], row["net_p50_ns"]) == ("ok", call_ns, call_ns - 100)
    assert told(tmp_path, call_ns=10, null_ns=100, subject="null")[0].ok  # the instrument is held against itself


@pytest.mark.parametrize("keeps_the_grid", [True, False])
def test_p07_a_stall_counts_in_full_from_the_intended_start_of_each_tick(keeps_the_grid: bool) -> None:
    came = [101.0, 102.0, 103.0, 118.5, 118.5, 119.5, 120.5]  # 15 s in which nothing ran
    notes = Notes(len(came))
    for k, now in enumerate(came):
        notes.came[k], notes.meant[k] = now, 101.0 + k if keeps_the_grid else now
    phase, figures = held_against_the_grid(100.0, 1.0, notes)
    late = [0, 0, 0, 14.5, 13.5, 13.5, 13.5]
    assert phase.tolist() == [round(each * 1e9) for each in late]
    assert figures["drift_ns"] == (0 if keeps_the_grid else 13.5e9)


@pytest.mark.processes
def test_p10_version_durability_and_isolation_stand_in_every_row_of_a_case(tmp_path: Path) -> None:
    decisive = {"version": "15.8", "fsync": "on", "isolation": "read committed"}
    case = Case.of("latency", "timer", "array", "cycle", due=3, queued=5, calls=4)
    with started(tmp_path, [case], processes=1) as run:
        carry_out(run, Settings(limits=Limits(seconds=20), facts=lambda case: decisive))
        rows = run.rows().to_pylist()
    assert [row["operation"] for row in rows] == ["take", "requeue"]
    assert all(facts_of(row).items() >= decisive.items() for row in rows)
    assert all(row["params"] == "calls=4,due=3,queued=5" for row in rows)


WAITS_FOR_A_PROCESS = {"runners/test_servers.py", "runners/processes.py", "kills.py"}
"""Files whose tests wait, in small steps and up to a limit, for what another process does."""


def sleeps(tree: ast.Module) -> list[int]:
    """Return the lines that call the real `time.sleep`, under its own or another name."""
    named = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name == "sleep"
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if ast.unparse(call.func) in named | {"time.sleep"}]


def test_p11_no_test_waits_for_time_to_pass() -> None:
    assert sleeps(ast.parse("import time\nfrom time import sleep as nap\ntime.sleep(1)\nnap(2)\nclock.sleep(3)")) == [
        3,
        4,
    ]
    found = {
        file.relative_to(TESTS).as_posix(): lines
        for file in sorted(TESTS.rglob("*.py"))
        if (lines := sleeps(ast.parse(file.read_text(encoding="utf-8"))))
    }
    assert set(found) <= WAITS_FOR_A_PROCESS, found
