"""What is done to queues that outlive the process, and beside them to two that do not: on the wall clock, in batches.

The loops are those of the other timer queues; the queues are filled by `enqueue_many` where there is one, because a
transaction a message would take longer than all that is measured.
"""

from __future__ import annotations

from runners import lifecycle, rigs
from runners.latency import cycle_each, enqueue_each, require_length
from runners.rigs import PAYLOAD, Rig, fill, holds, ordered
from runners.workload import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Parameters: TypeAlias = dict[str, Any]

CALLS = "timed calls"


def stocked(queue: Any, starts: Iterable[float]) -> Any:
    """Return `queue` with one message queued at each start, at once where it can."""
    many = getattr(queue, "enqueue_many", None)
    if many is None:
        return fill(queue, starts)
    many([(start, PAYLOAD) for start in starts])
    return queue


def cycle(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """As the cycle of the other queues: `due` messages due, `queued` behind them; all are there again at the end."""
    due, queued = params["due"], params["queued"]
    queue = stocked(queue_class(), ordered(0, due + queued))
    return Rig(queue, (queue, due - 1.0, rigs.whole(due)), holds(queue, 0, due + queued))


class ManySampler:
    """Fills one fresh queue a sample by one call; the sample is that call."""

    __slots__ = ("calls", "items", "queue", "queue_class")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        self.queue_class = queue_class
        self.items = [(start, PAYLOAD) for start in ordered(0, params["messages"])]
        self.calls = len(self.items)
        self.queue: Any = None

    def sample(self, clock: Clock) -> Any:
        """Return what one call took, in the clock's unit; making the queue, letting go of the last: outside."""
        self.queue = None
        self.queue = self.queue_class()
        many, items = self.queue.enqueue_many, self.items
        t0 = clock()
        many(items)
        t1 = clock()
        require_length(self.queue, self.calls, "the queue")
        return t1 - t0

    def check(self) -> None:
        """Drain the queue of the last sample."""
        holds(self.queue, 0, self.calls)()


class LoopSampler(ManySampler):
    """Fills one fresh queue a sample by a call a message; the sample is the whole loop."""

    __slots__ = ()

    def sample(self, clock: Clock) -> Any:
        """Return what the loop took, in the clock's unit; making the queue, letting go of the last: outside."""
        self.queue = None
        self.queue = self.queue_class()
        enqueue, items = self.queue.enqueue, self.items
        t0 = clock()
        for item in items:
            enqueue(*item)
        t1 = clock()
        require_length(self.queue, self.calls, "the queue")
        return t1 - t0


def many(queue_class: Any, params: Parameters, seed: int) -> ManySampler:
    """Return the sampler that queues all at once, or one by one where a queue has no such call."""
    kind = ManySampler if hasattr(queue_class, "enqueue_many") else LoopSampler
    return kind(queue_class, params, seed)


TIMER = (
    Workload(
        "durable-enqueue",
        "queue messages in order, from empty, each in a transaction of its own",
        {"messages": "messages queued, one after the other"},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        calls=lambda params: params["messages"],
        setup=rigs.growth,
        null=rigs.null_enqueue,
        loop=enqueue_each,
    ),
    Workload(
        "durable-enqueue-many",
        "queue messages in order, from empty, all in one transaction (one by one where there are none)",
        {"messages": "messages queued at once"},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        sampler=many,
    ),
    Workload(
        "durable-cycle",
        "take what is due and put all of it back",
        {"due": "messages due at every take", "queued": "messages queued behind those due", "calls": CALLS},
        needs=("enqueue", "take", "requeue", "__len__"),
        operations=("take", "requeue"),
        may_be_zero=("queued",),
        steady=True,
        setup=cycle,
        null=rigs.null_cycle,
        loop=cycle_each,
    ),
    Workload(
        "durable-life",
        "enqueue to dispatch, a tenth put back on the way; every message starts the same delay after it came",
        {"messages": "messages that live"},
        needs=("enqueue", "take", "requeue", "process", "__len__"),
        operations=("life",),
        sampler=lifecycle.lives(lifecycle.constant_delay),
    ),
)

WORKLOADS: dict[str, dict[str, Workload]] = {"timer": {workload.name: workload for workload in TIMER}}
"""family -> name -> Workload."""
