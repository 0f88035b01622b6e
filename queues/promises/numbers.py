"""What is promised about what is put in: every kind of number as a start, every kind of thing as a message."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from queues.promises.shrinking import agree
from queues.promises.taking import EPOCHS
from queues.promises.trial import INFINITY, Promise, Trial, promise

NUMBERS: list[Promise] = []


@promise(NUMBERS, "messages-as-given", "read objects")
def messages_as_given(trial: Trial) -> None:
    """A message has any number of parts, or none, and comes out as given.

    None, empty and nested things are messages like any other; what can be changed is the very object that went in.
    """
    queue = trial.queue()
    messages: list[Any] = [(), (None,), (0,), ("",), ((),), ([],), ("a", "b", "c"), (1, (2, 3)), (False, None)]
    for message in messages:
        queue.enqueue(1.0, *message)
    trial.expect_all(queue, [(1.0, *message) for message in messages])
    queue = trial.queue()
    parts: list[Any] = [["a"], {"b": ["c"]}]
    for part in parts:
        queue.enqueue(1.0, part)
    queue.requeue(queue.take(1.0))
    got = trial.read(queue, queue.take(1.0))
    trial.expect(got, [(1.0, ["a"]), (1.0, {"b": ["c"]})])
    same = [message[1] is part for message, part in zip(got, parts, strict=True)]
    trial.expect(same, [True, True], "whether each part is the object that was enqueued")


@promise(NUMBERS, "starts-as-given", "read")
def starts_as_given(trial: Trial) -> None:
    """A start comes back as the very number it was: an int stays an int.

    ints, floats, Fractions and Decimals in one queue.
    """
    starts = [1, 2.0, Fraction(5, 2), Decimal("2.75"), 3, 4.5, 10**30]
    queue = trial.queue()
    for start in reversed(starts):
        queue.enqueue(start, "m")
    got = [message[0] for message in trial.read(queue, queue.take(10**31))]
    trial.expect([(type(start).__name__, start) for start in got], [(type(start).__name__, start) for start in starts])


@promise(NUMBERS, "int-starts")
def int_starts(trial: Trial) -> None:
    """ints work as well as floats, as starts and as now.

    Only ints, negative ones and 0 included.
    """
    queue = trial.queue(now=0, window=60)
    for start in (3, -2, 0, 1):
        queue.enqueue(start, "m")
    trial.expect(queue.take(-3), None)
    trial.expect_batch(queue, queue.take(0), [(-2, "m"), (0, "m")])
    trial.expect_all(queue, [(1, "m"), (3, "m")], now=3)


@promise(NUMBERS, "mixed-numbers-exact")
def mixed_numbers(trial: Trial) -> None:
    """int, float, Fraction and Decimal are ordered together, by exact value.

    Neighbours that rounding to a float would make equal, and equals of different types, which are ties.
    """
    rising = [Fraction(1, 10), 0.1, Fraction(1, 3), Decimal("0.34"), 1, 2**53, 2**53 + 1, Fraction(2**54 + 3, 2)]
    falling = list(reversed(range(len(rising))))
    for order in (falling, trial.random.sample(falling, len(falling))):
        queue = trial.queue()
        for place in order:
            queue.enqueue(rising[place], f"m{place}")
        for place, start in enumerate(rising):
            trial.expect_batch(queue, queue.take(start), [(start, f"m{place}")])
    equal = [2, 2.0, Fraction(2), Decimal(2), True + 1]
    queue = trial.queue()
    for number, start in enumerate(equal):
        queue.enqueue(start, f"m{number}")
    trial.expect_batch(queue, queue.take(Decimal("2.0")), [(2, f"m{number}") for number in range(len(equal))])
    queue = trial.queue()
    queue.enqueue(0.1, "the float is a little more than a tenth")
    trial.expect(queue.take(Fraction(1, 10)), None)
    trial.expect(queue.take(Decimal("0.1")), None)


@promise(NUMBERS, "infinities")
def infinities(trial: Trial) -> None:
    """±inf are starts and nows: -inf is always due, inf is due when now is inf.

    Both among numbers up to 1e308, and each alone.
    """
    queue = trial.queue()
    for start in (INFINITY, 1e308, 10**30, -1, -INFINITY):
        queue.enqueue(start, "m")
    trial.expect_batch(queue, queue.take(-INFINITY), [(-INFINITY, "m")])
    trial.expect_batch(queue, queue.take(0), [(-1, "m")])
    trial.expect(queue.take(1e29), None)
    trial.expect(trial.length(queue), 3)
    trial.expect_all(queue, [(10**30, "m"), (1e308, "m"), (INFINITY, "m")])
    queue = trial.queue()
    queue.enqueue(Decimal("Infinity"), "a")
    queue.enqueue(INFINITY, "b")
    trial.expect(queue.take(1e308), None)
    trial.expect_all(queue, [(INFINITY, "a"), (INFINITY, "b")])


@promise(NUMBERS, "huge-numbers")
def huge_numbers(trial: Trial) -> None:
    """Numbers that no float can hold are starts and nows like any other.

    ±10**400 as int, Fraction and Decimal, among floats.
    """
    huge = 10**400
    rising: list[Any] = [-huge, -1e308, 0.0, Fraction(huge, 3), Decimal(huge) / 2, huge, huge + 1]
    queue = trial.queue()
    for place in (4, 0, 6, 2, 5, 1, 3):
        queue.enqueue(rising[place], "m")
    trial.expect_batch(queue, queue.take(-huge), [(-huge, "m")])
    trial.expect_batch(queue, queue.take(1e308), [(-1e308, "m"), (0.0, "m")])
    trial.expect_batch(queue, queue.take(huge), [(start, "m") for start in rising[3:6]])
    trial.expect_all(queue, [(huge + 1, "m")])


@promise(NUMBERS, "any-epoch")
def any_epoch(trial: Trial) -> None:
    """It does not matter where on the line of time the clock stands.

    Random schedules near each epoch, against the model.
    """
    count = max(10, trial.steps // (4 * len(EPOCHS)))
    for epoch in EPOCHS:
        starts = [epoch + step for step in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 6.0, 70.0, 5000.0)]
        agree(trial, count, starts, ("enqueue", "take", "requeue", "read"))
