"""Ratios within a run: worked out by hand on rows that are made here, and read off the reference run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.archive import find_runs, open_run
from lab.ratios import AHEAD, BEHIND, TIE, Ratio, ratio_table, ratios
from lab.table import text

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def row(subject: str, process: int, value: float, **changes: Any) -> dict[str, Any]:
    """A row of executions that is ok, with all that a ratio looks at."""
    return {
        "kind": "latency",
        "workload": "cycle",
        "params": "due=10",
        "clock": "cpu",
        "gc": "on",
        "operation": "take",
        "status": "ok",
        "subject": subject,
        "process": process,
        "n": 40,
        "p50_ns": value,
        "p99_ns": value,
        "p999_ns": value,
        "mean_ns": value,
        "container_bytes": None,
        "points_messages": None,
        "points_rss_bytes": None,
        **changes,
    }


def test_the_ratio_is_formed_within_a_block_and_the_median_taken_over_blocks() -> None:
    """The machine is twice as slow in blocks 1 and 2: medians of each would say 1.5, the blocks say 0.75."""
    base = [row("array", process, value) for process, value in enumerate((100, 200, 200, 100, 100))]
    other = [row("heap", process, value) for process, value in enumerate((75, 150, 150, 75, 150))]
    (found,) = ratios([*base, *other], [], "array")
    assert (found.value, found.low, found.high, found.blocks) == (0.75, 0.75, 1.5, 5)
    assert (found.figure, found.subject, found.case, found.verdict) == ("p50", "heap", "cycle due=10", TIE)


def test_a_percentile_with_too_few_samples_and_a_block_without_its_partner_do_not_count() -> None:
    rows = [
        row("array", 0, 10, n=367),
        row("heap", 0, 20, n=368),
        row("heap", 1, 20),
        row("array", 2, 9, status="failed"),
    ]
    assert [(one.figure, one.blocks) for one in ratios(rows, [], "array")] == [("p50", 1)]
    rows[0]["n"] = 3688
    assert [one.figure for one in ratios(rows, [], "array")] == ["p50", "p99"]


def test_from_six_blocks_on_the_interval_is_that_of_order_statistics() -> None:
    rows = [row("array", process, 100) for process in range(9)]
    rows += [row("heap", process, 90 + process) for process in range(9)]
    (found,) = ratios(rows, [], "array")
    assert (found.value, found.low, found.high) == (0.94, 0.91, 0.97)
    assert found.verdict == AHEAD


def test_another_arm_is_another_row() -> None:
    rows = [row(subject, 0, 10, gc=collector) for subject in ("array", "heap") for collector in ("on", "off")]
    assert [one.case for one in ratios(rows, [], "array")] == ["cycle due=10", "cycle due=10 cpu, gc off"]


def test_worst_calls_and_memory_are_compared_once() -> None:
    worst = [
        {**row(subject, 0, 0), "structural_worst_ns": ns, "processes": 5} for subject, ns in (("array", 50), ("b", 60))
    ]
    memory = {"kind": "memory", "operation": "resident", "n": None, "p50_ns": None}
    rows = [
        row(
            subject,
            0,
            0,
            **memory,
            container_bytes=size,
            points_messages=[1, 2, 3],
            points_rss_bytes=[0, size, 2 * size],
        )
        for subject, size in (("array", 100), ("b", 50))
    ]
    found = ratios(rows, worst, "array")
    assert [(one.figure, one.value, one.verdict) for one in found] == [
        ("structural worst", 1.2, BEHIND),
        ("bytes a message", 0.5, AHEAD),
        ("container", 0.5, AHEAD),
    ]


def test_the_table_counts_and_marks_what_is_behind() -> None:
    found = [
        Ratio("cost", "cycle", "cycle", "mean", "heap", 1.5, 1.25, 2.0, 5),
        Ratio("cost", "fill", "fill", "mean", "heap", 0.5, 0.5, 0.5, 5),
    ]
    said = text(ratio_table(found, "array", ["array", "heap", "chunked"]))
    assert "!1.50 (1.25–2.00)" in said
    assert "heap against array: 1 ahead, 0 tie, 1 behind, of 2 figures." in said
    assert "chunked" not in said


@pytest.mark.parametrize(
    "path",
    [path for path in find_runs(REFERENCE.parent) if path.parent == REFERENCE and path.name.endswith("-standard")],
    ids=lambda path: path.name,
)
def test_a_subject_against_itself_would_be_one_everywhere(path: Path) -> None:
    opened = open_run(path)
    rows = [one for one in opened.rows().to_pylist() if one["subject"] == "array"]
    twin = [{**one, "subject": "twin"} for one in rows]
    found = ratios([*rows, *twin], [], "array")
    assert len(found) > 50
    assert {(one.value, one.low, one.high, one.verdict) for one in found} == {(1.0, 1.0, 1.0, TIE)}
