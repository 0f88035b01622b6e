"""Queues with one fault in putting in and taking out, or with some kind of number."""

from __future__ import annotations

import math
from typing import Any

from queues.model import Model, ModelBatch
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("essential-methods")
class WithoutLength:
    def __init__(self) -> None:
        self.model = Model()

    def enqueue(self, start: Any, *message: Any) -> None:
        self.model.enqueue(start, *message)

    def take(self, now: Any = None) -> Any:
        return self.model.take(now)

    def requeue(self, batch: Any) -> int:
        return self.model.requeue(batch)


@breaks("start-order")
class Unsorted(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(math.inf, *message)
        self.queued[-1] = (start, *message)

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        due = [message for message in self.queued if message[0] <= now]
        self.queued = [message for message in self.queued if not message[0] <= now]
        return ModelBatch(self, due) if due else None


@breaks("ties-keep-arrival-order")
class LastComeFirst(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        place = next(place for place, queued in enumerate(self.queued) if queued[0] == start)
        last = max(place for place, queued in enumerate(self.queued) if queued[0] == start)
        self.queued.insert(place, self.queued.pop(last))


@breaks("nothing-runs-early")
class Early(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(math.nextafter(now, math.inf) if isinstance(now, float) else now, limit)


@breaks("everything-due-is-taken")
class OneSlotPerPoll(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        now = self.clock() if now is None else now
        return super().take(min(now, self.next_start + 100.0) if self.queued and now != math.inf else now, limit)


@breaks("take-none-when-nothing-due")
class EmptyBatch(Model):
    def take(self, now: Any = None, limit: int | None = None) -> Any:
        return super().take(now, limit) or []


@breaks("length")
class CountsOneTooMany(Model):
    def __len__(self) -> int:
        return len(self.queued) + (len(self.queued) == 3)


@breaks("batch-is-cut")
class LateArrivalsJoin(Model):
    out: ModelBatch | None = None

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        self.out = super().take(now, limit) or self.out
        return self.out if self.out and self.out.messages else None

    def enqueue(self, start: Any, *message: Any) -> None:
        if self.out and self.out.messages and start == self.out.latest:
            self.out.messages.append((start, *message))
        else:
            super().enqueue(start, *message)


@breaks("free-while-out")
class Locked(Model):
    out: ModelBatch | None = None

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        if self.out:
            raise RuntimeError("a batch is out")
        self.out = super().take(now, limit)
        return self.out


@breaks("limit")
class OneMoreThanTheLimit(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        return super().take(now, limit + 1 if isinstance(limit, int) and limit > 0 else limit)


@breaks("clock-may-go-back")
class NeverBack(Model):
    latest_now: Any = -math.inf

    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        self.latest_now = max(self.latest_now, self.clock() if now is None else now)
        return super().take(self.latest_now, limit)


@breaks("messages-as-given")
class DropsNone(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *(part for part in message if part is not None))


@breaks("starts-as-given")
class StartsAsFloats(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(float(start) if isinstance(start, int) and abs(start) < 100 else start, *message)


@breaks("int-starts")
class FloatsOnly(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        if isinstance(start, int):
            raise TypeError("expected a float")
        super().enqueue(start, *message)


@breaks("mixed-numbers-exact")
class RoundsToFloat(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        if -1e300 < start < 1e300:
            last = self.queued.index((start, *message))
            while last and float(max(-1e300, self.queued[last - 1][0])) == float(start):
                last -= 1
            self.queued.insert(last, self.queued.pop(self.queued.index((start, *message))))


@breaks("infinities")
class NoInfinity(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        if start in (math.inf, -math.inf):
            raise OverflowError("cannot convert float infinity to integer")
        super().enqueue(start, *message)


@breaks("huge-numbers")
class StoredAsFloat(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        float(start) if isinstance(start, int) else None
        super().enqueue(start, *message)


@breaks("any-epoch")
class WheelTurnsOver(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        super().enqueue(start, *message)
        if 2**24 <= start <= 2**24 + 100:
            self.queued.insert(0, self.queued.pop(self.queued.index((start, *message))))
