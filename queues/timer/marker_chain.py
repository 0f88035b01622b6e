"""What queues.timer.markers does with nodes and their markers together: search, remove, and merge two chains.

Idea        A place in a chain is the node in front of it. The marker before a span says where the span begins, so no
            search leaves its span, and a span that only one of two chains has is merged by linking it whole.
Source      Two ordered runs are merged span by span as a merge sort does item by item.
Cost        due_end, find   O(log m + messages in the span); limit_end O(groups of markers + messages in the span)
            remove_next     O(log m), and a short block move when the marker goes
            merge           O(spans of both + messages in the spans that both have)
Invariants  Chain and index agree again when a function returns; between the two they do not.
Weakness    None of it can tell an index that belongs to another chain.
"""

from __future__ import annotations

from queues.timer.marker_index import Marker, MarkerIndex

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from queues.timer.linked_list import Node


def walk(place: Node, start: Any) -> tuple[Node, int]:
    """The last node from `place` on that starts no later than `start`, and how many nodes behind `place` it is."""
    passed = 0
    while (following := place.next) is not None and following.data[0] <= start:
        place = following
        passed += 1
    return place, passed


def node_before(index: MarkerIndex, origin: Node, number: int, place: int) -> Node:
    """The last node in front of a place in the index; `origin`, which the chain begins behind, when there is none."""
    marker = index.before(number, place)
    return origin if marker is None else marker.last


def due_end(index: MarkerIndex, origin: Node, tick: int, now: Any) -> tuple[int, int, int, Node]:
    """The place behind the markers that are wholly due, how many nodes more are due, and the last due node.

    `now` lies in the span `tick`; that span alone may have to be walked.
    """
    number, place = index.find(tick)
    marker = index.at(number, place)
    if marker is not None and marker.tick == tick and marker.last.data[0] <= now:
        return number, place + 1, 0, marker.last
    stop, inside = node_before(index, origin, number, place), 0
    if marker is not None and marker.tick == tick:
        stop, inside = walk(stop, now)
    return number, place, inside, stop


def limit_end(index: MarkerIndex, origin: Node, most: int) -> tuple[int, int, int, Node]:
    """The same for the first `most` messages; there are more than that. Walks within the span that they end in."""
    number, place, inside = index.locate(most)
    stop = node_before(index, origin, number, place)
    for _ in range(inside):
        stop = stop.next  # type: ignore[assignment]
    return number, place, inside, stop


def find(
    index: MarkerIndex, origin: Node, tick: int, start: Any, match: Callable[..., object] | None
) -> tuple[Node | None, int]:
    """The node in front of the first message at `start` that matches, or None; and how many were passed over.

    `start` lies in the span `tick`, and the chain begins behind `origin`.
    """
    number, at = index.find(tick)
    marker = index.at(number, at)
    if marker is None or marker.tick != tick:
        return None, 0
    place = node_before(index, origin, number, at)
    passed = 0
    while (following := place.next) is not None and following.data[0] <= start:
        if following.data[0] == start and (match is None or match(*following.data[1:])):
            return place, passed
        place = following
        passed += 1
    return None, passed


def remove_next(index: MarkerIndex, place: Node, tick: int) -> tuple[Any, ...]:
    """Take the node after `place`, which lies in the span `tick`, out of its chain and off its marker; its message."""
    number, at = index.find(tick)
    marker = index.groups[number][at]
    gone: Any = place.next
    place.next = gone.next
    marker.count -= 1
    index.counts[number] -= 1
    if not marker.count:
        index.remove(number, at)
    elif marker.last is gone:
        marker.last = place
    item: tuple[Any, ...] = gone.data
    return item


def merge(origin: Node, node: Node | None, markers: MarkerIndex, late: MarkerIndex) -> tuple[MarkerIndex, int]:
    """Link the chain at `node` and the late one after `origin` into one after it, the former first among equals.

    `markers` and `late` are their indexes, and are used up; what follows the late chain follows the merged one. Returns
    the index over it, and how many late messages were passed one by one. A span that only one has is linked whole.
    """
    merged = MarkerIndex()
    place = origin
    arrived = origin.next
    coming, following = iter(markers), iter(late)
    ours, theirs = next(coming, None), next(following, None)
    passed = 0
    while ours is not None or theirs is not None:
        if theirs is None or (ours is not None and ours.tick < theirs.tick):
            place.next, node = node, ours.last.next  # type: ignore[union-attr]
            marker, ours = ours, next(coming, None)
        elif ours is None or theirs.tick < ours.tick:
            place.next, arrived = arrived, theirs.last.next
            marker, theirs = theirs, next(following, None)
        else:
            ends = ours.last.next, theirs.last.next
            last, steps = zipped(place, node, ends[0], arrived, ends[1])
            marker = Marker(ours.tick, last, ours.count + theirs.count)
            node, arrived = ends
            passed += steps
            ours, theirs = next(coming, None), next(following, None)
        merged.append(marker)  # type: ignore[arg-type]
        place = marker.last  # type: ignore[union-attr]
    place.next = arrived
    return merged, passed


def zipped(
    place: Node, ours: Node | None, our_end: Node | None, late: Node | None, end: Node | None
) -> tuple[Node, int]:
    """Link two runs of one span after `place`, ours first among equals; return the last node and how many late passed.

    The runs go from `ours` up to `our_end` and from `late` up to `end`, which are not linked.
    """
    passed = 0
    while ours is not our_end or late is not end:
        if late is end or (ours is not our_end and ours.data[0] <= late.data[0]):  # type: ignore[union-attr]
            place.next = ours
            place = ours  # type: ignore[assignment]
            ours = place.next
        else:
            passed += ours is not our_end
            place.next = late
            place = late  # type: ignore[assignment]
            late = place.next
    return place, passed
