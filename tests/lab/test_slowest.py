"""A recorded run replayed through the whole analysis: what is stored of its slowest calls, and how that is shown."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lab import archive
from lab.case import Case, execution_of
from lab.documents import tables
from lab.reference import read_reference
from lab.sample import operation_columns
from lab.slowest import chosen, slowest_tables
from lab.table import text
from tests import door
from tests.lab.runs import ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "slowest.txt"
REFERENCE = ROOT / "results" / "reference"

STEADY = Case.of("latency", "timer", "array", "steady-enqueue", queued=200_000, calls=4_000)
LIFE = Case.of("batched", "timer", "array", "life-constant-delay", messages=2_000)
CAUSES = {777: "growth: list to 1,600,056 bytes; first touch: 390 pages", 1_234: "gc2", 2_500: "gc0"}


def calls_of(process: int) -> NDArray[np.int64]:
    """4,000 calls of about 2 µs: two that the structure makes slow, one that the machine does, one that both do."""
    calls = 2_000 + 7_919 * np.arange(4_000) % 101 + 3 * process
    calls[777] = 90_000 + 1_000 * process
    calls[1_234] = 40_000 - 500 * process
    calls[2_500] = 9_000 + 50_000 * (process == 1)
    calls[3_000] += 250_000 * (process == 2)
    calls[10] = 800_000  # warm-up
    return calls.astype(np.int64)


def recorded(root: Path) -> Path:
    """A run of four processes, explained and finished; nothing was timed."""
    planned = [execution_of(case, process, 5) for process in range(4) for case in (STEADY, LIFE)]
    with archive.create(
        root, "a-machine", "quick", seed=5, options={}, environment=ENVIRONMENT, planned=planned
    ) as run:
        for execution in planned:
            if execution.case == LIFE:
                calls, shape = np.arange(900, 925) * 2_000, {"calls_per_sample": 2_000, "warmup": 1}
                operation = "life"
            else:
                calls, shape, operation = calls_of(execution.process), {"warmup": 64, "same_work": True}, "enqueue"
            null = [1_000] * 100
            columns = operation_columns(calls, null_before=null, null_after=null, bare=[950, 960], **shape)  # type: ignore[arg-type]
            run.record(execution, [{"operation": operation, "status": "ok", **columns}], {operation: calls})
        slow = run.slowest_of(run.rows_of(STEADY.key))["enqueue"]
        run.causes[STEADY.key] = {"enqueue": {call: CAUSES.get(call, "") for call in slow.index}}
        assert run.finish() == "complete"
    return run.path


def test_a_recorded_run_shows_its_slowest_calls_as_it_did(tmp_path: Path) -> None:
    opened = archive.open_run(recorded(tmp_path))
    rows, cases = opened.rows().to_pylist(), opened.cases().to_pylist()
    (steady,) = chosen(cases, "steady-enqueue")
    assert steady["worst_index"][:3] == [777, 1_234, 2_500]
    assert steady["worst_ns"][:3] == [90_000, 38_500, 9_000]
    assert steady["worst_process_ns"][:4] == [90_000, 91_000, 92_000, 93_000]
    assert 10 not in steady["worst_index"]
    assert len(steady["worst_process_ns"]) == 4 * len(steady["worst_index"])
    shown = tables(rows, cases, read_reference(REFERENCE / "perl-5.40-timer.csv"))
    every_call = next(table for table in shown if table.title.startswith("Every call"))
    said = "\n\n".join(map(text, [*slowest_tables(cases, rows), every_call])) + "\n"
    got = GOLDEN.with_suffix(".got")
    got.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN.name} with {got.name}"
    got.unlink()


def test_slowest_calls_stand_in_the_order_of_the_processes_however_they_were_recorded(tmp_path: Path) -> None:
    planned = [execution_of(STEADY, process, 5) for process in range(3)]
    with archive.create(tmp_path, "a-machine", "quick", seed=5, options={}, environment={}, planned=planned) as run:
        for position, execution in enumerate(reversed(planned)):
            calls = calls_of(execution.process)
            row = {"operation": "enqueue", "status": "ok", "position": position, **operation_columns(calls, warmup=64)}
            run.record(execution, [row], {"enqueue": calls})
        run.finish()
    (case,) = archive.open_run(run.path).cases().to_pylist()
    assert case["worst_process_ns"][:3] == [90_000, 91_000, 92_000]
    assert set(case["worst_cause"]) == {"not looked for"}


def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    return door.lab("show", *arguments)


def test_the_command_prints_the_cases_that_are_meant_and_says_when_there_is_none(tmp_path: Path) -> None:
    path = str(recorded(tmp_path))
    said = lab(path, "--worst", "array enqueue")
    assert (said.returncode, said.stderr) == (0, "")
    title = f"The slowest calls: {STEADY.key}, enqueue"
    assert title in said.stdout
    assert "growth: list to 1,600,056 bytes; first touch: 390 pages" in said.stdout
    marked = lab(path, "--worst", STEADY.key, "--markdown")
    assert f"### {title}" in marked.stdout
    none = lab(path, "--worst", "heap")
    assert (none.returncode, "no measured case" in none.stderr, "'heap'" in none.stderr) == (2, True, True)
    batched = lab(path, "--worst", "life")
    assert batched.returncode == 4
    assert "has no slowest calls for 'life'" in batched.stderr


def test_the_reference_run_names_the_cause_of_the_slowest_call_of_an_array_that_grows() -> None:
    said = lab(
        str(sorted(REFERENCE.glob("*-standard"))[-1]), "--worst", "timer/array/growth/messages=200000/latency/cpu/gc-on"
    )
    assert said.returncode == 0, said.stderr
    slowest = said.stdout.split("what happened in it\n")[1].splitlines()[0]
    assert "structural" in slowest
    assert slowest.endswith("gc2")


@pytest.mark.parametrize("wanted", ["", "timer", "array steady-enqueue", STEADY.key, "enqueue"])
def test_a_case_is_meant_by_its_key_or_by_words_of_it(wanted: str) -> None:
    columns: dict[str, Any] = {"kind": "latency", "family": "timer", "subject": "array", "workload": "steady-enqueue"}
    columns |= {"params": STEADY.params_text, "clock": "cpu", "gc": "on", "target": "", "operation": "enqueue"}
    assert chosen([columns], wanted) == [columns]
    assert chosen([columns], f"{wanted} heap") == []
