"""Which samples pair, and every field that keeps a pair from a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.case import Case
from lab.pairing import AXES, Side, environment_differences, pair, sample_differences, samples
from tests.lab.replays import LIFE, MACHINE, NULL, QUIET, TWIN, cycle, failed, rows_of, side, spread

A = side("a", QUIET)


def fields(first: Side, second: Side, *across: str) -> list[set[str]]:
    """The fields that differ, pair by pair."""
    found = pair(first, second, across).pairs
    return [{difference.field for difference in sample_differences(*one, across)} for one in found]


def one(case: Case, operation: str = "take", **columns: Any) -> Side:
    return side("one", {(case, operation): spread(2_000)}, **columns)


def test_every_case_and_operation_with_a_figure_pairs_with_itself() -> None:
    found = pair(A, A)
    assert [first for first, _ in found.pairs] == [second for _, second in found.pairs]
    assert len(found.pairs) == len(QUIET) + 1  # the memory case has two figures
    assert (found.only_first, found.only_second, found.lost) == ((), (), ())
    assert not any(fields(A, A))


def test_the_order_of_the_rows_does_not_matter() -> None:
    backwards = Side("b", MACHINE, A.rows[::-1])
    assert {(first.case, first.operation, first.values) for first, _ in pair(A, A).pairs} == {
        (second.case, second.operation, second.values) for _, second in pair(A, backwards).pairs
    }


def test_a_case_of_one_run_alone_is_named_and_twins_are_not() -> None:
    fewer = {key: values for key, values in QUIET.items() if key[0] != LIFE}
    more = {**QUIET, **TWIN}
    found = pair(side("a", fewer), side("b", more))
    assert found.only_second == (f"{LIFE.key} life",)
    assert pair(side("b", more), side("a", fewer)).only_first == (f"{LIFE.key} life",)


def test_a_case_that_the_second_run_tried_in_vain_is_lost_with_the_reason() -> None:
    fewer = {key: values for key, values in QUIET.items() if key[0] != LIFE}
    second = Side("b", MACHINE, [*rows_of(fewer), *failed(LIFE)])
    found = pair(A, second)
    assert found.lost == ((f"{LIFE.key} life", "timeout: it took more than 10 s"),)
    assert found.only_first == ()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (one(cycle("array")), one(cycle("array", calls=40), n=24), {"params", "n"}),
        (one(cycle("array")), one(cycle("array"), n=383), {"n"}),
        (one(cycle("array")), one(cycle("array", clock="wall")), {"clock"}),
        (one(cycle("array")), one(cycle("array", gc="off")), {"gc"}),
        (one(cycle("array")), one(cycle("array"), warmup=0), {"warmup"}),
        (one(cycle("array")), one(cycle("array"), calls_per_sample=10), {"calls_per_sample"}),
        (one(cycle("array")), one(cycle("array"), seed=6), {"seed"}),
        (one(cycle("array")), one(cycle("array"), python="3.12.1"), {"python"}),
        (one(cycle("array", target="a:B")), one(cycle("array", target="a:C")), {"target"}),
    ],
    ids=lambda value: "+".join(sorted(value)) if isinstance(value, set) else "",
)
def test_what_differs_is_named_and_the_pair_is_not_left_out(first: Side, second: Side, expected: set[str]) -> None:
    assert fields(first, second) == [expected]
    assert fields(second, first) == [expected]


def test_processes_of_one_run_with_different_n_are_not_comparable_even_with_themselves() -> None:
    rows = rows_of({(cycle("array"), "take"): spread(2_000)})
    rows[2]["n"] = 380
    mixed = Side("mixed", MACHINE, rows)
    assert fields(mixed, mixed) == [{"n"}]


def test_repetitions_of_a_batched_case_may_differ_as_long_as_they_are_enough_for_a_median() -> None:
    assert fields(one(LIFE, "life", n=24), one(LIFE, "life", n=9)) == [set()]
    assert fields(one(LIFE, "life", n=24), one(LIFE, "life", n=5)) == [{"n"}]


def test_a_percentile_needs_its_calls_in_every_process() -> None:
    statistics = {"latency": ("p99_ns",)}
    few, enough = (one(cycle("array"), n=n) for n in (367, 368))
    for run, expected in ((few, ["n for p99 (needs 368)"]), (enough, [])):
        ((first, second),) = pair(run, run, statistics=statistics).pairs
        assert [difference.field for difference in sample_differences(first, second)] == expected


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [
        ("gc", one(cycle("array")), one(cycle("array", gc="off"))),
        ("interpreter", one(cycle("array")), one(cycle("array"), python="3.12.1")),
        ("subject", one(cycle("array")), one(cycle("linked"))),
    ],
)
def test_what_is_compared_may_differ(axis: str, first: Side, second: Side) -> None:
    assert fields(first, second, axis) == [set()]
    assert fields(first, second) != [set()]


def test_both_arms_of_a_run_pair_each_with_its_own() -> None:
    both = side("both", {(cycle("array", gc=gc), "take"): spread(2_000) for gc in ("on", "off")})
    assert fields(both, both) == [set(), set()]
    assert fields(both, both, "gc") == [set(), set()]


def test_across_subjects_a_run_with_several_needs_one_named_for_each_side() -> None:
    assert pair(A, A, ("subject",), subjects=("array", "linked")).pairs
    found = pair(A, A, ("subject",), subjects=("array", "linked"))
    assert {(first.case.subject, second.case.subject) for first, second in found.pairs} == {("array", "linked")}
    two = side("two", {(cycle(name), "take"): [1.0] for name in ("heap", "linked")})
    ambiguous = pair(one(cycle("array")), two, ("subject",))
    assert ambiguous.pairs == ()
    assert len(ambiguous.only_second) == 2


@pytest.mark.parametrize("axis", ["machine", "interpreter", "commit"])
def test_every_field_of_an_environment_counts_unless_it_is_what_is_compared(axis: str) -> None:
    for field in AXES[axis]:
        changed = {**MACHINE, "packages": {"pyperf": "9"}} if field == "pyperf" else {**MACHINE, field: "another"}
        second = replace(A, environment=changed)
        (difference,) = environment_differences(A, second)
        assert (difference.field, difference.axis) == (field, axis)
        assert f"--across {axis} compares them" in difference.sentence
        assert environment_differences(A, second, (axis,)) == []


def test_load_time_and_packages_that_time_nothing_do_not_count() -> None:
    changed = {**MACHINE, "load_average": [9, 9, 9], "started_utc": "later", "packages": {"pyperf": "2.9.0"}}
    assert environment_differences(A, replace(A, environment=changed)) == []


def test_a_field_that_only_one_side_knows_differs() -> None:
    without = {name: value for name, value in MACHINE.items() if name != "kernel"}
    assert [found.field for found in environment_differences(A, replace(A, environment=without))] == ["kernel"]


def test_a_sample_has_the_value_of_every_process_in_order_and_knows_what_is_mostly_clock() -> None:
    by_operation = {(found.case, found.operation): found for found in samples(A.rows) if found.figure == "p50_ns"}
    assert by_operation[cycle("array"), "take"].values == tuple(spread(2_000))
    assert by_operation[cycle("array"), "requeue"].timer_bound
    assert not by_operation[cycle("array"), "take"].timer_bound
    assert by_operation[NULL, "null"].case.subject == "null"
