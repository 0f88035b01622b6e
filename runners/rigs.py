"""Timer queues set up for a workload, and checked after the clock has stopped.

Starts are 0.0, 1.0, 2.0 … and the payload is one short string, unless said otherwise. Every set-up is called with the
queue's class, the parameters and the seed, and returns what the loop is called with, together with the check that
the queue must pass afterwards: length, order and content of everything in it, read by draining it. A queue that fails
gives no number. A `null_` function returns what the same loop is called with over the null subject.
"""

from __future__ import annotations

import sys
from itertools import repeat

from runners.checks import Checking, verify
from runners.latency import NULL_CALLS, CheckFailed, ignore, require_dispatched, require_length
from runners.null import NullBatch, NullQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    Parameters: TypeAlias = dict[str, int]
    Arguments: TypeAlias = tuple[Any, ...]
    Check: TypeAlias = Callable[[], None]

PAYLOAD = "".join(("mess", "age"))
"""Made while running, so that it is no shared constant of the code and its references can be counted."""

LONG_AGO = 0.0


class Rig:
    """A queue set up for a loop: its arguments and its check. `queue` is None where nobody may hold a reference."""

    __slots__ = ("arguments", "check", "queue")

    def __init__(self, queue: Any, arguments: tuple[Any, ...], check: Check) -> None:
        self.queue = queue
        self.arguments = arguments
        self.check = check


def ordered(first: int, count: int) -> Iterator[float]:
    """Return `count` starts in order, each made when it is asked for."""
    return map(float, range(first, first + count))


