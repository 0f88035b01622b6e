"""Where the wheel ends: limits that reach beyond all ticks, an empty wheel that gets messages back, what is counted."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from queues.timer.rules import StopDispatch
from queues.timer.ticks import LIMIT
from queues.timer.wheel import BLOCK, Wheel
from queues.timer.wheel_levels import SLOTS, WheelLevels
from tests.queues import test_wheel
from tests.queues.test_wheel import starts_of

INFINITY = float("inf")
filled = partial(test_wheel.filled, tick=1)  # whole ticks, whose ends are exact


def parts(queue: Any) -> tuple[int, int, int]:
    """How many are in front, in slots, and beyond."""
    queue.check()
    return len(queue._front), queue._levels.count, len(queue._beyond)


def stands_at(queue: Any) -> int:
    """The tick that the wheel has come to, 0 for the one from 0."""
    return int(queue._levels.current) - LIMIT


def test_a_tick_is_a_second_unless_it_is_said() -> None:
    queue: Any = Wheel()
    for start in (0, 1, 1.5, 2, 3):
        queue.enqueue(start)
    assert {key: len(slot) for key, slot in queue._levels.slots.items()} == {1: 2, 2: 1, 3: 1}


@pytest.mark.parametrize("limit", [None, 1, 2, 3, 4, 5, 6])
def test_a_limit_counts_what_is_in_front_and_what_is_beyond_together(limit: int | None) -> None:
    starts = [5, 7, INFINITY, INFINITY, INFINITY]
    queue = filled(*starts)
    batch = queue.take(INFINITY, limit=limit)
    taken = min(limit or 5, 5)
    assert [item[0] for item in batch.items] == starts[:taken]
    assert starts_of(queue) == starts[taken:]
    assert queue.requeue(batch) == taken
    assert starts_of(queue) == starts
    assert queue.merged == 0


def test_what_is_beyond_is_taken_by_its_start_too() -> None:
    queue = filled(1e300, 1e301, INFINITY)
    assert queue.take(1e299) is None
    assert [item[0] for item in queue.take(1e300).items] == [1e300]
    assert [item[0] for item in queue.take(1e302, limit=2).items] == [1e301]
    assert starts_of(queue) == [INFINITY]


def test_all_that_is_in_front_leaves_and_comes_back_as_the_list_it_is() -> None:
    queue = filled(1, 2, 3, 100)
    queue.requeue(queue.take(3))
    items = queue._front.items
    batch = queue.take(3)
    assert batch.items is items
    queue.requeue(batch)
    assert queue._front.items is items


def test_what_ends_at_the_tick_of_the_wheel_goes_back_without_a_look_into_a_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = filled(1, 2, 3, 4)
    batch = queue.take(3)
    assert (stands_at(queue), parts(queue)) == (3, (0, 1, 0))
    monkeypatch.setattr(WheelLevels, "earliest", None)
    assert queue.requeue(batch) == 3
    assert (queue.merged, parts(queue)) == (0, (3, 1, 0))


@pytest.mark.parametrize(("late", "merged"), [(500, 3), (999, 3), (1_000, 0), (1_001, 0), (1e300, 0), (5, 3), (-5, 3)])
def test_a_batch_into_a_wheel_that_was_emptied_is_merged_with_what_starts_earlier(late: float, merged: int) -> None:
    queue = filled(10, 20, 1_000)
    batch = queue.take(1_000)
    queue.enqueue(late)
    assert queue.requeue(batch) == 3
    assert queue.merged == merged
    assert starts_of(queue) == sorted([10, 20, 1_000, late])


@pytest.mark.parametrize("between", [None, 10**6, -(10**6)])
def test_an_empty_wheel_is_set_to_the_end_of_what_is_put_back(between: int | None) -> None:
    queue = filled(5, 7, INFINITY)
    batch = queue.take(INFINITY)
    if between is not None:
        queue.enqueue(between)
        queue.cancel(between)
        assert stands_at(queue) == between // BLOCK * BLOCK
    queue.requeue(batch)
    assert (stands_at(queue), parts(queue)) == (7, (2, 0, 1))
    queue.enqueue(100)
    assert parts(queue) == (2, 1, 1)


def test_what_is_beyond_and_put_back_leaves_slots_and_front_as_they_are() -> None:
    queue = filled(INFINITY, 1e300)
    batch = queue.take(INFINITY)
    for start in (3, 9):
        queue.enqueue(start)
    queue.take(3)
    queue.enqueue(2)
    assert queue.requeue(batch) == 2
    assert (stands_at(queue), parts(queue)) == (3, (1, 1, 2))
    assert starts_of(queue) == [2, 9, 1e300, INFINITY]
    assert queue.merged == 2


def test_what_is_put_back_whole_into_slots_needs_nothing_beyond() -> None:
    queue = filled(300_000, 300_001, INFINITY)
    batch = queue.take(300_001)
    for start in (1, 2):
        queue.enqueue(start)
    assert queue.requeue(batch) == 2
    assert parts(queue) == (0, 4, 1)
    assert starts_of(queue) == [1, 2, 300_000, 300_001, INFINITY]


def test_merges_add_up() -> None:
    queue = filled(1, 2, 3)
    for late, merged in ((0, 3), (0.5, 7)):
        batch = queue.take(3)
        queue.enqueue(late)
        queue.requeue(batch)
        assert queue.merged == merged


def test_what_is_filed_anew_is_counted_to_the_message() -> None:
    queue = filled(0, 64, 65, 66, 128, 4_096 + 1, 4_096 + 70)
    found = []
    for now in (0, 64, 65, 4_096, 4_097, 4_200):
        queue.take(now)
        found.append(queue.refiled)
    assert found == [0, 2, 2, 4, 4, 4]
    assert (starts_of(queue), SLOTS) == ([], 64)


def test_what_cancel_passes_is_counted_wherever_it_looks() -> None:
    queue = filled(1, 1, 1, 2, 65, 65.5, 65.75, INFINITY, INFINITY)
    queue.requeue(queue.take(2))
    found = []
    for start, match in (
        *((1, lambda name: False), (2, None), (65.5, None), (65.5, None)),
        *((INFINITY, lambda name: False), (-INFINITY, None), (500, None)),
    ):
        queue.cancel(start, match)
        found.append(queue.walked)
    assert found == [3, 3, 4, 6, 8, 8, 8]
    assert starts_of(queue) == [1, 1, 1, 65, 65.75, INFINITY, INFINITY]


def test_what_cancel_passes_in_a_running_batch_is_counted_before_what_it_passes_in_the_queue() -> None:
    queue = filled(0, 1, 1, 1, 2)
    batch = queue.take(1)
    queue.enqueue(1, "queued")
    found = []

    def handler(start: float, name: str) -> None:
        if start == 0:
            assert queue.cancel(1, lambda name: name == "queued") == (1, "queued")
            found.append(queue.walked)
            assert queue.cancel(1) == (1, "at 1")
            found.append(queue.walked)
            queue.check()
        raise StopDispatch

    assert queue.process(batch, handler, deadline=INFINITY) == 0
    assert (found, len(batch)) == ([3, 3], 3)


def test_a_look_at_an_empty_wheel_turns_nothing() -> None:
    queue = filled()
    for now in (-INFINITY, 0, 10**9, INFINITY):
        assert queue.take(now) is None
    assert (queue._levels.current, queue.refiled) == (0, 0)
    queue.enqueue(-INFINITY)
    queue.enqueue(INFINITY)
    assert (parts(queue), queue.next_start) == ((1, 0, 1), -INFINITY)


def test_the_container_is_the_queue_its_fronts_its_levels_and_every_slot() -> None:
    queue = filled(0, 5, 70, INFINITY)
    levels = queue._levels
    expected = [queue, queue._active, queue._front, queue._front.items, queue._beyond, queue._beyond.items]
    expected += [levels, levels.masks, levels.slots, *levels.slots.values()]
    assert [id(part) for part in queue.container()] == [id(part) for part in expected]


def test_check_tells_what_is_wrong_with_the_queue_while_a_batch_is_fine() -> None:
    queue = filled(1, 2, 3)

    def handler(start: float, name: str) -> None:
        queue._levels.count = 7
        queue._front.items.append((0, "moved"))
        queue._front.items.append((-1, "moved"))
        queue.check()

    with pytest.raises(AssertionError) as raised:
        queue.process(queue.take(1), handler, deadline=INFINITY)
    assert str(raised.value) == (
        "the front is out of order; the count of the levels is wrong: at tick 1125899906842625, 1 being processed, "
        "merged 0, walked 0, front [0, -1], slots {2: [(2, 'at 2')], 3: [(3, 'at 3')]}, beyond []"
    )
