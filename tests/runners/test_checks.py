"""How far a check looks into a queue: at all of it until a process of the case found it right, then at its front."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import archive
from lab.case import Case
from queues.timer.array import Array
from queues.timer.heap import Heap
from runners import rigs, run, spawn
from runners.checks import Checking, verify
from runners.latency import CheckFailed
from runners.rigs import PAYLOAD, holds
from runners.spawn import Outcome
from tests.runners.test_run import settings, started

FRONT = 10


@pytest.fixture(autouse=True)
def _front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checking, "front", FRONT)


def filled(starts: list[float], queue: Any = None) -> Any:
    return rigs.fill(Array() if queue is None else queue, starts)


@pytest.mark.parametrize("make", [Array, Heap])
def test_what_is_behind_the_front_is_counted_and_stays(make: Any) -> None:
    queue = filled([float(start) for start in range(100)], make())
    holds(queue, 0, 100)()
    assert len(queue) == 100 - FRONT


def test_a_queue_no_longer_than_the_front_is_read_whole() -> None:
    queue = filled([float(start) for start in range(FRONT)])
    holds(queue, 0, FRONT)()
    assert len(queue) == 0


def test_all_that_is_due_with_the_last_of_the_front_belongs_to_it() -> None:
    starts = [*map(float, range(FRONT - 1)), *[50.0] * 5, 51.0]
    queue = filled(starts)
    verify(queue, len(starts), [(start, PAYLOAD) for start in starts])
    assert len(queue) == 1


def test_a_wrong_message_in_the_front_is_named() -> None:
    queue = filled([*map(float, range(5)), 5.5, *map(float, range(6, 100))])
    with pytest.raises(CheckFailed, match=r"message 5 is \(5.5, 'message'\): expected \(5.0, 'message'\)"):
        holds(queue, 0, 100)()


def test_a_missing_message_is_missed_wherever_it_was() -> None:
    with pytest.raises(CheckFailed, match="the queue holds 99 messages: expected 100"):
        holds(filled([float(start) for start in range(100) if start != 77]), 0, 100)()


def test_a_take_that_cuts_in_the_wrong_place_is_refused() -> None:
    class Greedy(Array):
        def take(self, now: Any = None, limit: int | None = None) -> Any:
            return super().take(now + 1, limit)

    with pytest.raises(CheckFailed, match=f"the front holds {FRONT + 1} messages: expected {FRONT}"):
        holds(filled([float(start) for start in range(100)], Greedy()), 0, 100)()


def growth(target: str = "") -> Case:
    return Case.of("latency", "timer", "own" if target else "array", "growth", messages=50, target=target)


def test_the_first_process_reads_all_and_the_others_the_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, really = [], spawn.run_worker

    def noting(spec: dict[str, Any], *arguments: Any, **options: Any) -> Outcome:
        asked.append(spec["front"])
        return really(spec, *arguments, **options)

    monkeypatch.setattr(run, "run_worker", noting)
    with started(tmp_path, [growth()], processes=3) as going:
        run.carry_out(going, settings())
        rows = going.rows().to_pylist()
    assert [row["status"] for row in rows] == ["ok"] * 3
    assert asked == [0, run.FRONT, run.FRONT]


def test_a_case_that_was_found_wrong_gives_no_number_in_any_process(tmp_path: Path) -> None:
    case = Case.of("latency", "timer", "own", "cycle", due=3, queued=5, calls=4, target="queues_that_misbehave:Loses")
    with started(tmp_path, [case], processes=3) as going:
        run.carry_out(going, settings())
        going.finish()
        rows = going.rows().to_pylist()
    assert [row["status"] for row in rows] == ["check-failed"] * 3
    assert [row["message"].startswith("not tried again: ") for row in rows] == [False, True, True]
    assert archive.verify(going.path) == []
