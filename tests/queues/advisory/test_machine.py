"""Every subject against the model, call by call on a virtual clock, on sequences that Hypothesis makes up and shrinks.

All instants of one example are either exact Fractions, where spreading rounds nothing, or of mixed kinds, where it is
left out. The profile "ci" makes the same examples each time; for a search with new ones set LAB_HYPOTHESIS=explore.
"""

from __future__ import annotations

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

from queues.advisory.contract import AdvisoryScheduler
from queues.advisory.model import Model
from queues.advisory.promise_schedules import kind
from queues.advisory.promises import PROMISES
from queues.promises.offer import Clock, attempt
from queues.registry import SUBJECTS, load
from tests.queues.advisory.broken import BROKEN

LEAST_STEPS = 900
IDS = ("10", "9", 9, None, ("9",), "a", "b", "c")
EXACT_PERIODS = (10, 11, 12, Fraction(25, 2), Fraction(1, 3), 60, 3600)
MIXED_PERIODS = (10, 10.0, 12.5, Fraction(5, 2), Decimal("2.5"), 0.25, 3600)
REFUSED = (0, -1, float("nan"), float("inf"), Decimal("sNaN"), "5", None, True, 1j)
NO_TIMES: tuple[Any, ...] = (float("nan"), float("-inf"), Decimal("NaN"), "5", True, 1j, [])
STEPS = (0, 0, Fraction(1, 4), 1, 5, 10, 12, 100, 4000, -1, -7, -1000)
LOOKS = ("all_jobs", "job_data", "userdata")
NAMES = st.sampled_from(IDS)

