"""Whatever stands on a command line ends with a documented exit code, a refusal as a sentence, nothing as a traceback.

`python -m tests.commands` tries as many lines as it is told.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.commands import grammar, one, places_in, wrong_with
from tests.fuzz import Said, call
from tests.lab.runs import measured

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return places_in(tmp_path_factory.mktemp("commands"))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_a_random_command_line_ends_with_a_code_and_without_a_traceback(
    places: list[str], chance: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("here"))
        words, wrong = one(chance, places)
    note(str(words))
    assert not wrong, f"{words}: {wrong}"


def test_the_grammar_has_every_command_and_its_options() -> None:
    found = grammar()
    assert {"run", "show", "compare", "verify", "reattach"} <= set(found)
    options = {name for parameter in found["run"] for name in parameter.names}
    assert {"--suite", "--results", "--time-limit", "--gc"} <= options
    assert any(parameter.flag for parameter in found["run"])
    assert any(not parameter.names for parameter in found["show"])


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (Said(1, "", "Traceback (most recent call last)"), "a traceback"),
        (Said(9, "", "what"), "exit code 9"),
        (Said(2, "", " \n"), "without a word"),
        (Said(2, "", "lab: no such run"), ""),
        (Said(130, "", "lab: stopped"), ""),
    ],
)
def test_the_judge_knows_a_wrong_end(said: Said, wrong: str) -> None:
    found = wrong_with(said)
    assert (wrong in found) if wrong else not found


def test_a_hint_with_a_path_can_be_pasted_whatever_is_in_the_path(tmp_path: Path) -> None:
    run = measured(tmp_path / "it's my folder", count=3)
    said = call("run", str(run))
    assert said.code == 2
    hint = said.err.rpartition("`lab ")[2].rpartition("`")[0]
    spoken = subprocess.run(["sh", "-c", f'printf "%s\\n" {hint}'], capture_output=True, text=True, check=True).stdout
    assert spoken.splitlines() == ["run", "--resume", str(run)]


@pytest.mark.parametrize("content", [b"no marks", b"\xff\xfe<!-- cycle -->", None])
def test_a_page_that_cannot_be_renewed_is_one_sentence(content: bytes | None, tmp_path: Path) -> None:
    run = measured(tmp_path / "results")
    page = tmp_path / "PAGE.md"
    if content is not None:
        page.write_bytes(content)
    said = call("report", str(run), "--readme", str(page))
    assert (said.code, said.out) == (2, "")
    assert str(page) in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("yardsticks", ["x"]),
        ("durable_yardsticks", ["--nonsense"]),
        ("variants", ["-1"]),
        ("events_race", ["--workers", "0"]),
        ("events_storm", ["--subject", "rope"]),
        ("events_crew", []),
        ("server_keeper", []),
        ("folder_keeper", ["/not/there"]),
        ("worker", []),
        ("allocations", ["/not/there"]),
        ("cost", ["--case", "/not/there"]),
    ],
)
def test_a_module_that_is_started_wrongly_says_so_and_does_nothing(module: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"runners.{module}", *arguments],
        input="no order\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
