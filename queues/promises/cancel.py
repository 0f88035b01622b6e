"""What is promised about cancelling: what it reaches, what it spares, and that a cancelled message is gone."""

from __future__ import annotations

import sys
import weakref
from itertools import product
from typing import Any

from queues.promises.holding import Payload, gone
from queues.promises.process import filled, handing
from queues.promises.schedules import Failure
from queues.promises.trial import INFINITY, Broken, Promise, Trial, promise

CANCEL: list[Promise] = []


@promise(CANCEL, "cancel-first-at-start", "cancel")
def cancel_first(trial: Trial) -> None:
    """cancel(start) removes and returns the first message at exactly that start.

    Of three equal ones in the middle, first to last; then it returns None.
    """
    queue = filled(trial, 1.0, 2.0, 2.0, 2.0, 3.0)
    for left, name in ((4, "b"), (3, "c"), (2, "d")):
        trial.expect(queue.cancel(2.0), (2.0, name))
        trial.expect(trial.length(queue), left)
    trial.expect(queue.cancel(2.0), None)
    trial.expect(queue.cancel(1), (1.0, "a"))
    trial.expect_all(queue, [(3.0, "e")])


@promise(CANCEL, "cancel-none-when-absent", "cancel")
def cancel_absent(trial: Trial) -> None:
    """cancel returns None, and changes nothing, when no message is there.

    On an empty queue, beside every start, and for what was taken and handed out.
    """
    queue = trial.queue()
    trial.expect(queue.cancel(1.0), None)
    for start in (1.0, 2.0, 3.0):
        queue.enqueue(start, "m")
    for absent in (0.0, 1.5, 2.0000000000000004, 9.0, INFINITY, -INFINITY):
        trial.expect(queue.cancel(absent), None)
    queue.take(1.0)
    trial.expect(queue.cancel(1.0), None)
    trial.expect(trial.length(queue), 2)
    trial.expect_all(queue, [(2.0, "m"), (3.0, "m")])


@promise(CANCEL, "cancel-match", "cancel cancel-match")
def cancel_match(trial: Trial) -> None:
    """cancel(start, match) takes the first message for which match(*message) is true.

    The second of three; none; results of match that are true or false without being bools; what match is given.
    """
    queue = filled(trial, 1.0, 1.0, 1.0, 2.0)
    given: list[Any] = []

    def match(name: str) -> bool:
        given.append(name)
        return name == "b"

    trial.expect(queue.cancel(1.0, match), (1.0, "b"))
    trial.expect(given, ["a", "b"], "what match was called with")
    trial.expect(queue.cancel(1.0, match=lambda _: []), None)
    trial.expect(queue.cancel(1.0, lambda name: "yes" if name == "c" else ""), (1.0, "c"))
    trial.expect(queue.cancel(1.0, lambda name: name == "d"), None)
    queue.enqueue(5.0)
    trial.expect(queue.cancel(5.0, lambda *parts: not parts), (5.0,))
    trial.expect(trial.length(queue), 2)
    trial.expect_all(queue, [(1.0, "a"), (2.0, "d")])


@promise(CANCEL, "order-after-cancel", "cancel")
def order_after_cancel(trial: Trial) -> None:
    """Where a message was cancelled, the next arrivals still find their places.

    The first, one in the middle, the last and the only one is cancelled; then an earlier and a later start arrive.
    """
    for starts in ((1.0, 3.0, 5.0), (3.0,)):
        for cancelled in starts:
            queue = filled(trial, *starts)
            queue.cancel(cancelled)
            expected = [(start, "abc"[place]) for place, start in enumerate(starts) if start != cancelled]
            for start in (4.0, 2.0, 6.0):
                queue.enqueue(start, "new")
                expected.append((start, "new"))
            trial.expect_all(queue, sorted(expected))


@promise(CANCEL, "requeue-after-cancel", "process cancel")
def requeue_after_cancel(trial: Trial) -> None:
    """A batch of which a handler cancelled a part goes back without that part, and whole otherwise.

    A middle message, the last, and all but the first; something later, or nothing, is queued meanwhile.
    """
    for cancelled, late in product(((2.0,), (4.0,), (2.0, 3.0, 4.0)), ((), (3.5,), (6.0,))):
        queue = filled(trial, 1.0, 2.0, 3.0, 4.0)
        batch = queue.take(4.0)

        def handler(_start: Any, _name: str, queue: Any = queue, cancelled: tuple[float, ...] = cancelled) -> None:
            for start in cancelled:
                queue.cancel(start)
            raise Failure

        trial.refused(Failure, queue.process, batch, handler)
        expected = [
            (start, "abcd"[place]) for place, start in enumerate((1.0, 2.0, 3.0, 4.0)) if start not in cancelled
        ]
        for start in (*late, 8.0):
            queue.enqueue(start, "new")
            expected.append((start, "new"))
        trial.expect(queue.requeue(batch), 4 - len(cancelled))
        queue.enqueue(7.0, "new")
        trial.expect_all(queue, sorted([*expected, (7.0, "new")]))


