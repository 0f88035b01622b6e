"""The A/A band out of rows: which pairs there are, how wide the band is, and whom it serves as a floor."""

from __future__ import annotations

import pytest

from lab.noise import bands, figure_of, floor_of, pairs, table, twin_name, without_twins
from lab.verdict import Verdict
from runners.suites import TWIN, TWIN_OF
from tests.lab.replays import COST, QUIET, RESIDENT, Row, cycle, failed, rows_of, spread
from tests.lab.replays import TWIN as TWIN_FIGURES


def test_the_suites_and_the_band_call_the_twin_the_same() -> None:
    assert twin_name(TWIN_OF) == TWIN


def test_a_run_without_a_twin_has_no_band_and_no_floor() -> None:
    rows = rows_of(QUIET)
    assert bands(rows) == []
    assert table(bands(rows)).rows == ()
    assert floor_of([], "latency", "take") == 0.0


def test_every_operation_with_a_pair_has_its_band_the_same_upwards_and_downwards() -> None:
    found = bands(rows_of({**QUIET, **TWIN_FIGURES}))
    assert {(band.kind, band.operation): round(band.floor, 6) for band in found} == {
        ("latency", "take"): 0.01,
        ("latency", "requeue"): 0.0,
    }
    swapped = {(cycle("array"), "take"): spread(2_020), (cycle("array-twin"), "take"): spread(2_000)}
    assert bands(rows_of(swapped))[0].floor == pytest.approx(0.01)
    assert all(band.finding.verdict is Verdict.SAME for band in found)


def test_the_widest_pair_of_an_operation_makes_its_band() -> None:
    wide = {(cycle("array", calls=9), "take"): spread(100), (cycle("array-twin", calls=9), "take"): spread(90)}
    for figures in ({**wide, **QUIET, **TWIN_FIGURES}, {**QUIET, **TWIN_FIGURES, **wide}):
        rows = rows_of(figures)
        assert len(pairs(rows)) == 3
        take = next(band for band in bands(rows) if band.operation == "take")
        assert take.floor == pytest.approx(1 / 9)
        assert take.case == "cycle, calls=9,due=10,queued=200"


def test_an_operation_without_a_pair_takes_the_widest_of_its_kind_then_of_all_and_counts_take_none() -> None:
    found = bands(rows_of({**QUIET, **TWIN_FIGURES}))
    assert floor_of(found, "latency", "requeue") == 0.0
    assert floor_of(found, "latency", "free") == pytest.approx(0.01)
    assert floor_of(found, "cost", "cycle") == pytest.approx(0.01)
    assert floor_of(found, "counts", "take") == 0.0


def test_three_processes_give_a_band_but_no_verdict() -> None:
    few = {(cycle(name), "take"): spread(middle, processes=3) for name, middle in (("array", 100), ("array-twin", 104))}
    (band,) = bands(rows_of(few))
    assert band.floor == pytest.approx(0.04)
    assert table([band]).rows[0][3:] == ("3 + 3", "±4.0%", "–", "inconclusive")


def test_a_twin_that_failed_makes_no_pair() -> None:
    assert bands([*rows_of(QUIET), *failed(cycle("array-twin"))]) == []


def test_twins_are_left_out_of_what_the_subjects_stand_in() -> None:
    rows = rows_of({**QUIET, **TWIN_FIGURES})
    assert {row["subject"] for row in without_twins(rows)} == {"null", "array", "linked"}


def test_a_figure_is_a_column_a_slope_or_a_count_of_one_call() -> None:
    (memory, *_), (cost, *_) = rows_of({(RESIDENT, "resident"): [209.0]}), rows_of({(COST, "cycle"): [7_000.0]})
    assert figure_of(memory, "message_bytes") == 209.0
    assert figure_of(memory, "p50_ns") is None
    assert figure_of(cost, "mean_ns") == 7_350.0
    assert figure_of(cost, "message_bytes") is None
    counted: Row = {"n": 4, "bytecodes": 10}
    assert figure_of(counted, "bytecodes") == 2.5
    assert figure_of({"points_messages": [5, 5], "points_rss_bytes": [1, 2]}, "message_bytes") is None
