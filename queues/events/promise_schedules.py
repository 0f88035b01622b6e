"""The promise checked on random schedules of calls: a queue does what the model does, told by the smallest one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from random import Random
from typing import Any, TypeAlias

from queues.advisory.promise_schedules import shrink
from queues.events.model import Model
from queues.events.rules import FAILED, FORMS, SUCCEEDED, StaleClaim
from queues.events.trial import Promise, Trial, promise
from queues.promises.offer import Clock, attempt
from queues.promises.trial import Broken, compared, shown, told_error

SCHEDULES: list[Promise] = []

Step: TypeAlias = tuple[Any, ...]
"""(method, the clock's time, its arguments …)."""

JOBS, TASKS, RESULTS = ("a", "b", "c"), ("t", "u", "v", "w"), (SUCCEEDED, SUCCEEDED, FAILED)
WEIGHTS = {"record": 6, "pending": 3, "finish": 2, "claim": 6, "complete": 4, "heartbeat": 1, "release": 1}
LEASE_US = 20
LONGEST = 60


def random_steps(random: Random, count: int) -> list[Step]:
    """Return `count` random calls; claims are named by how many there were."""
    steps: list[Step] = []
    now = 0
    for method in random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count):
        now += random.choice((0, 0, 1, 5, 30, -7))
        of, by = random.sample(JOBS, 2)
        if method == "record":
            at_us = random.choice((None, now, now - 15, now + 15))
            steps.append((method, now, of, random.choice(TASKS), random.choice(RESULTS), at_us))
        elif method == "pending":
            since_us, limit = random.choice((None, now, now - 15, 0)), random.choice((None, 1, 2))
            steps.append((method, now, of, by, random.choice(FORMS), since_us, limit))
        elif method == "finish":
            steps.append((method, now, of, by, random.choice(RESULTS)))
        elif method == "claim":
            steps.append((method, now, of, by))
        else:
            steps.append((method, now, random.randrange(8), random.choice(RESULTS)))
    return steps


class Player:
    """Plays steps on one queue. What it returns has no ids, which engines may leave gaps between."""

    def __init__(self, queue: Any, clock: Clock) -> None:
        """Nothing has been claimed yet."""
        self.queue = queue
        self.clock = clock
        self.claims: list[Any] = []

    def play(self, step: Step) -> Any:
        """Do one step; what came of it can be compared."""
        method, self.clock.now, *given = step
        result, error = attempt(lambda: getattr(self, method)(*given))
        if error is not None and not isinstance(error, StaleClaim):
            return f"raised {told_error(error)}"
        return "refused as stale" if error is not None else result

    def record(self, *given: Any) -> None:
        """Write an event."""
        self.queue.record(*given)

    def pending(self, of: str, by: str, form: str, since_us: int | None, limit: int | None) -> Any:
        """Ask."""
        found = self.queue.pending(of, by, form=form, since_us=since_us, limit=limit)
        return [event.row[1:] for event in found]

    def finish(self, of: str, by: str, result: str) -> None:
        """Process the first that is pending."""
        for event in self.queue.pending(of, by, limit=1):
            self.queue.finish(event, by, result)

    def claim(self, of: str, by: str) -> Any:
        """Claim the next."""
        found = self.queue.claim(of, by, worker="w", lease_us=LEASE_US)
        self.claims.append(found)
        return found and (found.event.row[1:], found.token, found.until_us)

    def _of(self, number: int) -> Any:
        return self.claims[-1 - number] if number < len(self.claims) else None

    def complete(self, number: int, result: str) -> None:
        """Complete one of the latest claims."""
        if self._of(number):
            self.queue.complete(self._of(number), result)

    def heartbeat(self, number: int, _: str) -> Any:
        """Extend one of the latest claims."""
        return self._of(number) and self.queue.heartbeat(self._of(number))

    def release(self, number: int, _: str) -> None:
        """Give one of the latest claims back."""
        if self._of(number):
            self.queue.release(self._of(number))


def difference(queue_class: Any, steps: Sequence[Step]) -> tuple[int, str] | None:
    """Return where a queue first differs from the model and how, or None. Nothing that it raises passes."""
    clock = Clock(0)
    made, error = attempt(lambda: queue_class(clock=clock))
    if error is not None:
        return 0, f"raised {told_error(error)}"
    with closing(made):
        right, other = Player(Model(clock=clock), clock), Player(made, clock)
        for place, step in enumerate(steps):
            expected, got = right.play(step), other.play(step)
            if expected != got:
                return place, compared(expected, got)
        for of in JOBS:
            for by in JOBS:
                asked = ("pending", clock.now, of, by, FORMS[0], None, None)
                expected, got = right.play(asked), other.play(asked)
                if expected != got:
                    return len(steps) - 1, f"then pending({of!r}, {by!r}): {compared(expected, got)}"
    return None


def said(step: Step) -> str:
    """Return a step as a call.

    >>> said(("claim", 5, "a", "b"))
    "claim('a', 'b') at 5"
    """
    method, at, *given = step
    return f"{method}({', '.join(map(shown, given))}) at {at}"


@promise(SCHEDULES, "model-agreement", "record pending finish claim complete heartbeat release")
def model_agreement(trial: Trial) -> None:
    """On random schedules a queue does what the model does, call by call, with a clock that also goes back."""
    for _ in range(max(1, trial.steps // LONGEST)):
        steps = random_steps(trial.random, LONGEST)
        if difference(trial.queue_class, steps) is not None:
            small, told = shrink(steps, lambda tried: difference(trial.queue_class, tried))
            raise Broken(f"{'; '.join(map(said, small))}: {told}")
