"""The suites: the documents' sizes, cases that their workloads accept, and nobody asked for what he cannot offer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.case import Case
from queues.registry import PEERS, SUBJECTS
from runners.suites import (
    CLASSIC,
    LEAST_FOR_VERDICTS,
    PRIMITIVES,
    SUITES,
    TWIN,
    TWIN_OF,
    TWINNED,
    cases,
    workload_names,
)
from runners.workloads import find


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_case_is_one_that_its_workload_accepts(suite) -> None:  # type: ignore[no-untyped-def]
    found = cases(suite)
    assert len({case.key for case in found}) == len(found)
    for case in found:
        if case.kind != "complexity":
            find(case.family, case.workload).require(case.kind, case.parameters)


TIMER_SUITES = [suite for suite in SUITES.values() if suite.subjects]


@pytest.mark.parametrize("suite", TIMER_SUITES, ids=lambda suite: suite.name)
def test_every_suite_of_timer_queues_has_every_table(suite) -> None:  # type: ignore[no-untyped-def]
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
    assert [sizes["messages"] for sizes in standard.cost["enqueue-out-of-order"]] == [500, 2_000, 8_000]
    assert SUITES["full"].cost["enqueue-out-of-order"][-1] == {"messages": 200_000}
    assert standard.batched["enqueue-at-random"] == [{"queued": 200_000}]
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


def test_a_case_of_memory_brings_its_baseline_which_has_no_queue() -> None:
    found = cases(SUITES["standard"], ["array"], workloads=["resident"])
    (baseline,) = [case for case in found if case.workload == "baseline"]
    assert (baseline.kind, baseline.subject, baseline.params) == ("memory", "null", (("messages", 200_000),))
    assert "baseline" not in {case.workload for case in cases(SUITES["standard"], ["array"], workloads=["growth"])}


def twins(found: list[Case]) -> list[Case]:
    return [case for case in found if case.subject == TWIN]


@pytest.mark.parametrize("suite", TIMER_SUITES, ids=lambda suite: suite.name)
def test_every_suite_of_timer_queues_has_an_aa_pair_for_every_operation_it_can_judge(suite) -> None:  # type: ignore[no-untyped-def]
    found = cases(suite)
    kinds = {kind for kind, _ in TWINNED} - ({"cost"} if suite.processes < LEAST_FOR_VERDICTS else set())
    assert {case.kind for case in twins(found)} == kinds
    operations = {operation for case in twins(found) for operation in find("timer", case.workload).operations}
    assert operations >= {"enqueue", "take", "requeue", "process", "life"}
    assert {"cycle", "resident"} <= {case.workload for case in twins(found)}
    keys = {case.key for case in found}
    for case in twins(found):
        assert case.target == "queues.timer.array:Array"
        assert replace(case, subject=TWIN_OF, target="").key in keys, "the other half of the pair"


def test_the_twin_is_a_small_part_of_a_suite() -> None:
    for suite in TIMER_SUITES:
        timed = [case for case in cases(suite) if case.kind != "complexity"]
        assert len(twins(timed)) <= len(timed) / 15  # the cheap ones: 3.4 % of the time of quick


def test_there_is_a_twin_only_where_its_subject_and_workload_are_measured() -> None:
    assert twins(cases(SUITES["quick"], ["linked"])) == []
    assert twins(cases(SUITES["quick"], ["array"], workloads=["growth"])) == []
    asked = twins(cases(SUITES["standard"], ["array"], workloads=["cycle"], clock="wall", gc="off"))
    assert [(case.kind, case.clock, case.gc) for case in asked] == [("latency", "wall", "off"), ("cost", "wall", "off")]


def test_counts_are_few_and_have_one_arm_whatever_is_asked() -> None:
    found = [case for case in cases(SUITES["full"], ["array", "linked"], clock="wall") if case.kind == "counts"]
    assert {(case.subject, case.workload) for case in found} == {
        *((subject, workload) for subject in ("array", "linked") for workload in ("cycle", "steady-enqueue")),
        ("linked", "reattach"),
    }
    assert {(case.clock, case.gc) for case in found} == {("cpu", "off")}
    assert "counts" not in {case.kind for name in ("quick", "standard") for case in cases(SUITES[name])}


def test_workload_names_are_those_that_some_suite_measures() -> None:
    names = workload_names()
    assert len(set(names)) == len(names)
    assert {"life-constant-delay", "process", "complexity"} <= set(names)


def test_some_cases_are_measured_with_the_collector_off_as_well_and_only_beside_the_same_with_it_on() -> None:
    for suite in TIMER_SUITES:
        off = [case for case in cases(suite) if case.kind == "latency" and case.gc == "off"]
        assert {case.workload for case in off} == set(suite.without_collector)
        on = {(case.subject, case.workload, case.params) for case in cases(suite) if case.gc == "on"}
        assert all((case.subject, case.workload, case.params) in on for case in off)
        assert not any(case.gc == "on" for case in cases(suite, gc="off"))
    assert SUITES["standard"].without_collector
