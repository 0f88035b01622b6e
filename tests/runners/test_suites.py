"""The suites: the documents' sizes, cases that their workloads accept, and nobody asked for what he cannot offer."""

from __future__ import annotations

import pytest

from queues.registry import PEERS, SUBJECTS
from runners.suites import CLASSIC, PRIMITIVES, SUITES, cases, workload_names
from runners.workloads import find


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_case_is_one_that_its_workload_accepts(suite) -> None:  # type: ignore[no-untyped-def]
    found = cases(suite)
    assert len({case.key for case in found}) == len(found)
    for case in found:
        if case.kind != "complexity":
            sizes = {name: int(value) for name, value in case.params}
            find(case.family, case.workload).require(case.kind, sizes)


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_suite_has_every_table(suite) -> None:  # type: ignore[no-untyped-def]
    names = {case.workload for case in cases(suite)}
    assert names >= {
        "null-loop",
        "cycle",
        "requeue-unused",
        "reattach",
        "growth",
        "steady-enqueue",
        "steady-dispatch",
        "window-cycle",
        "free",
        "free-in-batches",
        "enqueue-in-order",
        "enqueue-out-of-order",
        "resident",
        "drained",
        "complexity",
    }


def test_the_standard_suite_has_the_sizes_of_the_documents() -> None:
    standard = SUITES["standard"]
    assert [sizes["messages"] for sizes in standard.cost["enqueue-in-order"]] == [1_000, 20_000, 200_000]
    assert [sizes["messages"] for sizes in standard.cost["enqueue-out-of-order"]] == [500, 2_000, 8_000, 200_000]
    assert {(sizes["due"], sizes["queued"]) for sizes in standard.latency["cycle"]} == {
        (due, queued) for due in (10, 1_000, 10_000, 100_000) for queued in (10_000, 200_000)
    }
    assert [sizes["unused"] for sizes in standard.latency["requeue-unused"]] == [0, 10, 1_000, 10_000]
    assert [sizes["part"] for sizes in standard.latency["reattach"]] == [10, 1_000, 100_000]
    assert [sizes["due"] for sizes in standard.latency["window-cycle"]] == [100, 5_000]
    assert standard.latency["steady-dispatch"] == [{"queued": 200_000, "calls": 50_000}]


def test_processes_per_case_are_three_five_and_ten() -> None:
    assert [SUITES[name].processes for name in ("quick", "standard", "full")] == [3, 5, 10]


def test_the_full_suite_grows_to_two_million_and_takes_every_subject_and_peer() -> None:
    full = SUITES["full"]
    assert {"messages": 2_000_000} in full.latency["growth"]
    assert set(full.subjects) == {*SUBJECTS["timer"], *PEERS["timer"]}


def test_primitives_are_asked_only_of_those_that_have_them_and_of_the_users_queue() -> None:
    asked = {case.subject for case in cases(SUITES["quick"], [*CLASSIC, "own"], targets={"own": "own:Queue"})
             if case.workload == "reattach"}  # fmt: skip
    assert asked == {*PRIMITIVES, "own"}


def test_a_choice_of_workloads_keeps_the_null_loop() -> None:
    found = cases(SUITES["quick"], ["array"], workloads=["growth"], clock="wall", gc="off")
    assert {case.workload for case in found} == {"null-loop", "growth"}
    assert {(case.clock, case.gc) for case in found} == {("wall", "off")}


def test_workload_names_are_those_that_some_suite_measures() -> None:
    names = workload_names()
    assert len(set(names)) == len(names)
    assert {"life-constant-delay", "process", "complexity"} <= set(names)
