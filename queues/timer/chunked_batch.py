"""The batch of the chunked queue: the very chunks that the queue gave away.

Idea        A list of chunks, with the last start of each beside it, as in the queue; nothing is copied into it. While
            the batch is processed its first chunk is turned round, so that a message leaves it by `pop()`, the
            cheapest way in which a list lets go of one.
Source      `consume` of LinkedList::Single: what is left of the batch is the batch, with no index of where it stopped.
Cost        dispatch        O(1) a message, and once O(chunk) to open each chunk
            len()           O(1): the messages behind the first chunk are known, and the chunk knows its own length
            find            O(log chunks + chunk)
Invariants  No chunk is empty; starts never fall along them; `ends` has the last start of each; `behind` counts the
            messages of all chunks but the first. A message stays in its chunk until its handler has returned.
Weakness    While it is processed the first chunk stands the other way round from the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, pairwise
from operator import itemgetter

from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref

START = itemgetter(0)


class ChunkedBatch:
    """Messages cut off the front of a queue, as the chunks they were stored in.

    `ends` has the last start of each chunk and `marks` the queue's odometer behind each; of a single chunk neither is
    kept, and of several the marks may be unknown. `withdrawn` counts what was cancelled while it is processed.
    """

    __slots__ = ("_reference", "behind", "chunks", "ends", "latest", "marks", "processing", "withdrawn")

    def __init__(
        self,
        reference: ref[Any],
        chunks: list[Any],
        latest: Any,
        ends: list[Any] | None = None,
        marks: list[int] | None = None,
        behind: int = 0,
    ) -> None:
        self._reference = reference
        self.chunks = chunks
        self.latest = latest
        self.ends = ends
        self.marks = marks
        self.behind = behind
        self.processing = False

    @property
    def queue(self) -> Any:
        """The queue it was taken from; None once that is gone, for a batch does not keep its queue alive."""
        return self._reference()

    def __len__(self) -> int:
        chunks = self.chunks
        return len(chunks[0]) + self.behind if chunks else 0

    def dispatch(
        self, active: list[ChunkedBatch], handler: Callable[..., object], clock: Callable[[], Any], deadline: Any
    ) -> int:
        """Hand out messages until `clock() >= deadline`, listed in `active` meanwhile; return how many. O(1) each."""
        chunks = self.chunks
        if not chunks:
            return 0
        before = len(chunks[0]) + self.behind
        self.withdrawn = 0
        self.processing = True
        active.append(self)
        try:
            if before == 1:  # a dispatcher that keeps up: nothing to turn round
                if clock() >= deadline:
                    return 0
                handler(*chunks[0][0])
                chunks.clear()
                return 1
            while chunks:
                stack = chunks[0]
                if len(stack) > 1 or type(stack) is tuple:
                    chunks[0] = stack = stack[::-1] if type(stack) is list else [*reversed(stack)]
                pop = stack.pop
                while stack:  # a cancelled message ends the pass below early, and a new one begins
                    for item in reversed(stack):
                        if clock() >= deadline:
                            return before - len(stack) - self.behind - self.withdrawn
                        handler(*item)
                        pop()
                del chunks[0]
                if chunks:
                    self._next()
        except StopDispatch:
            pass
        finally:
            active.pop()
            self.processing = False
            if before > 1 and chunks:
                chunks[0].reverse()
        # Counting in the loop would cost a seventh of it.
        return before - self.withdrawn - (len(chunks[0]) + self.behind if chunks else 0)

    def _next(self) -> None:
        """Note that the first chunk is used up and gone. O(chunks), a block move."""
        if self.ends is not None:
            del self.ends[0]
        if self.marks is not None:
            del self.marks[0]
        self.behind -= len(self.chunks[0])

    def cancel(self, start: Any, match: Callable[..., object] | None) -> tuple[tuple[Any, ...] | None, int]:
        """Remove and return the first message at exactly `start` that matches, and how many were passed over.

        Only while it is processed: the message being handled, last of the first chunk, is not looked at. O(batch) in
        the worst case, that all start at once; else O(log chunks + chunk).
        """
        passed = 0
        first = bisect_left(self.ends, start) if self.ends is not None else 0
        for number in range(first, len(self.chunks)):
            chunk = self.chunks[number]
            if number and chunk[0][0] > start:
                break
            indices = range(len(chunk) - 2, -1, -1) if not number else range(len(chunk))
            for index in indices:
                item = chunk[index]
                if item[0] == start:
                    if match is None or match(*item[1:]):
                        self._remove(number, index)
                        return item, passed
                    passed += 1
                elif item[0] > start:
                    break
        return None, passed

    def _remove(self, number: int, index: int) -> None:
        """Take one message out of a chunk; nobody has counted what is left, so the marks go."""
        chunk = self.chunks[number]
        if type(chunk) is tuple:
            chunk = self.chunks[number] = [*chunk]
        del chunk[index]
        self.marks = None
        self.withdrawn += 1
        if number:
            self.behind -= 1
        if not chunk:
            del self.chunks[number]
        if self.ends is not None:
            if chunk:
                self.ends[number] = chunk[-1][0] if number else chunk[0][0]
            else:
                del self.ends[number]

    def empty(self) -> None:
        """Let go of what is left. O(chunks)."""
        self.chunks.clear()
        self.ends = None
        self.marks = None
        self.behind = 0

    def give(self) -> tuple[list[Any], list[Any], list[int] | None]:
        """Give away chunks, ends and marks (None when unknown), and be empty."""
        chunks = self.chunks
        ends = [chunks[0][-1][0]] if self.ends is None else self.ends
        marks = self.marks
        self.chunks = []
        self.ends = None
        self.marks = None
        self.behind = 0
        return chunks, ends, marks


def check_batch(batch: ChunkedBatch) -> list[str]:
    """What is wrong with a batch: its counts, its ends or its order. O(length)."""
    chunks = [[*chunk] for chunk in batch.chunks]
    if chunks and batch.processing:
        chunks[0].reverse()
    wrong = []
    starts = [item[0] for item in chain.from_iterable(chunks)]
    if not all(chunks) or not all(earlier <= later for earlier, later in pairwise(starts)):
        wrong.append(f"a batch is out of order or holds an empty chunk: {starts}")
    if batch.ends is None and len(chunks) > 1:
        wrong.append(f"a batch of {len(chunks)} chunks keeps no ends")
    if batch.ends is not None and [chunk[-1][0] for chunk in chunks if chunk] != batch.ends:
        wrong.append(f"a batch of {starts} says its chunks end at {batch.ends}")
    if batch.behind != len(starts) - (len(chunks[0]) if chunks else 0):
        wrong.append(f"a batch of {starts} says {batch.behind} are behind the first chunk")
    return wrong
