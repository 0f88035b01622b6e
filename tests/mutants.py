"""How much of the core the tests hold: `python -m tests.mutants` changes it piece by piece and counts what they notice.

mutmut makes the changes (a bound moved by one, a comparison turned round, an argument left out), each in a copy of the
lab under `build/mutants`, and runs on each only the tests that reach it. Changed are the bodies of functions and
methods; what stands outside of them, and what is under a decorator such as @property, is left alone.

    python -m tests.mutants                        every module of PLAN: some thousand mutants, which takes long
    python -m tests.mutants lab/units.py           one; also a pattern, "queues/timer/heap*"
    python -m tests.mutants --again lab/units.py   only what survived the last time, with the tests as they are now

Exit code 0: every module reaches LEAST; 1: one does not; 2: wrong usage; 4: nothing was counted, because the tests fail
on the code as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from lab.table import Table, text

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
LEAST = 0.9
"""The share of the mutants of a module that must be noticed."""

COPIED = ("lab", "queues", "runners", "tests", "results", "pyproject.toml", "README.md", "CONTRIBUTING.md")

TIMER = (
    "tests/queues/test_named_cases.py",
    "tests/queues/test_refusals.py",
    "tests/queues/test_lifetime.py",
    "tests/queues/test_conformance.py",
    "tests/queues/test_machine.py",
)
"""What every timer queue must pass; `subject` chooses its own cases of it."""


def subject(only: str, *more: str) -> tuple[str, ...]:
    """Return the tests of a timer queue: its cases of TIMER, and those of `more`; `only` is pytest's -k.

    >>> subject("heap", "tests/queues/test_contenders.py")[-3:]
    ('tests/queues/test_contenders.py', '-k', 'heap')
    """
    return (*TIMER, *more, "-k", only)


CONTENDERS = "tests/queues/test_contenders.py"
EDGES = ("tests/queues/test_check_tells.py", "tests/queues/test_contender_edges.py")
LISTS = ("tests/queues/test_linked.py", "tests/queues/test_linked_list.py")
MARKERS = subject(
    "markers", CONTENDERS, *(f"tests/queues/test_markers{of}.py" for of in ("", "_chain", "_ends", "_index"))
)
WHEEL = subject("wheel", CONTENDERS, *(f"tests/queues/test_wheel{of}.py" for of in ("", "_ends", "_front", "_levels")))
ARRAY = subject("array and not naive", "tests/queues/test_array.py", *EDGES)
BUCKETS = subject("buckets", CONTENDERS, "tests/queues/test_buckets.py", *EDGES)
CHUNKED = subject(
    "chunked",
    *(f"tests/queues/test_chunked{of}.py" for of in ("", "_back", "_cancels", "_check", "_cuts", "_edges", "_growing")),
)
CHUNKED_PARTS = tuple(f"tests/queues/test_chunked_{of}.py" for of in ("batch", "check", "run"))
CODEC = ("tests/queues/test_durable_codec.py",)

PLAN: dict[str, tuple[str, ...]] = {
    "lab/units.py": ("tests/lab/test_units.py",),
    "lab/sample.py": ("tests/lab/test_sample.py",),
    "lab/verdict.py": tuple(f"tests/lab/test_verdict{rules}.py" for rules in ("", "_edges", "_settling")),
    "lab/scaling.py": ("tests/lab/test_scaling.py", "tests/lab/test_scaling_edges.py"),
    "lab/record.py": ("tests/lab/test_record.py", "tests/lab/test_record_parts.py"),
    "queues/timer/rules.py": ("tests/queues/test_refusals.py", "tests/queues/test_match.py", "-k", "heap or rules"),
    "queues/timer/ticks.py": ("tests/queues/test_wheel.py", "tests/queues/test_markers.py"),
    "queues/timer/heap.py": subject("heap", CONTENDERS, *EDGES),
    "queues/timer/sorted.py": subject("sorted", CONTENDERS, *EDGES),
    "queues/timer/deque.py": subject("deque", CONTENDERS, *EDGES),
    "queues/timer/array_naive.py": subject("array-naive", *EDGES),
    "queues/timer/array.py": ARRAY,
    "queues/timer/array_batch.py": ARRAY,
    "queues/timer/linked.py": subject("linked and not known", *LISTS),
    "queues/timer/linked_batch.py": (*LISTS, *TIMER[1:3], "-k", "linked"),
    "queues/timer/linked_list.py": subject("linked and not known", *LISTS, "tests/queues/test_linked_refusals.py"),
    "queues/timer/linked_known_tail.py": subject("linked-known-tail or known_tail", *LISTS),
    "queues/timer/reattach.py": (LISTS[1], "-k", "relinks or primitives"),
    "queues/timer/buckets.py": BUCKETS,
    "queues/timer/bucket_batch.py": BUCKETS,
    "queues/timer/markers.py": MARKERS,
    "queues/timer/marker_batch.py": MARKERS,
    "queues/timer/marker_chain.py": MARKERS,
    "queues/timer/marker_index.py": MARKERS,
    "queues/timer/wheel.py": WHEEL,
    "queues/timer/wheel_front.py": WHEEL,
    "queues/timer/wheel_levels.py": WHEEL,
    "queues/timer/chunked.py": CHUNKED,
    "queues/timer/chunked_batch.py": CHUNKED_PARTS,
    "queues/timer/chunked_run.py": CHUNKED_PARTS,
    "queues/timer/durable_codec.py": CODEC,
    "queues/timer/durable_place.py": ("tests/queues/test_durable_place.py", *CODEC),
}
"""Module -> what pytest is given: its own tests, each a second or two, so that all can be run hundreds of times."""

SERVER = "its tests write to a disk or start servers, which takes too long a mutant"
LEFT_OUT: dict[str, str] = {
    f"queues/timer/{name}.py": SERVER
    for name in (
        *("durable", "durable_batch", "durable_store", "durable_sqlite", "durable_sqlite_file", "sqlite"),
        *("durable_postgres", "postgres", "durable_redis", "redis"),
    )
}
"""Module of `queues/timer` -> why its mutants are not counted."""

PLUGINS = ("no:cacheprovider", "no:xdist", "tests.mutants_limits")
"""What pytest is given by -p. And --tb=no: to print where a test failed it reads the module with all its mutants."""

NOTICED = {1: "killed", 3: "killed", 36: "timeout", 24: "timeout", -24: "timeout", 152: "timeout", 255: "timeout"}
"""How pytest ends when a mutant is noticed: a test failed, or ran on far beyond its time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the mutants of one module fared: name of each -> killed, timeout, survived, no test, or the exit code."""

    module: str
    fates: Mapping[str, str]

    @property
    def share(self) -> float:
        """Return the share that was noticed, from 0 to 1; 1 where there is nothing to change.

        >>> Outcome("lab/units.py", {"a": "killed", "b": "timeout", "c": "survived", "d": "no test"}).share
        0.5
        """
        noticed = sum(fate in ("killed", "timeout") for fate in self.fates.values())
        return noticed / len(self.fates) if self.fates else 1.0

    @property
    def unnoticed(self) -> list[str]:
        """Return the names of those that no test noticed, in the order in which they stand."""
        return [name for name, fate in self.fates.items() if fate not in ("killed", "timeout")]


def fate_of(code: int | None) -> str:
    """Return what became of a mutant whose tests ended with exit code `code`; None: they were not run.

    >>> fate_of(1), fate_of(0), fate_of(33), fate_of(-9), fate_of(None)
    ('killed', 'survived', 'no test', 'exit code -9', 'not run')
    """
    if code is None:
        return "not run"
    return NOTICED.get(code) or {0: "survived", 5: "no test", 33: "no test"}.get(code, f"exit code {code}")


def chosen(patterns: Sequence[str]) -> list[str]:
    """Return the modules of PLAN that fit one of `patterns`, all without one; ValueError for one that fits none.

    >>> chosen(["lab/u*.py"])
    ['lab/units.py']
    """
    for pattern in patterns:
        if not any(fnmatch(module, pattern) for module in PLAN):
            why = f": it is left out, {LEFT_OUT[pattern]}" if pattern in LEFT_OUT else f" of {', '.join(PLAN)}"
            raise ValueError(f"{pattern!r} fits no module{why}: expected a path such as lab/units.py, or a pattern")
    return [module for module in PLAN if not patterns or any(fnmatch(module, pattern) for pattern in patterns)]


def configuration(module: str) -> str:
    """Return what mutmut is told about `module`, as a section of pyproject.toml."""
    told = {
        "source_paths": [module.split("/")[0]],
        "also_copy": [name for name in COPIED if name != module.split("/")[0]],
        "only_mutate": [module],
        "pytest_add_cli_args": ["--tb=no", *(w for name in PLUGINS for w in ("-p", name))],
        "pytest_add_cli_args_test_selection": list(PLAN[module]),
        "timeout_constant": 5.0,
        "timeout_multiplier": 4.0,
        "use_git_change_detection": False,
    }
    return "\n".join(["", "[tool.mutmut]", *(f"{key} = {json.dumps(value)}" for key, value in told.items()), ""])


def workplace(module: str) -> Path:
    """Return the folder in which `module` is changed."""
    return WORK / module.removesuffix(".py").replace("/", ".")


def prepare(module: str, again: bool) -> Path:
    """Copy the lab to where `module` is changed, and return that folder; with `again` what was found there stays."""
    place = workplace(module)
    if not again:
        shutil.rmtree(place, ignore_errors=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "calls", "report")
            shutil.copytree(ROOT / name, place / name, dirs_exist_ok=True, ignore=ignored)
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    with (place / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(configuration(module))
    return place


def mutmut(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run mutmut in `place` and return how it ended, with all it said."""
    command = [str(Path(sys.executable).with_name("mutmut")), *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "MUTANT"))}
    return subprocess.run(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def outcome(module: str, place: Path) -> Outcome:
    """Return what mutmut noted down about `module`; FileNotFoundError when it did not come so far."""
    noted = json.loads((place / "mutants" / f"{module}.meta").read_text(encoding="utf-8"))
    return Outcome(module, {name: fate_of(code) for name, code in noted["exit_code_by_key"].items()})


def count(module: str, again: bool, children: int) -> Outcome:
    """Change `module` in every way and return what was noticed; RuntimeError when its tests fail as it is.

    With `again` only what survived the last time is tried; all of it when the module is not what it was, because then
    the mutants have other names.
    """
    again = again and (workplace(module) / module).read_bytes() == (ROOT / module).read_bytes()
    old = outcome(module, workplace(module)).unnoticed if again else []
    if again and not old:
        return outcome(module, workplace(module))
    place = prepare(module, again)
    said = mutmut(place, "run", "--max-children", str(children), *old)
    try:
        found = outcome(module, place)
    except FileNotFoundError:
        found = Outcome(module, {"": "not run"})
    if said.returncode != 0 or "not run" in found.fates.values():
        raise RuntimeError(f"{module} was not counted, mutmut ended with {said.returncode}:\n{said.stdout[-3000:]}")
    return found


def summary(found: Iterable[Outcome]) -> Table:
    """Return the table of shares, a row a module."""
    rows = []
    for one in found:
        fates = Counter(one.fates.values())
        others = len(one.fates) - sum(fates[fate] for fate in ("killed", "timeout", "survived"))
        cells = (len(one.fates), fates["killed"], fates["timeout"], fates["survived"], others)
        rows.append((one.module, *(f"{cell:,d}" for cell in cells), f"{int(one.share * 1000) / 10:.1f} %"))
    header = ("module", "mutants", "killed", "timeout", "survived", "other", "share")
    note = f"share: killed or stopped by the time limit; at least {LEAST:.0%} of each module is asked for."
    return Table("What the tests notice", header, tuple(rows), notes=(note,), left=frozenset({"module"}))


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Return what was asked for; SystemExit with 2 for what cannot be."""
    example = "Example: python -m tests.mutants lab/units.py"
    parser = argparse.ArgumentParser("python -m tests.mutants", description=example)
    parser.add_argument("patterns", nargs="*", metavar="MODULE", help="a module of PLAN, or a pattern; all without one")
    parser.add_argument("--again", action="store_true", help="only what survived the last time, with the tests of now")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, help="mutants at once")
    asked = parser.parse_args(given)
    try:
        asked.modules = chosen(asked.patterns)
    except ValueError as error:
        parser.error(str(error))
    lost = [module for module in asked.modules if asked.again and not (workplace(module) / "mutants").exists()]
    if lost:
        parser.error(f"{', '.join(lost)} has no last time: expected one, run it without --again first")
    return asked


def main(given: Sequence[str] | None = None) -> int:
    """Count module by module, tell each survivor, then the table; return the exit code."""
    asked = arguments(given)
    found: list[Outcome] = []
    for module in asked.modules:
        try:
            found.append(count(module, asked.again, asked.children))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 4
        for name in found[-1].unnoticed:
            print(mutmut(workplace(module), "show", name).stdout, flush=True)
        print(f"{module}: {found[-1].share:.1%} of {len(found[-1].fates)}\n", flush=True)
    print(text(summary(found)))
    return 0 if all(one.share >= LEAST for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
