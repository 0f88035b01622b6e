"""The linked list with a marker for every span: what is due is cut off without walking past it.

Idea        The ordered list of queues.timer.linked_known_tail, and a marker on the last node of each second, minute or
            other span that has messages. The cut is looked up among the markers; only the span that `now` lies in may
            have to be walked. A batch takes its markers along, so putting it back is two relinks.
Source      The idea that the documents of the timer example of LinkedList::Single name and do not build, with their two
            primitives `detach_through(stop)` and `append_to(cursor, known_tail)`.
Cost        n messages in m spans; for the index see queues.timer.marker_index:
            enqueue         in order O(1), one look-up more where a span begins; else O(log m + messages in its span)
            take            O(log m + due messages in the span of `now`), whatever is due in the spans before; a sum and
                            a block move with one step for 128 spans. A limit walks within the span it ends in
            process         O(1) a message
            requeue         O(1), as the cut; a merge O(spans left and late + messages in the spans they share)
            cancel          O(log m + messages in the span)
            memory          one node and one tuple a message, one marker a span
Invariants  As queues.timer.linked, and the index has one marker for each span that has messages, on its last node and
            with their number. A start from the last one up to `_bound` is in the last span. A batch has an index too.
Weakness    One message a span: then it is an index with a list beside it, and the marker costs as much as the node. All
            in one span: then it is the plain list. What lies beyond 2**50 spans, infinity too, is one span.
"""

from __future__ import annotations

import time
from itertools import pairwise
from weakref import ref

