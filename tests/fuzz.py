"""Runs of others, damaged runs, runs of the future, put before every door that reads one: `python -m tests.fuzz`.

A small real run is copied, one of its files is changed, and a door is opened on it. What must come out is the answer
that the sound run gives, or one sentence that names the run or the file, and an exit code that the lab documents: no
traceback, no hang. A change that no digest covers any more (it is sealed again, as only an attacker or another version
would) may give another answer, but no traceback either. tests/test_fuzz.py does a few of these; this does as many as it
is told: `--examples 2000 --seed 3`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import random
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from lab import archive, cli
from lab.archive import open_run
from lab.record import execution_columns
from lab.storage import digest_of
from tests.damage import damages, sealed_rows

SUITE = ("--suite", "quick", "--subject", "array", "--subject", "linked", "--processes", "2")
WORKLOADS = ("cycle", "growth", "resident", "enqueue-in-order")
SECONDS = 20
"""No door takes so long on a run of this size: one that does hangs."""

CODES = frozenset({0, 1, 2, 3, 4, 5})
REFUSED = 2


@dataclass(frozen=True)
class Said:
    """How a door ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


class Hung(BaseException):
    """A door did not end in its time."""


def call(*arguments: str, seconds: float = SECONDS) -> Said:
    """Open a door in this process, as `lab ARGUMENTS` does; raises what would be a traceback, or Hung."""

    def over(number: int, frame: object) -> None:
        raise Hung

    out, err = io.StringIO(), io.StringIO()
    before, argv = signal.signal(signal.SIGALRM, over), sys.argv
    signal.setitimer(signal.ITIMER_REAL, seconds)
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        sys.argv = ["lab", *arguments]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    else:
        code = 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.argv = argv
        for number, handler in kept.items():
            signal.signal(number, handler)
    out.getvalue().encode()  # a lone surrogate cannot be shown: on a terminal it is a traceback
    return Said(code, out.getvalue(), err.getvalue())


def doors(run: Path, other: Path, readme: Path) -> dict[str, list[str]]:
    """Return the command lines that read a run, by name."""
    return {
        "show": ["show", str(run)],
        "show --against": ["show", str(run), "--against", "array"],
        "show --worst": ["show", str(run), "--worst", "array cycle"],
        "claims": ["claims", str(run), "--markdown"],
        "claims --json": ["claims", str(run), "--json"],
        "compare": ["compare", str(run), str(other), "--partial"],
        "compare --json": ["compare", str(other), str(run), "--partial", "--json"],
        "aa": ["aa", str(run), "--resamplings", "100"],
        "export csv": ["export", str(run), "--format", "csv"],
        "export json": ["export", str(run), "--format", "json"],
        "export pyperf": ["export", str(run), "--format", "pyperf"],
        "verify": ["verify", str(run)],
        "report --readme": ["report", str(run), "--readme", str(readme)],
        "run --resume": ["run", "--resume", str(run)],
        "list": ["list", "--results", str(run.parent.parent)],
        "newest": ["show", "--results", str(run.parent.parent)],
    }


@dataclass
class Base:
    """The sound runs that are damaged: one of each state, and what every door says of them."""

    folder: Path
    runs: dict[str, Path]
    readme: Path
    said: dict[tuple[str, str], Said] = field(default_factory=dict)

    @property
    def other(self) -> Path:
        """A sound run to stand beside."""
        return self.runs["complete"]

    def sound(self, state: str, door: str) -> Said:
        """Return what a door says of the sound run."""
        if (state, door) not in self.said:
            with copy_of(self, self.runs[state]) as run, not_measuring():
                self.said[state, door] = call(*doors(run, self.other, self.readme)[door])
            assert self.said[state, door].code in CODES, (state, door, self.said[state, door])
        return self.said[state, door]


def made(folder: Path) -> Base:
    """Make the three states of a run that nobody measured: at once, and enough for most of what is read."""
    from tests.lab.runs import measured

    states: dict[str, dict[str, Any]] = {"complete": {}, "interrupted": {"count": 5}}
    states["running"] = {"count": 7, "finish": False}
    return Base(folder, {state: measured(folder / state, **how) for state, how in states.items()}, readme_in(folder))


def readme_in(folder: Path) -> Path:
    """Return a page that `lab report --readme` renews."""
    (folder / "results" / "reference").mkdir(parents=True)
    readme = folder / "README.md"
    readme.write_text("<!-- cycle -->\n<!-- /cycle -->\n", encoding="utf-8")
    return readme


def prepared(folder: Path) -> Base:
    """Measure one small run and make the three states of it."""
    choice = [word for workload in WORKLOADS for word in ("--workload", workload)]
    measured = call("run", *SUITE, *choice, "--results", str(folder / "complete"), seconds=300)
    assert measured.code == 0, measured.text
    complete = archive.newest(folder / "complete")
    runs = {"complete": complete}
    for state, share in (("interrupted", 0.7), ("running", 0.9)):
        runs[state] = _part_of(complete, folder / state, share, finish=state == "interrupted")
    return Base(folder, runs, readme_in(folder))


@contextlib.contextmanager
def copy_of(base: Base, source: Path) -> Iterator[Path]:
    """Copy a run for one door: some of them change it."""
    root = base.folder / "copy"
    run = root / source.parent.name / source.name
    shutil.copytree(source, run)
    try:
        yield run
    finally:
        shutil.rmtree(root)


