"""The pieces of the notebooks about schedulers and pacing: on rows that are there, and on a run without them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lab import notebook_pacing, notebook_schedules
from lab.figure_panel import Drawing
from lab.notebook import Reading
from lab.notebook_html import Piece
from lab.table import Table
from tests.lab import kindred
from tests.lab.replays import LIFE, rows_of, spread

PIECES: list[Callable[[Reading], list[Piece]]] = [
    notebook_schedules.cost,
    notebook_schedules.reach,
    notebook_schedules.meeting,
    notebook_schedules.drift,
    notebook_schedules.every_call,
    notebook_schedules.verdicts,
    notebook_pacing.phase,
    notebook_pacing.drift,
    notebook_pacing.ticks,
    notebook_pacing.calls,
    notebook_pacing.waiters,
    notebook_pacing.plan,
    notebook_pacing.verdicts,
]


def said(pieces: list[Piece]) -> str:
    return " ".join(piece for piece in pieces if isinstance(piece, str))


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece.__module__}.{piece.__name__}")
def test_a_run_without_the_family_says_so(piece: Callable[[Reading], list[Piece]], tmp_path: Path) -> None:
    reading = Reading(kindred.stored(tmp_path, rows_of({(LIFE, "life"): spread(900)})), "advisory")
    (only,) = piece(reading)
    assert str(only).startswith("*Not in this run: ")


def test_the_pieces_about_schedulers(tmp_path: Path) -> None:
    reading = Reading(kindred.stored(tmp_path, kindred.schedules()), "advisory")
    drawing, sentence = notebook_schedules.cost(reading)
    assert isinstance(drawing, Drawing)
    assert sentence.startswith("**At 100,000 jobs `heap` costs least, 4.00 µs; `sorted-each-call` costs most, 60.0 ms")  # type: ignore[union-attr]
    assert "sorted-each-call / heap: 15,000" in said(notebook_schedules.reach(reading))
    assert "Of 100 jobs 100 meet in the worst instant of an hour, 2 when" in said(notebook_schedules.meeting(reading))
    assert [type(piece) for piece in notebook_schedules.drift(reading)] == [Table]
    (claims,) = notebook_schedules.verdicts(reading)
    assert isinstance(claims, Table)
    assert {cells[-1] for cells in claims.rows} == {"holds"}


def test_the_pieces_about_pacing(tmp_path: Path) -> None:
    reading = Reading(kindred.stored(tmp_path, kindred.pacing()), "ticker")
    assert "`naive-sleep` ends 592 ms behind its grid" in said(notebook_pacing.drift(reading))
    assert "stay on it" in said(notebook_pacing.drift(reading))
    assert "granted costs: `arithmetic` 1.10 µs, `aiolimiter` 9.00 µs" in said(notebook_pacing.calls(reading))
    assert "Over the bound in some span: `aiolimiter` by 1.5 permits" in said(notebook_pacing.waiters(reading))
    assert "A worker takes 14.6 KiB in `green`" in said(notebook_pacing.plan(reading))
    assert [type(piece) for piece in notebook_pacing.ticks(reading)] == [Table]