from queues.timer.linked_list import Cursor, LinkedList, Node
from queues.timer.marker_batch import MarkerBatch, check_batch
from queues.timer.marker_chain import due_end, find, limit_end, merge, node_before, remove_next, walk
from queues.timer.marker_index import Marker, MarkerIndex, check_index
from queues.timer.rules import (
    NEGATIVE_INFINITY,
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
    watched,
)
from queues.timer.ticks import end_of, require_span, tick_counter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Markers:
    """A timer queue in a linked list with markers; `queues.contract.TimerQueue` says what each call means.

    `span` is how much time one marker covers, in the clock's unit.

    >>> queue = Markers(span=60)
    >>> for start in (1, 300, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=90)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents()), queue.walked
    ([(300, 'mail')], 0)
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_anchor",
        "_bound",
        "_clock",
        "_count",
        "_index",
        "_last",
        "_latest",
        "_list",
        "_reference",
        "_span",
        "_tick_of",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time, span: Any = 1.0) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        require_span(span, "span")
        self._window = window
        self._clock = clock
        self._span = span
        self._tick_of = tick_counter(span)
        self._list = LinkedList()
        self._anchor = self._list.cursor()
        self._index = MarkerIndex()
        self._count = 0
        self._active: list[MarkerBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0
        self._end_at(self._anchor.node)

    def _end_at(self, node: Node) -> None:
        """Let the list end at `node`, the anchor when it is empty; which span that is in is found out when asked."""
        self._last = Cursor(node, self._anchor.mark)
        self._latest: Any = NEGATIVE_INFINITY if node is self._anchor.node else node.data[0]
        self._bound: Any = NEGATIVE_INFINITY

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1), else O(log m + messages in the span)."""
        try:
            in_order = start >= self._latest
            in_span = in_order and start < self._bound
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        if in_span:
            index = self._index
            index.counts[-1] += 1
            marker = index.groups[-1][-1]
            marker.count += 1
            last = self._last
            last.append((start,) + message)
            marker.last = last.node
            self._latest = start
        elif in_order:
            self._append(start, (start,) + message)
        else:
            require_instant(start)
            self._insert(start, (start,) + message)
        self._count += 1

    def _append(self, start: Any, item: tuple[Any, ...]) -> None:
        """Put a message at the end that may begin a span. Where that ends is found out when it gets a second one."""
        tick = self._tick_of(start)
        index = self._index
        last = self._last
        last.append(item)
        if index.ends and index.ends[-1] == tick:
            index.extend_last(last.node)
            self._bound = end_of(tick, self._span)
        else:
            index.append(Marker(tick, last.node, 1))
            self._bound = NEGATIVE_INFINITY
        self._latest = start

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that starts before the last one, walking within its span only."""
        tick = self._tick_of(start)
        index = self._index
        number, place = index.find(tick)
        marker = index.at(number, place)
        # a cursor for this call alone, so that its mark could be None as well
        cursor = Cursor(node_before(index, self._anchor.node, number, place), self._anchor.mark)
        if marker is None or marker.tick != tick:
            cursor.append(item)
            index.insert(number, place, Marker(tick, cursor.node, 1))
            return
        last = start >= marker.last.data[0]
        cursor.node, passed = (marker.last, 0) if last else walk(cursor.node, start)
        self.walked += passed
        cursor.append(item)
        if last:
            marker.last = cursor.node
        marker.count += 1
        index.counts[number] += 1

    def take(self, now: Any = None, limit: int | None = None) -> MarkerBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(log m + span)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        head = self._anchor.node.next
        if head is None or not head.data[0] <= now:
            return None
        index = self._index
        origin = self._anchor.node
        number, place, inside, stop = due_end(index, origin, self._tick_of(now), now)
        if most and most < index.count_before(number, place) + inside:
            number, place, inside, stop = limit_end(index, origin, most)
        markers = index.cut(number, place, inside, stop)
        tail = Cursor(stop, self._anchor.mark)
        fragment = self._anchor.detach_through(tail)
        left = sum(markers.counts)
        self._count -= left
        if not self._count:
            self._end_at(self._anchor.node)
        return MarkerBatch(self._reference, fragment, tail, left, stop.data[0], markers)

    def process(self, batch: MarkerBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, MarkerBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: MarkerBatch) -> int:
        """Put what is left in front of the queue and return how many. O(1), and the spans involved in a merge."""
        require_batch(batch, MarkerBatch, self)
        left = batch.left
        if not left:
            return 0
        head = self._anchor.node.next
        markers = batch.markers
        if head is not None and batch.latest > head.data[0]:
            # + 1 or more is the same: a span more is linked whole
            late = self._index.cut(*self._index.find(markers.ends[-1] + 1))
            markers, passed = merge(self._anchor.node, batch.fragment.release(), markers, late)
            self.merged += left
            self.walked += passed
        else:
            batch.fragment.append_to(self._anchor, batch.tail)
        end = None if self._index.groups else markers.groups[-1][-1].last
        self._index.put_in_front(markers)
        if end is not None:
            self._end_at(end)
        self._count += left
        batch.empty()
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(log m + span)."""
        require_instant(start)
        match = watched(match, self, self._active)
        tick = self._tick_of(start)
        for batch in self._active:
            handled = batch.fragment.node
            if handled is None:
                continue
            place, passed = find(batch.markers, handled, tick, start, match)
            self.walked += passed
            if place is not None:
                item = remove_next(batch.markers, place, tick)
                batch.left -= 1
                if place.next is None:
                    batch.tail = Cursor(place, self._anchor.mark)
                return item
        place, passed = find(self._index, self._anchor.node, tick, start, match)
        self.walked += passed
        if place is None:
            return None
        item = remove_next(self._index, place, tick)
        self._count -= 1
        if place.next is None:
            self._end_at(place)
        return item

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return self._count

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        head = self._anchor.node.next
        return None if head is None else head.data[0]

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call: changing the queue meanwhile is safe."""
        return iter(list(self._list))

    def container(self) -> Iterator[object]:
        """The queue, its cursors, its list and every node, its index and every marker."""
        yield self
        yield self._active
        yield self._anchor
        yield self._last
        yield self._list
        yield from self._list.nodes()
        yield from self._index.objects()

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        nodes = list(self._list.nodes())
        starts = [node.data[0] for node in nodes[1:]]
        wrong = []
        if nodes[0] is not self._anchor.node or self._count != len(starts):
            wrong.append("the anchor or the count is wrong")
        if not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        if self._last.node is not nodes[-1] or self._latest != (starts[-1] if starts else NEGATIVE_INFINITY):
            wrong.append("the end is not remembered right")
        if self._bound != NEGATIVE_INFINITY and self._bound != end_of(self._tick_of(starts[-1]), self._span):
            wrong.append("the bound is not that of the last span")
        wrong += check_index(self._index, nodes[1:], self._tick_of)
        for batch in self._active:
            wrong += check_batch(batch, self._tick_of)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: count {self._count}, latest {self._latest!r}, bound {self._bound!r}, "
                f"{len(self._active)} being processed, merged {self.merged}, walked {self.walked}, starts {starts}"
            )
