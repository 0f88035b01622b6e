"""What only the linked queues can get wrong: the searches they count, the marks they keep, and their own check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.registry import load
from queues.timer.linked_list import LinkedList
from queues.timer.rules import StopDispatch


@pytest.fixture(params=["linked", "linked-known-tail"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that fills a queue of each kind in turn."""

    def build(*starts: float) -> Any:
        queue = load("timer", request.param)()
        for start in starts:
            queue.enqueue(start)
        return queue

    return build


def test_in_order_no_search_is_made_after_any_way_to_empty_the_queue(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 2, 3)
    batch = queue.take(9)
    queue.enqueue(1)
    assert queue.cancel(1) == (1,)
    queue.enqueue(0.5)
    queue.take(9)
    queue.requeue(batch)
    queue.enqueue(3)
    queue.check()
    assert queue.walked == 0


def test_out_of_order_passes_what_starts_no_later(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 2, 3, 9)
    queue.enqueue(2)
    assert queue.walked == 3
    queue.enqueue(0)
    assert queue.walked == 3
    queue.enqueue(8)
    assert queue.walked == 9


def test_a_merge_passes_each_late_arrival_once(make: Callable[..., Any]) -> None:
    queue = make(10, 20, 30, 40, 50)
    batch = queue.take(40)
    for start in (5, 15, 35):
        queue.enqueue(start)
    before = queue.walked
    queue.requeue(batch)
    assert queue.walked - before == 3
    assert queue.merged == 4
    queue.check()


def test_cancel_passes_what_stands_in_front(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 3, 3, 4)
    assert queue.cancel(3, lambda: False) is None
    assert queue.walked == 4
    assert queue.cancel(1) == (1,)
    assert queue.walked == 4


def test_contents_are_those_at_the_call(make: Callable[..., Any]) -> None:
    queue = make(1, 2)
    contents = queue.contents()
    queue.enqueue(3)
    queue.take(1)
    assert list(contents) == [(1,), (2,)]


def test_the_container_is_every_node_and_no_message(make: Callable[..., Any]) -> None:
    empty, full = (list(make(*starts).container()) for starts in ((), (1, 2, 3)))
    assert len(full) == len(empty) + 3
    assert not any(isinstance(part, tuple) for part in full)


def test_a_batch_knows_its_tail_only_in_the_queue_that_uses_it() -> None:
    for name, known in (("linked", False), ("linked-known-tail", True)):
        queue = load("timer", name)()
        queue.enqueue(1)
        batch = queue.take(1)
        assert (batch.tail is not None) == known


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda queue: setattr(queue, "_count", 2), "the count is wrong"),
        (lambda queue: setattr(queue, "_latest", 2), "latest is not the last start"),
        (lambda queue: queue._last.append((0,)), "out of order"),
        (lambda queue: queue._anchor.advance(), "the anchor cursor left the anchor"),
        (lambda queue: setattr(queue, "_last", LinkedList().cursor()), "the last cursor is not on the last node"),
    ],
)
def test_check_tells_a_broken_invariant_with_the_state(
    make: Callable[..., Any], damage: Callable[[Any], object], words: str
) -> None:
    queue = make(1, 2, 3)
    queue.check()
    damage(queue)
    with pytest.raises(AssertionError, match=rf"^(?:.*; )?{words}(?:; .*)?: count .*starts \["):
        queue.check()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda batch: setattr(batch, "left", 9), "a batch says 9 left and holds .*"),
        (
            lambda batch: setattr(batch, "tail", LinkedList().cursor()),
            "the known tail of a batch is not on its last node: .*",
        ),
        (lambda batch: setattr(batch.fragment.node, "data", (7,)), "a batch is out of order: .*"),
    ],
)
def test_check_sees_a_batch_that_is_being_processed(
    make: Callable[..., Any], damage: Callable[[Any], object], words: str
) -> None:
    queue = make(1, 2, 3)
    batch = queue.take(2)

    def handler(start: float) -> None:
        queue.check()
        damage(batch)
        queue.check()

    with pytest.raises(AssertionError, match=rf"^(?:.*; )?{words}(?:; .*)?: count "):
        queue.process(batch, handler, deadline=float("inf"))


class Told:
    """A payload that calls something when it is let go."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call

    def __del__(self) -> None:
        self.call()


def test_a_message_may_cancel_when_it_is_let_go_as_the_last_of_its_batch(make: Callable[..., Any]) -> None:
    """The batch is still being processed then, and has nothing left to search."""
    queue = make()
    seen: list[Any] = []
    queue.enqueue(1, Told(lambda: seen.append(queue.cancel(5))))
    queue.enqueue(5)
    assert queue.process(queue.take(1), lambda *_: None, deadline=float("inf")) == 1
    assert seen == [(5,)]
    assert len(queue) == 0
    queue.check()


def test_merges_add_up(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 3)
    for late, merged in ((0, 3), (0.5, 7)):
        batch = queue.take(3)
        queue.enqueue(late)
        queue.requeue(batch)
        assert queue.merged == merged
    queue.check()


def test_an_insertion_in_front_of_the_first_passes_none_and_behind_its_equals_all_of_them(
    make: Callable[..., Any],
) -> None:
    queue = make(2, 2, 3)
    for start, walked in ((1, 0), (2, 3), (2.5, 7)):
        queue.enqueue(start)
        assert queue.walked == walked
    assert [item[0] for item in queue.contents()] == [1, 2, 2, 2, 2.5, 3]


def test_a_batch_keeps_its_tail_as_long_as_it_has_messages_and_uses_it() -> None:
    """In each queue: only one of the two keeps any."""
    for name, kept in (("linked", False), ("linked-known-tail", True)):
        queue = load("timer", name)()
        for start in range(6):
            queue.enqueue(start)
        batch = queue.take(4)
        tails: list[Any] = []

        def handler(start: float, queue: Any = queue, batch: Any = batch, tails: Any = tails) -> None:
            if start == 0:
                for cancelled in (2, 4):  # one inside, then the last
                    assert queue.cancel(cancelled) == (cancelled,)
                    queue.check()
                    tails.append(batch.tail and batch.tail.node.data)
            else:
                raise StopDispatch

        assert queue.process(batch, handler, deadline=float("inf")) == 1
        assert tails == ([(4,), (3,)] if kept else [None, None])
        assert (batch.tail is not None) == kept
        assert queue.requeue(batch) == 2
        assert batch.tail is None
        assert [item[0] for item in queue.contents()] == [1, 3, 5]
        queue.check()
        rest = queue.take(3)
        assert queue.process(rest, lambda _: None, deadline=float("inf")) == 2
        assert rest.tail is None


def test_the_cursors_that_are_kept_carry_the_mark_of_the_list(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 3)
    queue.cancel(3)
    assert (queue._last.mark is queue._list.mark, queue._anchor.mark is queue._list.mark) == (True, True)
    queue.take(9)
    assert queue._last.mark is queue._list.mark


def test_check_tells_what_is_wrong_with_the_queue_while_a_batch_is_fine(make: Callable[..., Any]) -> None:
    queue = make(1, 2, 3)

    def handler(start: float) -> None:
        queue._count = 7
        queue._latest = 2
        queue.check()

    with pytest.raises(AssertionError) as raised:
        queue.process(queue.take(1), handler, deadline=float("inf"))
    assert str(raised.value) == (
        "the count is wrong; latest is not the last start: count 7, latest 2, 1 being processed, merged 0, walked 0, "
        "starts [2, 3]"
    )
