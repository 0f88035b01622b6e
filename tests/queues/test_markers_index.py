"""The index of markers by itself: where groups are split and joined, to the marker, and what its check says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.timer.linked_list import LinkedList, Node
from queues.timer.marker_index import LOAD, Marker, MarkerIndex, check_index


def nodes_at(*starts: float) -> list[Node]:
    """The nodes of a chain with a message at each start."""
    chain = LinkedList()
    last = chain.cursor()
    for start in starts:
        last.append((start,))
    return list(chain.nodes())[1:]


def index_of(*counts: int) -> MarkerIndex:
    """An index with a marker at 0, 1, ... of so many messages each."""
    nodes = nodes_at(*range(len(counts)))
    return MarkerIndex(Marker(tick, nodes[tick], count) for tick, count in enumerate(counts))


def shape(index: MarkerIndex) -> tuple[list[list[int]], list[int], list[int]]:
    """The ticks of each group, the ends and the counts."""
    return [[marker.tick for marker in group] for group in index.groups], index.ends, index.counts


def lengths(index: MarkerIndex) -> list[int]:
    """How many markers each group has; ends and counts must be right."""
    assert index.ends == [group[-1].tick for group in index.groups]
    assert index.counts == [sum(marker.count for marker in group) for group in index.groups]
    return [len(group) for group in index.groups]


def test_markers_at_the_end_fill_a_group_to_the_load_and_begin_the_next() -> None:
    assert lengths(index_of(*[1] * LOAD)) == [LOAD]
    assert lengths(index_of(*[2] * (LOAD + 1))) == [LOAD, 1]
    assert lengths(index_of(*[3] * (2 * LOAD + 1))) == [LOAD, LOAD, 1]


def test_a_group_is_split_when_it_is_longer_than_twice_the_load() -> None:
    index = index_of(*[1] * (2 * LOAD + 3))  # three groups, so that no end is the other end too
    for inserted in range(1, LOAD + 1):
        index.insert(1, inserted, Marker(LOAD, nodes_at(0)[0], 2))
    assert lengths(index) == [LOAD, 2 * LOAD, 3]
    index.insert(1, 1, Marker(LOAD, nodes_at(0)[0], 5))
    assert lengths(index) == [LOAD, LOAD, LOAD + 1, 3]
    assert index.counts == [LOAD, 2 * LOAD + 2, LOAD + 3, 3]


def test_a_marker_is_put_behind_all_where_none_follows() -> None:
    index = index_of(1, 2)
    index.insert(*index.find(9), Marker(9, nodes_at(0)[0], 4))
    assert shape(index) == ([[0, 1, 9]], [9], [7])


def test_the_last_marker_moves_on_to_the_next_message_of_its_span() -> None:
    index = index_of(*[2] * (LOAD + 2))
    (node,) = nodes_at(7)
    index.extend_last(node)
    marker = index.groups[1][1]
    assert (marker.last is node, marker.count, index.counts) == (True, 3, [2 * LOAD, 5])


def test_a_marker_that_goes_leaves_the_end_of_its_group_right_and_a_group_goes_with_its_last() -> None:
    index = index_of(1, 1, 1, 1)
    for place, left in ((3, [0, 1, 2]), (0, [1, 2]), (1, [1])):
        marker = index.groups[0][place]
        index.counts[0] -= marker.count
        index.remove(0, place)
        assert shape(index) == ([left], [left[-1]], [len(left)])
    index.remove(0, 0)
    assert shape(index) == ([], [], [])


def test_messages_are_counted_off_the_first_marker_until_it_goes() -> None:
    index = index_of(2, 3, *[1] * LOAD)
    assert lengths(index) == [LOAD, 2]
    found = []
    for _ in range(5):
        index.pass_one()
        found.append((index.groups[0][0].tick, index.groups[0][0].count, index.counts[0]))
    rest = LOAD + 3
    assert found == [
        *((0, 1, rest - 1), (1, 3, rest - 2), (1, 2, rest - 3), (1, 1, rest - 4)),
        (2, 1, rest - 5),
    ]
    assert index.counts[1] == 2


@pytest.mark.parametrize(
    ("most", "place"), [(1, (0, 0, 1)), (2, (0, 1, 0)), (4, (0, 1, 2)), (5, (0, 2, 0)), (6, (0, 3, 0))]
)
def test_a_number_of_messages_ends_in_a_marker_or_behind_one(most: int, place: tuple[int, int, int]) -> None:
    assert index_of(2, 3, 1, 4).locate(most) == place


def test_a_number_of_messages_that_fills_groups_ends_at_the_front_of_the_next() -> None:
    index = index_of(*[2] * (2 * LOAD + 5))
    assert index.locate(2 * LOAD) == (1, 0, 0)
    assert index.locate(4 * LOAD) == (2, 0, 0)
    assert index.locate(4 * LOAD + 3) == (2, 1, 1)
    assert [index.count_before(*place) for place in ((0, 0), (1, 0), (2, 1), (3, 0))] == [
        *(0, 2 * LOAD, 4 * LOAD + 2, 4 * LOAD + 10)
    ]


def test_a_cut_takes_whole_groups_part_of_one_and_part_of_a_marker() -> None:
    index = index_of(*[3] * (LOAD + 4))
    (stop,) = nodes_at(0)
    piece = index.cut(1, 2, 1, stop)
    assert (lengths(piece), lengths(index)) == ([LOAD, 3], [2])
    assert (piece.counts, index.counts) == ([3 * LOAD, 7], [5])
    parted, front = piece.groups[1][2], index.groups[0][0]
    assert (parted.tick, parted.count, parted.last is stop) == (LOAD + 2, 1, True)
    assert (front.tick, front.count) == (LOAD + 2, 2)


def test_a_cut_behind_the_last_of_a_group_takes_the_group() -> None:
    index = index_of(*[1] * (LOAD + 2))
    piece = index.cut(0, LOAD)
    assert (lengths(piece), lengths(index)) == ([LOAD], [2])
    piece = index.cut(0, 2)
    assert (lengths(piece), lengths(index)) == ([2], [])


def test_a_cut_without_a_node_to_end_at_parts_no_marker() -> None:
    index = index_of(3, 3)
    assert (shape(index.cut(0, 1)), shape(index)) == (([[0]], [0], [3]), ([[1]], [1], [3]))


@pytest.mark.parametrize(("size", "groups"), [(LOAD - 1, [LOAD]), (LOAD, [LOAD, 1]), (1, [2]), (LOAD // 2, [65])])
def test_a_piece_joins_the_first_group_up_to_the_load(size: int, groups: list[int]) -> None:
    """The load is 128."""
    index = index_of(*[2] * (size + 1))
    if size == LOAD:
        assert lengths(index) == [LOAD, 1]
    piece = index.cut(*index.find(size))
    index.put_in_front(piece)
    assert lengths(index) == groups
    assert [marker.tick for marker in index] == list(range(size + 1))


def test_a_long_piece_is_put_in_front_as_the_groups_it_has() -> None:
    index = index_of(*[2] * (3 * LOAD))
    piece = index.cut(2, 10)
    assert lengths(piece) == [LOAD, LOAD, 10]
    index.put_in_front(piece)
    assert lengths(index) == [LOAD, LOAD, LOAD]
    assert [marker.tick for marker in index] == list(range(3 * LOAD))


@pytest.mark.parametrize("before", [0, 1, 5, LOAD - 1, LOAD, LOAD + 1])
def test_a_marker_that_was_parted_is_one_again(before: int) -> None:
    index = index_of(*[3] * (before + 3))
    number, place = index.find(before)
    piece = index.cut(number, place, 2, nodes_at(0)[0])
    assert sum(piece.counts) == 3 * before + 2
    index.put_in_front(piece)
    lengths(index)
    assert [(marker.tick, marker.count) for marker in index] == [(tick, 3) for tick in range(before + 3)]


def test_the_objects_of_an_index_are_its_lists_its_groups_and_its_markers() -> None:
    index = index_of(1, 1)
    found = list(index.objects())
    assert [id(part) for part in found] == [
        id(part) for part in (index, index.groups, index.ends, index.counts, index.groups[0], *index.groups[0])
    ]


# What the check says

STARTS = (0.25, 0.5, 1, 2.25, 2.5, 2.75)


def floor_of(start: Any) -> int:
    return int(start // 1)


def sound() -> tuple[MarkerIndex, list[Node]]:
    nodes = nodes_at(*STARTS)
    ends = ((0, 1, 2), (1, 2, 1), (2, 5, 3))
    return MarkerIndex(Marker(tick, nodes[place], count) for tick, place, count in ends), nodes


def twice(index: MarkerIndex) -> None:
    """One marker more, of the span of the last."""
    last = index.groups[0][-1]
    index.append(Marker(last.tick, last.last, 1))


def empty_group(index: MarkerIndex) -> None:
    index.groups.append([])
    index.counts.append(0)


ORDER, SPANS, LENGTH = (
    "markers are out of order",
    "the markers are not those of the spans",
    "a group is empty or too long",
)
END, TOTAL = "an end is not the last tick of its group", "a group's count is wrong"
NODE, COUNT = "a marker is not on the last node of its span", "a marker's count is wrong"
DAMAGE: list[tuple[list[str], Callable[[MarkerIndex, list[Node]], object]]] = [
    ([], lambda index, nodes: None),
    ([ORDER, SPANS], lambda index, nodes: twice(index)),
    ([ORDER, END, SPANS], lambda index, nodes: index.groups[0].reverse()),
    ([LENGTH], lambda index, nodes: empty_group(index)),
    ([END], lambda index, nodes: index.ends.append(3)),
    ([TOTAL], lambda index, nodes: index.counts.append(0)),
    ([TOTAL, COUNT], lambda index, nodes: setattr(index.groups[0][1], "count", 2)),
    ([NODE], lambda index, nodes: setattr(index.groups[0][2], "last", nodes[4])),
    ([SPANS], lambda index, nodes: nodes.extend(nodes_at(3))),
    ([SPANS], lambda index, nodes: nodes.pop(2)),
    ([COUNT], lambda index, nodes: nodes.pop(0)),
    ([NODE, COUNT], lambda index, nodes: nodes.pop()),
]


@pytest.mark.parametrize(("words", "damage"), DAMAGE, ids=[f"{at}" for at in range(len(DAMAGE))])
def test_the_check_of_an_index_says_all_that_is_wrong(
    words: list[str], damage: Callable[[MarkerIndex, list[Node]], object]
) -> None:
    index, nodes = sound()
    damage(index, nodes)
    assert check_index(index, nodes, floor_of) == words


@pytest.mark.parametrize(("size", "words"), [(2 * LOAD, []), (2 * LOAD + 1, [LENGTH])])
def test_a_group_may_be_as_long_as_twice_the_load(size: int, words: list[str]) -> None:
    nodes = nodes_at(*range(size))
    index = MarkerIndex()
    index.groups.append([Marker(tick, node, 1) for tick, node in enumerate(nodes)])
    index.ends.append(size - 1)
    index.counts.append(size)
    assert check_index(index, nodes, floor_of) == words


def test_an_empty_index_over_no_nodes_is_sound() -> None:
    assert check_index(MarkerIndex(), [], floor_of) == []
    assert (MarkerIndex().find(3), MarkerIndex().at(0, 0), MarkerIndex().before(0, 0)) == ((0, 0), None, None)
