"""What every timer queue says when it refuses, word for word, and what holds where its caller says nothing."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from typing import Any

import pytest

from queues.registry import SUBJECTS, load
from queues.timer import rules

INFINITY = float("inf")
NAN = float("nan")
UNORDERED = "expected a number that can be ordered; leave out or replace the message"
NO_NUMBER = "expected a number (int, float, Fraction, Decimal)"


def said(error: type[BaseException], call: Any, *arguments: Any, **named: Any) -> str:
    """What the error says that `call` raises."""
    with pytest.raises(error) as raised:
        call(*arguments, **named)
    assert type(raised.value) is error
    return str(raised.value)


@pytest.fixture(params=SUBJECTS["timer"])
def subject(request: pytest.FixtureRequest) -> Any:
    """The class of each subject in turn."""
    return load("timer", request.param)


@pytest.fixture
def queue(subject: Any) -> Any:
    """A queue of each subject with three messages, whose clock stands at 0."""
    made = subject(clock=lambda: 0.0)
    for start in (1, 2, 3):
        made.enqueue(start, f"at {start}")
    return made


def test_an_instant_that_is_none_is_named_as_what_it_was_given_for(queue: Any) -> None:
    batch = queue.take(1)
    for call, name in (
        (queue.enqueue, "start"),
        (queue.cancel, "start"),
        (queue.take, "now"),
        (lambda wrong: queue.process(batch, print, deadline=wrong), "deadline"),
    ):
        assert said(ValueError, call, NAN) == f"{name} is nan: {UNORDERED}"
        assert said(ValueError, call, Decimal("sNaN")) == f"{name} is Decimal('sNaN'): {UNORDERED}"
        assert said(TypeError, call, "5") == f"{name} is '5' (str): {NO_NUMBER}"
    assert (len(queue), len(batch)) == (2, 1)


def test_an_instant_is_refused_where_nothing_is_queued_or_due_too(subject: Any) -> None:
    for starts in ((), (5,), (INFINITY,), (-INFINITY,)):
        made = subject(clock=lambda: 0.0)
        for start in starts:
            made.enqueue(start)
        assert said(ValueError, made.take, NAN) == f"now is nan: {UNORDERED}"
        assert said(TypeError, made.take, 1j) == f"now is 1j (complex): {NO_NUMBER}"
        assert said(TypeError, made.take, 1, limit="2") == (
            "limit is '2': expected a whole number of messages, or None for no limit"
        )
        assert said(ValueError, made.take, 1, limit=0) == "limit is 0: expected at least 1, or None for no limit"
        assert said(ValueError, made.enqueue, NAN) == f"start is nan: {UNORDERED}"
        assert said(TypeError, made.enqueue, None) == f"start is None (NoneType): {NO_NUMBER}"
        assert said(ValueError, made.cancel, NAN) == f"start is nan: {UNORDERED}"
        assert [item[0] for item in made.contents()] == list(starts)
        made.check()


def test_settings_that_make_no_sense_are_refused(subject: Any) -> None:
    assert said(ValueError, subject, window=-1) == "window is -1: expected a span of at least 0"
    assert said(ValueError, subject, window=NAN) == f"window is nan: {UNORDERED}"
    assert said(TypeError, subject, window=None) == f"window is None (NoneType): {NO_NUMBER}"
    assert said(TypeError, subject, clock=5) == "clock is 5: expected something to call that returns the time"
    subject(window=0)
    subject(window=INFINITY)


def test_a_batch_a_handler_and_a_match_that_are_none_are_refused(queue: Any, subject: Any) -> None:
    other = subject(clock=lambda: 0.0)
    other.enqueue(1)
    foreign, batch = other.take(1), queue.take(2)
    for call in (queue.requeue, lambda wrong: queue.process(wrong, print)):
        assert said(TypeError, call, [1]) == "batch is list: expected what take() of this queue returned"
        assert said(TypeError, call, None) == "batch is NoneType: expected what take() of this queue returned"
        assert said(ValueError, call, foreign) == (
            "batch was taken from another queue: give it back to the queue that it came from"
        )
    assert said(TypeError, queue.process, batch, None) == (
        "handler is None: expected something to call with (start, *message)"
    )
    assert said(RuntimeError, queue.cancel, 3, lambda _: queue.enqueue(9)) == (
        "match put messages in or took some out: expected it to look at the one it is given"
    )
    busy = "batch is being processed: wait until process() of it has ended"
    seen = []

    def handler(start: int, payload: str) -> None:
        seen.append(said(RuntimeError, queue.requeue, batch))
        seen.append(said(RuntimeError, queue.process, batch, print))

    assert queue.process(batch, handler, deadline=INFINITY) == 2
    assert seen == [busy] * 4
    queue.check()


def test_the_window_is_60_unless_it_is_said(subject: Any) -> None:
    """The deadline is clock + window at the call, asked before each message: at it none is handed out any more."""
    for settings, window in (({}, 60), ({"window": 5}, 5)):
        now = [100.0]
        made = subject(clock=lambda: now[0], **settings)  # noqa: B023 - called at once
        for number in range(4):
            made.enqueue(number)
        steps = iter((100.0 + window - 0.5, 100.0 + window, 1e9))

        def handler(start: int) -> None:
            now[0] = next(steps)  # noqa: B023 - called at once

        batch = made.take()
        assert made.process(batch, handler) == 2
        assert len(batch) == 2
        now[0] = 0.0
        assert made.process(batch, lambda start: None, deadline=0.0) == 0


def test_the_clock_is_that_of_the_machine_unless_it_is_said(subject: Any) -> None:
    made = subject()
    now = time.time()
    made.enqueue(now - 1_000, "past")
    made.enqueue(now + 1_000_000, "to come")
    assert len(made.take()) == 1
    assert made.take() is None


def test_a_queue_and_a_batch_have_counted_nothing_when_they_are_new(subject: Any) -> None:
    made = subject()
    assert (len(made), made.next_start, made.merged, made.walked) == (0, None, 0, 0)
    assert list(made.contents()) == []
    assert made.cancel(1) is None
    made.check()


def test_a_batch_says_whether_it_is_being_processed_and_check_passes_meanwhile(subject: Any) -> None:
    made = subject(clock=lambda: 0.0)
    for number in range(12):
        made.enqueue(number // 4, number)
    batch = made.take(1)
    assert (batch.processing, batch.queue is made, len(batch), batch.latest) == (False, True, 8, 1)
    left = []

    def handler(start: int, number: int) -> None:
        assert batch.processing is True
        made.check()
        left.append(len(batch))

    assert made.process(batch, handler, deadline=INFINITY) == 8
    assert left == [8, 7, 6, 5, 4, 3, 2, 1]
    assert (batch.processing, len(batch), batch.latest) == (False, 0, 1)
    rest = made.take(2)
    made.process(rest, print, deadline=-1)
    assert rest.processing is False
    made.check()


def test_counts_after_a_merge_are_of_what_was_put_back(queue: Any) -> None:
    batch = queue.take(2)
    queue.enqueue(1.5)
    assert queue.requeue(batch) == 2
    assert queue.merged == 2
    late = queue.take(2)
    assert queue.requeue(late) == 3
    assert queue.merged == 2  # what fits in front counts not
    assert [item[0] for item in queue.contents()] == [1, 1.5, 2, 3]


def test_the_container_is_the_queue_itself_first_and_holds_no_message(queue: Any) -> None:
    parts = list(queue.container())
    assert parts[0] is queue
    assert len({id(part) for part in parts}) == len(parts)
    assert not any(isinstance(part, str) for part in parts)
    assert all(part is not None for part in parts)


def test_a_match_may_be_none_and_is_asked_with_the_message_alone(queue: Any) -> None:
    asked: list[Any] = []
    queue.enqueue(2, "again", 7)

    def second(*message: Any) -> bool:
        asked.append(message)
        return len(message) == 2

    assert queue.cancel(2, second) == (2, "again", 7)
    assert asked == [("at 2",), ("again", 7)]
    assert queue.cancel(2) == (2, "at 2")
    assert queue.cancel(2) is None


def test_rules_name_what_they_are_given_for_and_return_what_is_right() -> None:
    """By themselves: a queue asks them on its slow path alone, so it would not notice that one is gone."""
    for instant in (True, INFINITY, -INFINITY, Decimal("-Infinity"), -(10**400)):
        rules.require_instant(instant)
    assert said(ValueError, rules.require_instant, NAN) == f"start is nan: {UNORDERED}"
    assert said(TypeError, rules.require_instant, None, "now") == f"now is None (NoneType): {NO_NUMBER}"
    assert [rules.require_limit(limit) for limit in (1, True, 7)] == [1, 1, 7]
    assert rules.deadline_of(None, lambda: 5, 2) == 7
    assert rules.deadline_of(0, lambda: 5, 2) == 0
    assert said(ValueError, rules.deadline_of, NAN, lambda: 5, 2) == f"deadline is nan: {UNORDERED}"
    assert rules.watched(None, [], []) is None
    held: list[int] = [1]
    look = rules.watched(lambda *message: message, [1], [held])
    assert look("a", 2) == ("a", 2)
    held.append(2)
    assert re.search("match put messages in", said(RuntimeError, look, "a"))
    rules.require_handler(print)
    rules.require_settings(0, time.time)
