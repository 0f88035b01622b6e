"""What somebody meets who has read only the README: its queue is checked as it says, and what a help prints runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from lab import cli
from queues.conformance import TOLERATED, conform

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
EXAMPLES = {name: (command.epilog or "").removeprefix("Example: ") for name, command in COMMANDS.items()}
TRIED_ELSEWHERE = {"run", "report", "calibrate", "reattach", "verify", "aa"}
"""Examples that take ten seconds or more; the tests of these commands run them smaller."""


def sh(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as it is printed, in a folder that has the results of the clone."""
    if not (folder / "results").exists():
        (folder / "results").symlink_to(ROOT / "results")
    known = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    (folder / "lab").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lab "$@"\n', encoding="utf-8")
    (folder / "lab").chmod(0o755)
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=known, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


@pytest.mark.parametrize("command", sorted(set(EXAMPLES) - TRIED_ELSEWHERE))
def test_the_example_of_a_help_runs_as_printed_in_a_fresh_clone(command: str, tmp_path: Path) -> None:
    said = sh(EXAMPLES[command], tmp_path)
    assert "Traceback" not in said.stderr
    assert said.returncode in (0, 1, 3), f"{EXAMPLES[command]}\n{said.stderr}"
    assert said.stdout


@pytest.mark.parametrize("command", sorted(TRIED_ELSEWHERE))
def test_what_a_long_example_names_is_in_a_fresh_clone(command: str) -> None:
    words = shlex.split(EXAMPLES[command])
    assert words[:2] == ["lab", command]
    for word in (word for word in words if word.startswith("results/")):
        assert len(list(ROOT.glob(word))) == 1, word


def test_lab_help_says_each_command_whole_and_where_to_begin(tmp_path: Path) -> None:
    said = sh("lab --help", tmp_path).stdout.partition("Commands:")[2]
    assert "..." not in said
    assert "…" not in said
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +\S", said, re.MULTILINE), name
        assert command.short_help in " ".join(said.split()), name
    assert "Begin with" in said


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", ">&-", "<&-", "2>&-"])
def test_a_command_without_its_standard_streams_does_its_work(closed: str, tmp_path: Path) -> None:
    choice = "--suite quick --workload free --subject array --processes 1 --results there"
    assert sh(f"lab run {choice} {closed}", tmp_path).returncode == 0
    assert len(list(tmp_path.glob("there/*/*-quick/executions.parquet"))) == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tables of the reference run, as a terminal shows them that has every sign."""
    return sh("lab show results/reference/*-standard", tmp_path_factory.mktemp("whole")).stdout


@pytest.mark.parametrize("encoding", ["latin-1", "iso8859-2", "koi8-r", "ascii"])
def test_a_terminal_that_lacks_a_sign_gets_another_and_the_rest_of_the_table(
    encoding: str, whole: str, tmp_path: Path
) -> None:
    said = sh(f"PYTHONIOENCODING={encoding} lab show results/reference/*-standard > page", tmp_path)
    assert said.returncode == 0, said.stderr
    page = (tmp_path / "page").read_bytes()
    assert len(page.splitlines()) == len(whole.splitlines())
    assert len(page.decode(encoding if encoding != "ascii" else "utf-8")) == len(whole)


@pytest.mark.parametrize("command", ["lab list", "lab show results/reference/*-standard"])
def test_who_reads_only_the_first_lines_is_no_failure(command: str, tmp_path: Path) -> None:
    said = sh(f"({command}; echo $? >&2) | head -n 1", tmp_path)
    assert said.stdout.count("\n") == 1
    assert said.stderr == "0\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("line", ["lab list > /dev/full", "lab demo > /dev/full", "lab --help > /dev/full"])
def test_output_that_does_not_fit_is_one_sentence(line: str, tmp_path: Path) -> None:
    said = sh(line, tmp_path)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr
    assert "No space left on device" in said.stderr
    assert "Exception ignored" not in said.stderr


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    (run,) = (ROOT / "results" / "reference").glob("*-standard")
    for folder in ("python-3.12", "python-3.13"):
        shutil.copytree(run, tmp_path / folder / run.name)
    said = sh(f"lab compare */{run.name}", tmp_path)
    assert said.stdout.startswith(f"python-3.12/{run.name} → python-3.13/{run.name}: ")
    same = sh(f"lab compare python-3.12/{run.name} python-3.12/{run.name}", tmp_path)
    assert same.stdout.startswith(f"{run.name} → {run.name}: ")


PRETENDER = """#!/bin/sh
case "$*" in
  *version_info*) exit 0 ;;
  *sys.version*) echo pretended ;;
  *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; echo "#!$PWD/.venv/bin/python" > .venv/bin/lab ;;
  *"-m pip"*) [ ! -e offline ] || { echo "ERROR: No matching distribution found for numpy" >&2; exit 1; } ;;
