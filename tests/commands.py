"""Random command lines for every door: `python -m tests.commands --examples 3000`.

What is random comes from the real grammar (commands, options, choices, as their functions declare them) with garbage
among it. Nothing is measured: what would start a worker, a server or a notebook is put out of the way. Each line must
end with an exit code that README.md names, in its time, and without a traceback; a refusal is a sentence.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import typer

from lab.cli import app
from runners.spawn import Outcome
from tests.fuzz import CODES, Hung, Said, call

GARBAGE = [
    *("", " ", "-", "--", "---", "-1", "0", "1e999", "nan", "inf", "1_000", "0x10", "９", "--help", "--nonsense", "-x"),
    *("é" * 300, "a" * 5000, "\x1b[2J", "\ud800", "a\nb", "'", '"', "$(true)", "../..", "/", "/dev/null", "/dev/zero"),
    *("/proc/self/mem", "nowhere", "~", "%s", "{}", "[]", "None", "true", "module:Class", ":", "a:b:c", "a:", ":b"),
    *("http://[", "redis://", "mysql://x:y@z:99999/", "postgresql://", "file:///etc/passwd", "python9.9", "-o", "\\"),
    *("timer/array", "advisory/", "/heap", "array\tgrowth", "2147483648", "-0.0", "1e-300", "9" * 400, "="),
]


@dataclass(frozen=True)
class Parameter:
    """One option or argument of a command: how it is written ("" for an argument), and of what type it is."""

    names: tuple[str, ...]
    kind: Any

    @property
    def flag(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool


def grammar() -> dict[str, list[Parameter]]:
    """Return command -> its parameters, as the functions behind the front door declare them."""
    found = {}
    for command in app.registered_commands:
        assert command.callback is not None
        hints = typing.get_type_hints(command.callback, include_extras=True)
        hints.pop("return", None)
        name = command.name or command.callback.__name__
        found[name] = [_parameter(word, hint) for word, hint in hints.items()]
    return found


def _parameter(name: str, hint: Any) -> Parameter:
    kind, told = typing.get_args(hint)[:2]
    while typing.get_args(kind):  # Path | None, list[str] | None
        kind = typing.get_args(kind)[0]
    if isinstance(told, typer.models.ArgumentInfo):
        return Parameter((), kind)
    return Parameter(tuple(told.param_decls or ()) or (f"--{name.replace('_', '-')}",), kind)


def value_for(parameter: Parameter, chance: random.Random, places: list[str]) -> str:
    """Return a value for an option or an argument: mostly of its kind, else garbage."""
    if chance.random() < 0.35:
        return chance.choice([*GARBAGE, *places])
    if issubclass(parameter.kind, StrEnum):
        return str(chance.choice(list(parameter.kind)))
    if parameter.kind is int:
        return str(chance.choice([0, 1, 2, 5, 100, 1000, -1, 10**6, 2**31, 2**63, 10**30]))
    if parameter.kind is float:
        return str(chance.choice([0, 0.05, 0.1, 0.5, 1, 60, -1, 1e-9, 1e300]))
    if parameter.kind is Path:
        return chance.choice(places)
    words = ["array", "linked", "cycle", "quick", "advisory", "timer", "queues.timer.array:Array", "python3", "heap"]
    return chance.choice([*words, *places, *GARBAGE])


def line(chance: random.Random, places: list[str]) -> list[str]:
    """Return a random command line."""
    commands = grammar()
    if chance.random() < 0.05:
        return chance.choices(GARBAGE, k=chance.randrange(4))
    name = chance.choice(list(commands))
    words = [name]
    for parameter in commands[name]:
        for _ in range(chance.choice([0, 0, 0, 1, 1, 2])):
            words += [chance.choice(parameter.names)] if parameter.names else []
            words += [] if parameter.flag else [value_for(parameter, chance, places)]
    if chance.random() < 0.2:
        words.insert(chance.randrange(1, len(words) + 1), chance.choice(GARBAGE))
    if chance.random() < 0.1:
        rest = words[1:]
        chance.shuffle(rest)
        words[1:] = rest
    return words


@contextlib.contextmanager
def nothing_measured() -> Iterator[None]:
    """Put what takes its time out of the way: workers, other interpreters, servers, notebooks, probes."""

    def end(*arguments: Any, **options: Any) -> Outcome:
        return Outcome("error", "nothing is measured here")

    def stop(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runners.interpreters.carry_out_together", lambda runs, report: None)
        for name in ("runners.promises.run_worker", "runners.guard.run_worker"):
            patch.setattr(name, end)
        for name in ("runners.reattach.measure", "runners.calibrate.calibrate", "lab.probe.probe"):
            patch.setattr(name, stop)
        for name in ("lab.site.build", "lab.notebook_run.store", "runners.servers.started", "runners.servers.existing"):
            patch.setattr(name, stop)
        yield


def one(chance: random.Random, places: list[str], seconds: float = 20.0) -> tuple[list[str], str]:
    """Try a command line; return it, and what is wrong with how it ended ("" for nothing)."""
    words = line(chance, places)
    try:
        with nothing_measured():
            said = call(*words, seconds=seconds)
    except Hung:
        return words, f"no end within {seconds:g} s"
    except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
        return words, f"traceback: {type(error).__name__}: {str(error)[:200]}"
    return words, wrong_with(said)


def wrong_with(said: Said) -> str:
    """Return what is wrong with how a command line ended."""
    if "Traceback" in said.text:
        return f"a traceback: {said.text[-300:]}"
    if said.code not in CODES | {130}:
        return f"exit code {said.code}"
    if said.code == 2 and not said.err.strip():
        return "a refusal without a word"
    return ""


def many(examples: int, seed: int, places: list[str], tell: Callable[[str], None] = lambda line: None) -> list[str]:
    """Try so many command lines and return what was wrong, each with the seed that repeats it."""
    problems = []
    for number in range(examples):
        words, wrong = one(random.Random(f"{seed} {number}"), places)
        if wrong:
            problems.append(f"{seed} {number}: {words!r:.300}: {wrong}")
            tell(problems[-1])
    return problems


def places_in(folder: Path) -> list[str]:
    """Return paths of all sorts in a folder: sound runs, a file, an empty folder, one that is not there."""
    from tests.lab.runs import measured

    runs = [measured(folder / "a results folder"), measured(folder / "b", count=4)]
    runs += [measured(folder / "c", finish=False)]
    (folder / "file").write_text("x", encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "loop").symlink_to("loop")
    more = [folder / "file", folder / "empty", folder / "not there", folder / "loop", folder / "a results folder"]
    return [str(path) for path in (*runs, *more, runs[0] / "run.json", runs[0] / "executions.parquet")]


def main() -> int:
    """Try, and say what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.commands", description="Random command lines.")
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="commands-") as folder, contextlib.chdir(folder):
        problems = many(given.examples, given.seed, places_in(Path(folder)), lambda line: print(line, flush=True))
    kinds = Counter(problem.rpartition(": ")[2][:60] for problem in problems)
    print(f"{given.examples} command lines, {len(problems)} wrong: {dict(kinds.most_common(9))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
