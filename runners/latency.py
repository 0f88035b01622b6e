"""Every call timed on its own.

A timed region is exactly `t0 = clock(); call; t1 = clock()`; the sample is stored after it, into an array that was
made before. Arguments are made before t0, methods are bound before the loop, the batch of the call before is let go
before t0, and every check of what a call returned stands outside. The null distribution comes from the very same
loop run over the null subject of runners/null.py, whose methods do nothing.

A loop is called as `loop(clock, samples, calls, *arguments)`: `samples` has one array of ns per operation, `calls`
says how many entries of each are filled, `arguments` is what the workload prepared.
"""

from __future__ import annotations

from array import array

from queues.timer.rules import StopDispatch
from runners.counters import Counters, note_queue, resident_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Samples: TypeAlias = tuple[array[int], ...]
    Save: TypeAlias = Callable[[str, array[int]], str]
    Figures: TypeAlias = dict[str, Any]

NULL_CALLS = 2_000
"""Calls of the null loop before, and again after; pairs of bare clock reads."""

WARMUP_CALLS = 64
"""So many first calls of a steady loop are marked. The specialising interpreter lets a call site that it adapted to
the null subject miss about 50 times before it adapts to the real one."""


class CheckFailed(Exception):
    """The queue did not do what the workload asked: the case gives no number. Its text is one sentence."""


