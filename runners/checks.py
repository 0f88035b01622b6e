"""Whether a queue holds what it should, once the clock has stopped: how many, in which order, with what they carry.

A queue that fails gives no number.
"""

from __future__ import annotations

from itertools import islice, takewhile

from runners.latency import CheckFailed, require_dispatched, require_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

INFINITY = float("inf")


class Reader:
    """A handler that compares what it is given with what is due, and keeps the first difference."""

    __slots__ = ("difference", "expected", "seen")

    def __init__(self, expected: Iterator[tuple[Any, ...]]) -> None:
        self.expected = expected
        self.seen = 0
        self.difference = ""

    def __call__(self, *message: Any) -> None:
        expected = next(self.expected, None)
        if message != expected and not self.difference:
            self.difference = f"message {self.seen} is {message!r}: expected {expected!r}"
        self.seen += 1


class Checking:
    """How far the checks of this process look into a queue: at so many messages from its front, or 0 for all of them.

    A worker measures one case, and is told in it.
    """

    front = 0


def verify(queue: Any, count: int, expected: Iterable[tuple[Any, ...]]) -> None:
    """Raise CheckFailed unless `queue` holds exactly the messages `(start, *payload)` of `expected`; it is drained.

    The batch is read by dispatching it, else by iterating over it; a batch that offers neither is only counted. Where
    only the front is asked for (`Checking`), what is behind it is counted and stays.
    """
    require_length(queue, count, "the queue")
    if 0 < Checking.front < count:
        verify_front(queue, count, iter(expected))
        return
    batch = queue.take(INFINITY)
    if count:
        require_length(batch, count)
        reader = Reader(iter(expected))
        if read(queue, batch, reader):
            if reader.difference:
                raise CheckFailed(reader.difference)
            require_dispatched(reader.seen, count)
        batch = queue.take(INFINITY)
    if batch is not None or len(queue):
        raise CheckFailed(f"the queue still holds messages after all {count} were taken")


def verify_front(queue: Any, count: int, expected: Iterator[tuple[Any, ...]]) -> None:
    """Take the first messages, and what is due at the same moment as the last of them; raise as `verify` does."""
    front = list(islice(expected, Checking.front))
    now = front[-1][0]
    front += takewhile(lambda message: message[0] == now, expected)
    batch = queue.take(now)
    require_length(batch, len(front), "the front")
    reader = Reader(iter(front))
    if read(queue, batch, reader):
        if reader.difference:
            raise CheckFailed(reader.difference)
        require_dispatched(reader.seen, len(front))
    require_length(queue, count - len(front), "the queue behind its front")


def read(queue: Any, batch: Any, reader: Reader) -> bool:
    """Show every message of `batch` to `reader`; False when the queue offers no way to look into a batch."""
    if callable(getattr(queue, "process", None)):
        while left := len(batch):  # a short window may close more than once
            queue.process(batch, reader)
            if len(batch) >= left:
                raise CheckFailed(f"process() left all {left} messages in the batch")
    elif hasattr(type(batch), "__iter__"):
        for message in batch:
            reader(*message)
    else:
        return False
    return True
