"""The contract of every queue family as protocols: pure typing, nothing to inherit.

Numbers that stand for instants are whatever the queue's clock returns: seconds as float by default, ints work too,
and int, float, Fraction and Decimal may be mixed, ordered by exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

Instant: TypeAlias = Any
"""A point on the clock's line: int, float, Fraction or Decimal; ±inf are legal, NaN is refused with ValueError."""

Span: TypeAlias = Any
"""A length of time in the clock's unit."""

Handler: TypeAlias = Callable[..., object]
"""Called as `handler(start, *message)`; what it returns is ignored."""

Match: TypeAlias = Callable[..., object]
"""Called as `match(*message)`; true means "this one"."""

Clock: TypeAlias = Callable[[], Instant]


class TimerBatch(Protocol):
    """Messages cut off the front of a queue, owned by whoever took them until they are put back.

    They are read by `process`. The batch of a queue without one yields each message, earliest first, as
    `(start, *message)`: iterating is how the lab looks into it.
    """

    @property
    def latest(self) -> Instant:
        """The start of the last message the batch was cut with; it does not change as messages leave."""

    def __len__(self) -> int:
        """Messages left in the batch; 0 after `requeue`. `bool()` follows."""


class TimerQueue(Protocol):
    """Messages in start order; what is due is cut off the front as one batch and the rest is put back in front.

    Promises that hold for every subject (queues/conformance.py has a named check for each):

    * enqueued = dispatched + cancelled + queued + held in batches, at all times; nothing runs early.
    * While a batch is out the queue is free; several may be out and may return in any order.
    * A handler may enqueue, take and cancel. What it enqueues is never dispatched by the `process` that runs it.
    * A handler that raises ends `process`; the exception reaches the caller and the message stays first in its
      batch. A message that always fails is therefore the caller's to skip: nothing behind it runs before that.
    * A refused argument (NaN: ValueError; not a number: TypeError) changes nothing.
    * Payloads are never compared, hashed or asked for truth.
    * A clock that goes back takes nothing new and breaks nothing.
    * A dispatched message is released as the batch moves past it. Not thread-safe, not persistent, unless it says so.
    """

    def __init__(self, *, window: Span = 60.0, clock: Clock = ...) -> None:
        """An empty queue. `window`: how long `process` may work by default, at least 0. `clock`: default time.time."""

    def enqueue(self, start: Instant, *message: Any) -> None:
        """Keep the message in start order; equal starts keep arrival order."""

    def take(self, now: Instant | None = None, limit: int | None = None) -> TimerBatch | None:
        """Cut everything with `start <= now` off the front, at most `limit` messages, or return None if nothing is.

        `now=None` asks the clock. `now=inf` takes everything. A limit below 1 is a ValueError.
        """

    def process(self, batch: Any, handler: Handler, deadline: Instant | None = None) -> int:
        """Hand out messages in order until `clock() >= deadline`, asked before each; return how many were dispatched.

        A deadline already past dispatches none; without one it is `clock() + window` at the call. StopDispatch
        raised by the handler closes the window quietly and keeps the message. `process` or `requeue` of a batch that
        is being processed: RuntimeError.
        """

    def requeue(self, batch: Any) -> int:
        """Put back what is left, ahead of anything queued meanwhile, and return how many; the batch is then empty.

        Defined by its result: last to first, each goes in front of every queued message whose start is not earlier.
        When `batch.latest <= next_start` that is one relink, else what is left counts in `merged`. A batch of another
        queue: ValueError; something that is no batch: TypeError.
        """

    def cancel(self, start: Instant, match: Match | None = None) -> tuple[Any, ...] | None:
        """Remove and return, as `(start, *message)`, the first message at exactly `start` that matches, or None.

        Reaches what is queued, and what a running `process` has not reached yet (its batch stands in front; of
        several, the one begun first), so a handler can stop a later message of its own batch. The message being
        handled, and batches that are out but not being processed, belong to their dispatcher and are not touched.
        `match` only looks: one that puts messages in or takes some out is a RuntimeError, and nothing else is removed.
        """

    def __len__(self) -> int:
        """Messages queued, those in batches not counted. `bool()` follows."""

    @property
    def next_start(self) -> Instant | None:
        """The earliest queued start, or None."""

    @property
    def merged(self) -> int:
        """How many messages were put back one by one because of a late arrival."""

    @property
    def walked(self) -> int:
        """How many stored messages searches for a place (enqueue, merge, cancel) have passed over one by one."""

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages as `(start, *message)`, earliest first, changing nothing."""

    def container(self) -> Iterator[object]:
        """The objects that make up the container itself (no messages, no payloads), for the shallow size."""

    def check(self) -> None:
        """Assert every invariant, with the whole state in the failure."""
