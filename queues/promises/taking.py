"""What is promised about putting in and taking out: order, conservation, and every kind of number.

Each check builds its own queues through the trial, so that a broken promise comes with the calls that show it.
"""

from __future__ import annotations

import math
from itertools import permutations

from queues.promises.offer import ESSENTIALS, has
from queues.promises.schedules import emptying
from queues.promises.shrinking import agree_on
from queues.promises.trial import INFINITY, Broken, Promise, Trial, promise

TAKING: list[Promise] = []
EPOCHS = (0.0, -3.5, 60.0, 64.0, 4090.0, 4096.0, 262140.0, 262144.0, 16777216.0, 1e9, 1.7e9)
"""Where clocks stand in practice, and the powers of 64 at which a wheel of slots turns over."""


@promise(TAKING, "essential-methods")
def essential_methods(trial: Trial) -> None:
    """A queue has enqueue, take, requeue and a length.

    The least that a queue is: without them nothing can be said.
    """
    queue = trial.queue().bare
    missing = [name for name in ESSENTIALS if not has(queue, name)]
    if missing:
        raise Broken(f"a new queue: expected {', '.join(ESSENTIALS)}, got one without {', '.join(missing)}")


@promise(TAKING, "start-order")
def start_order(trial: Trial) -> None:
    """Messages come out in the order of their starts, in whatever order they were put in.

    Every order of three, then random ones up to a thousand.
    """
    for order in permutations((1.0, 2.0, 3.0)):
        queue = trial.queue()
        for start in order:
            queue.enqueue(start, f"at {start}")
        trial.expect_all(queue, [(start, f"at {start}") for start in (1.0, 2.0, 3.0)])
    for count in (8, 50, 1000):
        starts = [float(start) for start in range(count)]
        trial.random.shuffle(starts)
        agree_on(trial, [*(("enqueue", start, "m") for start in starts), *emptying(trial.offer, starts[:8])])


@promise(TAKING, "ties-keep-arrival-order", "read")
def ties(trial: Trial) -> None:
    """Messages with equal starts come out in the order they came in.

    Two and three equal ones alone, and amid others (a heap without a sequence number gets these wrong).
    """
    for names in ("ab", "abc"):
        queue = trial.queue()
        for name in names:
            queue.enqueue(1.0, name)
        trial.expect_all(queue, [(1.0, name) for name in names])
    for count, different in ((12, 3), (60, 6), (600, 40)):
        starts = [float(trial.random.randrange(different)) for _ in range(count)]
        steps = [("enqueue", start, f"m{number}") for number, start in enumerate(starts)]
        agree_on(trial, [*steps, *emptying(trial.offer, starts)])


@promise(TAKING, "nothing-runs-early")
def nothing_early(trial: Trial) -> None:
    """What starts later than now, be it by the last bit, is not taken.

    The next number after now, at every epoch; and a start between two ticks of a tenth.
    """
    for now in (*EPOCHS, 0.25, 0.1):
        queue = trial.queue()
        queue.enqueue(math.nextafter(now, INFINITY), "later")
        trial.expect(queue.take(now), None)
        queue.enqueue(now, "now")
        batch = queue.take(now)
        trial.expect_batch(queue, batch, [(now, "now")])
        trial.expect(queue.take(now), None)
        trial.expect(trial.length(queue), 1)
    queue = trial.queue()
    queue.enqueue(0.25, "a")
    for now in (0.2, 0.2499, math.nextafter(0.25, 0.0)):
        trial.expect(queue.take(now), None)
    trial.expect_batch(queue, queue.take(0.25), [(0.25, "a")])


@promise(TAKING, "everything-due-is-taken")
def everything_due(trial: Trial) -> None:
    """One take brings all that is due, however long nobody asked.

    Sparse polling, and spans that a wheel of 10, 64 or 100 slots would take for the next or the last round.
    """
    queue = trial.queue()
    for start in (12.0, 25.0, 990.0):
        queue.enqueue(start, "m")
    batch = queue.take(1000.0)
    trial.expect_batch(queue, batch, [(12.0, "m"), (25.0, "m"), (990.0, "m")])
    for span in (10.0, 64.0, 100.0, 4096.0):
        queue = trial.queue()
        queue.take(0.0)
        for turn in (3.0, 1.0, 2.0):
            queue.enqueue(turn * span, "m")
        for turn in (1.0, 2.0, 3.0):
            trial.expect(queue.take(math.nextafter(turn * span, 0.0)), None)
            trial.expect_batch(queue, queue.take(turn * span), [(turn * span, "m")])
    queue = trial.queue()
    for start in range(40):
        queue.enqueue(start * 0.7, "m")
    last = -1.0
    for poll in range(1, 18):
        due = [(start * 0.7, "m") for start in range(40) if last < start * 0.7 <= poll * 1.8]
        trial.expect_batch(queue, queue.take(poll * 1.8), due)
        last = poll * 1.8


