"""The chunked queue: its edges at tiny chunks, what it promises beyond the contract, and a check that can fail."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

import queues.timer.chunked as module
from queues.conformance import conform
from queues.timer.chunked import LOAD, Chunked

INFINITY = float("inf")


def filled(count: int) -> Chunked:
    queue = Chunked()
    for start in range(count):
        queue.enqueue(float(start), "message")
    return queue


@pytest.mark.parametrize(("load", "small"), [(2, 0), (2, 1), (3, 1), (4, 2), (8, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_every_promise_holds_when_chunks_are_tiny(
    load: int, small: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOAD", load)
    monkeypatch.setattr(module, "FULL", load + small)
    monkeypatch.setattr(module, "SMALL", small)
    broken = [(outcome.promise, outcome.detail) for outcome in conform(Chunked, seed=seed) if outcome.verdict != "kept"]
    assert broken == []


def lines_executed(call: Callable[[], Any]) -> tuple[Any, int]:
    """What a call returns, and how many lines of the chunked queue's own files it executes."""
    count = 0

    def local(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        return local if "chunked" in frame.f_code.co_filename else None

    sys.settrace(enter)
    try:
        return call(), count
    finally:
        sys.settrace(None)


def lines_of_a_cycle(due: int) -> tuple[int, int]:
    queue = filled(due + 1_000)
    batch, taken = lines_executed(partial(queue.take, due - 1.0))
    assert len(batch) == due
    left, put_back = lines_executed(partial(queue.requeue, batch))
    assert left == due
    queue.check()
    return taken, put_back


def test_take_and_requeue_execute_the_same_lines_whatever_the_batch() -> None:
    counts = {lines_of_a_cycle(due) for due in (2 * LOAD, 20 * LOAD, 200 * LOAD)}
    assert len(counts) == 1
    assert min(counts) > (5, 5)


def test_nothing_a_full_collection_walks_grows_with_the_messages() -> None:
    gc.collect()
    before = len(gc.get_objects())
    queue = filled(100 * LOAD)
    gc.collect()
    gc.collect()
    tracked = sum(1 for chunk in queue._chunks if gc.is_tracked(chunk))
    assert tracked <= 3
    assert len(gc.get_objects()) - before < 100


def test_messages_that_the_collector_must_see_are_still_seen() -> None:
    queue = Chunked()
    for start in range(2 * LOAD):
        queue.enqueue(start, [start])
    gc.collect()
    assert all(gc.is_tracked(chunk) for chunk in queue._chunks)


def test_the_container_follows_what_is_queued() -> None:
    queue = filled(200_000)
    batch = queue.take(199_989.0)
    assert batch is not None
    assert queue.process(batch, lambda start, message: None, INFINITY) == 199_990
    assert len(queue) == 10
    assert sum(map(sys.getsizeof, queue.container())) < 4_096


def test_a_batch_that_is_put_back_again_and_again_leaves_no_crumbs() -> None:
    queue = filled(20 * LOAD)
    for now in range(1, 10 * LOAD, 7):
        batch = queue.take(float(now))
        assert batch is not None
        assert queue.requeue(batch) == now + 1
    queue.check()
    assert len(queue._chunks) <= 25


def test_single_messages_put_back_one_by_one_are_joined() -> None:
    queue = filled(4 * LOAD)
    batches = [queue.take(INFINITY, limit=1) for _ in range(LOAD)]
    for batch in reversed(batches):
        assert batch is not None
        assert queue.requeue(batch) == 1
    queue.check()
    assert len(queue) == 4 * LOAD
    assert len(queue._chunks) <= 6


def test_many_cancelled_messages_leave_no_empty_chunks() -> None:
    queue = filled(20 * LOAD)
    order = list(range(20 * LOAD))
    random.Random(1).shuffle(order)
    for start in order[10:]:
        assert queue.cancel(float(start)) is not None
    queue.check()
    assert len(queue) == 10
    assert len(queue._chunks) <= 11
    assert sorted(order[:10]) == [start for start, _ in queue.contents()]


CORRUPTIONS: dict[str, Callable[[Chunked], object]] = {
    "order": lambda queue: queue._tail.reverse(),
    "ends": lambda queue: queue._ends.__setitem__(0, -5.0),
    "latest": lambda queue: setattr(queue, "_latest", 3.0),
    "sealed": lambda queue: setattr(queue, "_sealed", 7),
    "marks": lambda queue: queue._marks.__setitem__(0, 1) if queue._marks else None,
    "empty chunk": lambda queue: queue._chunks.insert(0, []),
    "tail": lambda queue: setattr(queue, "_tail", []),
    "odometer": lambda queue: setattr(queue, "_origin", 99),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_check_catches_a_corrupted_copy(name: str) -> None:
    queue = filled(8 * LOAD)
    queue.check()
    CORRUPTIONS[name](queue)
    with pytest.raises(AssertionError, match="chunks of"):
        queue.check()
