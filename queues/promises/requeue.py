"""What is promised about batches that are put back: order, counts, and that nothing is lost on the way."""

from __future__ import annotations

from functools import partial
from itertools import permutations, product
from operator import itemgetter

from queues.promises.ledger import unbalanced
from queues.promises.process import clockwork
from queues.promises.schedules import Step, emptying, random_steps
from queues.promises.shrinking import agree, agree_on, shrink
from queues.promises.trial import INFINITY, Broken, Promise, Trial, promise

REQUEUE: list[Promise] = []
STARTS = (0.0, 1.0, 1.0, 2.0, 3.0, 5.0, 8.0)


@promise(REQUEUE, "requeue-in-front")
def requeue_in_front(trial: Trial) -> None:
    """What is put back stands in front of all that is later, in its old order.

    Starts 1..6, five taken, two dispatched where that is offered, the rest put back.
    """
    queue = trial.queue()
    for start in range(1, 7):
        queue.enqueue(float(start), "m")
    batch = queue.take(5.0)
    queue.enqueue(7.0, "m")
    gone = 0
    if "process" in trial.offer and "clock" in trial.offer:
        gone = queue.process(batch, clockwork(trial, 1.0, 2.0), 2.0)
        trial.expect(gone, 2)
    queue.requeue(batch)
    trial.expect(trial.length(queue), 7 - gone)
    trial.expect_all(queue, [(float(start), "m") for start in range(1 + gone, 8)])


@promise(REQUEUE, "requeue-ahead-of-equal-starts", "read")
def requeue_ahead(trial: Trial) -> None:
    """What is put back is ahead of equal starts queued meanwhile.

    An equal start at the seam, and one in the middle of what is merged.
    """
    queue = trial.queue()
    queue.enqueue(1.0, "old")
    batch = queue.take(1.0)
    queue.enqueue(1.0, "new")
    queue.requeue(batch)
    trial.expect_all(queue, [(1.0, "old"), (1.0, "new")])
    queue = trial.queue()
    for start in (3.0, 4.0, 4.0, 5.0):
        queue.enqueue(start, "old")
    batch = queue.take(5.0)
    queue.enqueue(4.0, "new")
    queue.requeue(batch)
    trial.expect_all(queue, [(3.0, "old"), (4.0, "old"), (4.0, "old"), (4.0, "new"), (5.0, "old")])


