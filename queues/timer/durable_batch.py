"""The batch of a durable queue: messages on lease, an index behind what is used up, and what of that the store knows.

Idea        The store keeps the lines of the batch under the number of its lease. The batch holds the same lines as
            messages, and the lines themselves as the one text that came, which is taken apart only to be put back.
Cost        dispatch        O(1) a message, and what the store takes to be told of progress now and then
            lines           O(batch)
Invariants  Slots before `at` are None. `confirmed` <= `at`: so many are done for, as far as the store knows.
Weakness    What was dispatched and not confirmed is dispatched once more when the process dies in between.
"""

from __future__ import annotations

from itertools import pairwise

from queues.timer.durable_codec import read_text
from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref


class LeaseLost(RuntimeError):
    """The lease of a batch ran out and another take put its messages back: they are no longer this caller's."""


class DurableBatch:
    """Messages taken on a lease, owned by whoever took them until it runs out."""

    __slots__ = ("_reference", "at", "confirmed", "items", "latest", "lease", "processing", "renew_at", "text")

    def __init__(self, reference: ref[Any], lease: int, text: str, renew_at: float) -> None:
        self._reference = reference
        self.lease = lease
        self.text = text
        self.items: list[Any] = read_text(text)
        self.at = 0
        self.confirmed = 0
        self.latest = self.items[-1][0]
        self.processing = False
        self.renew_at = renew_at

    @property
    def queue(self) -> Any:
        """The queue it was taken from; None once that is gone, for a batch does not keep its queue alive."""
        return self._reference()

    def __len__(self) -> int:
        return len(self.items) - self.at

    def dispatch(
        self,
        active: list[DurableBatch],
        handler: Callable[..., object],
        clock: Callable[[], Any],
        deadline: Any,
        due: Callable[[DurableBatch], bool],
        confirm: Callable[[DurableBatch], bool],
    ) -> int:
        """Hand out messages until `clock() >= deadline`, listed in `active` meanwhile; return how many.

        `confirm` is called whenever `due` says so, and in the end; LeaseLost when it finds the lease gone.
        """
        items = self.items
        first = self.at
        self.processing = True
        active.append(self)
        try:
            while self.at < len(items):  # asked anew: a handler may cancel a later message
                if clock() >= deadline:
                    break
                handler(*items[self.at])
                self.at += 1
                items[self.at - 1] = None
                if self.at < len(items) and due(self) and not confirm(self):
                    self.lose()
        except StopDispatch:
            pass
        except BaseException:
            self._end(active)
            if self.items:
                confirm(self)
            raise
        self._end(active)
        done = self.at - first
        if (done or not self) and not confirm(self):
            self.lose()
        return done

    def _end(self, active: list[DurableBatch]) -> None:
        """Be processed no more."""
        if self.processing:
            active.remove(self)
            self.processing = False

    def lose(self) -> None:
        """Hold nothing any more, and say why."""
        dispatched = self.at
        self.empty()
        raise LeaseLost(
            f"the lease ran out after {dispatched} messages of the batch were dispatched, and the others were queued "
            "again: expected a longer lease=, or handlers that return within half of it"
        )

    def lines(self) -> list[str]:
        """The lines of what is left. O(batch)."""
        return self.text.split("\n")[self.at :]

    def remove(self, index: int) -> tuple[Any, ...]:
        """Take out the message at `index`, which stands behind the one being handled. O(batch)."""
        self.text = self.without(index)
        return tuple(self.items.pop(index))

    def without(self, index: int) -> str:
        """The lines as they are when the message at `index` is taken out. O(batch)."""
        lines = self.text.split("\n")
        del lines[index]
        return "\n".join(lines)

    def empty(self) -> None:
        """Let go of what is left. O(1), and the freeing."""
        self.items = []
        self.text = ""
        self.at = 0
        self.confirmed = 0


def check_batch(batch: DurableBatch) -> list[str]:
    """What is wrong with a batch: used slots that hold something, or its order. O(length)."""
    starts = [item and item[0] for item in batch.items[batch.at :]]
    wrong = []
    if any(item is not None for item in batch.items[: batch.at]):
        wrong.append("a batch still holds what was dispatched")
    if None in starts or not all(earlier <= later for earlier, later in pairwise(starts)):
        wrong.append(f"a batch is out of order: {starts}")
    if batch.items and len(batch.items) != batch.text.count("\n") + 1:
        wrong.append("a batch has not a line for each message")
    return wrong
