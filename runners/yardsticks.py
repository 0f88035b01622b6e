"""Holds the queues against the barest code that does the same, and the two ways of timing against each other.

    python -m runners.yardsticks

Each line is a ratio of medians: over alternating rounds in one process, or over alternating fresh processes. The loops
are pinned to one processor like those of a worker.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from argparse import ArgumentParser
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any

import numpy as np

from lab.case import Case, execution_of
from queues.timer.array import Array
from queues.timer.chunked import LOAD, Chunked
from queues.timer.linked_known_tail import LinkedKnownTail
from runners.batched import AT_MOST, ProcessSampler, enqueue_all
from runners.blocks import AtRandomSampler
from runners.cost import read_cost
from runners.rigs import PAYLOAD, fill, ordered
from runners.run import spec_of
from runners.spawn import pinned_processor, prime, run_cost, run_worker

INFINITY = float("inf")
START = itemgetter(0)
Run = Callable[[], float]


class Bare:
    """A method that only appends."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep it, wherever it belongs."""
        self.items.append((start, message))


class BareChunks:
    """A list of lists that bisects twice and inserts: what no queue of chunks can do without."""

    def __init__(self) -> None:
        self.chunks: list[list[Any]] = [[]]
        self.ends = [INFINITY]

    def enqueue(self, start: Any, *message: Any) -> None:
        """Put it behind equal starts."""
        number = bisect_right(self.ends, start)
        chunk = self.chunks[number]
        chunk.insert(bisect_right(chunk, start, key=START), (start, message))
        if len(chunk) > LOAD + LOAD:
            self.chunks.insert(number, chunk[:LOAD])
            self.ends.insert(number, chunk[LOAD - 1][0])
            del chunk[:LOAD]

    def __len__(self) -> int:
        return sum(map(len, self.chunks))


