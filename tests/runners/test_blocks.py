"""The samplers of blocks: each times exactly the calls that the loop of single calls times, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from lab.rank import P50, least_n
from queues.timer.array import Array
from runners import batched, blocks, latency
from runners.latency import CheckFailed, blank
from runners.workloads import find

ENQUEUE, TAKE, PROCESS, REQUEUE = 5, 300, 7_000, 110_000
"""What a call takes on the clock of these tests: a sum says which calls were inside."""

TIMED = {
    "steady-enqueue": ENQUEUE,
    "steady-dispatch": TAKE + PROCESS,
    "window-cycle": TAKE + REQUEUE,
    "requeue-unused": REQUEUE,
}
"""Those that a loop of single calls times as well."""

BLOCKS = {**TIMED, "enqueue-at-random": ENQUEUE}
PARAMS = {
    "steady-enqueue": {"queued": 200},
    "steady-dispatch": {"queued": 200},
    "window-cycle": {"due": 10, "queued": 100},
    "requeue-unused": {"due": 10, "unused": 4, "queued": 100},
    "enqueue-at-random": {"queued": 200},
}


class Ticking(Array):
    """An array on which every call takes its time, on a clock that nothing else moves."""

    now_ns = 0

    def enqueue(self, *message: Any) -> None:
        super().enqueue(*message)
        Ticking.now_ns += ENQUEUE

    def take(self, *arguments: Any) -> Any:
        Ticking.now_ns += TAKE
        return super().take(*arguments)

    def process(self, *arguments: Any) -> Any:
        Ticking.now_ns += PROCESS
        return super().process(*arguments)

    def requeue(self, batch: Any) -> Any:
        Ticking.now_ns += REQUEUE
        return super().requeue(batch)


class Lossy(Array):
    """Puts back one message too few."""

    def requeue(self, batch: Any) -> Any:
        latency.dispatch_some(super().process, batch, 1)
        return super().requeue(batch)


def read() -> int:
    return Ticking.now_ns


@pytest.mark.parametrize("name", BLOCKS)
def test_a_sample_holds_the_calls_that_are_timed_one_by_one_and_no_other(name: str) -> None:
    sampler = find("timer", name).sampler(Ticking, PARAMS[name], 1)  # type: ignore[misc]
    assert [sampler.sample(read) for _ in range(5)] == [BLOCKS[name] * sampler.calls] * 5
    sampler.check()


@pytest.mark.parametrize("name", TIMED)
def test_the_single_calls_take_the_same(name: str) -> None:
    workload = find("timer", name)
    params = {**PARAMS[name], "calls": 6}
    samples = tuple(blank(6) for _ in workload.operations)
    rig = workload.setup(Ticking, params, 1)  # type: ignore[misc]
    workload.loop(read, samples, 6, *rig.arguments)  # type: ignore[misc]
    assert [sum(call) for call in zip(*samples, strict=True)] == [TIMED[name]] * 6


@pytest.mark.parametrize("name", ["steady-enqueue", "steady-dispatch"])
@pytest.mark.parametrize(("queued", "calls"), [(1, 1), (19, 1), (40, 2), (20_000, 1_000), (200_000, 1_000)])
def test_a_block_changes_the_length_by_a_twentieth_at_most(name: str, queued: int, calls: int) -> None:
    assert find("timer", name).sampler(Array, {"queued": queued}, 1).calls == calls  # type: ignore[misc]


@pytest.mark.parametrize("name", ["window-cycle", "requeue-unused"])
def test_a_queue_that_loses_a_message_gives_no_number(name: str) -> None:
    sampler = find("timer", name).sampler(Lossy, PARAMS[name], 1)  # type: ignore[misc]
    with pytest.raises((CheckFailed, TypeError)):
        sampler.sample(read)


@pytest.mark.parametrize("unused", [0, 10])
def test_nothing_left_over_and_everything_left_over_are_put_back_as_well(unused: int) -> None:
    params = {"due": 10, "unused": unused, "queued": 0}
    sampler = find("timer", "requeue-unused").sampler(Ticking, params, 1)  # type: ignore[misc]
    assert [sampler.sample(read) for _ in range(3)] == [REQUEUE * blocks.BATCHES_OUT] * 3
    sampler.check()


def test_what_comes_at_random_follows_from_the_seed_and_lies_within_the_queue() -> None:
    def come(seed: int) -> list[float]:
        sampler = find("timer", "enqueue-at-random").sampler(Array, {"queued": 50}, seed)  # type: ignore[misc]
        for _ in range(3):
            sampler.sample(read)
        assert isinstance(sampler, blocks.AtRandomSampler)
        return sampler.come

    assert come(1) == come(1) != come(2)
    assert len(set(come(1))) == 3 * blocks.AT_RANDOM
    assert 0 <= min(come(1)) < 10
    assert 40 < max(come(1)) < 50


def test_what_came_at_random_and_is_not_there_is_missed() -> None:
    sampler = find("timer", "enqueue-at-random").sampler(Array, {"queued": 50}, 1)  # type: ignore[misc]
    sampler.sample(read)
    assert isinstance(sampler, blocks.AtRandomSampler)
    sampler.come[7] += 0.5
    with pytest.raises(CheckFailed, match="expected"):
        sampler.check()


def test_the_fewest_samples_have_a_median_with_an_interval_once_the_first_is_left_out() -> None:
    assert least_n(P50) <= batched.AT_LEAST - 1
