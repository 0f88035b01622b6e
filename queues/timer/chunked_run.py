"""The run of the chunked queue: some neighbouring chunks as one object, so that many messages move as one pointer.

Idea        A run has its chunks and the last start of each, and knows how many messages that is. The queue cuts its
            list of runs where it can, and a run only where the cut falls into it.
Source      A level of a B+ tree without the tree: two levels are enough for what fits in memory.
Cost        divide          O(smaller part), in chunks
            put before      O(chunks put)
Invariants  No chunk is empty; starts never fall along them; `ends` has the last start of each; `count` counts their
            messages. `keys` is None, or has for each chunk None or its starts. Of the last run of a queue the last
            chunk is the open tail: it may be empty, and `ends`, `keys` and `count` leave it out. Of the front run of a
            queue, and of the first of a batch, `count` is not kept.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter, itemgetter

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

START = itemgetter(0)
LAST = itemgetter(-1)
CHUNKS = attrgetter("chunks")
ENDS = attrgetter("ends")
COUNT = attrgetter("count")


class Run:
    """Neighbouring chunks, their last starts, their starts where these are kept (`keys`), and their messages' count.

    >>> run = Run([((1, "a"), (2, "b")), [(3, "c")], [(5, "d")]], [2, 3, 5], None, 4)
    >>> front = run.divide(2, 4)
    >>> front.chunks, front.ends, front.count, run.chunks, run.ends
    ([((1, 'a'), (2, 'b')), [(3, 'c')]], [2, 3], 3, [[(5, 'd')]], [5])
    """

    __slots__ = ("chunks", "count", "ends", "keys")

    def __init__(self, chunks: Any, ends: Any, keys: list[Any] | None, count: int) -> None:
        self.chunks = chunks
        self.ends = ends
        self.keys = keys
        self.count = count

    def closed(self) -> Run:
        """Move all but the tail into a new run, as tuples: the collector stops tracking them as it does the chunks.

        O(chunks).
        """
        chunks, ends = self.chunks[:-1], self.ends[:]
        if self.keys is None:
            chunks, ends = tuple(chunks), tuple(ends)
        run = Run(chunks, ends, self.keys, self.count)
        del self.chunks[:-1], self.ends[:]
        self.keys = None
        self.count = 0
        return run

    def open(self) -> None:
        """Be one whose chunks may change. O(1), or O(chunks) once for a run that was closed."""
        if type(self.chunks) is tuple:
            self.chunks = [*self.chunks]
            self.ends = [*self.ends]

    def divide(self, number: int, count: int) -> Run:
        """Take the first `number` chunks off an open run of `count` messages, as a run. O(smaller part).

        Only the count of the part is told: the queue keeps its own of what stays.
        """
        chunks, ends, keys = self.chunks, self.ends, self.keys
        if number + number <= len(chunks):
            given = chunks[:number]
            part = Run(given, ends[:number], None, sum(map(len, given)))
            del chunks[:number], ends[:number]
            if keys is not None:
                part.keys = keys[:number]
                del keys[:number]
            return part
        self.chunks = chunks[number:]
        self.ends = ends[number:]
        part = Run(chunks, ends, keys, count - sum(map(len, self.chunks[: len(self.ends)])))
        del chunks[number:], ends[number:]
        if keys is not None:
            self.keys = keys[number:]
            del keys[number:]
        return part

    def put_before(self, later: Run) -> None:
        """Hang the chunks in before those of a later run. O(chunks)."""
        if self.keys is not None or later.keys is not None:
            later.keys = (self.keys or [None] * len(self.ends)) + (later.keys or [None] * len(later.ends))
        later.chunks[:0] = self.chunks
        later.ends[:0] = self.ends

    def add(self, chunk: Any) -> None:
        """Put a chunk behind the others."""
        self.chunks.append(chunk)
        self.ends.append(chunk[-1][0])
        if self.keys is not None:
            self.keys.append(None)
        self.count += len(chunk)

    def join_last(self) -> None:
        """Make one chunk of the last two, of which there are two. O(messages of them)."""
        self.open()
        self.chunks[-2:] = [[*self.chunks[-2], *self.chunks[-1]]]
        del self.ends[-2]
        if self.keys is not None:
            self.keys[-2:] = [None]


def messages_of(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    """The messages of runs, earliest first."""
    return chain.from_iterable(chain.from_iterable(map(CHUNKS, runs)))


def runs_of(messages: list[tuple[Any, ...]], load: int, most: int) -> list[Run]:
    """Sorted messages in runs of at most `most` chunks of at most `load`. O(messages)."""
    chunks = [messages[at : at + load] for at in range(0, len(messages), load)]
    runs = []
    for at in range(0, len(chunks), most):
        given = chunks[at : at + most]
        runs.append(Run(given, [chunk[-1][0] for chunk in given], None, sum(map(len, given))))
    return runs


def check_run(run: Run) -> list[str]:
    """What is wrong with a run, the tail left out and its count not asked. O(messages)."""
    sealed = run.chunks[: len(run.ends)]
    wrong = []
    if not all(sealed):
        wrong.append("a sealed chunk is empty")
    if [chunk[-1][0] for chunk in sealed if chunk] != [*run.ends]:
        wrong.append(f"the ends are {run.ends}")
    keys = run.keys
    if keys is not None and len(keys) != len(run.ends):
        wrong.append(f"there are {len(keys)} rows of keys")
    for chunk, row in zip(sealed, keys or (), strict=False):  # pragma: no mutate: what zip does anyway
        if row is not None and (type(chunk) is tuple or row != [item[0] for item in chunk]):
            wrong.append(f"keys are {row}")
    return wrong
