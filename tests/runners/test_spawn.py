"""A fresh process per execution: whatever a queue does to it ends as a status and a sentence."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from runners.folder_keeper import living_in
from runners.spawn import Limits, pinned_processor, prime, processors, run_worker, worker_environment

pytestmark = pytest.mark.processes

HERE = Path(__file__).resolve().parent


def spec(queue: str, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "latency",
        "family": "timer",
        "subject": queue.lower(),
        "target": f"queues_that_misbehave:{queue}",
        "path": [str(HERE)],
        "workload": "cycle",
        "params": {"due": 3, "queued": 5, "calls": 4},
        "seed": 1,
        "clock": "cpu",
        "gc": "on",
        **changes,
    }


@pytest.mark.parametrize(
    ("queue", "status", "words"),
    [
        ("Plain", "ok", ""),
        ("Prints", "ok", ""),
        ("Killed", "crashed", "SIGKILL"),
        ("Leaves", "crashed", "left the process"),
        ("Raises", "error", "the wheel has no spokes"),
        ("Eats", "memory-limit", "more memory than the limit allows"),
        ("Loses", "check-failed", ""),
        ("Forks", "ok", ""),
    ],
)
def test_what_a_queue_does_to_its_process_ends_as_a_status(queue: str, status: str, words: str, tmp_path: Path) -> None:
    outcome = run_worker(spec(queue), tmp_path, limits=Limits(seconds=20, memory_bytes=1 << 30))
    assert outcome.status == status, outcome
    assert words in outcome.message
    assert "Traceback" not in outcome.message
    assert (status == "ok") == bool(outcome.result.get("operations"))


def test_a_queue_that_exits_is_a_failed_execution(tmp_path: Path) -> None:
    outcome = run_worker(spec("Exits"), tmp_path, limits=Limits(seconds=20))
    assert outcome.status in ("error", "crashed")
    assert outcome.message


def test_a_queue_that_hangs_is_stopped_at_the_time_limit(tmp_path: Path) -> None:
    outcome = run_worker(spec("Hangs"), tmp_path, limits=Limits(seconds=1))
    assert outcome.status == "timeout"
    assert "did not end within 1 s" in outcome.message
    assert outcome.result == {}


def test_what_a_stopped_queue_had_on_disk_is_in_the_folder_of_its_execution(tmp_path: Path) -> None:
    assert run_worker(spec("HangsWithAFile"), tmp_path, limits=Limits(seconds=1)).status == "timeout"
    assert len(list(tmp_path.glob("misbehaving-*"))) == 1


def test_children_of_a_worker_end_with_it(tmp_path: Path) -> None:
    assert run_worker(spec("Forks"), tmp_path, limits=Limits(seconds=20)).ok
    assert started_in(tmp_path) == []


def test_a_daemon_of_a_worker_ends_with_it(tmp_path: Path) -> None:
    assert run_worker(spec("LeavesADaemon"), tmp_path, limits=Limits(seconds=20)).ok
    assert living_in(tmp_path) == []


def started_in(folder: Path) -> list[int]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if bytes(folder) in line.read_bytes():
                found.append(int(line.parent.name))
        except OSError:
            continue
    return found


def test_a_worker_runs_on_one_processor_where_there_are_two(tmp_path: Path) -> None:
    if pinned_processor() is None:
        assert len(processors()) < 2
        return
    (tmp_path / "asks.py").write_text(
        "import os\nfrom queues_that_misbehave import Plain\n"
        "class Asks(Plain):\n"
        "    def take(self, now):\n"
        "        assert len(os.sched_getaffinity(0)) == 1, os.sched_getaffinity(0)\n"
        "        return super().take(now)\n",
        encoding="utf-8",
    )
    asked = spec("Plain", target="asks:Asks", path=[str(tmp_path), str(HERE)])
    folder = tmp_path / "work"
    folder.mkdir()
    outcome = run_worker(asked, folder, limits=Limits(seconds=20))
    assert outcome.ok, outcome


def test_the_environment_of_a_worker_holds_its_hash_seed_its_padding_and_nothing_of_the_user() -> None:
    environment = worker_environment(hash_seed=7, padding=3)
    assert environment["PYTHONHASHSEED"] == "7"
    assert environment["LAB_PADDING"] == "xxx"
    assert not {"HOME", "USER", "LOGNAME", "PYTHONDONTWRITEBYTECODE"} & set(environment)


def test_the_hash_seed_reaches_the_worker(tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-S", "-s", "-P", "-c", "print(hash('lab'))"],
            env=worker_environment(hash_seed=seed),
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 1, 2)
    ]
    assert said[0] == said[1] != said[2]


def test_priming_compiles_what_a_worker_loads() -> None:
    prime()
    assert list((HERE.parent.parent / "runners" / "__pycache__").glob("worker.*.pyc"))


def test_ending_is_noticed_at_once_not_at_the_next_look(tmp_path: Path) -> None:
    folders = []
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        folders.append(folder)
    started_ns = time.monotonic_ns()
    outcomes = [run_worker(spec("Plain"), folder) for folder in folders]
    taken_ns = time.monotonic_ns() - started_ns
    assert all(outcome.ok for outcome in outcomes)
    assert sum(outcome.duration_ns for outcome in outcomes) <= taken_ns
