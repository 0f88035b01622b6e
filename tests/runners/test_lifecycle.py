"""The life of a message: what the patterns bring, and that a queue which loses one gets no number."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from queues.registry import SUBJECTS, load
from queues.timer.array import Array
from runners.latency import CheckFailed
from runners.lifecycle import PATTERNS, SLEEPERS, LifeSampler
from runners.workloads import WORKLOADS

MESSAGES = 300


def sampler(name: str, queue_class: Any = Array) -> LifeSampler:
    return LifeSampler(queue_class, PATTERNS[name][1](MESSAGES, 1))


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_brings_all_its_messages(name: str) -> None:
    assert sampler(name).calls == MESSAGES + (SLEEPERS if name == "far-sleepers" else 0)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("subject", SUBJECTS["timer"])
def test_every_message_lives_to_its_end_on_every_subject(subject: str, name: str) -> None:
    if name == "far-sleepers" and subject in ("linked", "linked-known-tail"):
        pytest.skip("walks past the sleepers: right but slow")
    life = sampler(name, load("timer", subject))
    life.check()
    assert life.sample(count().__next__) == 1
    assert len(life.queue) == 0


def test_the_patterns_are_what_their_names_say() -> None:
    starts = {name: [start for round_ in PATTERNS[name][1](MESSAGES, 1) for start in round_[0]] for name in PATTERNS}
    assert starts["constant-delay"] == sorted(starts["constant-delay"])
    assert starts["reverse"] == sorted(starts["reverse"], reverse=True)
    assert len(set(starts["all-ties"])) == 1
    assert len(set(starts["digest"])) < MESSAGES / 100
    assert starts["random-delay"] != sorted(starts["random-delay"])
    assert all(later < earlier for earlier, later in zip(starts["sawtooth"], starts["sawtooth"][1:], strict=False))


def test_half_of_the_messages_are_cancelled_and_a_tenth_comes_late() -> None:
    cancelled = sum(len(round_[1]) for round_ in PATTERNS["half-cancelled"][1](MESSAGES, 1))
    assert cancelled == MESSAGES // 2
    late = [(now, start) for _, _, now, overdue in PATTERNS["late-arrivals"][1](MESSAGES, 1) for start in overdue]
    assert len(late) == MESSAGES // 10
    assert all(start < now for now, start in late)


class Loses(Array):
    """Forgets the last message of what is put back."""

    __slots__ = ()

    def requeue(self, batch: Any) -> int:
        if len(batch) > 1:
            batch.items.pop()
        return super().requeue(batch)


class Reorders(Array):
    """Dispatches the last message of a batch first."""

    __slots__ = ()

    def process(self, batch: Any, handler: Any, deadline: Any = None) -> int:
        batch.items.reverse()
        return super().process(batch, handler, deadline)


@pytest.mark.parametrize(("queue_class", "name"), [(Loses, "all-ties"), (Reorders, "random-delay")])
def test_a_queue_that_loses_or_reorders_gets_no_number(queue_class: Any, name: str) -> None:
    with pytest.raises(CheckFailed):
        sampler(name, queue_class).check()


def test_every_pattern_is_a_workload_that_says_what_it_needs() -> None:
    for name in PATTERNS:
        workload = WORKLOADS["timer"][f"life-{name}"]
        assert workload.kinds == ("batched", "cost")
        assert ("cancel" in workload.needs) == (name == "half-cancelled")
