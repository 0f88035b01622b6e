"""What is to be known about this machine before it measures: findings, and what makes measuring impossible.

`examine` is pure: the facts come from `lab.environment`, `lab.machine` and `lab.probe`, or from a test.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import pairwise
from statistics import median
from typing import Any

from lab.advice import NOTE, OK, WARNING, Finding, findings
from lab.units import format_ns

Facts = Mapping[str, Any]

TOOLS = ("valgrind", "memray", "perf")
NEED = {
    "valgrind": "exact instruction counts are left out; install the package valgrind",
    "memray": "allocations are not counted; `pip install memray`",
    "perf": "the lab can do without, but a hot loop is not easily looked into; install perf",
}
"""tool -> what is missed without it, and what to do."""

ARM = {"thread_time_ns": "cpu", "perf_counter_ns": "wall"}
TIMER_BOUND = 3  # a call under so many null calls says more about the clock
CHEAP_READ_NS = 100
COARSE_STEP_NS = 10_000
STEADY, UNSTEADY = 1.10, 1.50
GAP = 1.25  # two groups of rounds lie at least so far apart
PARANOID = 2  # above it nobody but root may use perf at all


def tools() -> dict[str, bool]:
    """Return which of the tools that the lab can use are here."""
    return {name: (find_spec(name) if name == "memray" else shutil.which(name)) is not None for name in TOOLS}


def examine(environment: Facts, machine: Facts, measured: Facts, there: Mapping[str, bool]) -> list[Finding]:
    """Return every finding, in order of topic; `measured` is from `lab.probe.probe`, `there` from `tools`."""
    found = list(findings(environment, machine))
    found += [_clock(name, cost) for name, cost in measured["clocks"].items()]
    found.append(_speed(measured["speeds_ns"]))
    return found + [_tool(name, is_there, machine) for name, is_there in there.items()]


def obstacles(measured: Facts, python: str = sys.executable) -> list[str]:
    """Return what makes measuring impossible here, one sentence each; [] when nothing does.

    A clock that does not advance, no room for the files of a worker, an interpreter that cannot be started.
    """
    problems = []
    for name, arm in ARM.items():
        cost = measured["clocks"].get(name)
        if cost is None or not cost["step_ns"]:
            what = "is not there" if cost is None else "does not advance"
            problems.append(f"time.{name} {what}: the arm {arm} has no clock; use another interpreter or system")
    try:
        with tempfile.TemporaryDirectory(prefix="lab-"):
            pass
    except OSError as error:
        problems.append(f"no temporary folder can be made ({error.strerror}): point TMPDIR to one that can be written")
    try:
        subprocess.run([python, "-S", "-s", "-P", "-c", ""], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        problems.append("no worker can be started: the interpreter that runs the lab does not start a second time")
    return problems


def text(found: Iterable[Finding]) -> str:
    """Return the findings for a terminal: mark, topic, sentence, and how many there are of each mark at the end.

    >>> print(text([Finding("boost", "ok", "Boost is off."), Finding("load", "warning", "Others are at work.")]))
    ok       boost  Boost is off.
    warning  load   Others are at work.
    1 ok, 0 notes, 1 warning
    """
    every = list(found)
    width = max((len(one.topic) for one in every), default=0)
    lines = [f"{one.mark:<7}  {one.topic:<{width}}  {one.sentence}" for one in every]
    count = {mark: sum(one.mark == mark for one in every) for mark in (OK, NOTE, WARNING)}
    plural = {mark: f"{number} {mark}{'' if number == 1 or mark == OK else 's'}" for mark, number in count.items()}
    return "\n".join([*lines, ", ".join(plural.values())])


def _clock(name: str, cost: Facts) -> Finding:
    topic, read_ns, step_ns = f"clock {ARM[name]}", cost["read_ns"], cost["step_ns"]
    known = f"A read of time.{name} costs {format_ns(round(read_ns))}"
    if not step_ns:
        return Finding(topic, WARNING, f"{known} and it does not advance: this arm cannot measure.")
    moves = f"{known}, and two reads differ by {format_ns(step_ns)} at least"
    if step_ns > COARSE_STEP_NS:
        return Finding(topic, WARNING, f"{moves}: too coarse for single calls; trust the batched figures only.")
    if read_ns > CHEAP_READ_NS:
        bound = format_ns(round(TIMER_BOUND * read_ns))
        told = "are marked timer-bound and have their net figure beside"
        return Finding(topic, NOTE, f"{moves}: calls under about {bound} {told}.")
    return Finding(topic, OK, f"{moves}.")


def _speed(speeds_ns: list[int]) -> Finding:
    """The spread of one loop over its rounds, and whether the rounds fall into two groups."""
    ordered = sorted(speeds_ns)
    low, high = ordered[0], ordered[-1]
    known = f"The same loop took {format_ns(low)} to {format_ns(high)} in {len(ordered)} rounds"
    spread = f"a spread of {100 * (high / low - 1):.0f} %"
    if high <= STEADY * low:
        return Finding("speed", OK, f"{known}, {spread}: the speed is steady.")
    gap, place = max((later / earlier, place) for place, (earlier, later) in enumerate(pairwise(ordered), start=1))
    slow, fast = ordered[place:], ordered[:place]
    if gap >= GAP and min(len(slow), len(fast)) > 1:
        factor = median(slow) / median(fast)
        return Finding(
            "speed",
            WARNING,
            f"{known}: the machine has two speeds a factor of {factor:.1f} apart ({len(fast)} rounds fast, {len(slow)} "
            "slow); compare subjects within one run, by medians over processes, never two single executions.",
        )
    mark = WARNING if high > UNSTEADY * low else NOTE
    return Finding("speed", mark, f"{known}, {spread}: not steady; take more processes a case, or a quieter time.")


def _tool(name: str, is_there: bool, machine: Facts) -> Finding:
    if not is_there:
        return Finding(name, NOTE, f"{name} is not installed: {NEED[name]}.")
    paranoid = machine["perf_paranoid"]
    if name == "perf" and paranoid is not None and paranoid > PARANOID:
        closed = f"perf is installed and perf_event_paranoid is {paranoid}: only root may use it"
        return Finding(name, NOTE, f"{closed}; `sysctl kernel.perf_event_paranoid=2`.")
    return Finding(name, OK, f"{name} is installed.")
