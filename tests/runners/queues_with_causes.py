"""Queues that are slow at one call for one known reason, and queues that do other things when they are explained."""

from __future__ import annotations

import gc
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COLLECTS_AT, GROWS_AT, TOUCHES_AT, PAGES = 1_234, 777, 500, 256


class Plain:
    """Keeps messages that come in order; a batch is a list."""

    def __init__(self) -> None:
        self.items: list[tuple[Any, ...]] = []
        self.room: list[Any] = [None] * 1_000
        self.kept: list[Any] = []

    def enqueue(self, start: float, *message: Any) -> None:
        """Keep the message at the end."""
        self.happen(len(self.items))
        self.items.append((start, *message))

    def happen(self, call: int) -> None:
        """What is special about the call: nothing."""

    def take(self, now: float) -> list[tuple[Any, ...]] | None:
        """Cut what is due."""
        due = [item for item in self.items if item[0] <= now]
        self.items = self.items[len(due) :]
        return due or None

    def container(self) -> Iterator[Any]:
        """The list and the room beside it."""
        yield self.items
        yield self.room

    def __len__(self) -> int:
        return len(self.items)


class Collects(Plain):
    """Has everything collected in one call, and has enough for that to take long."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = [[] for _ in range(50_000)]

    def happen(self, call: int) -> None:
        """Collect at that call."""
        if call == COLLECTS_AT:
            gc.collect()


class Grows(Plain):
    """Makes a list of 8,000 bytes a hundred times as long in one call."""

    def happen(self, call: int) -> None:
        """Grow at that call."""
        if call == GROWS_AT:
            self.room.extend([None] * 99_000)


class Touches(Plain):
    """Writes to pages in one call that were never written to."""

    def happen(self, call: int) -> None:
        """Touch at that call."""
        if call == TOUCHES_AT:
            fresh = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
            for page in range(PAGES):
                fresh[page * mmap.PAGESIZE] = 1
            self.kept.append(fresh)


class Hides(Grows):
    """Does not show its container."""

    container = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "container":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Counts(Collects):
    """Notes at some calls what the collector has counted, after a full collection as well, and writes it down."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[int] = []

    def happen(self, call: int) -> None:
        """Note the three counts; no dict is made, because the collector's reports of itself are dicts."""
        super().happen(call)
        if call in (0, 1, 900, COLLECTS_AT + 1, 1_900):
            self.noted.extend(gc.get_count())
        if call == 1_900:
            Path("counted").write_text(str(self.noted), encoding="utf-8")


def explaining() -> bool:
    """Whether this process was started to explain calls."""
    return '"explain"' in Path("spec.json").read_text(encoding="utf-8")


class CollectsOnceMore(Collects):
    """Does not do the same when it is explained."""

    def happen(self, call: int) -> None:
        """Collect once more there."""
        super().happen(call)
        if call == 100 and explaining():
            gc.collect()


class Leaves(Plain):
    """Leaves the process when it is explained."""

    def happen(self, call: int) -> None:
        """Leave there."""
        if call == 100 and explaining():
            os._exit(0)
