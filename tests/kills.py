"""Kill a run at random moments and go on with it: `python -m tests.kills`, fifty kills by default, in a few minutes.

A small real `lab run` is killed (kill -9), resumed, perhaps killed again, until it is complete; then another one. Who
is killed is drawn as well: `lab` alone, with the worker that it has, with the keeper of its folder, or all three. Each
time the run must be readable and verified right after the kill, hold afterwards every execution of the plan once, those
from before the kill as they were, and leave no process and no temporary folder behind. A reader goes through the run
all the while. Everything that is drawn follows from `--seed`; when a kill lands is up to the machine. Ends with 1 and
the sentences of what was not so.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from lab import archive
from runners.folder_keeper import KEPT, PREFIX, living_in, sweep
from tests.runners.processes import came_true

ROOT = Path(__file__).resolve().parent.parent
CHOICE: tuple[str, ...] = ("--suite", "quick", "--subject", "array", "--subject", "linked", "--workload", "cycle")
CHOICE += ("--workload", "growth", "--workload", "resident", "--processes", "2")
VICTIMS = (("lab",), ("lab",), ("lab", "worker"), ("lab", "keeper"), ("lab", "worker", "keeper"))
"""Who is killed; `lab` alone twice as often as any other company."""

AGAIN = 0.4
"""How likely a run that was resumed is killed once more."""

NEVER_SECONDS = 300.0
"""No run of this size takes so long: one that does hangs."""

LOOK_SECONDS = 0.02

Identity = tuple[str, int, str]


@dataclass
class Kills:
    """What came of the kills so far."""

    wanted: int
    chance: random.Random
    folder: Path
    choice: tuple[str, ...] = CHOICE
    span_seconds: float = 0.0
    killed: int = 0
    last_victims: tuple[str, ...] = ()
    looks: int = 0
    by_state: Counter[str] = field(default_factory=Counter)
    by_victims: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def require(self, holds: bool, sentence: str) -> None:
        """Note what is not as it should be."""
        if not holds:
            self.problems.append(f"kill {self.killed}: {sentence}")


def lab(results: Path, temporary: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start `lab run` with a folder for temporary files of its own."""
    with (results.parent / "stderr").open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-m", "lab", "run", *arguments, "--results", str(results)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "TMPDIR": str(temporary)},
            start_new_session=True,
        )


def found_run(results: Path) -> Path | None:
    """Return the folder of the one run that is there, if it has got so far."""
    return next(iter(archive.find_runs(results)), None)


def rows_of(path: Path) -> dict[Identity, dict[str, Any]]:
    """Return (key, process, operation) -> row of all that is recorded; an AssertionError when one is there twice."""
    run = archive.open_run(path)
    rows = run.rows().to_pylist()
    found = {(archive_key(row), row["process"], row["operation"]): row for row in rows}
    assert len(found) == len(rows), "an execution stands there twice"
    assert run.ignored == [], run.ignored
    return found


def archive_key(row: dict[str, Any]) -> str:
    """Return the key of the case of a row."""
    from lab.record import case_of

    return case_of(row).key


