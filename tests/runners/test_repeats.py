"""A run whose counters we make up: what is disturbed is set aside, run again at most twice, and recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import archive
from lab.case import Case
from lab.disturbance import note
from runners.disturbed import Budget
from runners.run import Settings, carry_out
from runners.spawn import Limits, Outcome, run_worker
from tests.runners.test_run import HERE, started

pytestmark = pytest.mark.processes

DISK = "disk: 9 page faults went to the disk"


def resident(subject: str = "array", target: str = "") -> Case:
    """Return a case of memory: nothing but the disk disturbs it, so the machine under the test does not."""
    return Case.of("memory", "timer", subject, "resident", messages=40, target=target)


class Made:
    """Runs real workers and changes what the system has counted: so many faults to the disk in each attempt."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, faults: Iterable[int]) -> None:
        self.faults = list(faults)
        self.started = 0
        monkeypatch.setattr("runners.run.run_worker", self)

    def __call__(self, *arguments: Any, **options: Any) -> Outcome:
        outcome = run_worker(*arguments, **options)
        counters = {**outcome.result.get("counters", {}), "major_faults": self.faults[self.started]}
        self.started += 1
        return replace(outcome, result={**outcome.result, "counters": counters})


def measured(folder: Path, case: Case, budget: Budget) -> list[dict[str, Any]]:
    with started(folder, [case], processes=1) as run:
        carry_out(run, Settings(limits=Limits(seconds=20), path=(str(HERE),), repeats=budget))
        assert run.finish() == "complete"
        rows: list[dict[str, Any]] = run.rows().to_pylist()
    assert archive.verify(run.path) == []
    return rows


PLENTY = 10**18


def test_a_disturbed_execution_is_run_again_and_says_what_was_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(monkeypatch, [9, 0])
    (row,) = measured(tmp_path, resident(), Budget(first_ns=PLENTY))
    assert (row["attempt"], row["set_aside"], row["disturbed"], row["status"]) == (1, DISK, "", "ok")
    assert (made.started, row["major_faults"]) == (2, 0)
    assert note([row]) == "1 disturbed attempt of 1 execution was set aside and measured again (1 × memory on the disk)"


def test_the_third_disturbed_attempt_is_kept_and_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(monkeypatch, [9, 9, 9, 9])
    (row,) = measured(tmp_path, resident(), Budget(first_ns=PLENTY))
    assert (row["attempt"], row["set_aside"], row["disturbed"]) == (2, f"{DISK}; {DISK}", DISK)
    assert made.started == 3


def test_without_time_for_repeats_a_disturbed_execution_stands_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(monkeypatch, [9, 9])
    (row,) = measured(tmp_path, resident(), Budget())
    assert (row["attempt"], row["set_aside"], row["disturbed"]) == (0, "", DISK)
    assert made.started == 1


def test_a_failed_check_is_an_answer_and_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(monkeypatch, [9, 9, 9])
    case = resident("forgets", target="queues_that_misbehave:Forgets")
    (row,) = measured(tmp_path, case, Budget(first_ns=PLENTY))
    assert (row["status"], row["attempt"], row["disturbed"], made.started) == ("check-failed", 0, "", 1)


def test_pyperf_is_counted_as_well(tmp_path: Path) -> None:
    case = Case.of("cost", "timer", "array", "enqueue-in-order", messages=50)
    (row,) = measured(tmp_path, case, Budget())
    assert row["counted_ns"] >= row["mean_ns"]
    assert row["processor_ns"] > 0
    assert row["attempt"] == 0
