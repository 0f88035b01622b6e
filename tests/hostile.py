"""Every misbehaviour of a queue at every place of it: `python -m tests.hostile`, some minutes.

Each queue is measured by a worker, as a run does it, with a sound queue before and behind. It must end within the time
limit and a few seconds, with a status and one sentence, and leave no process; the sound queues must have their figures.
`--only take__fork_on` does one; `--conform` asks `lab conform` instead of measuring.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab import archive
from lab.case import Case
from runners.folder_keeper import living_in
from runners.folders import working_folder
from runners.promises import conform
from runners.run import STATUS, Settings, carry_out, plan
from runners.spawn import Limits
from tests.runners.hostile_queues import ACTS, PLACES, RETURNS

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Limits(seconds=1.0, memory_bytes=1 << 30)
SLACK_SECONDS = 6.0
"""What a case may take beyond its time limit: the start of an interpreter, the wait for orphans, a busy machine."""

STATUSES = {"ok", "failed", "timeout", "memory-limit", "check-failed", "not-offered"}
FINE = {"print_much", "complain_much", "change_signals", "move_away", "fork_on", "fork_a_child", "fork_a_daemon"}
FINE |= {"thread", "never_end", "close_descriptors", "take_stderr_away"}
"""What is no business of the lab, as long as the queue does its work."""


def names() -> list[str]:
    """Return every misbehaviour at every place."""
    return [f"{place}__{how}" for place in PLACES for how in (*ACTS, *(f"returns_{name}" for name in RETURNS))]


def measured(name: str, folder: Path) -> list[str]:
    """Measure a queue between two sound ones, and return what is not as it should be."""
    own = Case.of(
        "latency", "timer", "own", "cycle", due=3, queued=5, calls=40, target=f"tests.runners.hostile_queues:{name}"
    )
    sound = [Case.of("latency", "timer", s, "cycle", due=3, queued=5, calls=40) for s in ("array", "linked")]
    started = time.monotonic()
    executions = plan([sound[0], own, sound[1]], 1, 1)
    with archive.create(
        folder, "hostile", "quick", seed=1, options={}, environment={"python": "3"}, planned=executions
    ) as run:
        carry_out(run, Settings(limits=LIMITS, path=(str(ROOT),)))
        state = run.finish()
        rows: list[dict[str, Any]] = run.rows().to_pylist()
    problems = [] if state == "complete" else [f"the run is {state}"]
    took = time.monotonic() - started
    if took > LIMITS.seconds + SLACK_SECONDS:
        problems.append(f"it took {took:.0f} s")
    whole = [row for row in rows if row["subject"] != "own" and row["status"] == "ok" and row["p50_ns"]]
    if len(whole) != 4:
        problems.append(f"the others have {len(whole)} of 4 figures")
    for row in (row for row in rows if row["subject"] == "own"):
        problems += judged(name, row["status"], row["message"])
    return problems + archive.verify(run.path)


def judged(name: str, status: str, message: str) -> list[str]:
    """Return what is wrong with a status and the sentence that goes with it."""
    problems = []
    if status not in STATUSES:
        problems.append(f"status {status!r}")
    first = message.splitlines()[0] if message else ""
    if status != "ok" and (not first or "Traceback" in first or len(first) > 500 or not first.isprintable()):
        problems.append(f"{status} with the message {message[:200]!r}")
    if status != "ok" and name.partition("__")[2] in FINE:
        problems.append(f"{status}: {first[:200]}")
    return problems


def conforming(name: str, folder: Path) -> list[str]:
    """Ask a queue what it promises, and return what is not as it should be."""
    started = time.monotonic()
    outcome, outcomes = conform(f"tests.runners.hostile_queues:{name}", path=(str(ROOT),), limits=LIMITS)
    took = time.monotonic() - started
    problems = [f"it took {took:.0f} s"] if took > LIMITS.seconds + SLACK_SECONDS else []
    if outcome.status == "ok":
        return problems + ([] if outcomes else ["no outcome"])
    return problems + judged("conform", STATUS.get(outcome.status, outcome.status), outcome.message)


def many(chosen: Iterable[str], how: Any = measured) -> list[str]:
    """Try each misbehaviour and return what is not as it should be."""
    problems = []
    for name in chosen:
        with TemporaryDirectory(prefix="hostile-") as folder, working_folder() as beside:
            try:
                found = how(name, Path(folder))
            except Exception as error:  # noqa: BLE001 - what would end a run is what is looked for
                found = [f"ended the run: {type(error).__name__}: {error}"]
            left = living_in(beside.parent)
            found += [f"left processes: {left}"] if left else []
        problems += [f"{name}: {sentence}" for sentence in found]
        for sentence in found:
            print(f"{name}: {sentence}", flush=True)
    return problems


def main() -> int:
    """Try all of them, and say what is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Queues that misbehave, everywhere.")
    parser.add_argument("--only", action="append", help="One of them, by name; may be repeated.")
    parser.add_argument("--conform", action="store_true", help="Check the contract instead of measuring.")
    given = parser.parse_args()
    chosen = given.only or names()
    problems = many(chosen, conforming if given.conform else measured)
    print(f"{len(chosen)} misbehaviours, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
