"""The table of contents of workloads, what they refuse, and the check that every case ends with."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import pytest

from queues.model import Model
from queues.registry import load
from runners.batched import CycleSampler, EnqueueSampler
from runners.checks import verify
from runners.latency import CheckFailed
from runners.lifecycle import PATTERNS
from runners.rigs import PAYLOAD, fill, ordered, shuffled
from runners.workload import NotOffered
from runners.workloads import WORKLOADS, find
from tests.runners.workers import SMALL

NAMES = {
    "null-loop": ("latency",),
    "cycle": ("latency", "batched", "cost", "counts"),
    "level-cycle": ("latency", "counts"),
    "window-cycle": ("latency", "batched", "cost", "counts"),
    "requeue-unused": ("latency", "batched", "cost", "counts"),
    "reattach": ("latency", "batched", "cost", "counts"),
    "growth": ("latency",),
    "steady-enqueue": ("latency", "batched", "cost", "counts"),
    "steady-dispatch": ("latency", "batched", "cost", "counts"),
    "free": ("latency",),
    "free-in-batches": ("latency",),
    "enqueue-in-order": ("batched", "cost"),
    "enqueue-out-of-order": ("batched", "cost"),
    "enqueue-at-random": ("batched", "cost"),
    "process": ("batched", "cost"),
    **{f"life-{name}": ("batched", "cost") for name in PATTERNS},
    "resident": ("memory",),
    "baseline": ("memory",),
    "drained": ("memory",),
}


def test_the_workloads_and_the_kinds_they_are_measured_in() -> None:
    assert {name: workload.kinds for name, workload in WORKLOADS["timer"].items()} == NAMES


@pytest.mark.parametrize("workload", WORKLOADS["timer"].values(), ids=lambda workload: workload.name)
def test_every_workload_says_what_it_does_and_what_its_parameters_are(workload: Any) -> None:
    assert workload.sentence
    assert all(workload.parameters.values())
    assert set(workload.may_be_zero) <= set(workload.parameters)
    assert ("latency" in workload.kinds) == (workload.setup is not None) == (workload.null is not None)
    for kind in workload.kinds:
        if workload.name != "null-loop" and kind != "cost":
            assert set(SMALL[kind][workload.name]) == set(workload.parameters_of(kind))
            workload.require(kind, SMALL[kind][workload.name])


def test_every_workload_has_small_parameters_here_and_so_is_run_in_a_real_process() -> None:
    run = {name for sizes in SMALL.values() for name in sizes}
    assert run == set(NAMES) - {"null-loop"}


@pytest.mark.parametrize(
    ("family", "name", "said"),
    [
        ("timer", "cycles", "no workload 'cycles' in family 'timer': there are null-loop, cycle, window-cycle"),
        ("tea", "cycle", "no family 'tea': there are timer"),
    ],
)
def test_an_unknown_workload_is_refused_by_naming_what_there_is(family: str, name: str, said: str) -> None:
    with pytest.raises(LookupError) as refused:
        find(family, name)
    assert said in str(refused.value)


LEAST_1 = "expected a whole number of at least 1"


@pytest.mark.parametrize(
    ("kind", "name", "params", "said"),
    [
        ("latency", "cycle", {"due": 1, "queued": 0}, f"'calls' of workload 'cycle' is missing: {LEAST_1}"),
        ("latency", "cycle", {"dew": 1}, "workload 'cycle' has no parameter 'dew': there are due, queued, calls"),
        ("cost", "cycle", {"due": 1, "queued": 0, "calls": 1}, "no parameter 'calls': there are due, queued"),
        ("latency", "growth", {"messages": 0}, f"'messages' of workload 'growth' is 0: {LEAST_1}"),
        ("latency", "growth", {"messages": True}, f"'messages' of workload 'growth' is True: {LEAST_1}"),
        ("latency", "growth", {"messages": "9"}, f"'messages' of workload 'growth' is '9': {LEAST_1}"),
        ("latency", "growth", {"messages": 9.0}, f"'messages' of workload 'growth' is 9.0: {LEAST_1}"),
        ("memory", "drained", {"messages": 9, "left": -1}, "'left' of workload 'drained' is -1: expected a whole"),
        ("memory", "growth", {"messages": 9}, "workload 'growth' has no memory kind: there are latency"),
    ],
)
def test_parameters_are_refused_in_one_sentence(kind: str, name: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, LookupError)) as refused:
        find("timer", name).require(kind, params)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("requeue-unused", {"due": 2, "unused": 3, "queued": 1, "calls": 1}, "unused is 3: expected at most due"),
        ("reattach", {"part": 3, "queued": 2, "calls": 1}, "part is 3: expected at most queued, which is 2"),
    ],
)
def test_a_part_larger_than_its_whole_is_refused(name: str, params: dict[str, int], said: str) -> None:
    setup = find("timer", name).setup
    assert setup is not None
    with pytest.raises(ValueError, match=said):
        setup(load("timer", "linked"), params, 1)


def test_what_need_not_be_there_may_be_0() -> None:
    for name, params in {
        "cycle": {"due": 3, "queued": 0, "calls": 2},
        "requeue-unused": {"due": 3, "unused": 0, "queued": 0, "calls": 2},
    }.items():
        workload = find("timer", name)
        workload.require("latency", params)
        assert workload.setup is not None
        assert workload.loop is not None
        rig = workload.setup(Model, params, 1)
        workload.loop(int, tuple([0, 0] for _ in workload.operations), 2, *rig.arguments)
        rig.check()


def test_a_missing_method_is_named() -> None:
    with pytest.raises(NotOffered, match=r"take\(\) is not offered: workload 'growth' needs it"):
        find("timer", "growth").require_offered(type("Half", (), {"enqueue": print, "take": None}))


def test_the_random_order_depends_on_the_seed_alone_and_is_a_permutation() -> None:
    assert shuffled(8, 1) == [0.0, 2.0, 4.0, 5.0, 1.0, 6.0, 7.0, 3.0]
    assert shuffled(1000, 3) != shuffled(1000, 4)
    assert sorted(shuffled(1000, 3)) == list(ordered(0, 1000))


def test_every_place_of_a_random_order_is_as_likely() -> None:
    firsts = [shuffled(5, seed).index(0.0) for seed in range(2000)]
    assert all(320 <= firsts.count(place) <= 480 for place in range(5))


RIGHT = [(float(start), PAYLOAD) for start in range(5)]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (RIGHT[:4], "the queue holds 4 messages: expected 5"),
        ([*RIGHT, (5.0, PAYLOAD)], "the queue holds 6 messages: expected 5"),
        ([*RIGHT[:3], (3.0, "other"), RIGHT[4]], "message 3 is (3.0, 'other'): expected (3.0, 'message')"),
        ([*RIGHT[:4], (9.0, PAYLOAD)], "message 4 is (9.0, 'message'): expected (4.0, 'message')"),
        ([*RIGHT[:4], RIGHT[3]], "message 4 is (3.0, 'message'): expected (4.0, 'message')"),
    ],
)
def test_the_check_compares_length_order_and_every_message(held: list[tuple[float, str]], said: str) -> None:
    queue = Model()
    for start, message in held:
        queue.enqueue(start, message)
    with pytest.raises(CheckFailed) as failed:
        verify(queue, 5, iter(RIGHT))
    assert str(failed.value) == said


class Stops(Model):
    """Closes every window at once."""

    def process(self, batch: Any, handler: Any, deadline: Any = None) -> int:
        return 0


class Skips(Model):
    """Says that it has dispatched, and has not."""

    def process(self, batch: Any, handler: Any, deadline: Any = None) -> int:
        return super().process(batch, lambda *message: None, deadline)


class Twice(Model):
    """Hands out a batch where nothing is queued."""

    def take(self, now: Any = None, limit: int | None = None) -> Any:
        return super().take(now, limit) or Model.take(fill(Model(), [0.0]), now)


def test_a_queue_that_hands_out_more_than_it_holds_fails_the_check() -> None:
    for count in (0, 3):
        with pytest.raises(CheckFailed, match=f"the queue still holds messages after all {count} were taken"):
            verify(fill(Twice(), ordered(0, count)), count, zip(ordered(0, count), repeat(PAYLOAD)))


@pytest.mark.parametrize(
    ("queue_class", "said"),
    [(Stops, "process() left all 5 messages in the batch"), (Skips, "process() dispatched 0 messages: expected 5")],
)
def test_the_check_does_not_believe_a_process_that_shows_nothing(queue_class: type, said: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        verify(fill(queue_class(), ordered(0, 5)), 5, zip(ordered(0, 5), repeat(PAYLOAD)))
    assert str(failed.value) == said


def test_a_queue_with_nothing_left_passes_and_one_that_keeps_something_does_not() -> None:
    verify(Model(), 0, ())
    queue = Model()
    queue.enqueue(1.0, PAYLOAD)
    with pytest.raises(CheckFailed, match="the queue holds 1 messages: expected 0"):
        verify(queue, 0, ())


def test_a_batched_sample_stands_for_one_queue_filled_or_for_many_cycles() -> None:
    enqueue = EnqueueSampler(Model, list(ordered(0, 7)))
    assert (enqueue.calls, enqueue.sample(iter([10, 17]).__next__)) == (7, 7)
    enqueue.check()
    cycle = CycleSampler(Model, {"due": 3000, "queued": 1}, 1)
    assert (cycle.calls, cycle.sample(iter([10, 12]).__next__)) == (3, 2)
    cycle.check()


class Forgets(Model):
    """Keeps every message but the first ones."""

    def enqueue(self, start: Any, *message: Any) -> None:
        if start >= 2.0:
            super().enqueue(start, *message)


def test_a_sample_on_a_queue_that_forgot_messages_is_refused_at_once() -> None:
    with pytest.raises(CheckFailed, match="the queue holds 5 messages: expected 7"):
        EnqueueSampler(Forgets, list(ordered(0, 7))).sample(int)


def test_an_argument_that_not_everybody_takes_is_a_need_too() -> None:
    def take(self: object, now: float) -> None:
        """Without a limit."""

    workload = find("timer", "free-in-batches")
    methods = {"enqueue": print, "__len__": len, "take": take}
    with pytest.raises(NotOffered, match=r"take\(limit\) is not offered: workload 'free-in-batches' needs it"):
        workload.require_offered(type("Unlimited", (), methods))
    for offered in (lambda self, now, limit: None, lambda self, *arguments: None, print):
        workload.require_offered(type("Limited", (), {**methods, "take": offered}))
    for peer in ("sched", "apscheduler", "asyncio-heap"):
        with pytest.raises(NotOffered):
            workload.require_offered(load("timer", peer))
    workload.require_offered(load("timer", "kombu"))
