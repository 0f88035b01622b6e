"""The folder of an execution and all that lives in it go with whoever asked for it, kill -9 included."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runners import folders
from runners.folder_keeper import KEPT, living_in, sweep
from tests.runners.processes import came_true, ended

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

OUTSIDE = """
import json, sys
from runners.folders import working_folder
from runners.spawn import Limits, run_worker
spec = json.loads(sys.argv[1])
with working_folder() as folder:
    print(folder, flush=True)
    run_worker(spec, folder, limits=Limits(seconds=60))
"""
"""A process that has a worker in a folder, and never hears of it again."""


def spec(queue: str) -> str:
    import json

    case = {"kind": "latency", "family": "timer", "subject": "own", "target": f"queues_that_misbehave:{queue}"}
    how = {"path": [str(HERE)], "workload": "cycle", "params": {"due": 3, "queued": 5, "calls": 4}}
    return json.dumps({**case, **how, "seed": 1, "clock": "cpu", "gc": "on"})


def outside(base: Path, queue: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", OUTSIDE, spec(queue)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(base)},
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def workers_of(folder: Path) -> list[int]:
    found: list[int] = []

    def there() -> bool:
        found[:] = living_in(folder)
        return bool(found)

    assert came_true(there), "no worker lives in the folder"
    return found


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("queue", ["Hangs", "HangsWithADaemon"])
def test_kill_9_of_the_parent_ends_its_worker_and_takes_the_folder_away(queue: str, tmp_path: Path) -> None:
    process, folder = outside(tmp_path, queue)
    wanted = 1 if queue == "Hangs" else 2
    assert came_true(lambda: len(living_in(folder)) == wanted)
    workers = workers_of(folder)
    killed(process)
    assert all(ended(pid) for pid in workers)
    assert came_true(lambda: list(tmp_path.iterdir()) == [])


def test_what_a_killed_keeper_has_left_is_taken_away_by_the_next_one(tmp_path: Path) -> None:
    process, folder = outside(tmp_path, "Hangs")
    (worker,) = workers_of(folder)
    (keeper,) = keepers_of(process.pid)
    os.kill(keeper, signal.SIGKILL)
    killed(process)
    assert ended(keeper)
    assert living_in(folder) == [worker]
    sweep(tmp_path, "lab-", 0, KEPT)
    assert ended(worker)
    assert list(tmp_path.iterdir()) == []


def keepers_of(pid: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(pid).children() if "folder_keeper" in " ".join(child.cmdline())]


def test_a_folder_that_is_in_use_and_one_of_somebody_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "lab-notes").mkdir()
    process, folder = outside(tmp_path, "Hangs")
    workers = workers_of(folder)
    sweep(tmp_path, "lab-", 0, KEPT)
    assert folder.is_dir()
    assert living_in(folder) == workers
    killed(process)
    assert came_true(lambda: [path.name for path in tmp_path.iterdir()] == ["lab-notes"])


def test_without_a_keeper_there_is_a_folder_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_kept", [])
    monkeypatch.setattr(folders, "KEEPER", tmp_path / "missing.py")
    with folders.working_folder() as folder:
        assert folder.is_dir()
    assert not folder.exists()


def test_a_folder_that_was_taken_away_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_kept", [])
    with folders.working_folder() as first:
        pass
    first.parent.rename(gone := first.parent.with_name("gone-" + first.parent.name))
    with folders.working_folder() as second:
        assert second.parent != first.parent
    folders.leave()
    assert not second.parent.exists()
    gone.rename(first.parent)
    sweep(first.parent.parent, first.parent.name, 0, KEPT)
    assert not first.parent.exists()
