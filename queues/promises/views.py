"""What is promised about the clock, cancelling, and looking at a queue without changing it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from queues.promises.offer import Offer, attempt
from queues.promises.process import filled
from queues.promises.requeue import STARTS
from queues.promises.schedules import Difference, Player, Step, random_steps
from queues.promises.shrinking import shrink
from queues.promises.trial import INFINITY, Broken, Promise, Trial, promise, told_error

VIEWING: list[Promise] = []


@promise(VIEWING, "take-asks-the-clock", "clock take-now")
def take_asks_the_clock(trial: Trial) -> None:
    """take() without a time takes what is due by the queue's clock.

    A clock that is set to 0 (which is a time), then ahead, then back.
    """
    queue = filled(trial, -1.0, 0.0, 1.0, 2.0, now=0)
    trial.expect_batch(queue, queue.take(), [(-1.0, "a"), (0.0, "b")])
    trial.expect(queue.take(), None)
    trial.clock.now = 1.5
    trial.expect_batch(queue, queue.take(), [(1.0, "c")])
    trial.clock.now = -5.0
    trial.expect(queue.take(), None)
    trial.expect_batch(queue, queue.take(2.0), [(2.0, "d")])


@promise(VIEWING, "zero-is-a-time", "clock")
def zero_is_a_time(trial: Trial) -> None:
    """A time of 0 is a time, and not the absence of one.

    take(0) with a clock that is far ahead.
    """
    queue = filled(trial, 0, 50.0, now=100.0)
    trial.expect_batch(queue, queue.take(0), [(0, "a")])
    trial.expect(queue.take(0.0), None)
    trial.expect(trial.length(queue), 1)


@promise(VIEWING, "arguments-by-name", "clock take-now take-limit process-deadline", tolerated=True)
def arguments_by_name(trial: Trial) -> None:
    """now, limit, deadline and match may be given by name, and each alone.

    take(limit=1) asks the clock.
    """
    queue = filled(trial, 1.0, 2.0, 3.0, 3.0, now=2.5)
    trial.expect_batch(queue, queue.take(limit=1), [(1.0, "a")])
    batch = queue.take(now=2.0)
    trial.expect(queue.process(batch, lambda *_: None, deadline=2.5), 0)
    trial.expect(queue.process(batch=batch, handler=lambda *_: None, deadline=3.0), 1)
    if "cancel-match" in trial.offer:
        trial.expect(queue.cancel(start=3.0, match=lambda name: name == "d"), (3.0, "d"))


@promise(VIEWING, "default-clock", "take-now")
def default_clock(trial: Trial) -> None:
    """Without a clock of one's own the time is time.time().

    What starts in 2001 is due, what starts in the year 5138 is not; no machine has been up for as long.
    """
    queue = trial.with_defaults()
    queue.enqueue(1e11, "later")
    queue.enqueue(1e9, "due")
    batch = queue.take()
    trial.expect(trial.length(queue), 1)
    trial.expect_batch(queue, batch, [(1e9, "due")])


@promise(VIEWING, "batch-latest", "latest")
def batch_latest(trial: Trial) -> None:
    """latest is the start of the last message that a batch was cut with.

    It stays what it was while messages leave.
    """
    queue = filled(trial, 1.0, 2.0, 2.5, 9.0)
    batch = queue.take(3.0)
    trial.expect(batch.latest, 2.5, "batch.latest")
    trial.expect(trial.length(batch), 3)
    trial.read(queue, batch)
    trial.expect(batch.latest, 2.5, "batch.latest")


@promise(VIEWING, "next-start", "next_start")
def next_start(trial: Trial) -> None:
    """next_start is the earliest start that is queued, or None.

    Empty, growing from the back and from the front, while a batch is out, and after it came back.
    """
    queue = trial.queue()
    trial.expect(queue.next_start, None)
    for start, earliest in ((5.0, 5.0), (7.0, 5.0), (0, 0), (2.0, 0)):
        queue.enqueue(start, "m")
        trial.expect(queue.next_start, earliest)
    batch = queue.take(5.0)
    trial.expect(queue.next_start, 7.0)
    queue.requeue(batch)
    trial.expect(queue.next_start, 0)
    queue.take(9.0)
    trial.expect(queue.next_start, None)


@promise(VIEWING, "contents", "contents")
def contents(trial: Trial) -> None:
    """contents() yields what is queued as (start, *message), earliest first.

    Empty, mixed up with ties, and after a batch came back.
    """
    queue = trial.queue()
    trial.expect(queue.contents(), [])
    for start, message in ((2.0, ("c",)), (1.0, ("a",)), (3.0, ()), (1.0, ("b", 2))):
        queue.enqueue(start, *message)
    expected = [(1.0, "a"), (1.0, "b", 2), (2.0, "c"), (3.0,)]
    trial.expect(queue.contents(), expected)
    batch = queue.take(1.0)
    trial.expect(queue.contents(), expected[2:])
    queue.requeue(batch)
    trial.expect(queue.contents(), expected)


@promise(VIEWING, "contents-changes-nothing", "contents")
def contents_changes_nothing(trial: Trial) -> None:
    """Looking at contents(), all or part of it, changes nothing.

    All of it twice, one message of it, an iterator that is dropped half-way.
    """
    queue = filled(trial, 1.0, 2.0, 3.0)
    for _ in range(2):
        trial.expect(queue.contents(), [(1.0, "a"), (2.0, "b"), (3.0, "c")])
    trial.expect(next(iter(queue.bare.contents())), (1.0, "a"), "next(contents())")
    trial.expect(trial.length(queue), 3)
    trial.expect_all(queue, [(1.0, "a"), (2.0, "b"), (3.0, "c")])


@promise(VIEWING, "walked-never-decreases", "walked")
def walked_grows(trial: Trial) -> None:
    """walked only grows.

    It is looked at after each step of random schedules, each with a search past two ties in the end.
    """
    for _ in range(3):
        steps = random_steps(trial.random, trial.offer, max(50, trial.steps // 40), STARTS)
        ties: list[Step] = [("enqueue", 1.0, name) for name in "abc"]
        ties.append(("cancel", 1.0, "c") if "cancel-match" in trial.offer else ("enqueue", 0.0, "d"))
        found = _fallen(trial, [*steps, *ties])
        if found is not None:
            raise Broken(shrink(found, partial(_fallen, trial)).told())


def _fallen(trial: Trial, steps: Sequence[Step]) -> Difference | None:
    """Play `steps` and return the first one after which `walked` is less than it was, or None."""
    player = Player(trial.queue_class, trial.offer, Offer(frozenset()), "read" in trial.offer)
    last = player.queue.walked
    for number, step in enumerate(steps, 1):
        player.play(step)
        before, last = last, player.queue.walked
        if last < before:
            return Difference(tuple(steps[:number]), "walked", f"at least {before}", last)
    return None


@promise(VIEWING, "in-order-walks-nothing", "walked")
def in_order_walks_nothing(trial: Trial) -> None:
    """Putting in what is not earlier than all that is queued costs no search.

    Rising and equal starts, in a new queue and after a batch was cut off and put back.
    """
    queue = trial.queue()
    for start in (1.0, 2.0, 2.0, 3.0):
        queue.enqueue(start, "m")
    trial.expect(queue.walked, 0)
    queue.requeue(queue.take(2.0))
    before = queue.walked
    for start in (3.0, 4.0):
        queue.enqueue(start, "m")
    trial.expect(queue.walked, before)


@promise(VIEWING, "check-holds", "check")
def check_holds(trial: Trial) -> None:
    """check() finds nothing wrong, whatever was done.

    It is called on a new queue and after each step of random schedules.
    """
    for starts in (STARTS, (-INFINITY, 0.0, 1e9, INFINITY)):
        steps = random_steps(trial.random, trial.offer, max(50, trial.steps // 25), starts)
        found = _complaint(trial, steps)
        if found is not None:
            raise Broken(shrink(found, partial(_complaint, trial)).told())


def _complaint(trial: Trial, steps: Sequence[Step]) -> Difference | None:
    """Play `steps` and return the first one after which check() complains, or None."""
    player = Player(trial.queue_class, trial.offer, Offer(frozenset()), "read" in trial.offer)
    for number in range(len(steps) + 1):
        if number:
            player.play(steps[number - 1])
        _, error = attempt(player.queue.check)
        if error is not None:
            return Difference(tuple(steps[:number]), "check()", None, told_error(error))
    return None