esac
"""
"""Stands for a Python: says its version, makes a .venv with itself in it, and installs where no file `offline` is."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with a space in its name, with what `make setup` reads, and a Python that only pretends."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("python", "other"):
        (folder / name).write_text(PRETENDER.replace("pretended", name), encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))}
    return subprocess.run(["make", *words], cwd=folder, env=known, capture_output=True, text=True, check=False)


def test_a_set_up_that_fails_half_way_says_so_and_goes_on_when_it_is_called_again(clone: Path) -> None:
    (clone / "offline").touch()
    said = make(clone, "setup", "PYTHON=./python")
    assert said.returncode == 2
    assert "ERROR: No matching distribution found for numpy" in said.stderr
    assert "make: pip could not install the packages, and .venv is not whole: is the network there" in said.stderr
    assert not (clone / ".venv" / ".complete").exists()
    (clone / "offline").unlink()
    said = make(clone, "setup", "PYTHON=./python")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("setting up .venv")
    assert (clone / ".venv" / ".complete").exists()


def test_what_is_set_up_stays_until_another_python_is_named_or_the_folder_moves(clone: Path) -> None:
    assert make(clone, "setup", "PYTHON=./python").returncode == 0
    for words in (["setup"], ["setup", "PYTHON=./python"]):
        assert "Nothing to be done" in make(clone, *words).stdout
    assert "setting up" in make(clone, "-n", "setup", "PYTHON=./other").stdout
    moved = clone.rename(clone.with_name("the same clone elsewhere"))
    assert "setting up" in make(moved, "-n", "setup").stdout


def test_a_python_that_cannot_be_used_is_named_with_what_it_says(clone: Path) -> None:
    said = make(clone, "setup", "PYTHON=./nowhere")
    assert said.returncode == 2
    assert "make: ./nowhere is not Python 3.11 or newer (" in said.stderr
    assert "not found" in said.stderr
    assert "make setup PYTHON=python3.12" in said.stderr


def own_queue() -> tuple[str, str]:
    """Return the name and the text of the module that the README shows."""
    section = README.partition("## Bring your own queue")[2].partition("\n## ")[0]
    shown = re.search(r"```python\n(# (\w+)\.py.*?)```", section, re.DOTALL)
    assert shown, "the README shows a whole queue"
    return shown[2], shown[1]


def test_the_queue_of_the_readme_can_be_timed_as_it_stands() -> None:
    namespace: dict[str, object] = {"__name__": own_queue()[0]}
    exec(own_queue()[1], namespace)  # noqa: S102 - the page is ours
    outcomes = conform(namespace["Mine"], steps=600)
    broken = {outcome.promise for outcome in outcomes if outcome.verdict == "broken"}
    assert broken <= TOLERATED
    assert sum(outcome.verdict == "kept" for outcome in outcomes) > 20


def test_the_check_of_the_readme_says_what_the_readme_says(tmp_path: Path) -> None:
    name, text = own_queue()
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    assert f"lab conform {name}:Mine" in README
    assert f"--queue {name}:Mine" in README
    said = sh(f"lab conform {name}:Mine", tmp_path)
    assert said.returncode == 1, said.stderr
    assert f"`lab run --queue {name}:Mine` times it all the same" in said.stderr


def test_a_queue_that_gets_no_numbers_is_told_by_which_promises(tmp_path: Path) -> None:
    name, text = own_queue()
    wrong = text.replace("reversed(batch)", "batch")
    assert wrong != text
    (tmp_path / f"{name}.py").write_text(wrong, encoding="utf-8")
    said = sh(f"lab conform {name}:Mine", tmp_path)
    assert said.returncode == 1, said.stderr
    assert "is not timed before it keeps" in said.stderr
    assert "requeue-merges-late-arrivals" in said.stderr.rpartition("keeps")[2]
    assert "nan-start-refused" not in said.stderr


@pytest.mark.parametrize("given", ["folder/mine.py:Mine", "mine.py:Mine", "./mine:Mine"])
def test_a_file_in_the_place_of_a_module_is_told_how_to_name_it(given: str, tmp_path: Path) -> None:
    said = sh(f"lab conform {given}", tmp_path)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr
    assert "expected a module, as `import` names it" in said.stderr
    assert "mine:Mine" in said.stderr.partition("expected")[2]


def test_where_a_module_is_looked_for_is_said_only_when_it_is_not_found(tmp_path: Path) -> None:
    looked = "looked for in this folder and along PYTHONPATH"
    assert looked in sh("lab conform nowhere:Mine", tmp_path).stderr
    (tmp_path / "half.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "needs.py").write_text("import nowhere\n", encoding="utf-8")
    (tmp_path / "dies.py").write_text("import os\nclass Mine:\n    def __init__(self): os._exit(3)\n", encoding="utf-8")
    for name in ("half", "needs", "dies"):
        said = sh(f"lab conform {name}:Mine", tmp_path)
        assert said.returncode == 2
        assert looked not in said.stderr, said.stderr
    assert "exit code 3" in said.stderr
