"""The chunked queue at its edges: which list stays, what is in order, what is walked past, what it consists of."""

from __future__ import annotations

import gc
from itertools import count
from operator import length_hint
from typing import Any

import pytest

from queues.timer.chunked import Chunked, due_end
from queues.timer.chunked_batch import ChunkedBatch
from tests.queues.chunked_parts import INFINITY, chunk, filled, resize, shape_of
from tests.queues.chunked_scenes import SIZES, look_of, played, told_in


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    resize(monkeypatch, **SIZES)


def taken(queue: Chunked, now: float, limit: int | None = None) -> ChunkedBatch:
    """What is due, of which there is some."""
    batch = queue.take(now, limit)
    assert batch is not None
    return batch


class NotInOrder(Chunked):
    """Refuses what is out of order."""

    __slots__ = ()

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        raise AssertionError(f"{start} is said to be out of order")


def test_a_start_that_equals_the_latest_is_in_order() -> None:
    queue = NotInOrder()
    for start in (1, 1, 2, 2):
        queue.enqueue(start, "message")
    assert [*queue.contents()] == [(1, "message"), (1, "message"), (2, "message"), (2, "message")]


@pytest.mark.parametrize(("collected", "full"), [(True, 8), (False, 4)])
def test_room_is_noted_for_all_messages_but_the_one_that_makes_the_tail_full(collected: bool, full: int) -> None:
    if not collected:
        gc.disable()
    try:
        queue = Chunked()
        rooms = [length_hint(queue._room)]
        for start in range(full):
            queue.enqueue(start)
            rooms.append(length_hint(queue._room))
    finally:
        gc.enable()
    assert rooms[:-1] == [*range(full - 1, -1, -1)]
    assert shape_of(queue._runs) == ("(4) [4]" if collected else "[4] [0]")


def test_of_a_chunk_that_is_cut_the_smaller_part_is_copied() -> None:
    for now, keeps in enumerate((True, True, True, False, False, False)):
        queue = filled(6)
        tail = queue._tail
        batch = taken(queue, now, limit=6)
        assert (queue._tail is tail, batch.chunks[0] is tail) == (keeps, not keeps)
        assert batch.chunks[0] + queue._tail == chunk(*range(6))
        queue.check()


def test_chunks_and_batches_go_through_unchanged() -> None:
    queue = filled(20)
    first, last = queue._chunks[0], queue._tail
    batch = taken(queue, 3)
    assert batch.chunks[0] is first
    queue.requeue(batch)
    assert queue._chunks[0] is first
    queue.take(11)
    batch = taken(queue, 19)
    assert batch.chunks[0] is last
    queue.requeue(batch)
    assert queue._tail is last


class Counted(int):
    """An instant that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    __hash__ = int.__hash__


@pytest.mark.parametrize("length", range(1, 10))
def test_the_end_of_what_is_due_is_found_wherever_it_is(length: int) -> None:
    for starts in ([*range(length)], [0] * length, [at // 2 for at in range(length)]):
        for now in range(length + 1):
            assert due_end(chunk(*starts), now) == sum(start <= now for start in starts)


def test_a_few_that_are_due_are_looked_for_among_the_first() -> None:
    chunks = chunk(*range(1_000))
    for due, most in ((1, 1), (2, 3), (3, 3), (600, 13)):
        Counted.compared = 0
        assert due_end(chunks, Counted(due - 1)) == due
        assert Counted.compared <= most


def test_a_message_passed_over_is_counted_whether_in_a_batch_or_in_the_queue() -> None:
    for wanted in (0, 1, 3, 4, 11, 12, 15, 16, 23, 24, 35):
        queue = Chunked(clock=lambda: 0)
        for number in range(36):
            queue.enqueue(5, number)
        queue.enqueue(6, 0)
        for last in (wanted, 36):
            found = queue.cancel(5, lambda number, last=last: number == last)
            assert found == ((5, wanted) if last == wanted else None)
        assert queue.walked == wanted + 35
        queue.check()
        assert [message[1] for message in queue.contents()] == [*range(wanted), *range(wanted + 1, 36), 0]


def test_what_was_passed_over_in_a_batch_is_added_to_what_was_before() -> None:
    queue = Chunked(clock=lambda: 0)
    for number in range(6):
        queue.enqueue(5, number)
    batch = taken(queue, 5)
    asked: list[int] = []

    def match(number: int) -> bool:
        asked.append(number)
        return number in (3, 5)

    def handler(start: int, number: int) -> None:
        if not number:
            assert [queue.cancel(5, match) for _ in range(3)] == [(5, 3), (5, 5), None]

    assert queue.process(batch, handler, INFINITY) == 4
    assert asked == [1, 2, 3, 1, 2, 4, 5, 1, 2, 4]
    assert queue.walked == 2 + 3 + 3


def test_the_container_yields_every_part_that_the_queue_holds() -> None:
    queue = filled(39)
    for late in (0.5, 0.6, 0.7, 0.8, 0.9, 20.5):
        queue.enqueue(late)
    queue.take(0)
    queue.take(0.5)
    assert shape_of(queue._runs) == "[2] [2]k [3]k (4) (4) | (4) (4) [5] | (4) (4) [7]"
    expected: list[object] = [queue, queue._active, queue._runs, queue._run_ends, queue._opened, queue._room]
    for run in queue._runs:
        expected += [run, run.chunks, run.ends]
        if run.keys is not None:
            expected += [run.keys, *(row for row in run.keys if row is not None)]
        expected += run.chunks
    held = [*queue.container()]
    assert len(held) == len(expected) == 29
    assert all(one is other for one, other in zip(held, expected, strict=True))


def test_a_batch_of_a_whole_chunk_has_no_runs_to_carry() -> None:
    queue = filled(6)
    for last in range(4):
        assert look_of(taken(queue, last)) == "only [1]"


SHORT_OF_RUN = """
    0..7 0.5 0.6 0.7 0.8: [4]k [4]k [4]
    @0 r: [4] [4]k [4]
    0.1 0.2 0.3: [7] [4]k [4]
    @0.3: [3] [4]k [4] => only [4]
    r: [4] [3] [4]k [4]
    @0.3: [3] [4]k [4] => [4]
    p1 0.15: [4] [4]k [4]
    r: [4] [3] [4]k [4]
"""
SHORT_OF_RUN_WITH_KEYS = """
    0..7 0.5 0.6 0.7 0.8 @0 r 0.1 0.2 0.3: [7] [4]k [4]
    @0.3: [3] [4]k [4] => only [4]
    @0.7 p3 r: [4]k [4]
    r: [4] [4]k [4]
"""


@pytest.mark.parametrize("scene", [SHORT_OF_RUN, SHORT_OF_RUN_WITH_KEYS], ids=["merged", "with keys"])
def test_one_chunk_is_put_before_those_of_a_front_run_that_is_not_full(
    scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, RUN=4)
    assert played(scene) == told_in(scene)


def test_the_window_is_counted_from_the_clock_of_the_queue() -> None:
    ticks = count()
    queue = Chunked(window=3, clock=lambda: next(ticks))
    for message in chunk(*range(9)):
        queue.enqueue(*message)
    assert queue.process(taken(queue, 8), lambda *message: None) == 2
    assert next(ticks) == 4
