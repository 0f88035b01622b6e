"""The races and yardsticks of the chunked queue: every variant is a right queue, and every figure comes out."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from queues.model import Model
from queues.timer import chunked
from queues.timer.chunked import LOAD, Chunked
from runners import variant_queues, variants, yardsticks

VARIANTS = [
    kind
    for kind in vars(variant_queues).values()
    if isinstance(kind, type) and kind.__module__ == variant_queues.__name__
]


@pytest.mark.parametrize("kind", VARIANTS, ids=lambda kind: kind.__name__)
def test_a_variant_is_a_right_queue_or_it_may_not_race(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LOAD": 8, "FULL": 20, "RUN": 4, "SHORT": 2}.items():
        monkeypatch.setattr(chunked, name, value)
    queue, model = kind(), Model()
    source = random.Random(1)
    for step in range(2_000):
        start = step + source.choice((0.0, 0.0, -30.0))
        for one in (queue, model):
            one.enqueue(start, "message")
        if step % 50 == 49:
            batches = [one.take(step - 200.0) for one in (queue, model)]
            if batches[0] is not None:
                assert [one.requeue(batch) for one, batch in zip((queue, model), batches, strict=True)]
            queue.take(step - 400.0)
            model.take(step - 400.0)
    assert [*queue.contents()] == [*model.contents()]
    queue.check()


@pytest.mark.parametrize("loop", [getattr(variants, name) for name in vars(variants) if name.startswith("by_")])
def test_a_way_through_a_chunk_hands_out_every_message_once(loop: Any) -> None:
    seen: list[Any] = []
    loop([(start, "message") for start in range(10)], lambda *message: seen.append(message), lambda: 0.0)
    assert sorted(seen) == [(start, "message") for start in range(10)]


def test_the_limits_of_a_race_are_put_back() -> None:
    def limits() -> tuple[int, int, int]:
        return chunked.LOAD, chunked.FULL - chunked.LOAD, chunked.RUN

    before = limits()
    with variants.load(16), variants.runs(2):
        assert limits() == (16, before[1], 2)
    assert limits() == before


def test_a_race_prints_every_variant_as_a_ratio_to_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    variants.race("what it costs", [("kept", lambda: 4.0), ("other", lambda: 6.0)], 3)
    assert capsys.readouterr().out == "what it costs (kept = 4 ns): kept 1.00, other 1.50\n"


def test_the_yardsticks_measure_something() -> None:
    assert variants.growth(Chunked, 100, 16) > 0
    assert variants.worst(Chunked, 100) > 0
    assert variants.collected(Chunked, 100) > 0
    assert variants.worst_steady(Chunked, 200, 100) > 0
    assert variants.p99_steady(Chunked, 200, 100) > 0
    assert variants.worst_alone(chunked.WIDE) > 0
    assert variants.worst_alone(0) > 0
    assert yardsticks.freed(yardsticks.in_one_list, 100) > 0
    assert yardsticks.freed(partial(yardsticks.in_chunks, tuple), 1_000) > 0
    chunks = yardsticks.in_chunks(tuple, [1.0] * (LOAD + 1))
    assert [(type(chunk), len(chunk)) for chunk in chunks] == [(tuple, LOAD), (tuple, 1)]
    for kind in (yardsticks.BareChunks, yardsticks.KeyedChunks):
        bare = kind()
        starts = [*range(3 * LOAD), *range(0, 3 * LOAD, 2)]
        for start in starts:
            bare.enqueue(start, "m")
        assert [start for chunk in bare.chunks for start, _ in chunk] == sorted(starts)
        assert len(bare.chunks) > 1
    assert yardsticks.enqueued_at_random(yardsticks.BareChunks, 1_000) > 0
    assert yardsticks.processed(Chunked, 100) > 0
    assert yardsticks.enqueued(yardsticks.Bare, 100) > 0
