"""The page of a run, and the parts of the README that come from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.figure import cycle_points, cycle_svg, queued_sizes
from lab.report import renewed, write
from lab.table import Table
from tests.lab.test_documents import rows_of_a_run

TABLE = Table("Cost", ("subject", "mean"), (("array", "1 µs"),))


def test_the_page_holds_tables_and_pictures_and_is_replaced_when_written_again(tmp_path: Path) -> None:
    page = write(tmp_path / "report", "A run", [TABLE], {"cycle.svg": "<svg/>"})
    first = page.read_text(encoding="utf-8")
    assert first.startswith("# A run\n")
    assert "![cycle](cycle.svg)" in first
    assert "| array | 1 µs |" in first
    assert (page.parent / "cycle.svg").read_text(encoding="utf-8") == "<svg/>"
    write(tmp_path / "report", "A run", [TABLE], {"cycle.svg": "<svg/>"})
    assert page.read_text(encoding="utf-8") == first


def test_a_block_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no block 'cycle'"):
        renewed("a page", "cycle", "new")


def test_the_picture_is_the_same_for_the_same_run() -> None:
    rows = rows_of_a_run()
    assert queued_sizes(rows) == [200_000]
    first = cycle_svg(rows, 200_000, ["linked", "array"])
    assert first == cycle_svg(rows, 200_000, ["linked", "array"])
    assert ">array</text>" in first
    assert "2026" not in first


def test_a_point_is_the_median_over_the_processes() -> None:
    points = cycle_points(rows_of_a_run(), 200_000)
    assert points["take", "array"] == [(10, 2_000.0), (1_000, 12_000.0)]
