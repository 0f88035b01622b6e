"""Queues with one fault in what comes back, or in what they hold and let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from queues.model import Model, ModelBatch
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("requeue-in-front")
class Behind(Model):
    def requeue(self, batch: Any) -> int:
        behind, self.queued = self.queued, []
        count = super().requeue(batch)
        self.queued = behind + self.queued
        return count


@breaks("requeue-ahead-of-equal-starts")
class BehindEqualStarts(Model):
    def requeue(self, batch: Any) -> int:
        late, self.queued = self.queued, []
        count = super().requeue(batch)
        returned, self.queued = self.queued, late
        for message in returned:
            super().enqueue(*message)
        return count


@breaks("requeue-merges-late-arrivals")
class NeverMerges(Model):
    def requeue(self, batch: Any) -> int:
        late, self.queued = self.queued, []
        count = super().requeue(batch)
        self.queued += late
        return count


@breaks("requeue-counts")
class CountsNothing(Model):
    def requeue(self, batch: Any) -> Any:
        super().requeue(batch)


@breaks("requeue-empties-batch")
class KeepsABatch(Model):
    def requeue(self, batch: Any) -> int:
        left = list(batch.messages) if isinstance(batch, ModelBatch) else []
        if getattr(batch, "returned", False):
            return 0
        count = super().requeue(batch)
        batch.messages = left
        batch.returned = True
        return count


@breaks("second-requeue-puts-back-0")
class PutsBackTwice(Model):
    def requeue(self, batch: Any) -> int:
        if isinstance(batch, ModelBatch) and not batch.messages and hasattr(batch, "hidden"):
            batch.messages = list(batch.hidden)
        left = list(getattr(batch, "messages", ()))
        count = super().requeue(batch)
        batch.hidden = left
        return count


@breaks("several-batches-any-order")
class LastOutFirstBack(Model):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.out: list[ModelBatch] = []

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        batch = super().take(now, limit)
        if batch:
            self.out.append(batch)
        return batch

    def requeue(self, batch: Any) -> int:
        while self.out and not self.out[-1].messages:
            self.out.pop()
        if batch in self.out and batch is not self.out[-1]:
            raise ValueError("give back the batch that was taken last, first")
        return super().requeue(batch)


@breaks("order-after-emptying")
class ForgetsTheLast(Model):
    """Believes, after a batch came back into an empty queue, that nothing is queued yet."""

    empty = False

    def requeue(self, batch: Any) -> int:
        self.empty = not self.queued
        return super().requeue(batch)

    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        if self.empty:
            self.queued.append(self.queued.pop(self.queued.index((start, *message))))
        self.empty = False


@breaks("merged-counts")
class CountsOnlyWhatIsBehind(Model):
    def requeue(self, batch: Any) -> int:
        before = self.merged
        behind = sum(message[0] > (self.next_start or 0.0) for message in getattr(batch, "messages", ()))
        count = super().requeue(batch)
        self.merged = min(self.merged, before + behind)
        return count


@breaks("nothing-dropped")
class DropsOneInAMerge(Model):
    def requeue(self, batch: Any) -> int:
        merged = self.merged
        count = super().requeue(batch)
        if count > 1 and self.merged > merged and len(self.queued) > count + 2:
            self.queued.pop()
        return count


class SwapsOnce(Model):
    """Swaps the last two messages when it first has so many."""

    at = 0
    swapped = False

    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        if len(self.queued) == self.at and not self.swapped:
            self.swapped = True
            self.queued[-2:] = reversed(self.queued[-2:])


@breaks("model-agreement")
class LosesOrderWhenBig(SwapsOnce):
    at = 300


@breaks("many-messages")
class LosesOrderWhenHuge(SwapsOnce):
    at = 2000


@breaks("payloads-untouched")
class AsksForTruth(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *(part or part for part in message))


@breaks("dropped-queue-releases")
class Archive(Model):
    returned: list[Any] = []  # noqa: RUF012 - held by the class for ever: that is the fault

    def requeue(self, batch: Any) -> int:
        self.returned.extend(getattr(batch, "messages", ()))
        return super().requeue(batch)


@breaks("dropped-batch-releases")
class RemembersBatches(Model):
    last: ModelBatch | None = None

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        self.last = super().take(now, limit)
        return self.last


@breaks("released-as-dispatched")
class HoldsUntilTheEnd(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        held = list(getattr(batch, "messages", ()))
        count = super().process(batch, handler, deadline)
        held.clear()
        return count


@breaks("returned-batch-holds-nothing")
class BatchesRemember(Model):
    def requeue(self, batch: Any) -> int:
        left = getattr(batch, "messages", None)
        count = super().requeue(batch)
        batch.was = left
        return count


@breaks("container-is-listed")
class ListsPayloads(Model):
    def container(self) -> Iterator[object]:
        yield self.queued
        yield from (part for message in self.queued for part in message[1:])
