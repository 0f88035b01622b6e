"""Queues with one fault in the clock, the views, or what they refuse."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from queues.model import Message, Model, ModelBatch
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("take-asks-the-clock")
class NowIsForever(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(math.inf if now is None else now, limit)


@breaks("zero-is-a-time")
class ZeroIsNoTime(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(now or None, limit)


@breaks("arguments-by-name")
class OtherNames(Model):
    def take(self, when: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(when, limit)


@breaks("default-clock")
class Monotonic(Model):
    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.monotonic) -> None:
        super().__init__(window=window, clock=clock)


@breaks("batch-latest")
class LatestIsEarliest(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        batch = super().take(now, limit)
        if batch:
            batch.latest = batch.messages[0][0]
        return batch


@breaks("next-start")
class NextIsLast(Model):
    @property
    def next_start(self) -> Any:
        return self.queued[-1][0] if self.queued else None


@breaks("contents")
class ContentsWithoutStart(Model):
    def contents(self) -> Iterator[Message]:
        return (message[1:] for message in super().contents())


@breaks("contents-changes-nothing")
class ContentsAreConsumed(Model):
    def contents(self) -> Iterator[Message]:
        while self.queued:
            yield self.queued.pop(0)


@breaks("walked-never-decreases")
class WalkedStartsAgain(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        self.walked = 0
        return super().take(now, limit)


@breaks("in-order-walks-nothing")
class AlwaysWalks(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        self.walked += 1


@breaks("check-holds")
class ComplainsAfterAMerge(Model):
    def check(self) -> None:
        assert not self.merged, "merged"


@breaks("nan-start-refused")
class TakesNan(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        if start != start:
            self.queued.append((start, *message))
        else:
            super().enqueue(start, *message)


@breaks("nan-now-refused")
class NothingIsDueAtNan(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return None if isinstance(now, float) and now != now else super().take(now, limit)


@breaks("no-number-refused")
class RefusesTooLate(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        try:
            super().enqueue(start, *message)
        except TypeError:
            self.queued.append((math.inf, *message))
            raise


@breaks("bad-cancel-refused")
class FindsNoNan(Model):
    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> Message | None:
        return None if start != start else super().cancel(start, match)


@breaks("bad-deadline-refused")
class NanIsNoDeadline(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        return super().process(batch, handler, math.inf if deadline != deadline else deadline)


@breaks("limit-below-one-refused")
class NoLimitBelowOne(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(now, None if limit == 0 else limit)


@breaks("foreign-batch-refused")
class TakesInForeigners(Model):
    def requeue(self, batch: Any) -> int:
        if isinstance(batch, ModelBatch):
            batch.queue = self
        return super().requeue(batch)


@breaks("no-batch-refused")
class NothingToPutBack(Model):
    def requeue(self, batch: Any) -> int:
        return super().requeue(batch) if batch is not None else 0


@breaks("bad-settings-refused")
class AnyWindow(Model):
    def __init__(self, *, window: Any = 60.0, clock: Callable[[], Any] = time.time) -> None:
        super().__init__(window=abs(window), clock=clock)
