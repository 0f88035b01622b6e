"""Random schedules of calls, played on a queue and on the model side by side until they differ.

A schedule is plain data, so any part of it can be left out and the rest still runs: a batch is named by the step that
took it, and a step whose batch is not there does nothing. queues/promises/shrinking.py lives on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from queues.model import Model
from queues.promises.offer import METHODS, Clock, Offer, attempt, build
from queues.promises.trial import ENDLESS, INFINITY, compared, shown, told_error
from queues.timer.rules import StopDispatch

Step = tuple[Any, ...]
"""("enqueue", start, name) · ("take", label, now, limit) · ("read", label) · ("requeue", label) · ("clock", now) ·
("cancel", start, name or None) · ("process", label, place, action): the handler of message `place` does the action."""

ACTIONS = ("none", "stop", "raise", "close", "enqueue", "cancel", "take", "requeue", "process")
NEEDS = {
    "process": ("process",),
    "cancel": ("cancel",),
    "clock": ("clock", "take-now"),
    "read": (),
    "requeue": (),
    "take": (),
    "enqueue": (),
}
WEIGHTS = {
    "enqueue": (8, 4),
    "take": (4, 4),
    "requeue": (2, 4),
    "read": (1, 1),
    "process": (2, 3),
    "cancel": (1, 3),
    "clock": (1, 1),
}
"""How often each operation comes: in a schedule that fills the queue, and in one that empties it again and again."""
FULL = Offer(frozenset({*METHODS, "window", "clock", "take-now", "take-limit", "process-deadline", "read"}))
WINDOW = 60.0
LOOKS = 100


class Failure(Exception):
    """What a handler of a schedule raises."""


@dataclass(frozen=True)
class Difference:
    """The first step after which queue and model differ, in which aspect, and both sides of it."""

    steps: tuple[Step, ...]
    aspect: str
    expected: Any
    got: Any

    def told(self) -> str:
        """Return the calls, what was expected and what came."""
        where = "" if self.aspect in ("result", "raised") else f"{self.aspect}: "
        return f"{render(self.steps)}: {where}{compared(self.expected, self.got)}"


class Player:
    """Plays steps on one queue."""

    def __init__(self, queue_class: Any, offer: Offer, views: Offer, reading: bool) -> None:
        """Make a queue that has what `offer` says; look at those `views` only, and at batches only if `reading`."""
        self.clock = Clock(0.0)
        self.queue = build(queue_class, offer, WINDOW, self.clock)
        self.offer = offer
        self.views = views
        self.reading = reading
        self.batches: dict[str, Any] = {}

    def play(self, step: Step) -> Any:
        """Do one step and return what came of it: a plain value that compares."""
        operation, *arguments = step
        result, error = attempt(lambda: getattr(self, f"_{operation}")(*arguments))
        return result if error is None else ("raised", told_error(error))

    def look(self) -> dict[str, Any]:
        """Return what the views show now, and how much each batch holds."""
        state: dict[str, Any] = {}
        if "__len__" in self.views:
            state["len(queue)"] = len(self.queue)
            state["len of each batch that is out"] = [len(batch) for batch in self.batches.values()]
        state.update({name: getattr(self.queue, name) for name in ("next_start", "merged") if name in self.views})
        if "contents" in self.views:
            state["contents"] = list(islice(self.queue.contents(), ENDLESS))
        return state

    def _enqueue(self, start: Any, name: str) -> Any:
        return self.queue.enqueue(start, name)

    def _take(self, label: str, now: Any, limit: int | None) -> Any:
        given = (now,) if now is not None or limit is not None else ()
        batch = self.queue.take(*given) if limit is None else self.queue.take(*given, limit)
        if batch is None:
            return None
        self.batches[label] = batch
        size = (len(batch),) if "__len__" in self.views else ()
        return ("batch", *size, *((batch.latest,) if "latest" in self.views else ()))

    def _read(self, label: str) -> Any:
        batch = self.batches.pop(label, None)
        if batch is None:
            return None
        if not self.reading:
            return len(batch)
        if "process" not in self.offer:
            return [tuple(message) for message in islice(batch, ENDLESS)]
        seen: list[Any] = []
        deadline = (INFINITY,) if "process-deadline" in self.offer else ()
        self.queue.process(batch, lambda *message: seen.append(message), *deadline)
        return seen

    def _requeue(self, label: str) -> Any:
        if label not in self.batches:
            return None
        result = self.queue.requeue(self.batches[label])
        del self.batches[label]
        return result

    def _clock(self, now: Any) -> None:
        self.clock.now = now

    def _cancel(self, start: Any, name: str | None) -> Any:
        if name is None:
            return self.queue.cancel(start)
        return self.queue.cancel(start, lambda other: other == name)

    def _process(self, label: str, place: int, action: Step) -> Any:
        batch = self.batches.get(label)
        if batch is None:
            return None
        seen: list[Any] = []

        def handler(*message: Any) -> None:
            seen.append(message)
            if len(seen) == place + 1:
                self._act(label, action, seen)

        result, error = attempt(lambda: self.queue.process(batch, handler))
        if error is not None and not isinstance(error, Failure | StopDispatch):
            raise error
        return (type(error).__name__ if error else result, seen)

    def _act(self, label: str, action: Step, seen: list[Any]) -> None:
        operation, *arguments = action
        if operation == "stop":
            raise StopDispatch
        if operation == "raise":
            raise Failure
        if operation == "close":
            self.clock.now += WINDOW
        elif operation in ("requeue", "process"):  # of the very batch that is being processed: refused
            _, error = attempt(lambda: getattr(self, f"_{operation}")(label, *arguments))
            seen.append((operation, "RuntimeError" if isinstance(error, RuntimeError) else "not refused"))
        elif operation != "none":
            seen.append((operation, self.play(action)))


def difference(queue_class: Any, offer: Offer, steps: Sequence[Step], views: Offer | None = None) -> Difference | None:
    """Play `steps` on the queue and on the model and return where they first differ, or None.

    `views` are what is looked at beside the messages themselves; None: all that the queue offers. They are looked at
    after each step of a short schedule, and LOOKS times in a long one, since a look costs as much as the queue is long.
    """
    every = 1 + len(steps) // LOOKS
    reading = "read" in offer
    views = offer if views is None else views
    made, error = attempt(lambda: Player(queue_class, offer, views, reading))
    if error is not None:
        return Difference((), "raised", "a queue", told_error(error))
    model = Player(Model, FULL, views, reading)
    for number, step in enumerate(steps, 1):
        expected, got = model.play(step), made.play(step)
        done = tuple(steps[:number])
        if got != expected:
            return Difference(done, "raised" if _raised(got) else "result", expected, got)
        if number % every and number != len(steps):
            continue
        right = model.look()
        state, error = attempt(made.look)
        if error is not None:
            return Difference(done, "raised", "the views of it", ("raised", told_error(error)))
        for aspect, value in right.items():
            if state[aspect] != value:
                return Difference(done, aspect, value, state[aspect])
    return None


def _raised(value: Any) -> bool:
    return isinstance(value, tuple) and value[:1] == ("raised",)


def random_steps(
    random: Random, offer: Offer, count: int, starts: Sequence[Any], operations: Sequence[str] = tuple(WEIGHTS)
) -> list[Step]:
    """Return `count` steps over `starts` that a queue with this `offer` can play, and those that empty it."""
    possible = [name for name in operations if not offer.missing(NEEDS[name])]
    kind = random.randrange(2)
    weights = [WEIGHTS[name][kind] for name in possible]
    steps: list[Step] = []
    labels: list[str] = []
    for number, operation in enumerate(random.choices(possible, weights, k=count)):
        if operation == "enqueue":
            steps.append(("enqueue", random.choice(starts), f"m{number}"))
        elif operation == "take":
            limit = random.choice((None, None, 1, 2, 5)) if "take-limit" in offer else None
            now = max(random.choice(starts), random.choice(starts))
            if {"take-now", "clock"} <= offer.names and not random.randrange(6):
                now = None
            labels.append(f"b{number}")
            steps.append(("take", labels[-1], now, limit))
        elif operation == "clock":
            steps.append(("clock", random.choice(starts)))
        elif operation == "cancel":
            wanted = f"m{random.randrange(number + 1)}" if "cancel-match" in offer and random.randrange(2) else None
            steps.append(("cancel", random.choice(starts), wanted))
        elif labels:
            label = random.choice(labels[-4:])
            if operation == "process":
                steps.append(("process", label, random.randrange(3), _random_action(random, offer, number, starts)))
                continue
            labels.remove(label)
            steps.append((operation, label))
    random.shuffle(labels)
    return [*steps, *(("requeue", label) for label in labels), *emptying(offer, starts)]


def emptying(offer: Offer, starts: Sequence[Any]) -> list[Step]:
    """Return the steps that take and read all there is: at once, or start by start where only lengths can be seen."""
    ends = [INFINITY] if "read" in offer else [*sorted(set(starts)), INFINITY]
    return [step for at, now in enumerate(ends) for step in (("take", f"e{at}", now, None), ("read", f"e{at}"))]


def _random_action(random: Random, offer: Offer, number: int, starts: Sequence[Any]) -> Step:
    action = random.choice(ACTIONS)
    if action == "enqueue":
        return (action, random.choice(starts), f"h{number}")
    if action == "cancel":
        wanted = f"m{random.randrange(number + 1)}" if "cancel-match" in offer and random.randrange(2) else None
        return (action, random.choice(starts), wanted) if "cancel" in offer else ("none",)
    if action == "take":
        return (action, f"t{number}", random.choice(starts), None)
    if action == "process":
        return (action, 0, ("none",))
    return (action,) if action != "close" or "clock" in offer else ("none",)


def render(steps: Sequence[Step]) -> str:
    """Return the calls as one reads them, without those that do nothing because their batch was not taken.

    >>> render([("enqueue", 1.0, "a"), ("requeue", "none"), ("take", "b7", 1.0, None), ("read", "b7")])
    "enqueue(1.0, 'a'); batch = take(1.0); read(batch)"
    """
    names: dict[str, str] = {}
    words = [word for step in steps if (word := _words(step, names))]
    if len(words) > 24:
        words = [*words[:8], f"... {len(words) - 20:,} calls ...", *words[-12:]]
    return "; ".join(words) or "a new queue"


def _words(step: Step, names: dict[str, str]) -> str:
    operation, *rest = step
    if operation == "take":
        name = names.setdefault(rest[0], f"batch{len(names) + 1 if names else ''}")
        limit = "" if rest[2] is None else f", limit={rest[2]}"
        return f"{name} = take({'' if rest[1] is None and not limit else shown(rest[1])}{limit})"
    if operation == "enqueue":
        return f"enqueue({shown(rest[0])}, {rest[1]!r})"
    if operation == "cancel":
        return f"cancel({shown(rest[0])}{'' if rest[1] is None else f', match={rest[1]!r}'})"
    if operation == "clock":
        return f"clock = {shown(rest[0])}"
    name = names.get(rest[0], "")
    if not name:
        return ""
    if operation != "process":
        return f"{operation}({name})"
    words = {"none": "handler", "stop": "StopDispatch", "raise": "Failure", "close": "the clock passes the deadline"}
    kind = rest[2][0]
    inner = name if kind in ("requeue", "process") else None
    action = words.get(kind) or (f"{kind}({inner})" if inner else _words(rest[2], names))
    return f"process({name}, {action}{'' if kind == 'none' else f' at message {rest[1] + 1}'})"
