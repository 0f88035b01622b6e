"""What is measured on the machine itself, on clocks of our own that no test waits for."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count

from lab import probe
from lab.probe import clock_cost, speeds, workers_processor


def stepping(step: int) -> Callable[[], int]:
    counter = count(0, step)
    return lambda: next(counter)


class Ticking:
    """A clock that costs `cost` ns a read on the ruler and shows time in steps of `grain`."""

    def __init__(self, cost: int, grain: int) -> None:
        self.now = 0
        self.cost = cost
        self.grain = grain

    def __call__(self) -> int:
        self.now += self.cost
        return self.now // self.grain * self.grain

    def ruler(self) -> int:
        return self.now


def test_the_cost_of_a_read_is_told_by_the_ruler_and_the_step_by_the_clock() -> None:
    fine = Ticking(cost=50, grain=1)
    assert clock_cost(fine, fine.ruler) == {"read_ns": 50.0, "step_ns": 50}
    coarse = Ticking(cost=50, grain=1000)
    assert clock_cost(coarse, coarse.ruler) == {"read_ns": 50.0, "step_ns": 1000}


def test_a_clock_that_stands_still_has_no_step() -> None:
    assert clock_cost(lambda: 7, stepping(1))["step_ns"] is None


def test_every_round_of_the_speed_is_kept() -> None:
    times = iter([0, 10, 10, 25, 25, 30])
    assert speeds(3, lambda: next(times)) == [10, 15, 5]


def test_a_probe_of_this_machine_has_both_clocks_and_leaves_the_processors_as_they_were() -> None:
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    found = probe.probe()
    assert set(found["clocks"]) <= set(probe.CLOCKS)
    assert all(cost["read_ns"] > 0 and cost["step_ns"] > 0 for cost in found["clocks"].values())
    assert len(found["speeds_ns"]) == probe.SPEED_ROUNDS
    assert min(found["speeds_ns"]) > 0
    if before is not None:
        assert os.sched_getaffinity(0) == before
        assert workers_processor() == (max(before) if len(before) > 1 else None)
