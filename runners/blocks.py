"""The calls of the steady workloads timed many as one, where a clock read of their own would be most of each.

Each sampler stands beside the loop of `runners.latency` that makes the same calls one by one, and is what that loop is
held against (`lab.arms`). What the loop does untimed between two calls is done here before or after a whole block.
"""

from __future__ import annotations

from heapq import merge
from itertools import repeat

from runners.checks import verify
from runners.latency import dispatch_some, ignore, require_dispatched, require_length
from runners.rigs import LONG_AGO, PAYLOAD, cycle, fill, holds, ordered, random_bits, require_at_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Parameters: TypeAlias = dict[str, int]

MOST_CALLS = 1_000
SHARE = 20
"""A block changes the length of a steady queue by a twentieth at most, and the length decides what a call costs. A
thousand calls that move 200,000 messages up are a twentieth of a second already."""

AT_RANDOM = 50
"""Messages that come at random in a block: a list that is walked takes milliseconds for each behind 200,000."""

MESSAGES_PER_BLOCK, LEAST_WINDOWS = 50_000, 20
"""Windows of a block: as many cycles as move about so many messages, but never fewer than 20."""

BATCHES_OUT = 8
"""Batches that are out at once before a block of requeues; more would make the queue much longer than it is alone."""


class SteadySampler:
    """One queue that moves on by a block a sample: `calls` messages leave at its front, as many come at its end."""

    __slots__ = ("calls", "done", "queue", "queued")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        self.queued = params["queued"]
        self.calls = max(1, min(MOST_CALLS, self.queued // SHARE))
        self.queue = fill(queue_class(), ordered(0, self.queued))
        self.done = 0

    def leaving(self) -> list[float]:
        """Return the starts of the messages that leave in this sample."""
        return list(ordered(self.done, self.calls))

    def coming(self) -> list[float]:
        """Return the starts of the messages that come in this sample."""
        return list(ordered(self.done + self.queued, self.calls))

    def moved_on(self) -> None:
        """Note that a block has left and another has come; CheckFailed unless the queue is as long as before."""
        self.done += self.calls
        require_length(self.queue, self.queued, "the queue")

    def check(self) -> None:
        """Drain the queue, which must hold what has not left."""
        holds(self.queue, self.done, self.queued)()


class SteadyEnqueueSampler(SteadySampler):
    """Queues a block in order; the sample is the whole loop over the starts."""

    __slots__ = ()

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit; that the messages due leave one by one: outside."""
        enqueue, take, starts = self.queue.enqueue, self.queue.take, self.coming()
        t0 = clock()
        for start in starts:
            enqueue(start, PAYLOAD)
        t1 = clock()
        for now in self.leaving():
            require_length(take(now), 1)
        self.moved_on()
        return t1 - t0


class SteadyDispatchSampler(SteadySampler):
    """Takes and processes the one message that is due, a block of times; the sample is the whole loop."""

    __slots__ = ()

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit; queueing as many at the end: outside."""
        take, process, nows = self.queue.take, self.queue.process, self.leaving()
        t0 = clock()
        for now in nows:
            process(take(now), ignore)
        t1 = clock()
        require_length(self.queue, self.queued - self.calls, "the queue")
        fill(self.queue, self.coming())
        self.moved_on()
        return t1 - t0


class AtRandomSampler:
    """One queue, filled in order, into which a block of messages comes at random places each sample.

    It grows by them, by a 160th in the 25 samples of a batched case behind 200,000: what a call costs in a queue
    of that length, where filling one in random order takes an array a thousand times as long as the calls themselves.
    """

    __slots__ = ("bits", "calls", "come", "queue", "queued")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        self.queued = params["queued"]
        self.calls = AT_RANDOM
        self.queue = fill(queue_class(), ordered(0, self.queued))
        self.bits = random_bits(seed)
        self.come: list[float] = []

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit."""
        enqueue = self.queue.enqueue
        starts = [next(self.bits) * self.queued / 2**32 for _ in range(self.calls)]
        t0 = clock()
        for start in starts:
            enqueue(start, PAYLOAD)
        t1 = clock()
        self.come += starts
        require_length(self.queue, self.queued + len(self.come), "the queue")
        return t1 - t0

    def check(self) -> None:
        """The queue must hold what it was filled with, and all that came in its place."""
        starts = merge(ordered(0, self.queued), sorted(self.come))
        verify(self.queue, self.queued + len(self.come), zip(starts, repeat(PAYLOAD)))


class WindowCycleSampler:
    """Takes, closes the window and puts back, a block of times, less as many closed windows over one batch.

    The loop of single calls leaves the window untimed; a block cannot, so it is timed alone and taken off.
    """

    __slots__ = ("calls", "check", "due", "queue")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        rig = cycle(queue_class, params, seed)
        self.queue = rig.queue
        self.due = params["due"]
        self.calls = max(LEAST_WINDOWS, MESSAGES_PER_BLOCK // self.due)
        self.check = rig.check

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit."""
        queue, now = self.queue, self.due - 1.0
        take, process, requeue = queue.take, queue.process, queue.requeue
        t0 = clock()
        for _ in range(self.calls):
            batch = take(now)
            process(batch, ignore, LONG_AGO)
            requeue(batch)
        t1 = clock()
        batch = take(now)
        t2 = clock()
        for _ in range(self.calls):
            process(batch, ignore, LONG_AGO)
        t3 = clock()
        require_length(batch, self.due)
        requeue(batch)
        return (t1 - t0) - (t3 - t2)


class RequeueUnusedSampler:
    """Puts back what the windows of several batches left over, the last batch first; the sample is the whole loop.

    Every requeue finds everything in the queue behind what it puts back, as the single call does, and the batches
    that are still out are taken from in front of `queued` messages, so that the length behind is the same.
    """

    __slots__ = ("calls", "done", "due", "queue", "queued", "unused")

    def __init__(self, queue_class: Any, params: Parameters, seed: int) -> None:
        require_at_most(params, "unused", "due")
        self.due, self.unused, self.queued = params["due"], params["unused"], params["queued"]
        self.calls = BATCHES_OUT
        self.queue = fill(queue_class(), ordered(0, self.due * BATCHES_OUT + self.queued))
        self.done = 0

    def sample(self, clock: Clock) -> Any:
        """Return what one sample took, in the clock's unit; takes, windows, and renewing what was sent: outside."""
        batches = self.left_over()
        requeue = self.queue.requeue
        t0 = clock()
        for batch in batches:
            requeue(batch)
        t1 = clock()
        self.renew()
        return t1 - t0

    def left_over(self) -> list[Any]:
        """Return the batches with what their windows did not reach, the one of the latest starts first."""
        queue, batches = self.queue, []
        for number in range(1, BATCHES_OUT + 1):
            batch = queue.take(self.done + self.due * number - 1.0)
            require_length(batch, self.due)
            dispatch_some(queue.process, batch, self.due - self.unused)
            require_length(batch, self.unused)
            batches.append(batch)
        return batches[::-1]

    def renew(self) -> None:
        """Send what was put back, and queue as many as were taken at the end."""
        everything, left = self.due * BATCHES_OUT, self.unused * BATCHES_OUT
        require_length(self.queue, self.queued + left, "the queue")
        if left:
            batch = self.queue.take(self.done + everything - 1.0)
            require_dispatched(len(batch), left)
        fill(self.queue, ordered(self.done + everything + self.queued, everything))
        self.done += everything

    def check(self) -> None:
        """Drain the queue, which must hold what was never sent."""
        holds(self.queue, self.done, self.due * BATCHES_OUT + self.queued)()
