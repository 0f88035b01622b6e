"""A singly linked list behind a permanent anchor, with cursors that mark a place and fragments that are cut out.

Idea        A chain of nodes. The first node, the anchor, holds no data and is never removed, so every other node has
            one in front of it. A cursor marks a node and speaks about the nodes after it. Cutting nodes out and
            putting them back are relinks: no node is copied and none behind the cut is touched.
Source      The interface of LinkedList::Single (cursors, `detach`, fragments, `append_to`, `consume`), and the two
            additions proposed for it there: `detach_through(stop)` and `append_to(cursor, known_tail)`.
Cost        copy, advance, append, remove_next          O(1)
            detach(count)                               O(count): walks to the last node of the cut
            detach_through(stop)                        O(1)
            append_to(cursor)                           O(length of the fragment): walks to its last node
            append_to(cursor, known_tail)               O(1)
            consume(handler)                            O(1) a node, released as it is passed
Invariants  The chain from the anchor ends with None and has no cycle. A node is in the list or in one fragment.
            Cursors and fragments carry the mark of their list, not the list: holding one keeps no other node alive
            than those from its own node on.
Weakness    A cursor does not notice that its node was cut out or removed. Whoever cuts puts his stored cursors right.
"""

from __future__ import annotations

from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Node:
    """One link of a chain: `data`, and `next`, the node after it or None. Made by the list and `Cursor.append`."""

    __slots__ = ("data", "next")

    data: Any
    next: Node | None  # without __init__: setting two slots is twice as fast as calling it


class LinkedList:
    """A chain of nodes behind a permanent anchor; empty when made.

    >>> chain = LinkedList()
    >>> last = chain.cursor()
    >>> for word in ("one", "two", "three"):
    ...     last.append(word)
    >>> fragment = chain.cursor().detach(2)
    >>> list(chain)
    ['three']
    >>> tail = fragment.append_to(chain.cursor())
    >>> list(chain), tail.next_data()
    (['one', 'two', 'three'], 'three')
    """

    __slots__ = ("_anchor", "mark")

    def __init__(self) -> None:
        self._anchor = Node()
        self._anchor.data = None
        self._anchor.next = None
        self.mark = object()  # what cursors and fragments know their list by

    def cursor(self) -> Cursor:
        """A new cursor on the anchor. O(1)."""
        return Cursor(self._anchor, self.mark)

    def nodes(self) -> Iterator[Node]:
        """Every node, the anchor first. O(1) a node; changing the list meanwhile is not supported."""
        node: Node | None = self._anchor
        while node is not None:
            yield node
            node = node.next

    def __iter__(self) -> Iterator[Any]:
        """The data of every node, front to back."""
        nodes = self.nodes()
        next(nodes)
        for node in nodes:
            yield node.data


class Cursor:
    """A mark on one node of a list; everything it is asked about lies after that node."""

    __slots__ = ("mark", "node")

    def __init__(self, node: Node, mark: object) -> None:
        self.node = node
        self.mark = mark

    def copy(self) -> Cursor:
        """Another cursor on the same node. O(1)."""
        return Cursor(self.node, self.mark)

    def next_data(self) -> Any:
        """The data of the node after this one, or None at the end. O(1)."""
        following = self.node.next
        return None if following is None else following.data

    def advance(self) -> bool:
        """Step to the next node; False, without a step, at the end. O(1)."""
        following = self.node.next
        if following is None:
            return False
        self.node = following
        return True

    def append(self, data: Any) -> None:
        """Put a new node with `data` after this one, in front of what follows, and step onto it. O(1)."""
        node = Node()
        node.data = data
        here = self.node
        node.next = here.next
        here.next = node
        self.node = node

    def remove_next(self) -> Any:
        """Take the next node out of the chain and return its data. O(1). Raises ValueError at the end.

        Works in a fragment as well. Other cursors on that node are of no use afterwards.
        """
        following = self.node.next
        if following is None:
            raise ValueError("the cursor stands on the last node: expected a node after it to remove")
        self.node.next = following.next
        return following.data

    def detach(self, count: int) -> Fragment:
        """Cut the next `count` nodes out and return them as a fragment. O(count): walks to the last of them.

        Raises ValueError, with the list as it was, when `count` is below 1 or more than there are.
        """
        if count < 1:
            raise ValueError(f"count is {count}: expected at least 1 node to cut out")
        last = self.node
        for passed in range(count):
            following = last.next
            if following is None:
                raise ValueError(f"count is {count}: expected at most {passed}, the nodes after the cursor")
            last = following
        return self._cut(last)

    def detach_through(self, stop: Cursor) -> Fragment:
        """Cut out what lies after this cursor up to and including the node that `stop` stands on. O(1), no walk.

        Afterwards `stop` stands on the last node of the fragment: the known tail for `Fragment.append_to`.
        Raises ValueError, with the list as it was, when `stop` belongs to another list or stands on this very node,
        or when nothing follows. Not checked, because that would take the walk this call saves: that `stop` stands
        somewhere after this cursor.

        >>> chain = LinkedList()
        >>> stop = chain.cursor()
        >>> stop.append(1), stop.append(2), stop.copy().append(3)
        (None, None, None)
        >>> fragment = chain.cursor().detach_through(stop)
        >>> list(chain)
        [3]
        >>> fragment.append_to(chain.cursor(), stop) is stop
        True
        >>> list(chain)
        [1, 2, 3]
        """
        if stop.mark is not self.mark:
            raise ValueError("stop is a cursor of another list: expected one that stands after this cursor")
        if stop.node is self.node or self.node.next is None:
            raise ValueError("nothing lies between this cursor and stop: expected stop to stand after it")
        return self._cut(stop.node)

    def _cut(self, last: Node) -> Fragment:
        """Cut from the next node through `last`, which must lie after this cursor, and join the two sides."""
        here = self.node
        first = here.next
        here.next = last.next
        last.next = None
        return Fragment(first, self.mark)


