"""One of the two queues that the state machine plays on: the subject, or the model."""

from __future__ import annotations

from typing import Any

from queues.promises.offer import Clock, attempt
from queues.timer.rules import StopDispatch

INFINITY = float("inf")
MOST_BATCHES = 4
ACTIONS = "pass stop raise close enqueue cancel take requeue requeue-self process-self nest".split()  # noqa: SIM905
"""What a handler may do."""


class Failure(Exception):
    """What a handler raises."""


class Side:
    """A queue with its clock and its open batches: the subject, or the model."""

    def __init__(self, queue_class: Any) -> None:
        self.clock = Clock(0.0)
        self.queue = queue_class(window=10.0, clock=self.clock)
        self.batches: list[Any] = []
        self.returned: list[Any] = []

    def take(self, now: Any, limit: int | None) -> Any:
        batch = self.queue.take(now, limit)
        if batch is None:
            return None
        self.batches.append(batch)
        return len(batch), batch.latest

    def process(self, which: int, actions: list[tuple[str, Any]], deadline: str) -> Any:
        """Hand out one batch, doing one of `actions` with each message; return all that came of it, in order."""
        batch = self.batches[which]
        log: list[Any] = []
        left = list(actions)

        def handler(*message: Any) -> None:
            log.append(message)
            kind, start = left.pop(0) if left else ("pass", None)
            log.append((kind, self.act(kind, start, batch, len(log))))

        until = {"window": None, "past": self.clock.now, "later": self.clock.now + 10.0, "never": INFINITY}[deadline]
        result, error = attempt(lambda: self.queue.process(batch, handler, until))
        return type(error) if error else result, len(batch), log

    def act(self, kind: str, start: Any, batch: Any, number: int) -> Any:
        """Do what one handler does, and return what came of it."""
        if kind == "stop":
            raise StopDispatch
        if kind == "raise":
            raise Failure
        if kind == "close":
            self.clock.now += 10.0
        elif kind == "enqueue":
            return self.queue.enqueue(start, "by a handler", number)
        elif kind == "cancel":
            return self.queue.cancel(start)
        elif kind == "take":
            return self.take(start, None) if len(self.batches) < MOST_BATCHES else None
        elif kind in ("requeue-self", "process-self"):
            call = self.queue.requeue if kind == "requeue-self" else lambda own: self.queue.process(own, print)
            return type(attempt(lambda: call(batch))[1])
        elif kind == "requeue":
            return self.requeue_another(batch)
        elif kind == "nest":
            return self.nest(start, batch, number)
        return None

    def requeue_another(self, batch: Any) -> Any:
        """Put back the first batch that is not the one being handed out; it may be out further up."""
        others = [place for place, other in enumerate(self.batches) if other is not batch]
        return others and type(attempt(lambda: self.requeue(others[0]))[1])

    def nest(self, start: Any, batch: Any, number: int) -> Any:
        """Hand out, inside, a batch that ties with the end of the one outside, and cancel such ties there."""
        for name in ("twin", "other twin"):
            self.queue.enqueue(batch.latest, name, number)
        if self.take(batch.latest, None) is None:
            return None
        return self.process(
            len(self.batches) - 1, [("cancel", batch.latest), ("cancel", start), ("stop", None)], "never"
        )

    def requeue(self, which: int) -> Any:
        count = self.queue.requeue(self.batches[which])
        self.returned.append(self.batches.pop(which))
        return count
