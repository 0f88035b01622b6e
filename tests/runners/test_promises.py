"""Asking a queue in a process of its own, and the table subject × promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.promises import conform, not_there, promise_table, search_path
from runners.spawn import Limits

HERE = Path(__file__).resolve().parent


def test_the_table_has_a_row_per_promise_and_a_column_per_queue() -> None:
    table = promise_table(
        {
            "one": [("limit", "", "kept", ""), ("order", "", "broken", "take() -> 1")],
            "two": [("limit", "", "not-offered", "no limit")],
        }
    )
    assert table.header == ("promise", "one", "two")
    assert table.rows == (("limit", "kept", "–"), ("order", "BROKEN", "?"))


@pytest.mark.processes
def test_a_queue_that_forgets_is_caught_with_a_small_input() -> None:
    outcome, promises = conform("queues_that_misbehave:Forgets", path=[str(HERE)])
    assert outcome.ok, outcome
    broken = {promise: detail for promise, _, verdict, detail in promises if verdict == "broken"}
    assert "nothing-dropped" in broken
    assert "enqueue(" in broken["nothing-dropped"]


@pytest.mark.processes
def test_a_queue_that_hangs_is_stopped_and_the_promise_named() -> None:
    outcome, promises = conform("queues_that_misbehave:Hangs", path=[str(HERE)], limits=Limits(seconds=2))
    assert outcome.status == "timeout"
    assert promises == []
    assert "at '" in outcome.message


def test_a_users_module_is_looked_for_where_the_command_was_given_first() -> None:
    path = search_path()
    assert path[0] == str(Path.cwd())
    assert not [entry for entry in path if entry.endswith("lib-dynload")]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("family", "target", "broken"),
    [
        ("advisory", "queues.advisory.heap:Heap", set()),
        ("ticker", "queues.peers.pacing_naive:NaiveSleep", {"work-does-not-count", "close-wakes-a-waiter"}),
        ("limiter", "queues.peers.pacing_limits:FixedWindow", {"bound"}),
    ],
)
def test_every_family_is_held_against_its_own_contract(family: str, target: str, broken: set[str]) -> None:
    outcome, promises = conform(target, family=family, path=search_path())
    assert outcome.ok, outcome
    found = {promise for promise, _, verdict, _ in promises if verdict == "broken"}
    assert found >= broken
    assert not found or broken
    assert {verdict for _, _, verdict, _ in promises} <= {"kept", "broken", "not-offered"}


def test_the_title_of_a_table_says_whose_promises_they_are() -> None:
    verdicts = {"one": [("bound", "", "kept", "")]}
    assert [
        promise_table(verdicts, family).title for family in ("timer", "advisory", "ticker", "limiter", "events")
    ] == [
        "Promises",
        "Promises of an advisory scheduler",
        "Promises of a ticker",
        "Promises of a rate limiter",
        "Promises of an event queue",
    ]


@pytest.mark.processes
def test_a_subject_whose_library_is_missing_is_offered_nothing_and_says_so() -> None:
    outcome, promises = conform("queues.peers.pacing_aiolimiter:Aiolimiter", family="limiter")
    assert outcome.status == "not-offered"
    assert {verdict for _, _, verdict, _ in promises} == {"not-offered"}
    (sentence,) = not_there({"aiolimiter": promises})
    assert sentence.startswith("aiolimiter was not checked: needs the library 'aiolimiter'")
