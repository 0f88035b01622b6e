"""What is done to a chunked queue, in few words, beside the model; and how its chunks and runs look then.

A step is one of

    0..9    enqueue 0 up to 9          5       enqueue 5
    -5      cancel the first at 5      @5      take what is due at 5
    @5/3    at most 3 of it            /3      at most 3 of all
    p3      process 3 of the batch     r       put the batch back that was taken last
"""

from __future__ import annotations

from typing import Any

from queues.model import Model
from queues.timer.chunked import Chunked
from queues.timer.chunked_batch import ChunkedBatch, check_batch
from queues.timer.chunked_run import Run
from queues.timer.rules import StopDispatch
from tests.queues.chunked_parts import INFINITY, shape_of

Pair = tuple[Any, Any]

SIZES = {"LOAD": 4, "FULL": 8, "SMALL": 3, "RUN": 3, "SHORT": 3, "WIDE": 6, "AHEAD": 2, "FEW": 3}
"""The constants of the module for a scene, so that its chunks and runs can be told in a line."""


def look_of(batch: ChunkedBatch) -> str:
    """How a batch looks: its runs, or its only chunk."""
    if batch.runs is not None:
        return shape_of(batch.runs)
    return f"only {shape_of([Run(batch.chunks, [], None, 0)])}" if batch.chunks else "nothing"


def process(queue: Any, batch: Any, messages: int) -> list[Any]:
    """Process so many messages, and return them."""
    seen: list[Any] = []

    def handler(*message: Any) -> None:
        if len(seen) == messages:
            raise StopDispatch
        seen.append(message)

    queue.process(batch, handler, INFINITY)
    return seen


def number(word: str) -> float:
    return float(word) if "." in word else int(word)


def ahead(queue: Chunked) -> str:
    """How many messages, or chunks, are copied ahead."""
    opening = queue._opening
    if opening is None:
        assert queue._opened == []
        return ""
    return f", {len(queue._opened) // 2} chunks" if type(opening[0][0]) is tuple else f", {queue._ready} ahead"


def step(word: str, pair: Pair, taken: list[Pair]) -> str:
    """Do one step to both queues, which must answer alike; return how the queue looks then, and what was taken."""
    if word == "r":
        batches = taken.pop()
        answers = [queue.requeue(batch) for queue, batch in zip(pair, batches, strict=True)]
    elif word[0] == "p":
        answers = [process(queue, batch, int(word[1:])) for queue, batch in zip(pair, taken[-1], strict=True)]
    elif word[0] == "-":
        answers = [queue.cancel(number(word[1:])) for queue in pair]
    elif word[0] in "@/":
        now, _, limit = word.removeprefix("@").partition("/")
        due = number(now) if now else INFINITY
        batches = (pair[0].take(due, int(limit) if limit else None), pair[1].take(due, int(limit) if limit else None))
        taken.append(batches)
        assert check_batch(batches[0]) == []
        answers = [(len(batch), batch.latest) for batch in batches]
    else:
        first, _, last = word.partition("..")
        for start in range(int(first), int(last) + 1) if last else (number(first),):
            for queue in pair:
                queue.enqueue(start, word)
        answers = [None, None]
    assert answers[0] == answers[1]
    pair[0].check()
    assert [*pair[0].contents()] == [*pair[1].contents()]
    assert (len(pair[0]), pair[0].merged) == (len(pair[1]), pair[1].merged)
    given = f" => {look_of(taken[-1][0])}" if word[0] in "@/p" else ""
    return f"{shape_of(pair[0]._runs)}{ahead(pair[0])}{given}"


def told_in(scene: str) -> list[str]:
    """The lines of a scene: each a step or more, a colon, and how the queue looks after them."""
    return [line.strip() for line in scene.strip().split("\n")]


def played(scene: str) -> list[str]:
    """Do the steps of a scene to an empty queue, and return the lines that it should have."""
    pair, taken = (Chunked(), Model()), list[Pair]()
    lines = []
    for line in told_in(scene):
        words = line.partition(":")[0]
        seen = [step(word, pair, taken) for word in words.split()]
        lines.append(f"{words}: {seen[-1]}")
    return lines