settings.register_profile(
    "ci",
    max_examples=48,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PROFILE = settings.get_profile("ci")
if os.environ.get("LAB_HYPOTHESIS") == "explore":
    PROFILE = settings(PROFILE, derandomize=False, max_examples=2000)


class SchedulerMachine(RuleBasedStateMachine):
    """Does each step on the subject and on the model, and compares results and views."""

    subject: ClassVar[Any] = Model
    tally: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.now: Any = Fraction(0)
        self.exact = True
        self.made: Any = None
        self.model: Any = None

    @initialize(base=st.sampled_from((0, 1000, -500)), exact=st.booleans(), auto=st.booleans())
    def begin(self, base: int, exact: bool, auto: bool) -> None:
        self.exact = exact
        self.now = Fraction(base)
        self.clock.now = self.time(0)
        self.made, self.model = (kind(auto_spread=auto and exact, clock=self.clock) for kind in (self.subject, Model))

    def both(self, step: Callable[[Any], Any]) -> Any:
        """Do `step` on both sides and return the result, which must be the same."""
        got, error = attempt(lambda: step(self.made))
        expected, right = attempt(lambda: step(self.model))
        if kind(error) is not kind(right):
            raise AssertionError(f"raised {error!r}, expected {right!r}") from error
        assert got == expected
        return got

    def time(self, way: int) -> Any:
        """Return the time, as one of the kinds of number that this example has."""
        if self.exact:
            return self.now
        exact = self.now.denominator in (1, 2, 4)
        return (self.now, float(self.now), Decimal(float(self.now)), int(self.now))[way % (3 if exact else 1)]

    def period(self, number: int) -> Any:
        periods = EXACT_PERIODS if self.exact else MIXED_PERIODS
        return periods[number % len(periods)]

    @rule(names=st.lists(NAMES, min_size=1, max_size=4), number=st.integers(0, 6), data=st.sampled_from((None, 0, "d")))
    def add(self, names: list[Any], number: int, data: Any) -> None:
        self.tally["add"] += 1
        for name in names:
            self.both(lambda side: side.add(name, self.period(number), data))  # noqa: B023 - done at once

    @rule(name=NAMES, number=st.integers(0, 6))
    def update_period(self, name: Any, number: int) -> None:
        self.tally["update_period"] += 1
        self.both(lambda side: side.update_period(name, self.period(number)))

    @rule(name=NAMES)
    def remove(self, name: Any) -> None:
        self.tally["remove"] += 1
        self.both(lambda side: side.remove(name))

    @rule(step=st.sampled_from(STEPS), way=st.integers(0, 2), times=st.integers(1, 6), given=st.booleans())
    def next_job(self, step: Any, way: int, times: int, given: bool) -> None:
        """Let time pass, or go back, and ask several times."""
        self.tally["next_job"] += 1
        self.now += step
        self.clock.now = self.time(way)
        for _ in range(times):
            self.both(lambda side: side.next_job(*((self.clock.now,) if given else ())))

    @rule(times=st.integers(1, 8))
    def follow(self, times: int) -> None:
        """Do what a caller does: wait as advised, then work a little."""
        self.tally["next_job"] += 1
        for _ in range(times):
            self.clock.now = self.time(0)
            advice = self.both(lambda side: side.next_job())
            if advice is None:
                return
            delay = advice[1] if self.exact else Fraction(advice[1])
            self.now = Fraction(self.now + delay + Fraction(1, 4))

    @precondition(lambda self: self.exact)
    @rule(step=st.sampled_from(STEPS), given=st.booleans())
    def spread(self, step: Any, given: bool) -> None:
        self.tally["spread"] += 1
        self.now += step
        self.clock.now = self.now
        self.both(lambda side: side.spread(*((self.now,) if given else ())))

    @rule(name=NAMES, value=st.sampled_from((None, 0, "", "e")), delete=st.booleans())
    def update_userdata(self, name: Any, value: Any, delete: bool) -> None:
        self.tally["update_userdata"] += 1
        self.both(lambda side: side.delete_userdata(name) if delete else side.update_userdata(name, value))

    @rule(name=NAMES, value=st.sampled_from(REFUSED), now=st.sampled_from(NO_TIMES))
    def refused(self, name: Any, value: Any, now: Any) -> None:
        """Each wrong call has the same refusal on both sides, and the views find nothing changed."""
        self.tally["refused"] += 1
        calls: tuple[Callable[[Any], Any], ...] = (
            lambda side: side.add("new", value),
            lambda side: side.add([name], 10),
            lambda side: side.update_period(name, value),
            lambda side: side.next_job(now),
            lambda side: side.spread(now),
            lambda side: side.remove("none"),
        )
        for call in calls:
            self.both(call)
            with pytest.raises((ValueError, TypeError, LookupError)):
                call(self.made)

    @invariant()
    def views(self) -> None:
        if self.made is not None:
            for name in self.both(lambda side: side.all_jobs()):
                for look in LOOKS[1:]:
                    self.both(lambda side: getattr(side, look)(name))  # noqa: B023
            if self.subject is not Model and hasattr(self.made, "check"):
                self.made.check()


def run(subject: Any, profile: settings = PROFILE) -> Counter[str]:
    """Run the machine on one class and return how often each rule was played."""
    tally: Counter[str] = Counter()
    machine = type(f"{subject.__name__}Machine", (SchedulerMachine,), {"subject": subject, "tally": tally})
    run_state_machine_as_test(machine, settings=profile)
    return tally


@pytest.mark.parametrize("subject", SUBJECTS["advisory"])
def test_subject_does_what_the_model_does(subject: str) -> None:
    tally = run(load("advisory", subject))
    print(f"{subject}: {tally.total():,} steps, {dict(tally)}")
    assert tally.total() >= LEAST_STEPS
    assert set(tally) == {"add", "update_period", "remove", "next_job", "spread", "update_userdata", "refused"}


def without_a_rule(protocol: type) -> set[str]:
    public = {name for name in vars(protocol) if not name.startswith("_")}
    return public - {*LOOKS, "delete_userdata"} - {one.function.__name__ for one in SchedulerMachine().rules}


def test_every_public_method_of_the_contract_has_a_rule() -> None:
    assert without_a_rule(AdvisoryScheduler) == set()

    class Longer(AdvisoryScheduler, Protocol):
        def pause(self) -> object: ...

    assert without_a_rule(Longer) == {"pause"}


FAULTS = (
    *("new-job-due-at-once", "early-advice-counts-as-run", "idle-polling-moves-nothing", "catch-up-once"),
    *("next-run-a-period-later", "clock-may-go-back", "update-counts-from-last-run", "added-again-is-new"),
    *("userdata-as-given", "spread-different", "auto-spread", "bad-period-refused", "unknown-id-refused"),
)


@pytest.mark.parametrize("promise", FAULTS)
def test_the_machine_finds_a_scheduler_with_one_fault(promise: str) -> None:
    assert promise in {one.name for one in PROMISES}
    with pytest.raises((AssertionError, ExceptionGroup)):
        run(BROKEN[promise], settings(PROFILE, max_examples=300, phases=[Phase.generate]))
