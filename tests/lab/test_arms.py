"""Single calls against batches: what is paired, what is compared, and when the two disagree."""

from __future__ import annotations

from typing import Any

import pytest

from lab.arms import arms, arms_table
from lab.case import Case, execution_of
from lab.record import execution_columns
from lab.table import text

Row = dict[str, Any]


def row(case: Case, process: int, operation: str, **columns: Any) -> Row:
    return {**execution_columns(execution_of(case, process, 1)), "operation": operation, **columns}


def single(
    workload: str, mean_ns: float, operation: str = "enqueue", *, bound: bool = True, **params: Any
) -> list[Row]:
    case = Case.of("latency", "timer", "array", workload, **params)
    figures = {"bare_p50_ns": 900.0, "timer_bound": bound, "p50_ns": mean_ns}
    return [row(case, process, operation, mean_ns=mean_ns + process, **figures) for process in range(3)]


def batch(kind: str, workload: str, ns: float, **params: Any) -> list[Row]:
    case = Case.of(kind, "timer", "array", workload, **params)
    column = "mean_ns" if kind == "cost" else "p50_ns"
    own = {"mean_ns": 1e9, "p50_ns": 1e9, "bare_p50_ns": 800.0, "calls_per_sample": 8, column: ns}
    return [row(case, process, "x", **own) for process in range(3)]


def test_growth_is_held_against_filling_a_queue_of_the_same_size() -> None:
    rows = [*single("growth", 1_399, messages=200), *batch("cost", "enqueue-in-order", 480, messages=200)]
    other_size = batch("cost", "enqueue-in-order", 7, messages=1_000)
    (found,) = arms([*rows, *other_size])
    assert (found.single_ns, found.batched_ns, found.disagree) == (500, 480, False)


def test_both_operations_of_a_cycle_are_held_against_the_pair() -> None:
    rows = [
        *single("cycle", 1_399, "take", due=10, queued=200, calls=400),
        *single("cycle", 1_199, "requeue", due=10, queued=200, calls=400, bound=False),
        *batch("cost", "cycle", 640, due=10, queued=200),
    ]
    (found,) = arms(rows)
    assert (found.single_ns, found.batched_ns) == (800, 640)
    assert found.ratio == 1.25
    assert found.disagree


def test_the_batched_kind_goes_before_pyperf() -> None:
    rows = single("reattach", 1_399, "detach", part=10, queued=200, calls=40)
    rows += batch("cost", "reattach", 480, part=10, queued=200)
    rows += batch("batched", "reattach", 510, part=10, queued=200)
    (found,) = arms(rows)
    assert found.batched_ns == 410


@pytest.mark.parametrize("workload", ["steady-enqueue", "steady-dispatch", "window-cycle", "requeue-unused"])
def test_a_workload_is_held_against_its_own_batches_less_their_share_of_the_clock(workload: str) -> None:
    rows = [*single(workload, 1_399, queued=200, calls=40), *batch("batched", workload, 580, queued=200)]
    (found,) = arms(rows)
    assert (found.single_ns, found.batched_ns) == (500, 480)


@pytest.mark.parametrize(
    ("batched_ns", "disagree"), [(1_112, True), (1_111, False), (1_000, False), (910, False), (909, True)]
)
def test_more_than_ten_percent_apart_is_a_disagreement(batched_ns: float, disagree: bool) -> None:
    rows = [*single("growth", 1_899, messages=200), *batch("cost", "enqueue-in-order", batched_ns, messages=200)]
    assert arms(rows)[0].disagree is disagree


def test_what_is_not_mostly_clock_needs_no_second_arm_and_nor_does_the_null_subject() -> None:
    slow = single("growth", 9_000, bound=False, messages=200)
    null = [{**each, "subject": "null", "workload": "null-loop"} for each in single("growth", 950, messages=200)]
    assert arms([*slow, *null]) == []
    one_of_three = [{**each, "timer_bound": process == 0} for process, each in enumerate(slow)]
    assert arms(one_of_three) == []


def test_another_clock_and_another_subject_are_no_pair() -> None:
    rows = single("growth", 1_399, messages=200)
    for change in ({"clock": "wall"}, {"subject": "heap"}, {"gc": "off"}):
        other = [{**each, **change} for each in batch("cost", "enqueue-in-order", 480, messages=200)]
        assert arms([*rows, *other])[0].batched_ns is None


def test_the_table_warns_and_says_what_has_no_second_arm() -> None:
    rows = [
        *single("growth", 1_399, messages=200),
        *batch("cost", "enqueue-in-order", 250, messages=200),
        *single("steady-enqueue", 1_399, queued=200, calls=400),
    ]
    said = text(arms_table(arms(rows), lambda params: f"<{params}>"))
    assert said.splitlines() == [
        "Where the clock is most of a call: the same calls alone and in a batch",
        "case                    subject   alone   batch  alone ÷ batch",
        "growth, <messages=200>  array    500 ns  250 ns         ≠ 2.00",
        "alone: the mean of single calls less two clock reads, all operations together; batch: many timed as one.",
        "Warning: in 1 of 1 cases (≠) the arms are more than 10 % apart: believe the batch.",
        "Timer-bound as well, and not timed in batches of the same size: steady-enqueue.",
    ]
    assert arms_table([], str).rows == ()
