"""The interpreters that a suite is measured under, and the runs of several of them carried out side by side.

An interpreter is asked about itself, in a process of its own, started as a worker is; nothing of the lab needs to be
installed there. The runs of several go through the same plan together: one execution stands beside the same execution
of the others, in random order, so that a machine that drifts touches all of them alike.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from lab import archive, environment
from lab.archive import ArchiveError, Run
from lab.case import Case
from runners.promises import search_path
from runners.run import Settings, Step, carrying_out
from runners.spawn import ROOT, worker_environment

OLDEST = (3, 11)
PATIENCE_SECONDS = 60.0
OWN_FACTS = ("python", "implementation", "python_build", "libc")
"""The facts of an environment that are the interpreter's; all others are the machine's and the lab's."""

SAME = ("python", "implementation", "python_build")
"""What two executions of one run must have been measured by."""

OWN_PACKAGES = ("pyperf", "memray")
"""The packages that a measuring process loads; the others make statistics, here."""

VERSION = "import sys; sys.stdout.write('%d.%d.%d\\n%s' % (tuple(sys.version_info[:3]) + (sys.executable,)))"
"""Which Python it is and where: in words that every Python since 2.6 understands."""

FACTS = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib, json
from lab.environment import capture
from runners.promises import search_path
def loads(name):
    try:
        importlib.import_module(name)
    except Exception:
        return False
    return True
facts, path = capture(), search_path()
loaded = [name for name in sys.argv[2:] if loads(name)]
sys.stdout.write("\\n" + json.dumps({"facts": facts, "path": path, "loads": loaded}))
"""
"""What it says of itself, where it looks for modules, and which packages it can import. Standard library only."""

Identity = tuple[str, int]


class NoInterpreter(Exception):
    """What was named is no interpreter that can measure; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter that can measure: how it is started, its facts, where it looks for modules, what it can import.

    `environment` is that of a run that it measures: the machine's facts as this process reads them, the interpreter's
    as it has said itself.
    """

    path: str
    environment: dict[str, Any]
    search: tuple[str, ...]
    loads: frozenset[str]

    @property
    def name(self) -> str:
        """Implementation and version, such as "cpython 3.12.1"."""
        return named(self.environment)

    def measured(self, environment: Mapping[str, Any]) -> bool:
        """Return whether a run with this environment was measured by the same version and build."""
        return all(self.environment.get(fact) == environment.get(fact) for fact in SAME)


def named(environment: Mapping[str, Any]) -> str:
    """Return the interpreter of an environment in words.

    >>> named({"implementation": "cpython", "python": "3.12.1", "python_build": {"free_threaded": True}})
    'cpython 3.12.1, free-threaded'
    """
    build = environment.get("python_build") or {}
    marks = [word for fact, word in (("free_threaded", "free-threaded"), ("debug", "debug build")) if build.get(fact)]
    return ", ".join([f"{environment.get('implementation')} {environment.get('python')}", *marks])


def own(label: str | None = None) -> Interpreter:
    """Return the interpreter that this process runs on. ValueError for a bad label."""
    loads = frozenset(name for name in OWN_PACKAGES if find_spec(name) is not None)
    return Interpreter(sys.executable, environment.capture(label), search_path(), loads)


def ask(given: str, label: str | None = None) -> Interpreter:
    """Return the interpreter behind a path, or behind a name such as "python3.12", as it describes itself.

    A name is looked for along PATH, and the first place that answers counts: what only stands for an interpreter (the
    shims of a version manager) may refuse to start one. NoInterpreter when nothing answers or it is older than 3.11;
    ValueError for a bad label. It takes the start of two processes.
    """
    executable, version = _answering(given)
    if tuple(map(int, version.split(".")))[:2] < OLDEST:
        raise NoInterpreter(f"{given} is Python {version}: expected Python 3.11 or newer")
    said, problem = _said([executable, "-s", "-P", "-c", FACTS, str(ROOT), *OWN_PACKAGES], worker_environment())
    if problem:
        raise NoInterpreter(f"{given} (Python {version}) cannot say what it is: {problem}")
    facts = json.loads(said.rpartition("\n")[2])
    machine = environment.capture(label)
    packages = {name: facts["facts"]["packages"].get(name) for name in OWN_PACKAGES}
    merged = {
        **machine,
        **{name: facts["facts"].get(name) for name in OWN_FACTS},
        "packages": {**machine["packages"], **packages},
    }
    return Interpreter(executable, merged, tuple(facts["path"]), frozenset(facts["loads"]))


def ask_all(given: Sequence[str], label: str | None = None) -> list[Interpreter]:
    """Return the interpreters that were named, in order. NoInterpreter as `ask`, and for one that is named twice."""
    found: dict[str, Interpreter] = {}
    for name in given:
        interpreter = ask(name, label)
        if interpreter.path in found:
            raise NoInterpreter(f"{name} is an interpreter that was named before: expected each of them once")
        found[interpreter.path] = interpreter
    return list(found.values())


def _answering(given: str) -> tuple[str, str]:
    """Return (executable, version) of the first candidate that is a Python, or raise NoInterpreter."""
    problem = "expected a path, or a name on the PATH such as python3.12"
    for candidate in _candidates(given):
        if os.path.isdir(candidate):  # noqa: PTH112
            problem = "it is a folder, expected the interpreter in it, such as bin/python"
            continue
        said, problem = _said([candidate, "-c", VERSION], dict(os.environ))
        version, executable = ["", "", *said.splitlines()][-2:]
        if executable and version.replace(".", "").isdigit():
            return executable, version
        problem = problem or "it does not say which Python it is"
    raise NoInterpreter(f"{given} is no Python interpreter: {problem}")


def _candidates(given: str) -> Iterator[str]:
    if os.sep in given:
        yield os.path.abspath(given)  # noqa: PTH100 - a link stays a link: a virtual environment is one
        return
    for folder in os.get_exec_path():
        found = shutil.which(given, path=folder)
        if found:
            yield found


def _said(command: list[str], variables: dict[str, str]) -> tuple[str, str]:
    """Return what a command wrote, and in one line why it is no answer ("" when it is one)."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_SECONDS,
            env=variables,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"it did not answer within {PATIENCE_SECONDS:g} s"
    except (OSError, ValueError) as error:
        return "", getattr(error, "strerror", None) or str(error)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        first_or_last = lines[-1] if "Traceback" in done.stderr else lines[0] if lines else ""
        return "", first_or_last.strip() or f"it ended with exit code {done.returncode}"
    return done.stdout, ""


