"""Every engine keeps the whole contract; the model does; and what breaks a promise is found and told."""

from __future__ import annotations

from typing import Any

import pytest

from queues.events.cursor import Cursor
from queues.events.model import Model
from queues.events.promises import PROMISES, conform
from queues.events.rules import FAILED, LOWEST, SUCCEEDED, Event
from tests.queues.events import broken
from tests.queues.events.subjects import class_of, each_engine


def told(outcomes: list[Any]) -> list[str]:
    return [f"{one.promise}: {one.detail}" for one in outcomes if one.verdict != "kept"]


@each_engine
def test_every_engine_keeps_every_promise(engine: str) -> None:
    assert told(conform(class_of(engine), steps=240)) == []


def test_the_model_keeps_every_promise() -> None:
    assert told(conform(Model, steps=600)) == []


@pytest.mark.parametrize("name", [promise.name for promise in PROMISES])
def test_a_queue_that_breaks_a_promise_is_found(name: str) -> None:
    breaking = broken.BREAKS[name]
    outcomes = {one.promise: one for one in conform(breaking, steps=600)}
    assert outcomes[name].verdict == "broken"
    assert "expected" in outcomes[name].detail or "raised" in outcomes[name].detail


def test_the_smallest_schedule_is_told() -> None:
    (found,) = [one for one in conform(broken.CompletesTwice, steps=600) if one.promise == "model-agreement"]
    assert found.verdict == "broken"
    assert found.detail.count(" at ") <= 8


def test_what_is_not_offered_is_said() -> None:
    class Reads:
        """Only asks."""

        record = pending = Model.record

    assert {one.verdict for one in conform(Reads, steps=60) if one.promise == "heartbeat"} == {"not-offered"}


def test_a_cursor_passes_nothing_over_and_never_goes_back() -> None:
    cursor = Cursor(overlap_us=10)
    assert cursor.since_us == LOWEST
    cursor.move([], now_us=500)
    assert cursor.since_us == 490
    cursor.move([Event(3, "a", "x", SUCCEEDED, 495), Event(2, "a", "y", FAILED, 495)], now_us=600)
    assert cursor.position == (500, 0), "what became pending within the overlap is still within the bound"
    cursor.move([Event(9, "a", "x", SUCCEEDED, 700)], now_us=800)
    assert (cursor.position, cursor.since_us) == ((700, 9), 690)
    cursor.move([], now_us=100)
    assert cursor.position == (700, 9)
    with pytest.raises(ValueError, match="overlap_us is -1"):
        Cursor(overlap_us=-1)
