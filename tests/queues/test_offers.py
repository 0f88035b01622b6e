"""What the conformance suite makes of queues that offer little, or misbehave."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import pytest

from queues.conformance import BROKEN as RED
from queues.conformance import KEPT, NOT_OFFERED, PROMISES, TOLERATED, conform, essential
from queues.model import Model, ModelBatch
from queues.promises.offer import offer_of
from tests.queues.broken import BROKEN
from tests.queues.judging import outcome_of, verdicts


class ListQueue:
    """The least that a user may bring: four methods, batches that are lists, no settings."""

    def __init__(self) -> None:
        self.items: list[tuple[Any, ...]] = []

    def enqueue(self, start: Any, *message: Any) -> None:
        if not start >= float("-inf"):
            raise ValueError("NaN")
        self.items.insert(bisect_right(self.items, start, key=itemgetter(0)), (start, *message))

    def take(self, now: Any) -> Any:
        due = bisect_right(self.items, now, key=itemgetter(0))
        batch, self.items = self.items[:due], self.items[due:]
        return batch or None

    def requeue(self, batch: Any) -> int:
        count = len(batch)
        while batch:
            item = batch.pop()
            self.items.insert(bisect_left(self.items, item[0], key=itemgetter(0)), item)
        return count

    def __len__(self) -> int:
        return len(self.items)


class Opaque:
    """A batch that tells nothing but its length."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)


class OpaqueQueue(ListQueue):
    def take(self, now: Any) -> Any:
        due = super().take(now)
        return Opaque(due) if due else None

    def requeue(self, batch: Any) -> int:
        return super().requeue(batch.items)


OPTIONAL = {"process", "cancel", "container", "contents", "check", "merged", "walked", "next_start", "clock", "window"}


def test_a_minimal_queue_is_judged_by_what_it_offers() -> None:
    outcomes = conform(ListQueue)
    assert verdicts(outcomes, NOT_OFFERED) == {p.name for p in PROMISES if offer_of(ListQueue).missing(p.needs)}
    assert not verdicts(outcomes, RED) - TOLERATED
    assert essential(outcomes) == []
    for kept in (
        "start-order",
        "ties-keep-arrival-order",
        "requeue-merges-late-arrivals",
        "nothing-dropped",
        "infinities",
    ):
        assert kept in verdicts(outcomes, KEPT)


def test_a_promise_that_is_not_offered_says_what_is_missing() -> None:
    details = {outcome.promise: outcome.detail for outcome in conform(ListQueue)}
    assert details["stop-dispatch-quiet"] == "no process"
    assert details["window-closes"] == "no process, no clock"


def test_a_batch_that_shows_only_its_length_is_still_checked_for_order_by_start() -> None:
    outcomes = conform(OpaqueQueue)
    assert essential(outcomes) == []
    assert "start-order" in verdicts(outcomes, KEPT)
    assert "ties-keep-arrival-order" in verdicts(outcomes, NOT_OFFERED)

    class Unsorted(OpaqueQueue):
        def enqueue(self, start: Any, *message: Any) -> None:
            self.items.append((start, *message))

        def take(self, now: Any) -> Any:
            due = next((place for place, item in enumerate(self.items) if item[0] > now), len(self.items))
            batch, self.items = self.items[:due], self.items[due:]
            return Opaque(batch) if batch else None

    assert "start-order" in verdicts(conform(Unsorted), RED)


@pytest.mark.parametrize("lost", ["tie", "late", "drop", "empty"])
def test_faults_of_a_minimal_queue_forbid_timing(lost: str) -> None:
    class Faulty(ListQueue):
        def enqueue(self, start: Any, *message: Any) -> None:
            super().enqueue(start, *message)
            if lost == "tie":
                self.items.sort(key=lambda item: (item[0], *map(id, item[1:])))

        def requeue(self, batch: Any) -> int:
            if lost == "late":
                self.items[:0] = batch
            elif lost == "drop":
                return super().requeue(batch[1:])
            elif lost == "empty":
                return super().requeue(list(batch))
            return super().requeue(batch)

    assert essential(conform(Faulty, steps=300))


