"""The levels of a hierarchical timing wheel: slots of messages by the digits of their ticks, base 64.

Idea        The wheel stands at a tick. A message of a later tick is filed by the highest digit in which the two differ:
            its level is the place of that digit, its slot the digit itself. So level 0 holds single ticks and each
            level above 64 times as much in a slot, and all slots of a level come before all of the next one. Moving on
            to a tick empties the slots that lie before it, whatever their number of ticks, and files the one slot that
            the tick lies in anew. A bit for each slot that has messages lets empty ones be jumped over.
Source      Varghese and Lauck, "Hashed and hierarchical timing wheels" (1987), scheme 7; the level as the highest digit
            that differs, with a bit mask a level, is how tokio's timer does it. Slots are lists in order of arrival;
            nothing is ever filed into a slot that others have to go before, so equal starts stay in that order.
Cost        file            O(1)
            advance         O(levels + slots passed), at most 64 slots a level; sorting what is due, which is in order
                            but for what is not within a slot; and O(messages in the one slot filed anew)
            cancel          O(messages in the slot)
            earliest        O(messages in the earliest slot)
Invariants  Every message is in the slot that its tick and `current` name, and its tick is later than `current`. Masks
            have a bit for each slot, no slot is empty, `count` is the number of messages, and no tick is HIGHEST.
Weakness    Moving into a slot of a high level files all of it anew in one call, up to once for each level in the life
            of a message. Inside a slot nothing is sorted until it is due.
"""

from __future__ import annotations

from operator import itemgetter

from queues.timer.ticks import HIGHEST

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

BITS = 6  # 64 slots a level
SLOTS = 1 << BITS
LEVELS = -(-HIGHEST.bit_length() // BITS)
START = itemgetter(0)


class WheelLevels:
    """Messages of ticks later than `current`, in slots. `refiled` counts how often one was filed anew."""

    __slots__ = ("count", "current", "masks", "refiled", "slots", "tick_of")

    def __init__(self, tick_of: Callable[[Any], int]) -> None:
        self.tick_of = tick_of
        self.current = 0
        self.count = 0
        self.refiled = 0
        self.masks = [0] * LEVELS
        self.slots: dict[int, list[Any]] = {}

    def key(self, tick: int) -> int:
        """The slot of a tick later than `current`: its level times 64, and the digit there. O(1)."""
        level = ((tick ^ self.current).bit_length() - 1) // BITS
        return level * SLOTS + (tick >> level * BITS & SLOTS - 1)

    def file(self, tick: int, item: tuple[Any, ...]) -> None:
        """Put a message behind all others of its slot. O(1)."""
        level = ((tick ^ self.current).bit_length() - 1) // BITS
        digit = tick >> level * BITS & SLOTS - 1
        slot = self.slots.get(level * SLOTS + digit)
        if slot is None:
            self.slots[level * SLOTS + digit] = [item]
            self.masks[level] |= 1 << digit
        else:
            slot.append(item)
        self.count += 1

    def file_in_front(self, items: list[Any]) -> None:
        """Put messages, which are in start order, in front of all others of their slots. O(items + their slots)."""
        low = 0
        while low < len(items):
            key = self.key(self.tick_of(items[low][0]))
            high = low + 1
            while high < len(items) and self.key(self.tick_of(items[high][0])) == key:
                high += 1
            self.slots[key] = items[low:high] + self.slots.get(key, [])
            self.masks[key // SLOTS] |= 1 << key % SLOTS
            low = high
        self.count += len(items)

    def advance(self, tick: int) -> list[Any]:
        """Move on to a later tick and return, in start order, all messages up to it. See the module's Cost."""
        due: list[Any] = []
        top = ((tick ^ self.current).bit_length() - 1) // BITS
        for level in range(top):
            self._empty(level, self.masks[level], due)
        digit = tick >> top * BITS & SLOTS - 1
        # with - 2 the same: slot 0 of a level is empty, for every digit filed is higher than that of `current`
        self._empty(top, self.masks[top] & ((1 << digit) - 1), due)
        mixed = self.slots.pop(top * SLOTS + digit, ())
        self.masks[top] &= ~(1 << digit)
        self.count -= len(due) + len(mixed)
        self.current = tick
        for item in mixed:
            where = self.tick_of(item[0])
            if where <= tick:
                due.append(item)
            else:
                self.file(where, item)
                self.refiled += 1
        due.sort(key=START)  # stable: a slot is in order of arrival, and equal starts are all in one
        return due

    def _empty(self, level: int, mask: int, due: list[Any]) -> None:
        """Move the messages in the slots of `mask` to `due`, earliest slot first; jumps over those without a bit."""
        self.masks[level] &= ~mask
        while mask:
            lowest = mask & -mask
            due += self.slots.pop(level * SLOTS + lowest.bit_length() - 1)
            mask ^= lowest

    def cancel(self, start: Any, match: Callable[..., object] | None) -> tuple[tuple[Any, ...] | None, int]:
        """Take out and return the first message at `start` that matches, or None; and how many were passed over.

        A start that is not later than `current`, or beyond all slots, has none.
        """
        tick = self.tick_of(start)
        # with <= HIGHEST the same: its slot is empty
        if not self.current < tick < HIGHEST:
            return None, 0
        key = self.key(tick)
        slot = self.slots.get(key, [])
        for index, item in enumerate(slot):
            if item[0] == start and (match is None or match(*item[1:])):
                del slot[index]
                self.count -= 1
                if not slot:
                    del self.slots[key]
                    self.masks[key // SLOTS] &= ~(1 << key % SLOTS)
                return item, index
        return None, len(slot)

    def earliest(self) -> Any:
        """The earliest start; there is at least one message. O(levels + messages in the earliest slot)."""
        return min(next(iter(self)), key=START)[0]

    def __iter__(self) -> Iterator[list[Any]]:
        """The slots that have messages, earliest first."""
        for level, mask in enumerate(self.masks):
            while mask:
                lowest = mask & -mask
                yield self.slots[level * SLOTS + lowest.bit_length() - 1]
                mask ^= lowest

    def items(self) -> list[Any]:
        """All messages, earliest first, arrival order among equals. O(n log n) at worst: every slot is sorted."""
        return [item for slot in self for item in sorted(slot, key=START)]

    def objects(self) -> Iterator[object]:
        """Itself, its lists and every slot."""
        yield self
        yield self.masks
        yield self.slots
        yield from self.slots.values()

    def wrong(self) -> list[str]:
        """What is wrong with the levels. O(messages)."""
        wrong = []
        digits = range(SLOTS)
        bits = {level * SLOTS + digit for level, mask in enumerate(self.masks) for digit in digits if mask >> digit & 1}
        if bits != set(self.slots) or not all(self.slots.values()):
            wrong.append("the masks are not those of the slots that have messages")
        if self.count != sum(map(len, self.slots.values())):
            wrong.append("the count of the levels is wrong")
        for key, slot in self.slots.items():
            ticks = [self.tick_of(item[0]) for item in slot]
            if not all(self.current < tick < HIGHEST and self.key(tick) == key for tick in ticks):
                wrong.append(f"slot {key} holds ticks {ticks} at {self.current}")
        return wrong
