"""Cut a schedule on which a queue differs from the model down to the smallest one that still does.

Greedy, and nothing is needed but the replay: leave out steps, replace every number by its rank, lower what is left,
give plain names. What comes out may not be the very smallest, but no single step of it can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from queues.promises.offer import Offer
from queues.promises.schedules import WEIGHTS, Difference, Step, difference, random_steps
from queues.promises.trial import INFINITY, Broken, Trial

NOTHING = Offer(frozenset())
WORK = 150_000


def agree(
    trial: Trial,
    count: int,
    starts: Sequence[Any],
    operations: Sequence[str] = tuple(WEIGHTS),
    views: Offer | None = NOTHING,
) -> None:
    """Play `count` random steps over `starts`; raise Broken with the smallest part that differs from the model."""
    agree_on(trial, random_steps(trial.random, trial.offer, count, starts, operations), views)


def agree_on(trial: Trial, steps: Sequence[Step], views: Offer | None = NOTHING) -> None:
    """Play `steps`; raise Broken with the smallest part that differs from the model. `views`: see `difference`."""
    found = difference(trial.queue_class, trial.offer, steps, views)
    if found is not None:
        fails = partial(difference, trial.queue_class, trial.offer, views=views)
        raise Broken(shrink(found, fails).told())


def shrink(found: Difference, fails: Callable[[Sequence[Step]], Difference | None], budget: int = WORK) -> Difference:
    """Return the smallest schedule that greedy search finds and that still differs in the same aspect.

    `budget` bounds the work, so that the answer does not depend on the machine: a try costs its steps, and as many
    again for each 50 of them, since a step of a plain queue costs as much as the queue is long.
    """
    best = found

    def attempt_with(steps: Sequence[Step]) -> bool:
        nonlocal best, budget
        if tuple(steps) == best.steps or budget <= 0:
            return False
        budget -= len(steps) * (1 + len(steps) // 50) + 1
        other = fails(steps)
        if other is None or other.aspect != best.aspect:
            return False
        best = other
        return True

    attempt_with(_ranked(best.steps))
    before = None
    while before != best.steps:
        before = best.steps
        _leave_out(lambda: best.steps, attempt_with)
        attempt_with(_ranked(best.steps))
        for place in range(len(best.steps)):
            for simpler in _simpler(best.steps[place]) if place < len(best.steps) else ():
                if attempt_with([*best.steps[:place], simpler, *best.steps[place + 1 :]]):
                    break
    attempt_with(_renamed(best.steps))
    return best


def _leave_out(steps: Callable[[], Sequence[Step]], attempt_with: Callable[[Sequence[Step]], bool]) -> None:
    """Leave out halves, quarters, … single steps, from the end, as long as the difference stays."""
    size = max(1, len(steps()) // 2)
    while size:
        place = len(steps()) - size
        while place >= 0:
            attempt_with([*steps()[:place], *steps()[place + size :]])
            place = min(place, len(steps())) - size
        size //= 2


def _map_numbers(step: Step, change: Callable[[Any], Any]) -> Step:
    operation, *rest = step
    places = {"enqueue": 0, "cancel": 0, "clock": 0, "take": 1}
    if operation in places and rest[places[operation]] is not None:
        rest[places[operation]] = change(rest[places[operation]])
    if operation == "process":
        rest[-1] = _map_numbers(rest[-1], change)
    return (operation, *rest)


def _ranked(steps: Sequence[Step]) -> list[Step]:
    """Replace every finite number by 0.0, 1.0, 2.0, … in the same order."""
    numbers: set[Any] = set()
    for step in steps:
        _map_numbers(step, numbers.add)
    finite = sorted(number for number in numbers if abs(number) != INFINITY)
    ranks = {number: float(rank) for rank, number in enumerate(finite)}
    return [_map_numbers(step, lambda number: ranks.get(number, number)) for step in steps]


def _simpler(step: Step) -> list[Step]:
    """Return simpler versions of one step, simplest first."""
    found: list[Step] = []
    if step[0] in ("take", "cancel"):
        found.append((*step[:-1], None))
    if step[0] == "take" and step[2] is None:  # a number needs no clock
        found += [(*step[:2], now, step[3]) for now in (0.0, 1.0, 2.0, 3.0, INFINITY)]
    if step[0] == "process":
        found += [(*step[:2], 0, ("none",)), (*step[:2], 0, step[3])]
    for low in (0.0, 1.0, 2.0):
        found.append(_map_numbers(step, partial(min, low)))
    return [other for other in found if other != step]


def _renamed(steps: Sequence[Step]) -> list[Step]:
    """Call the messages a, b, c, … as they arrive."""
    names: dict[Any, str] = {}

    def plain(step: Step) -> Step:
        if step[0] == "enqueue":
            return (*step[:2], names.setdefault(step[2], _letter(len(names))))
        if step[0] == "cancel" and step[2] is not None:
            return (*step[:2], names.get(step[2], step[2]))
        if step[0] == "process":
            return (*step[:-1], plain(step[-1]))
        return step

    return [plain(step) for step in steps]


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")
