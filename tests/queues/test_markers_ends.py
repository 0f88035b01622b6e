"""What the queue with markers remembers of its end and of its batches, and what it lets go."""

from __future__ import annotations

from typing import Any

import pytest

from queues.timer.markers import Markers
from queues.timer.rules import StopDispatch
from tests.queues.test_markers_chain import filled, spans_of, starts_of

INFINITY = float("inf")


# The end


def test_a_span_is_a_second_unless_it_is_said() -> None:
    queue: Any = Markers()
    for start in (0, 0.5, 1, 1.5, 2):
        queue.enqueue(start)
    assert spans_of(queue._index) == [(0, 2), (1, 2), (2, 1)]


def test_in_a_span_that_has_two_no_tick_is_looked_up_for_those_that_follow() -> None:
    queue = filled(0, 0.25)
    tick_of = queue._tick_of
    asked: list[float] = []

    def watched(start: float) -> Any:
        asked.append(start)
        return tick_of(start)

    queue._tick_of = watched
    for start in (0.25, 0.5, 0.75, 0.875):
        queue.enqueue(start)
    assert asked == []
    for start in (1, 1.25, 1.5):  # the one that begins a span, and the second, which finds out where it ends
        queue.enqueue(start)
    assert asked == [1, 1.25]
    assert spans_of(queue._index) == [(0, 6), (1, 3)]


@pytest.mark.parametrize("span", [60, 0.25])
def test_what_starts_at_the_end_of_a_span_begins_the_next(span: Any) -> None:
    queue = filled(0, span / 2, span, 3 * span / 2, 2 * span, span=span)
    queue.check()
    assert spans_of(queue._index) == [(0, 2), (1, 2), (2, 1)]


def test_the_bound_is_that_of_the_last_span_whatever_was_cancelled_before_it() -> None:
    queue = filled(0.5, 1.25, 1.75)
    queue.cancel(1.25)
    assert queue._bound == 2
    assert starts_of(queue) == [0.5, 1.75]
    queue.enqueue(1.875)
    assert starts_of(queue) == [0.5, 1.75, 1.875]
    queue.cancel(1.875)
    assert queue._bound == -INFINITY
    assert starts_of(queue) == [0.5, 1.75]


def test_the_cursors_that_are_kept_carry_the_mark_of_the_list() -> None:
    queue = filled(0.5, 1.25, 1.75)
    mark = queue._list.mark
    for change, start in ((queue.cancel, 1.75), (queue.enqueue, 2), (queue.take, 9)):
        change(start)
        assert (queue._last.mark is mark, queue._anchor.mark is mark) == (True, True)


# Batches


def test_a_batch_that_is_used_up_or_put_back_holds_nothing() -> None:
    queue = filled(0.5, 1.5, 2.5)
    used, back = queue.take(0.5), queue.take(1.5)
    assert queue.process(used, lambda _: None, deadline=INFINITY) == 1
    assert queue.requeue(back) == 1
    for batch in (used, back):
        assert (batch.fragment.node, batch.tail, len(batch), list(batch.markers)) == (None, None, 0, [])
    assert used.markers is not back.markers


def test_a_batch_keeps_its_tail_as_long_as_it_has_messages() -> None:
    queue = filled(0.5, 0.75, 1.25, 1.5)
    batch = queue.take(1.25)

    def handler(start: float) -> None:
        if start == 0.75:
            raise StopDispatch
        queue.cancel(1.25)
        assert batch.tail.node.data == (0.75,)

    assert queue.process(batch, handler, deadline=INFINITY) == 1
    assert batch.tail.node.data == (0.75,)
    assert batch.tail.mark is queue._list.mark


def test_a_batch_that_has_nothing_left_to_search_does_not_end_the_search() -> None:
    """As what a signal or the collector calls may find it: used up, and still among those being processed."""
    queue = filled(1, 3, 4, 5)
    used, batch = queue.take(1), queue.take(4)
    queue.process(used, lambda _: None, deadline=INFINITY)
    seen: list[Any] = []

    def handler(start: float) -> None:
        queue._active.insert(0, used)
        seen.extend(queue.cancel(cancelled) for cancelled in (4, 5, 6))
        queue._active.remove(used)

    assert queue.process(batch, handler, deadline=INFINITY) == 1
    assert seen == [(4,), (5,), None]
    assert len(queue) == 0
    queue.check()


# Its check


def test_check_tells_what_is_wrong_with_the_queue_while_a_batch_is_fine() -> None:
    queue = filled(1, 2, 3)

    def handler(start: float) -> None:
        queue._count = 7
        queue._latest = 2
        queue.check()

    with pytest.raises(AssertionError) as raised:
        queue.process(queue.take(1), handler, deadline=INFINITY)
    assert str(raised.value) == (
        "the anchor or the count is wrong; the end is not remembered right: count 7, latest 2, bound -inf, "
        "1 being processed, merged 0, walked 0, starts [2, 3]"
    )
