"""Promises checked on random schedules of calls: a scheduler does what the model does, told by the smallest one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias

from queues.advisory.model import Model
from queues.advisory.trial import Promise, Trial, build, promise
from queues.promises.offer import Clock, Offer, attempt
from queues.promises.trial import Broken, compared, shown, told_error

SCHEDULES: list[Promise] = []

Step: TypeAlias = tuple[Any, ...]
"""(method, the time of its call, its arguments …)."""

IDS = ("a", "b", "c", 1, "1", (2,))
WEIGHTS = {"add": 4, "update_period": 2, "remove": 1, "next_job": 9, "spread": 1}
EXACT_PERIODS: tuple[Any, ...] = (Fraction(10), Fraction(21, 2), 7, Fraction(1, 3), 60, 10)
MIXED_PERIODS: tuple[Any, ...] = (10, 10.0, 2.5, Fraction(5, 2), 7, 60, 0.25)
WAYS_BACK = 12  # one step of time in so many goes back
LONGEST = 60
MOST_TRIES = 4_000


def random_steps(random: Random, methods: Sequence[str], count: int, exact: bool, back: bool) -> list[Step]:
    """Return `count` random calls of `methods`. `exact`: all instants are Fractions, so that nothing is rounded."""
    periods = EXACT_PERIODS if exact else MIXED_PERIODS
    steps: list[Step] = []
    now: Any = Fraction(random.randint(0, 40), 4)
    for method in random.choices(methods, [WEIGHTS[method] for method in methods], k=count):
        if random.random() < 0.6:
            forward = not back or random.randrange(WAYS_BACK)
            now += Fraction(random.choice((0, 1, 2, 5, 10, 40, 48, 400)), 4) * (1 if forward else -1)
        at: Any = now if exact or random.random() < 0.3 else float(now)
        if method in ("next_job", "spread"):
            steps.append((method, at, at))
        elif method == "remove":
            steps.append((method, at, random.choice(IDS)))
        else:
            steps.append((method, at, random.choice(IDS), random.choice(periods)))
    return steps


def difference(trial: Trial, steps: Sequence[Step], auto_spread: bool) -> tuple[int, str] | None:
    """Return where a scheduler first differs from the model and how, or None. Nothing that it raises passes."""
    clock = Clock(0)
    made, error = attempt(lambda: build(trial.queue_class, trial.offer, auto_spread, clock))
    if error is not None:
        return 0, f"raised {told_error(error)}"
    model = Model(auto_spread=auto_spread, clock=clock)
    for place, (method, at, *given) in enumerate(steps):
        clock.now = at
        expected, right = attempt(lambda: getattr(model, method)(*given))  # noqa: B023 - called at once
        got, error = attempt(lambda: getattr(made, method)(*given))  # noqa: B023
        if kind(right) is not kind(error):
            told = [
                f"raised {told_error(one)}" if one else shown(value) for one, value in ((right, expected), (error, got))
            ]
            return place, f"expected {told[0]}, got {told[1]}"
        if right is None and got != expected:
            return place, compared(expected, got)
        found = views(made, trial.offer), views(model, trial.offer)
        if found[0] != found[1]:
            return place, f"then job_data: {compared(found[1], found[0])}"
    return None


def kind(error: BaseException | None) -> type | None:
    """Return which of the contract's exceptions `error` is; one that is none of them is of its own kind.

    >>> kind(UnicodeError("a kind of ValueError")), kind(KeyError("a"))
    (<class 'ValueError'>, <class 'KeyError'>)
    """
    kinds = (KeyError, LookupError, ValueError, TypeError)
    return next((one for one in kinds if isinstance(error, one)), None if error is None else type(error))


def views(scheduler: Any, offer: Offer) -> list[Any]:
    """Return what can be seen of every job; of one that cannot be looked at, what it raises."""
    if offer.missing(("all_jobs", "job_data")):
        return []
    ids, error = attempt(scheduler.all_jobs)
    if error is not None:
        return [told_error(error)]
    seen = []
    for job_id in ids:
        data, error = attempt(lambda: scheduler.job_data(job_id))  # noqa: B023 - called at once
        seen.append((job_id, data if error is None else told_error(error)))
    return seen


def shrink(steps: list[Step], fails: Callable[[Sequence[Step]], tuple[int, str] | None]) -> tuple[list[Step], str]:
    """Leave out whatever can be left out while `fails` still finds a difference; no single step can be in the end."""
    found = fails(steps)
    if found is None:
        raise ValueError("these steps do not fail: expected some that do")
    steps, told = steps[: found[0] + 1], found[1]
    size, tries = max(1, len(steps) // 2), 0
    while size and tries < MOST_TRIES:
        place = len(steps) - size
        before = len(steps)
        while place >= 0:
            tries += 1
            shorter = [*steps[:place], *steps[place + size :]]
            found = fails(shorter) if shorter else None
            if found is not None:
                steps, told = shorter[: found[0] + 1], found[1]
            place = min(place, len(steps)) - size
        size = size // 2 if len(steps) == before or size > 1 else size
    return steps, told


def agree(trial: Trial, exact: bool, methods: Sequence[str], back: bool = True, auto_spread: bool = False) -> None:
    """Play random schedules of `methods`, as far as they are offered; raise Broken with a smallest one that differs."""
    offered = [method for method in methods if method in trial.offer]
    for _ in range(max(1, trial.steps // LONGEST)):
        steps = random_steps(trial.random, offered, LONGEST, exact, back)
        if difference(trial, steps, auto_spread) is not None:
            small, told = shrink(steps, lambda tried: difference(trial, tried, auto_spread))
            raise Broken(f"{'; '.join(map(said, small))}: {told}")


def said(step: Step) -> str:
    """Return a step as a call; the time of a call that is not told it stands behind.

    >>> said(("add", 3, "a", 10)), said(("next_job", 3, 3))
    ("add('a', 10) at 3", 'next_job(3)')
    """
    method, at, *given = step
    words = f"{method}({', '.join(number(value) for value in given)})"
    return words if method in ("next_job", "spread") else f"{words} at {number(at)}"


def number(value: Any) -> str:
    """Return a value as it reads best: a Fraction as a fraction."""
    return str(value) if isinstance(value, Fraction) else shown(value)


@promise(SCHEDULES, "model-agreement")
def model_agreement(trial: Trial) -> None:
    """On random schedules a scheduler does what the model does, call by call."""
    agree(trial, False, ("add", "update_period", "remove", "next_job"), back=False)


@promise(SCHEDULES, "model-agreement-clock-back")
def model_agreement_clock_back(trial: Trial) -> None:
    """The same with a clock that goes back now and then."""
    agree(trial, True, ("add", "update_period", "remove", "next_job"))


@promise(SCHEDULES, "model-agreement-spread", "spread")
def model_agreement_spread(trial: Trial) -> None:
    """The same with spreads in between."""
    agree(trial, True, tuple(WEIGHTS))


@promise(SCHEDULES, "model-agreement-auto-spread", "auto_spread clock spread")
def model_agreement_auto_spread(trial: Trial) -> None:
    """The same with auto_spread."""
    agree(trial, True, tuple(WEIGHTS), auto_spread=True)