def _part_of(complete: Path, root: Path, share: float, *, finish: bool) -> Path:
    """Make a run of the same plan with a share of the executions recorded."""
    from runners.run import plan

    whole = open_run(complete)
    rows: dict[tuple[str, int], list[dict[str, Any]]] = {}
    from lab.record import case_of

    for row in whole.rows().to_pylist():
        rows.setdefault((case_of(row).key, row["process"]), []).append(row)
    cases = list({case_of(row).key: case_of(row) for found in rows.values() for row in found}.values())
    executions = {one.id: one for one in plan(cases, 2, whole.seed)}
    planned = [executions[identity] for identity in whole.planned]
    given: dict[str, Any] = {"seed": whole.seed, "options": whole.options, "environment": whole.environment}
    with archive.create(root, whole.machine, whole.suite, planned=planned, **given) as run:
        for execution in planned[: int(len(planned) * share)]:
            own = set(execution_columns(execution))
            mine = [{name: value for name, value in row.items() if name not in own} for row in rows[execution.id]]
            calls = {row["operation"]: whole.calls(execution.case, row["operation"]) for row in mine}
            run.record(execution, mine, {name: c[execution.process] for name, c in calls.items() if c})
        if finish:
            run.finish()
    return run.path


@contextlib.contextmanager
def not_measuring() -> Iterator[None]:
    """Let `lab run --resume` read all that it reads, and stop before it measures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runners.interpreters.carry_out_together", lambda runs, report: None)
        yield


def seal(run: Path, names: list[str]) -> None:
    """Make run.json vouch for what its files hold now, and for itself, as far as it can be read."""
    path = run / "run.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        content.pop("digest", None)
        for name in names:
            if name.endswith(".parquet"):
                sealed_rows(run / name)
            if name in content["files"] and (run / name).is_file():
                held = (run / name).read_bytes()
                content["files"][name] = {"sha256": hashlib.sha256(held).hexdigest(), "bytes": len(held)}
        content["digest"] = digest_of(content)
        path.write_text(json.dumps(content), encoding="utf-8")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return


def judged(said: Said, sound: Said, run: Path, name: str, *, sealed: bool) -> str:
    """Return what is wrong with an answer, "" when nothing is."""
    if "Traceback" in said.text or said.code not in CODES:
        return f"ended with {said.code}: {said.text[-300:]}"
    if said.code == REFUSED:
        if name not in said.err and str(run.parent.parent) not in said.err:
            return f"the sentence names no file: {said.err}"
        return "" if len(said.err.splitlines()) == 1 else f"more than one sentence: {said.err}"
    same = (said.code, without_place(said.out)) == (sound.code, without_place(sound.out))
    case, _, process = name.rpartition("/")[2].removesuffix(".parquet").rpartition(".p")
    told = name in said.text or f"{case}, process {process}" in said.text.replace("/", ".")
    if same or sealed or told:
        return ""
    return "another answer without a word about the file"


def without_place(text: str) -> str:
    """Return a text without the folder that a run lies in."""
    return re.sub(r"\S*/(complete|interrupted|running|copy)(?=/|\b)", "@", text)


def one(base: Base, chance: random.Random, door: str = "") -> tuple[str, str]:
    """Damage a copy of a run, open a door on it; return what was done, and what is wrong with the answer."""
    state = chance.choice(list(base.runs))
    chosen = door or chance.choice(list(doors(base.other, base.other, base.readme)))
    sound = base.sound(state, chosen)
    with copy_of(base, base.runs[state]) as run:
        name, what, damage = chance.choice(damages(run, chance))
        sealed = chance.random() < 0.6
        changed = damage()
        if sealed:
            seal(run, [name])
        done = f"{state}: {what} of {name}{', sealed again' if sealed else ''}; {chosen}"
        try:
            with not_measuring():
                said = call(*doors(run, base.other, base.readme)[chosen])
        except Hung:
            return done, f"no end within {SECONDS} s"
        except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
            return done, f"traceback: {type(error).__name__}: {error}"
        allowed = sealed or not changed or (state, what) == ("running", "missing")
        return done, judged(said, sound, run, name, sealed=allowed)


def many(base: Base, examples: int, seed: int, tell: Callable[[str], None] = lambda line: None) -> list[str]:
    """Do so many examples and return what was wrong, each with the seed that repeats it."""
    problems: list[str] = []
    for number in range(examples):
        done, wrong = one(base, random.Random(f"{seed} {number}"))
        if wrong:
            problems.append(f"{seed} {number}: {done}: {wrong}")
            tell(problems[-1])
    return problems


def main() -> int:
    """Fuzz, and say what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Damaged runs before every door.")
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="One example of the seed, by its number.")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="fuzz-") as folder:
        base = prepared(Path(folder))
        if given.only is not None:
            print(*one(base, random.Random(f"{given.seed} {given.only}")), sep="\n")
            return 0
        problems = many(base, given.examples, given.seed, lambda line: print(line, flush=True))
    kinds = Counter(problem.rpartition(": ")[2][:60] for problem in problems)
    print(f"{given.examples} examples, {len(problems)} wrong: {dict(kinds.most_common(9))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
