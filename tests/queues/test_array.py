"""What only the array with a gap can get wrong: the gap's edges, its closing and its widening, and the two searches."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from queues.conformance import conform
from queues.timer import array
from queues.timer.array import Array, blank, due_end
from queues.timer.array_batch import find


@pytest.fixture
def _tiny_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close gaps and clear in blocks at sizes that a small queue reaches."""
    monkeypatch.setattr(array, "SMALLEST_GAP", 3)
    monkeypatch.setattr(array, "BLANK", [None] * 3)
    monkeypatch.setattr(array, "FRONT_FAVOUR", 1)


@pytest.mark.usefixtures("_tiny_gap")
@pytest.mark.parametrize("seed", range(3))
def test_the_contract_holds_when_the_gap_closes_and_widens_all_the_time(seed: int) -> None:
    broken = [outcome for outcome in conform(Array, seed=seed, steps=2_000) if outcome.verdict != "kept"]
    assert broken == []


@pytest.mark.usefixtures("_tiny_gap")
def test_batches_out_while_the_gap_closes_come_back_whole() -> None:
    source = random.Random(5)
    queue = Array()
    for start in range(200):
        queue.enqueue(start)
    for _ in range(300):
        batches = []
        while (batch := queue.take(source.randrange(250), limit=source.randrange(1, 40))) is not None:
            batches.append(batch)
            queue.check()
        source.shuffle(batches)
        for batch in batches:
            queue.requeue(batch)
            queue.check()
        assert [start for (start,) in queue.contents()] == list(range(200))


@pytest.mark.parametrize("count", [0, 1, 2, 2047, 2048, 2049, 4095, 4096, 4097, 10_000])
def test_blank_clears_exactly_what_it_is_told_to(count: int) -> None:
    items: list[Any] = list(range(10_004))
    blank(items, 2, 2 + count)
    assert items == [0, 1, *[None] * count, *range(2 + count, 10_004)]


@pytest.mark.parametrize(("count", "blocks"), [(2047, 1), (2048, 1), (2049, 2), (4096, 2), (4097, 3), (10_000, 5)])
def test_blank_clears_in_blocks_as_long_as_its_filler(count: int, blocks: int) -> None:
    lengths = []

    class Watched(list[Any]):
        def __setitem__(self, where: Any, what: Any) -> None:
            lengths.append(where.stop - where.start)
            super().__setitem__(where, what)

    blank(Watched(range(10_000)), 0, count)
    assert lengths == [min(count, 2048)] * blocks


@pytest.mark.parametrize("low", [0, 1, 5])
@pytest.mark.parametrize("behind", [0, 1, 7, 100])
def test_due_end_finds_the_cut_for_every_number_of_due_items(low: int, behind: int) -> None:
    for due in range(70):
        items: list[Any] = [None] * low + [(0,)] * due + [(1,)] * behind
        assert due_end(items, 0, low, len(items)) == low + due
        for end in range(low, len(items)):
            assert due_end(items, 0, low, end) == min(low + due, end)


def test_due_end_looks_at_few_items_and_at_none_far_behind() -> None:
    asked: list[int] = []

    class Item:
        def __init__(self, index: int) -> None:
            self.index = index

        def __getitem__(self, zero: int) -> int:
            asked.append(self.index)
            return self.index

    items = [Item(index) for index in range(100_000)]
    assert due_end(items, 999, 0, len(items)) == 1_000
    assert len(asked) < 25
    assert max(asked) < 2_100
    asked.clear()
    assert due_end(items, 0, 0, len(items)) == 1
    assert asked == [0, 1]


def test_find_passes_only_equal_starts() -> None:
    items = [(start, name) for start in range(100) for name in "abc"]
    assert find(items, 0, 50, None) == (150, 0)
    assert find(items, 0, 50, lambda name: name == "c") == (152, 2)
    assert find(items, 0, 50, lambda name: False) == (None, 3)
    assert find(items, 151, 50, None) == (151, 0)
    assert find(items, 300, 99, None) == (None, 0)
    assert find([], 0, 99, None) == (None, 0)


def test_the_gap_is_given_up_once_it_outweighs_the_queue() -> None:
    queue = Array(clock=lambda: 0.0)
    for start in range(20_000):
        queue.enqueue(start)
    full = sum(map(sys.getsizeof, queue.container()))
    batch = queue.take(19_989)
    assert batch is not None
    assert sum(map(sys.getsizeof, queue.container())) > 0.9 * full  # the batch may come back
    assert queue.process(batch, lambda start: None, deadline=1.0) == 19_990
    assert sum(map(sys.getsizeof, queue.container())) < 2_000
    queue.check()


def test_many_small_batches_put_back_after_the_gap_closed_do_not_each_move_everything() -> None:
    queue: Any = Array(clock=lambda: 0.0)
    for start in range(4_000):
        queue.enqueue(start)
    batches = [queue.take(9_999, limit=1) for _ in range(3_900)]
    assert queue._head < 1_100  # a take closed the gap once it was longer than the queue
    widened = 0
    for batch in reversed(batches):
        before = len(queue._items)
        assert queue.requeue(batch) == 1
        widened += len(queue._items) != before
    assert widened < 30
    queue.check()
    assert len(queue) == 4_000


@pytest.mark.parametrize("start", [1.5, 9_998.5])
def test_an_out_of_order_message_moves_the_shorter_side(start: float) -> None:
    queue: Any = Array()
    for number in range(10_000):
        queue.enqueue(number)
    batch = queue.take(99)
    before = queue._head
    queue.enqueue(start if start > 99 else 100.5)
    assert (queue._head == before) == (start > 99)
    assert queue.cancel(101) == (101,)
    assert (queue._head == before) == (start <= 99)  # one slot up, or up and back
    before = queue._head
    assert queue.cancel(9_997) == (9_997,)
    assert queue._head == before
    queue.requeue(batch)
    queue.check()
    assert len(queue) == 9_999


