"""Counts: equal to what the code says, equal in every process, and silent about nothing that they should see."""

from __future__ import annotations

import dis
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab import archive, environment
from lab.case import Case
from queues.registry import SUBJECTS, load
from runners import callgrind, counts
from runners.callgrind import Disagreement, instructions, per_call
from runners.counts import BytecodeCounter, OwnFiles
from runners.run import Settings, carry_out, plan
from runners.spawn import Limits
from runners.workload import NotOffered
from tests.runners.test_interpreters import installed
from tests.runners.workers import Ended, work

pytestmark = pytest.mark.processes

QUEUES = '''
import os
from collections import deque


class Batch:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)


class Straight:
    """Its put back is one straight line of code."""

    def __init__(self):
        self.items = []
        self.kept = []

    def enqueue(self, start, *message):
        self.items.append((start, *message))

    def take(self, now):
        due = sum(item[0] <= now for item in self.items)
        batch = Batch(self.items[:due])
        del self.items[:due]
        return batch if due else None

    def process(self, batch, handler):
        done = 0
        while batch.items:
            handler(*batch.items.pop(0))
            done += 1
        return done

    def requeue(self, batch):
        self.items[:0] = batch.items

    def __len__(self):
        return len(self.items)


class Keeps(Straight):
    """Keeps two objects of every call."""

    def requeue(self, batch):
        self.kept.append((object(), object()))
        Straight.requeue(self, batch)


class Copies(Straight):
    """Copies the batch until it is put back: a tuple for each message, and not one bytecode."""

    def take(self, now):
        batch = Straight.take(self, now)
        if batch is not None:
            batch.copied = list(zip(batch.items))
        return batch

    def requeue(self, batch):
        Straight.requeue(self, batch)
        batch.copied = None


class Wavers(Straight):
    """Does as it likes: another number of bytecodes in every process."""

    likes = os.getpid() % 50_000

    def requeue(self, batch):
        likes = self.likes
        while likes:
            likes -= 1
        Straight.requeue(self, batch)
'''


def counted(folder: Path, subject: str, workload: str = "cycle", target: str = "", **params: int) -> Ended:
    folder.mkdir(exist_ok=True)
    (folder / "straight.py").write_text(QUEUES, encoding="utf-8")
    params = params or {"due": 10, "queued": 20, "calls": 6}
    return work(folder, "counts", workload, target=target or f"straight:{subject}", params=params)


def operation(ended: Ended, name: str) -> dict[str, Any]:
    assert ended.result.get("status") == "ok", (ended.result, ended.stderr)
    return next(found for found in ended.result["operations"] if found["operation"] == name)


def per_call_of(ended: Ended, name: str, column: str = "samples") -> list[int]:
    found = operation(ended, name)
    return ended.samples(found[column])[found["warmup"] :]


def code_of(source: str, *names: str) -> Any:
    """The code object of a method in a source, found by the names on the way to it."""
    code = compile(source, "source", "exec")
    for name in names:
        code = next(const for const in code.co_consts if getattr(const, "co_name", None) == name)
    return code


def test_a_straight_line_of_code_counts_what_dis_lists(tmp_path: Path) -> None:
    listed = [line.opname for line in dis.get_instructions(code_of(QUEUES, "Straight", "requeue"))]
    shown = listed if sys.version_info >= (3, 12) else [name for name in listed if name != "RESUME"]
    assert set(per_call_of(counted(tmp_path, "Straight"), "requeue")) == {len(shown)}


def test_a_walk_counts_in_proportion_and_a_move_in_c_does_not_count(tmp_path: Path) -> None:
    found = {}
    for name, target in (("walk", SUBJECTS["timer"]["linked"]), ("move", SUBJECTS["timer"]["array-naive"])):
        for due in (10, 20, 40):
            ended = counted(tmp_path / f"{name}{due}", "", target=target, due=due, queued=300, calls=4)
            (found[name, due],) = set(per_call_of(ended, "requeue"))
    assert found["walk", 40] - found["walk", 20] == 2 * (found["walk", 20] - found["walk", 10]) > 0
    assert found["move", 10] == found["move", 20] == found["move", 40] > 0


@pytest.mark.parametrize(("subject", "more"), [("Straight", 0), ("Keeps", 3)])
def test_blocks_are_those_that_a_call_leaves(tmp_path: Path, subject: str, more: int) -> None:
    straight = per_call_of(counted(tmp_path / "straight", "Straight"), "requeue", "blocks")
    own = per_call_of(counted(tmp_path / "own", subject), "requeue", "blocks")
    assert own == [blocks + more for blocks in straight]


def test_a_copy_of_the_batch_that_executes_no_bytecode_for_a_message_is_caught_by_blocks(tmp_path: Path) -> None:
    small, large = (counted(tmp_path / str(due), "Copies", due=due, queued=300, calls=4) for due in (10, 40))
    assert per_call_of(small, "requeue") == per_call_of(large, "requeue")
    assert set(per_call_of(large, "take", "blocks")) == {per_call_of(small, "take", "blocks")[0] + 30}