def offered(cases: Sequence[Case], interpreter: Interpreter) -> tuple[list[Case], str]:
    """Return the cases that an interpreter can measure, and the sentence that names what is left out ("" for nothing).

    Only the kind `cost` needs something installed there, pyperf. A subject that wraps a library stays in: its worker
    says itself that it cannot import it.
    """
    if "pyperf" in interpreter.loads:
        return list(cases), ""
    kept = [case for case in cases if case.kind != "cost"]
    left = [case for case in cases if case.kind == "cost"]
    if not left:
        return kept, ""
    workloads = ", ".join(dict.fromkeys(case.workload for case in left))
    share = f"{len(left)} of {len(cases)} cases"
    return kept, f"{interpreter.name} cannot import pyperf: what is measured by it, {share}, is left out ({workloads})"


def of_run(given: Sequence[Interpreter], run: Run) -> Interpreter:
    """Return the interpreter that a stopped run goes on with: the one given, else this one or one that can be found.

    ArchiveError, naming what the run was measured by, when the one given is another, and when none is found.
    """
    wanted = named(run.environment)
    if len(given) > 1:
        raise ArchiveError(f"{run.path} was measured by one interpreter, {wanted}: expected one --python, or none")
    major_minor = ".".join(str(run.environment.get("python")).split(".")[:2])
    found = given[0] if given else own()
    if not given and any(found.environment.get(fact) != run.environment.get(fact) for fact in SAME[:2]):
        try:
            found = ask(f"python{major_minor}")
        except NoInterpreter:
            raise ArchiveError(
                f"{run.path} was measured by {wanted}, not by {found.name}: add --python and its path"
            ) from None
    if not found.measured(run.environment) and (given or found.path != sys.executable):
        raise ArchiveError(
            f"{run.path} was measured by {wanted}, not by {found.name} (or by another build of it): "
            f"add --python and its path"
        )
    return found


def newest_unfinished(results: Path, interpreter: Interpreter) -> Path:
    """Return the newest run that an interpreter can go on with; ArchiveError when there is none."""
    for path in reversed(archive.find_runs(results)):
        try:
            run = archive.open_run(path)
        except ArchiveError:
            continue
        if run.state != "complete" and interpreter.measured(run.environment):
            return path
    raise ArchiveError(f"there is no unfinished run of {interpreter.name} in {results}: start one with `lab run`")


def side_by_side(plans: Sequence[Sequence[Identity]], seed: int) -> list[tuple[int, Identity]]:
    """Return the executions of several plans in one order: (number of the plan, identity).

    What stands in several plans stands together, in an order of its own that the seed decides; the longest plan says
    what comes when, and what only another one has comes last. A plan whose executions come in that order keeps it.
    O(executions × plans).

    >>> side_by_side([[("a", 0), ("b", 0)], [("b", 0)]], seed=1)[0]
    (0, ('a', 0))
    """
    held = [set(plan) for plan in plans]
    longest_first = sorted(plans, key=len, reverse=True)
    order = []
    for identity in dict.fromkeys(chain.from_iterable(longest_first)):
        places = [place for place, plan in enumerate(held) if identity in plan]
        random.Random(f"{seed} {identity[0]} {identity[1]}").shuffle(places)
        order += [(place, identity) for place in places]
    return order


def carry_out_together(runs: Sequence[tuple[Run, Settings]], report: Callable[[Step], None]) -> None:
    """Do everything that the runs have left, side by side; `report` is told of every step, counted over all of them.

    KeyboardInterrupt passes on with all that ended recorded in its run.
    """
    total = sum(len(run.planned) for run, _ in runs)
    waiting = [set(run.left()) for run, _ in runs]
    ended = total - sum(map(len, waiting))

    def tell(interpreter: str, step: Step) -> None:
        nonlocal ended
        report(replace(step, number=ended + 1, total=total, interpreter=interpreter))
        ended += bool(step.status)

    with ExitStack() as stack:
        walks = []
        for run, settings in runs:
            settings.report = partial(tell, named(run.environment) if len(runs) > 1 else "")
            walks.append(stack.enter_context(closing(carrying_out(run, settings))))
        for place, identity in side_by_side([run.planned for run, _ in runs], runs[0][0].seed):
            if identity in waiting[place]:
                next(walks[place])
        for walk in walks:  # what each does once all of it is recorded
            next(walk, None)
