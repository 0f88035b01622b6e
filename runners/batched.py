"""Many calls timed as one: the loops of the batched kind and, through pyperf, of the cost kind.

The two differ only in who repeats them and with which clock, so the mean that pyperf finds and the median of the
batched samples can be held against each other.
"""

from __future__ import annotations

from array import array
from time import perf_counter_ns

from runners.counters import Counters, note_queue, resident_bytes
from runners.latency import NULL_CALLS, bare, blank, ignore, require_dispatched, require_length
from runners.rigs import PAYLOAD, cycle, fill, holds, ordered, reattach, shuffled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Parameters: TypeAlias = dict[str, int]
    Save: TypeAlias = Callable[[str, array[int]], str]
    Figures: TypeAlias = dict[str, Any]

AT_MOST = 25
AT_LEAST = 7
BUDGET_NS = 50_000_000
"""25 samples are taken, fewer once they have taken 50 ms, but 7 at least: the first is warm-up, a median needs 6."""

MESSAGES_PER_SAMPLE = 10_000
"""A cycle is repeated until about so many messages have moved, against which a clock read weighs nothing."""


def enqueue_all(clock: Clock, queue: Any, starts: list[float], message: str) -> Any:
    """Return how long the whole loop over `starts` took, in the clock's unit."""
    enqueue = queue.enqueue
    t0 = clock()
    for start in starts:
        enqueue(start, message)
    t1 = clock()
    return t1 - t0


def cycle_all(clock: Clock, queue: Any, now: float, cycles: int) -> Any:
    """Return how long `cycles` pairs of take and requeue took, in the clock's unit."""
    take, requeue = queue.take, queue.requeue
    t0 = clock()
    for _ in range(cycles):
        requeue(take(now))
    t1 = clock()
    return t1 - t0


def reattach_all(clock: Clock, detach: Callable[[], Any], reattach: Callable[[Any], Any], pairs: int) -> Any:
    """Return how long it took to cut a part off and hang it in again `pairs` times, in the clock's unit."""
    t0 = clock()
    for _ in range(pairs):
        reattach(detach())
    t1 = clock()
    return t1 - t0


class EnqueueSampler:
    """Fills one fresh queue a sample; the sample is the whole loop over the starts."""

    __slots__ = ("calls", "queue", "queue_class", "starts")

    def __init__(self, queue_class: Any, starts: list[float]) -> None:
        self.queue_class = queue_class
        self.starts = starts
        self.calls = len(starts)
        self.queue: Any = None

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit; making the queue, letting go of the last: outside."""
        self.queue = None
        self.queue = self.queue_class()
        elapsed = enqueue_all(clock, self.queue, self.starts, PAYLOAD)
        require_length(self.queue, self.calls, "the queue")
        return elapsed

    def check(self) -> None:
        """Drain the queue of the last sample, which a second check would find empty."""
        holds(self.queue, 0, self.calls)()


class CycleSampler:
    """Takes and puts back on one queue, `calls` pairs a sample."""

    __slots__ = ("calls", "check", "due", "queue")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        rig = cycle(queue_class, params, seed)
        self.queue = rig.queue
        self.due = params["due"]
        self.calls = max(1, MESSAGES_PER_SAMPLE // self.due)
        self.check = rig.check

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit; that the whole batch was cut is looked at afterwards."""
        elapsed = cycle_all(clock, self.queue, self.due - 1.0, self.calls)
        batch = self.queue.take(self.due - 1.0)
        require_length(batch, self.due)
        self.queue.requeue(batch)
        return elapsed


class ReattachSampler:
    """Cuts a part off one list and hangs it in again, `calls` pairs a sample."""

    __slots__ = ("calls", "check", "detach", "queue", "reattach")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        rig = reattach(queue_class, params, seed)
        self.queue = rig.queue
        self.detach, self.reattach = rig.arguments
        self.calls = max(1, MESSAGES_PER_SAMPLE // params["part"])
        self.check = rig.check

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit."""
        return reattach_all(clock, self.detach, self.reattach, self.calls)


class ProcessSampler:
    """Dispatches one whole batch a sample, to a handler that does nothing."""

    __slots__ = ("calls", "queue", "queue_class", "starts")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        self.queue_class = queue_class
        self.calls = params["messages"]
        self.starts = list(ordered(0, self.calls))
        self.queue: Any = None

    def sample(self, clock: Clock) -> Any:
        """Return what process() took, in the clock's unit; filling the queue and taking the batch: outside."""
        self.queue = None
        self.queue = queue = self.queue_class()
        fill(queue, self.starts)
        batch = queue.take(self.calls - 1.0)
        require_length(batch, self.calls)
        process = queue.process
        t0 = clock()
        dispatched = process(batch, ignore)
        t1 = clock()
        require_dispatched(dispatched, self.calls)
        return t1 - t0

    def check(self) -> None:
        """The queue is empty and its batch was used up; filled alike once more, it holds what it should."""
        require_length(self.queue, 0, "the queue")
        holds(fill(self.queue, self.starts), 0, self.calls)()


def in_order(queue_class: Any, params: Parameters, seed: int) -> EnqueueSampler:
    """Starts in order, so that no search is needed."""
    return EnqueueSampler(queue_class, list(ordered(0, params["messages"])))


def out_of_order(queue_class: Any, params: Parameters, seed: int) -> EnqueueSampler:
    """The same starts in a random order that follows from the seed."""
    return EnqueueSampler(queue_class, shuffled(params["messages"], seed))


def measure(workload: Any, queue_class: Any, case: Figures, clock: Clock, save: Save) -> Figures:
    """Take the samples of a batched case; no null call stands inside them that could be compared."""
    floor, samples = blank(NULL_CALLS), array("q")
    figures: Figures = {"memory": {"rss_before_bytes": resident_bytes()}}
    sampler = workload.sampler(queue_class, case["params"], case["seed"])
    bare(clock, floor)
    counters = Counters()
    end = perf_counter_ns() + BUDGET_NS
    while len(samples) < AT_LEAST or (len(samples) < AT_MOST and perf_counter_ns() < end):
        samples.append(sampler.sample(clock))
    figures["counters"] = counters.since()
    note_queue(figures, sampler.queue)
    sampler.check()
    name = "+".join(workload.operations)
    figures["operations"] = [
        {
            "operation": name,
            "samples": save(name, samples),
            "n": len(samples),
            "warmup": 1,
            "calls_per_sample": sampler.calls,
            "null_before": None,
            "null_after": None,
        }
    ]
    figures["bare"] = {"samples": save("bare", floor), "n": NULL_CALLS}
    return figures
