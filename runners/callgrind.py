"""Machine instructions of each call, counted by valgrind's callgrind; empty where valgrind is not installed.

A worker does some calls that settle the interpreter, and then those of the case with `os.getppid` as its clock
(runners/counts.py). Callgrind stops at every entry of that function and writes down what was executed since the one
before, so every call is counted on its own, together with the few instructions of the loop around it. The counts of a
case are the difference of two runs, of N and of 2N calls; a third run repeats the second. They are exact when the hash
seed, the environment and the address layout are the same (PYTHONHASHSEED=0, `setarch -R`): the three runs must agree
call by call, else that is the finding. Callgrind is about 50 times slower than the processor, so N and the queue are
small.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from runners.counts import SETTLING_CALLS
from runners.spawn import Limits, Outcome, run_worker

CLOCK = "getppid"
"""The C function whose entries separate the calls: every libc exports it under this name."""

OUT = "callgrind.out"
TOTAL = b"totals:"
SLOWDOWN = 50

MISSING = "instructions were not counted: valgrind is not installed (on Debian `apt-get install valgrind`)"

Counted = dict[str, list[int]]
"""operation -> instructions of each call."""


class Disagreement(Exception):
    """Runs that should count the same counted differently. Its text is one sentence."""


@cache
def missing() -> str:
    """Return why instructions cannot be counted here, in one sentence; "" when they can."""
    return "" if shutil.which("valgrind") else MISSING


def under(folder: Path) -> tuple[str, ...]:
    """Return the command that a worker is run by, its counts going to a file in `folder`."""
    setarch = shutil.which("setarch")
    options = (f"--dump-before={CLOCK}", "--combine-dumps=yes", f"--callgrind-out-file={folder / OUT}")
    return (*((setarch, "-R") if setarch else ()), "valgrind", "--quiet", "--tool=callgrind", *options)


def totals(path: Path) -> list[int]:
    """Return what was executed up to the first entry of the clock, from each to the next, and after the last.

    O(file). OSError when there is no file.
    """
    with path.open("rb") as file:
        return [int(line.split()[1]) for line in file if line.startswith(TOTAL)]


def per_call(parts: Sequence[int], operations: Sequence[str]) -> Counted:
    """Return the instructions of each call, from what was executed between the entries of the clock.

    A loop reads its clock before and after every operation, so of the parts that lie between two entries every other
    one is a call. Raises Disagreement for a number of parts that fits no whole number of calls.

    >>> per_call([900, 10, 5, 20, 5, 11, 5, 21, 700], ["take", "requeue"])
    {'take': [10, 11], 'requeue': [20, 21]}
    """
    rounds, rest = divmod(len(parts) - 1, 2 * len(operations))
    if rest or not rounds:
        raise Disagreement(f"callgrind stopped {len(parts) - 1} times at {CLOCK}: expected 2 for each call of the loop")
    calls = parts[1:-1:2]
    return {name: list(calls[place :: len(operations)]) for place, name in enumerate(operations)}


def run(
    spec: dict[str, Any], folder: Path, calls: int, operations: Sequence[str], python: str, limits: Limits
) -> tuple[Outcome, Counted]:
    """Do `calls` calls of a case under callgrind, after those that settle; return how it ended, and what they took.

    The parameters of the case say for how many calls it is set up. Raises Disagreement when the file of callgrind does
    not fit the calls.
    """
    folder.mkdir()
    slow = Limits(limits.seconds * SLOWDOWN, limits.memory_bytes, pinned=False)
    given = {**spec, "callgrind": calls}
    outcome = run_worker(given, folder, python=python, limits=slow, hash_seed=0, under=under(folder))
    if not outcome.ok:
        return outcome, {}
    found = per_call(totals(folder / OUT), operations)
    if any(len(counts) != calls for counts in found.values()):
        raise Disagreement(f"callgrind saw {len(next(iter(found.values())))} calls of {calls}")
    return outcome, found


def instructions(runs: Sequence[Counted], n: int) -> dict[str, int]:
    """Return operation -> the instructions of n calls: what a run of 2n calls did more than one of n.

    `runs` are those of `tasks`. Raises Disagreement, naming the call, when they differ in one that they share.

    >>> instructions([{"take": [50]}, {"take": [50, 49]}, {"take": [50, 49]}], 1)
    {'take': 49}
    """
    single, double, again = runs
    found = {}
    for name, counts in double.items():
        for other, wanted in ((single[name], counts[:n]), (again[name], counts)):
            for call, (one, two) in enumerate(zip(other, wanted, strict=True)):
                if one != two:
                    raise Disagreement(f"{name} took {two} instructions in one run and {one} in another at call {call}")
        found[name] = sum(counts) - sum(single[name])
    return found


def tasks(
    spec: dict[str, Any], folder: Path, n: int, operations: Sequence[str], python: str, limits: Limits
) -> list[Callable[[], tuple[Outcome, Counted]]]:
    """Return three runs of a case, of n, 2n and 2n calls, to be called in any order or at once: counts mind no company.

    All are set up for the same number of calls, so that things lie in memory where they do in the others.
    """
    largest = {**spec, "params": {**spec["params"], "calls": SETTLING_CALLS + 2 * n}}

    def task(place: int, calls: int) -> Callable[[], tuple[Outcome, Counted]]:
        return lambda: run(largest, folder / f"callgrind-{place}", calls, operations, python, limits)

    return [task(place, calls) for place, calls in enumerate((n, 2 * n, 2 * n))]
