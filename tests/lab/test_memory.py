"""Bytes a message and their interval, against figures worked out by hand and by simulation; the rows of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from lab.memory import ALLOCATIONS, PEAK, SLOPE, PerMessage, memory_table, per_message
from lab.table import text

PLACES = np.linspace(10_000, 200_000, 10)


def line(slope: float, noise: np.ndarray[Any, Any] | float = 0.0) -> list[tuple[float, float]]:
    return list(zip(PLACES.tolist(), (12e6 + slope * PLACES + noise).tolist(), strict=True))


def bounds(found: PerMessage) -> tuple[float, float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.bytes, found.high


def test_the_interval_over_processes_is_students_where_every_line_is_straight() -> None:
    found = per_message([line(170), line(172), line(174)])
    assert found is not None
    half = stats.t.ppf(0.975, 2) * 2 / np.sqrt(3)
    assert found.processes == 3
    assert list(bounds(found)) == pytest.approx([172 - half, 172, 172 + half])


def test_the_interval_over_points_is_that_of_the_regression() -> None:
    noise = np.random.default_rng(1).normal(0, 50_000, 10)
    points = line(172, noise)
    known = stats.linregress(PLACES, [held for _, held in points])
    found = per_message([points])
    assert found is not None
    half = stats.t.ppf(0.975, 8) * known.stderr
    assert list(bounds(found)) == pytest.approx([known.slope - half, known.slope, known.slope + half])


def test_the_wider_one_counts_and_equal_processes_do_not_narrow_what_the_points_leave_open() -> None:
    noise = np.random.default_rng(2).normal(0, 50_000, 10)
    one, ten = per_message([line(172, noise)]), per_message([line(172, noise)] * 10)
    assert one is not None
    assert ten is not None
    assert list(bounds(ten)) == pytest.approx(list(bounds(one)))


def test_what_has_no_interval_says_so_and_what_has_no_slope_is_nothing() -> None:
    single = per_message([[(10, 1_000), (20, 2_000)]])
    assert single is not None
    assert (single.bytes, single.low, single.high) == (100.0, None, None)
    assert per_message([]) is None
    assert per_message([[], [(10, 5), (10, 6)]]) is None


@pytest.mark.parametrize(("spread", "step_bytes"), [(1.0, 0.0), (0.0, 40_000.0), (1.0, 40_000.0)])
def test_the_interval_holds_the_truth_as_often_as_it_says(spread: float, step_bytes: float) -> None:
    """In 400 made-up cases of 5 processes: slopes that differ (96 %), steps that all share (94 %), and both (94 %)."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        steps = rng.normal(0, step_bytes, 10) if step_bytes else 0.0
        found = per_message([line(172 + rng.normal(0, spread), steps) for _ in range(5)])
        assert found is not None
        low, _, high = bounds(found)
        held += low <= 172 <= high
    assert held / 400 >= 0.93


COLUMNS = (
    *("points_messages", "points_rss_bytes", "rss_before_bytes", "rss_after_bytes", "container_bytes"),
    *("fill_peak_bytes", "drain_peak_bytes", "allocations", "high_water_bytes"),
)


def row(**columns: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), **columns}


def filled(bytes_a_message: int, **columns: Any) -> dict[str, Any]:
    points = {10: 10 * bytes_a_message, 20: 20 * bytes_a_message, 30: 30 * bytes_a_message}
    return row(points_messages=list(points), points_rss_bytes=list(points.values()), **columns)


GROUPS = {
    ("array", "resident", "messages=30"): [filled(100, allocations=90, high_water_bytes=4096), filled(102)],
    ("null", "baseline", "messages=30"): [filled(0, rss_after_bytes=12 << 20)],
    ("array", "drained", "left=3,messages=30"): [
        row(container_bytes=512, rss_before_bytes=1 << 20, fill_peak_bytes=9 << 20, drain_peak_bytes=4 << 20)
    ],
    ("heap", "drained", "left=3,messages=30"): [row(container_bytes=1024)],
}
TABLE = """\
Memory
what                                                                subject                ours       Perl
resident, a message (slope to 30)                                   array    101 B (88 .. 114)      227 B
resident, a message (slope to 30)                                   null          0 B (0 .. 0)          –
the interpreter and the workload alone                              null              12.0 MiB          –
container, 30 drained to 3                                          array                512 B  0.977 KiB
container, 30 drained to 3                                          heap              1.00 KiB          –
peak, 30 filled in                                                  array             8.00 MiB          –
peak, 30 drained to 3                                               array             3.00 MiB          –
allocations, a message, and the most held at one time (resident, 30)  array     3.00, 4.00 KiB          –
"""


def test_the_table_has_a_row_for_each_figure_that_is_there_and_a_note_on_each_kind() -> None:
    reference: dict[tuple[str, ...], float] = {
        ("memory", "array", "resident", "30", "", "", "per_message"): 227.0,
        ("memory_drained", "array", "container", "3", "", "", "shallow"): 1000.0,
    }
    table = memory_table(GROUPS, reference)
    said = [line.split("  ") for line in text(table).splitlines()]
    wanted = [line.split("  ") for line in TABLE.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in said]
    assert cells[: len(wanted)] == [[cell.strip() for cell in line if cell.strip()] for line in wanted]
    assert table.notes == (SLOPE, PEAK, ALLOCATIONS)


def test_without_peaks_and_memray_neither_rows_nor_notes_speak_of_them() -> None:
    table = memory_table(
        {("heap", "drained", "left=3,messages=30"): GROUPS["heap", "drained", "left=3,messages=30"]}, {}
    )
    assert [cells[0] for cells in table.rows] == ["container, 30 drained to 3"]
    assert table.notes == ()
