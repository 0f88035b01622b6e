"""A run that is killed goes on to what it would have become; `python -m tests.kills` kills as often as it is told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.kills import Kills, compare, kill_often, uninterrupted

SMALL = ("--suite", "quick", "--subject", "array", "--workload", "cycle", "--processes", "1")


@pytest.mark.processes
def test_a_run_that_is_killed_twice_holds_every_execution_once_and_leaves_nothing(tmp_path: Path) -> None:
    kills = kill_often(2, 3, tmp_path, SMALL)
    assert kills.killed == 2
    assert kills.problems == []


@pytest.mark.processes
def test_a_lost_and_a_changed_execution_would_be_seen(tmp_path: Path) -> None:
    path, span = uninterrupted(tmp_path, SMALL)
    kills = Kills(1, Random(1), tmp_path, SMALL, span)
    results = path.parent.parent
    plan = [("timer/array/growth/messages=5/latency/cpu/gc-on", 0)]
    compare(kills, results, {}, plan, set(plan))
    assert any("its plan is another one" in problem for problem in kills.problems)
    assert any("other executions" in problem for problem in kills.problems)
