"""What is walked, linked and merged behind the markers, to the message."""

from __future__ import annotations

from functools import partial

import pytest

from queues.timer.linked_list import LinkedList, Node
from queues.timer.marker_chain import merge
from queues.timer.marker_index import Marker, MarkerIndex, check_index
from queues.timer.rules import StopDispatch
from queues.timer.ticks import LIMIT
from tests.queues import test_markers
from tests.queues.test_markers import starts_of as starts_of

INFINITY = float("inf")
filled = partial(test_markers.filled, span=1)  # whole spans, whose ends are exact


def spans_of(index: MarkerIndex) -> list[tuple[int, int]]:
    """The span of each marker, 0 for the one from 0, and how many it counts."""
    return [(marker.tick - LIMIT, marker.count) for marker in index]


# Merging two chains


def chain_of(*items: tuple[float, str]) -> tuple[Node, MarkerIndex]:
    """The anchor of a chain, and an index over it with a marker for each whole number."""
    chain = LinkedList()
    last = chain.cursor()
    index = MarkerIndex()
    for item in items:
        last.append(item)
        if index.ends and index.ends[-1] == item[0] // 1:
            index.extend_last(last.node)
        else:
            index.append(Marker(int(item[0] // 1), last.node, 1))
    return next(chain.nodes()), index


def merged(ours: str, late: str, behind: str = "") -> tuple[str, int]:
    """What comes of merging two chains, and how many late ones were passed; `behind` follows the late chain."""
    rows = [[(int(word[:-1]) / 10, word) for word in row.split()] for row in (ours, late, behind)]
    front, markers = chain_of(*rows[0])
    origin, _ = chain_of(*rows[1], *rows[2])
    _, shorter = chain_of(*rows[1])
    for marker, known in zip(shorter, chain_index(origin, len(rows[1])), strict=True):
        marker.last = known
    found, passed = merge(origin, front.next, markers, shorter)
    nodes = []
    node = origin.next
    while node is not None:
        nodes.append(node)
        node = node.next
    assert check_index(found, nodes[: len(rows[0]) + len(rows[1])], lambda start: int(start // 1)) == []
    return " ".join(node.data[1] for node in nodes), passed


def chain_index(origin: Node, count: int) -> list[Node]:
    """The last node of each whole number among the first `count` behind `origin`."""
    ends: dict[int, Node] = {}
    node = origin
    for _ in range(count):
        assert node.next is not None
        node = node.next
        ends[int(node.data[0] // 1)] = node
    return list(ends.values())


@pytest.mark.parametrize(
    ("ours", "late", "behind", "expected", "passed"),
    [
        ("", "", "", "", 0),
        ("", "", "90z", "90z", 0),
        ("10a 15b", "", "90z", "10a 15b 90z", 0),
        ("", "10x 15y", "90z", "10x 15y 90z", 0),
        ("10a 30b", "20x 40y", "90z", "10a 20x 30b 40y 90z", 0),  # no span in common: nothing is passed one by one
        ("20a 40b", "10x 30y", "", "10x 20a 30y 40b", 0),
        ("10a 11b", "10x 11y", "", "10a 10x 11b 11y", 1),  # ours first among equals, so one late is passed
        ("15a 17b", "10x 11y 16v 19w", "90z", "10x 11y 15a 16v 17b 19w 90z", 3),
        ("10a 12b", "13x 14y", "", "10a 12b 13x 14y", 0),
        ("13a 14b", "10x 12y", "", "10x 12y 13a 14b", 2),
        ("13a 24b 30c", "11x 12y 21v 22w 23u 40t", "90z", "11x 12y 13a 21v 22w 23u 24b 30c 40t 90z", 5),
        ("11a 21b", "10x 22y", "", "10x 11a 21b 22y", 1),
        ("11a 21b 31c", "22x", "", "11a 21b 22x 31c", 0),
        ("22a", "11x 21y 31z", "", "11x 21y 22a 31z", 1),
    ],
)
def test_chains_are_merged_span_by_span(ours: str, late: str, behind: str, expected: str, passed: int) -> None:
    assert merged(ours, late, behind) == (expected, passed)


def test_a_merge_counts_what_it_puts_back_and_what_it_passes() -> None:
    queue = filled(0.5, 1.5, 2.5, 3.5)
    for late, back, found in (((0.25,), 4, (4, 1)), ((0.125, 2.25), 5, (9, 3))):
        batch = queue.take(9)
        for start in late:
            queue.enqueue(start)
        assert queue.requeue(batch) == back
        assert (queue.merged, queue.walked) == found
    assert starts_of(queue) == [0.125, 0.25, 0.5, 1.5, 2.25, 2.5, 3.5]


def test_a_batch_whose_last_was_cancelled_goes_in_front_of_what_only_that_one_overlapped() -> None:
    """`latest` stays, so the queue merges, and finds that no span is shared."""
    queue = filled(1, 9)
    batch = queue.take(9)
    queue.enqueue(5)

    def handler(start: float) -> None:
        queue.cancel(9)
        raise StopDispatch

    assert queue.process(batch, handler, deadline=INFINITY) == 0
    assert (len(batch), batch.latest) == (1, 9)
    assert queue.requeue(batch) == 1
    assert (starts_of(queue), queue.merged, queue.walked) == ([1, 5], 1, 0)


# Walking


@pytest.mark.parametrize(
    ("start", "walked"),
    [(1.0, 0), (1.2, 1), (1.4, 2), (1.5, 0), (1.6, 0), (1.7, 0), (0.9, 0), (2.0, 1), (1.1, 1), (0, 0)],
)
def test_an_insertion_passes_those_of_its_span_that_start_no_later(start: float, walked: int) -> None:
    queue = filled(0.5, 1.1, 1.3, 1.5, 2.0, 2.5)
    queue.enqueue(start)
    assert queue.walked == walked
    assert starts_of(queue) == sorted([0.5, 1.1, 1.3, 1.5, 2.0, 2.5, start])


@pytest.mark.parametrize(
    ("now", "limit", "taken"),
    [
        (1.4, None, 3),
        (1.3, None, 3),
        (1.25, None, 2),
        (1.5, None, 4),
        (1.9, None, 4),
        (1.09, None, 1),
        (1.4, 2, 2),
        (1.4, 3, 3),
        (1.4, 4, 3),
        (1.4, 1, 1),
        (2.5, 5, 5),
        (2.5, 6, 6),
        (2.5, 7, 6),
        (0.5, 1, 1),
    ],
)
def test_a_cut_ends_at_the_message_whatever_the_span(now: float, limit: int | None, taken: int) -> None:
    starts = [0.5, 1.1, 1.3, 1.5, 2.0, 2.5]
    queue = filled(*starts)
    batch = queue.take(now, limit=limit)
    assert (len(batch), batch.latest, batch.tail.node.data) == (taken, starts[taken - 1], (starts[taken - 1],))
    assert starts_of(queue) == starts[taken:]
    assert sum(count for _, count in spans_of(batch.markers)) == taken
    queue.requeue(batch)
    assert starts_of(queue) == starts
    assert spans_of(queue._index) == [(0, 1), (1, 3), (2, 2)]
    assert (queue.walked, queue.merged) == (0, 0)


def test_what_cancel_passes_is_counted_in_a_running_batch_and_in_the_queue() -> None:
    queue = filled(0.5, 1.1, 1.3, 1.5, 1.9, 2.5, 2.7)
    walked = []

    def handler(start: float) -> None:
        if start == 0.5:
            for cancelled in (1.5, 1.4, 2.7, 7):
                queue.cancel(cancelled)
                queue.check()
                walked.append(queue.walked)

    queue.process(queue.take(1.9), handler, deadline=INFINITY)
    assert walked == [2, 4, 5, 5]  # 1.1 and 1.3 twice, then 2.5, then none: there is no such span
