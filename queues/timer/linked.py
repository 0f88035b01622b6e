"""The ordered linked list: what is due is cut off the front, and the rest of a batch is linked in front again.

Idea        Nodes in start order behind an anchor, a cursor kept on the last one. A message that starts no earlier than
            the last goes behind it without a search; any other is placed by walking from the front. A batch is a
            fragment of the list, so taking it and putting it back copy nothing.
Source      The timer example of LinkedList::Single as its documents describe it; Varghese and Lauck, "Hashed and
            hierarchical timing wheels" (1987), scheme 2, the ordered timer list.
Cost        enqueue         in order O(1); else O(messages that start no later), a walk from the front
            take            O(due), twice: a walk to find the cut, a walk to make it (`detach(count)`)
            process         O(1) a message
            requeue         O(left in the batch): `append_to` walks to the tail; a merge also walks past late arrivals
            cancel          O(messages that start no later)
            memory          one node and one tuple a message; nothing is kept of what has left
Invariants  Starts never fall from the anchor to the end. The last cursor stands on the last node, on the anchor when
            there is none; `_latest` is the start there, -inf on the anchor. `_count` is the number of nodes.
            A batch holds as many nodes as `left` says. No stored cursor stands on a node that has left.
Weakness    Everything but the in-order enqueue walks, and memory is read node by node.
"""

from __future__ import annotations

import time
from itertools import pairwise
from weakref import ref

from queues.timer.linked_batch import LinkedBatch, check_batch
from queues.timer.linked_list import Cursor, Fragment, LinkedList, Node
from queues.timer.reattach import relink_counted
from queues.timer.rules import (
    NEGATIVE_INFINITY,
    StopDispatch,
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
    watched,
)

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Linked:
    """A timer queue in a linked list; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Linked()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents()), queue.walked
    ([(3, 'mail')], 1)
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_anchor",
        "_clock",
        "_count",
        "_last",
        "_latest",
        "_list",
        "_reference",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._list = LinkedList()
        self._anchor = self._list.cursor()
        self._last = self._anchor.copy()
        self._latest: Any = NEGATIVE_INFINITY
        self._count = 0
        self._active: list[LinkedBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1), else a walk from the front."""
        try:
            in_order = start >= self._latest
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        if in_order:
            self._last.append((start,) + message)
            self._latest = start
        else:
            self._insert(start, (start,) + message)
        self._count += 1

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that starts before the last one, so that the walk ends inside the list."""
        require_instant(start)
        place = self._anchor.node
        passed = 0
        while (following := place.next) is not None and following.data[0] <= start:
            place = following
            passed += 1
        self.walked += passed
        Cursor(place, self._anchor.mark).append(item)  # pragma: no mutate: a cursor for this call; append asks no mark

    def take(self, now: Any = None, limit: int | None = None) -> LinkedBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(due)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        place = self._anchor.node
        count = 0
        try:
            while (following := place.next) is not None and following.data[0] <= now:
                place = following
                count += 1
                if count == most:
                    break
        except (TypeError, ArithmeticError):
            require_instant(now, "now")
            raise
        if not count:
            require_instant(now, "now")
            return None
        fragment, tail = self._cut(count, place)
        self._count -= count
        if self._anchor.node.next is None:
            self._last = self._anchor.copy()
            self._latest = NEGATIVE_INFINITY
        return LinkedBatch(self._reference, fragment, tail, count, place.data[0])

    def _cut(self, count: int, last: Node) -> tuple[Fragment, Cursor | None]:
        """Cut the first `count` nodes, of which `last` is the last; a cursor on it too if the batch should keep one."""
        return self._anchor.detach(count), None

    def process(self, batch: LinkedBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, LinkedBatch, self)
        require_handler(handler)
        clock = self._clock
        deadline = deadline_of(deadline, clock, self._window)

        def dispatch(item: tuple[Any, ...]) -> None:
            if clock() >= deadline:
                raise StopDispatch
            handler(*item)
            batch.left -= 1

        batch.processing = True
        self._active.append(batch)
        try:
            return batch.fragment.consume(dispatch)
        finally:
            self._active.remove(batch)
            batch.processing = False
            if not batch.left:
                batch.tail = None  # it would keep the last message alive

    def requeue(self, batch: LinkedBatch) -> int:
        """Put what is left in front of the queue and return how many. O(left), and the late arrivals of a merge."""
        require_batch(batch, LinkedBatch, self)
        left = batch.left
        if not left:
            return 0
        head = self._anchor.node.next
        if head is None:
            self._last = self._put_back(batch)
            self._latest = self._last.node.data[0]  # not batch.latest, which stays when that message is cancelled
        elif batch.latest <= head.data[0]:
            self._put_back(batch)
        else:
            self._merge(batch)
            self.merged += left
        self._count += left
        batch.left = 0
        batch.tail = None
        return left

    def _put_back(self, batch: LinkedBatch) -> Cursor:
        """Link the whole batch in front and return a cursor on its last node."""
        return batch.fragment.append_to(self._anchor)

    def _merge(self, batch: LinkedBatch) -> None:
        """Link each message of the batch in front of every queued start that is not earlier: one walk for all.

        The batch is in order, so the place of the next one is never before that of the one just placed; going first
        to last with "in front of what is not earlier" gives what the contract's last to first gives.
        """
        place = self._anchor.node
        passed = 0
        node = batch.fragment.release()
        while node is not None:
            start = node.data[0]
            while (following := place.next) is not None and following.data[0] < start:
                place = following
                passed += 1
            left = node.next
            node.next = following
            place.next = node
            place = node
            node = left
        if place.next is None:
            self._last.node = place
            self._latest = place.data[0]
        self.walked += passed

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(messages no later)."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            handled = batch.fragment.node
            place = None if handled is None else self._find(handled, start, match)
            if place is not None:
                item: tuple[Any, ...] = place.remove_next()
                batch.left -= 1
                if batch.tail is not None and place.node.next is None:
                    batch.tail = place
                return item
        place = self._find(self._anchor.node, start, match)
        if place is None:
            return None
        item = place.remove_next()
        self._count -= 1
        if place.node.next is None:
            self._last = place
            self._latest = place.node.data[0] if self._count else NEGATIVE_INFINITY
        return item

    def _find(self, place: Node, start: Any, match: Callable[..., object] | None) -> Cursor | None:
        """A cursor on the node in front of the first message after `place` that matches, or None."""
        while (following := place.next) is not None:
            item = following.data
            if item[0] > start:
                return None
            if item[0] == start and (match is None or match(*item[1:])):
                return Cursor(place, self._anchor.mark)
            place = following
            self.walked += 1
        return None

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
        """The queue, its cursors, its list and every node."""
        yield self
        yield self._active
        yield self._anchor
        yield self._last
        yield self._list
        yield from self._list.nodes()

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        nodes = list(self._list.nodes())
        starts = [node.data[0] for node in nodes[1:]]
        wrong = []
        if nodes[0] is not self._anchor.node:
            wrong.append("the anchor cursor left the anchor")
        if not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        if self._count != len(starts):
            wrong.append("the count is wrong")
        if self._last.node is not nodes[-1]:
            wrong.append("the last cursor is not on the last node")
        if self._latest != (starts[-1] if starts else NEGATIVE_INFINITY):
            wrong.append("latest is not the last start")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: count {self._count}, latest {self._latest!r}, "
                f"{len(self._active)} being processed, merged {self.merged}, walked {self.walked}, starts {starts}"
            )

    primitives = staticmethod(relink_counted)
