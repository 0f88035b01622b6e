"""What is promised about handing out: the window, handlers that raise, and handlers that use the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from queues.promises.schedules import Failure
from queues.promises.trial import INFINITY, Broken, Promise, Trial, promise
from queues.timer.rules import StopDispatch

PROCESS: list[Promise] = []
LONGEST_BATCH = 100


class Interrupt(BaseException):
    """What a handler raises that no `except Exception` may see."""


def nothing(*_: Any) -> None:
    """A handler that does nothing."""


def filled(trial: Trial, *starts: float, now: Any = 0.0, window: Any = 60.0) -> Any:
    """Return a queue with messages named a, b, c, … at `starts`."""
    queue = trial.queue(now, window)
    for place, start in enumerate(starts):
        queue.enqueue(start, "abcdefgh"[place])
    return queue


def handing(trial: Trial, queue: Any, batch: Any, act: Callable[[str], object]) -> list[str]:
    """Process `batch`, doing `act(name)` with each message, and return the names in the order they were handed out.

    A handler that is called without end breaks the promise, and does not hang the suite.
    """
    names: list[str] = []

    def handler(_start: Any, name: str) -> None:
        names.append(name)
        if len(names) > LONGEST_BATCH:
            raise Broken(trial.told(f"the handler was called more than {LONGEST_BATCH} times"))
        act(name)

    queue.process(batch, handler)
    return names


def clockwork(trial: Trial, *times: Any) -> Callable[..., None]:
    """Return a handler that sets the clock to the next of `times` at each call, and to the last one ever after."""
    coming = iter(times)

    def handler(*_: Any) -> None:
        trial.clock.now = next(coming, times[-1])

    return handler


@promise(PROCESS, "handler-gets-the-message", "process")
def handler_gets_message(trial: Trial) -> None:
    """The handler is called with the start and the message, in order.

    Messages of no, one and three parts.
    """
    queue = trial.queue()
    for start, message in ((2.0, ("b",)), (1.0, ()), (3.0, ("c", None, 7))):
        queue.enqueue(start, *message)
    seen: list[Any] = []
    queue.process(queue.take(3.0), lambda *given: seen.append(given))
    trial.expect(seen, [(1.0,), (2.0, "b"), (3.0, "c", None, 7)], "what the handler got")


@promise(PROCESS, "process-counts", "process")
def process_counts(trial: Trial) -> None:
    """process returns how many messages it handed out, and they leave the batch.

    All of three; then none, for a batch that is used up, without a call of the handler.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    batch = queue.take(3.0)
    trial.expect(queue.process(batch, nothing), 3)
    trial.expect((trial.length(batch), trial.truth(batch)), (0, False), "len and bool of the batch")
    trial.expect(queue.process(batch, nothing), 0)
    trial.expect(queue.requeue(batch), 0)
    trial.expect(trial.length(queue), 0)


@promise(PROCESS, "what-the-handler-returns-is-ignored", "process")
def results_ignored(trial: Trial) -> None:
    """No result of a handler ends or changes anything.

    False, None, 0, an exception that is only returned, and NotImplemented.
    """
    results = iter([False, None, 0, StopDispatch(), NotImplemented])
    queue = filled(trial, 1.0, 2.0, 3.0, 4.0, 5.0)
    trial.expect(queue.process(queue.take(5.0), lambda *_: next(results)), 5)


@promise(PROCESS, "window-closes", "process clock")
def window_closes(trial: Trial) -> None:
    """process stops when clock() >= deadline, asked before each message.

    The clock reaches the deadline exactly, or passes it, in the handler of the second of four.
    """
    for last in (10.0, 11.0):
        queue = filled(trial, 1.0, 2.0, 3.0, 4.0)
        batch = queue.take(4.0)
        trial.expect(queue.process(batch, clockwork(trial, 9.999, last), 10.0), 2)
        trial.expect(trial.length(batch), 2)
        queue.requeue(batch)
        trial.expect_all(queue, [(3.0, "c"), (4.0, "d")])


@promise(PROCESS, "past-deadline-dispatches-none", "process clock")
def past_deadline(trial: Trial) -> None:
    """A deadline that is past dispatches nothing.

    At, after and long after it; also -inf.
    """
    for deadline in (50.0, 49.0, 0.0, -INFINITY):
        queue = filled(trial, 1.0, 2.0, now=50.0)
        batch = queue.take(2.0)
        trial.expect(queue.process(batch, nothing, deadline), 0)
        trial.expect(trial.length(batch), 2)


@promise(PROCESS, "default-window", "process clock window")
def default_window(trial: Trial) -> None:
    """Without a deadline, it is clock() + window at the call of process.

    A window of 10 with a clock that is at 100, then at 200; a window of 0.
    """
    queue = filled(trial, *[1.0] * 8, window=10)
    batch = queue.take(1.0)
    for now, left in ((100.0, 5), (200.0, 2)):
        trial.clock.now = now
        trial.expect(queue.process(batch, clockwork(trial, now + 4.0, now + 8.0, now + 12.0)), 3)
        trial.expect(trial.length(batch), left)
    queue = filled(trial, 1.0, window=0)
    trial.expect(queue.process(queue.take(1.0), nothing), 0)