@promise(REQUEUE, "requeue-merges-late-arrivals")
def requeue_merges(trial: Trial) -> None:
    """What arrived late, but starts earlier, keeps its place by start.

    One late arrival before, between and behind what is put back; several at once; random ones.
    """
    for late in (0.5, 2.5, 3.5, 9.0):
        queue = trial.queue()
        for start in (1.0, 2.0, 3.0, 4.0):
            queue.enqueue(start, "m")
        batch = queue.take(3.0)
        queue.enqueue(late, "m")
        queue.requeue(batch)
        trial.expect_all(queue, [(start, "m") for start in sorted((1.0, 2.0, 3.0, 4.0, late))])
    for _ in range(4):
        agree(trial, max(10, trial.steps // 40), STARTS, ("enqueue", "take", "requeue"))


@promise(REQUEUE, "requeue-counts")
def requeue_counts(trial: Trial) -> None:
    """requeue returns how many messages it put back.

    With nothing queued, something later, and something earlier.
    """
    for others in ((), (9.0,), (1.5,), (0.0, 1.0, 5.0)):
        queue = trial.queue()
        for start in (1.0, 2.0, 3.0):
            queue.enqueue(start, "m")
        batch = queue.take(3.0)
        for start in others:
            queue.enqueue(start, "m")
        trial.expect(queue.requeue(batch), 3)
        trial.expect(trial.length(queue), 3 + len(others))


@promise(REQUEUE, "requeue-empties-batch")
def requeue_empties(trial: Trial) -> None:
    """A batch that was put back is empty.

    len and bool of it, with and without a merge.
    """
    for late in (9.0, 0.0):
        queue = trial.queue()
        queue.enqueue(1.0, "a")
        queue.enqueue(2.0, "b")
        batch = queue.take(2.0)
        queue.enqueue(late, "c")
        queue.requeue(batch)
        trial.expect((trial.length(batch), trial.truth(batch)), (0, False), "len and bool of the batch")


@promise(REQUEUE, "second-requeue-puts-back-0")
def second_requeue(trial: Trial) -> None:
    """Putting the same batch back again puts back nothing.

    At once, after others took the messages, and with a merge.
    """
    queue = trial.queue()
    queue.enqueue(1.0, "a")
    queue.enqueue(2.0, "b")
    batch = queue.take(1.0)
    queue.requeue(batch)
    trial.expect(queue.requeue(batch), 0)
    trial.expect(trial.length(queue), 2)
    again = queue.take(1.0)
    queue.enqueue(0.0, "c")
    trial.expect(queue.requeue(batch), 0)
    trial.expect_batch(queue, again, [(1.0, "a")])
    trial.expect_all(queue, [(0.0, "c"), (2.0, "b")])


@promise(REQUEUE, "several-batches-any-order")
def several_batches(trial: Trial) -> None:
    """Several batches may be out, and come back in any order.

    Three batches in all six orders, alone and among late arrivals.
    """
    for order in permutations(range(3)):
        for late in ((), (1.5, 3.0)):
            queue = trial.queue()
            for start in (1.0, 2.0, 2.0, 3.0, 4.0):
                queue.enqueue(start, "m")
            batches = [queue.take(now) for now in (1.0, 2.0, 3.0)]
            for start in late:
                queue.enqueue(start, "m")
            trial.expect([queue.requeue(batches[place]) for place in order], [(1, 2, 1)[place] for place in order])
            trial.expect_all(queue, [(start, "m") for start in sorted((1.0, 2.0, 2.0, 3.0, 4.0, *late))])


@promise(REQUEUE, "order-after-emptying")
def order_after_emptying(trial: Trial) -> None:
    """A queue that was emptied, and filled by what came back, keeps order as a new one does.

    Everything is taken; it comes back at once, or after a late arrival, or not at all; then an earlier, an equal and a
    later start arrive, in every order.
    """
    for late, back in product(((), (3.0,), (0.0,), (9.0,)), (True, False)):
        for arrivals in permutations((1.0, 4.0, 5.0)):
            queue = trial.queue()
            for start in (2.0, 4.0):
                queue.enqueue(start, "old")
            batch = queue.take(4.0)
            expected = [(start, "late") for start in late]
            for start in late:
                queue.enqueue(start, "late")
            if back:
                queue.requeue(batch)
                expected = [(2.0, "old"), (4.0, "old"), *expected]
            for start in arrivals:
                queue.enqueue(start, "new")
                expected.append((start, "new"))
            trial.expect_all(queue, sorted(expected, key=itemgetter(0)))


@promise(REQUEUE, "merged-counts", "merged")
def merged_counts(trial: Trial) -> None:
    """merged counts what was put back one by one: all that was left, if anything was late.

    No late arrival and an equal one: 0. One late arrival, before or inside: all that is put back.
    """
    for late, expected in ((9.0, 0), (3.0, 0), (2.5, 3), (0.0, 3)):
        queue = trial.queue()
        for start in (1.0, 2.0, 3.0):
            queue.enqueue(start, "m")
        batch = queue.take(3.0)
        queue.enqueue(late, "late")
        queue.requeue(batch)
        trial.expect(queue.merged, expected)
        queue.requeue(batch)
        trial.expect(queue.merged, expected)
    queue = trial.queue()
    queue.enqueue(1.0, "a")
    queue.requeue(queue.take(1.0))
    trial.expect(queue.merged, 0)


@promise(REQUEUE, "nothing-dropped")
def nothing_dropped(trial: Trial) -> None:
    """Enqueued = dispatched + cancelled + queued + held in batches, at all times.

    Random schedules with every operation that is offered: the counts after each step, the messages in the end.
    """
    for starts in (STARTS, (1.0, 1.0, 2.0), tuple(float(start) for start in range(20))):
        for _ in range(3):
            steps = random_steps(trial.random, trial.offer, max(20, trial.steps // 60), starts)
            found = unbalanced(trial.queue_class, trial.offer, steps)
            if found is not None:
                raise Broken(shrink(found, partial(unbalanced, trial.queue_class, trial.offer)).told())


@promise(REQUEUE, "model-agreement")
def model_agreement(trial: Trial) -> None:
    """Any schedule of calls has the results that the plain sorted list has.

    Short random schedules with everything that is offered and all views, and a long one that lets the queue grow.
    """
    for number in range(max(1, trial.steps // 80)):
        starts = STARTS if number % 2 else (*STARTS, -INFINITY, INFINITY, -1.0, 1000.0)
        agree(trial, 40, starts, views=None)
    long = [float(start) for start in range(400)]
    steps = random_steps(trial.random, trial.offer, trial.steps // 2, long)
    fill = [("enqueue", trial.random.choice(long), f"f{number}") for number in range(400)]
    agree_on(trial, [*fill, *steps], views=None)


@promise(REQUEUE, "many-messages")
def many_messages(trial: Trial) -> None:
    """It does not matter how many messages are queued.

    2,500 that arrive almost in order, with ties, some cancelled; then taken in parts, every other part put back first.
    """
    random = trial.random
    count = min(2500, trial.steps)
    steps: list[Step] = []
    for number in range(count):
        steps.append(("enqueue", float(number // 3 + random.randrange(40)), f"m{number}"))
        if "cancel" in trial.offer and number % 100 == 99:
            steps.append(("cancel", float(number // 3 - random.randrange(30)), None))
    ends = [count * part / 60 for part in range(1, 25)]
    for part, end in enumerate(ends):
        steps += [("take", f"b{part}", end, None), ("enqueue", end - 1.0, f"late{part}")]
        steps.append((("requeue", "read")[part % 2], f"b{part}"))
    agree_on(trial, [*steps, *emptying(trial.offer, ends)], views=None)
