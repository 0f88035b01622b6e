"""The conformance suite: the model keeps every promise, and each check goes red on a queue that breaks its promise."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from queues.conformance import BROKEN as RED
from queues.conformance import KEPT, PROMISES, TOLERATED, Outcome, conform, essential
from queues.model import Model
from queues.promises.offer import offer_of
from queues.promises.schedules import Difference, Step, difference, random_steps
from queues.promises.shrinking import shrink
from queues.promises.trial import Trial
from queues.registry import SUBJECTS, load
from tests.queues.broken import BROKEN
from tests.queues.broken_taking import LastComeFirst
from tests.queues.judging import BY_NAME, outcome_of


def test_every_promise_has_a_queue_that_breaks_it() -> None:
    assert set(BROKEN) == set(BY_NAME)


@pytest.mark.parametrize("name", BROKEN)
def test_the_check_of_a_promise_goes_red_on_the_queue_that_breaks_it(name: str) -> None:
    outcome = outcome_of(BROKEN[name], name)
    assert outcome.verdict == RED
    assert outcome.detail
    assert " at 0x" not in outcome.detail


class CopiesLists(Model):
    """Keeps an equal list in the place of the one that came."""

    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *(list(part) if isinstance(part, list) else part for part in message))


class CopiesAll(Model):
    """Keeps a deep copy of every message."""

    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *deepcopy(message))


class WritesIntoMessages(Model):
    """Leaves a mark in a part that has room for one, when it is put back."""

    def requeue(self, batch: Any) -> int:
        count = super().requeue(batch)
        for _, *message in self.contents():
            for part in message:
                if type(part) is dict and part:
                    part["put back"] = True
        return count


@pytest.mark.parametrize("faulty", [CopiesLists, CopiesAll, WritesIntoMessages])
def test_a_message_that_is_not_the_very_object_that_went_in_is_found(faulty: type) -> None:
    outcome = outcome_of(faulty, "messages-as-given")
    assert outcome.verdict == RED
    assert "batch" in outcome.detail


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_model_keeps_every_promise(seed: int) -> None:
    assert [outcome for outcome in conform(Model, seed=seed) if outcome.verdict != KEPT] == []


@pytest.mark.parametrize("subject", SUBJECTS["timer"])
def test_every_subject_breaks_no_promise_and_offers_all(subject: str) -> None:
    assert [outcome for outcome in conform(load("timer", subject)) if outcome.verdict != KEPT] == []


def test_promises_have_unique_kebab_names_and_a_sentence_each() -> None:
    assert len(BY_NAME) == len(PROMISES)
    for promise in PROMISES:
        assert promise.name == promise.name.lower().replace(" ", "-").replace("_", "-")
        assert promise.sentence.endswith(".")
        assert promise.sentence[0].isalnum() or promise.sentence[0] in "±"


def test_what_a_promise_needs_is_something_that_the_model_offers() -> None:
    needs = {name for promise in PROMISES for name in promise.needs}
    assert offer_of(Model).missing(sorted(needs)) == []


def test_the_smallest_input_of_a_tie_fault_has_at_most_four_calls() -> None:
    offer = offer_of(LastComeFirst)
    trial = Trial(LastComeFirst, offer, Random(5), 100)
    found = difference(LastComeFirst, offer, random_steps(trial.random, offer, 200, [1e9 + k for k in range(4)]))
    assert found is not None
    assert len(found.steps) > 4
    small = shrink(found, lambda steps: difference(LastComeFirst, offer, steps))
    assert len(small.steps) <= 4
    assert small.told().startswith("enqueue(0.0, 'a'); enqueue(0.0, 'b')")
    told = outcome_of(LastComeFirst, "ties-keep-arrival-order").detail
    assert told.count(";") + 1 <= 4
    assert told.endswith("expected [(1.0, 'a'), (1.0, 'b')], got [(1.0, 'b'), (1.0, 'a')]")


@pytest.mark.parametrize("seed", range(30))
def test_shrinking_ends_with_the_one_step_that_matters(seed: int) -> None:
    offer = offer_of(Model)
    steps = random_steps(Random(seed), offer, 120, [1e9, 1e9 + 1, float("-inf"), 3.5, -2.0])
    wanted = [step for step in steps if step[0] == ("process", "take", "cancel")[seed % 3]][-1]

    def fails(tried: Sequence[Step]) -> Difference | None:
        there = [
            place for place, step in enumerate(tried, 1) if step[:2] == wanted[:2] or step[0] == wanted[0] == "cancel"
        ]
        return Difference(tuple(tried[: there[-1]]), "result", 1, 2) if there else None

    found = fails(steps)
    assert found is not None
    small = shrink(found, fails)
    assert [step[0] for step in small.steps] == [wanted[0]]
    assert small.told().endswith(": expected 1, got 2")


@pytest.mark.parametrize(
    ("name", "calls"), [("nothing-dropped", 8), ("check-holds", 4), ("walked-never-decreases", 3), ("any-epoch", 3)]
)
def test_random_failures_are_told_with_few_calls(name: str, calls: int) -> None:
    assert outcome_of(BROKEN[name], name).detail.partition(": ")[0].count(";") + 1 <= calls


@pytest.mark.parametrize("name", ["start-order", "nothing-dropped", "model-agreement", "default-clock"])
def test_the_same_seed_tells_the_same(name: str) -> None:
    first, second = (conform(BROKEN[name], seed=7, promises=[BY_NAME[name]]) for _ in range(2))
    assert first == second
    assert first[0].verdict == RED


def test_progress_names_each_promise_before_its_check() -> None:
    names: list[str] = []

    def remember(name: str) -> None:
        names.append(name)

    class Hanging(Model):
        def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
            raise KeyboardInterrupt  # stands for the parent that ends a check that hangs

    conform(Model, steps=20, progress=remember)
    assert names == [promise.name for promise in PROMISES]
    names.clear()
    with pytest.raises(KeyboardInterrupt):
        conform(Hanging, steps=20, progress=remember)
    assert "cancel" in BY_NAME[names[-1]].needs or names[-1] in ("nothing-dropped", "model-agreement")


def test_essential_is_what_is_broken_and_not_tolerated() -> None:
    outcomes = [
        Outcome(name, "", verdict, "") for name in ("start-order", "no-batch-refused") for verdict in (KEPT, RED)
    ]
    assert essential(outcomes) == [Outcome("start-order", "", RED, "")]


def test_only_promises_about_wrong_or_named_arguments_are_tolerated() -> None:
    assert all(name.endswith("-refused") or name == "arguments-by-name" for name in TOLERATED)
    assert {promise.name for promise in PROMISES if promise.name.endswith("-refused")} <= TOLERATED


def test_the_suite_needs_only_the_standard_library() -> None:
    for path in Path(sys.modules["queues.model"].__file__ or "").parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in sys.stdlib_module_names | {"queues"} for name in names), path.name
