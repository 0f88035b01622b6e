"""The timed loops: what stands inside a timed region, what a sample holds, and what the instrument itself costs."""

from __future__ import annotations

import ast
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from runners import latency
from runners.latency import CheckFailed, bare, blank
from runners.rigs import PAYLOAD
from runners.workloads import WORKLOADS
from tests.runners.workers import ROOT, SMALL, work

TIMED = [workload for workload in WORKLOADS["timer"].values() if "latency" in workload.kinds]
MOST_OVER_BARE_NS = 80


class Ticking:
    """A queue whose calls each take a time of their own on a clock that nothing else moves."""

    def __init__(self) -> None:
        self.now = 0
        self.items: list[tuple[Any, ...]] = []

    def clock(self) -> int:
        return self.now

    def enqueue(self, *item: Any) -> None:
        self.now += 3
        self.items.append(item)

    def take(self, now: float, limit: int | None = None) -> list[tuple[Any, ...]] | None:
        self.now += 5
        due = [item for item in self.items if item[0] <= now][:limit]
        del self.items[: len(due)]
        return due or None

    def process(self, batch: list[tuple[Any, ...]], handler: Callable[..., None], deadline: float | None = None) -> int:
        self.now += 11
        done = 0
        while batch and deadline is None:
            handler(*batch[0])
            del batch[0]
            done += 1
        return done

    def requeue(self, batch: list[tuple[Any, ...]]) -> None:
        self.now += 7
        self.items[:0] = batch
        batch.clear()

    def __len__(self) -> int:
        return len(self.items)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cycle", [5, 7]),
        ("level-cycle", [5, 7]),
        ("window-cycle", [5, 7]),
        ("requeue-unused", [7]),
        ("growth", [3]),
        ("steady-enqueue", [3]),
        ("steady-dispatch", [5 + 11]),
        ("free-in-batches", [5]),
    ],
)
def test_a_sample_is_the_time_of_its_call_and_of_nothing_else(name: str, expected: list[int]) -> None:
    workload, params = WORKLOADS["timer"][name], SMALL["latency"][name]
    assert workload.setup is not None
    assert workload.loop is not None
    calls = workload.calls(params)
    samples = tuple(blank(calls) for _ in workload.operations)
    rig = workload.setup(Ticking, params, 1)
    workload.loop(rig.queue.clock, samples, calls, *rig.arguments)
    rig.check()
    assert [set(each) for each in samples] == [{took} for took in expected]


@pytest.mark.parametrize("workload", TIMED, ids=lambda workload: workload.name)
def test_the_null_run_fills_every_sample_and_leaves_nothing_allocated_inside_a_timed_region(workload: Any) -> None:
    params = SMALL["latency"].get(workload.name, {"calls": 1})
    samples = tuple(blank(latency.NULL_CALLS) for _ in workload.operations)
    floor = blank(latency.NULL_CALLS)
    clock = sys.getallocatedblocks  # a "time" that passes only where memory is taken
    bare(clock, floor)
    workload.loop(clock, samples, latency.NULL_CALLS, *workload.null(params))
    assert {len(each) for each in samples} == {latency.NULL_CALLS}
    for each in samples:
        assert median(each) <= median(floor)
        assert sorted(each)[-20] <= max(floor)  # the interpreter may grow a table of its own now and then


def test_a_timed_region_is_two_clock_reads_around_the_call_and_no_name_is_looked_up_in_it() -> None:
    regions = [inside for function in functions("latency").values() for inside in timed_regions(function)]
    assert [len(inside) for inside in regions].count(0) == 1  # the bare clock reads
    assert [len(inside) for inside in regions].count(2) == 1  # take and process of one message
    assert [len(inside) for inside in regions].count(1) == len(regions) - 2
    for node in (node for inside in regions for statement in inside for node in ast.walk(statement)):
        assert not isinstance(node, (ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.BinOp, ast.For))