def test_only_the_queues_own_files_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "owned"
    (package / "inner").mkdir(parents=True)
    for path in ("__init__.py", "inner/__init__.py", "inner/nodes.py"):
        (package / path).touch()
    (package / "queue.py").write_text("from collections import UserList\nclass Queue(UserList): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import importlib

    files = OwnFiles(importlib.import_module("owned.queue").Queue)
    assert files[str(package / "queue.py")]
    assert files[str(package / "inner" / "nodes.py")]
    assert not any(files[str(path)] for path in (tmp_path / "ownedelse.py", counts.__file__, dis.__file__))
    peer = OwnFiles(load("timer", "sched"))
    assert peer[str(Path(counts.ROOT) / "queues" / "peers" / "handles.py")]
    import sched

    assert not peer[sched.__file__]


def test_the_collector_must_be_off(tmp_path: Path) -> None:
    ended = work(tmp_path, "counts", "cycle", gc="on")
    assert ended.result["status"] == "error"
    assert "'gc' of a case of counts is 'on': expected off" in ended.result["message"]


def test_an_interpreter_that_shows_no_bytecodes_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
    with pytest.raises(NotOffered, match="pypy shows no bytecodes"):
        BytecodeCounter(OwnFiles(object))


def run_of(folder: Path, subject: str, name: str, python: str = sys.executable, calls: int = 6) -> list[dict[str, Any]]:
    """Count one case as a run does, and return its rows."""
    folder.mkdir(exist_ok=True)
    (folder / "straight.py").write_text(QUEUES, encoding="utf-8")
    registered = subject in SUBJECTS["timer"]
    target = "" if registered else f"straight:{subject}"
    case = Case.of("counts", "timer", subject.lower(), name, gc="off", target=target, calls=calls, due=10, queued=20)
    planned = plan([case], 3, 1)
    assert len(planned) == 1
    run = archive.create(
        folder, "test", "counts", seed=1, options={}, environment=environment.capture(), planned=planned
    )
    carry_out(run, Settings(limits=Limits(seconds=20), path=(str(folder),), python=python))
    run.finish()
    rows: list[dict[str, Any]] = run.rows().to_pylist()
    return rows


def test_a_run_stores_counts_of_all_calls_together_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callgrind, "missing", lambda: callgrind.MISSING)
    take, requeue = run_of(tmp_path, "linked", "cycle")
    assert (take["status"], take["n"], take["warmup"], take["gc"]) == ("ok", 5, 1, "off")
    alone = per_call_of(counted(tmp_path / "alone", "", target=SUBJECTS["timer"]["linked"]), "take")
    assert take["bytecodes"] == sum(alone)
    assert requeue["allocated_blocks"] == 0  # a batch of 10: its ints have no blocks of their own
    assert take["instructions"] is None
    assert take["p50_ns"] is None
    assert "valgrind is not installed" in take["message"]


def test_counts_that_do_not_repeat_are_a_finding_and_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "missing", lambda: callgrind.MISSING)
    (row,) = run_of(tmp_path, "Wavers", "cycle")
    assert row["status"] == "check-failed"
    assert "requeue executed" in row["message"]
    assert "counts must repeat exactly" in row["message"]
    assert row["bytecodes"] is None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_interpreter_counts_and_agrees_with_itself(
    tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ".".join(map(str, sys.version_info[:2])) == version
    python = sys.executable if own else installed(version)
    if not python:
        pytest.skip(f"Python {version} is not installed here")
    monkeypatch.setattr(callgrind, "missing", lambda: callgrind.MISSING)
    take, requeue = run_of(tmp_path, "linked-known-tail", "cycle", python)
    assert take["python"].startswith(f"{version}.")
    assert take["bytecodes"] > requeue["bytecodes"] > 0
    assert take["bytecodes"] % take["n"] == 0


def test_what_lies_between_the_entries_of_the_clock_is_given_to_its_operation() -> None:
    assert per_call([900, 7, 3, 8, 700], ["enqueue"]) == {"enqueue": [7, 8]}
    for parts in ([900, 7, 3, 700], [900], [900, 7, 3, 8, 4, 700]):
        with pytest.raises(Disagreement, match="callgrind stopped"):
            per_call(parts, ["enqueue"])


def test_callgrind_runs_that_differ_in_a_call_that_they_share_are_a_finding() -> None:
    single, double = {"take": [40]}, {"take": [40, 41]}
    assert instructions([single, double, double], 1) == {"take": 41}
    for runs, call in (([single, double, {"take": [40, 42]}], 1), ([{"take": [39]}, double, double], 0)):
        with pytest.raises(Disagreement, match=f"take took 4[01] instructions in one run and .* at call {call}"):
            instructions(runs, 1)
