"""What counts as a disturbance, by table; a disturbed execution is run again, at most twice, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runners.disturbed import MOST_REPEATS, Bounds, Budget, Machine, Measured, disturbed, undisturbed
from runners.spawn import Outcome

TWO = Machine(tick_ns=10_000_000, processors=2)
SECOND = 1_000_000_000
QUIET = {
    "counted_ns": SECOND,
    "processor_ns": SECOND,
    "steal_ticks": 0,
    "steal_own_ticks": 0,
    "busy_ticks": 100,
    "involuntary_switches": 0,
    "major_faults": 0,
    "null_p50_before_ns": 300.0,
    "null_p50_after_ns": 310.0,
}

BUSY = "load: others kept 1.0 processors busy"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        # one tick may have begun before: 3 ticks are at least 2 of 100, which is the bound and not more
        ({"steal_own_ticks": 3}, ""),
        ({"steal_own_ticks": 4}, "steal: the host took 3 % of the time"),
        ({"steal_ticks": 400}, ""),  # from another processor
        ({"steal_own_ticks": None, "steal_ticks": 13}, "steal: the host took 12 % of the time"),
        ({"involuntary_switches": 20}, ""),
        ({"involuntary_switches": 21}, "switches: put off the processor 21 times a second"),
        ({"involuntary_switches": 4, "counted_ns": SECOND // 100}, ""),  # too few for a rate
        ({"involuntary_switches": 5, "counted_ns": SECOND // 100, "busy_ticks": 1, "processor_ns": SECOND // 100},
         "switches: put off the processor 500 times a second"),
        ({"major_faults": 1}, "disk: 1 page fault went to the disk"),
        ({"major_faults": 3}, "disk: 3 page faults went to the disk"),
        ({"null_p50_after_ns": 375.0}, ""),
        ({"null_p50_after_ns": 376.0}, "speed: a null call took 300 ns before and 376 ns after"),
        ({"null_p50_after_ns": 240.0}, ""),
        ({"null_p50_after_ns": 239.0}, "speed: a null call took 300 ns before and 239 ns after"),
        # 100 ticks are its own and 2 may be anybody's: 50 more are the bound
        ({"busy_ticks": 152}, ""),
        ({"busy_ticks": 153}, "load: others kept 0.5 processors busy"),
        ({"busy_ticks": 200, "steal_own_ticks": 51, "major_faults": 2},
         f"disk: 2 page faults went to the disk; steal: the host took 50 % of the time; {BUSY}"),
    ],
)  # fmt: skip
def test_a_cause_is_found_from_its_bound_on(changes: dict[str, Any], said: str) -> None:
    assert disturbed("latency", [QUIET | changes], Bounds(), TWO) == said


def test_what_a_system_does_not_tell_is_no_disturbance() -> None:
    assert disturbed("latency", [], Bounds(), TWO) == ""
    assert disturbed("latency", [{}], Bounds(), TWO) == ""
    assert disturbed("cost", [dict.fromkeys(QUIET)], Bounds(), TWO) == ""
    assert disturbed("latency", [{**QUIET, "counted_ns": 0, "involuntary_switches": 100}], Bounds(), TWO) == ""


def test_the_null_call_that_changed_most_is_named_whichever_operation_it_is_of() -> None:
    rows = [QUIET, QUIET | {"null_p50_after_ns": 900.0}]
    assert disturbed("latency", rows, Bounds(), TWO) == "speed: a null call took 300 ns before and 900 ns after"


@pytest.mark.parametrize("kind", ["memory", "counts", "complexity"])
def test_what_is_not_timed_is_only_disturbed_by_the_disk(kind: str) -> None:
    row = QUIET | {"steal_own_ticks": 90, "involuntary_switches": 900, "busy_ticks": 200, "null_p50_after_ns": 9.0}
    assert disturbed(kind, [row], Bounds(), TWO) == ""
    assert disturbed(kind, [row | {"major_faults": 2}], Bounds(), TWO) == "disk: 2 page faults went to the disk"


def test_no_time_of_the_subject_decides() -> None:
    slow = QUIET | {"p50_ns": 10.0**9, "max_ns": 10.0**12, "mean_ns": 10.0**10, "p999_ns": 10.0**11}
    assert disturbed("latency", [slow], Bounds(), TWO) == ""


def test_this_machine_has_ticks_and_processors() -> None:
    machine = Machine.this()
    assert machine.processors >= 1
    assert 0 < machine.tick_ns <= SECOND


def attempt(duration_ns: int, switches: int = 0, status: str = "ok") -> Measured:
    rows = [QUIET | {"operation": "take", "involuntary_switches": switches, "busy_ticks": 0}]
    return Outcome(status, duration_ns=duration_ns), rows, {}


def run_all(attempts: list[Measured], budget: Budget) -> tuple[list[str], Measured, int]:
    """Return what was set aside, what was kept, and how many attempts were not asked for."""
    left: Iterator[Measured] = iter(attempts)
    set_aside, kept = undisturbed("latency", lambda: next(left), budget)
    return set_aside, kept, len(list(left))


PLENTY = 10**15


def test_a_quiet_execution_is_measured_once() -> None:
    attempts = [attempt(10), attempt(20)]
    budget = Budget(first_ns=PLENTY)
    assert run_all(attempts, budget) == ([], attempts[0], 1)
    assert (budget.first_ns, budget.repeats_ns) == (PLENTY + 10, 0)


def test_a_disturbed_one_is_measured_again_and_its_causes_are_kept() -> None:
    attempts = [attempt(10, switches=90), attempt(20), attempt(30)]
    budget = Budget(first_ns=PLENTY)
    assert run_all(attempts, budget) == (["switches: put off the processor 90 times a second"], attempts[1], 1)
    assert (budget.first_ns, budget.repeats_ns) == (PLENTY + 10, 20)


def test_the_third_disturbed_one_is_kept() -> None:
    attempts = [attempt(10, switches=90 + number) for number in range(4)]
    set_aside, kept, left = run_all(attempts, Budget(first_ns=PLENTY))
    assert len(set_aside) == MOST_REPEATS == 2
    assert kept is attempts[2]
    assert left == 1


@pytest.mark.parametrize("status", ["timeout", "check-failed", "error", "crashed", "memory-limit", "not-offered"])
def test_what_ended_otherwise_is_an_answer_and_not_repeated(status: str) -> None:
    attempts = [attempt(10, switches=90), attempt(20, switches=90, status=status), attempt(30)]
    assert run_all(attempts[1:], Budget(first_ns=PLENTY)) == ([], attempts[1], 1)
    assert run_all(attempts, Budget(first_ns=PLENTY))[1:] == (attempts[1], 1)  # after a disturbed one as well


def test_without_time_left_for_repeats_the_first_is_kept() -> None:
    attempts = [attempt(10, switches=90), attempt(20)]
    assert run_all(attempts, Budget()) == ([], attempts[0], 1)


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_a_machine_that_is_never_quiet_costs_at_most_the_share_of_the_run(share: float) -> None:
    budget = Budget(share=share)
    durations = [1_000 + 37 * number % 500 for number in range(300)]
    attempts = 0
    for duration in durations:
        set_aside, _ = undisturbed("latency", lambda took=duration: attempt(took, switches=90), budget)  # type: ignore[misc]
        attempts += len(set_aside)
    assert budget.first_ns == sum(durations)
    assert 0.9 * share < budget.repeats_ns / budget.first_ns <= share
    assert attempts > 20


def test_a_resumed_run_goes_on_with_what_repeats_have_taken() -> None:
    row = {"position": 3, "process": 0, "duration_ns": 100, "attempt": 2}
    rows = [row, row, {"position": 4, "process": 0, "duration_ns": 50, "attempt": None}]
    budget = Budget()
    budget.remember(rows)  # type: ignore[arg-type]
    assert (budget.first_ns, budget.repeats_ns) == (150, 200)
