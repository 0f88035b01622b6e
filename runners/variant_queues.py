"""Queues that were tried and lost: the chunked queue with one thing done otherwise, raced by runners/variants.py."""

from __future__ import annotations

from typing import Any

from queues.timer import chunked
from queues.timer.array import Array
from queues.timer.chunked import AT_ONCE, NOTHING, Chunked, item_of


class ListsOnly(Chunked):
    """Chunks stay lists: sealing costs nothing, and a full collection walks every message."""

    __slots__ = ()

    def _seal(self) -> None:
        block = self._tail
        self._tail = []
        self._hang(block)


class WithoutKeys(Chunked):
    """No starts beside the chunks: every look at one goes through its message."""

    __slots__ = ()

    def _split(self, at: int, number: int) -> None:
        super()._split(at, number)
        for run in self._runs[at : at + 2]:
            run.keys = None


class OpenedAtOnce(Chunked):
    """A sealed chunk is opened by the call that comes upon it."""

    __slots__ = ()

    def _open_ahead(self) -> None:
        return


class Plain(Chunked):
    """The message is what `*message` collects, put behind its start."""

    __slots__ = ()

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message, as `Chunked.enqueue` does, without a check of what it is given."""
        if start >= self._latest:
            self._tail.append((start,) + message)
            self._latest = start
            for _ in self._room:
                return
            self._make_room()
        else:
            self._insert(start, (start, *message))


class AsksLength(Chunked):
    """The tail is asked for its length at each message, for which an int is made."""

    __slots__ = ()

    def _make_room(self) -> None:
        super()._make_room()
        self._room = AT_ONCE

    def enqueue(self, start: Any, first: Any = NOTHING, *more: Any) -> None:
        """Keep the message, as `Chunked.enqueue` does, without a check of what it is given."""
        if start >= self._latest:
            tail = self._tail
            tail.append(item_of(start, first, more) if more or first is NOTHING else (start, first))
            self._latest = start
            if len(tail) >= chunked.FULL:
                self._make_room()
        else:
            self._insert(start, item_of(start, first, more))


class OneTuple(Chunked):
    """The arguments are kept as the tuple they come in, so that `start` cannot be given by name."""

    __slots__ = ()

    def enqueue(self, *item: Any) -> None:
        """Keep the message, as `Chunked.enqueue` does, without a check of what it is given."""
        if item[0] >= self._latest:
            self._tail.append(item)
            self._latest = item[0]
            for _ in self._room:
                return
            self._make_room()
        else:
            self._insert(item[0], item)


class FirstApartArray(Array):
    """The array with the first part of the message apart, as the chunked queue has it."""

    __slots__ = ()

    def enqueue(self, start: Any, first: Any = NOTHING, *more: Any) -> None:
        """Keep the message, as `Array.enqueue` does, without a check of what it is given."""
        items = self._items
        item = item_of(start, first, more) if more or first is NOTHING else (start, first)
        if start >= items[-1][0]:
            items.append(item)
        else:
            self._insert(start, item)


class OneTupleArray(Array):
    """The same for the array."""

    __slots__ = ()

    def enqueue(self, *item: Any) -> None:
        """Keep the message, as `Array.enqueue` does, without a check of what it is given."""
        items = self._items
        if item[0] >= items[-1][0]:
            items.append(item)
        else:
            self._insert(item[0], item)
