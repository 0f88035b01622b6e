"""The hierarchical timing wheel, made exact: in order inside a tick, jumping over empty ones, for any time base.

Idea        Messages are filed by the tick that they start in (queues.timer.ticks). Those of ticks that the wheel has
            come to stand in order in queues.timer.wheel_front, later ones in the slots of queues.timer.wheel_levels,
            and those beyond 2**50 ticks, infinity too, in a front of their own, `_beyond`. `take` turns the wheel to
            the tick of `now`, which brings what is due to the front in order, and then cuts the front by the exact
            start. An empty wheel takes its place from the first message, so no base is special.
Source      Varghese and Lauck (1987), scheme 7. Usual wheels let the order inside a tick go, round to ticks, or visit
            each tick that has passed; the contract forbids the first two, and wheel_levels avoids the third.
Cost        enqueue         O(1) for a later tick, in any order; for a tick that the wheel has come to, in order O(1),
                            else O(log front) and a block move
            take            O(log due) when all that is due is in front already, and a block copy unless it is all that
                            is there; else a turn of the wheel: O(due), a sort of what arrived out of order, and
                            O(messages in one slot) to file that slot anew
            process         O(1) a message
            requeue         O(1) for a whole batch into an empty front, else a block copy; a merge sorts it in; what is
                            later than the wheel's tick, after the queue was empty, is filed anew
            cancel          O(messages in the slot), in front O(log front + equal starts) and a block move
            next_start      O(1) while something is in front, else O(messages in the earliest slot)
            memory          one pointer and one tuple a message, and a list and a place in a dictionary for each slot
Invariants  Front and levels: as they say. No tick in front is later than the wheel's, all that is beyond is in HIGHEST.
Weakness    The turn that enters a large slot files thousands of messages anew in one call, which a heap never does. One
            message a tick costs a list each. Arrivals for a tick that has passed cost what they cost in an array.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from weakref import ref

from queues.timer.array_batch import ArrayBatch, check_batch, find
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
from queues.timer.ticks import HIGHEST, require_span, tick_counter
from queues.timer.wheel_front import WheelFront
from queues.timer.wheel_levels import BITS, WheelLevels

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

BLOCK = 1 << 3 * BITS  # an empty wheel is set to the beginning of so many ticks: three days of seconds


class Wheel:
    """A timer queue in a timing wheel; `queues.contract.TimerQueue` says what each call means.

    `tick` is the span of one slot of the lowest level, in the clock's unit; it decides costs, never what is due.

    >>> queue = Wheel(tick=10)
    >>> for start in (12, 990, 11):
    ...     queue.enqueue(start, "mail")
    >>> batch = queue.take(now=12)
    >>> queue.process(batch, print, deadline=float("inf"))
    11 mail
    12 mail
    2
    >>> list(queue.contents())
    [(990, 'mail')]
    """

    __slots__ = (
        "__weakref__",
        "_active",
        "_beyond",
        "_clock",
        "_front",
        "_levels",
        "_reference",
        "_tick_of",
        "_window",
        "merged",
        "walked",
    )

    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time, tick: Any = 1.0) -> None:
        """An empty queue; ValueError or TypeError for settings that make no sense."""
        require_settings(window, clock)
        require_span(tick, "tick")
        self._window = window
        self._clock = clock
        self._tick_of = tick_counter(tick)
        self._front = WheelFront()
        self._levels = WheelLevels(self._tick_of)
        self._beyond = WheelFront()
        self._active: list[ArrayBatch] = []  # being processed, innermost last
        self._reference = ref(self)  # what batches know their queue by
        self.merged = 0
        self.walked = 0

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts. O(1) for a tick that the wheel has not come to."""
        try:
            ordered = start >= NEGATIVE_INFINITY  # pragma: no mutate: without it require_instant is asked, and tells
        except (TypeError, ArithmeticError):
            ordered = False  # None is the same: only its truth is asked for
        if not ordered:
            require_instant(start)
        tick = self._tick_of(start)
        levels = self._levels
        if levels.count and levels.current < tick < HIGHEST:
            levels.file(tick, (start,) + message)
        else:
            self._place(tick, start, (start,) + message)

    def _place(self, tick: int, start: Any, item: tuple[Any, ...]) -> None:
        """Place a message that may not belong into a slot, or find the wheel's place for it."""
        levels = self._levels
        if tick == HIGHEST:
            self._beyond.insert(start, item)
            return
        if not levels.count and not self._front.items:
            levels.current = tick & -BLOCK
        if tick > levels.current:
            levels.file(tick, item)
        else:
            self._front.insert(start, item)

    def take(self, now: Any = None, limit: int | None = None) -> ArrayBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit`, or return None. See the module's Cost."""
        if now is None:
            now = self._clock()
        most = 0 if limit is None else require_limit(limit)
        require_instant(now, "now")
        tick = self._tick_of(now)
        if tick > self._levels.current and self._levels.count:
            self._turn(tick)
        items = self._front.cut(now, most)
        if tick == HIGHEST and not self._front.items and (not most or len(items) < most):
            items = items + self._beyond.cut(now, most and most - len(items))
        return ArrayBatch(self._reference, items) if items else None

    def _turn(self, tick: int) -> None:
        """Move the wheel on to a later tick and bring what it passes to the front.

        A wheel that this empties stands no later than the last message that it gave out, so that a far look ahead does
        not make every later arrival one for a tick that has passed.
        """
        levels = self._levels
        self._front.extend(levels.advance(tick))
        if not levels.count:
            levels.current = self._tick_of(self._front.items[-1][0])

    def process(self, batch: ArrayBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched. O(1) a message."""
        require_batch(batch, ArrayBatch, self)
        require_handler(handler)
        return batch.dispatch(self._active, handler, self._clock, deadline_of(deadline, self._clock, self._window))

    def requeue(self, batch: ArrayBatch) -> int:
        """Put what is left in front of the queue and return how many. O(1) or a block copy, see the module's Cost."""
        require_batch(batch, ArrayBatch, self)
        rest = batch.rest()
        left = len(rest)
        if not left:
            return 0
        if self._has_earlier(batch.latest):
            self.merged += left
        levels = self._levels
        tick = self._tick_of(rest[-1][0])
        if tick == HIGHEST or tick > levels.current or not (self._front.items or levels.count):
            rest = self._put_back_later(rest)
        if rest:
            self._front.put_in_front(rest)
        batch.empty()
        return left

    def _has_earlier(self, latest: Any) -> bool:
        """Whether a message is queued that starts before `latest`. O(1), but for the rare look into a slot."""
        levels = self._levels
        if not self._front.items and levels.count and self._tick_of(latest) <= levels.current:
            return False
        return bool(len(self) and self.next_start < latest)

    def _put_back_later(self, rest: list[Any]) -> list[Any]:
        """Put back what does not belong to the front, and return what does. An empty wheel is set to the latter's end.

        The queue was empty since these were taken, or they are beyond all ticks.
        """
        levels = self._levels
        ticks = [self._tick_of(item[0]) for item in rest]
        end = bisect_left(ticks, HIGHEST)
        if end and not levels.count and not self._front.items:
            levels.current = ticks[end - 1]
        near = bisect_right(ticks, levels.current)  # `current` is never HIGHEST, so this is no more than `end`
        levels.file_in_front(rest[near:end])
        if end < len(rest):
            self._beyond.put_in_front(rest[end:])
        return rest[:near]

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(messages in the slot)."""
        require_instant(start)
        match = watched(match, self, self._active)
        for batch in self._active:
            index, passed = find(batch.items, batch.at + 1, start, match)
            self.walked += passed
            if index is not None:
                item: tuple[Any, ...] = batch.items.pop(index)
                return item
        for row in (self._front, self._levels, self._beyond):
            found, passed = row.cancel(start, match)
            self.walked += passed
            if found is not None:
                return found
        return None

    def __len__(self) -> int:
        """Messages queued. O(1)."""
        return len(self._front) + self._levels.count + len(self._beyond)

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(1) if it is in front, else O(messages in the earliest slot)."""
        if self._levels.count and not self._front.items:
            return self._levels.earliest()
        front = self._front if self._front.items else self._beyond
        return front.items[front.head][0] if front.items else None

    @property
    def refiled(self) -> int:
        """How many messages turns of the wheel have filed anew: what constant time to enqueue has left for later."""
        return self._levels.refiled

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call. O(n log n) at worst: slots are sorted."""
        return iter(self._front.rest() + self._levels.items() + self._beyond.rest())

    def container(self) -> Iterator[object]:
        """The queue, its two fronts, and the levels with every slot."""
        yield self
        yield self._active
        for front in (self._front, self._beyond):
            yield front
            yield front.items
        yield from self._levels.objects()

    def check(self) -> None:
        """Assert every invariant of the module's docstring. O(messages)."""
        levels = self._levels
        wrong = self._front.wrong() + levels.wrong() + [f"beyond: {words}" for words in self._beyond.wrong()]
        near, beyond = ([item[0] for item in front.items if item] for front in (self._front, self._beyond))
        if any(self._tick_of(start) > levels.current for start in near):
            wrong.append("the front has a tick that the wheel has not come to")
        if any(self._tick_of(start) != HIGHEST for start in beyond):
            wrong.append("what is beyond belongs into a slot")
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: at tick {levels.current}, {len(self._active)} being processed, merged "
                f"{self.merged}, walked {self.walked}, front {near}, slots {levels.slots}, beyond {beyond}"
            )
