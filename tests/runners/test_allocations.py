"""memray on a tiny queue, for real: what it allocates, what it holds, and by whom."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from lab import archive
from lab.case import Case
from lab.cli_run import _watched
from lab.flame import tree
from lab.front import Stop
from runners import allocations
from runners.run import Settings, carry_out
from runners.spawn import Limits
from runners.suites import SUITES
from tests.runners.test_run import HERE, started
from tests.runners.workers import write_tiny

pytestmark = pytest.mark.processes
pytest.importorskip("memray")

HOLDS = """
from tiny import Tiny


class Hundred(Tiny):
    '''Keeps a block of 100,000 bytes for every message, and drops another one.'''

    def enqueue(self, start, *message):
        bytearray(50_000)
        Tiny.enqueue(self, start, *message, bytearray(100_000))

    def take(self, now, limit=None):
        batch = Tiny.take(self, now, limit)
        if batch:
            batch.items = [item[:2] for item in batch.items]
        return batch
"""


def spec(folder: Path, target: str, workload: str = "resident", **params: int) -> dict[str, Any]:
    write_tiny(folder)
    (folder / "holds.py").write_text(HOLDS, encoding="utf-8")
    return {
        "kind": "memory",
        "family": "timer",
        "subject": "tiny",
        "target": target,
        "path": [str(folder)],
        "workload": workload,
        "params": params or {"messages": 40},
        "seed": 1,
        "clock": "cpu",
        "gc": "on",
    }


def seen(case: dict[str, Any], python: str = sys.executable) -> tuple[dict[str, int], list[str], list[str]]:
    flames: list[str] = []
    columns, problems = allocations.measure(case, flames.append, python=python, limits=Limits(seconds=60))
    return columns, flames, problems


def test_what_a_queue_holds_and_drops_is_seen_with_who_asked_for_it(tmp_path: Path) -> None:
    columns, (flame,), problems = seen(spec(tmp_path, "holds:Hundred", messages=40))
    assert problems == []
    held = 40 * 100_000
    assert held <= columns["high_water_bytes"] <= held + 50_000 + 40_000
    assert columns["allocations"] >= 40 * 4  # two blocks, a float and a text a message
    root = tree(flame)
    fill = root.inner["resident (memory.py)"].inner["fill_by_steps (memory.py)"].inner["fill (memory.py)"]
    enqueue = fill.inner["enqueue (holds.py)"]
    assert held <= enqueue.bytes <= held + 50_000 + 20_000
    assert root.bytes == columns["high_water_bytes"]
    assert "allocations.py" not in flame
    assert "/" not in flame


def test_without_a_queue_next_to_nothing_is_held(tmp_path: Path) -> None:
    columns, _, problems = seen(spec(tmp_path, "", "baseline", messages=500))
    assert problems == []
    assert columns["high_water_bytes"] < 20_000
    # A float and a text a message and what makes the text, all of it let go at once: releases do not count.
    assert 500 * 2 <= columns["allocations"] <= 500 * 8


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tiny:LiesAboutLosing", "check-failed: message 0 is (0.0,): expected (0.0, 'message 0')"),
        ("tiny:Nothing", "error: "),
    ],
)
def test_a_case_that_fails_gives_no_figures_and_says_why(target: str, said: str, tmp_path: Path) -> None:
    columns, flames, (problem,) = seen(spec(tmp_path, target))
    assert (columns, flames) == ({}, [])
    assert problem.startswith(f"memray gave no figures for tiny, resident ({said}")


def test_an_interpreter_without_memray_is_one_sentence(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    columns, _, (problem,) = seen(spec(tmp_path, "tiny:Tiny"), python=str(bare))
    assert columns == {}
    assert "memray is not installed for this interpreter" in problem


def test_a_run_with_memray_has_its_figures_once_a_case_and_keeps_the_flame(tmp_path: Path) -> None:
    cases = [
        Case.of("memory", "timer", "array", "resident", messages=1_000),
        Case.of("memory", "timer", "null", "baseline", messages=1_000),
    ]
    chosen = Settings(limits=Limits(seconds=60), path=(str(HERE),), memray=True)
    with started(tmp_path, cases, processes=2) as run:
        carry_out(run, chosen)
        assert archive.verify(run.path) == []  # while it is running
        assert run.finish() == "complete"
        rows = sorted(run.rows().to_pylist(), key=lambda row: row["process"])
    assert chosen.notes == []
    assert {row["process"]: row["allocations"] is not None for row in rows} == {0: True, 1: False}
    array, null = (next(row for row in rows if row["subject"] == name) for name in ("array", "null"))
    assert array["high_water_bytes"] > null["high_water_bytes"] + 1_000 * 60
    assert array["allocations"] > null["allocations"]
    flames = sorted((run.path / "flames").iterdir())
    assert [path.name.split(".")[1] for path in flames] == ["array", "null"]
    assert archive.verify(run.path) == []
    flames[0].write_text(flames[0].read_text(encoding="utf-8") + "me 5\n", encoding="utf-8")
    (problem,) = archive.verify(run.path)
    assert problem.startswith(f"flames/{flames[0].name} was edited")


def test_memray_is_asked_for_or_part_of_the_full_suite_and_refused_where_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = [(name, asked, _watched(SUITES[name], asked)) for name in ("quick", "full") for asked in (False, True)]
    assert wanted == [("quick", False, False), ("quick", True, True), ("full", False, True), ("full", True, True)]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not _watched(SUITES["full"], asked=False)
    with pytest.raises(Stop, match="--memray was given and memray is not installed"):
        _watched(SUITES["quick"], asked=True)
