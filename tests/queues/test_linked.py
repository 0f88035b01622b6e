"""What only the linked queues can get wrong: the searches they count, the marks they keep, and their own check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.registry import load
from queues.timer.linked_list import LinkedList


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
