"""Subjects that hold a known number of bytes: the memory half of runners/truths.py.

What they hold beyond the messages themselves lies outside the interpreter's own memory, where a byte that is written to
is a byte that is resident, rounded up to pages: no allocator rounds it, keeps it or shares it.
"""

from __future__ import annotations

from bisect import bisect_right
from mmap import PAGESIZE, mmap

from runners import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Message = tuple[float, str]

EXTRA_BYTES = 100
"""What a message costs beyond itself."""

BLOCK_BYTES = 8 << 20
"""What is taken in one piece."""

MOST = 250_000
"""Messages that there is room for."""


class Room:
    """Memory of its own, outside the interpreter's: resident page by page as it is written to, never in huge pages."""

    __slots__ = ("map",)

    def __init__(self, size: int) -> None:
        self.map = mmap(-1, size)
        if hasattr(self.map, "madvise"):
            try:
                from mmap import MADV_NOHUGEPAGE

                self.map.madvise(MADV_NOHUGEPAGE)
            except (ImportError, OSError):  # a system without huge pages
                pass

    def write(self, first: int, end: int) -> None:
        """Write to the bytes from `first` to before `end`, so that every page of them is there."""
        self.map[first:end] = b"\1" * (end - first)

    def give_back(self) -> None:
        """Let the system have all of it."""
        self.map.close()


class Hundred:
    """Keeps what it is given and 100 bytes more for every message; its container is as long as it will ever be."""

    __slots__ = ("count", "kept", "room")

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[Any] = [None] * (2 * MOST)
        self.room = Room(EXTRA_BYTES * MOST)

    def enqueue(self, start: float, message: str) -> None:
        """Keep the message, and write to 100 bytes that nothing else is kept in."""
        at = self.count
        self.kept[2 * at], self.kept[2 * at + 1] = start, message
        self.room.write(EXTRA_BYTES * at, EXTRA_BYTES * (at + 1))
        self.count = at + 1

    def take(self, now: float) -> list[Message] | None:
        """Cut off what is due, of messages that came in order; slowly, only the check asks."""
        starts, messages = self.kept[: 2 * self.count : 2], self.kept[1 : 2 * self.count : 2]
        due = bisect_right(starts, now)
        self.count -= due
        self.kept[: 2 * self.count] = self.kept[2 * due : 2 * (due + self.count)]
        return list(zip(starts[:due], messages[:due], strict=True)) or None

    def __len__(self) -> int:
        return self.count


class Numbered:
    """Keeps its messages as two numbers, because they can be told from those, and so holds nothing by itself."""

    __slots__ = ("end", "first")

    def __init__(self) -> None:
        self.first = self.end = 0

    def enqueue(self, start: float, message: str) -> None:
        """Count the message."""
        self.end += 1

    def take(self, now: float) -> NumberedBatch | None:
        """Cut off what is due."""
        first, self.first = self.first, max(self.first, int(min(now + 1, self.end)))
        return NumberedBatch(first, self.first) if self.first > first else None

    def process(self, batch: NumberedBatch, handler: Callable[..., None]) -> int:
        """Dispatch the whole batch."""
        done = len(batch)
        for message in batch:
            handler(*message)
        batch.first = batch.end
        return done

    def __len__(self) -> int:
        return self.end - self.first


class NumberedBatch:
    """The messages from number `first` to before `end`."""

    __slots__ = ("end", "first")

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end

    def __len__(self) -> int:
        return self.end - self.first

    def __iter__(self) -> Iterator[Message]:
        return ((float(number), memory.payload(number)) for number in range(self.first, self.end))


class EightMib(Numbered):
    """Takes 8 MiB at its first message and keeps them; takes as much again at its second and gives it back at once."""

    __slots__ = ("room",)

    def enqueue(self, start: float, message: str) -> None:
        """Count the message."""
        if self.end < 2:
            room = Room(BLOCK_BYTES)
            for page in range(0, BLOCK_BYTES, PAGESIZE):
                room.write(page, page + 1)
            if self.end == 0:
                self.room = room
            else:
                room.give_back()
        super().enqueue(start, message)


class Leaks(Numbered):
    """Writes to 100 bytes for every message and keeps them when it was dispatched."""

    __slots__ = ("room",)

    def __init__(self) -> None:
        super().__init__()
        self.room = Room(EXTRA_BYTES * MOST)

    def enqueue(self, start: float, message: str) -> None:
        """Count the message and write."""
        self.room.write(EXTRA_BYTES * self.end, EXTRA_BYTES * (self.end + 1))
        super().enqueue(start, message)


class GivesBack(Leaks):
    """The same, but what it wrote to goes once everything was dispatched but for a few."""

    __slots__ = ()

    def process(self, batch: NumberedBatch, handler: Callable[..., None]) -> int:
        """Dispatch the whole batch and give the room back."""
        done = super().process(batch, handler)
        self.room.give_back()
        return done