def test_a_batched_sample_is_two_clock_reads_around_a_loop_that_only_calls() -> None:
    loops = [functions("batched")[name] for name in ("enqueue_all", "cycle_all", "reattach_all")]
    for loop in loops:
        *_, before, timed, after, returned = loop.body
        assert isinstance(timed, ast.For)
        assert [ast.unparse(line) for line in (before, after, returned)] == [
            *("t0 = clock()", "t1 = clock()"),
            "return t1 - t0",
        ]
        assert len(timed.body) == 1
        assert not [node for node in ast.walk(timed) if isinstance(node, (ast.Attribute, ast.Subscript))]


def functions(module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of one module of runners."""
    tree = ast.parse((ROOT / "runners" / f"{module}.py").read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def timed_regions(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """Return the statements between `t0 = clock()` and `t1 = clock()`; the sample must be stored right behind them."""
    regions = []
    for node in ast.walk(function):
        body = getattr(node, "body", [])
        lines = [ast.unparse(statement) for statement in body] if isinstance(body, list) else []
        for at, line in enumerate(lines):
            if line == "t0 = clock()":
                end = lines.index("t1 = clock()", at)
                assert lines[end + 1].endswith("[call] = t1 - t0")
                regions.append(body[at + 1 : end])
    return regions


def test_every_loop_times_as_often_as_it_has_operations() -> None:
    for workload in TIMED:
        assert workload.loop is not None
        assert len(timed_regions(functions("latency")[workload.loop.__name__])) == len(workload.operations)


def test_a_drained_queue_is_never_timed() -> None:
    samples = (blank(3), blank(3))
    with pytest.raises(CheckFailed, match="take\\(\\) returned None: expected a batch of 2"):
        latency.cycle_each(int, samples, 3, Ticking(), 1.0, lambda batch: latency.require_length(batch, 2))


def test_a_steady_loop_that_finds_nothing_due_is_refused_at_the_call() -> None:
    class Empty(Ticking):
        def take(self, now: float, limit: int | None = None) -> None:
            return None

    samples = (blank(3),)
    with pytest.raises(CheckFailed, match="take\\(\\) returned None: expected a batch of 1"):
        latency.steady_enqueue_each(int, samples, 3, Empty(), 0, PAYLOAD)


def test_a_loop_whose_arguments_run_out_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        latency.enqueue_each(int, (blank(3),), 3, Ticking(), [0.0, 1.0], PAYLOAD)


def test_sample_arrays_are_made_before_and_hold_64_bits() -> None:
    made = blank(5)
    assert (made, made.itemsize) == (array("q", [0, 0, 0, 0, 0]), 8)


@pytest.mark.processes
@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_the_null_call_is_at_most_80_ns_above_two_clock_reads(tmp_path: Path, clock: str) -> None:
    above_ns = []
    for _ in range(5):
        ended = work(tmp_path, "latency", "null-loop", target="", params={"calls": 2000}, clock=clock)
        nulls = ended.result["operations"][0]
        null_ns = median(ended.samples(nulls["null_before"]) + ended.samples(nulls["null_after"]))
        above_ns.append(null_ns - ended.p50(ended.result["bare"]["samples"]))
    # The least of five: other load can only add to a call, and a slow spell between the two adds to one of them.
    assert min(above_ns) <= MOST_OVER_BARE_NS


@pytest.mark.processes
def test_only_the_first_calls_of_a_steady_loop_are_warm_up(tmp_path: Path) -> None:
    found = {}
    for workload in ("cycle", "growth", "free", "steady-enqueue"):
        found[workload] = work(tmp_path, "latency", workload).result["operations"][0]["warmup"]
    assert found == {"cycle": 3, "growth": 0, "free": 0, "steady-enqueue": 20}
    many = work(tmp_path, "latency", "cycle", params={"due": 1, "queued": 0, "calls": 1000}).result
    assert many["operations"][0]["warmup"] == latency.WARMUP_CALLS
