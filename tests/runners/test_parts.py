"""The parts of a suite: what is measured of other families, chosen by subject and workload like all else."""

from __future__ import annotations

import doctest
from dataclasses import replace
from typing import Any

import pytest

from lab.case import Case
from runners import parts
from runners.parts import Part
from runners.spawn import Limits
from runners.suites import SUITES, Suite, cases

ADVISORY = Part(
    "advisory",
    ("heap", "sched"),
    latency={"next-job": [{"jobs": 10, "calls": 90}, {"jobs": 100, "calls": 90}]},
    counts={"next-job": [{"jobs": 10, "calls": 11}]},
)
TICKER = Part("ticker", ("channel",), lateness={"ticks": [{"ticks": 5}]}, throughput={"many": [{"workers": 2}]})
DURABLE = Part("timer", ("linked", "array"), latency={"reattach": [{"part": 3}]}, cost={"cycle": [{}]}, clock="wall")
OWN = Suite("own", "", 3, (), Limits(), (), parts=(ADVISORY, TICKER, DURABLE))


def keys(found: list[Case]) -> list[str]:
    return [case.key for case in found]


def test_a_suite_of_parts_has_their_cases_and_no_null_loop() -> None:
    assert keys(cases(OWN)) == [
        "advisory/heap/next-job/calls=90,jobs=10/latency/cpu/gc-on",
        "advisory/sched/next-job/calls=90,jobs=10/latency/cpu/gc-on",
        "advisory/heap/next-job/calls=90,jobs=100/latency/cpu/gc-on",
        "advisory/sched/next-job/calls=90,jobs=100/latency/cpu/gc-on",
        "advisory/heap/next-job/calls=11,jobs=10/counts/cpu/gc-off",
        "advisory/sched/next-job/calls=11,jobs=10/counts/cpu/gc-off",
        "ticker/channel/ticks/ticks=5/lateness/wall/gc-on",
        "ticker/channel/many/workers=2/throughput/wall/gc-on",
        "timer/linked/cycle/-/cost/wall/gc-on",
        "timer/array/cycle/-/cost/wall/gc-on",
        "timer/linked/reattach/part=3/latency/wall/gc-on",
    ]


def test_the_clock_of_a_run_is_that_of_a_part_without_its_own_and_real_time_has_one_clock() -> None:
    found = {(case.family, case.kind, case.clock, case.gc) for case in cases(OWN, clock="wall", gc="off")}
    assert ("advisory", "latency", "wall", "off") in found
    assert ("advisory", "counts", "cpu", "off") in found
    assert {clock for family, _, clock, _ in found if family in ("ticker", "timer")} == {"wall"}
    asked = replace(TICKER, clock="cpu")
    assert {case.clock for case in asked.cases()} == {"wall"}


def test_subjects_and_workloads_filter_the_parts() -> None:
    assert {case.family for case in cases(OWN, ["heap"])} == {"advisory"}
    assert {case.subject for case in cases(OWN, ["heap"])} == {"heap"}
    assert keys(cases(OWN, workloads=["ticks"])) == ["ticker/channel/ticks/ticks=5/lateness/wall/gc-on"]
    assert cases(OWN, ["heap"], workloads=["ticks"]) == []


def test_a_suite_with_tables_of_its_own_has_its_parts_behind_them() -> None:
    suite = replace(SUITES["quick"], parts=(ADVISORY,))
    every = cases(suite)
    assert {case.family for case in every[-6:]} == {"advisory"}
    assert {case.family for case in every[:-6]} == {"timer"}
    assert {case.family for case in cases(suite, ["sched"], workloads=["next-job"])} == {"timer", "advisory"}
    assert {case.subject for case in cases(suite, ["array"]) if case.family == "advisory"} == set()
    assert {case.subject for case in cases(replace(suite, parts=(TICKER,)), ["channel"])} == {"channel"}


def test_a_users_queue_joins_the_timer_tables_alone() -> None:
    suite = replace(SUITES["quick"], parts=(ADVISORY,))
    found = {(case.family, case.subject) for case in cases(suite, targets={"mine": "my.queue:Mine"})}
    assert ("timer", "mine") in found
    assert ("advisory", "mine") not in found
    assert {case.subject for case in cases(OWN, targets={"mine": "my.queue:Mine"})} == {
        "heap", "sched", "channel", "linked", "array",
    }  # fmt: skip


def test_the_example_runs() -> None:
    failed, tried = doctest.testmod(parts)
    assert (failed, tried) == (0, 2)


@pytest.mark.parametrize("kind", ["latency", "cost", "batched", "memory", "counts", "lateness", "throughput"])
def test_every_kind_but_complexity_can_be_in_a_part(kind: str) -> None:
    more: dict[str, Any] = {kind: {"ticks": [{"ticks": 5}]}}
    (case,) = Part("ticker", ("channel",), **more).cases()
    assert case.kind == kind
