"""The front of the wheel by itself: what it hands over whole, when it closes its gap, and what its check says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.timer.wheel_front import SMALLEST_GAP, WheelFront

INFINITY = float("inf")
GAP, ORDER, EMPTY = "the gap in front is not empty", "the front is out of order", "an empty front keeps a gap"


def front_of(*starts: Any, gap: int = 0) -> WheelFront:
    """A front with a message at each start, behind a gap."""
    front = WheelFront()
    front.items = [None] * gap + [(start, f"at {start}") for start in starts]
    front.head = gap
    return front


def starts_of(front: WheelFront) -> list[Any]:
    assert front.wrong() == []
    assert len(front) == len(front.rest())
    return [item[0] for item in front.rest()]


def test_a_new_front_is_empty_without_a_gap() -> None:
    front = WheelFront()
    assert (front.items, front.head, len(front), front.rest(), front.wrong()) == ([], 0, 0, [], [])


@pytest.mark.parametrize("gap", [0, 1, 7, 1_000])
@pytest.mark.parametrize(("start", "place"), [(0, 0), (1, 1), (1.5, 1), (2, 4), (2.5, 4), (3, 5), (4, 5)])
def test_a_message_is_put_behind_all_that_start_no_later_and_never_into_the_gap(
    start: float, place: int, gap: int
) -> None:
    front = front_of(1, 2, 2, 2, 3, gap=gap)
    front.insert(start, (start, "new"))
    assert front.head == gap
    assert [item[1] == "new" for item in front.rest()].index(True) == place
    assert len(starts_of(front)) == 6


def test_a_list_is_taken_over_by_an_empty_front_and_copied_behind_others() -> None:
    front = WheelFront()
    block: list[Any] = [(1,), (2,)]
    front.extend(block)
    assert front.items is block
    front.extend([(3,), (3,)])
    assert starts_of(front) == [1, 2, 3, 3]


def test_all_that_is_there_leaves_as_the_list_it_is() -> None:
    front = front_of(1, 2, 3)
    items = front.items
    assert front.cut(3, 0) is items
    assert (front.items, front.head) == ([], 0)
    assert front.items is not items


def test_all_that_is_there_leaves_without_its_gap() -> None:
    front = front_of(1, 2, gap=3)
    assert front.cut(9, 2) == [(1, "at 1"), (2, "at 2")]
    assert (front.items, front.head) == ([], 0)


@pytest.mark.parametrize("gap", [0, 5])
@pytest.mark.parametrize(
    ("now", "most", "taken"),
    [(0, 0, 0), (1, 0, 1), (2, 0, 3), (2.5, 0, 3), (3, 0, 4), (2, 1, 1), (2, 3, 3), (2, 4, 3), (9, 4, 4), (9, 5, 4)],
)
def test_a_cut_takes_what_is_due_up_to_the_most(now: float, most: int, taken: int, gap: int) -> None:
    front = front_of(1, 2, 2, 3, gap=gap)
    assert [item[0] for item in front.cut(now, most)] == [1, 2, 2, 3][:taken]
    assert starts_of(front) == [1, 2, 2, 3][taken:]
    assert front.head == (gap + taken if taken < 4 else 0)


@pytest.mark.parametrize(
    ("gap", "left", "closed"),
    [
        (SMALLEST_GAP, 10, False),
        (SMALLEST_GAP + 1, 10, True),
        (SMALLEST_GAP + 1, SMALLEST_GAP, True),
        (SMALLEST_GAP + 1, SMALLEST_GAP + 1, False),
        (SMALLEST_GAP + 1, 5 * SMALLEST_GAP, False),
        (2, 1, False),
    ],
)
def test_the_gap_is_closed_when_it_is_worth_it_and_more_than_half(gap: int, left: int, closed: bool) -> None:
    front = front_of(*range(gap + left))
    assert len(front.cut(gap - 1, 0)) == gap
    assert (front.head, len(front.items)) == ((0, left) if closed else (gap, gap + left))
    assert starts_of(front) == list(range(gap, gap + left))


def test_a_block_is_taken_over_by_an_empty_front() -> None:
    front = WheelFront()
    block: list[Any] = [(1,), (2,)]
    front.put_in_front(block)
    assert front.items is block


@pytest.mark.parametrize("gap", [0, 1, 2, 3, 1_000])
@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ((1, 2), "1b 2b 4 4 5"),
        ((4,), "4b 4 4 5"),
        ((3, 4), "3b 4b 4 4 5"),
        ((3, 5), "3b 4 4 5b 5"),
        ((4, 4.5), "4b 4 4 4.5b 5"),
        ((4, 5, 6), "4b 4 4 5b 5 6b"),
        ((6, 7), "4 4 5 6b 7b"),
    ],
)
def test_a_block_goes_in_front_of_all_that_start_no_earlier(block: tuple[Any, ...], expected: str, gap: int) -> None:
    front = front_of(4, 4, 5, gap=gap)
    front.put_in_front([(start, "back") for start in block])
    starts_of(front)
    assert " ".join(f"{start}{'b' if name == 'back' else ''}" for start, name in front.rest()) == expected
    assert front.head == max(0, gap - len(block))


@pytest.mark.parametrize("gap", [0, 2])
def test_what_is_cancelled_is_the_first_that_matches_and_a_front_without_any_has_no_gap(gap: int) -> None:
    front = front_of(1, 2, 2, gap=gap)
    front.items[-1] = (2, "b")
    assert front.cancel(0, None) == (None, 0)
    assert front.cancel(2, lambda name: name == "c") == (None, 2)
    assert front.cancel(2, lambda name: name == "b") == ((2, "b"), 1)
    assert (starts_of(front), front.head) == ([1, 2], gap)
    assert front.cancel(1, None) == ((1, "at 1"), 0)
    assert (starts_of(front), front.head) == ([2], gap)
    assert front.cancel(2, None) == ((2, "at 2"), 0)
    assert (front.items, front.head) == ([], 0)


def with_head(head: int) -> Callable[[WheelFront], object]:
    return lambda front: setattr(front, "head", head)


DAMAGE: list[tuple[list[str], Callable[[WheelFront], object]]] = [
    ([], lambda front: None),
    ([], lambda front: front.items.append((3, "again"))),
    ([GAP], with_head(3)),
    ([GAP, EMPTY], with_head(6)),
    ([GAP], with_head(-1)),
    ([ORDER], with_head(1)),
    ([ORDER], lambda front: front.items.append(None)),
    ([ORDER], lambda front: front.items.append((1, "late"))),
    ([EMPTY], lambda front: front.items.__delitem__(slice(2, None))),
    ([GAP], lambda front: front.items.__setitem__(1, (0, "kept"))),
]


@pytest.mark.parametrize(("words", "damage"), DAMAGE, ids=[f"{at}" for at in range(len(DAMAGE))])
def test_the_check_of_a_front_says_all_that_is_wrong(words: list[str], damage: Callable[[WheelFront], object]) -> None:
    front = front_of(1, 2, 3, gap=2)
    damage(front)
    assert front.wrong() == words