def read_until(kills: Kills, process: subprocess.Popen[bytes], results: Path, seconds: float) -> None:
    """Read the run again and again until the time has come or the process has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        path = found_run(results)
        if path is not None:
            kills.looks += 1
            try:
                rows_of(path)
            except (archive.ArchiveError, AssertionError) as error:
                kills.problems.append(f"read while it was running: {error}")
        time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))


def strike(kills: Kills, process: subprocess.Popen[bytes]) -> bool:
    """Kill `lab` and its company; False when it had ended by itself."""
    victims = kills.chance.choice(VICTIMS)
    children: list[psutil.Process] = []
    if process.poll() is None:
        try:
            children = psutil.Process(process.pid).children()
        except psutil.NoSuchProcess:
            return False
    if process.poll() is not None:
        return False
    os.kill(process.pid, signal.SIGKILL)
    for child in children:
        try:
            kind = "keeper" if "folder_keeper" in " ".join(child.cmdline()) else "worker"
            if kind in victims:
                child.kill()
        except psutil.NoSuchProcess:
            continue
    process.wait()
    kills.killed += 1
    kills.by_victims[" and ".join(victims)] += 1
    kills.last_victims = victims
    return True


def look_after(kills: Kills, results: Path) -> dict[Identity, dict[str, Any]]:
    """Check what a kill has left, and return the rows that were recorded until then."""
    path = found_run(results)
    if path is None:
        kills.by_state["no run yet"] += 1
        return {}
    problems = archive.verify(path)
    kills.require(problems == [], f"lab verify says {problems}")
    try:
        rows = rows_of(path)
    except (archive.ArchiveError, AssertionError) as error:
        kills.require(False, str(error))
        return {}
    run = archive.open_run(path)
    kills.by_state[f"{run.state}, {'nothing' if not rows else 'all' if not run.left() else 'a part'} recorded"] += 1
    return rows


def one_run(kills: Kills, number: int, plan: list[tuple[str, int]], whole: set[tuple[str, int]]) -> None:
    """Start a run, kill it, resume it until it is complete, and look at what came of it."""
    base = kills.folder / f"run-{number}"
    results, temporary = base / "results", base / "temporary"
    results.mkdir(parents=True)
    temporary.mkdir()
    before: dict[Identity, dict[str, Any]] = {}
    striking = True
    while True:
        path = found_run(results)
        if path is not None and archive.open_run(path).state == "complete":
            break
        process = lab(results, temporary, *(("--resume", str(path)) if path else kills.choice))
        share = kills.chance.uniform(0.0, 1.05) if kills.chance.random() < 0.75 else kills.chance.uniform(0.8, 1.05)
        read_until(kills, process, results, share * kills.span_seconds if striking else NEVER_SECONDS)
        kills.last_victims = ()
        if striking and strike(kills, process):
            before |= look_after(kills, results)
        elif not striking or process.poll() is not None:
            kills.require(process.wait(1) == 0, f"run {number} ended with {process.returncode}: {words(base)}")
            break
        striking = kills.killed < kills.wanted and kills.chance.random() < AGAIN
    compare(kills, results, before, plan, whole)
    if "keeper" in kills.last_victims:  # then it is the next run that takes the folder away
        sweep(temporary, PREFIX, 0, KEPT)
    kills.require(came_true(lambda: not living_in(temporary)), f"run {number} left processes: {living_in(temporary)}")
    kills.require(came_true(lambda: not list(temporary.iterdir())), f"left: {[p.name for p in temporary.iterdir()]}")


def words(base: Path) -> str:
    """Return the last of what was said on stderr."""
    return (base / "stderr").read_text(encoding="utf-8", errors="replace")[-300:]


def compare(
    kills: Kills,
    results: Path,
    before: dict[Identity, dict[str, Any]],
    plan: list[tuple[str, int]],
    whole: set[tuple[str, int]],
) -> None:
    """Hold a run that was killed against the plan, against one that was not, and against what it had recorded."""
    path = found_run(results)
    assert path is not None
    run = archive.open_run(path)
    rows = rows_of(path)
    kills.require(run.state == "complete", f"it is {run.state}")
    kills.require(run.planned == plan, "its plan is another one")
    held = {identity[:2] for identity in rows}
    kills.require(held == whole == set(plan), f"other executions: {sorted(held ^ whole)[:3]}")
    kills.require(all(rows[one] == row for one, row in before.items()), "a recorded execution was measured again")
    problems = archive.verify(path)
    kills.require(problems == [], f"lab verify says {problems}")
    left = sorted(each.relative_to(path).as_posix() for each in path.rglob(".*"))
    kills.require(left == [], f"files of a killed process are still there: {left}")


def uninterrupted(folder: Path, choice: tuple[str, ...]) -> tuple[Path, float]:
    """Make the run that the others are held against; return it and how long it took."""
    results, temporary = folder / "whole" / "results", folder / "whole" / "temporary"
    results.mkdir(parents=True)
    temporary.mkdir()
    started = time.monotonic()
    code = lab(results, temporary, *choice).wait(NEVER_SECONDS)
    span = time.monotonic() - started
    path = found_run(results)
    assert code == 0, words(folder / "whole")
    assert path is not None
    assert list(temporary.iterdir()) == []
    return path, span


def kill_often(wanted: int, seed: int, folder: Path, choice: tuple[str, ...] = CHOICE) -> Kills:
    """Kill runs of a choice until `wanted` kills have landed, and return what came of it."""
    whole, span = uninterrupted(folder, choice)
    kills = Kills(wanted, random.Random(seed), folder, choice, span)
    plan, expected = archive.open_run(whole).planned, {identity[:2] for identity in rows_of(whole)}
    number = 0
    while kills.killed < wanted and len(kills.problems) < 10:
        one_run(kills, number, plan, expected)
        number += 1
    return kills


def main() -> int:
    """Kill, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description="Kill a run at random moments.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="kills-") as folder:
        kills = kill_often(given.kills, given.seed, Path(folder))
    print(f"{kills.killed} kills of runs of {kills.span_seconds:.1f} s, read {kills.looks} times meanwhile")
    for name, count in sorted((kills.by_victims + kills.by_state).items()):
        print(f"  {count:>3}  {name}")
    for problem in kills.problems:
        print(problem)
    print("every run holds every execution once" if not kills.problems else f"{len(kills.problems)} problem(s)")
    return 1 if kills.problems else 0


if __name__ == "__main__":
    sys.exit(main())
