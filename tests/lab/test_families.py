"""The tables of the other families out of rows: whole, in order, and with a word where there is no figure."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from lab import families, pacing, schedules
from lab.table import text
from queues.registry import SUBJECTS, registered
from tests.lab import kindred
from tests.lab.replays import failed

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
ORDER = {family: list(registered(family)) for family in SUBJECTS}


def shown(rows: list[dict[str, Any]]) -> str:
    return "\n\n".join(text(table) for table in families.tables(rows, ORDER)) + "\n"


@pytest.mark.parametrize(("name", "rows"), [("schedules", kindred.schedules()), ("pacing", kindred.pacing())])
def test_the_tables_are_as_they_were(name: str, rows: list[dict[str, Any]]) -> None:
    """When a table is to look otherwise: read tests/golden/NAME.got, then let it take the place of NAME.txt."""
    golden = GOLDEN / f"{name}.txt"
    got = golden.with_suffix(".got")
    got.write_text(shown(rows), encoding="utf-8")
    assert got.read_text(encoding="utf-8") == golden.read_text(encoding="utf-8"), f"compare {golden} with {got}"
    got.unlink()


def test_rows_of_timer_queues_make_no_table_here_and_the_others_none_there() -> None:
    rows = [*kindred.schedules(), *kindred.pacing()]
    assert families.of_timers(rows) == []
    timers = [{**row, "family": "timer"} for row in rows]
    assert families.tables(timers, ORDER) == []
    assert families.of_timers(timers) == timers


def test_subjects_stand_in_the_order_given_and_others_follow_by_name() -> None:
    rows = kindred.schedules()
    for order, first in ((["heap"], "heap"), (["sorted-each-call"], "sorted-each-call")):
        (table, *_) = schedules.tables(rows, order)
        assert table.rows[0][2] == first


@pytest.mark.parametrize(("rows", "title"), [("schedules", "Advice: no figure"), ("pacing", "Pacing: no figure")])
def test_what_has_no_figure_stands_there_with_its_reason(rows: str, title: str) -> None:
    good = getattr(kindred, rows)()
    from lab.record import case_of

    bad = failed(case_of(good[0]), processes=3)
    (table,) = families.tables(bad, ORDER)
    assert table.title == title
    assert table.rows[0][1:] == ("timeout", "it took more than 10 s")
    assert len(table.rows) == 1
    assert families.tables([*good[5:], *bad], ORDER)[-1].title == title


def test_how_the_reach_is_met() -> None:
    assert schedules.growth(kindred.schedules()) == {
        "heap next_job, 100,000 jobs / 100 jobs": 2.0,
        "next_job at 100,000 jobs, sorted-each-call / heap": 15_000.0,
    }
    assert schedules.growth(kindred.pacing()) == {}


def test_a_ticker_is_held_against_the_bare_sleep_of_its_form_and_not_where_it_is_late_anyway() -> None:
    ratios = pacing.p99_over_bare(kindred.pacing())
    assert {key: round(value, 2) for key, value in ratios.items()} == {
        (20, "bare-sleep"): 1.0,
        (20, "arithmetic"): 1.1,
        (20, "channel"): 1.5,
        (20, "naive-sleep"): 8333.33,
        (20, "bare-asyncio-sleep"): 1.0,
        (20, "arithmetic-asyncio"): 1.11,
    }
    few = [{**row, "n": 300} for row in kindred.pacing() if row["family"] == "ticker"]
    assert pacing.p99_over_bare(few) == {}


@pytest.mark.parametrize("module", [families, schedules, pacing])
def test_the_examples_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