@promise(PROCESS, "default-window-is-60", "process process-deadline clock")
def default_window_is_60(trial: Trial) -> None:
    """A queue that was told no window has one of 60.

    59.9 later there is time left, 60 later there is none.
    """
    offer = trial.offer
    trial.offer = offer.without("window")
    queue = filled(trial, 1.0, 2.0, 3.0, now=1000.0)
    trial.offer = offer
    trial.expect(queue.process(queue.take(3.0), clockwork(trial, 1059.9, 1060.0)), 2)


@promise(PROCESS, "raising-handler-keeps-message", "process")
def raising_handler(trial: Trial) -> None:
    """A handler's exception reaches the caller; its message stays first.

    An Exception and a BaseException at the third of five; then the batch goes on, or goes back, in order.
    """
    for error in (Failure, Interrupt):
        queue = filled(trial, 1.0, 2.0, 3.0, 4.0, 5.0)
        batch = queue.take(5.0)

        def handler(start: float, _name: str, error: type[BaseException] = error) -> None:
            if start == 3.0:
                raise error

        trial.refused(error, queue.process, batch, handler)
        trial.expect(trial.length(batch), 3)
        trial.refused(error, queue.process, batch, handler)
        trial.expect(queue.requeue(batch), 3)
        trial.expect_all(queue, [(3.0, "c"), (4.0, "d"), (5.0, "e")])


@promise(PROCESS, "raising-clock-loses-nothing", "process clock")
def raising_clock(trial: Trial) -> None:
    """An exception of the clock reaches the caller of process, and what is left may go back.

    The clock fails when it is asked before the second of three.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    batch = queue.take(3.0)
    trial.refused(Failure, queue.process, batch, clockwork(trial, Failure()), 10.0)
    trial.clock.now = 0.0
    trial.expect(queue.requeue(batch), 2)
    trial.expect_all(queue, [(2.0, "b"), (3.0, "c")])


@promise(PROCESS, "stop-dispatch-quiet", "process")
def stop_dispatch(trial: Trial) -> None:
    """StopDispatch from a handler ends process quietly; its message stays.

    At the second of three, from StopDispatch and from a class made of it.
    """

    class Enough(StopDispatch):
        pass

    for error in (StopDispatch, Enough):
        queue = filled(trial, 1.0, 2.0, 3.0)
        batch = queue.take(3.0)

        def handler(start: float, _name: str, error: type[StopDispatch] = error) -> None:
            if start == 2.0:
                raise error

        trial.expect(queue.process(batch, handler), 1)
        trial.expect_batch(queue, batch, [(2.0, "b"), (3.0, "c")])


@promise(PROCESS, "handler-arrivals-wait", "process")
def handler_arrivals(trial: Trial) -> None:
    """What a handler enqueues is not handed out by the process that runs it.

    A handler that enqueues something due each time: process ends, the next take has it, in order.
    """
    queue = filled(trial, 1.0, 2.0, 5.0)
    batch = queue.take(3.0)
    names = handing(trial, queue, batch, lambda name: queue.enqueue(0.5 if name == "a" else 2.0, name.upper()))
    trial.expect(names, ["a", "b"], "handed out")
    trial.expect(trial.length(queue), 3)
    trial.expect_all(queue, [(0.5, "A"), (2.0, "B"), (5.0, "c")])


@promise(PROCESS, "handler-may-take", "process")
def handler_may_take(trial: Trial) -> None:
    """A handler may take, process and put back other batches.

    While the first of two is handled: one batch is taken and processed, another is taken and put back.
    """
    queue = filled(trial, 1.0, 2.0, 3.0, 4.0, 5.0)
    batch = queue.take(2.0)
    inner: list[Any] = []

    def act(name: str) -> None:
        if name == "a":
            queue.process(queue.take(3.0), lambda *message: inner.append(message))
            inner.append(queue.requeue(queue.take(4.0)))

    trial.expect(handing(trial, queue, batch, act), ["a", "b"], "handed out")
    trial.expect(inner, [(3.0, "c"), 1], "what happened inside")
    trial.expect_all(queue, [(4.0, "d"), (5.0, "e")])


@promise(PROCESS, "processing-batch-refused", "process", tolerated=True)
def processing_refused(trial: Trial) -> None:
    """process and requeue of a batch that is being processed are a RuntimeError, and nothing is lost.

    Both from a handler; afterwards the batch goes on and may go back.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    batch = queue.take(2.0)
    refused: list[str] = []

    def act(name: str) -> None:
        if name == "a":
            for call in (lambda: queue.process(batch, nothing), lambda: queue.requeue(batch)):
                trial.refused(RuntimeError, call)
                refused.append(name)

    trial.expect(handing(trial, queue, batch, act), ["a", "b"], "handed out")
    trial.expect(refused, ["a", "a"], "refused")
    trial.expect((queue.requeue(batch), trial.length(queue)), (0, 1), "put back, and queued")