class StopAfter:
    """A handler that takes `left` messages and closes the window at the next one."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, start: float, message: str) -> None:
        if not self.left:
            raise StopDispatch
        self.left -= 1


def ignore(start: float, message: str) -> None:
    """The handler of every timed dispatch: it does nothing."""


def require_length(holder: Any, expected: int, name: str = "the batch") -> None:
    """Refuse a sample taken on a queue that was drained, or cut in the wrong place."""
    if holder is None:
        raise CheckFailed(f"take() returned None: expected a batch of {expected}")
    if len(holder) != expected:
        raise CheckFailed(f"{name} holds {len(holder)} messages: expected {expected}")


def require_dispatched(dispatched: Any, expected: int) -> None:
    """Refuse a window that dispatched another number of messages than it was open for."""
    if dispatched != expected:
        raise CheckFailed(f"process() dispatched {dispatched!r} messages: expected {expected}")


def dispatch_some(process: Callable[..., Any], batch: Any, count: int) -> None:
    """Dispatch `count` messages, whether the queue knows StopDispatch or lets it through like any exception."""
    try:  # noqa: SIM105 - a worker does not pay for contextlib
        process(batch, StopAfter(count))
    except StopDispatch:
        pass


def bare(clock: Clock, samples: array[int]) -> None:
    """Fill `samples` with two clock reads in a row: the floor under every other sample."""
    for call in range(len(samples)):
        t0 = clock()
        t1 = clock()
        samples[call] = t1 - t0


def enqueue_each(clock: Clock, samples: Samples, calls: int, queue: Any, starts: Iterable[float], message: str) -> None:
    """Growth: one `enqueue` a call, nothing ever taken."""
    (enqueue_samples,) = samples
    enqueue = queue.enqueue
    for call, start in zip(range(calls), starts, strict=True):
        t0 = clock()
        enqueue(start, message)
        t1 = clock()
        enqueue_samples[call] = t1 - t0


def cycle_each(
    clock: Clock, samples: Samples, calls: int, queue: Any, now: float, between: Callable[[Any], None]
) -> None:
    """Take what is due, hand it to `between` (untimed: checks, or a window that is closed already), put it back."""
    take_samples, requeue_samples = samples
    take, requeue = queue.take, queue.requeue
    batch = None
    for call in range(calls):
        t0 = clock()
        batch = take(now)
        t1 = clock()
        take_samples[call] = t1 - t0
        between(batch)
        t0 = clock()
        requeue(batch)
        t1 = clock()
        requeue_samples[call] = t1 - t0
        batch = None


def requeue_unused_each(
    clock: Clock, samples: Samples, calls: int, queue: Any, due: int, unused: int, end: int, message: str
) -> None:
    """Put back what a window left over.

    Untimed: the take, the window, and as many new messages from `end` on as were dispatched, so that every call
    finds the same lengths.
    """
    (requeue_samples,) = samples
    take, process, requeue, enqueue = queue.take, queue.process, queue.requeue, queue.enqueue
    used = due - unused
    for call in range(calls):
        batch = take(float(call * used + due - 1))
        require_length(batch, due)
        dispatch_some(process, batch, used)
        require_length(batch, unused)
        t0 = clock()
        requeue(batch)
        t1 = clock()
        requeue_samples[call] = t1 - t0
        batch = None
        for start in range(end + call * used, end + call * used + used):
            enqueue(float(start), message)


def reattach_each(
    clock: Clock, samples: Samples, calls: int, detach: Callable[[], Any], reattach: Callable[[Any], Any]
) -> None:
    """Cut a fragment off the front of the list and hang it in again."""
    detach_samples, reattach_samples = samples
    fragment = None
    for call in range(calls):
        t0 = clock()
        fragment = detach()
        t1 = clock()
        detach_samples[call] = t1 - t0
        t0 = clock()
        reattach(fragment)
        t1 = clock()
        reattach_samples[call] = t1 - t0
        fragment = None


def steady_enqueue_each(clock: Clock, samples: Samples, calls: int, queue: Any, end: int, message: str) -> None:
    """Queue one in order, from `end` on; untimed, take the one that is due and drop it."""
    (enqueue_samples,) = samples
    enqueue, take = queue.enqueue, queue.take
    for call in range(calls):
        start = float(end + call)
        now = float(call)
        t0 = clock()
        enqueue(start, message)
        t1 = clock()
        enqueue_samples[call] = t1 - t0
        require_length(take(now), 1)


def steady_dispatch_each(clock: Clock, samples: Samples, calls: int, queue: Any, end: int, message: str) -> None:
    """Take and process the one that is due, one sample over both; untimed, queue one at the end."""
    (dispatch_samples,) = samples
    enqueue, take, process = queue.enqueue, queue.take, queue.process
    batch = None
    for call in range(calls):
        now = float(call)
        t0 = clock()
        batch = take(now)
        dispatched = process(batch, ignore)
        t1 = clock()
        dispatch_samples[call] = t1 - t0
        require_dispatched(dispatched, 1)
        require_length(batch, 0)
        batch = None
        enqueue(float(end + call), message)


def free_each(clock: Clock, samples: Samples, calls: int, holders: list[list[Any]]) -> None:
    """Drop the last reference to a queue; each holder is a list with nothing but one queue in it."""
    (free_samples,) = samples
    for call, holder in zip(range(calls), holders, strict=True):
        drop = holder.clear
        t0 = clock()
        drop()
        t1 = clock()
        free_samples[call] = t1 - t0


def free_in_batches_each(clock: Clock, samples: Samples, calls: int, queue: Any, now: float, limit: int) -> None:
    """Take at most `limit` and drop them; untimed, the queue must have become that much shorter."""
    (free_samples,) = samples
    take = queue.take
    for call in range(calls):
        before = len(queue)
        t0 = clock()
        take(now, limit)
        t1 = clock()
        free_samples[call] = t1 - t0
        if before - len(queue) != min(limit, before):
            raise CheckFailed(f"take(limit={limit}) left {len(queue)} of {before} messages queued")


def blank(calls: int) -> array[int]:
    """Return an array of so many ns, made before anything is timed, every page of it touched."""
    return array("q", bytes(8 * calls))


class Stage:
    """Everything that is there when the first call of a case is made, the same in every process that makes it."""

    __slots__ = ("after", "before", "calls", "floor", "real", "rig", "rss_before_bytes")

    def __init__(self, names: tuple[str, ...], calls: int) -> None:
        self.calls = calls
        self.real, self.before, self.after = (
            tuple(blank(count) for _ in names) for count in (calls, NULL_CALLS, NULL_CALLS)
        )
        self.floor = blank(NULL_CALLS)
        self.rss_before_bytes = resident_bytes()
        self.rig: Any = None


def set_stage(workload: Any, queue_class: Any, case: Figures, clock: Clock) -> Stage:
    """Return the stage of a case: arrays of samples, the queue set up, bare clock reads and null calls timed."""
    params = case["params"]
    stage = Stage(workload.operations, workload.calls(params))
    stage.rig = workload.setup(queue_class, params, case["seed"])
    bare(clock, stage.floor)
    workload.loop(clock, stage.before, NULL_CALLS, *workload.null(params))
    return stage


def measure(workload: Any, queue_class: Any, case: Figures, clock: Clock, save: Save) -> Figures:
    """Time every call of a case, and the same loop over the null subject before and after.

    The collector is frozen already. `save(name, samples)` keeps an array and returns the name of its file; a queue
    that fails its check raises before anything is saved.
    """
    stage = set_stage(workload, queue_class, case, clock)
    counters = Counters()
    workload.loop(clock, stage.real, stage.calls, *stage.rig.arguments)
    figures: Figures = {"counters": counters.since(), "memory": {"rss_before_bytes": stage.rss_before_bytes}}
    workload.loop(clock, stage.after, NULL_CALLS, *workload.null(case["params"]))
    note_queue(figures, stage.rig.queue)
    stage.rig.check()
    figures["operations"] = kept(workload, stage, save)
    figures["bare"] = {"samples": save("bare", stage.floor), "n": NULL_CALLS}
    return figures


def kept(workload: Any, stage: Stage, save: Save) -> list[Figures]:
    """Keep the samples of every operation and return what each of them is.

    On its own, because what `measure` would need for it (cells, in CPython 3.11) would be there when the first call is
    made, and the collector would count it.
    """
    return [
        {
            "operation": name,
            "samples": save(name, stage.real[k]),
            "n": stage.calls,
            "warmup": min(WARMUP_CALLS, stage.calls // 10) if workload.steady else 0,
            "same_work": workload.steady,
            "calls_per_sample": 1,
            "null_before": save(f"{name}.null-before", stage.before[k]),
            "null_after": save(f"{name}.null-after", stage.after[k]),
        }
        for k, name in enumerate(workload.operations)
    ]
