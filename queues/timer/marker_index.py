"""Markers on the last node of each span of a linked list, and an index over them that can be cut and joined.

Idea        A marker says for one tick (queues.timer.ticks) which node is the last one in it and how many there are. The
            markers stand in tick order in groups of about LOAD, and for each group the index keeps its last tick and
            its number of messages: two binary searches find a marker, and a prefix of groups can be handed over.
Source      The documents behind the timer example of LinkedList::Single name markers "per second or minute" and did not
            build them; groups with their ends beside them are what sortedcontainers does.
Cost        of n messages in m spans, g = m / LOAD groups:
            find            O(log m)
            append          O(1) amortised
            insert, remove  O(LOAD), and a block move of g pointers when a group is made or goes
            cut, join       O(LOAD), and a block move of g pointers
            count_before    O(LOAD + g), a sum
Invariants  Ticks rise from marker to marker. No group is empty or longer than twice the load. `ends` and `counts` have
            the last tick and the number of messages of each group. Every marker counts at least one message.
Weakness    The sum over groups and their block moves grow with the spans, if only by one step for LOAD of them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from operator import attrgetter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from queues.timer.linked_list import Node

LOAD = 128
TICK = attrgetter("tick")


class Marker:
    """Stands on `last`, the last node of the span `tick`, of which there are `count`."""

    __slots__ = ("count", "last", "tick")

    def __init__(self, tick: int, last: Node, count: int) -> None:
        self.tick = tick
        self.last = last
        self.count = count


class MarkerIndex:
    """Markers in tick order. A place in it is a pair: the number of a group, and an index in that group.

    >>> index = MarkerIndex(Marker(tick, None, 1) for tick in (1, 3, 5))
    >>> index.find(3), index.find(4), index.find(6)
    ((0, 1), (0, 2), (1, 0))
    >>> piece = index.cut(0, 2)
    >>> [marker.tick for marker in piece], [marker.tick for marker in index]
    ([1, 3], [5])
    """

    __slots__ = ("counts", "ends", "groups")

    def __init__(self, markers: Iterable[Marker] = ()) -> None:
        self.groups: list[list[Marker]] = []
        self.ends: list[int] = []
        self.counts: list[int] = []
        for marker in markers:
            self.append(marker)

    def __iter__(self) -> Iterator[Marker]:
        for group in self.groups:
            yield from group

    def find(self, tick: int) -> tuple[int, int]:
        """The place of the first marker that is not before `tick`. O(log m)."""
        number = bisect_left(self.ends, tick)
        if number == len(self.ends):
            return number, 0
        return number, bisect_left(self.groups[number], tick, key=TICK)

    def at(self, number: int, place: int) -> Marker | None:
        """The marker at a place, None at the end."""
        return self.groups[number][place] if number < len(self.groups) else None

    def before(self, number: int, place: int) -> Marker | None:
        """The marker in front of a place, None at the front."""
        if place:
            return self.groups[number][place - 1]
        return self.groups[number - 1][-1] if number else None

    def append(self, marker: Marker) -> None:
        """Put a marker behind all others. O(1) amortised."""
        if self.groups and len(self.groups[-1]) < LOAD:
            self.groups[-1].append(marker)
            self.ends[-1] = marker.tick
            self.counts[-1] += marker.count
        else:
            self.groups.append([marker])
            self.ends.append(marker.tick)
            self.counts.append(marker.count)

    def extend_last(self, node: Node) -> None:
        """Move the last marker on to `node`, the next one of its span. O(1)."""
        marker = self.groups[-1][-1]
        marker.last = node
        marker.count += 1
        self.counts[-1] += 1

    def insert(self, number: int, place: int, marker: Marker) -> None:
        """Put a marker in front of the one at a place that `find` has named. O(LOAD)."""
        if number == len(self.groups):
            self.append(marker)
            return
        group = self.groups[number]
        group.insert(place, marker)
        self.counts[number] += marker.count
        if len(group) > LOAD + LOAD:
            front = group[:LOAD]
            del group[:LOAD]
            count = total(front)
            self.groups.insert(number, front)
            self.ends.insert(number, front[-1].tick)
            self.counts.insert(number, count)
            self.counts[number + 1] -= count

    def remove(self, number: int, place: int) -> None:
        """Take a marker out that counts no message any more. O(LOAD)."""
        group = self.groups[number]
        del group[place]
        if group:
            self.ends[number] = group[-1].tick
        else:
            del self.groups[number], self.ends[number], self.counts[number]

    def pass_one(self) -> None:
        """One message fewer in the first marker, which goes when that was the last. O(1), and a short block move."""
        first = self.groups[0][0]
        first.count -= 1
        self.counts[0] -= 1
        if not first.count:
            self.remove(0, 0)

    def locate(self, most: int) -> tuple[int, int, int]:
        """The place behind the markers that the first `most` messages fill, and how many of the marker there it takes.

        O(groups + LOAD). There are more than `most` messages.
        """
        number = 0
        while self.counts[number] <= most:
            most -= self.counts[number]
            number += 1
        place = 0
        while self.groups[number][place].count <= most:
            most -= self.groups[number][place].count
            place += 1
        return number, place, most

    def count_before(self, number: int, place: int) -> int:
        """How many messages the markers in front of a place have. O(LOAD), and a sum over groups."""
        count = sum(self.counts[:number])
        return count + total(self.groups[number][:place]) if place else count

    def cut(
        self,
        number: int,
        place: int,
        inside: int = 0,  # pragma: no mutate: not looked at without `stop`
        stop: Node | None = None,
    ) -> MarkerIndex:
        """Take out what is in front of a place and return it. O(LOAD), and a block move of one pointer a group.

        Of the marker at the place `inside` messages go as well, the last of them being `stop`: it is made two.
        """
        piece = MarkerIndex()
        for mine, cut in ((self.groups, piece.groups), (self.ends, piece.ends), (self.counts, piece.counts)):
            cut += mine[:number]  # type: ignore[operator]
            del mine[:number]
        if place:
            group = self.groups[0]
            front = group[:place]
            count = total(front)
            piece.groups.append(front)
            piece.ends.append(front[-1].tick)
            piece.counts.append(count)
            if place == len(group):
                del self.groups[0], self.ends[0], self.counts[0]
            else:
                del group[:place]
                self.counts[0] -= count
        if inside and stop is not None:
            parted = self.groups[0][0]
            parted.count -= inside
            self.counts[0] -= inside
            piece.append(Marker(parted.tick, stop, inside))
        return piece

    def put_in_front(self, piece: MarkerIndex) -> None:
        """Take in what `cut` gave, or what is left of it; a marker of the same tick joins ours. O(LOAD), as `cut`."""
        if self.groups and piece.ends[-1] == self.groups[0][0].tick:
            shared = piece.groups[-1][-1].count
            self.groups[0][0].count += shared
            self.counts[0] += shared
            piece.counts[-1] -= shared
            piece.remove(len(piece.groups) - 1, len(piece.groups[-1]) - 1)
        if self.groups and piece.groups and len(piece.groups[-1]) + len(self.groups[0]) <= LOAD:
            self.groups[0][:0] = piece.groups.pop()
            self.counts[0] += piece.counts.pop()
            piece.ends.pop()
        self.groups[:0] = piece.groups
        self.ends[:0] = piece.ends
        self.counts[:0] = piece.counts

    def objects(self) -> Iterator[object]:
        """Itself, its lists, its groups, its markers."""
        yield self
        yield self.groups
        yield self.ends
        yield self.counts
        yield from self.groups
        yield from self


def total(markers: list[Marker]) -> int:
    """How many messages some markers have."""
    return sum([marker.count for marker in markers])


def check_index(index: MarkerIndex, nodes: list[Node], tick_of: Callable[[Any], int]) -> list[str]:
    """What is wrong with an index over `nodes`, the whole chain in its order. O(nodes)."""
    groups = index.groups
    markers = list(index)
    wrong = []
    if not all(earlier.tick < later.tick for earlier, later in pairwise(markers)):
        wrong.append("markers are out of order")
    if not all(0 < len(group) <= LOAD + LOAD for group in groups):
        wrong.append("a group is empty or too long")
    elif index.ends != [group[-1].tick for group in groups]:
        wrong.append("an end is not the last tick of its group")
    if index.counts != [total(group) for group in groups]:
        wrong.append("a group's count is wrong")
    spans = runs(nodes, tick_of)
    if [marker.tick for marker in markers] != [tick for tick, _, _ in spans]:
        wrong.append("the markers are not those of the spans")
        return wrong
    if [marker.last for marker in markers] != [last for _, last, _ in spans]:
        wrong.append("a marker is not on the last node of its span")
    if [marker.count for marker in markers] != [count for _, _, count in spans]:
        wrong.append("a marker's count is wrong")
    return wrong


def runs(nodes: list[Node], tick_of: Callable[[Any], int]) -> list[tuple[int, Node, int]]:
    """The spans along a chain: the tick of each, its last node, and how many it has. O(nodes)."""
    found: list[tuple[int, Node, int]] = []
    for node in nodes:
        tick = tick_of(node.data[0])
        if found and found[-1][0] == tick:
            found[-1] = (tick, node, found[-1][2] + 1)
        else:
            found.append((tick, node, 1))
    return found