def random_bits(seed: int) -> Iterator[int]:
    """Return whole numbers below 2**32 without end: the upper 32 bits of Knuth's MMIX generator."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 32


def shuffled(count: int, seed: int) -> list[float]:
    """Return the starts 0.0 … count - 1 in an order that follows from the seed alone, on every interpreter.

    Fisher and Yates' shuffle.

    >>> shuffled(5, seed=1) == shuffled(5, seed=1), sorted(shuffled(5, seed=1))
    (True, [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    starts = list(ordered(0, count))
    for last, drawn in zip(range(count - 1, 0, -1), random_bits(seed), strict=False):
        other = drawn * (last + 1) >> 32
        starts[last], starts[other] = starts[other], starts[last]
    return starts


def fill(queue: Any, starts: Iterable[float]) -> Any:
    """Return `queue` with one message queued at each start."""
    enqueue = queue.enqueue
    for start in starts:
        enqueue(start, PAYLOAD)
    return queue


def holds(queue: Any, first: int, count: int) -> Check:
    """Return the check that `queue` holds `count` messages in order, the first at `first`."""
    return lambda: verify(queue, count, zip(ordered(first, count), repeat(PAYLOAD)))


def holds_again(queue: Any, messages: int) -> None:
    """Fill an empty queue as one was that is no more, as far as the check looks, and check it."""
    again = min(messages, 2 * Checking.front) if Checking.front else messages
    holds(fill(queue, ordered(0, again)), 0, again)()


def nothing_to_check() -> None:
    """The check of a loop that has no queue."""


def require_at_most(params: Parameters, name: str, bound: str) -> None:
    """Refuse a part that is larger than its whole, before anything is set up."""
    if params[name] > params[bound]:
        raise ValueError(f"parameter {name} is {params[name]}: expected at most {bound}, which is {params[bound]}")


def null_loop(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """No queue: the null subject is what is measured."""
    return Rig(None, (NullQueue(), ordered(0, params["calls"]), PAYLOAD), nothing_to_check)


def null_enqueue(params: Parameters) -> Arguments:
    """Of a growth over the null subject."""
    return NullQueue(), ordered(0, NULL_CALLS), PAYLOAD


def growth(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """An empty queue, and as many starts in order as it shall grow by."""
    queue = queue_class()
    messages = params["messages"]
    return Rig(queue, (queue, ordered(0, messages), PAYLOAD), holds(queue, 0, messages))


def cycle(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A queue with `due` messages due and `queued` behind them; all are there again at the end."""
    due, queued = params["due"], params["queued"]
    queue = fill(queue_class(), ordered(0, due + queued))
    return Rig(queue, (queue, due - 1.0, whole(due)), holds(queue, 0, due + queued))


def null_cycle(params: Parameters) -> Arguments:
    """Of the window cycle as well: what stands between take and requeue is not timed."""
    due = params["due"]
    return NullQueue(due), due - 1.0, whole(due)


def whole(due: int) -> Callable[[Any], None]:
    """Return what stands between take and requeue of a cycle: nothing but the check of the length."""
    return lambda batch: require_length(batch, due)


def window_cycle(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """As `cycle`, with a closed window in between."""
    rig = cycle(queue_class, params, seed)
    queue, now, _ = rig.arguments
    return Rig(queue, (queue, now, closed_window(queue, params["due"])), rig.check)


def closed_window(queue: Any, due: int) -> Callable[[Any], None]:
    """Return what stands between take and requeue of a window cycle: a window closed before its first message."""

    def between(batch: Any) -> None:
        require_length(batch, due)
        require_dispatched(queue.process(batch, ignore, LONG_AGO), 0)

    return between


def requeue_unused(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """As `cycle`; at the end everything has moved on by what was sent."""
    require_at_most(params, "unused", "due")
    due, unused, end = params["due"], params["unused"], params["due"] + params["queued"]
    queue = fill(queue_class(), ordered(0, end))
    check = holds(queue, params["calls"] * (due - unused), end)
    return Rig(queue, (queue, due, unused, end, PAYLOAD), check)


def reattach(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """What the subject's `primitives(queued, part)` returns: detach, reattach, and its own check."""
    require_at_most(params, "part", "queued")
    detach, attach, assert_whole = queue_class.primitives(params["queued"], params["part"])

    def check() -> None:
        try:
            assert_whole()
        except AssertionError as error:
            raise CheckFailed(f"the list is not whole: {error}") from error

    return Rig(None, (detach, attach), check)


def null_reattach(params: Parameters) -> Arguments:
    """Calls that do nothing, without an argument and with one."""
    queue = NullQueue()
    return queue.take, queue.requeue


def steady_enqueue(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A queue that is as long at the end, and has moved on by one message a call; for the dispatch as well."""
    queued, calls = params["queued"], params["calls"]
    queue = fill(queue_class(), ordered(0, queued))
    return Rig(queue, (queue, queued, PAYLOAD), holds(queue, calls, queued))


def free(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """One full queue that only a holder refers to; afterwards the payload must have as many references as before."""
    messages, before = params["messages"], references()
    holder = [fill(queue_class(), ordered(0, messages))]
    require_length(holder[0], messages, "the queue")

    def check() -> None:
        require_released(messages, before)
        # What was dropped cannot be drained any more: another one, filled alike, is.
        holds_again(queue_class(), messages)

    return Rig(None, ([holder],), check)


def null_free(params: Parameters) -> Arguments:
    """Holders of something that is freed for next to nothing."""
    return ([[NullBatch(0)] for _ in range(NULL_CALLS)],)


def free_in_batches(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A full queue that is empty at the end, with everything released, and can be filled again."""
    messages, before = params["messages"], references()
    queue = fill(queue_class(), ordered(0, messages))

    def check() -> None:
        verify(queue, 0, ())
        require_released(messages, before)
        holds_again(queue, messages)

    return Rig(queue, (queue, float(messages), params["limit"]), check)


def null_free_in_batches(params: Parameters) -> Arguments:
    """Of a null subject whose take accepts a limit."""
    return NullQueue.with_limit(), 0.0, params["limit"]


def references() -> int | None:
    """Return how many references to the payload there are, or None on an interpreter that does not count."""
    return sys.getrefcount(PAYLOAD) if hasattr(sys, "getrefcount") else None


def require_released(messages: int, before: int | None) -> None:
    """Refuse a queue that was dropped but is still there, for the collector to find: its time would be a lie."""
    after = references()
    if before is not None and after is not None and after > before:
        raise CheckFailed(f"dropping {messages} messages did not release them: {after - before} references are left")