def test_settings_are_left_out_one_by_one_until_the_constructor_takes_them() -> None:
    class OnlyClock(Model):
        def __init__(self, clock: Callable[[], Any]) -> None:
            super().__init__(clock=clock)

    class NoSettings(Model):
        def __init__(self) -> None:
            super().__init__()

    assert {"clock", "window"} & offer_of(OnlyClock).names == {"clock"}
    assert {"clock", "window"} & offer_of(NoSettings).names == set()
    assert "default-window" in verdicts(conform(OnlyClock), NOT_OFFERED)
    assert verdicts(conform(NoSettings), RED) == set()


@pytest.mark.parametrize("error", [ValueError("odd"), TypeError("odd"), SystemExit(3), MemoryError(), RecursionError()])
@pytest.mark.parametrize("place", ["__init__", "enqueue", "take", "requeue", "__len__", "process", "cancel", "check"])
def test_what_a_queue_raises_breaks_a_promise_and_is_named(error: BaseException, place: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    queue_class = type("Raising", (Model,), {place: fail})
    outcomes = conform(queue_class, steps=100)
    assert len(outcomes) == len(PROMISES)
    told = [outcome for outcome in outcomes if outcome.verdict == RED]
    assert any(type(error).__name__ in outcome.detail for outcome in told)


@pytest.mark.parametrize("name", ["next_start", "merged", "walked"])
def test_a_view_whose_own_code_fails_with_attribute_error_is_broken_and_not_absent(name: str) -> None:
    def fail(queue: Any) -> Any:
        return queue.nowhere

    queue_class = type("Failing", (Model,), {name: property(fail, lambda *_: None)})
    assert name in offer_of(queue_class)
    assert any(
        "AttributeError" in outcome.detail for outcome in conform(queue_class, steps=50) if outcome.verdict == RED
    )


@pytest.mark.parametrize("view", ["next_start", "merged", "walked", "contents", "container"])
def test_a_view_that_raises_breaks_the_promise_about_it(view: str) -> None:
    class Delegating:
        def __init__(self, **settings: Any) -> None:
            self.model = Model(**settings)

        def __getattr__(self, name: str) -> Any:
            if name == view:
                raise KeyError(view)
            return getattr(self.model, name)

        def __len__(self) -> int:
            return len(self.model)

    outcomes = conform(Delegating, steps=100)
    assert any("KeyError" in outcome.detail for outcome in outcomes if outcome.verdict == RED)
    assert "start-order" in verdicts(outcomes, KEPT)


def test_ctrl_c_is_not_held_against_the_queue() -> None:
    class Interrupted(Model):
        def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conform(Interrupted)


@pytest.mark.parametrize("lie", [0, -1, 10**30, "3", None])
def test_a_queue_that_lies_about_its_length_is_found_out(lie: Any) -> None:
    outcomes = conform(type("Liar", (Model,), {"__len__": lambda _: lie}), steps=100)
    assert {"length", "nothing-dropped", "model-agreement"} <= verdicts(outcomes, RED)
    assert {"start-order", "ties-keep-arrival-order"} <= verdicts(outcomes, KEPT)


def test_a_queue_that_hands_out_without_end_is_stopped() -> None:
    class Endless(Model):
        def contents(self) -> Iterator[tuple[Any, ...]]:
            while True:
                yield (1.0, "again")

    assert outcome_of(Endless, "contents").verdict == RED
    assert outcome_of(BROKEN["handler-arrivals-wait"], "handler-arrivals-wait").verdict == RED


def test_something_that_is_no_queue_at_all_is_told_so() -> None:
    for thing in (list, int, 5, None):
        outcomes = conform(thing, steps=20)
        assert "essential-methods" in verdicts(outcomes, RED)
        assert essential(outcomes)
