"""Every subject against the model, step by step, on sequences of calls that Hypothesis makes up and shrinks.

A subject that joins the registry joins here. The profile "ci" makes the same examples each time; for a search with new
ones set LAB_HYPOTHESIS=explore.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from queues.contract import TimerQueue
from queues.model import Model
from queues.promises.offer import attempt
from queues.registry import SUBJECTS, load
from tests.queues.broken import BROKEN
from tests.queues.side import ACTIONS, INFINITY, MOST_BATCHES, Side

LEAST_STEPS = 2500
BASES = (0, 0.0, 1e9, 64.0, 4096.0, 262144.0)
"""Where the starts of one example lie: zero, a wall clock's seconds, and where a wheel of 64 slots turns over."""
OFFSETS = (0, 1.0, 2, 3.0, -4.0, 70.0)
PLACES = st.integers(0, len(OFFSETS) + 4)
PLANS = st.lists(st.tuples(st.sampled_from(ACTIONS), PLACES), min_size=1, max_size=4)
DEADLINES = st.sampled_from(("window", "never", "later", "past"))
REFUSED = (float("nan"), Decimal("NaN"), Decimal("sNaN"), None, "1", 1j)
LOOKS = ("len", "latest", "next_start", "contents", "merged", "walked", "container", "check")

settings.register_profile(
    "ci",
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=1000)
PROFILE = settings.get_profile(os.environ.get("LAB_HYPOTHESIS", "ci"))