class Fragment:
    """Nodes cut out of a list: owned by whoever holds the fragment, until it is put back or consumed.

    `node` is the first node left, None once the fragment is empty; `bool()` says whether anything is left.
    """

    __slots__ = ("mark", "node")

    def __init__(self, node: Node | None, mark: object) -> None:
        self.node = node
        self.mark = mark

    def __bool__(self) -> bool:
        return self.node is not None

    def tail(self) -> Cursor:
        """A cursor on the last node. O(length): walks there. Raises ValueError on an empty fragment."""
        node = self._first()
        while (following := node.next) is not None:
            node = following
        return Cursor(node, self.mark)

    def append_to(self, cursor: Cursor, known_tail: Cursor | None = None) -> Cursor:
        """Put the nodes back after `cursor`, in front of what follows it; return a cursor on the last of them.

        Without `known_tail` it walks to the last node, O(length). With it, a cursor that already stands there, O(1),
        and that same cursor is returned. The fragment is empty afterwards.
        Raises ValueError, with everything as it was, on an empty fragment, a cursor of another list, or a known tail
        that has a node after it. Not checked, because that would take the walk this call saves: that the known tail
        is the tail of this fragment and not of another one or of the list, and that `cursor` stands in the list and
        not in the fragment itself.
        """
        first = self._first()
        if cursor.mark is not self.mark:
            raise ValueError("the cursor belongs to another list: expected one of the list the fragment was cut from")
        if known_tail is None:
            known_tail = self.tail()
        elif known_tail.mark is not self.mark:
            raise ValueError("the known tail belongs to another list: expected a cursor on this fragment's last node")
        elif known_tail.node.next is not None:
            raise ValueError("the known tail has a node after it: expected a cursor on the fragment's last node")
        here = cursor.node
        known_tail.node.next = here.next
        here.next = first
        self.node = None
        return known_tail

    def consume(self, handler: Callable[[Any], object]) -> int:
        """Hand each node's data to `handler`, front to back, and return how many were handed over.

        A node is released as it is passed, before the next call. When the handler raises, the fragment stands on the
        node it raised for and the exception reaches the caller; StopDispatch ends it quietly in the same place.
        The handler may remove nodes after its own. An empty fragment hands nothing over.

        >>> chain = LinkedList()
        >>> end = chain.cursor()
        >>> end.append("a"), end.append("b")
        (None, None)
        >>> chain.cursor().detach(2).consume(print)
        a
        b
        2
        """
        done = 0
        try:
            while (node := self.node) is not None:
                handler(node.data)
                self.node = node.next  # asked only now: the handler may have removed the node that was next
                done += 1
        except StopDispatch:
            pass
        return done

    def release(self) -> Node | None:
        """Give the nodes away: return the first, None if there is none, and be empty. O(1)."""
        node = self.node
        self.node = None
        return node

    def _first(self) -> Node:
        """The first node, for calls that need one."""
        if self.node is None:
            raise ValueError("the fragment is empty: its nodes were put back or handed over already")
        return self.node