class KeyedChunks(BareChunks):
    """The same with the starts in lists of their own beside the messages: eight bytes a message more."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[list[Any]] = [[]]

    def enqueue(self, start: Any, *message: Any) -> None:
        """Put it behind equal starts."""
        number = bisect_right(self.ends, start)
        chunk, keys = self.chunks[number], self.keys[number]
        place = bisect_right(keys, start)
        keys.insert(place, start)
        chunk.insert(place, (start, message))
        if len(chunk) > LOAD + LOAD:
            self.chunks.insert(number, chunk[:LOAD])
            self.keys.insert(number, keys[:LOAD])
            self.ends.insert(number, keys[LOAD - 1])
            del chunk[:LOAD], keys[:LOAD]


def enqueued(queue_class: Any, messages: int) -> float:
    """ns a message, in order from empty."""
    return float(enqueue_all(thread_time_ns, queue_class(), list(ordered(0, messages)), PAYLOAD)) / messages


def enqueued_at_random(queue_class: Any, queued: int) -> float:
    """ns a message, at random places behind so many: the median of the samples of a batched case."""
    sampler = AtRandomSampler(queue_class, {"queued": queued}, 1)
    return float(median(sampler.sample(thread_time_ns) for _ in range(AT_MOST))) / sampler.calls


def taken(queue: Any, due: int) -> float:
    """ns for one take; the batch is put back outside the clock."""
    t0 = thread_time_ns()
    batch = queue.take(due - 1.0)
    t1 = thread_time_ns()
    queue.requeue(batch)
    return float(t1 - t0)


def sliced(items: list[Any], due: int) -> float:
    """ns for the slice alone, letting go of it included."""
    t0 = thread_time_ns()
    items[:due]
    t1 = thread_time_ns()
    return float(t1 - t0)


def processed(queue_class: Any, messages: int) -> float:
    """ns a message for a whole batch."""
    return float(ProcessSampler(queue_class, {"messages": messages}, 1).sample(thread_time_ns)) / messages


def bare_loop(messages: int) -> float:
    """ns a message for a loop that asks the clock of the queues before each message and calls a handler."""
    from time import time as clock

    items = in_one_list(ordered(0, messages))

    def handler(start: float, message: str) -> None:
        return None

    t0 = thread_time_ns()
    for item in items:
        if clock() >= INFINITY:
            break
        handler(*item)
    return float(thread_time_ns() - t0) / messages


def releasing_loop(messages: int) -> float:
    """ns a message for the bare loop when it lets go of what it hands out, as a batch must; last to first."""
    from time import time as clock

    items = in_one_list(ordered(0, messages))

    def handler(start: float, message: str) -> None:
        return None

    pop = items.pop
    t0 = thread_time_ns()
    while items:
        if clock() >= INFINITY:
            break
        handler(*pop())
    return float(thread_time_ns() - t0) / messages


def freed(made: Callable[[list[float]], Any], messages: int) -> float:
    """ns for letting go of what `made` keeps so many starts in."""
    holder = [made(list(ordered(0, messages)))]
    t0 = thread_time_ns()
    holder.clear()
    t1 = thread_time_ns()
    return float(t1 - t0)


def in_one_list(starts: Iterable[float]) -> list[tuple[float, str]]:
    """Messages in a list."""
    return [(start, PAYLOAD) for start in starts]


def in_chunks(kind: type[Any], starts: list[float]) -> list[Any]:
    """Messages in lists or tuples as long as the chunks of the queue."""
    return [kind(in_one_list(starts[at : at + LOAD])) for at in range(0, len(starts), LOAD)]


def put_back(part: int) -> float:
    """ns for hanging a part of the list in again, its tail known."""
    detach, reattach, _ = LinkedKnownTail.primitives(200_000, part)
    taken_ns = []
    for _ in range(101):
        fragment = detach()
        t0 = thread_time_ns()
        reattach(fragment)
        taken_ns.append(thread_time_ns() - t0)
    return float(median(taken_ns))


def ratio(question: str, ours: Run, bare: Run, rounds: int) -> None:
    """Print the medians of both over alternating rounds, and their ratio."""
    first, second = [], []
    for _ in range(rounds):
        first.append(ours())
        second.append(bare())
    print(
        f"{question}: {median(first):,.0f} / {median(second):,.0f} ns = {median(first) / median(second):.2f}",
        flush=True,
    )


def batched_and_pyperf(workload: str, subject: str, processes: int = 7, **params: int) -> None:
    """Print the mean that pyperf finds over the p50 of a batched loop, alternating fresh processes."""
    by_pyperf: list[float] = []
    by_batches: list[float] = []
    for process in range(processes):
        for kind, found in (("cost", by_pyperf), ("batched", by_batches)):
            execution = execution_of(Case(kind, "timer", subject, workload, tuple(params.items()), "wall"), process, 1)
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                if kind == "cost":
                    outcome = run_cost(spec_of(execution), folder, options=("-p", "1", "-n", "5", "-w", "1"))
                    found.append(read_cost(folder / "cost.json")["mean_ns"])
                else:
                    outcome = run_worker(spec_of(execution), folder)
                    operation = outcome.result["operations"][0]
                    samples = np.fromfile(folder / operation["samples"], dtype=np.int64)[1:]
                    found.append(float(np.median(samples)) / operation["calls_per_sample"])
    print(
        f"pyperf mean / batched p50, {workload} on {subject}: "
        f"{median(by_pyperf):,.0f} / {median(by_batches):,.0f} ns = {median(by_pyperf) / median(by_batches):.3f}",
        flush=True,
    )


def main() -> None:
    """Print every ratio; about a minute."""
    prime()
    batched_and_pyperf("enqueue-in-order", "array", messages=20_000)
    batched_and_pyperf("cycle", "array", due=1_000, queued=20_000)
    batched_and_pyperf("cycle", "linked-known-tail", due=10, queued=20_000)
    processor = pinned_processor()
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    gc.collect()
    gc.freeze()
    gc.collect()
    print(f"{sys.implementation.name} {sys.version.split()[0]}, collector on, thread time")
    array = fill(Array(), ordered(0, 210_000))
    items = list(array.contents())
    ratio("array, take of 10,000 / slice alone", lambda: taken(array, 10_000), lambda: sliced(items, 10_000), 301)
    for messages in (1_000, 20_000, 200_000):
        question = f"chunked, enqueue in order, {messages:,} / bare append method"
        ratio(question, partial(enqueued, Chunked, messages), partial(enqueued, Bare, messages), 5 + 40_000 // messages)
    for name, queue_class in (("chunked", Chunked), ("bare chunks", BareChunks), ("keyed chunks", KeyedChunks)):
        question = f"{name}, enqueue at random, 200,000 / array"
        ratio(
            question, partial(enqueued_at_random, queue_class, 200_000), partial(enqueued_at_random, Array, 200_000), 7
        )
    for name, kind in (("chunked", Chunked), ("array", Array)):
        ratio(f"{name}, process / bare loop", partial(processed, kind, 10_000), partial(bare_loop, 10_000), 31)
    ratio("the loop that lets go / bare loop", partial(releasing_loop, 10_000), partial(bare_loop, 10_000), 31)
    for name, made in (
        ("chunked", lambda starts: fill(Chunked(), starts)),
        ("array", lambda starts: fill(Array(), starts)),
        (f"lists of {LOAD}", partial(in_chunks, list)),
        (f"tuples of {LOAD}", partial(in_chunks, tuple)),
    ):
        question = f"{name}, free of 200,000 / of one list of as many messages"
        ratio(question, partial(freed, made, 200_000), partial(freed, in_one_list, 200_000), 31)
    ratio("linked-known-tail, reattach of 100,000 / of 10", lambda: put_back(100_000), lambda: put_back(10), 5)


if __name__ == "__main__":
    ArgumentParser("python -m runners.yardsticks", description=main.__doc__).parse_args()
    main()
