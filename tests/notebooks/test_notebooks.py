"""Every notebook, executed on the reference run (what is stored is what comes out) and on small runs of many kinds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.case import Case
from lab.notebook_file import Notebook, NotebookError, make, read, texts, with_parameters, write
from lab.notebook_run import NOTEBOOKS, every, execute_in, kernel, run_for
from tests.lab.replays import spread, stored
from tests.lab.test_judging import seal, without_later_columns
from tests.notebooks import small
from tests.notebooks.sites import newest_reference, notebooks, sources

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "notebooks.txt"

LONGEST_CELL = 20
CLOCKS = re.compile(r"%%?time|\btimeit\b|\bperf_counter|\bthread_time|\btime\.time|\bprocess_time")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with kernel() as started:
        yield started


@pytest.fixture(scope="module")
def on_reference(client: Any) -> dict[str, Notebook]:
    executed: dict[str, Notebook] = {}
    for path in every():
        executed |= execute_in(client, [path], [run_for(path, newest_reference())])
    return executed


def test_there_are_notebooks_in_reading_order() -> None:
    names = notebooks()
    assert names[:7] == [
        "0_how_to_read_a_result",
        "1_cost",
        "2_latency",
        "3_memory",
        "4_reattach",
        "5_which_queue",
        "6_machines",
    ]


def test_what_is_stored_is_what_comes_out_of_the_reference_run(on_reference: dict[str, Notebook]) -> None:
    for name in notebooks():
        stored = texts(read(NOTEBOOKS / f"{name}.ipynb"))
        assert stored == texts(on_reference[name]), f"{name} is not what the reference run says: make stored"


def test_the_texts_of_a_small_run_are_those_of_the_golden_file(client: Any, tmp_path: Path) -> None:
    of_timers = [path for path in every() if path.stem.partition("_")[0] in "0123456"]
    lines = []
    for name, notebook in execute_in(client, of_timers, [small.make(tmp_path)]).items():
        lines.append(f"===== {name}")
        # what becomes of the claims is in the golden file of `lab claims`
        lines += [text for cell in texts(notebook) for text in cell if not text.startswith("Claims of the documents")]
    said = re.sub(r"\d{8}T\d{6}Z-small", "RUN", "\n".join(lines)) + "\n"
    got = GOLDEN.with_suffix(".got")
    got.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN.name} with {got.name}"
    got.unlink()


def test_nothing_in_a_stored_notebook_says_when_where_or_how_long() -> None:
    for name in notebooks():
        notebook: dict[str, Any] = read(NOTEBOOKS / f"{name}.ipynb")
        text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        assert not re.search(r"/(home|root|tmp|work|Users)/", text), name
        assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
        assert notebook["metadata"]["language_info"] == {"name": "python"}
        for place, cell in enumerate(notebook["cells"]):
            assert cell["id"] == f"cell-{place:02}"
            assert set(cell["metadata"]) <= {"tags"}
            for output in cell.get("outputs", []):
                assert output["output_type"] == "display_data", name
                assert output["metadata"] == {}


def test_a_cell_is_short_and_reads_no_clock() -> None:
    for name in notebooks():
        for source in sources(read(NOTEBOOKS / f"{name}.ipynb")):
            assert len(source.splitlines()) <= LONGEST_CELL, name
            assert not CLOCKS.search(source), name
            calls = [node for node in ast.parse(source).body if isinstance(node, ast.Expr)]
            assert len(calls) <= 2, f"{name}: one call a cell, and one that says what is read"


def test_every_notebook_begins_with_its_question_and_then_its_parameters() -> None:
    for name in notebooks():
        notebook = read(NOTEBOOKS / f"{name}.ipynb")
        first, second = notebook["cells"][:2]
        assert first["cell_type"] == "markdown"
        number = name.split("_")[0]
        assert re.match(rf"# {number}\. [^\n]+\n\n\*\*[^*]+\?\*\*\n\n", first["source"]), name
        assert second["metadata"] == {"tags": ["parameters"]}
        assert re.search(r"^RUNS? = ", second["source"], re.M), name


def test_every_code_cell_but_the_parameters_shows_something(on_reference: dict[str, Notebook]) -> None:
    for name, notebook in on_reference.items():
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code" and not cell["metadata"].get("tags"):
                assert cell["outputs"], f"{name}: {cell['source']}"


@pytest.mark.parametrize("kind", ["broken", "stopped", "old", "alone"])
def test_a_run_with_much_missing_renders_and_says_what(client: Any, kind: str, tmp_path: Path) -> None:
    made = {
        "broken": lambda: small.make(tmp_path, broken=True),
        "stopped": lambda: small.make_unfinished(tmp_path),
        "old": lambda: small.make(tmp_path),
        "alone": lambda: small.make(tmp_path, subjects=("chunked",), processes=1),
    }[kind]()
    if kind == "old":
        without_later_columns(made)
        seal(made, 1)
    executed = execute_in(client, every(), [made])
    said = "\n".join(text for notebook in executed.values() for cell in texts(notebook) for text in cell)
    wanted = {
        "broken": ("have no figure", "not-offered: as planned", "timeout: as planned"),
        "stopped": ("executions are missing",),
        "old": ("before schema version 2",),
        "alone": ("Not in this run", "needs 5 processes, has 1"),
    }[kind]
    for words in wanted:
        assert words in said


def test_several_runs_stand_beside_each_other(client: Any, tmp_path: Path) -> None:
    runs = [small.make(tmp_path, "one"), small.make(tmp_path, "two", subjects=("array", "chunked"))]
    executed = execute_in(client, [NOTEBOOKS / "6_machines.ipynb"], runs)
    said = "\n".join(text for cell in texts(executed["6_machines"]) for text in cell)
    assert "take, 20,000 behind: one" in said
    assert "take, 20,000 behind: two" in said
    assert "The runs agree on" in said
    assert "Without a pair" in said


def test_a_notebook_of_another_family_is_stored_on_a_run_that_has_it(tmp_path: Path) -> None:
    def of(family: str, workload: str) -> Path:
        case = Case("latency", family, "heap", workload, ())
        return stored(tmp_path, {(case, workload): spread(900)})

    older, timer = of("advisory", "next-job"), of("timer", "growth")
    plain, other, none = (tmp_path / f"{number}_n.ipynb" for number in (1, 7, 8))
    for path, asked in ((plain, ""), (other, ', family="advisory"'), (none, ", family='ticker'")):
        make(path, [("parameters", 'RUN = ""'), ("code", f"run = choose(RUN{asked})")])
    assert run_for(plain, timer) == timer
    assert run_for(other, timer) == older
    assert run_for(none, timer) == timer


def test_of_several_runs_a_notebook_reads_the_first_that_has_its_family(client: Any, tmp_path: Path) -> None:
    runs = [
        stored(tmp_path, {(Case("latency", family, "heap", workload, ()), workload): spread(900)})
        for family, workload in (("timer", "growth"), ("advisory", "next-job"))
    ]
    for number, asked in ((1, ""), (7, ', family="advisory"'), (8, ', family="ticker"')):
        cells = [
            ("parameters", 'RUN = ""'),
            ("code", f"import lab.notebook as n\n\nchoose = n.choose\nprint(choose(RUN{asked}).name)"),
        ]
        make(tmp_path / f"{number}_n.ipynb", cells)
    executed = execute_in(client, [tmp_path / f"{number}_n.ipynb" for number in (1, 7, 8)], runs)
    said = [notebook["cells"][-1]["outputs"][0]["text"] for notebook in executed.values()]
    assert ["".join(text).strip() for text in said] == [runs[0].name, runs[1].name, runs[0].name]


def test_a_cell_that_fails_is_named_with_what_went_wrong(client: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "1_wrong.ipynb"
    make(wrong, [("markdown", "# 1. Wrong?"), ("parameters", 'RUN = ""'), ("code", "x = 1"), ("code", "x / 0")])
    with pytest.raises(NotebookError, match=r"1_wrong\.ipynb, code cell 3: ZeroDivisionError: division by zero"):
        execute_in(client, [wrong], [tmp_path])


def test_a_file_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    (tmp_path / "1_text.ipynb").write_text("[1, 2", encoding="utf-8")
    with pytest.raises(NotebookError, match=r"1_text\.ipynb is no notebook"):
        read(tmp_path / "1_text.ipynb")
    with pytest.raises(NotebookError, match=r"2_none\.ipynb cannot be read"):
        read(tmp_path / "2_none.ipynb")


def test_what_is_printed_cannot_be_stored(tmp_path: Path) -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": "by hand"}
    notebook = {"cells": [{"cell_type": "code", "metadata": {}, "source": "", "outputs": [printed]}]}
    with pytest.raises(NotebookError, match="a cell gives stream"):
        write(tmp_path / "1_printed.ipynb", notebook)
    assert not (tmp_path / "1_printed.ipynb").exists()


def test_only_the_cell_of_the_parameters_is_given_the_run(tmp_path: Path) -> None:
    path = tmp_path / "1_two.ipynb"
    make(path, [("parameters", 'RUN = ""\nBATCH = 3'), ("code", 'RUN = "own"')])
    given = with_parameters(read(path), {"RUN": "mine"})
    assert sources(given) == ["RUN = 'mine'\nBATCH = 3", 'RUN = "own"']
