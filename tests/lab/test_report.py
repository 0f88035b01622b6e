"""The parts of the README that come from a run, and its picture."""

from __future__ import annotations

import pytest

from lab.figure import cycle_points, cycle_svg, queued_sizes
from lab.report import renewed
from tests.lab.test_documents import rows_of_a_run


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
