"""The batch of queues.timer.markers: a fragment of the list with its tail, and the markers that belong to it.

Idea        As queues.timer.linked_batch, and an index over the fragment, so that a batch that comes back brings the
            marks that the next cut needs. A marker goes when its last message has been dispatched, for it holds a node.
Source      queues.timer.linked_batch.
Cost        dispatch        O(1) a message
Invariants  As queues.timer.linked_batch; the index has the markers of the fragment, the message being handled included.
Weakness    Every dispatched message is counted off its marker.
"""

from __future__ import annotations

from queues.timer.linked_batch import LinkedBatch
from queues.timer.linked_batch import check_batch as check_fragment
from queues.timer.marker_index import MarkerIndex, check_index
from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref

    from queues.timer.linked_list import Cursor, Fragment


class MarkerBatch(LinkedBatch):
    """Messages cut off the front of a queue, as a fragment of its list, and the `markers` over them."""

    __slots__ = ("markers",)

    def __init__(
        self, reference: ref[Any], fragment: Fragment, tail: Cursor, left: int, latest: Any, markers: MarkerIndex
    ) -> None:
        super().__init__(reference, fragment, tail, left, latest)
        self.markers = markers

    def dispatch(
        self, active: list[MarkerBatch], handler: Callable[..., object], clock: Callable[[], Any], deadline: Any
    ) -> int:
        """Hand out messages until `clock() >= deadline`, listed in `active` meanwhile; return how many. O(1) each."""
        fragment = self.fragment
        markers = self.markers
        done = 0
        self.processing = True
        active.append(self)
        try:
            while (node := fragment.node) is not None:
                if clock() >= deadline:
                    break
                handler(*node.data)
                fragment.node = node.next  # asked only now: the handler may have cancelled the next one
                self.left -= 1
                markers.pass_one()
                done += 1
        except StopDispatch:
            pass
        finally:
            active.remove(self)
            self.processing = False
            if not self.left:
                self.tail = None  # it would keep the last message alive
        return done

    def empty(self) -> None:
        """Let go of what is left, which has a place elsewhere now. O(groups of markers)."""
        self.fragment.release()
        self.tail = None
        self.left = 0
        self.markers = MarkerIndex()


def check_batch(batch: MarkerBatch, tick_of: Callable[[Any], int]) -> list[str]:
    """What is wrong with a batch: its count, its order, its tail, or its markers. O(left)."""
    nodes = []
    node = batch.fragment.node
    while node is not None:
        nodes.append(node)
        node = node.next
    return check_fragment(batch) + [f"a batch: {words}" for words in check_index(batch.markers, nodes, tick_of)]
