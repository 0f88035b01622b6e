"""How a figure is written: guards just under and at their n, intervals, marks and causes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.cells import interval_notes, p50_cell, percentile_cell, structural_cell, unsteady, with_interval
from lab.interval import Interval
from lab.rank import P50, P90, P99, P999
from lab.sample import operation_columns

Row = dict[str, Any]


def row(samples: Any, process: int = 0, **columns: Any) -> Row:
    empty = {"steady": None, "timer_bound": None, "net_p50_ns": None}
    return {**empty, "process": process, **operation_columns(samples), **columns}


@pytest.mark.parametrize(
    ("q", "n", "said"),
    [
        (P50, 5, "n too small (needs 6)"),
        (P90, 35, "n too small (needs 36)"),
        (P99, 367, "n too small (needs 368)"),
        (P999, 3_687, "n too small (needs 3,688)"),
        (P50, 6, "700 ns ±0 %"),
        (P90, 36, "700 ns ±0 %"),
        (P99, 368, "700 ns ±0 %"),
        (P999, 3_688, "700 ns ±0 %"),
        (P50, 1, "n too small (needs 6)"),
    ],
)
def test_the_guard_says_how_many_calls_a_percentile_needs(q: Any, n: int, said: str) -> None:
    found = [row([700] * n)]
    assert percentile_cell(found, found[0], q) == said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1_000, 1_000, "1.00 µs ±0 %"),
        (999, 1_000, "1.00 µs ±1 %"),  # never rounded to less than it is
        (980, 1_021, "1.00 µs ±3 %"),
        (800, 1_100, "1.00 µs ±20 %"),
        (799, 1_100, "1.00 µs (0.80–1.10)"),
        (1_000, 12_345, "1.00 µs (1.00–12.3)"),
        (999, 2_345_678, "1.00 µs (1.00–2,346)"),
    ],
)
def test_an_interval_is_plus_minus_where_that_says_it_and_from_to_where_not(low: float, high: float, said: str) -> None:
    assert with_interval(1_000, Interval(low, high, 5)) == said


def test_an_interval_stands_in_the_unit_of_its_figure() -> None:
    assert with_interval(9_950, Interval(5_000, 99_940, 5)) == "9.95 µs (5.00–99.9)"
    assert with_interval(752, Interval(400, 1_500, 5)) == "752 ns (400–1,500)"
    assert with_interval(0, Interval(0, 10, 5)) == "0 ns"
    assert with_interval(1_000, None, "†", "net 200 ns") == "1.00 µs † (net 200 ns)"


def test_the_p50_has_its_mark_and_its_net_figure_behind_it() -> None:
    rng = np.random.default_rng(1)
    rows = [row(rng.integers(990, 1_011, 2_000), process) for process in range(5)]
    assert p50_cell(rows) == "1.00 µs ±1 %"
    for each in rows[:3]:
        each["steady"] = False
    bound = [{**each, "timer_bound": True, "net_p50_ns": 200.0} for each in rows]
    assert p50_cell(bound) == "1.00 µs ±1 % † (net 200 ns)"


def test_a_case_is_marked_when_most_of_its_processes_are_not_steady() -> None:
    assert [
        unsteady([{"steady": told} for told in steady]) for steady in ([], [None], [True, False], [None, False])
    ] == [
        *(False, False, False),
        True,
    ]


def test_the_notes_say_how_sure_the_intervals_are_of_the_fewest_processes() -> None:
    rows = [row([700] * 10, process) for process in range(5)]
    (note,) = interval_notes([rows, rows[:3], rows[:1]])
    assert "3 processes make that 75 % sure" in note
    assert interval_notes([rows[:1]]) == ()
    assert interval_notes([]) == ()
    marked = [{**each, "steady": False} for each in rows]
    sure, mark = interval_notes([marked])
    assert "5 processes make that 94 % sure" in sure
    assert mark.startswith("† not steady")


def worst(cause: str | None, **changes: Any) -> Row:
    found = {"structural_worst_ns": 550_000, "structural_worst_index": 182_783, "worst_index": [182_783, 5]}
    return {**found, "worst_cause": None if cause is None else [cause, ""], **changes}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "–"),
        (worst("", structural_worst_ns=None), "–"),
        (worst("gc2"), "550 µs @ 182,783 (gc2)"),
        (worst("growth: list to 1,600,056 bytes; first touch: 12 pages"), "550 µs @ 182,783 (growth + first touch)"),
        (worst(""), "550 µs @ 182,783"),
        (worst("not looked for"), "550 µs @ 182,783"),
        (worst("unknown: other collections"), "550 µs @ 182,783"),
        (worst(None, worst_index=None), "550 µs @ 182,783"),  # of a run of schema version 1
    ],
)
def test_the_structural_worst_call_has_its_cause_behind_it_where_it_is_known(given: Any, said: str) -> None:
    assert structural_cell(given) == said
