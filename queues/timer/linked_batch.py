"""The batch of the linked queues: a fragment of the list, how many messages it holds, and perhaps its tail.

Idea        What is left of the batch is the fragment itself: it stands on the first message not dispatched.
Source      The timer example of LinkedList::Single; `tail` is the proposal in its documents.
Cost        len()           O(1), kept by hand: the fragment would have to walk to count itself
Invariants  The fragment has `left` nodes and starts never fall along it. `tail`, if it has one, is on the last of them.
Weakness    Whoever takes a node out of the fragment has to put `left` and `tail` right.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any
    from weakref import ref

    from queues.timer.linked import Linked
    from queues.timer.linked_list import Cursor, Fragment


class LinkedBatch:
    """Messages cut off the front of a queue, as a fragment of its list.

    `left` is kept by hand: the fragment would have to walk to count itself. `tail` is a cursor on its last node, for
    the queue that keeps one, else None.
    """

    __slots__ = ("_reference", "fragment", "latest", "left", "processing", "tail")

    def __init__(self, reference: ref[Linked], fragment: Fragment, tail: Cursor | None, left: int, latest: Any) -> None:
        self._reference = reference
        self.fragment = fragment
        self.tail = tail
        self.left = left
        self.latest = latest
        self.processing = False

    @property
    def queue(self) -> Linked | None:
        """The queue it was taken from; None once that is gone, for a batch does not keep its queue alive."""
        return self._reference()

    def __len__(self) -> int:
        return self.left


def check_batch(batch: LinkedBatch) -> list[str]:
    """What is wrong with a batch: its count, its order, or the tail that it keeps. O(left)."""
    nodes = []
    node = batch.fragment.node
    while node is not None:
        nodes.append(node)
        node = node.next
    starts = [node.data[0] for node in nodes]
    wrong = []
    if len(nodes) != batch.left:
        wrong.append(f"a batch says {batch.left} left and holds {starts}")
    if not all(earlier <= later for earlier, later in pairwise(starts)):
        wrong.append(f"a batch is out of order: {starts}")
    if batch.tail is not None and (not nodes or batch.tail.node is not nodes[-1]):
        wrong.append(f"the known tail of a batch is not on its last node: {starts}")
    return wrong