@promise(TAKING, "take-none-when-nothing-due")
def nothing_due(trial: Trial) -> None:
    """take returns None, and nothing else, when nothing is due.

    On a new queue, before the first start, and after the last message.
    """
    queue = trial.queue()
    trial.expect(queue.take(5.0), None)
    queue.enqueue(2.0, "a")
    trial.expect(queue.take(1.0), None)
    trial.expect(queue.take(2.0) is None, False, "take(2.0) is None")
    trial.expect(queue.take(2.0), None)
    trial.expect(queue.take(INFINITY), None)


@promise(TAKING, "length")
def length(trial: Trial) -> None:
    """len tells what is queued and what is left in a batch; bool follows it.

    0, 1 and 3 messages, in the queue and in the batch.
    """
    queue = trial.queue()
    trial.expect((trial.length(queue), trial.truth(queue)), (0, False))
    queue.enqueue(1.0, "a")
    trial.expect((trial.length(queue), trial.truth(queue)), (1, True))
    queue.enqueue(3.0, "c")
    queue.enqueue(2.0, "b")
    trial.expect(trial.length(queue), 3)
    batch = queue.take(2.0)
    trial.expect((trial.length(queue), trial.length(batch), trial.truth(batch)), (1, 2, True), "queue, batch, bool")
    queue.requeue(batch)
    trial.expect(trial.length(queue), 3)


@promise(TAKING, "batch-is-cut")
def batch_is_cut(trial: Trial) -> None:
    """A batch is what was due when it was taken; what arrives later is not in it.

    Arrivals before, at and after the starts of the batch.
    """
    queue = trial.queue()
    for start in (1.0, 2.0, 3.0):
        queue.enqueue(start, "old")
    batch = queue.take(2.0)
    for start in (0.0, 1.0, 2.0):
        queue.enqueue(start, "new")
    trial.expect_batch(queue, batch, [(1.0, "old"), (2.0, "old")])
    trial.expect_all(queue, [(0.0, "new"), (1.0, "new"), (2.0, "new"), (3.0, "old")])


@promise(TAKING, "free-while-out")
def free_while_out(trial: Trial) -> None:
    """While a batch is out, the queue takes in and gives out as always.

    Take, enqueue and take again with one and with two batches out.
    """
    queue = trial.queue()
    for start in (1.0, 2.0, 3.0):
        queue.enqueue(start, "old")
    first = queue.take(1.0)
    queue.enqueue(1.5, "new")
    second = queue.take(2.0)
    queue.enqueue(2.5, "new")
    trial.expect_all(queue, [(2.5, "new"), (3.0, "old")])
    trial.expect_batch(queue, second, [(1.5, "new"), (2.0, "old")])
    trial.expect_batch(queue, first, [(1.0, "old")])


@promise(TAKING, "limit", "take-limit")
def limit(trial: Trial) -> None:
    """take(now, limit) brings the first `limit` of what is due and leaves the rest.

    Fewer than due, as many, more, and never what is not due; also of what starts very late, or at inf.
    """
    queue = trial.queue()
    for start, name in ((1.0, "a"), (1.0, "b"), (2.0, "c"), (3.0, "d"), (9.0, "e")):
        queue.enqueue(start, name)
    trial.expect_batch(queue, queue.take(5.0, 1), [(1.0, "a")])
    trial.expect_batch(queue, queue.take(5.0, limit=2), [(1.0, "b"), (2.0, "c")])
    trial.expect_batch(queue, queue.take(5.0, 10), [(3.0, "d")])
    trial.expect(queue.take(5.0, 10), None)
    trial.expect(trial.length(queue), 1)
    for start, name in ((INFINITY, "g"), (INFINITY, "h"), (1e300, "f")):
        queue.enqueue(start, name)
    trial.expect_batch(queue, queue.take(INFINITY, 3), [(9.0, "e"), (1e300, "f"), (INFINITY, "g")])
    trial.expect_batch(queue, queue.take(INFINITY, 1), [(INFINITY, "h")])


@promise(TAKING, "clock-may-go-back")
def clock_goes_back(trial: Trial) -> None:
    """A clock that goes back takes nothing new and breaks nothing.

    An early take after a late one, and arrivals in between.
    """
    queue = trial.queue()
    queue.enqueue(90.0, "a")
    queue.enqueue(110.0, "d")
    trial.expect_batch(queue, queue.take(100.0), [(90.0, "a")])
    trial.expect(queue.take(40.0), None)
    queue.enqueue(50.0, "b")
    queue.enqueue(105.0, "c")
    trial.expect(queue.take(40.0), None)
    trial.expect_batch(queue, queue.take(60.0), [(50.0, "b")])
    trial.expect_all(queue, [(105.0, "c"), (110.0, "d")])
