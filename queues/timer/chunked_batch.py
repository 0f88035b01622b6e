"""The batch of the chunked queue: the very runs and chunks that the queue gave away.

Idea        A list of runs, or a single chunk; nothing is copied into it. While the batch is processed its first chunk
            is turned round, so that a message leaves it by `pop()`, the cheapest way in which a list lets go of one.
Source      `consume` of LinkedList::Single: what is left of the batch is the batch, with no index of where it stopped.
Cost        dispatch        O(1) a message, and once O(chunk) to open each chunk
            len()           O(1): the messages behind the first chunk are known, and the chunk knows its own length
            find            O(log runs + log chunks + chunk)
Invariants  No run and no chunk is empty; starts never fall along them; `chunks` are those of the first run; `behind`
            counts the messages of all chunks but the first, `beyond` those of all runs but the first. A message stays
            in its chunk until its handler has returned.
Weakness    While it is processed the first chunk stands the other way round from the rest, and the first run forgets
            the starts that it kept beside its chunks.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from queues.timer.chunked_run import CHUNKS, COUNT, LAST, START, Run, check_run, messages_of
from queues.timer.rules import StopDispatch

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from weakref import ref


class ChunkedBatch:
    """Messages cut off the front of a queue, as the runs and chunks they were stored in.

    `runs` is None when there is no more than a single chunk. `withdrawn` counts what was cancelled while it is
    processed.
    """

    __slots__ = ("_reference", "behind", "beyond", "chunks", "latest", "processing", "runs", "withdrawn")

    def __init__(
        self, reference: ref[Any], chunks: list[Any], latest: Any, runs: list[Run] | None = None, behind: int = 0
    ) -> None:
        self._reference = reference
        self.chunks = chunks
        self.latest = latest
        self.runs = runs
        self.behind = behind
        self.beyond = 0
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
            if before == 1 and self.runs is None:  # a dispatcher that keeps up: nothing to turn round
                if clock() >= deadline:
                    return 0
                handler(*chunks[0][0])
                chunks.clear()
                return 1
            while chunks:
                stack = chunks[0]
                if len(stack) > 1 or type(stack) is tuple:
                    chunks[0] = stack = stack[::-1] if type(stack) is list else [*reversed(stack)]  # slower for lists
                pop = stack.pop
                while stack:  # a cancelled message ends the pass below early, and a new one begins
                    for item in reversed(stack):
                        if clock() >= deadline:
                            return before - len(stack) - self.behind - self.withdrawn
                        handler(*item)
                        pop()
                del chunks[0]
                if self.runs is not None:
                    chunks = self._next(self.runs)
        except StopDispatch:
            pass
        finally:
            active.pop()
            self.processing = False
            if before > 1 and chunks:  # one is the same either way round
                chunks[0].reverse()
        # Counting in the loop would cost a seventh of it.
        return before - self.withdrawn - (len(chunks[0]) + self.behind if chunks else 0)

    def _next(self, runs: list[Run]) -> list[Any]:
        """Note that the first chunk is used up and gone; return those of the first run now. O(runs) at most."""
        run = runs[0]
        del run.ends[0]
        if not run.chunks:
            del runs[0]
            if not runs:
                self.runs = None
                return self.chunks
            run = runs[0]
            run.open()
            run.keys = None
            self.beyond -= run.count
            self.chunks = run.chunks
        self.behind -= len(run.chunks[0])
        return self.chunks

    def cancel(self, start: Any, match: Callable[..., object] | None) -> tuple[tuple[Any, ...] | None, int]:
        """Remove and return the first message at exactly `start` that matches, and how many were passed over.

        Only while it is processed: the message being handled, last of the first chunk, is not looked at. O(batch) in
        the worst case, that all start at once; else O(log runs + log chunks + chunk).
        """
        runs = self.runs or [Run(self.chunks, [start], None, 0)]  # nobody asks for its count
        passed = 0
        at = bisect_left(runs, start, key=last_start)
        for place in range(at, len(runs)):
            run = runs[place]
            for number in range(bisect_left(run.ends, start), len(run.chunks)):
                chunk = run.chunks[number]
                first = not place and not number
                if not first and chunk[0][0] > start:
                    return None, passed
                for index in range(len(chunk) - 2, -1, -1) if first else range(len(chunk)):
                    item = chunk[index]
                    if item[0] == start:
                        if match is None or match(*item[1:]):
                            self._remove(place, number, index)
                            return item, passed
                        passed += 1
                    elif item[0] > start:  # or `>=`: it is not equal
                        return None, passed
        return None, passed

    def _remove(self, at: int, number: int, index: int) -> None:
        """Take one message out of a chunk, and the chunk and the run too when it was the last of them."""
        self.withdrawn += 1
        if self.runs is None:
            del self.chunks[0][index]
            return
        run = self.runs[at]
        run.open()
        chunk = run.chunks[number]
        if type(chunk) is tuple:
            chunk = run.chunks[number] = [*chunk]
        del chunk[index]
        run.keys = None
        run.count -= 1
        if not at and not number:
            run.ends[0] = chunk[0][0]
            return
        self.behind -= 1
        if at:
            self.beyond -= 1
        if chunk:
            run.ends[number] = chunk[-1][0]
            return
        del run.chunks[number], run.ends[number]
        if not run.chunks:
            del self.runs[at]

    def empty(self) -> None:
        """Let go of what is left. O(chunks of the first run + runs)."""
        self.chunks.clear()
        self.runs = None
        self.behind = self.beyond = 0

    def give_messages(self) -> list[tuple[Any, ...]]:
        """Give away the messages that are left, of which there are some, in one list, and be empty."""
        messages = self.chunks[0] if self.runs is None else [*messages_of(self.runs)]
        self.empty()
        return messages

    def give(self) -> list[Run]:
        """Give away what is left, of which there is some, as runs, and be empty."""
        chunks = self.chunks
        runs = self.runs
        if runs is None:
            chunk = chunks[0]
            runs = [Run(chunks, [chunk[-1][0]], None, len(chunk))]
        self.chunks = []
        self.runs = None
        self.behind = self.beyond = 0
        return runs


def last_start(run: Run) -> Any:
    """The start of the last message of a run."""
    return run.ends[-1]


def check_batch(batch: ChunkedBatch) -> list[str]:
    """What is wrong with a batch: its counts, its runs or its order. O(length)."""
    first = batch.chunks[0] if batch.chunks else []
    if batch.processing and first:
        batch.chunks[0] = first[::-1]
    # The count of a first run is not kept, so that here any would do.
    runs = batch.runs or [Run(batch.chunks, [*map(START, map(LAST, filter(None, batch.chunks)))], None, 0)]
    starts = [*map(START, messages_of(runs))]
    wrong = [said for run in runs for said in check_run(run)]
    if not all(earlier <= later for earlier, later in pairwise(starts)):
        wrong.append("out of order")
    if runs[0].chunks is not batch.chunks or not all(map(CHUNKS, runs[1:])):
        wrong.append("a run is not the first or empty")
    if any(len(run.chunks) != len(run.ends) for run in runs):
        wrong.append("a chunk has no end")
    if any(run.count != sum(map(len, run.chunks)) for run in runs[1:]):
        wrong.append(f"the runs are said to have {[*map(COUNT, runs)]} messages")
    if batch.behind != len(starts) - len(first):
        wrong.append(f"{batch.behind} are said to be behind the first chunk")
    if batch.beyond != sum(map(COUNT, runs[1:])):
        wrong.append(f"{batch.beyond} are said to be beyond the first run")
    if batch.runs is None and len(batch.chunks) > 1:
        wrong.append("several chunks are no run")
    if first:
        batch.chunks[0] = first
    return [f"a batch of {starts}: {said}" for said in wrong]
