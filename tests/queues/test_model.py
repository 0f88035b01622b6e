"""The model, by results written down by hand, since everything else is compared with it."""

from __future__ import annotations

from typing import Any

import pytest

from queues.model import Model


def all_of(queue: Model) -> list[Any]:
    return list(queue.contents())


def test_model_keeps_start_order_and_arrival_order() -> None:
    queue = Model()
    for start, name in ((2.0, "c"), (1, "a"), (2, "d"), (1, "b"), (0, "z")):
        queue.enqueue(start, name)
    assert list(queue.contents()) == [(0, "z"), (1, "a"), (1, "b"), (2.0, "c"), (2, "d")]


def test_model_puts_each_left_over_in_front_of_what_is_not_earlier() -> None:
    queue = Model()
    for start in (3.0, 4.0, 4.0, 5.0):
        queue.enqueue(start, "old")
    batch = queue.take(5)
    for start in (3.5, 4.0, 2.0, 6.0):
        queue.enqueue(start, "new")
    assert (queue.requeue(batch), queue.merged) == (4, 4)
    starts = [(2, "new"), (3, "old"), (3.5, "new"), (4, "old"), (4, "old"), (4, "new"), (5, "old"), (6, "new")]
    assert all_of(queue) == starts


def test_model_relinks_without_merging_when_nothing_is_late() -> None:
    queue = Model()
    queue.enqueue(1, "old")
    batch = queue.take(1)
    queue.enqueue(1, "new")
    assert (queue.requeue(batch), queue.requeue(batch), queue.merged) == (1, 0, 0)
    assert all_of(queue) == [(1, "old"), (1, "new")]


def test_model_keeps_the_message_of_a_handler_that_raises() -> None:
    queue = Model()
    queue.enqueue(1, "a")
    queue.enqueue(2, "b")
    batch = queue.take(2)

    def handler(start: int, name: str) -> None:
        if name == "b":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        queue.process(batch, handler)
    assert (queue.requeue(batch), all_of(queue)) == (1, [(2, "b")])


def test_model_cancels_in_running_batches_first_and_spares_what_is_handled() -> None:
    queue = Model()
    for name in "abc":
        queue.enqueue(1, name)
    batch = queue.take(1)
    queue.enqueue(1, "queued")
    results: list[Any] = []

    def handler(start: int, name: str) -> None:
        results.append([queue.cancel(1) for _ in range(4)])

    assert queue.cancel(1, lambda name: name == "a") is None
    assert queue.process(batch, handler) == 1
    assert results == [[(1, "b"), (1, "c"), (1, "queued"), None]]
    assert len(queue) == 0


def test_model_counts_a_merge_by_the_start_the_batch_was_cut_with_though_that_message_was_cancelled() -> None:
    queue = Model()
    for start in (1, 2, 9):
        queue.enqueue(start, "old")
    batch = queue.take(9)
    queue.enqueue(5, "new")

    def handler(start: int, name: str) -> None:
        queue.cancel(9)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        queue.process(batch, handler)
    assert batch is not None
    assert (batch.latest, queue.requeue(batch), queue.merged) == (9, 2, 2)
    assert all_of(queue) == [(1, "old"), (2, "old"), (5, "new")]


def test_model_takes_no_more_than_the_limit_and_nothing_early() -> None:
    queue = Model()
    for start in (1, 1, 2, 3):
        queue.enqueue(start)
    first = queue.take(2, 2)
    assert (len(first or ()), len(queue), queue.next_start) == (2, 2, 2)
    assert queue.take(1.9999999) is None
    assert len(queue.take(2) or ()) == 1


def test_model_refuses_before_anything_changes() -> None:
    queue = Model()
    queue.enqueue(1)
    for error, call in (
        (ValueError, lambda: queue.enqueue(float("nan"))),
        (TypeError, lambda: queue.enqueue(None)),
        (ValueError, lambda: queue.take(float("nan"))),
        (ValueError, lambda: queue.take(1, 0)),
        (TypeError, lambda: queue.requeue(5)),
    ):
        with pytest.raises(error):
            call()
        assert all_of(queue) == [(1,)]