class TimerMachine(RuleBasedStateMachine):
    """Does each step on the subject and on the model, and compares results and views."""

    subject: ClassVar[Any] = Model
    tally: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.made, self.model = Side(self.subject), Side(Model)
        self.pool: list[Any] = []
        self.names = 0
        self.walked_before = 0
        self.balance = 0
        """Enqueued less dispatched less cancelled: what must be queued or held."""

    def both(self, step: Callable[[Side], Any]) -> Any:
        """Do `step` on both sides and return the result, which must be the same."""
        got, error = attempt(lambda: step(self.made))
        expected, right = attempt(lambda: step(self.model))
        if type(error) is not type(right):
            raise AssertionError(f"raised {error!r}, expected {right!r}") from error
        assert got == expected
        return got

    def start(self, place: int) -> Any:
        """Return one of the starts of this example."""
        return self.pool[place]

    def aim(self, place: int) -> Any:
        """Return the start of a message that is out or queued, if there are so many, so that cancel finds something."""
        messages = [message for batch in self.model.batches for message in batch.messages] + self.model.queue.queued
        return messages[place][0] if place < len(messages) else self.pool[place]

    @initialize(base=st.sampled_from(BASES))
    def begin(self, base: Any) -> None:
        exact = int(base)
        exotic = [Fraction(3 * exact + 1, 3), Decimal(exact) + Decimal("0.1"), math.nextafter(base + 1.0, INFINITY)]
        self.pool = [base + offset for offset in OFFSETS] + exotic + [INFINITY, -INFINITY]
        for side in (self.made, self.model):
            side.clock.now = base

    @rule(places=st.lists(PLACES, min_size=1, max_size=5), parts=st.integers(0, 2))
    def enqueue(self, places: list[int], parts: int) -> None:
        self.tally["enqueue"] += 1
        self.put_in(places, parts)

    def put_in(self, places: list[int], parts: int) -> None:
        for place in places:
            self.names += 1
            message = (self.names, None)[:parts]
            self.both(lambda side: side.queue.enqueue(self.start(place), *message))  # noqa: B023 - done at once
            self.balance += 1

    @rule(value=st.sampled_from(REFUSED), batch=st.sampled_from((None, 5, "batch")))
    def refused(self, value: Any, batch: Any) -> None:
        """Each wrong call has the same refusal on both sides, and the views find nothing changed."""
        self.tally["refused"] += 1
        self.both(lambda side: self.refusals(side, value, batch))

    def refusals(self, side: Side, value: Any, batch: Any) -> Any:
        other = type(side.queue)()
        other.enqueue(1.0, "foreign")
        foreign = other.take(1.0)
        calls: list[Callable[[], Any]] = [
            lambda: side.queue.enqueue(value, "m"),
            lambda: side.queue.cancel(value),
            lambda: side.queue.take(INFINITY, limit=0),
            lambda: side.queue.take(value if value is not None else "now"),
            lambda: side.queue.requeue(batch),
            lambda: side.queue.process(batch, print),
            lambda: side.queue.requeue(foreign),
            lambda: side.queue.process(foreign, print),
        ]
        errors = [type(attempt(call)[1]) for call in calls]
        assert all(issubclass(error, ValueError | TypeError) for error in errors), errors
        return errors, len(foreign), other.requeue(foreign)

    @precondition(lambda self: len(self.made.batches) < MOST_BATCHES)
    @rule(
        place=PLACES, limit=st.sampled_from((None, None, 1, 2, 3)), when=st.sampled_from(("at", "before", "by clock"))
    )
    def take(self, place: int, limit: int | None, when: str) -> None:
        """At some start, at the last number before the start of a message, or by the clock, gone ahead or back."""
        self.tally["take"] += 1
        now = self.aim(place) if when == "before" else self.start(place)
        if when == "before" and isinstance(now, float):
            now = math.nextafter(now, -INFINITY)

        def step(side: Side) -> Any:
            if when == "by clock" and not isinstance(now, Decimal):  # it is added to the window, a float
                side.clock.now = now
                return side.take(None, limit)
            return side.take(now, limit)

        self.both(step)

    @rule(which=st.integers(0, MOST_BATCHES - 1), actions=PLANS, deadline=DEADLINES)
    def process(self, which: int, actions: list[tuple[str, int]], deadline: str) -> None:
        """Of a batch that is out, or of all that is queued."""
        self.tally["process"] += 1
        if not any(map(len, self.model.batches)):
            self.both(lambda side: side.take(INFINITY, None))
        places = [place for place, batch in enumerate(self.model.batches) if batch] or range(len(self.model.batches))
        if places:
            self.hand_out(places[which % len(places)], actions, deadline)

    @precondition(lambda self: len(self.made.batches) < MOST_BATCHES)
    @rule(place=PLACES, actions=PLANS, deadline=DEADLINES, late=st.lists(PLACES, max_size=2))
    def cycle(self, place: int, actions: list[tuple[str, int]], deadline: str, late: list[int]) -> None:
        """What a dispatcher does: take what is due, hand out while there is time, put back the rest; some come late."""
        self.tally["cycle"] += 1
        if self.both(lambda side: side.take(self.start(place), None)):
            place = len(self.model.batches) - 1
            batch = self.model.batches[place]
            self.hand_out(place, actions, deadline)
            self.put_in(late, 1)
            place = self.model.batches.index(batch)  # a handler may have put back one before it
            self.both(lambda side: side.requeue(place))

    def hand_out(self, place: int, actions: list[tuple[str, int]], deadline: str) -> None:
        plan = [(kind, (self.aim if kind in ("cancel", "nest") else self.start)(place)) for kind, place in actions]
        self.balance += self.change(self.both(lambda side: side.process(place, plan, deadline)))

    def change(self, result: Any) -> int:
        """Return by how much one process changed what must be queued or held, told from its log."""
        count, _, log = result
        messages = [entry for entry in log if not isinstance(entry[0], str)]
        change = -(count if isinstance(count, int) else len(messages) - 1)
        for kind, inner in (entry for entry in log if isinstance(entry[0], str)):
            change += (kind == "enqueue") - (kind == "cancel" and inner is not None)
            change += 2 + self.change(inner) if kind == "nest" else 0
        return change

    @precondition(lambda self: self.made.batches)
    @rule(which=st.integers(0, MOST_BATCHES - 1))
    def requeue(self, which: int) -> None:
        """Of one of the batches that are out; a second time puts back nothing."""
        self.tally["requeue"] += 1
        self.both(lambda side: side.requeue(which % len(side.batches)))
        assert self.both(lambda side: side.queue.requeue(side.returned[-1])) == 0

    @rule(place=PLACES, wanted=st.sampled_from(("any", "second", "none", "odd")))
    def cancel(self, place: int, wanted: str) -> None:
        self.tally["cancel"] += 1
        start = self.aim(place)

        def step(side: Side) -> Any:
            asked: list[Any] = []

            def match(*message: Any) -> object:
                asked.append(message)
                return {"second": len(asked) == 2, "none": "", "odd": sum(map(bool, message)) % 2}[wanted]

            return side.queue.cancel(start, *(() if wanted == "any" else (match,))), asked

        found, _ = self.both(step)
        self.balance -= found is not None

    @invariant()
    def views(self) -> None:
        """Look at both sides in every way that there is."""
        for name in LOOKS:
            getattr(self, f"look_{name}")()

    def look_len(self) -> None:
        """Lengths agree, and the books balance: what came in went out, is queued, or is held."""
        assert len(self.made.queue) == len(self.model.queue)
        assert bool(self.made.queue) == bool(len(self.model.queue))
        held = [len(batch) for batch in self.made.batches]
        assert held == [len(batch) for batch in self.model.batches]
        assert self.balance == len(self.made.queue) + sum(held)
        assert all(len(batch) == 0 for batch in self.made.returned[-1:])

    def look_latest(self) -> None:
        assert [batch.latest for batch in self.made.batches] == [batch.latest for batch in self.model.batches]

    def look_next_start(self) -> None:
        assert self.made.queue.next_start == self.model.queue.next_start

    def look_contents(self) -> None:
        expected = list(self.model.queue.contents())
        assert list(self.made.queue.contents()) == expected
        assert next(iter(self.made.queue.contents()), None) == (expected[0] if expected else None)

    def look_merged(self) -> None:
        assert self.made.queue.merged == self.model.queue.merged

    def look_walked(self) -> None:
        assert self.made.queue.walked >= self.walked_before
        self.walked_before = self.made.queue.walked

    def look_container(self) -> None:
        assert next(iter(self.made.queue.container()), None) is not None

    def look_check(self) -> None:
        self.made.queue.check()

    def teardown(self) -> None:
        """Put everything back, take it all and hand it out: nothing is left, nothing came twice."""
        assert all(thing is not None for thing in self.made.queue.container())
        for side in (self.made, self.model):
            side.clock.now = 0.0
            while side.batches:
                side.requeue(0)
        result = self.both(lambda side: side.take(INFINITY, None))
        assert (result[0] if result else 0) == self.balance
        if result:
            assert self.both(lambda side: side.process(0, [], "never"))[1] == 0


