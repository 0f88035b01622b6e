"""Chunks, runs, batches and small queues of the chunked queue, for the tests of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import queues.timer.chunked as module
from queues.timer.chunked import Chunked
from queues.timer.chunked_batch import ChunkedBatch
from queues.timer.chunked_run import Run

INFINITY = float("inf")


def chunk(*starts: int) -> list[Any]:
    return [(start, f"at {start}") for start in starts]


def nothing() -> None:
    """What a batch of no queue knows its queue by."""


def single(*starts: int) -> ChunkedBatch:
    """A batch of one chunk, or of none without starts."""
    return ChunkedBatch(nothing, [chunk(*starts)] if starts else [], max(starts, default=None))  # type: ignore[arg-type]


def several(*shape: tuple[tuple[int, ...], ...], kind: Callable[[Any], Any] = list) -> ChunkedBatch:
    """A batch of runs, each of a chunk for each tuple of starts; what can be closed is made by `kind`."""
    runs = [Run(kind([kind(chunk(*of)) for of in run]), kind([of[-1] for of in run]), None, 0) for run in shape]
    runs[0].open()
    for run in runs:
        run.count = sum(map(len, run.chunks))
    total = sum(run.count for run in runs)
    first = runs[0]
    batch = ChunkedBatch(nothing, first.chunks, 0, runs, total - len(first.chunks[0]))  # type: ignore[arg-type]
    batch.beyond = total - first.count
    return batch


def resize(monkeypatch: pytest.MonkeyPatch, **sizes: int) -> None:
    """Give the constants of the module other values."""
    for name, value in sizes.items():
        monkeypatch.setattr(module, name, value)


def filled(count: int) -> Chunked:
    """A queue of messages at 0, 1, 2 and so on."""
    queue = Chunked(clock=lambda: 0)
    for message in chunk(*range(count)):
        queue.enqueue(*message)
    return queue


def shape_of(runs: list[Run]) -> str:
    """The chunks of each run, by their lengths: (2) one that is sealed, [2] one that is not, <..> a run that is closed.

    A chunk whose starts are kept has a `k`.
    """
    words = []
    for run in runs:
        rows = run.keys or [None] * len(run.chunks)
        keys = ["k" if row is not None else "" for row in rows] + [""]
        chunks = zip(run.chunks, keys, strict=False)
        text = " ".join(("({}){}" if type(one) is tuple else "[{}]{}").format(len(one), key) for one, key in chunks)
        words.append(f"<{text}>" if type(run.chunks) is tuple else text)
    return " | ".join(words)


def starts_of(queue: Chunked) -> list[Any]:
    return [message[0] for message in queue.contents()]
