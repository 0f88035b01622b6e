"""The list primitives: what each relink leaves behind, what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from queues.registry import load
from queues.timer.linked_list import Cursor, Fragment, LinkedList
from queues.timer.rules import StopDispatch


def built(*data: object) -> LinkedList:
    chain = LinkedList()
    last = chain.cursor()
    for item in data:
        last.append(item)
    return chain


def at(chain: LinkedList, steps: int) -> Cursor:
    """A cursor on the node `steps` after the anchor."""
    cursor = chain.cursor()
    for _ in range(steps):
        assert cursor.advance()
    return cursor


def held(fragment: Fragment) -> list[Any]:
    """What a fragment holds, without consuming it."""
    found = []
    node = fragment.node
    while node is not None:
        found.append(node.data)
        node = node.next
    return found


class Token:
    """Something a weak reference can be made of."""


@pytest.fixture
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_a_new_list_is_empty_and_its_cursor_has_nothing_next() -> None:
    chain = built()
    assert list(chain) == []
    assert chain.cursor().next_data() is None
    assert not chain.cursor().advance()
    assert len(list(chain.nodes())) == 1


def test_append_puts_after_the_cursor_in_front_of_what_follows_and_steps_onto_it() -> None:
    chain = built(1, 3)
    cursor = at(chain, 1)
    cursor.append(2)
    assert list(chain) == [1, 2, 3]
    assert cursor.next_data() == 3
    cursor.append("2b")
    assert list(chain) == [1, 2, "2b", 3]


def test_a_copy_moves_on_its_own() -> None:
    chain = built(1, 2)
    first = chain.cursor()
    second = first.copy()
    assert second.advance()
    assert (first.next_data(), second.next_data()) == (1, 2)


def test_advance_stays_on_the_last_node() -> None:
    cursor = at(built(1), 1)
    node = cursor.node
    assert not cursor.advance()
    assert cursor.node is node


def test_remove_next_takes_out_one_node_anywhere() -> None:
    chain = built(1, 2, 3)
    assert at(chain, 1).remove_next() == 2
    assert at(chain, 1).remove_next() == 3
    assert chain.cursor().remove_next() == 1
    assert list(chain) == []
    with pytest.raises(ValueError, match="stands on the last node"):
        chain.cursor().remove_next()


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_both_cuts_take_the_same_nodes_and_join_the_sides(before: int, count: int) -> None:
    by_count = built(*range(6))
    by_cursor = built(*range(6))
    stop = at(by_cursor, before + count)
    pieces = at(by_count, before).detach(count), at(by_cursor, before).detach_through(stop)
    rest = [*range(before), *range(before + count, 6)]
    for chain, fragment in zip((by_count, by_cursor), pieces, strict=True):
        assert list(chain) == rest
        assert held(fragment) == list(range(before, before + count))
    assert stop.next_data() is None
    assert stop.node is pieces[1].tail().node


@pytest.mark.parametrize("count", [0, -1, 4])
def test_detach_of_too_few_or_too_many_changes_nothing(count: int) -> None:
    chain = built(1, 2, 3)
    with pytest.raises(ValueError, match=f"count is {count}"):
        chain.cursor().detach(count)
    assert list(chain) == [1, 2, 3]


def test_detach_through_refuses_a_cursor_of_another_list() -> None:
    chain, other = built(1, 2), built(1, 2)
    with pytest.raises(ValueError, match="another list"):
        chain.cursor().detach_through(at(other, 1))
    assert (list(chain), list(other)) == ([1, 2], [1, 2])


def test_detach_through_refuses_to_cut_nothing() -> None:
    chain = built(1, 2)
    for here in (chain.cursor(), at(chain, 1), at(chain, 2)):
        with pytest.raises(ValueError, match="nothing lies between"):
            here.detach_through(here.copy())
    with pytest.raises(ValueError, match="nothing lies between"):
        at(chain, 2).detach_through(at(chain, 1))  # nothing follows, so stop cannot stand after it
    assert list(chain) == [1, 2]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_append_to_puts_back_after_the_cursor_in_front_of_what_follows(known: bool, place: int) -> None:
    chain = built("a", "b", "c", "x", "y")
    fragment = chain.cursor().detach(3)
    tail = fragment.tail()
    back = fragment.append_to(at(chain, place), tail if known else None)
    rest: list[object] = ["x", "y"]
    assert list(chain) == rest[:place] + ["a", "b", "c"] + rest[place:]
    assert back.node is tail.node
    assert (back is tail) == known
    assert not fragment


def test_append_to_into_an_empty_list_returns_the_place_to_append_at() -> None:
    chain = built(1, 2)
    last = chain.cursor().detach(2).append_to(chain.cursor())
    last.append(3)
    assert list(chain) == [1, 2, 3]


def test_a_fragment_is_emptied_by_append_to_and_a_second_use_says_so() -> None:
    chain = built(1, 2)
    fragment = chain.cursor().detach(1)
    tail = fragment.append_to(chain.cursor())
    with pytest.raises(ValueError, match="fragment is empty"):
        fragment.append_to(chain.cursor())
    with pytest.raises(ValueError, match="fragment is empty"):
        fragment.append_to(chain.cursor(), tail)
    with pytest.raises(ValueError, match="fragment is empty"):
        fragment.tail()
    assert fragment.consume(print) == 0
    assert list(chain) == [1, 2]


@pytest.mark.parametrize("wrong", ["cursor of another list", "tail of another list", "tail that has a successor"])
def test_append_to_refuses_what_can_be_checked_in_constant_time_and_changes_nothing(wrong: str) -> None:
    chain, other = built(1, 2, 3), built(1, 2, 3)
    fragment = chain.cursor().detach(2)
    cursor, tail = chain.cursor(), fragment.tail()
    if wrong == "cursor of another list":
        cursor = other.cursor()
    elif wrong == "tail of another list":
        tail = at(other, 3)
    else:
        assert fragment.node is not None
        tail = Cursor(fragment.node, fragment.mark)
    with pytest.raises(ValueError, match=r"another list|has a node after it"):
        fragment.append_to(cursor, tail)
    assert (list(chain), held(fragment), list(other)) == ([3], [1, 2], [1, 2, 3])


def test_consume_hands_over_in_order_and_counts() -> None:
    seen: list[object] = []
    fragment = built(1, 2, 3).cursor().detach(3)
    assert fragment.consume(seen.append) == 3
    assert seen == [1, 2, 3]
    assert not fragment


@pytest.mark.parametrize("failure", [StopDispatch, KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("stop", [1, 2, 3])
def test_consume_stands_on_the_first_node_not_dispatched_when_the_handler_raises(
    failure: type[BaseException], stop: int
) -> None:
    fragment = built(1, 2, 3).cursor().detach(3)

    def handler(data: int) -> None:
        if data == stop:
            raise failure

    if failure is StopDispatch:
        assert fragment.consume(handler) == stop - 1
    else:
        with pytest.raises(failure):
            fragment.consume(handler)
    assert held(fragment) == list(range(stop, 4))


@pytest.mark.usefixtures("_no_collector")
def test_consume_releases_a_node_before_the_next_call() -> None:
    chain = built(*(Token() for _ in range(3)))
    known = [weakref.ref(data) for data in chain]
    fragment = chain.cursor().detach(3)
    alive = []

    def handler(data: Token) -> None:
        alive.append([token() is not None for token in known])

    fragment.consume(handler)
    assert alive == [[True, True, True], [False, True, True], [False, False, True]]
    assert [token() for token in known] == [None, None, None]


def test_consume_sees_that_the_handler_removed_the_next_node() -> None:
    chain = built(1, 2, 3)
    fragment = chain.cursor().detach(3)
    seen = []

    def handler(data: int) -> None:
        seen.append(data)
        if data == 1:
            assert fragment.node is not None
            Cursor(fragment.node, fragment.mark).remove_next()

    assert fragment.consume(handler) == 2
    assert seen == [1, 3]


@pytest.mark.usefixtures("_no_collector")
def test_cursors_and_fragments_do_not_keep_the_list_alive() -> None:
    chain = built(Token(), Token(), Token())
    known = [weakref.ref(data) for data in chain]
    stop = at(chain, 1)
    fragment = chain.cursor().detach_through(stop)
    del chain
    assert [token() is not None for token in known] == [True, False, False]
    del fragment, stop
    assert known[0]() is None


def test_a_long_list_and_a_long_fragment_are_let_go_without_deep_recursion() -> None:
    chain = built(*range(300_000))
    fragment = chain.cursor().detach(150_000)
    del fragment
    assert sum(1 for _ in chain) == 150_000
    del chain


@pytest.mark.parametrize("name", ["linked", "linked-known-tail"])
@pytest.mark.parametrize(("queued", "part"), [(0, 1), (5, 1), (5, 5), (0, 4), (100, 7)])
def test_primitives_put_back_what_they_cut_and_their_check_can_fail(name: str, queued: int, part: int) -> None:
    detach, reattach, check = load("timer", name).primitives(queued=queued, part=part)
    check()
    for _ in range(3):
        fragment = detach()
        assert [start for start, _ in held(fragment)] == list(range(part))
        found = [float(start) for start in range(part, part + queued)]
        with pytest.raises(AssertionError) as raised:
            check()
        assert str(raised.value) == (
            f"the list is not whole and in order: expected 0 to {queued + part - 1}, found {found}"
        )
        reattach(fragment)
        check()


def lines_of(call: Callable[[], Any]) -> tuple[int, Any]:
    """How many lines of Python `call()` executes, and what it returns."""
    lines = 0

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        result = call()
    finally:
        sys.settrace(before)
    return lines, result


def relink_lines(name: str, part: int) -> tuple[int, int]:
    """The lines that a detach and a reattach of `part` nodes execute."""
    detach, reattach, _ = load("timer", name).primitives(queued=10, part=part)
    cut, fragment = lines_of(detach)
    back, _ = lines_of(lambda: reattach(fragment))
    return cut, back


def test_known_tail_relinks_do_the_same_work_for_every_size() -> None:
    assert relink_lines("linked-known-tail", 10) == relink_lines("linked-known-tail", 1_000)


def test_counted_relinks_walk() -> None:
    for small, large in zip(relink_lines("linked", 10), relink_lines("linked", 1_000), strict=True):
        assert large > small + 900


def test_requeue_with_a_known_tail_does_the_same_work_for_every_size() -> None:
    work = set()
    for due, queued in ((1, 1), (10, 1_000), (1_000, 10), (1_000, 0), (1, 0)):
        queue = load("timer", "linked-known-tail")()
        for start in range(due + queued):
            queue.enqueue(start)
        batch = queue.take(now=due - 1)
        lines, back = lines_of(lambda: queue.requeue(batch))  # noqa: B023 - called at once
        assert back == due
        work.add((queued > 0, lines))
    assert len(work) == 2, work