@promise(CANCEL, "raising-match-changes-nothing", "cancel cancel-match")
def raising_match(trial: Trial) -> None:
    """An exception of match reaches the caller, and nothing is gone.

    At the first and at the second of three.
    """
    for bad in "ab":
        queue = filled(trial, 1.0, 1.0, 1.0)

        def match(name: str, bad: str = bad) -> bool:
            if name == bad:
                raise Failure
            return False

        trial.refused(Failure, queue.cancel, 1.0, match)
        trial.expect(trial.length(queue), 3)
        trial.expect_all(queue, [(1.0, "a"), (1.0, "b"), (1.0, "c")])


@promise(CANCEL, "handler-may-cancel", "process cancel")
def handler_may_cancel(trial: Trial) -> None:
    """A handler may cancel what its process has not reached, and what is queued.

    A later message of the same batch, the last of it, one that is queued; the batch stands ahead of the queue.
    """
    queue = filled(trial, 1.0, 2.0, 3.0, 4.0, 9.0)
    batch = queue.take(4.0)
    queue.enqueue(2.0, "new")
    results: list[Any] = []

    def act(name: str) -> None:
        if name == "a":
            results.extend(queue.cancel(start) for start in (2.0, 9.0, 4.0, 2.0, 2.0))
            results.append(len(batch) <= 2)

    trial.expect(handing(trial, queue, batch, act), ["a", "c"], "handed out")
    expected = [(2.0, "b"), (9.0, "e"), (4.0, "d"), (2.0, "new"), None, True]
    trial.expect(results, expected, "what cancel of 2.0, 9.0, 4.0, 2.0 and 2.0 returned")
    trial.expect((trial.length(batch), trial.length(queue)), (0, 0), "left in batch and queue")


@promise(CANCEL, "cancel-begun-first", "process cancel")
def cancel_begun_first(trial: Trial) -> None:
    """Of several batches that are being processed, cancel looks through the one begun first, first.

    A handler processes a second batch, whose handler cancels a start that both batches and the queue have.
    """
    queue = filled(trial, 1.0, 2.0)
    outer = queue.take(2.0)
    queue.enqueue(1.0, "c")
    queue.enqueue(2.0, "d")
    inner = queue.take(2.0)
    queue.enqueue(2.0, "e")
    results: list[Any] = []

    def act(name: str) -> None:
        if name == "c":
            results.extend(queue.cancel(2.0) for _ in range(4))

    handing(trial, queue, outer, lambda name: name == "a" and handing(trial, queue, inner, act))
    trial.expect(results, [(2.0, "b"), (2.0, "d"), (2.0, "e"), None], "what cancel(2.0) returned, four times")


@promise(CANCEL, "cancel-spares-the-dispatcher", "process cancel")
def cancel_spares_handled(trial: Trial) -> None:
    """cancel leaves a message that is being handled.

    A handler cancels its own start, also when it then raises: the message is still there.
    """
    queue = filled(trial, 1.0, 2.0)
    batch = queue.take(2.0)
    results: list[Any] = []

    def handler(start: float, _name: str) -> None:
        results.append(queue.cancel(start))
        raise Failure

    trial.refused(Failure, queue.process, batch, handler)
    trial.expect(results, [None], "what cancel returned")
    trial.expect_batch(queue, batch, [(1.0, "a"), (2.0, "b")])


@promise(CANCEL, "cancel-spares-idle-batches", "cancel")
def cancel_spares_idle(trial: Trial) -> None:
    """cancel leaves a batch that is out and not being processed.

    Taken and not begun; and, where that can be, begun and ended.
    """
    queue = filled(trial, 1.0, 2.0)
    batch = queue.take(2.0)
    trial.expect(queue.cancel(1.0), None)
    if "process" in trial.offer:
        trial.refused(Failure, queue.process, batch, _fail)
        trial.expect(queue.cancel(2.0), None)
    trial.expect_batch(queue, batch, [(1.0, "a"), (2.0, "b")])


def _fail(*_: Any) -> None:
    raise Failure


@promise(CANCEL, "cancelled-leaves-nothing", "cancel objects")
def cancelled_leaves_nothing(trial: Trial) -> None:
    """Cancelled messages are gone at once and do not pile up.

    10 live messages, 2,000 far ahead that are cancelled again: their payloads go, and the container stays small.
    """
    queue = trial.bare()
    for start in range(10):
        queue.enqueue(float(start), "live")
    before = sum(map(sys.getsizeof, queue.container())) if "container" in trial.offer else 0
    ghosts = []
    for number in range(2000):
        payload = Payload()
        ghosts.append(weakref.ref(payload))
        queue.enqueue(1e6 + number, payload)
        queue.cancel(1e6 + number)
    del payload
    gone(trial, ghosts, "enqueue and cancel 2,000 far ahead")
    trial.expect(len(queue), 10, "len(queue) after 2,000 messages were cancelled")
    if "container" in trial.offer:
        after = sum(map(sys.getsizeof, queue.container()))
        if after > 4 * before + 4096:
            raise Broken(f"enqueue and cancel 2,000 far ahead: expected about {before:,} bytes, got {after:,}")
