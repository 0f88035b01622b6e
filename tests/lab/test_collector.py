"""The price of the collector, on rows that are made here."""

from __future__ import annotations

from typing import Any

from lab.collector import apart, table
from lab.table import text


def row(subject: str, gc: str, mean: float, **changes: Any) -> dict[str, Any]:
    """A row of executions that is ok."""
    return {
        "kind": "latency",
        "workload": "growth",
        "params": "messages=200000",
        "clock": "cpu",
        "gc": gc,
        "operation": "enqueue",
        "status": "ok",
        "subject": subject,
        "mean_ns": mean,
        "collections_0": 280 if gc == "on" else 0,
        "collections_1": 25 if gc == "on" else 0,
        "collections_2": 2 if gc == "on" else 0,
        **changes,
    }


def worst(subject: str, gc: str, ns: int, cause: str) -> dict[str, Any]:
    """A row of cases."""
    return {
        **row(subject, gc, 0),
        "structural_worst_ns": ns,
        "structural_worst_index": 7,
        "worst_index": [9, 7],
        "worst_cause": ["", cause],
    }


def test_the_table_holds_both_arms_against_each_other() -> None:
    rows = [row(subject, gc, mean) for subject, gc, mean in (("b", "on", 300), ("b", "off", 200), ("a", "on", 150))]
    rows += [
        row("b", "on", 500),
        row("b", "on", 400),
        row("a", "off", 100),
        row("null", "on", 1),
        row("null", "off", 1),
    ]
    slowest = [
        worst("a", "on", 25_000_000, "gc2: collection of generation 2"),
        worst("a", "off", 90_000, "growth: list"),
    ]
    found = table(rows, slowest, ["a", "b"])
    assert [line[1:] for line in found.rows] == [
        ("enqueue", "a", "150 ns", "100 ns", "1.50", "25.0 ms (gc2)", "90.0 µs (growth)", "280 / 25 / 2"),
        ("enqueue", "b", "400 ns", "200 ns", "2.00", "–", "–", "280 / 25 / 2"),
    ]
    assert "growth messages=200000" in text(found)


def test_a_subject_with_one_arm_is_not_in_it() -> None:
    assert table([row("a", "on", 1), row("b", "off", 1)], []).rows == ()
    assert table([row("a", "on", 1), row("a", "off", 1, status="failed")], []).rows == ()


def test_what_only_shows_the_collectors_price_is_taken_apart() -> None:
    counts = row("a", "off", 1, kind="counts")
    on, off, alone = row("a", "on", 1), row("a", "off", 1), row("a", "off", 1, workload="cycle")
    assert apart([on, off, alone, counts]) == ([on, alone, counts], [off])
    assert apart([off, alone]) == ([off, alone], [])


def test_unknown_collections_are_said_to_be_unknown() -> None:
    rows = [row("a", "on", 1, collections_0=None), row("a", "off", 1)]
    assert table(rows, []).rows[0][-1] == "–"
