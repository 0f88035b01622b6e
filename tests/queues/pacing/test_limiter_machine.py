"""Random use of a limiter in virtual time: every answer, every instant and every wait as the model says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from queues.pacing.instants import exact
from queues.pacing.model import LimiterModel, worst_excess
from queues.pacing.rig import rig_of
from queues.pacing.rigging import Waiting
from queues.registry import SUBJECTS, load

RATES = [1, 2, 0.5, 4, 3, 0.3, Fraction(1, 3), 0]
DYADIC = (1, 2, 0.5, 4)
"""With these all instants are exact in floats, also after the clock was stepped."""
SPANS = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 5.0, 60.0])


class LimiterMachine(RuleBasedStateMachine):
    """One limiter beside the model; those who wait have numbers."""

    limiter: Any

    @initialize(rate=st.sampled_from(RATES), burst=st.integers(1, 4), now=st.sampled_from([0.0, 100.0, 2.0**30]))
    def make(self, rate: Any, burst: int, now: float) -> None:
        self.rate, self.burst = rate, burst
        self.rig = rig_of(self.limiter, rate, burst, now=now)
        self.model = LimiterModel(rate, burst, now)
        self.waiting: dict[str, tuple[Waiting, int]] = {}
        self.grants: list[tuple[Any, int]] = []
        self.expected: dict[str, Any] = {}
        self.stepped = False

    def look(self) -> None:
        """Let the model come to where the clock is."""
        for name, instant in self.model.pass_until(self.rig.clock()):
            self.expected[name] = instant

    @rule(span=SPANS)
    def pass_time(self, span: float) -> None:
        self.rig.pass_until(self.rig.clock() + span - self.rig.offset)
        self.look()

    @rule(n=st.integers(0, 4))
    def ask(self, n: int) -> None:
        n = min(n, self.burst)
        self.look()
        granted = self.rig.call("try_acquire", n)
        assert granted == self.model.try_acquire(n)
        if granted and n:
            self.grants.append((self.rig.clock(), n))

    @rule(n=st.integers(1, 4))
    def enter(self, n: int) -> None:
        n = min(n, self.burst)
        self.look()
        name = str(len(self.waiting))
        self.model.enter(name, n)
        self.waiting[name] = (self.rig.enter("acquire", n), n)
        self.look()

    @precondition(lambda self: any(not one.done for one, _ in self.waiting.values()))
    @rule(which=st.integers(0, 20))
    def leave(self, which: int) -> None:
        left = [name for name, (one, _) in self.waiting.items() if not one.done]
        name = left[which % len(left)]
        self.look()
        self.rig.throw(self.waiting[name][0], KeyboardInterrupt())
        self.rig.settle()
        assert self.waiting[name][0].error is not None
        self.model.leave(name)
        self.look()

    @precondition(lambda self: self.rate in DYADIC)
    @rule(back=st.sampled_from([0.125, 1.0, 64.0]))
    def step_back(self, back: float) -> None:
        self.rig.call("wait_time")
        self.look()
        self.rig.step_clock(-back)
        self.rig.call("wait_time")
        self.look()
        self.stepped = True

    @rule(n=st.integers(0, 4))
    def wait_time(self, n: int) -> None:
        n = min(n, self.burst)
        self.look()
        now, span = self.rig.clock(), self.rig.call("wait_time", n)
        missing = self.model.wait_time(n)
        if missing == float("inf"):
            assert span == missing
            return
        due = exact(self.model.now) + missing
        assert now + span >= due
        assert now + span == now or exact(now + span) - due < Fraction(1, 2**21)

    @invariant()
    def served_as_the_model_says(self) -> None:
        for name, (one, _) in getattr(self, "waiting", {}).items():
            if one.error is None:
                assert one.done == (name in self.expected), name
                assert one.at == self.expected.get(name), name

    def teardown(self) -> None:
        if not hasattr(self, "rig"):
            return
        try:
            for one, n in self.waiting.values():
                if one.done and one.error is None:
                    self.grants.append((one.at, n))
            if not self.stepped:
                assert worst_excess(sorted(self.grants, key=lambda grant: grant[0]), self.rate, self.burst) is None
            self.rig.call("close")
            self.rig.settle()
            assert self.rig.left() == []
            assert all(one.done for one, _ in self.waiting.values())
        finally:
            self.rig.__exit__(None, None, None)


def machine_for(subject: str) -> type[LimiterMachine]:
    return type(f"Machine_{subject}", (LimiterMachine,), {"limiter": load("limiter", subject)})


@pytest.mark.parametrize("subject", SUBJECTS["limiter"])
def test_a_limiter_does_what_the_model_does(subject: str) -> None:
    run_state_machine_as_test(
        machine_for(subject),
        settings=settings(
            max_examples=40,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
