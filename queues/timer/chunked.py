"""Chunks of a sorted run, cut by bisection over their ends: a batch is a few chunks handed over, whatever is in them.

The module is longer than 300 lines because the class is one structure with one set of invariants.

Idea        Messages stand in chunks of about LOAD, with the last start of each chunk in a list beside them, so the cut
            is two bisections. Whole chunks are handed to the batch as they are; only the chunk that the cut falls into
            is divided, and the smaller part of it copied. Putting back hangs the same chunks in again. An odometer
            (`_origin`, and a mark behind each chunk) says how many messages that was without counting them.
            New messages go to an open chunk, the tail. When it is FULL its oldest LOAD messages, which the collector
            has seen by then, are sealed into a tuple: the collector stops tracking a tuple of messages that it does not
            track (a payload that it must track, such as a dict, keeps both tracked). So nothing that it walks grows
            with the queue, and no new list is made for it to walk: the tail stays the list that it was.
Source      Chunks and ends: sortedcontainers, and unrolled lists (Shao, Reppy and Appel 1994). The hand-over of whole
            chunks, the odometer and the sealing for the collector are ours.
Cost        enqueue         in order O(1); else O(log n + LOAD), two bisections and a block move inside one chunk
            take            O(log n + LOAD), and one pointer for LOAD messages due
            process         O(1) a message
            requeue         one pointer for LOAD messages left; a merge O(left + late)
            cancel          O(log n + LOAD + equal starts)
            memory          one pointer and one tuple a message, three words more for LOAD of them
Invariants  The tail is the last chunk and a list; no other chunk is empty; starts never fall along the chunks. `_ends`
            has the last start of each chunk but the tail, `_latest` that of the last message; `_sealed` counts all but
            the tail; `_marks` is None or has `_origin` plus the messages up to the end of each sealed chunk. For each
            chunk but the tail `_keys` has None or its starts; `_opened` is the beginning of the sealed `_opening`.
Weakness    Messages put in out of order turn chunks back into lists, which the collector walks; where many were put in,
            their starts stand beside them, one pointer more a message. A short queue is one list, whose pointers all
            move with every single message taken.
Tried       `python -m runners.variants` races what lost, as ratios to what was kept: chunks that stay lists, other
            loads, and counting or indexing while going through a chunk instead of popping.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_left, bisect_right
from itertools import accumulate, chain, pairwise
from weakref import ref

from queues.timer.chunked_batch import START, ChunkedBatch, check_batch
from queues.timer.rules import (
    NEGATIVE_INFINITY,
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
)

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LOAD = 512  # messages in a chunk: see the module's docstring
FULL = LOAD + gc.get_threshold()[0] + LOAD  # a tail as long as that has LOAD messages that the collector has seen
SMALL = 128  # messages up to here go back into the front chunk, and chunks are joined
FEW = 16  # due messages up to here are looked for at the front of a chunk first


class Chunked:
    """A timer queue in chunks; `queues.contract.TimerQueue` says what each call means.

    >>> queue = Chunked()
    >>> for start in (1, 3, 2):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=2)
    >>> queue.process(batch, print, deadline=float("inf"))
    1 mail
    2 mail
    2
    >>> list(queue.contents()), queue.walked
    ([(3, 'mail')], 0)
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_chunks",
        "_clock",
        "_ends",
        "_keys",
        "_latest",
        "_marks",
        "_opened",
        "_opening",
        "_origin",
        "_reference",
        "_sealed",
        "_tail",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        self._window = window
        self._clock = clock
        self._active: list[ChunkedBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self._origin = 0  # the odometer at the front: rises by what is taken, falls by what is put back
        self.merged = 0
        self.walked = 0
        self._clear()

    def _clear(self) -> None:
        """Be empty: one chunk, the open tail, with nothing in it."""
        self._tail: list[Any] = []
        self._chunks: list[Any] = [self._tail]
        self._ends: list[Any] = []
        self._keys: list[Any] = []
        self._marks: list[int] | None = []
        self._sealed = 0
        self._latest: Any = NEGATIVE_INFINITY
        self._opening: Any = None
        self._opened: list[Any] = []

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1), else O(log n + chunk)."""
        try:
            if start >= self._latest:
                tail = self._tail
                tail.append((start,) + message)
                self._latest = start
                if len(tail) >= FULL:
                    self._seal()
                return
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        self._insert(start, (start,) + message)

    def _seal(self) -> None:
        """Close the oldest LOAD messages of the tail as a tuple; the tail stays the list that it was. O(FULL).

        The collector looks at a message soon after it came and stops tracking it, and then stops tracking a tuple of
        such messages the first time it sees one. The young ones stay in the tail, or the tuple would be walked again.
        """
        tail = self._tail
        block = tuple(tail[:LOAD])
        del tail[:LOAD]
        self._sealed += LOAD
        if self._marks is not None:
            self._marks.append(self._origin + self._sealed)
        self._ends.append(block[-1][0])
        self._keys.append(None)
        self._chunks[-1] = block
        self._chunks.append(tail)

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that starts before the last one: two bisections and a block move within one chunk."""
        if not start >= NEGATIVE_INFINITY:
            require_instant(start)
        ends = self._ends
        number = bisect_right(ends, start)
        chunk = self._chunks[number]
        if number == len(ends):
            chunk.insert(bisect_right(chunk, start, key=START), item)
            if len(chunk) >= FULL:
                self._seal()
            return
        keys = self._keys[number]
        most = LOAD
        if keys is not None:
            place = bisect_right(keys, start)
            keys.insert(place, start)
        else:
            most += LOAD
            if type(chunk) is tuple:
                chunk = self._chunks[number] = self._unsealed(chunk)
            place = bisect_right(chunk, start, key=START)
        chunk.insert(place, item)
        self._sealed += 1
        self._marks = None
        if len(chunk) >= most:
            self._split(number)

    def _split(self, number: int) -> None:
        """Make two chunks of one that has grown too long, their starts beside them.

        A chunk that so many were put into will see more of them, and looking at a start through its message brings
        two objects into the cache where one would do.
        """
        chunk = self._chunks[number]
        keys = self._keys[number] or [*map(START, chunk)]
        half = len(chunk) // 2
        self._chunks.insert(number, chunk[:half])
        self._ends.insert(number, chunk[half - 1][0])
        self._keys[number] = keys[half:]
        self._keys.insert(number, keys[:half])
        del chunk[:half]

    def take(self, now: Any = None, limit: int | None = None) -> ChunkedBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(log n + chunk)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        front = self._chunks[0]
        try:
            due = front[0][0] <= now
        except IndexError:
            due = False
        except (TypeError, ArithmeticError):
            require_instant(now, "now")
            raise
        if not due:
            require_instant(now, "now")
            return None
        ends = self._ends
        if not ends or now < ends[0]:
            if type(front) is list and len(front) > 1 and front[1][0] > now:  # one: a dispatcher that keeps up
                block = [front[0]]
                del front[0]
                self._origin += 1
                if ends:
                    self._sealed -= 1
                    self._keys[0] = None
                    self._open_ahead()
            else:
                cut = due_end(front, now)
                block = self._off(front, cut if not most or cut < most else most)
            return ChunkedBatch(self._reference, [block], block[-1][0])
        if len(front) == 1 and self._chunks[1] and self._chunks[1][0][0] > now:
            return self._last_of_a_chunk(front)
        number = bisect_right(ends, now)
        cut = bisect_right(self._chunks[number], now, key=START)
        if most:
            number, cut = self._limited(number, cut, most)
        return self._cut(number, cut)

    def _last_of_a_chunk(self, front: list[Any]) -> ChunkedBatch:
        """Hand over the front chunk, which is down to one message. O(chunks), block moves of as many pointers."""
        del self._chunks[0], self._ends[0], self._keys[0]
        if self._marks is not None:
            del self._marks[0]
        self._origin += 1
        self._sealed -= 1
        return ChunkedBatch(self._reference, [front], front[0][0])

    def _limited(self, number: int, cut: int, most: int) -> tuple[int, int]:
        """Where the cut is when the batch may have `most` messages: not behind (number, cut). O(chunks passed)."""
        for earlier in range(number):
            length = len(self._chunks[earlier])
            if most < length:
                return earlier, most
            most -= length
            if not most:
                return earlier + 1, 0
        return number, min(cut, most)

    def _cut(self, number: int, cut: int) -> ChunkedBatch:
        """Hand over `number` whole chunks and the first `cut` messages of the next. O(chunks given + smaller part)."""
        chunks = self._chunks
        if not number:
            block = self._off(chunks[0], cut)
            return ChunkedBatch(self._reference, [block], block[-1][0])
        if self._opening is not None and (number > 1 or chunks[0] is self._opening):
            self._forget()
        marks = self._counted()
        ends = self._ends
        given = chunks[:number]
        given_ends = ends[:number]
        given_marks = marks[:number]
        count = given_marks[-1] - self._origin
        del chunks[:number], ends[:number], marks[:number], self._keys[:number]
        self._sealed -= count
        self._origin += count
        behind = count - len(given[0])
        if cut:
            block = self._off(chunks[0], cut)
            given.append(block)
            given_ends.append(block[-1][0])
            given_marks.append(self._origin)
            behind += cut
        elif not ends and not self._tail:
            self._latest = NEGATIVE_INFINITY
        return ChunkedBatch(self._reference, given, given_ends[-1], given_ends, given_marks, behind)

    def _off(self, front: Any, cut: int) -> list[Any]:
        """Take the first `cut` messages off the front chunk and return them as a list, copying the smaller part."""
        sealed = bool(self._ends)
        self._origin += cut
        if sealed:
            self._sealed -= cut
            self._keys[0] = None
        if type(front) is tuple:
            front = self._chunks[0] = self._unsealed(front)
        length = len(front)
        if cut + cut <= length:
            block: list[Any] = front[:cut]
            del front[:cut]
            return block
        rest = self._chunks[0] = front[cut:]
        del front[cut:]
        if not sealed:
            self._tail = rest
            if not rest:
                self._latest = NEGATIVE_INFINITY
        return front  # type: ignore[no-any-return]

    def _open_ahead(self) -> None:
        """Copy one message of the second chunk, if that is sealed, so that no single call has to open it whole. O(1).

        What opening costs is not the pointers but the messages, each of which comes into the cache to be counted.
        """
        following = self._chunks[1]
        if following is not self._opening:
            self._forget()
            if type(following) is not tuple:
                return
            self._opening = following
        opened = self._opened
        if len(opened) < len(following):
            opened.append(following[len(opened)])

    def _unsealed(self, chunk: tuple[Any, ...]) -> list[Any]:
        """A sealed chunk as a list, to be put in its place; what was copied ahead serves. O(what was not)."""
        if chunk is not self._opening:
            return [*chunk]
        opened = self._opened
        if len(opened) < len(chunk):
            opened += chunk[len(opened) :]
        self._opening = None
        self._opened = []
        return opened

    def _forget(self) -> None:
        """Let go of what was copied ahead: those messages leave the queue, or others come first."""
        if self._opening is not None:
            self._opening = None
            self._opened = []

    def _counted(self) -> list[int]:
        """The odometer behind each sealed chunk; counted anew when messages were put in or taken out between."""
        if self._marks is None:
            lengths = map(len, self._chunks[:-1])
            self._marks = [*accumulate(lengths, initial=self._origin)][1:]
        return self._marks

    def process(self, batch: ChunkedBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        if type(batch) is not ChunkedBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ChunkedBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ChunkedBatch) -> int:
        """Put what is left in front of the queue and return how many. O(chunks); a merge O(left + late)."""
        if type(batch) is not ChunkedBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ChunkedBatch, self)
        chunks = batch.chunks
        if not chunks:
            return 0
        left = len(chunks[0]) + batch.behind
        front = self._chunks[0]
        if not front:
            self._adopt(batch, left)
        elif not batch.latest <= front[0][0]:
            self._merge(batch, left)
        elif left <= SMALL and len(front) <= LOAD and type(front) is list:
            front[:0] = chunks[0] if len(chunks) == 1 else chain.from_iterable(chunks)
            batch.empty()
            self._origin -= left
            if self._ends:
                self._sealed += left
                self._keys[0] = None
        else:
            self._put_in_front(batch, left)
        return left

    def _adopt(self, batch: ChunkedBatch, left: int) -> None:
        """Be what the batch was: nothing else is queued."""
        chunks, ends, marks = batch.give()
        tail = chunks[-1]
        if type(tail) is tuple:
            tail = chunks[-1] = [*tail]
        self._tail = tail
        self._chunks = chunks
        self._latest = ends.pop()
        self._ends = ends
        self._keys = [None] * len(ends)
        self._sealed = left - len(tail)
        if not ends:
            self._origin -= left
            self._marks = []
        elif marks is None:
            self._origin -= left
            self._marks = None
        else:
            self._origin = marks.pop() - left
            self._marks = marks

    def _put_in_front(self, batch: ChunkedBatch, left: int) -> None:
        """Relink the chunks of the batch before the first one. O(chunks), block moves."""
        chunks, ends, marks = batch.give()
        if len(chunks) == 1:
            marks = [self._origin]
        elif len(chunks[-1]) + len(chunks[-2]) <= LOAD:
            chunks[-2:] = [[*chunks[-2], *chunks[-1]]]
            del ends[-2]
            if marks is not None:
                del marks[-2]
        self._chunks[:0] = chunks
        self._ends[:0] = ends
        self._keys[:0] = [None] * len(ends)
        if self._marks is None or marks is None:
            self._marks = None
        else:
            moved = self._origin - marks[-1]
            self._marks[:0] = [mark + moved for mark in marks] if moved else marks
        self._sealed += left
        self._origin -= left

    def _merge(self, batch: ChunkedBatch, left: int) -> None:
        """Sort what is left in with the late arrivals: equal starts of the batch lead, because the sort is stable."""
        messages = [*chain.from_iterable(batch.give()[0])]
        number = bisect_left(self._ends, batch.latest)
        cut = bisect_left(self._chunks[number], batch.latest, key=START)
        late = self._cut(number, cut) if number or cut else None
        if late is not None:
            messages += chain.from_iterable(late.chunks)
            messages.sort(key=START)
        self.merged += left
        chunks = [messages[at : at + LOAD] for at in range(0, len(messages), LOAD)]
        ends = [chunk[-1][0] for chunk in chunks]
        merged = ChunkedBatch(self._reference, chunks, ends[-1], ends, None, len(messages) - len(chunks[0]))
        if self._chunks[0]:
            self._put_in_front(merged, len(messages))
        else:
            self._adopt(merged, len(messages))

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(log n + chunk + equals)."""
        require_instant(start)
        for batch in self._active:
            item, passed = batch.cancel(start, match)
            self.walked += passed
            if item is not None:
                return item
        number = bisect_left(self._ends, start)
        chunk = self._chunks[number]
        index = bisect_left(chunk, start, key=START)
        while True:  # equal starts may go on in the next chunk
            while index < len(chunk):
                item = chunk[index]
                if item[0] != start:
                    return None
                if match is None or match(*item[1:]):
                    return self._remove(number, index)
                self.walked += 1
                index += 1
            number += 1
            if number >= len(self._chunks):
                return None
            chunk = self._chunks[number]
            index = 0

    def _remove(self, number: int, index: int) -> tuple[Any, ...]:
        """Take one message out of a chunk, and the chunk too when it was the last; join it with a small neighbour."""
        chunks = self._chunks
        ends = self._ends
        chunk = chunks[number]
        if type(chunk) is tuple:
            chunk = chunks[number] = self._unsealed(chunk)
        item: tuple[Any, ...] = chunk.pop(index)
        if number == len(ends):
            if not chunk and not ends:
                self._clear()
            else:
                self._latest = chunk[-1][0] if chunk else ends[-1]
            return item
        self._sealed -= 1
        self._marks = None
        keys = self._keys[number]
        if keys is not None:
            del keys[index]
        if not chunk:
            del chunks[number], ends[number], self._keys[number]
        else:
            ends[number] = chunk[-1][0]
            if number + 1 < len(ends) and len(chunk) + len(chunks[number + 1]) <= SMALL:
                chunks[number : number + 2] = [[*chunk, *chunks[number + 1]]]
                self._keys[number : number + 2] = [None]
                del ends[number]
        if not self._tail:
            if not ends:
                self._clear()
            else:
                self._latest = ends[-1]
        return item

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return self._sealed + len(self._tail)

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1)."""
        front = self._chunks[0]
        return front[0][0] if front else None

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call: changing the queue meanwhile is safe."""
        return iter([*chain.from_iterable(self._chunks)])

    def container(self) -> Iterator[object]:
        """The queue, its lists, and every chunk."""
        yield self
        yield self._active
        yield self._chunks
        yield self._ends
        if self._marks is not None:
            yield self._marks
        yield self._opened
        yield self._keys
        yield from filter(None, self._keys)
        yield from self._chunks

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        chunks = self._chunks
        starts = [item[0] for item in chain.from_iterable(chunks)]
        wrong = []
        if self._tail is not chunks[-1] or type(self._tail) is not list:
            wrong.append("the tail is not the last chunk")
        if not all(chunks[:-1]):
            wrong.append("a sealed chunk is empty")
        if not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        if [chunk[-1][0] for chunk in chunks[:-1] if chunk] != self._ends:
            wrong.append(f"the ends are {self._ends}")
        if len(self._keys) != len(self._ends):
            wrong.append(f"there are {len(self._keys)} rows of keys")
        for chunk, keys in zip(chunks, self._keys, strict=False):
            if keys is not None and (type(chunk) is tuple or keys != [item[0] for item in chunk]):
                wrong.append(f"keys are {keys}")
        if self._latest != (starts[-1] if starts else NEGATIVE_INFINITY):
            wrong.append(f"latest is {self._latest}")
        if self._sealed != len(starts) - len(self._tail):
            wrong.append(f"{self._sealed} are said to be sealed")
        lengths = accumulate(map(len, chunks[:-1]), initial=self._origin)
        if self._marks is not None and self._marks != [*lengths][1:]:
            wrong.append(f"the marks from {self._origin} are {self._marks}")
        if self._opened != [*(self._opening or ())][: len(self._opened)]:
            wrong.append(f"copied ahead are {self._opened}")
        if self._opening is not None and not any(self._opening is chunk for chunk in chunks):
            wrong.append("what is copied ahead is not queued")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            lengths_said = [len(chunk) for chunk in chunks]
            raise AssertionError(
                f"{'; '.join(wrong)}: chunks of {lengths_said}, {len(self._active)} being processed, "
                f"merged {self.merged}, walked {self.walked}, starts {starts}"
            )


def due_end(chunk: Any, now: Any) -> int:
    """How many messages of a chunk, whose first is due, have start <= now; a few are found without bisecting it all.

    >>> due_end([(1,), (2,), (2,), (4,)], 2)
    3
    """
    length = len(chunk)
    if length == 1 or chunk[1][0] > now:
        return 1
    if length > FEW and chunk[FEW][0] > now:
        return bisect_right(chunk, now, 2, FEW, key=START)
    return bisect_right(chunk, now, 2, key=START)