def gapped(count: int, taken: int) -> tuple[Any, Any]:
    """A queue of `count` messages at 0, 1, 2, ... of which the first `taken` are out, and that batch."""
    queue: Any = Array(clock=lambda: 0.0)
    for start in range(count):
        queue.enqueue(start)
    return queue, queue.take(taken - 1)


@pytest.mark.parametrize(("behind", "front"), [(31, False), (32, False), (33, True), (34, True)])
def test_the_side_in_front_moves_where_it_is_less_than_a_sixteenth_of_the_side_behind(behind: int, front: bool) -> None:
    queue, _ = gapped(102 + behind, 100)
    queue.enqueue(101.5)
    assert (queue._head, len(queue._items)) == ((100, 103 + behind) if front else (101, 104 + behind))
    queue, _ = gapped(102 + behind, 100)
    assert queue.cancel(102) == (102,)
    assert (queue._head, len(queue._items)) == ((102, 103 + behind) if front else (101, 102 + behind))
    queue.check()


@pytest.mark.parametrize(
    ("gap", "slots", "closes"),
    [(9, 12, False), (1023, 1100, False), (1024, 1100, True), (1024, 2050, False), (1024, 2049, True)],
)
def test_a_gap_is_closed_when_it_is_long_and_longer_than_the_queue(gap: int, slots: int, closes: bool) -> None:
    head = 1 if closes else gap + 1
    queue, batch = gapped(slots - 1, gap)
    assert (queue._head, len(queue._items)) == (gap + 1, slots)
    assert queue.process(batch, print, deadline=-1.0) == 0
    assert queue._head == gap + 1  # it may come back
    assert queue.process(batch, lambda start: None, deadline=1.0) == gap
    assert queue._head == head
    queue, _ = gapped(slots - 1, gap)
    assert queue.take(-1) is None
    assert queue._head == head
    queue, _ = gapped(slots, gap)
    assert queue.cancel(slots - 1) == (slots - 1,)
    assert queue._head == head
    queue.check()


def test_a_batch_longer_than_the_gap_makes_a_new_one_of_a_quarter_of_what_is_behind() -> None:
    queue, batch = gapped(1103, 1024)
    assert queue.take(-1) is None
    assert (queue._head, len(queue)) == (1, 79)
    assert queue.requeue(batch) == 1024
    assert (queue._head, len(queue), len(queue._items)) == (1 + 19, 1103, 1 + 19 + 1103)
    queue.check()
    queue, batch = gapped(100, 10)
    assert queue.requeue(batch) == 10
    assert (queue._head, len(queue._items)) == (1, 101)  # it fits as it is
    queue.check()


def test_what_is_its_own_is_not_looked_at_twice_and_a_single_message_is_cut_without_a_filler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue, batch = gapped(9, 3)
    monkeypatch.delattr(array, "require_batch")
    monkeypatch.delattr(array, "blank")
    assert batch.rest() is batch.items
    assert queue.process(batch, print, deadline=-1.0) == 0
    assert queue.requeue(batch) == 3
    assert len(queue.take(8, limit=1)) == 1
    queue.check()
    with pytest.raises(NameError):
        queue.take(8, limit=2)


def test_walked_counts_only_equal_starts_that_were_passed() -> None:
    queue = Array()
    for start in (1, 2, 2, 2, 3, 0, 2.5):
        queue.enqueue(start, start)
    assert queue.walked == 0
    assert queue.cancel(2, lambda payload: False) is None
    assert queue.walked == 3
    assert queue.cancel(3) == (3, 3)
    assert queue.walked == 3


DAMAGE: list[tuple[str, Callable[[Any], object]]] = [
    ("slot 0 is not the floor", lambda queue: set_item(queue, 0, None)),
    ("out of order", lambda queue: set_item(queue, 1, (9,))),
    ("out of order", lambda queue: set_item(queue, 2, None)),
    ("the gap is not empty", lambda queue: setattr(queue, "_head", 2)),
    ("the gap is not empty", lambda queue: setattr(queue, "_head", 0)),
    ("the gap is not empty", lambda queue: setattr(queue, "_head", 5)),
    ("an empty queue keeps a gap", lambda queue: setattr(queue, "_head", 4)),
]


def set_item(queue: Any, slot: int, value: Any) -> None:
    queue._items[slot] = value


@pytest.mark.parametrize(("words", "damage"), DAMAGE, ids=range(len(DAMAGE)))
def test_check_tells_a_broken_invariant_with_the_state(words: str, damage: Callable[[Any], object]) -> None:
    queue = Array()
    for start in range(3):
        queue.enqueue(start)
    queue.check()
    damage(queue)
    with pytest.raises(AssertionError, match=rf"^(?:.*; )?{words}(?:; .*)?: head .*starts \["):
        queue.check()


def test_check_sees_an_empty_queue_that_keeps_a_gap_and_a_batch_that_is_being_processed() -> None:
    queue = Array()
    queue._items.append(None)
    queue._head = 2
    with pytest.raises(AssertionError, match=r"^an empty queue keeps a gap: head 2, 2 slots, 0 being processed"):
        queue.check()
    queue = Array()
    for start in (1, 2, 3):
        queue.enqueue(start)
    batch = queue.take(3)
    assert batch is not None

    def handler(start: int) -> None:
        queue.check()
        if start == 2:
            batch.items[0] = (1,)
        queue.check()

    with pytest.raises(AssertionError, match=r"^a batch still holds what was dispatched: head 1, 1 slots, 1 being"):
        queue.process(batch, handler, deadline=float("inf"))
