"""The measurements of tickers, limiters and cooperative sleep: tiny ones in real processes, and their tables."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.table import text
from queues.conformance import BROKEN, KEPT, NOT_OFFERED, Outcome
from runners import pacing
from runners.pacing_cases import FULL, PARTS, QUICK, WORKS, cases, measured
from runners.pacing_limiter import grants
from runners.pacing_tables import TABLES, promise_table
from runners.pacing_ticker import Notes, figures

ROOT = Path(__file__).resolve().parents[2]
TINY = replace(QUICK, ticks=20, calls=60, waiters=20, each=2, rate=10_000, burst=5, workers=20, worker_interval=0.002)


def one(part: str, subject: str, **also: Any) -> dict[str, Any]:
    chosen = [
        case for case in cases(TINY, (part,), (subject,)) if all(case[name] == value for name, value in also.items())
    ]
    return measured(chosen[0], 30.0)


def test_every_part_has_cases_for_every_subject_and_the_full_size_gives_a_p999() -> None:
    assert {case["kind"] for case in cases(FULL)} == set(PARTS)
    tickers = cases(FULL, ("ticker",))
    assert {case["work"] for case in tickers} == set(WORKS)
    assert len(tickers) == 3 * len({case["subject"] for case in tickers})
    assert FULL.ticks >= 3688
    assert FULL.workers == 10_000
    assert FULL.waiters == 1000


@pytest.mark.processes
@pytest.mark.parametrize("subject", ["bare-sleep", "channel", "arithmetic-asyncio"])
def test_a_ticker_has_no_drift_and_stands_on_its_grid(subject: str) -> None:
    result = one("ticker", subject, work=0.2)
    assert result["status"] == "ok", result
    assert len(result["phase_ns"]) == TINY.ticks
    assert min(result["phase_ns"]) >= 0
    assert result["drift_ns"] == 0
    assert result["off_grid_ns"] < 1
    assert result["span_ns"] >= (TINY.ticks + result["dropped"] - 1) * TINY.interval * 1e9


@pytest.mark.processes
def test_the_naive_loop_drifts_by_at_least_its_work() -> None:
    result = one("ticker", "naive-sleep", work=0.2)
    assert result["status"] == "ok", result
    assert result["drift_ns"] >= 0.2 * TINY.interval * 1e9 * (TINY.ticks - 1)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("subject", "operation"),
    [
        ("arithmetic", "granted"),
        ("semaphore-asyncio", "refused"),
        ("aiolimiter", "acquire"),
        ("limits-fixed", "granted"),
    ],
)
def test_every_call_of_a_limiter_is_timed_beside_the_null_call(subject: str, operation: str) -> None:
    result = one("calls", subject, operation=operation)
    assert result["status"] == "ok", result
    assert len(result["call_ns"]) == len(result["null_ns"]) == TINY.calls
    assert sorted(result["call_ns"])[TINY.calls // 2] > 0


@pytest.mark.processes
@pytest.mark.parametrize("subject", ["arithmetic", "semaphore", "arithmetic-asyncio"])
def test_waiters_all_get_their_permits_within_the_bound_and_are_woken_at_most_twice(subject: str) -> None:
    result = one("waiters", subject)
    assert result["status"] == "ok", result
    assert result["grants"] == TINY.waiters * TINY.each
    assert min(result["late_ns"]) >= 0
    assert result["wakes_per_grant"] <= (3 if subject == "semaphore" else 2)


@pytest.mark.processes
@pytest.mark.parametrize("subject", ["green", "threads", "asyncio"])
def test_the_plan_runs_in_every_kind_of_worker(subject: str) -> None:
    result = one("cooperative", subject)
    assert result["status"] == "ok", result
    assert len(result["late_ns"]) == 4 * TINY.workers
    assert result["wall_ns"] >= 4 * TINY.worker_interval * 1e9
    if subject == "green":
        assert "sched.scheduler.__init__(delayfunc=)" in result["bound_early"]
        assert result["slept_after_burning_ns"] >= 20_000_000


@pytest.mark.processes
def test_what_a_subject_does_ends_as_a_status_and_a_note() -> None:
    case = {"kind": "waiters", "subject": "pyrate-limiter", "waiters": 2, "each": 1, "rate": 10**7, "burst": 1}
    failed = measured(case, 30.0)
    assert failed["status"] == "error"
    hung = measured({"kind": "ticker", "subject": "arithmetic", "interval": 3600.0, "ticks": 1, "work": 0.0}, 0.5)
    assert (hung["status"], hung["message"]) == ("timeout", "did not end within 0.5 s")
    said = text(TABLES["ticker"]([hung]))
    assert "arithmetic 0.0: timeout, did not end within 0.5 s" in said


def test_the_phase_of_a_loop_without_a_grid_is_held_against_the_one_it_began_with() -> None:
    notes = Notes(3)
    for place in range(3):
        notes.came[place] = notes.meant[place] = 100.0 + 1.25 * (place + 1)
    found = figures(100.0, 1.0, notes)
    assert found["phase_ns"] == [250_000_000, 500_000_000, 750_000_000]
    assert found["drift_ns"] == 500_000_000


def test_the_phase_of_a_tick_is_how_long_after_its_instant_it_came() -> None:
    notes = Notes(2)
    notes.came[0], notes.meant[0] = 101.5, 101.0
    notes.came[1], notes.meant[1] = 103.25, 103.0
    found = figures(100.0, 1.0, notes)
    assert (found["phase_ns"], found["drift_ns"]) == ([500_000_000, 250_000_000], 0)


def test_grants_are_held_against_the_rate_the_bound_and_the_order_of_the_waiters() -> None:
    case = {"rate": 1, "burst": 2, "waiters": 2}
    found = grants([(100.0, 7), (100.0, 8), (101.5, 7), (102.0, 8), (103.0, 7), (104.0, 8)], case)
    assert found["late_ns"] == [500_000_000, 0, 0, 0]
    assert found["of_rate"] == 3 / 2.5
    assert found["over_bound"] == 0.0
    assert (found["out_of_order"], found["fewest"], found["most"], found["grants"]) == (0, 2, 2, 6)
    assert grants([(100.0, 0), (100.0, 1), (100.5, 0), (101.5, 1)], case)["over_bound"] == 0.5
    circle = {"rate": 1, "burst": 4, "waiters": 4}
    numbers = [3, 1, 0, 2, 3, 0, 1, 2]
    found = grants([(float(place), number) for place, number in enumerate(numbers)], circle)
    assert found["out_of_order"] == 1


def test_the_promise_table_says_on_which_input_the_bound_is_broken() -> None:
    table = promise_table(
        "limiter",
        {
            "ours": [Outcome("bound", "", KEPT, ""), Outcome("in-order", "", KEPT, "")],
            "theirs": [
                Outcome("bound", "", BROKEN, "made with (1, 5): 6 granted"),
                Outcome("in-order", "", NOT_OFFERED, ""),
            ],
        },
    )
    assert table.rows == (("bound", "kept", "BROKEN"), ("in-order", "kept", "–"))
    assert "theirs breaks bound: made with (1, 5): 6 granted" in table.notes


@pytest.mark.processes
def test_the_help_has_an_example_and_a_wrong_subject_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "runners.pacing"]
    said = subprocess.run([*command, "--help"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert "Example: python -m runners.pacing" in " ".join(said.split())
    wrong = subprocess.run([*command, "--subject", "rope"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert wrong.returncode == 2
    assert "rope" in wrong.stderr
    assert "Traceback" not in wrong.stderr


@pytest.mark.processes
def test_the_tables_and_the_data_come_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "QUICK", TINY)
    data = tmp_path / "pacing.json"
    arguments = ["--quick", "--part", "waiters", "--subject", "arithmetic", "--json", str(data), "--markdown"]
    assert pacing.main(arguments) == 0
    said = capsys.readouterr().out
    assert "### Limiter: many waiting" in said
    assert "| arithmetic |" in said
    assert [result["status"] for result in json.loads(data.read_text(encoding="utf-8"))] == ["ok"]
