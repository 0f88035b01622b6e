"""Queues with one fault in cancelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from queues.model import Message, Model, ModelBatch
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("handler-may-cancel")
class CancelsQueuedOnly(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        running, self.running = self.running, []
        try:
            return super().cancel(start, match)
        finally:
            self.running = running


@breaks("cancel-begun-first")
class CancelsBegunLast(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        self.running.reverse()
        try:
            return super().cancel(start, match)
        finally:
            self.running.reverse()


@breaks("cancel-spares-the-dispatcher")
class CancelsTheHandled(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        for batch in self.running:
            batch.handling = 0
        return super().cancel(start, match)


@breaks("cancel-spares-idle-batches")
class CancelsIdleBatches(Model):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.out: list[ModelBatch] = []

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        batch = super().take(now, limit)
        self.out += [batch] if batch else []
        return batch

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        idle = [batch for batch in self.out if not batch.processing]
        self.running += idle
        try:
            return super().cancel(start, match)
        finally:
            self.running = [batch for batch in self.running if batch not in idle]


@breaks("cancel-first-at-start")
class CancelsTheLast(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        self.queued.reverse()
        try:
            return super().cancel(start, match)
        finally:
            self.queued.reverse()


@breaks("cancel-none-when-absent")
class CancelsTheNext(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        found = super().cancel(start, match)
        if found is None and match is None and self.queued and start < self.queued[0][0]:
            return self.queued.pop(0)
        return found


@breaks("cancel-match")
class IgnoresMatch(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        return super().cancel(start)


@breaks("raising-match-changes-nothing")
class RemovesBeforeItAsks(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        def removing(*message: Any) -> object:
            place = next(place for place, queued in enumerate(self.queued) if queued == (start, *message))
            kept = self.queued.pop(place)
            result = match(*message) if match else True
            self.queued.insert(place, kept)
            return result

        return super().cancel(start, removing if match else None)


@breaks("order-after-cancel")
class ForgetsAfterACancel(Model):
    cancelled = False

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        self.cancelled = True
        return super().cancel(start, match)

    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        if self.cancelled and len(self.queued) > 1 and start < self.queued[-1][0]:
            self.queued.append(self.queued.pop(self.queued.index((start, *message))))
        self.cancelled = False


@breaks("requeue-after-cancel")
class BringsBackTheCancelled(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        found = super().cancel(start, match)
        if found and self.running and self.running[-1].latest == start:
            self.running[-1].cancelled = found  # type: ignore[attr-defined]
        return found

    def requeue(self, batch: Any) -> int:
        if isinstance(batch, ModelBatch) and hasattr(batch, "cancelled"):
            batch.messages.append(batch.cancelled)
        return super().requeue(batch)


@breaks("cancelled-leaves-nothing")
class Graveyard(Model):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.cancelled: list[Any] = []

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        found = super().cancel(start, match)
        self.cancelled.append(found)
        return found
