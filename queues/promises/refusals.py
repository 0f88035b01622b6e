"""What is promised about calls that are wrong: which exception comes, and that nothing has changed before it comes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from queues.promises.offer import build
from queues.promises.process import filled, nothing
from queues.promises.trial import INFINITY, Promise, Trial, promise

REFUSALS: list[Promise] = []
NANS = (float("nan"), -float("nan"), INFINITY - INFINITY, Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN"))
NO_NUMBERS: tuple[Any, ...] = (None, "1", b"1", 1j, (1,), [1.0], {}, object())


def unchanged(trial: Trial, queue: Any) -> None:
    """Break the promise unless the queue that `filled` made with starts 1, 2, 3 is as it was, and keeps order after."""
    trial.expect(trial.length(queue), 3)
    queue.enqueue(1.5, "new")
    queue.enqueue(4.0, "new")
    expected = [(1.0, "a"), (1.5, "new"), (2.0, "b"), (3.0, "c"), (4.0, "new")]
    trial.expect_all(queue, expected)


@promise(REFUSALS, "nan-start-refused", tolerated=True)
def nan_start(trial: Trial) -> None:
    """A start that is NaN is a ValueError, before anything changes.

    float and Decimal, quiet and signalling, into an empty queue and into a full one.
    """
    for nan in NANS:
        queue = trial.queue()
        trial.refused(ValueError, queue.enqueue, nan, "m")
        trial.expect(trial.length(queue), 0)
        queue = filled(trial, 1.0, 2.0, 3.0)
        trial.refused(ValueError, queue.enqueue, nan, "m")
        unchanged(trial, queue)


@promise(REFUSALS, "nan-now-refused", tolerated=True)
def nan_now(trial: Trial) -> None:
    """take(NaN) is a ValueError, and takes nothing.

    float and Decimal, quiet and signalling, on an empty queue and on a full one.
    """
    for nan in NANS:
        trial.refused(ValueError, trial.queue().take, nan)
        queue = filled(trial, 1.0, 2.0, 3.0)
        trial.refused(ValueError, queue.take, nan)
        unchanged(trial, queue)


@promise(REFUSALS, "no-number-refused", tolerated=True)
def no_number(trial: Trial) -> None:
    """What cannot be ordered against numbers is a TypeError, before anything changes.

    As a start, into an empty queue and into a full one, and as a now.
    """
    for value in NO_NUMBERS:
        queue = trial.queue()
        trial.refused(TypeError, queue.enqueue, value, "m")
        trial.expect(trial.length(queue), 0)
        if value is not None:
            trial.refused(TypeError, queue.take, value)
        queue = filled(trial, 1.0, 2.0, 3.0)
        trial.refused(TypeError, queue.enqueue, value, "m")
        if value is not None:
            trial.refused(TypeError, queue.take, value)
        unchanged(trial, queue)


@promise(REFUSALS, "bad-cancel-refused", "cancel", tolerated=True)
def bad_cancel(trial: Trial) -> None:
    """cancel of NaN is a ValueError, of what is no number a TypeError.

    On an empty queue and on a full one.
    """
    for queue in (trial.queue(), filled(trial, 1.0, 2.0, 3.0)):
        for nan in NANS:
            trial.refused(ValueError, queue.cancel, nan)
        for value in NO_NUMBERS:
            trial.refused(TypeError, queue.cancel, value)
    unchanged(trial, queue)


@promise(REFUSALS, "bad-deadline-refused", "process process-deadline", tolerated=True)
def bad_deadline(trial: Trial) -> None:
    """A deadline that is NaN is a ValueError, one that is no number a TypeError; nothing is dispatched.

    Before any message is handed out; the batch is whole and may be processed after.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    batch = queue.take(2.0)
    for nan in NANS:
        trial.refused(ValueError, queue.process, batch, nothing, nan)
    for value in NO_NUMBERS:
        if value is not None:
            trial.refused(TypeError, queue.process, batch, nothing, value)
    trial.expect(queue.requeue(batch), 2)
    unchanged(trial, queue)


@promise(REFUSALS, "limit-below-one-refused", "take-limit", tolerated=True)
def limit_below_one(trial: Trial) -> None:
    """A limit below 1 is a ValueError, and takes nothing.

    0 and -1, when something is due and when nothing is; 1.5 and "2" are a TypeError.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    for now in (5.0, 0.0):
        for limit in (0, -1, -(10**30)):
            trial.refused(ValueError, queue.take, now, limit)
        for limit in (1.5, "2", Fraction(1)):  # type: ignore[assignment]
            trial.refused(TypeError, queue.take, now, limit)
    unchanged(trial, queue)


@promise(REFUSALS, "foreign-batch-refused", tolerated=True)
def foreign_batch(trial: Trial) -> None:
    """A batch of another queue is a ValueError, and both queues stay as they were.

    By requeue, and by process where it is offered; its own queue takes it back after.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    other = trial.other()
    other.enqueue(1.0, "foreign")
    other.enqueue(2.0, "foreign")
    batch = other.take(1.0)
    trial.refused(ValueError, queue.requeue, batch)
    if "process" in trial.offer:
        trial.refused(ValueError, queue.process, batch, nothing)
    trial.expect((trial.length(batch), trial.length(other)), (1, 1), "left in the batch, and in its queue")
    trial.expect(other.requeue(batch), 1)
    trial.expect_batch(other, other.take(1.0), [(1.0, "foreign")])
    unchanged(trial, queue)


@promise(REFUSALS, "no-batch-refused", tolerated=True)
def no_batch(trial: Trial) -> None:
    """What is no batch at all is a TypeError, and nothing changes.

    None, a number, a text, a dict, another queue; also for process where it is offered.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    for thing in (None, 5, "batch", {}, object()):
        trial.refused(TypeError, queue.requeue, thing)
        if "process" in trial.offer:
            trial.refused(TypeError, queue.process, thing, nothing)
    unchanged(trial, queue)


@promise(REFUSALS, "bad-settings-refused", "window", tolerated=True)
def bad_settings(trial: Trial) -> None:
    """A window below 0 or NaN is a ValueError.

    The queue is not made; windows of 0 and inf are fine.
    """
    for window in (-1, -0.001, float("nan")):
        make = partial(build, trial.queue_class, trial.offer, window, trial.clock)
        trial.log = []
        trial.refused(ValueError, trial.call, f"queue(window={window})", make)
    for window in (0, INFINITY):
        trial.queue(window=window)
