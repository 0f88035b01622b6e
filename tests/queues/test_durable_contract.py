"""The durable queues keep the contract: every promise that JSON allows, the model step by step, the named faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from queues.conformance import KEPT, NOT_OFFERED, PROMISES, conform
from queues.promises.offer import Clock
from queues.registry import load
from tests.queues import test_named_cases
from tests.queues.durable_subjects import DURABLES, ONE_AN_ENGINE, Make, contained, subject
from tests.queues.test_machine import PROFILE, TimerMachine, run

ABOUT_OBJECTS = {promise.name for promise in PROMISES if {"objects", "container"} & set(promise.needs)}
"""Promises about objects in the memory of the process, where a durable queue keeps none."""

EXAMPLES = {"sqlite": (60, 40), "postgres": (12, 40), "redis": (12, 40)}
IN_MEMORY = {
    "test_payloads_are_never_compared_hashed_or_asked_for_truth",
    "test_mixed_numbers_are_ordered_by_exact_value",
    "test_cancelled_far_future_messages_do_not_pile_up",
    "test_messages_cancelled_at_the_front_do_not_pile_up",
    "test_rescheduling_the_same_messages_over_and_over_keeps_the_entries_flat",
    "test_random_enqueues_cancels_and_takes_agree_with_a_sorted_list",
    "test_nan_is_refused_before_anything_changes",
    "test_huge_and_infinite_starts_are_kept_and_counted",
    "test_integers_beyond_every_float_have_their_place_below_infinity",
    "test_equal_starts_of_different_types_keep_arrival_order",
}
"""About identity of objects, bytes of a container, or messages that JSON has not; and one of 4,000 steps. Promises and
the machine are about the same."""

FAULTS = {
    name: test
    for name, test in vars(test_named_cases).items()
    if name.startswith("test_") and callable(test) and name not in IN_MEMORY
}
globals().update(FAULTS)


@pytest.fixture
def make() -> Make:
    """The constructor of the queue in a file, with a clock that never reads the machine's."""
    made = subject("sqlite")
    return lambda **given: made(**{"clock": Clock()} | given)


def test_most_named_faults_are_tried_here() -> None:
    assert len(FAULTS) > 40
    assert set(vars(test_named_cases)) >= IN_MEMORY


@pytest.mark.parametrize("name", ["sqlite", "postgres-async", "redis"])
def test_a_durable_queue_breaks_no_promise_and_offers_all_but_those_about_objects(name: str) -> None:
    outcomes = conform(subject(name), steps=60)
    assert [outcome for outcome in outcomes if outcome.verdict not in (KEPT, NOT_OFFERED)] == []
    assert {outcome.promise for outcome in outcomes if outcome.verdict == NOT_OFFERED} == ABOUT_OBJECTS
    assert len(ABOUT_OBJECTS) < len(PROMISES) / 5


def test_the_others_differ_from_these_in_one_setting_alone() -> None:
    for name, other in (("sqlite-full", "sqlite"), ("postgres-async", "postgres")):
        made, base = load("timer", name), load("timer", other)
        assert made.__bases__ == (base,)
        own = set(vars(made)) - {"__doc__", "__module__", "__slots__"}
        assert own <= {"synchronous", "synchronous_commit"}
        assert len(own) == 1
    assert set(DURABLES) == {*ONE_AN_ENGINE, "sqlite-full", "postgres-async"}


@pytest.mark.parametrize("name", ONE_AN_ENGINE)
def test_a_durable_queue_does_what_the_model_does(name: str) -> None:
    examples, steps = EXAMPLES[name]
    tally = run(contained(name), settings(PROFILE, max_examples=examples, stateful_step_count=steps))
    assert tally.total() > examples * steps / 3
    if name == "sqlite":
        assert set(tally) == {one.function.__name__ for one in TimerMachine().rules}


@pytest.mark.parametrize("name", ONE_AN_ENGINE)
def test_a_message_of_objects_is_refused_and_nothing_changes(name: str) -> None:
    with subject(name)() as queue:
        queue.enqueue(1.0, "kept")
        with pytest.raises(TypeError, match=r"message\[0\] is a object"):
            queue.enqueue(0.5, object())
        with pytest.raises(TypeError, match=r"item 1: message\[0\] is a tuple"):
            queue.enqueue_many([(0.1, "a"), (0.2, ())])
        with pytest.raises(TypeError, match=r"item 0 is 'ab': expected \(start, \*message\)"):
            queue.enqueue_many(["ab"])
        assert list(queue.contents()) == [(1.0, "kept")]


@pytest.mark.parametrize("name", ONE_AN_ENGINE)
def test_many_are_queued_in_the_order_given_behind_equal_starts(name: str) -> None:
    items: list[tuple[Any, ...]] = [(number % 7, number) for number in range(2_000)]
    with subject(name)() as queue:
        queue.enqueue(3, "before")
        assert queue.enqueue_many(iter(items)) == 2_000
        queue.enqueue(3, "after")
        assert queue.enqueue_many([]) == 0
        expected = sorted([(3, "before"), *items, (3, "after")], key=lambda item: item[0])
        assert list(queue.contents()) == expected
        queue.check()


@pytest.mark.parametrize("name", ONE_AN_ENGINE)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"lease": 0}, "lease is 0: expected"),
        ({"lease": float("nan")}, "lease is nan"),
        ({"confirm": 0}, "confirm is 0: expected"),
        ({"confirm": 1.5}, "confirm is 1.5"),
        ({"name": ""}, "name is ''"),
        ({"name": "a\nb"}, "name is 'a"),
        ({"window": -1}, "window is -1"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_settings_that_make_no_sense_are_refused(name: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is looked at
        subject(name)(**given)
    assert told in str(refused.value)
