"""Several interpreters in one go: the right one is asked, each has its run, and they stand side by side."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab import archive, environment
from lab.archive import ArchiveError
from lab.case import Case
from runners import interpreters
from runners.interpreters import (
    FACTS,
    Interpreter,
    NoInterpreter,
    ask,
    ask_all,
    carry_out_together,
    named,
    of_run,
    offered,
    own,
    side_by_side,
)
from runners.run import Settings, Step, plan
from runners.spawn import Limits

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent.parent
PROCESSES = [Case.of("latency", "timer", subject, "cycle", due=3, queued=5, calls=4) for subject in ("array", "linked")]


def installed(version: str) -> str | None:
    """The executable of a Python other than this one: on the PATH, else where pyenv keeps it."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    for candidate in (shutil.which(f"python{version}"), *map(str, kept)):
        if candidate is not None:
            said = subprocess.run([candidate, "-c", "import sys"], capture_output=True, check=False)
            if said.returncode == 0:
                return candidate
    return None


@pytest.fixture(scope="module")
def other() -> Interpreter:
    """An interpreter of another version, asked once."""
    path = installed("3.12") or installed("3.13")
    if path is None:
        pytest.skip("neither python3.12 nor python3.13 is installed")
    return ask(path)


def script(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_this_interpreter_asked_from_outside_says_what_it_says_itself() -> None:
    asked, here = ask(sys.executable), own()
    for fact in (*interpreters.OWN_FACTS, "processor", "commit"):
        assert asked.environment[fact] == here.environment[fact], fact
    assert asked.path == here.path
    assert asked.loads == here.loads
    assert asked.measured(here.environment)
    assert set(here.search) - {str(ROOT)} <= {*asked.search, *sys.path}


def test_another_interpreter_describes_itself_and_not_the_one_that_asks(other: Interpreter) -> None:
    here = own().environment
    assert other.environment["python"] != here["python"]
    assert other.environment["python"].startswith(("3.12.", "3.13."))
    assert other.environment["python_build"]["date"] != here["python_build"]["date"]
    assert other.name == f"cpython {other.environment['python']}"
    for fact in ("processor", "memory_bytes", "kernel", "commit"):
        assert other.environment[fact] == here[fact], fact
    site = [folder for folder in other.search if folder.endswith("site-packages")]
    assert not set(site) & set(own().search), "a worker must not load what is installed for another interpreter"


def test_asking_needs_nothing_installed() -> None:
    bare = [sys.executable, "-S", "-s", "-P", "-c", FACTS, str(ROOT), "pyperf"]
    said = subprocess.run(bare, capture_output=True, text=True, check=True, cwd=ROOT)
    found = json.loads(said.stdout.rpartition("\n")[2])
    assert found["loads"] == []
    assert found["facts"]["python"] == environment.capture()["python"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "does not say which Python it is"),
        (["echo 3.12.1"], "does not say which Python it is"),
        (["echo 'pyenv: python9: command not found' >&2", "echo 'it exists in 9.9' >&2", "exit 127"], "pyenv: python9"),
        (["exit 3"], "exit code 3"),
        (["printf '2.7.18\\n/usr/bin/python2.7'"], "is Python 2.7.18: expected Python 3.11 or newer"),
        (["printf '3.10.13\\n/usr/bin/python3.10'"], "is Python 3.10.13: expected Python 3.11 or newer"),
        (["printf '3.12.1\\n/bin/false'"], "cannot say what it is"),
    ],
)
def test_what_is_no_interpreter_is_one_sentence(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(NoInterpreter) as refused:
        ask(str(script(tmp_path, "python9", *lines)))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_path_that_is_not_there_a_folder_and_a_file_that_cannot_run_are_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("", encoding="utf-8")
    for given, words in (
        (str(tmp_path / "none"), "No such file"),
        (str(tmp_path), "folder"),
        (str(plain), "Permission denied"),
        ("python-that-nobody-has", "expected a path, or a name on the PATH"),
    ):
        with pytest.raises(NoInterpreter, match=words):
            ask(given)


def test_a_name_is_looked_for_beyond_a_shim_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shims").mkdir()
    (tmp_path / "bin").mkdir()
    script(tmp_path / "shims", "python9", "echo 'not the chosen version' >&2", "exit 127")
    script(tmp_path / "bin", "python9", f'exec "{sys.executable}" "$@"')
    path = os.pathsep.join([str(tmp_path / "shims"), str(tmp_path / "bin"), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    assert ask("python9").measured(own().environment)


def test_an_interpreter_named_twice_is_refused() -> None:
    with pytest.raises(NoInterpreter, match="each of them once"):
        ask_all([sys.executable, sys.executable])


def test_cases_that_need_pyperf_are_left_out_by_name_where_it_cannot_be_imported() -> None:
    cost = [Case.of("cost", "timer", "array", workload, messages=5) for workload in ("enqueue-in-order", "process")]
    with_it = Interpreter("p", own().environment, (), frozenset({"pyperf"}))
    without = Interpreter("p", own().environment, (), frozenset())
    assert offered([*PROCESSES, *cost], with_it) == ([*PROCESSES, *cost], "")
    kept, sentence = offered([*PROCESSES, *cost], without)
    assert kept == PROCESSES
    assert sentence == (
        f"{without.name} cannot import pyperf: what is measured by it, 2 of 4 cases, is left out "
        "(enqueue-in-order, process)"
    )
    assert offered(PROCESSES, without) == (PROCESSES, "")


def identities(cases: list[Case], processes: int = 3) -> list[tuple[str, int]]:
    return [execution.id for execution in plan(cases, processes, 5)]


def test_side_by_side_every_execution_stands_beside_its_like_in_random_order() -> None:
    plans = [identities(PROCESSES, 20)] * 2
    order = side_by_side(plans, seed=5)
    assert [identity for _, identity in order] == [identity for identity in plans[0] for _ in range(2)]
    pairs = [tuple(place for place, _ in order[at : at + 2]) for at in range(0, len(order), 2)]
    assert set(pairs) == {(0, 1), (1, 0)}
    assert 10 < pairs.count((0, 1)) < 30
    assert order == side_by_side(plans, seed=5)
    assert order != side_by_side(plans, seed=6)


def test_a_shorter_plan_keeps_its_order_and_nothing_is_lost() -> None:
    full = identities([*PROCESSES, Case.of("cost", "timer", "array", "process", messages=5)])
    short = [identity for identity in full if "/cost/" not in identity[0]]
    order = side_by_side([short, full, [("only-here", 0)]], seed=1)
    assert [identity for place, identity in order if place == 0] == short
    assert [identity for place, identity in order if place == 1] == full
    assert [identity for place, identity in order if place == 2] == [("only-here", 0)]


def started(folder: Path, interpreter: Interpreter, processes: int = 2) -> archive.Run:
    return archive.create(
        folder,
        environment.machine_name(interpreter.environment),
        "quick",
        seed=5,
        options={},
        environment=interpreter.environment,
        planned=plan(PROCESSES, processes, 5),
    )


def settings(interpreter: Interpreter) -> Settings:
    return Settings(limits=Limits(seconds=20), python=interpreter.path, path=interpreter.search)


def test_two_interpreters_are_measured_side_by_side_stopped_and_resumed(tmp_path: Path, other: Interpreter) -> None:
    both = [own(), other]
    steps: list[Step] = []

    def stop_in_the_fourth(step: Step) -> None:
        steps.append(step)
        if step.number == 4:
            raise KeyboardInterrupt

    runs = [started(tmp_path, interpreter) for interpreter in both]
    with pytest.raises(KeyboardInterrupt):
        carry_out_together([(run, settings(one)) for run, one in zip(runs, both, strict=True)], stop_in_the_fourth)
    assert [run.finish() for run in runs] == ["interrupted"] * 2
    assert sum(len(run.done()) for run in runs) == 3
    assert {step.total for step in steps} == {8}

    assert interpreters.newest_unfinished(tmp_path, other) == runs[1].path
    again = [archive.resume(interpreters.newest_unfinished(tmp_path, one), environment=one.environment) for one in both]
    carry_out_together([(run, settings(one)) for run, one in zip(again, both, strict=True)], steps.append)
    assert [run.finish() for run in again] == ["complete"] * 2
    ended = [step for step in steps if step.status]
    assert [step.number for step in ended] == list(range(1, 9))
    for at in range(0, 8, 2):
        pair = ended[at : at + 2]
        assert {step.interpreter for step in pair} == {one.name for one in both}
        assert pair[0].execution == pair[1].execution
    for run, interpreter in zip(again, both, strict=True):
        rows = run.rows().to_pylist()
        assert {row["status"] for row in rows} == {"ok"}, [row["message"] for row in rows]
        assert {row["python"] for row in rows} == {interpreter.environment["python"]}
        assert run.environment["python"] == interpreter.environment["python"]
        assert archive.verify(run.path) == []
    with pytest.raises(ArchiveError, match="no unfinished run"):
        interpreters.newest_unfinished(tmp_path, other)


def test_a_stopped_run_goes_on_with_its_own_interpreter_or_says_which_it_was(
    tmp_path: Path, other: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(tmp_path, other)
    assert of_run([other], run) == other
    with pytest.raises(ArchiveError, match=f"was measured by {other.name}, not by {own().name}"):
        of_run([own()], run)
    with pytest.raises(ArchiveError, match="expected one --python"):
        of_run([own(), other], run)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArchiveError, match="add --python and its path"):
        of_run([], run)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(other.path).parent), str(tmp_path)]))
    assert of_run([], run).path == other.path
    mine = started(tmp_path, own())
    assert of_run([], mine).path == sys.executable
    run.close()
    mine.close()


