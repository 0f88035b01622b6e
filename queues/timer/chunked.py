"""Chunks of a sorted run, in runs of chunks, cut by bisection over their ends: a batch is a few runs handed over.

The module is longer than 300 lines because the class is one structure with one set of invariants.

Idea        Messages stand in chunks of about LOAD, and chunks in runs of up to RUN (chunked_run.py), with the last
            start of each beside them, so the cut is three bisections. Whole runs are handed to the batch as they are;
            only the run and the chunk that the cut falls into are divided, and the smaller part of them copied.
            Putting back hangs the same runs in again, and the next cut at the same place divides nothing. Runs that
            this leaves SHORT are joined where a cut is made.
            New messages go to an open chunk, the tail. When it is FULL its oldest LOAD messages, which the collector
            has seen by then, are sealed into a tuple: the collector stops tracking a tuple of messages that it does not
            track (a payload that it must track, such as a dict, keeps both tracked). A run that is full is closed into
            tuples likewise. So of what a full collection walks one run, of LOAD times RUN messages, adds one object;
            the tail, and the lists of the last run, stay the lists that they were. While the collector is off there is
            nobody to do that for: a tail of LOAD becomes a chunk as it is, and runs become WIDE.
            The lists of the front run are the queue's own too: what happens at the front, which is most of it, costs
            what it would cost if there were no runs.
Source      Chunks and ends: sortedcontainers, and unrolled lists (Shao, Reppy and Appel 1994); two levels of them: a B+
            tree's. The hand-over of whole chunks and runs, and the sealing for the collector, are ours.
Cost        enqueue         in order O(1); else O(log n + LOAD), bisections and a block move inside one chunk
            take            O(log n + LOAD + RUN), and one pointer for LOAD times RUN messages due
            process         O(1) a message
            requeue         O(RUN), and one pointer for LOAD times RUN messages left; a merge O(left + late)
            cancel          O(log n + LOAD + equal starts)
            memory          one pointer and one tuple a message, two words more for LOAD of them
Invariants  The tail is a list, the last chunk of the last run; no other chunk is empty, and no other run; starts never
            fall along the chunks. `_run_ends` has the last start of each run but the last, `_latest` that of the last
            message; `_sealed` counts all but the tail, `_deep` those of them that are behind the front run. `_front`,
            `_chunks` and `_ends` are the front run and its lists. Each run keeps the invariants of its module; the
            front run is open. `_opened` has the first `_ready` messages of `_opening`, a sealed chunk, and room for the
            others; or, of a closed run whose chunks are `_opening`, the first chunks, each with its end. `_room` yields
            at most as often as the tail can be appended to before it is FULL.
Weakness    Messages put in out of order turn chunks back into lists, which the collector walks; where many were put in,
            their starts stand beside them, one pointer more a message. They make runs longer, up to WIDE, which the
            first cut that falls into one pays for. A short queue is one list, whose pointers all move with every single
            message taken. A call that seals brings LOAD messages into the cache, and all are let go of more slowly, for
            tuples of tuples let go of their messages more slowly than lists. With the collector off the longest call is
            the first that hands on a chunk, code that has not run before; it is about as long as the longest of the
            array, where the system moves a large block without copying it. An empty queue has a list for each level,
            where the array has one.
Tried       `python -m runners.variants` races what lost. As ratios to what was kept, from one run of it: a message of
            `*message`, 1.27 for one in order among 1,000, and a tail asked for its length, 1.10; runs of RUN with the
            collector off, 1.51 for the longest call of 200,000; chunks that stay lists, 950 for a full collection
            beside 1,000,000 messages; no starts beside the chunks, 1.25 for a message in random order into 200,000; a
            chunk opened by the call that comes upon it, 1.06 for the longest take of one; runs of 32, 2.08 for a cycle
            of 1,000,000; chunks of 2,048, 1.37 in random order; going through a chunk with an index, 1.09. Keeping the
            arguments as the one tuple that they come in is 0.82 for a message in order, but then `start` has no name.
            The first part of a message apart would help the array as much: it is 1.45 as it is, and 1.01 with that.
Limits      `python -m runners.yardsticks` holds the queue against bare code. A loop that only asks the clock, calls the
            handler and lets go of the message takes about as long as `process`, a third more than one that keeps it.
            An in-order message among 1,000 is half as long again as a method that only appends. Letting go of 200,000
            messages in bare tuples of LOAD takes 1.07 to 1.12 of one list of them, in lists of LOAD 1.00 to 1.03.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_left, bisect_right
from itertools import chain, pairwise, repeat
from operator import length_hint
from weakref import ref

from queues.timer.chunked_batch import ChunkedBatch, check_batch
from queues.timer.chunked_run import COUNT, ENDS, LAST, START, Run, check_run, messages_of, runs_of
from queues.timer.rules import (
    NEGATIVE_INFINITY,
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
    watched,
)

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LOAD = 512  # messages in a chunk: see the module's docstring
FULL = LOAD + gc.get_threshold()[0] + LOAD  # a tail as long as that has LOAD messages that the collector has seen
SMALL = 128  # messages up to here go back into the front chunk, and chunks are joined
RUN = 128  # chunks in a run
AHEAD = 4  # messages, or chunks, that are copied ahead at a time
SHORT = 32  # neighbouring runs of so few chunks are joined
WIDE = 1024  # chunks in a run that messages are put into out of order
FEW = 16  # due messages up to here are looked for at the front of a chunk first
NOTHING: Any = object()  # what is no part of a message
NO_MORE: tuple[Any, ...] = ()
AT_ONCE = repeat(NOTHING, 0)  # the room of a tail whose length is to be asked at the next message


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
        "_deep",
        "_ends",
        "_front",
        "_latest",
        "_opened",
        "_opening",
        "_ready",
        "_reference",
        "_room",
        "_run_ends",
        "_runs",
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
        self.merged = 0
        self.walked = 0
        self._clear()
        self._make_room()

    def _clear(self) -> None:
        """Be empty: one run of one chunk, the open tail, with nothing in it."""
        self._tail: list[Any] = []
        self._room = AT_ONCE
        self._runs: list[Run] = [Run([self._tail], [], None, 0)]  # of a front run any count would do
        self._run_ends: list[Any] = []
        self._lead(self._runs[0])
        self._deep = 0
        self._sealed = 0
        self._latest: Any = NEGATIVE_INFINITY
        self._opening: Any = None
        self._opened: list[Any] = []
        self._ready = 0  # pragma: no mutate: read only once something is being opened

    def _lead(self, front: Run) -> None:
        """Know the front run, and its lists as one's own, so that no call on the front pays for there being more."""
        self._front = front
        self._chunks: list[Any] = front.chunks
        self._ends: list[Any] = front.ends

    def enqueue(self, start: Any, first: Any = NOTHING, *more: Any) -> None:
        """Keep the message in start order, behind equal starts. In order O(1), else O(log n + chunk).

        `first` and `more` are the message: with the first part apart, the usual one of one part is kept by making one
        tuple, where `*message` would make three. An iterator is asked for room, because asking the tail for its length
        makes an int.
        """
        try:
            if start >= self._latest:
                self._latest = start
                for nothing in self._room:
                    if more is NO_MORE and first is not nothing:
                        self._tail.append((start, first))
                    else:
                        self._tail.append(item_of(start, first, more))
                    return
                self._tail.append(item_of(start, first, more))
                self._make_room()
                return
        except (TypeError, ArithmeticError):
            require_instant(start)
            raise
        one = more is NO_MORE and first is not NOTHING  # `item_of` would make the same, in more time
        self._insert(start, (start, first) if one else item_of(start, first, more))

    def _make_room(self) -> None:
        """Note after how many messages to look at the tail again, or do one thing about one that is FULL. O(FULL).

        One thing a call, the next message coming here again: a run that is full is closed by one call, the chunk sealed
        by the next, room noted by a third. With the collector off there is nobody to close and seal for: a chunk is
        handed on as it is, which costs O(1), and a run may be as WIDE as any, because to begin one takes a queue that
        has not done so for long several times what it takes to hand on a chunk.
        """
        full, most = (FULL, RUN) if gc.isenabled() else (LOAD, WIDE)
        last = self._runs[-1]
        if len(self._tail) < full:
            self._room = repeat(NOTHING, full - 1 - len(self._tail))
        elif len(last.ends) >= most:
            self._close(last)
        elif full == FULL:
            self._seal()
        else:
            block, self._tail = self._tail, []
            self._hang(block)

    def _seal(self) -> None:
        """Close the oldest LOAD messages of the tail as a tuple; the tail stays the list that it was. O(FULL).

        The collector looks at a message soon after it came and stops tracking it, and then stops tracking a tuple of
        such messages the first time it sees one. The young ones stay in the tail, or the tuple would be walked again.
        """
        tail = self._tail
        block = tuple(tail[:LOAD])
        del tail[:LOAD]
        self._hang(block)

    def _hang(self, block: Any) -> None:
        """Put a sealed chunk before the tail. O(1)."""
        run = self._runs[-1]
        run.chunks[-1] = block
        run.chunks.append(self._tail)
        run.ends.append(block[-1][0])
        if run.keys is not None:
            run.keys.append(None)
        self._sealed += len(block)
        if self._run_ends:
            self._deep += len(block)
            run.count += len(block)

    def _close(self, last: Run) -> None:
        """Leave the tail alone in the last run. O(chunks of it).

        As with the tail, what was in the last run is closed into a new one and its lists stay, so that the collector is
        given one object to walk for all those messages. Only the front run has to keep its own lists.
        """
        self._run_ends.append(last.ends[-1])
        if last is self._front or not gc.isenabled():
            del last.chunks[-1]
            self._runs.append(Run([self._tail], [], None, 0))
        else:
            self._runs.insert(-1, last.closed())

    def _insert(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that starts before the last one: bisections and a block move within one chunk."""
        if not start >= NEGATIVE_INFINITY:  # -inf itself may be asked about or not: it is an instant
            require_instant(start)
        ends = self._ends
        number = bisect_right(ends, start) if ends else 0  # bisecting nothing gives 0, in more time
        if number == len(ends):
            if self._run_ends:
                self._insert_behind(start, item)
                return
            tail = self._tail
            tail.insert(bisect_right(tail, start, key=START), item)
            for _ in self._room:
                return
            self._make_room()
            return
        chunk = self._chunks[number]
        rows = self._front.keys
        keys = None if rows is None else rows[number]
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
        if len(chunk) >= most:
            self._split(0, number)

    def _insert_behind(self, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message behind the front run; apart from what goes into that, so that it does not pay for it."""
        at = bisect_right(self._run_ends, start)
        run = self._runs[at]
        number = bisect_right(run.ends, start)
        chunk = run.chunks[number]
        if number == len(run.ends):
            chunk.insert(bisect_right(chunk, start, key=START), item)
            for _ in self._room:
                return
            self._make_room()
            return
        keys = run.keys and run.keys[number]
        if keys is not None:
            place = bisect_right(keys, start)
            keys.insert(place, start)
        else:
            if type(chunk) is tuple:
                self._open(run)
                chunk = run.chunks[number] = self._unsealed(chunk)
            place = bisect_right(chunk, start, key=START)
        chunk.insert(place, item)
        self._sealed += 1
        self._deep += 1
        run.count += 1
        if len(chunk) >= (LOAD + LOAD if keys is None else LOAD):
            self._split(at, number)

    def _split(self, at: int, number: int) -> None:
        """Make two chunks of one that has grown too long, their starts beside them, and two runs of one likewise.

        A chunk that so many were put into will see more of them, and looking at a start through its message brings
        two objects into the cache where one would do.
        """
        run = self._runs[at]
        self._open(run)
        chunks, ends = run.chunks, run.ends
        if run.keys is None:
            run.keys = [None] * len(ends)
        chunk = chunks[number]
        keys = run.keys[number] or [*map(START, chunk)]
        half = len(chunk) // 2
        chunks.insert(number, chunk[:half])
        ends.insert(number, chunk[half - 1][0])
        run.keys[number] = keys[half:]
        run.keys.insert(number, keys[:half])
        del chunk[:half]
        if len(ends) >= WIDE:
            self._split_run(at)

    def _split_run(self, at: int) -> None:
        """Make two runs of one that has grown too long. O(chunks of it)."""
        run = self._runs[at]
        count = run.count if at else self._sealed - self._deep
        part = run.divide(len(run.ends) // 2, count)  # which counts a half itself: any `count` would do
        run.count = count - part.count
        self._runs.insert(at, part)
        self._run_ends.insert(at, part.ends[-1])
        if not at:
            self._deep += run.count
            self._lead(part)

    def take(self, now: Any = None, limit: int | None = None) -> ChunkedBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. O(log n + chunk)."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        front = self._chunks[0]
        try:
            due = front[0][0] <= now
        except IndexError:
            due = False  # or None, which is no more true
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
                if ends:
                    self._sealed -= 1
                    keys = self._front.keys
                    if keys is not None:
                        keys[0] = None
                    self._open_ahead()
            else:
                cut = due_end(front, now)
                block = self._off(front, cut if not most or cut < most else most)  # at equality both are the same
            return ChunkedBatch(self._reference, [block], block[-1][0])
        if len(front) == 1 and len(self._chunks) > 1 and self._chunks[1] and self._chunks[1][0][0] > now:
            return self._last_of_a_chunk(front)
        at = bisect_right(self._run_ends, now) if self._run_ends else 0  # as in `_insert`
        run = self._runs[at]
        number = bisect_right(run.ends, now)
        chunk = run.chunks[number]  # its first message is looked at first, for a batch that was put back ends there
        cut = bisect_right(chunk, now, key=START) if chunk and chunk[0][0] <= now else 0  # bisecting says 0 too
        if most:
            at, number, cut = min((at, number, cut), self._place(most))
        return self._cut(at, number, cut)

    def _last_of_a_chunk(self, front: list[Any]) -> ChunkedBatch:
        """Hand over the front chunk, which is down to one message and not the last of its run. O(chunks of the run)."""
        del self._chunks[0], self._ends[0]
        if self._front.keys is not None:
            del self._front.keys[0]
        self._sealed -= 1
        return ChunkedBatch(self._reference, [front], front[0][0])

    def _place(self, most: int) -> tuple[int, int, int]:
        """The place behind so many messages, or behind the last: run, chunk, message. O(runs passed + chunks)."""
        runs = self._runs
        at = number = 0
        count = self._sealed - self._deep
        while most >= count and at + 1 < len(runs):
            most -= count
            at += 1
            count = runs[at].count
        chunks = runs[at].chunks
        while most >= len(chunks[number]) and number + 1 < len(chunks):
            most -= len(chunks[number])
            number += 1
        return at, number, min(most, len(chunks[number]))

    def _cut(self, at: int, number: int, cut: int) -> ChunkedBatch:
        """Hand over `at` whole runs, `number` whole chunks of the next, and the first `cut` messages of the next.

        O(runs given + smaller parts of what is divided).
        """
        if not at and not number:
            block = self._off(self._chunks[0], cut)
            return ChunkedBatch(self._reference, [block], block[-1][0])
        if self._opening is not None and (at or number > 1 or self._chunks[0] is self._opening):
            self._forget()
        if at:
            return self._cut_runs(at, number, cut)
        part = self._part(number, cut)
        chunks = part.chunks
        return ChunkedBatch(self._reference, chunks, part.ends[-1], [part], part.count - len(chunks[0]))

    def _cut_runs(self, at: int, number: int, cut: int) -> ChunkedBatch:
        """Hand over `at` whole runs, at least one, and what the cut takes off the next. O(runs + smaller parts)."""
        runs = self._runs
        runs[0].count = self._sealed - self._deep
        self._open(runs[at])
        given = runs[:at]
        del runs[:at], self._run_ends[:at]
        left = sum(map(COUNT, given))
        front = self._front = runs[0]
        self._chunks = front.chunks
        self._ends = front.ends
        self._sealed -= left
        self._deep = self._sealed - front.count
        if number or cut:
            part = self._part(number, cut)
            left += part.count
            last = given[-1]
            if len(last.chunks) + len(part.chunks) <= SHORT:
                last.put_before(part)
                part.count += last.count
                given[-1] = part
            else:
                given.append(part)
        elif not front.ends and not self._tail:
            self._latest = NEGATIVE_INFINITY
        first = given[0]
        chunks = first.chunks
        batch = ChunkedBatch(self._reference, chunks, given[-1].ends[-1], given, left - len(chunks[0]))
        batch.beyond = left - first.count
        return batch

    def _part(self, number: int, cut: int) -> Run:
        """Divide the front run and return its first chunks and messages; what is left of it is joined if that is short.

        O(smaller parts).
        """
        front = self._front
        part = front.divide(number, self._sealed - self._deep)
        self._chunks = front.chunks
        self._ends = front.ends
        self._sealed -= part.count
        if cut:
            part.add(self._off(front.chunks[0], cut))
        if not front.ends and not self._tail:
            self._latest = NEGATIVE_INFINITY
        runs = self._runs
        if number and len(runs) > 1 and len(front.chunks) + len(runs[1].chunks) <= SHORT:
            self._join(0)
        return part

    def _join(self, at: int) -> None:
        """Make one run of two neighbours. O(chunks)."""
        runs = self._runs
        earlier, later = runs[at], runs[at + 1]
        self._open(later)
        earlier.put_before(later)
        del runs[at], self._run_ends[at]
        if at:
            later.count += earlier.count
        else:
            self._deep -= later.count
            self._lead(later)

    def _join_short(self, at: int) -> None:
        """Join a run that has lost a chunk with its neighbours, while together they are short. O(chunks)."""
        runs = self._runs
        for earlier in (at, at - 1):
            if earlier < 0 or earlier + 1 >= len(runs):
                continue
            if len(runs[earlier].chunks) + len(runs[earlier + 1].chunks) <= SHORT:
                self._join(earlier)

    def _off(self, front: Any, cut: int) -> list[Any]:
        """Take the first `cut` messages off the front chunk and return them as a list, copying the smaller part."""
        sealed = bool(self._ends)
        if sealed:
            self._sealed -= cut
            keys = self._front.keys
            if keys is not None:
                keys[0] = None
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
        """Copy a few messages of the second chunk, if that is sealed, so that no call has to open it whole. O(1).

        What opening costs is not the pointers but the messages, each of which comes into the cache to be counted: once
        for the copy, and once more when the tuple goes, in a call that does nothing else.
        """
        if len(self._chunks) == 1:
            self._open_run_ahead()
            return
        following = self._chunks[1]
        if following is not self._opening:
            if self._opening is not None:
                self._forget()
            if type(following) is not tuple:
                return
            self._opening = following
            self._opened = [None] * len(following)  # of its length, or it would grow, to where no block is free
            self._ready = 0
            return
        done = self._ready
        if done < len(following):
            self._opened[done : done + AHEAD] = following[done : done + AHEAD]
            self._ready = done + AHEAD
        else:
            self._chunks[1] = self._unsealed(following)

    def _open_run_ahead(self) -> None:
        """Copy a few chunks and ends of the second run, if that is closed; join it when that is done. O(1) a time."""
        later = self._runs[1]
        if type(later.chunks) is tuple:
            if self._opening is not later.chunks:
                self._forget()
                self._opening = later.chunks
            opened = self._opened
            done = len(opened) // 2
            if done < len(later.chunks):
                for number in range(done, min(done + AHEAD, len(later.chunks))):
                    opened += (later.chunks[number], later.ends[number])
                return
            self._forget()
            later.chunks = opened[::2]
            later.ends = opened[1::2]
        self._join(0)

    def _open(self, run: Run) -> None:
        """Let the chunks of a run change. O(1), or O(chunks) once for a run that was closed."""
        if type(run.chunks) is tuple:
            if run.chunks is self._opening:
                self._forget()
            run.open()

    def _unsealed(self, chunk: tuple[Any, ...]) -> list[Any]:
        """A sealed chunk as a list, to be put in its place; what was copied ahead serves. O(what was not)."""
        if chunk is not self._opening:
            return [*chunk]
        opened = self._opened
        if self._ready < len(chunk):  # at equality there is nothing to copy
            opened[self._ready :] = chunk[self._ready :]
        self._opening = None
        self._opened = []
        return opened

    def _forget(self) -> None:
        """Let go of what was copied ahead: those messages leave the queue, or others come first."""
        if self._opening is not None:
            self._opening = None
            self._opened = []

    def process(self, batch: ChunkedBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        # That only who is to be refused goes there saves time: it says nothing of a good batch.
        if type(batch) is not ChunkedBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ChunkedBatch, self)
        require_handler(handler)
        if batch.runs is not None:
            batch.runs[0].keys = None  # they would have to follow
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ChunkedBatch) -> int:
        """Put what is left in front of the queue and return how many. O(runs); a merge O(left + late)."""
        # As in `process`.
        if type(batch) is not ChunkedBatch or batch._reference is not self._reference or batch.processing:
            require_batch(batch, ChunkedBatch, self)
        chunks = batch.chunks
        if not chunks:
            return 0
        left = len(chunks[0]) + batch.behind
        front = self._chunks[0]
        if not front:
            if batch.runs is None:
                self._tail = self._chunks[0] = chunks[0]
                self._room = AT_ONCE
                self._latest = chunks[0][-1][0]
                batch.empty()
            else:
                self._adopt(batch.give(), left)
        elif not batch.latest <= front[0][0]:
            self._merge(batch, left)
        elif left <= SMALL and len(front) <= LOAD and type(front) is list:
            # Of runs with nothing behind the first chunk both are the same.
            front[:0] = messages_of(batch.runs) if batch.behind and batch.runs else chunks[0]
            batch.empty()
            if self._ends:
                self._sealed += left
                keys = self._front.keys
                if keys is not None:
                    keys[0] = None
            else:
                self._room = AT_ONCE
        elif batch.runs is None and len(self._chunks) < RUN:
            self._put_chunk(chunks[0])
            batch.empty()
        else:
            beyond = batch.beyond
            self._put_in_front(batch.give(), left, beyond)
        return left

    def _put_chunk(self, chunk: list[Any]) -> None:
        """Hang a chunk in before the others of the front run. O(chunks of it)."""
        self._chunks.insert(0, chunk)
        self._ends.insert(0, chunk[-1][0])
        if self._front.keys is not None:
            self._front.keys.insert(0, None)
        self._sealed += len(chunk)

    def _adopt(self, given: list[Run], left: int) -> None:
        """Be what the batch was: nothing else is queued."""
        last = given[-1]
        last.open()
        tail = last.chunks[-1]
        if type(tail) is tuple:
            tail = last.chunks[-1] = [*tail]
        self._tail = tail
        self._room = AT_ONCE
        self._latest = last.ends.pop()
        if last.keys is not None:
            last.keys.pop()
        last.count -= len(tail)
        self._runs = given
        self._run_ends = [*map(LAST, map(ENDS, given[:-1]))]
        self._sealed = left - len(tail)
        self._deep = sum(map(COUNT, given[1:]))
        self._lead(given[0])

    def _put_in_front(self, given: list[Run], left: int, beyond: int) -> None:
        """Relink runs before the front run, or the chunks of a short run in it. O(runs), block moves.

        `left` counts the messages, `beyond` those behind the first of the runs.
        """
        last = given[-1]
        chunks = last.chunks
        if len(chunks) > 1 and len(chunks[-1]) + len(chunks[-2]) <= LOAD:
            last.join_last()
        front = self._front
        first = given[0]
        if first is last and len(chunks) + len(front.chunks) <= SHORT:
            first.put_before(front)
        else:
            front.count = self._sealed - self._deep
            self._deep = self._sealed + beyond
            if first is last:
                self._runs.insert(0, first)
                self._run_ends.insert(0, first.ends[-1])
            else:
                self._runs[:0] = given
                self._run_ends[:0] = map(LAST, map(ENDS, given))
            self._front = first
            self._chunks = first.chunks
            self._ends = first.ends
        self._sealed += left

    def _merge(self, batch: ChunkedBatch, left: int) -> None:
        """Sort what is left in with the late arrivals: equal starts of the batch lead, because the sort is stable."""
        latest = batch.latest
        messages = batch.give_messages()
        at = bisect_left(self._run_ends, latest)
        run = self._runs[at]
        number = bisect_left(run.ends, latest)
        cut = bisect_left(run.chunks[number], latest, key=START)
        if at or number or cut:
            messages += self._cut(at, number, cut).give_messages()
            messages.sort(key=START)
        self.merged += left
        if not self._chunks[0] and len(messages) <= LOAD:  # a single chunk could be adopted too, in more time
            self._tail = self._chunks[0] = messages
            self._room = AT_ONCE
            self._latest = messages[-1][0]
        elif not self._chunks[0]:
            self._adopt(runs_of(messages, LOAD, RUN), len(messages))
        elif len(messages) <= LOAD and len(self._chunks) < RUN:
            self._put_chunk(messages)
        else:
            runs = runs_of(messages, LOAD, RUN)
            self._put_in_front(runs, len(messages), sum(map(COUNT, runs[1:])))

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(log n + chunk + equals)."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            item, passed = batch.cancel(start, match)
            self.walked += passed
            if item is not None:
                return item
        at = 0
        chunks = self._chunks
        number = bisect_left(self._ends, start)
        if self._run_ends and number == len(self._ends):  # else bisecting finds the front run too
            at = bisect_left(self._run_ends, start)
            chunks = self._runs[at].chunks
            number = bisect_left(self._runs[at].ends, start)
        chunk = chunks[number]
        index = bisect_left(chunk, start, key=START)
        while True:  # equal starts may go on in the next chunk
            while index < len(chunk):
                item = chunk[index]
                if item[0] != start:
                    return None
                if match is None or match(*item[1:]):
                    return self._remove(at, number, index)
                self.walked += 1
                index += 1
            number += 1
            if number >= len(chunks):
                at += 1
                if at >= len(self._runs):
                    return None
                chunks = self._runs[at].chunks
                number = 0
            chunk = chunks[number]
            index = 0

    def _remove(self, at: int, number: int, index: int) -> tuple[Any, ...]:
        """Take one message out of a chunk, and the chunk too when it was the last; join it with a small neighbour."""
        run = self._runs[at]
        if at:
            self._open(run)
        chunks = run.chunks
        ends = run.ends
        chunk = chunks[number]
        if type(chunk) is tuple:
            chunk = chunks[number] = self._unsealed(chunk)
        item: tuple[Any, ...] = chunk.pop(index)
        if number == len(ends):
            if index == len(chunk):
                self._look_back()
            return item
        self._sealed -= 1
        if at:
            run.count -= 1
            self._deep -= 1
        keys = run.keys
        if keys is not None and keys[number] is not None:
            del keys[number][index]
        if not chunk:
            self._drop(at, number)
            return item
        ends[number] = chunk[-1][0]
        if number + 1 < len(ends):
            if len(chunk) + len(chunks[number + 1]) <= SMALL:
                chunks[number : number + 2] = [[*chunk, *chunks[number + 1]]]
                del ends[number]
                if keys is not None:
                    keys[number : number + 2] = [None]
                self._join_short(at)
        elif at < len(self._run_ends):
            self._run_ends[at] = ends[-1]
        if not self._tail:
            self._look_back()
        return item

    def _drop(self, at: int, number: int) -> None:
        """Remove a sealed chunk that has become empty, and join its run with a neighbour when both are short."""
        run = self._runs[at]
        del run.chunks[number], run.ends[number]
        if run.keys is not None:
            del run.keys[number]
        if not run.chunks:
            self._join(at)
        else:
            if at < len(self._run_ends):
                self._run_ends[at] = run.ends[-1]
            self._join_short(at)
        if not self._tail:
            self._look_back()

    def _look_back(self) -> None:
        """Find anew what the latest start is, or that nothing is queued, now that the tail has lost a message."""
        tail = self._tail
        if tail:
            self._latest = tail[-1][0]
        elif self._runs[-1].ends:
            self._latest = self._runs[-1].ends[-1]
        elif self._run_ends:
            self._latest = self._run_ends[-1]
        else:
            self._clear()

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
        return iter([*messages_of(self._runs)])

    def container(self) -> Iterator[object]:
        """The queue, its lists, and every chunk."""
        yield self
        yield self._active
        yield self._runs
        yield self._run_ends
        yield self._opened
        yield self._room
        for run in self._runs:
            yield from (run, run.chunks, run.ends)
            if run.keys is not None:
                yield run.keys
                yield from filter(None, run.keys)
            yield from run.chunks

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        starts = [*map(START, messages_of(self._runs))]
        wrong = [said for run in self._runs for said in check_run(run)] + self._check_runs()
        if not all(earlier <= later for earlier, later in pairwise(starts)):
            wrong.append("out of order")
        if self._latest != (starts[-1] if starts else NEGATIVE_INFINITY):
            wrong.append(f"latest is {self._latest}")
        if self._sealed != len(starts) - len(self._tail):
            wrong.append(f"{self._sealed} are said to be sealed")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            lengths = [[len(chunk) for chunk in run.chunks] for run in self._runs]
            raise AssertionError(
                f"{'; '.join(wrong)}: runs with chunks of {lengths}, {len(self._active)} being processed, "
                f"merged {self.merged}, walked {self.walked}, starts {starts}"
            )

    def _check_runs(self) -> list[str]:
        """What is wrong with how the runs hang together. O(chunks)."""
        runs = self._runs
        wrong = []
        if length_hint(self._room) > max(FULL - 1 - len(self._tail), 0):
            wrong.append(f"there is said to be room for {length_hint(self._room)} behind {len(self._tail)}")
        if runs[-1].chunks[-1] is not self._tail or type(self._tail) is not list:
            wrong.append("the tail is not the last chunk")
        if [len(run.chunks) - len(run.ends) for run in runs] != [0] * (len(runs) - 1) + [1] or not all(
            run.ends for run in runs[:-1]
        ):
            wrong.append("a run is empty, or a chunk but the tail has no end")
        if self._run_ends != [run.ends[-1] for run in runs[:-1] if run.ends]:
            wrong.append(f"the runs are said to end at {self._run_ends}")
        front = runs[0]
        if self._front is not front or self._chunks is not front.chunks or self._ends is not front.ends:
            wrong.append("the front run is another")
        counts = [sum(map(len, run.chunks[: len(run.ends)])) for run in runs]
        if [run.count for run in runs[1:]] != counts[1:] or self._deep != sum(counts[1:]):
            wrong.append(f"behind the front run {self._deep} are said to be sealed: {counts}")
        return wrong + self._check_opened()

    def _check_opened(self) -> list[str]:
        """What is wrong with what is copied ahead. O(chunks)."""
        opening, opened = self._opening, self._opened
        said = [f"copied ahead are {opened} of {opening}"]
        if opening is None:
            return said if opened else []
        for run in self._runs:
            if run.chunks is opening:
                # Not to be strict is what zip does anyway.
                ahead = [*chain.from_iterable(zip(run.chunks, run.ends, strict=False))]
                return said if opened != ahead[: len(opened)] else []
            if any(chunk is opening for chunk in run.chunks):
                ready = self._ready
                return said if len(opened) != len(opening) or opened[:ready] != [*opening[:ready]] else []
        return [*said, "what is copied ahead is not queued"]


def item_of(start: Any, first: Any, more: tuple[Any, ...]) -> tuple[Any, ...]:
    """A message as it is kept, from the arguments of `enqueue`.

    >>> item_of(3, NOTHING, ()), item_of(3, "send", ("mail",))
    ((3,), (3, 'send', 'mail'))
    """
    return (start,) if first is NOTHING else (start, first, *more)


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
    return bisect_right(chunk, now, 2, key=START)  # or from 0, with no fewer looks
