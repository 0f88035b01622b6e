"""What can only be found by trying it on this machine: what reading a clock costs, and how steady its speed is.

Every function takes the clocks that it reads, so that a test can bring its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from statistics import median
from typing import Any

Clock = Callable[[], int]

CLOCKS = ("thread_time_ns", "perf_counter_ns")
"""The lab's clocks: the arms cpu and wall."""

READS = 2_000
ROUNDS = 11
LOOPS = 200_000
SPEED_ROUNDS = 20


def workers_processor() -> int | None:
    """Return the processor that workers are pinned to, the last one usable; None where there is only one, or no say."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return usable[-1] if len(usable) > 1 else None


def probe() -> dict[str, Any]:
    """Return what each clock costs and the speed in rounds, measured where the workers run, in a second or less."""
    with _pinned(workers_processor()):
        clocks = {name: clock_cost(getattr(time, name)) for name in CLOCKS if hasattr(time, name)}
        return {"clocks": clocks, "speeds_ns": speeds()}


def clock_cost(clock: Clock, ruler: Clock = time.perf_counter_ns) -> dict[str, float | None]:
    """Return what a read of `clock` costs by `ruler` and the smallest step that it makes, both in ns.

    The cost is the median over 11 rounds of 2,000 reads in a row; the step is the smallest difference other than 0
    between two reads in a row, None for a clock that stood still all the time. O(reads).
    """
    costs, step = [], None
    for _ in range(ROUNDS):
        begin = ruler()
        values = [clock() for _ in range(READS)]
        costs.append((ruler() - begin) / READS)
        moved = [later - earlier for earlier, later in pairwise(values) if later > earlier]
        step = min([*moved, *([] if step is None else [step])], default=None)
    return {"read_ns": median(costs), "step_ns": step}


def speeds(rounds: int = SPEED_ROUNDS, clock: Clock = time.thread_time_ns) -> list[int]:
    """Return how long the same loop of 200,000 additions took in each of the rounds, in ns of `clock`.

    On the processor clock, so that being put off the processor is not in it: what differs is the speed.
    """
    found = []
    for _ in range(rounds):
        begin = clock()
        _work()
        found.append(clock() - begin)
    return found


def _work() -> int:
    total = 0
    for number in range(LOOPS):
        total += number
    return total


@contextmanager
def _pinned(processor: int | None) -> Iterator[None]:
    """Run on one processor for a while, where the system lets us choose."""
    if processor is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {processor})
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