def test_a_library_that_an_interpreter_lacks_makes_its_subject_not_offered(tmp_path: Path, other: Interpreter) -> None:
    case = Case.of("latency", "timer", "sorted", "cycle", due=3, queued=5, calls=4)
    alone = Interpreter(other.path, other.environment, (), frozenset())  # whatever is installed there is not looked at
    planned = plan([case], 1, 5)
    with archive.create(
        tmp_path, "m", "quick", seed=5, options={}, environment=other.environment, planned=planned
    ) as run:
        carry_out_together([(run, settings(alone))], lambda step: None)
        (row,) = run.rows().to_pylist()
    assert row["status"] == "not-offered"
    assert row["message"] == f"needs the library 'sortedcontainers', which {other.name} cannot import here"


def test_an_interpreter_is_named_with_what_makes_its_build_another() -> None:
    facts: dict[str, Any] = {"implementation": "cpython", "python": "3.13.0"}
    assert named(facts) == "cpython 3.13.0"
    assert named({**facts, "python_build": {"debug": True}}) == "cpython 3.13.0, debug build"


def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )


def test_the_front_door_makes_a_run_for_each_and_names_what_it_leaves_out(tmp_path: Path, other: Interpreter) -> None:
    choice = ["--suite", "quick", "--subject", "array", "--workload", "cycle", "--processes", "1"]
    said = lab("run", *choice, "--python", sys.executable, "--python", other.path, "--results", str(tmp_path))
    assert said.returncode == 0, said.stderr
    runs = {run.environment["python"]: run for run in map(archive.open_run, archive.find_runs(tmp_path))}
    assert set(runs) == {own().environment["python"], other.environment["python"]}
    kinds = {python: set(run.rows().column("kind").to_pylist()) for python, run in runs.items()}
    assert kinds[own().environment["python"]] == {"latency", "cost"}
    if "pyperf" not in other.loads:
        assert kinds[other.environment["python"]] == {"latency"}
        assert f"note: {other.name} cannot import pyperf" in said.stdout
        assert "cannot import pyperf" in runs[other.environment["python"]].options["left_out"]


def test_the_front_door_refuses_what_is_no_interpreter(tmp_path: Path) -> None:
    said = lab("run", "--suite", "quick", "--python", str(tmp_path / "none"), "--results", str(tmp_path))
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1
    assert "is no Python interpreter" in said.stderr
    assert not archive.find_runs(tmp_path)