def run(subject: Any, profile: settings = PROFILE) -> Counter[str]:
    """Run the machine on one class and return how often each rule was played."""
    tally: Counter[str] = Counter()
    machine = type(f"{subject.__name__}Machine", (TimerMachine,), {"subject": subject, "tally": tally})
    run_state_machine_as_test(machine, settings=profile)
    return tally


def public_methods(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")} | {"len"}


def without_a_rule(protocol: type) -> set[str]:
    """Return the public methods of `protocol` for which the machine has neither a rule nor a look."""
    return public_methods(protocol) - set(LOOKS) - {one.function.__name__ for one in TimerMachine().rules}


@pytest.mark.parametrize("subject", SUBJECTS["timer"])
def test_subject_does_what_the_model_does(subject: str) -> None:
    tally = run(load("timer", subject))
    print(f"{subject}: {tally.total():,} steps, {dict(tally)}")
    assert tally.total() >= LEAST_STEPS
    rules = {one.function.__name__ for one in TimerMachine().rules}
    assert set(tally) == rules


def test_every_public_method_of_the_contract_has_a_rule() -> None:
    assert without_a_rule(TimerQueue) == set()

    class Longer(TimerQueue, Protocol):
        def peek(self) -> object: ...

    assert without_a_rule(Longer) == {"peek"}


FAULTS = (
    *("ties-keep-arrival-order", "nothing-runs-early", "length", "limit", "requeue-ahead-of-equal-starts"),
    *("requeue-merges-late-arrivals", "requeue-empties-batch", "second-requeue-puts-back-0", "merged-counts"),
    *("window-closes", "past-deadline-dispatches-none", "raising-handler-keeps-message", "stop-dispatch-quiet"),
    *("handler-arrivals-wait", "handler-may-take", "handler-may-cancel", "cancel-begun-first", "cancel-match"),
    *("cancel-spares-idle-batches", "walked-never-decreases", "nan-start-refused", "foreign-batch-refused"),
)


@pytest.mark.parametrize("promise", FAULTS)
def test_the_machine_finds_a_queue_with_one_fault(promise: str) -> None:
    with pytest.raises(AssertionError):
        run(BROKEN[promise], settings(PROFILE, max_examples=600, phases=[Phase.generate]))
