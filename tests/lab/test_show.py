"""What `lab show` leaves unread is what no table looks at."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from lab import archive, show
from lab.record import COLUMNS, EXECUTIONS
from lab.reference import read_reference
from queues.registry import SUBJECTS, registered

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = sorted((ROOT / "results" / "reference").glob("2*"))
SHOWING = (
    *("show", "documents", "durable", "families", "schedules", "pacing", "events", "collector", "noise", "arms"),
    *("cells", "interval", "memory", "disturbance", "ratios"),
)
"""The modules that read rows on the way of `lab show` to its tables."""
ORDER = {family: list(registered(family)) for family in SUBJECTS}


def texts(module: str) -> set[str]:
    """Every text in a module's code, docstrings and the list of what is not shown left out."""
    tree = ast.parse((ROOT / "lab" / f"{module}.py").read_text(encoding="utf-8"))
    left_out = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "UNSHOWN")
        for inner in ast.walk(node)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out
    }


def test_what_is_left_unread_are_columns_of_a_run() -> None:
    assert set(show.UNSHOWN) < {column.name for column in COLUMNS[EXECUTIONS]}
    assert len(set(show.UNSHOWN)) == len(show.UNSHOWN)


@pytest.mark.parametrize("module", SHOWING)
def test_no_module_of_the_tables_names_a_column_that_is_left_unread(module: str) -> None:
    found = texts(module) & set(show.UNSHOWN)
    assert found <= ({"drift"} if module in ("pacing", "schedules") else set())  # there it is the head of a column


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name.partition("-")[2])
def test_the_tables_of_a_run_are_the_same_from_all_of_its_columns(path: Path) -> None:
    opened = archive.open_run(path)
    every: list[dict[str, Any]] = opened.rows().to_pylist()
    cases, reference = opened.cases().to_pylist(), read_reference()
    found = show.tables(show.rows_of(opened), cases, reference, ORDER)
    assert found
    assert found == show.tables(every, cases, reference, ORDER)


def test_rows_have_every_column_but_those() -> None:
    opened = archive.open_run(RUNS[0])
    found = show.rows_of(opened)
    assert len(found) == opened.rows().num_rows
    assert set(found[0]) == {column.name for column in COLUMNS[EXECUTIONS]} - set(show.UNSHOWN)
