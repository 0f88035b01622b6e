"""The ordered linked list with the two proposed primitives: putting a batch back takes the same time whatever its size.

Idea        As queues.timer.linked, but `take` keeps the cursor that its walk left on the last due node. With it the cut
            needs no second walk (`detach_through(stop)`) and the put back no walk at all (`append_to(anchor, tail)`).
Source      The proposal in the documents of the timer example of LinkedList::Single.
Cost        take            O(due), once: the walk that finds the cut
            requeue         O(1), whatever is left in the batch and queued behind; a merge as in `linked`
            all else        as queues.timer.linked
Invariants  As queues.timer.linked, and: the tail of a batch stands on its last node as long as it has one.
Weakness    The scan for what is due stays, and is the larger cost. A tail that is wrong loses messages, and only a
            walk could tell: whoever removes a batch's last node has to move the tail.
"""

from __future__ import annotations

from queues.timer.linked import Linked
from queues.timer.linked_batch import LinkedBatch
from queues.timer.linked_list import Cursor, Fragment, Node
from queues.timer.reattach import relink_known


class LinkedKnownTail(Linked):
    """A timer queue in a linked list whose batches know their tail; `queues.contract.TimerQueue` has the calls.

    >>> queue = LinkedKnownTail()
    >>> for start in (1, 2, 3):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.requeue(batch), list(queue.contents())
    (2, [(1, 'mail'), (2, 'mail'), (3, 'mail')])
    """

    __slots__ = ()

    def _cut(self, count: int, last: Node) -> tuple[Fragment, Cursor | None]:
        """Cut through `last`, where the walk of `take` ended, and keep a cursor there. O(1)."""
        stop = Cursor(last, self._anchor.mark)
        return self._anchor.detach_through(stop), stop

    def _put_back(self, batch: LinkedBatch) -> Cursor:
        """Link the whole batch in front; its last node is known. O(1)."""
        return batch.fragment.append_to(self._anchor, batch.tail)

    primitives = staticmethod(relink_known)
