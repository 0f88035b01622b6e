"""What only the batch of the buckets can get wrong: its two places, its lists and its starts side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.timer.bucket_batch import BucketBatch, check_batch, first_match
from queues.timer.buckets import Buckets
from queues.timer.rules import StopDispatch

INFINITY = float("inf")


def taken(*starts: Any) -> tuple[Any, Any]:
    """A queue and the batch of all its messages: one at each of `starts`, with its number as payload."""
    queue: Any = Buckets(clock=lambda: 0.0)
    for number, start in enumerate(starts):
        queue.enqueue(start, number)
    return queue, queue.take(INFINITY)


def handed_out(queue: Any, batch: Any, most: int) -> None:
    """Process the batch up to and without its message number `most`."""

    def handler(start: int, number: int) -> None:
        if number == most:
            raise StopDispatch

    queue.process(batch, handler, deadline=INFINITY)


def test_a_search_begins_behind_the_message_being_handled_and_at_the_first_of_every_later_start() -> None:
    queue, batch = taken(1, 1, 2, 2, 3)
    found = []

    def handler(start: int, number: int) -> None:
        found.append([queue.cancel(1), queue.cancel(2), queue.cancel(2.5), queue.cancel(1)])

    assert queue.process(batch, handler, deadline=INFINITY) == 3
    assert found == [[(1, 1), (2, 2), None, None], [None] * 4, [None] * 4]
    assert queue.walked == 0


@pytest.mark.parametrize("at", [2, 3])
def test_a_search_that_begins_behind_the_end_of_a_list_finds_nothing(at: int) -> None:
    """A signal's handler may come when the last of a list is used up and its place not yet moved on."""
    _, batch = taken(1, 1, 2)
    batch.at = at
    assert batch.cancel(1, None) == batch.cancel(1, lambda number: True) == (None, 0)
    assert first_match([(1, 0), (1, 1)], at, None) == first_match([(1, 0), (1, 1)], at, lambda _: True) == 2


@pytest.mark.parametrize("most", range(6))
def test_what_is_left_is_the_same_however_often_it_is_asked_for(most: int) -> None:
    queue, batch = taken(1, 1, 2, 3, 3)
    handed_out(queue, batch, most)
    left = [(1, [(1, 0), (1, 1)][most:]), (2, [(2, 2)][max(0, most - 2) :]), (3, [(3, 3), (3, 4)][max(0, most - 3) :])]
    for _ in range(2):
        if batch:
            assert batch.rest() == [pair for pair in left if pair[1]]
            assert batch.at == 0
    assert check_batch(batch) == []


def test_a_list_used_up_to_its_end_is_not_put_back_even_if_its_place_was_not_moved_on() -> None:
    """An interrupt may come between the last message of a list and the first of the next."""
    _, batch = taken(1, 1, 2, 3)
    batch.buckets[0][:] = [None, None]
    batch.at, batch.left = 2, 2
    assert batch.rest() == [(2, [(2, 2)]), (3, [(3, 3)])]


def test_a_batch_that_was_put_back_has_nothing_left() -> None:
    queue, batch = taken(1, 1, 2)
    handed_out(queue, batch, 1)
    assert queue.requeue(batch) == 2
    assert (len(batch), batch.rest(), check_batch(batch), batch.latest) == (0, [], [], 2)
    assert batch.cancel(1, None) == (None, 0)


def test_lists_that_do_not_go_with_the_starts_are_never_dropped_unsaid() -> None:
    _, batch = taken(1, 2)
    batch.starts.pop()
    for look in (batch.rest, lambda: check_batch(batch)):
        with pytest.raises(ValueError, match="longer than argument"):
            look()


def put(row: Any, index: Any, value: Any) -> None:
    row[index] = value


def hold_on(batch: Any) -> None:
    batch.buckets[0] = [(1, 0), (1, 1)]


def repeat_a_start(batch: Any) -> None:
    batch.starts[2] = 2
    batch.buckets[2] = [(2, 4), (2, 5)]


HELD = "a batch still holds what was dispatched"
ELSEWHERE = "a batch has a message in the list of another start: [1, 2, 3]"


@pytest.mark.parametrize(
    ("words", "damage"),
    [
        ([HELD], hold_on),
        ([HELD], lambda batch: put(batch.buckets[1], 0, (2, "kept"))),
        (["a batch says 4 left and holds [[(2, 3)], [(3, 4), (3, 5)]]"], lambda batch: setattr(batch, "left", 4)),
        (["a batch says 3 left and holds [[(2, 3)], [(3, 4)]]"], lambda batch: batch.buckets[2].pop()),
        (["a batch is out of order: [1, 2, 2]"], repeat_a_start),
        ([ELSEWHERE], lambda batch: put(batch.buckets[2], 1, (2, 5))),
        (["a batch says 3 left and holds [[(2, 3)], [(4, 4)]]", ELSEWHERE], lambda b: put(b.buckets, 2, [(4, 4)])),
    ],
    ids=range(7),
)
def test_every_fault_of_a_batch_is_told_word_for_word(words: list[str], damage: Callable[[Any], object]) -> None:
    queue, batch = taken(1, 1, 2, 2, 3, 3)
    handed_out(queue, batch, 3)
    assert check_batch(batch) == []
    damage(batch)
    assert check_batch(batch) == words


def test_the_faults_of_a_batch_being_processed_stand_behind_those_of_the_queue() -> None:
    queue, batch = taken(1, 2)
    told = []

    def handler(start: int, number: int) -> None:
        batch.left += 1
        queue._count = 1
        with pytest.raises(AssertionError) as raised:
            queue.check()
        told.append(str(raised.value))
        batch.left -= 1

    assert queue.process(batch, handler, deadline=INFINITY) == 2
    state = "1 being processed, merged 0, walked 0, heap [], lists {}"
    assert told == [
        f"the count is wrong; a batch says 3 left and holds [[(1, 0)], [(2, 1)]]: count 1, {state}",
        f"the count is wrong; a batch says 2 left and holds [[(2, 1)]]: count 1, {state}",
    ]


def test_a_batch_is_a_batch_of_its_queue_with_nothing_used_up() -> None:
    queue, batch = taken(1, 1.0, 7)
    assert type(batch) is BucketBatch
    assert (batch.queue is queue, batch.number, batch.at, batch.left, batch.latest) == (True, 0, 0, 3, 7)
