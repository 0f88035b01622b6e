"""Queues with one fault in handing out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from queues.model import Model, ModelBatch
from queues.timer.rules import StopDispatch
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("handler-gets-the-message")
class NotUnpacked(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        return super().process(batch, lambda start, *message: handler(start, message), deadline)


@breaks("process-counts")
class ReturnsWhatIsLeft(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        super().process(batch, handler, deadline)
        return len(batch)


@breaks("what-the-handler-returns-is-ignored")
class FalseStops(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        def asked(*message: Any) -> None:
            if handler(*message) is False:
                raise StopDispatch

        return super().process(batch, asked, deadline)


@breaks("window-closes")
class OneTooLate(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        later = math.nextafter(deadline, math.inf) if isinstance(deadline, float) else deadline
        return super().process(batch, handler, later)


@breaks("past-deadline-dispatches-none")
class AtLeastOne(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        if deadline is None or not self.clock() >= deadline:
            return super().process(batch, handler, deadline)
        calls = 0

        def once(*message: Any) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise StopDispatch
            handler(*message)

        return super().process(batch, once, math.inf)


@breaks("default-window")
class WindowFromTheStart(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        return super().process(batch, handler, self.window if deadline is None else deadline)


@breaks("default-window-is-60")
class HalfAMinute(Model):
    def __init__(self, *, window: Any = 30.0, clock: Callable[[], Any] = time.time) -> None:
        super().__init__(window=window, clock=clock)


@breaks("raising-handler-keeps-message")
class ConsumesTheFailed(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        failed = False

        def watched(*message: Any) -> None:
            nonlocal failed
            try:
                handler(*message)
            except BaseException as error:
                failed = not isinstance(error, StopDispatch)
                raise

        try:
            return super().process(batch, watched, deadline)
        finally:
            if failed:
                del batch.messages[0]


@breaks("raising-clock-loses-nothing")
class StuckAfterTheClockFailed(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        handling = False

        def watched(*message: Any) -> None:
            nonlocal handling
            handling = True
            handler(*message)
            handling = False

        try:
            return super().process(batch, watched, deadline)
        except Exception:
            batch.processing = not handling
            raise


@breaks("stop-dispatch-quiet")
class StopIsLoud(Model):
    def process(self, batch: Any, handler: Callable[..., object], deadline: Any = None) -> int:
        def loud(*message: Any) -> None:
            try:
                handler(*message)
            except StopDispatch:
                raise RuntimeError("the handler stopped") from None

        return super().process(batch, loud, deadline)


@breaks("handler-arrivals-wait")
class ArrivalsRun(Model):
    def enqueue(self, start: Any, *message: Any) -> None:
        if self.running and start <= self.running[0].latest:
            self.running[0].messages.append((start, *message))
        else:
            super().enqueue(start, *message)


@breaks("handler-may-take")
class NotWhileProcessing(Model):
    def take(self, now: Any = None, limit: int | None = None) -> ModelBatch | None:
        if self.running:
            raise RuntimeError("take inside process")
        return super().take(now, limit)


@breaks("processing-batch-refused")
class PutsBackWhileProcessing(Model):
    def requeue(self, batch: Any) -> int:
        if batch in self.running:
            return 0
        return super().requeue(batch)
