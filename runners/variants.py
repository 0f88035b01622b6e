"""What was tried for the chunked queue and lost: the variants, raced in one process, as ratios to what was kept.

    python -m runners.variants

Prints, for each question, the median over rounds of every variant's time divided by that of the variant kept (of a
longest call the least over rounds). The rounds alternate, so that a machine that drifts touches all alike.
queues/timer/chunked.py quotes what this prints.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import thread_time_ns
from typing import Any

from queues.timer import chunked
from queues.timer.array import Array
from queues.timer.chunked import Chunked
from runners.batched import cycle_all, enqueue_all
from runners.latency import ignore
from runners.rigs import PAYLOAD, fill, ordered, shuffled
from runners.variant_loops import bare, by_index, by_letting_go, by_pop, by_pop_counting, by_starmap, nothing
from runners.variant_queues import (
    AsksLength,
    FirstApartArray,
    ListsOnly,
    OneTuple,
    OneTupleArray,
    OpenedAtOnce,
    Plain,
    WithoutKeys,
)

Variant = tuple[str, Callable[[], float]]


@contextmanager
def load(messages: int) -> Iterator[None]:
    """Let chunks hold so many messages."""
    kept, young = chunked.LOAD, chunked.FULL - chunked.LOAD
    chunked.LOAD, chunked.FULL = messages, messages + young
    try:
        yield
    finally:
        chunked.LOAD, chunked.FULL = kept, kept + young


@contextmanager
def runs(chunks: int) -> Iterator[None]:
    """Let runs hold so many chunks."""
    kept = chunked.RUN
    chunked.RUN = chunks
    try:
        yield
    finally:
        chunked.RUN = kept


@contextmanager
def wide(chunks: int) -> Iterator[None]:
    """Let runs that the collector has no part in hold so many chunks."""
    kept = chunked.WIDE
    chunked.WIDE = chunks
    try:
        yield
    finally:
        chunked.WIDE = kept


def growth(queue_class: Any, messages: int, size: int) -> float:
    """ns a message, in order from empty."""
    with load(size):
        return float(enqueue_all(thread_time_ns, queue_class(), list(ordered(0, messages)), PAYLOAD)) / messages


def worst(queue_class: Any, messages: int) -> float:
    """ns of the longest single enqueue, in order from empty."""
    queue = queue_class()
    longest = 0
    for start in ordered(0, messages):
        t0 = thread_time_ns()
        queue.enqueue(start, PAYLOAD)
        t1 = thread_time_ns()
        longest = max(longest, t1 - t0)
    return float(longest)


def worst_alone(chunks: int) -> float:
    """ns of the longest single enqueue of 200,000, the collector off, in runs of so many chunks; 0: of the array.

    In a process of its own, because a call that comes once in so many is slow by what it has not done for long.
    """
    command = [sys.executable, "-m", "runners.variants", "--longest", str(chunks)]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def tell_longest(chunks: int) -> None:
    """Print what `worst_alone` asks for."""
    gc.disable()
    with wide(chunks):
        print(worst(Chunked if chunks else Array, 200_000))


def collected(queue_class: Any, messages: int) -> float:
    """ns of a full collection beside a full queue; what was there before is frozen."""
    queue = fill(queue_class(), ordered(0, messages))
    gc.collect()
    t0 = thread_time_ns()
    gc.collect()
    t1 = thread_time_ns()
    assert len(queue) == messages
    return float(t1 - t0)


def random_order(queue_class: Any, messages: int, size: int) -> float:
    """ns a message, in random order from empty."""
    with load(size):
        return float(enqueue_all(thread_time_ns, queue_class(), shuffled(messages, 1), PAYLOAD)) / messages


def steady(queue_class: Any, queued: int, calls: int) -> list[int]:
    """ns of each take and dispatch of the one that is due, `queued` behind it, sorted; not the first 64."""
    queue = fill(queue_class(), ordered(0, queued))
    taken = []
    for now in ordered(0, calls):
        t0 = thread_time_ns()
        queue.process(queue.take(now), ignore)
        t1 = thread_time_ns()
        taken.append(t1 - t0)
    return sorted(taken[64:])


def worst_steady(queue_class: Any, queued: int, calls: int) -> float:
    """ns of the longest call of `steady`."""
    return float(steady(queue_class, queued, calls)[-1])


def p99_steady(queue_class: Any, queued: int, calls: int) -> float:
    """ns that all but one in a hundred calls of `steady` stay under."""
    taken = steady(queue_class, queued, calls)
    return float(taken[len(taken) * 99 // 100])


def cycles(due: int, size: int) -> float:
    """ns for taking `due` messages and putting them back."""
    with load(size):
        queue = fill(Chunked(), ordered(0, due + 100_000))
        return float(cycle_all(thread_time_ns, queue, due - 1.0, 200)) / 200


def cycles_of_runs(due: int, length: int) -> float:
    """ns for taking `due` messages and putting them back, from runs of so many chunks."""
    with runs(length):
        queue = fill(Chunked(), ordered(0, due + 100_000))
        return float(cycle_all(thread_time_ns, queue, due - 1.0, 200)) / 200


def dispatched(loop: Callable[[list[Any], Callable[..., object], Callable[[], float]], None]) -> float:
    """ns a message for a way of going through a chunk, the clock asked before each message."""
    items = [(start, PAYLOAD) for start in ordered(0, chunked.LOAD)]
    t0 = thread_time_ns()
    for _ in range(20):
        loop([*items], nothing, thread_time_ns)
    return float(thread_time_ns() - t0) / (20 * len(items))


def race(question: str, variants: list[Variant], rounds: int, of: Callable[[list[float]], float] = median) -> None:
    """Print the median of every variant, as a ratio to the first, which is the one kept.

    Of a longest call the least over the rounds counts instead: what exceeds it is the machine.
    """
    found: dict[str, list[float]] = {name: [] for name, _ in variants}
    for _ in range(rounds):
        for name, run in variants:
            found[name].append(run())
    kept = of(found[variants[0][0]])
    said = ", ".join(f"{name} {of(values) / kept:.2f}" for name, values in found.items())
    print(f"{question} ({variants[0][0]} = {kept:,.0f} ns): {said}", flush=True)


def sizes(run: Callable[[int], float]) -> list[Variant]:
    """The variants of the load, the one kept first."""
    others = [size for size in (128, 256, 512, 1024, 2048) if size != chunked.LOAD]
    return [(f"load {size}", lambda size=size: run(size)) for size in (chunked.LOAD, *others)]  # type: ignore[misc]


def lengths(run: Callable[[int], float]) -> list[Variant]:
    """The variants of the length of a run, the one kept first; the last is a single run, whatever is queued."""
    others = [length for length in (32, 64, 128, 256) if length != chunked.RUN]
    named = [(f"runs of {length}", length) for length in (chunked.RUN, *others)]
    return [(name, lambda length=length: run(length)) for name, length in (*named, ("one run", 1 << 30))]  # type: ignore[misc]


def kinds(run: Callable[[Any], float], *classes: Any) -> list[Variant]:
    """The variants of the class, the one kept first."""
    return [(kind.__name__, lambda kind=kind: run(kind)) for kind in classes]  # type: ignore[misc]


KEEPERS = (Chunked, ListsOnly, Plain, AsksLength, OneTuple, Array, FirstApartArray, OneTupleArray)
"""What keeps a message in order, one way or another."""


def race_steady() -> None:
    """Race dispatching the one that is due: opening a sealed chunk ahead of need, in one call, or having none."""
    race(
        "longest take and dispatch of one before 200,000",
        kinds(lambda kind: worst_steady(kind, 200_000, 20_000), Chunked, OpenedAtOnce, Array),
        15,
        min,
    )
    race(
        "p99 of take and dispatch of one before 200,000",
        kinds(lambda kind: p99_steady(kind, 200_000, 20_000), Chunked, OpenedAtOnce, Array),
        15,
    )


def main() -> None:
    """Race everything; about a minute."""
    gc.collect()
    gc.freeze()
    print(f"{sys.implementation.name} {sys.version.split()[0]}, collector on, thread time")
    race(
        "a message in order, 200,000",
        kinds(lambda kind: growth(kind, 200_000, chunked.LOAD), *KEEPERS),
        9,
    )
    race("a message in order, 1,000", kinds(lambda kind: growth(kind, 1_000, chunked.LOAD), *KEEPERS), 101)
    race("a full collection beside 1,000,000", kinds(lambda kind: collected(kind, 1_000_000), Chunked, ListsOnly), 5)
    race(
        "longest enqueue of 200,000, collector off",
        [
            (f"runs of {chunked.WIDE}", lambda: worst_alone(chunked.WIDE)),
            (f"runs of {chunked.RUN}", lambda: worst_alone(chunked.RUN)),
            ("Array", lambda: worst_alone(0)),
        ],
        15,
        min,
    )
    race(
        "a message in random order, 200,000",
        kinds(lambda kind: random_order(kind, 200_000, chunked.LOAD), Chunked, WithoutKeys),
        5,
    )
    race_steady()
    race("a message in order, 200,000", sizes(lambda size: growth(Chunked, 200_000, size)), 7)
    race("a message in random order, 50,000", sizes(lambda size: random_order(Chunked, 50_000, size)), 5)
    race("cycle of 100,000 due", sizes(lambda size: cycles(100_000, size)), 5)
    race("cycle of 100,000 due", lengths(lambda length: cycles_of_runs(100_000, length)), 5)
    race("cycle of 1,000,000 due", lengths(lambda length: cycles_of_runs(1_000_000, length)), 3)
    loops = (by_pop, by_pop_counting, by_starmap, by_index, by_letting_go, bare)
    race("process, a message", [(loop.__name__, lambda loop=loop: dispatched(loop)) for loop in loops], 101)  # type: ignore[misc]


if __name__ == "__main__":
    parser = ArgumentParser("python -m runners.variants", description=main.__doc__)
    parser.add_argument("--longest", type=int, metavar="CHUNKS", help="only: the longest enqueue in runs of so many")
    asked = parser.parse_args().longest
    main() if asked is None else tell_longest(asked)
