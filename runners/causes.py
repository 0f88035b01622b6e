"""Why a call is slow: the same calls once more, in a process of their own, with a counter in the place of the clock.

A loop of runners/latency.py reads its clock right before and right after each call and stores the difference. Given a
counter of collections and page faults instead, it stores what happened inside each call: the very same loop, the k-th
call the very same call, and nothing timed is disturbed. A process of its own, because a second loop in the process of a
timed one would find memory that was touched already and free lists that are full, which shifts what the collector
counts. Two things are made before the collector settles, like all of a worker, so that they do not count: the counter
and the objects with which it makes good for what the collector's own report costs.

The counter is built of C iterators. A Python function would be wrong from CPython 3.12 on, where a collection that is
due runs at the next place at which the interpreter looks up: entering a function is one. It would run inside the
counter, be counted to the call before, and the call that a user waits for is another one, or none.
"""

from __future__ import annotations

import gc
import sys
from _functools import partial  # type: ignore[import-not-found]
from itertools import islice, repeat, starmap
from operator import add, getitem, itemgetter

from runners.counters import Counters
from runners.latency import blank, set_stage

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Figures: TypeAlias = dict[str, Any]

MINOR_FAULTS = 6  # place of ru_minflt in what getrusage returns
OLDEST = 2
FAULT_BITS, COLLECTION_BITS = 32, 10
"""A count has its faults in the lowest bits, then the collections of each generation."""
ONE_COLLECTION = tuple(1 << (FAULT_BITS + COLLECTION_BITS * generation) for generation in range(OLDEST + 1))

SPARES = 1_000
LARGE_BYTES = 4096
"""An object of the container under a page is moved in less than a microsecond; its growth explains nothing."""

MOST_OBJECTS = 10_000
"""So many objects of a container are looked at in one reading. A container names itself, then its parts, and what is
large is one of the first; behind them come the nodes of a list, 200,000 of them, none of which can grow."""


class Spare:
    """One allocation that the collector counts, and takes back when it is let go of."""

    __slots__ = ("nothing",)


class Probe:
    """A counter to read in the place of the clock: `read()` is page faults and collections so far, in one number.

    It only ever grows by what happened, so the difference of two readings has the difference of each count in it.
    """

    __slots__ = ("callback", "packed", "read", "spares")

    def __init__(self, collector: str) -> None:
        self.packed = [0]
        self.spares = [Spare() for _ in range(SPARES)]
        self.callback = self.collected
        collections = iter(partial(getitem, self.packed, 0), None)
        self.read = map(add, quiet_faults(collector), collections).__next__

    def collected(self, phase: str, info: dict[str, int]) -> None:
        """Count a collection.

        A full one empties the free lists, so that the report of it, a dict, is a new object that the collector counts;
        a timed process makes no report, and one spare less sets the count right again. What stays is one dict in the
        free list that a timed process has not: a queue that makes dicts is one object early after a full collection.
        """
        if phase == "stop":  # nothing here makes a tuple: in the free list, it would be the queue's next one
            self.packed[0] += ONE_COLLECTION[info["generation"]]
            if info["generation"] == OLDEST and self.spares:
                self.spares.pop()


def quiet_faults(collector: str) -> Iterator[int]:
    """Return an iterator over the page faults of this thread so far.

    What the system returns is an object that the collector counts while it exists: with the collector off meanwhile, it
    cannot set off the collection that is the next call's.
    """
    who = getattr(resource, "RUSAGE_THREAD", getattr(resource, "RUSAGE_SELF", None))
    if who is None:
        return repeat(0)
    faults = map(itemgetter(MINOR_FAULTS), starmap(resource.getrusage, repeat((who,))))
    if collector == "off":
        return faults
    return map(itemgetter(1), zip(iter(gc.disable, 0), faults, iter(gc.enable, 0), strict=False))


def faults_in(count: int) -> int:
    """Return the page faults in the difference of two readings."""
    return count & ((1 << FAULT_BITS) - 1)


def collections_in(count: int) -> list[int]:
    """Return the generations of which a collection is in the difference of two readings, the oldest first.

    >>> collections_in(5 + (1 << 32) + (1 << 52)), faults_in(5 + (1 << 32))
    ([2, 0], 5)
    """
    mask = (1 << COLLECTION_BITS) - 1
    return [generation for generation in (2, 1, 0) if count // ONE_COLLECTION[generation] & mask]


class Enough(BaseException):
    """Ends a loop in which all that was to be seen has been seen."""


class Sizes:
    """A clock that looks at a queue's container at certain readings, ends the loop after the last, and shows no time.

    `wanted` are numbers of readings, from 0; `found` has for each of them the large objects: id -> (type, bytes). Each
    looks at the objects of the container, at most MOST_OBJECTS of them, so only few readings are wanted.
    """

    __slots__ = ("found", "last", "queue", "readings", "wanted")

    def __init__(self, queue: Any, wanted: set[int]) -> None:
        self.queue = queue
        self.wanted = wanted
        self.last = max(wanted)
        self.readings = 0
        self.found: dict[int, dict[int, tuple[str, int]]] = {}

    def __call__(self) -> int:
        reading, self.readings = self.readings, self.readings + 1
        if reading in self.wanted:
            parts = islice(self.queue.container(), MOST_OBJECTS)
            sized = ((part, sys.getsizeof(part)) for part in parts)
            self.found[reading] = {id(part): (type(part).__name__, size) for part, size in sized if size >= LARGE_BYTES}
        if reading >= self.last:
            raise Enough
        return 0


def growth_between(before: dict[int, tuple[str, int]], after: dict[int, tuple[str, int]]) -> tuple[str, int] | None:
    """Return type and size of the largest object that is larger than before, or new; None when nothing grew.

    >>> growth_between({1: ("list", 5000), 2: ("dict", 9000)}, {1: ("list", 5600), 2: ("dict", 9000)})
    ('list', 5600)
    """
    grown = [(size, kind) for part, (kind, size) in after.items() if size > before.get(part, ("", 0))[1]]
    return (max(grown)[1], max(grown)[0]) if grown else None


def growths(workload: Any, queue_class: Any, case: Figures, asked: dict[str, list[int]]) -> dict[str, dict[int, Any]]:
    """Return operation -> call -> (type, bytes) of what grew in it, for the calls that are asked for.

    On a queue of its own, set up alike. {} where nobody holds the queue, or it does not show its container. O(calls up
    to the last one asked for + calls asked for × objects of the container, at most MOST_OBJECTS).
    """
    names = workload.operations
    firsts = {
        (name, call): 2 * (call * len(names) + names.index(name)) for name, calls in asked.items() for call in calls
    }
    rig = workload.setup(queue_class, case["params"], case["seed"]) if firsts else None
    if rig is None or not hasattr(rig.queue, "container"):
        return {}
    sizes = Sizes(rig.queue, {reading for first in firsts.values() for reading in (first, first + 1)})
    calls = workload.calls(case["params"])
    try:  # noqa: SIM105 - a worker does not pay for contextlib
        workload.loop(sizes, tuple(blank(calls) for _ in names), calls, *rig.arguments)
    except Enough:
        pass
    found: dict[str, dict[int, Any]] = {}
    for (name, call), first in firsts.items():
        grown = growth_between(sizes.found.get(first, {}), sizes.found.get(first + 1, {}))
        if grown is not None:
            found.setdefault(name, {})[call] = grown
    return found


def explainer(case: Figures) -> Callable[..., Figures]:
    """Return what explains the calls of `case["explain"]` (operation -> calls), called like `latency.measure`.

    To be made before the collector settles; up to its loop it does what `measure` does, and makes no object more. Its
    figures are the counters of the loop, whether the interpreter reports its collections, and `explained`: operation ->
    for each call its collections, page faults and growth. Growth is looked for in the calls of `case["grown"]` in which
    no collection ran that goes beyond the youngest.
    """
    probe = Probe(case["gc"])
    reports = getattr(gc, "callbacks", None)

    def explain(workload: Any, queue_class: Any, case: Figures, clock: Callable[[], Any], save: Any) -> Figures:
        stage = set_stage(workload, queue_class, case, clock)
        counters = Counters()
        if reports is not None:
            reports.append(probe.callback)
        workload.loop(probe.read, stage.real, stage.calls, *stage.rig.arguments)
        figures: Figures = {"counters": counters.since(), "reported": reports is not None}
        if reports is not None:
            reports.remove(probe.callback)
        stage.rig = None  # this queue goes before another one comes
        figures["explained"] = explained(workload, queue_class, case, stage.real)
        return figures

    return explain


def explained(workload: Any, queue_class: Any, case: Figures, counts: Any) -> dict[str, list[Figures]]:
    """Return operation -> what happened in each call asked for, from the counts that the loop has left."""
    of = dict(zip(workload.operations, counts, strict=True))
    found: dict[str, list[Figures]] = {
        name: [
            {"call": call, "collections": collections_in(of[name][call]), "faults": faults_in(of[name][call])}
            for call in calls
        ]
        for name, calls in case["explain"].items()
    }
    left = {
        name: [
            each["call"] for each in those if each["call"] in case["grown"][name] and set(each["collections"]) <= {0}
        ]
        for name, those in found.items()
    }
    grown = growths(workload, queue_class, case, left)
    for name, those in found.items():
        for each in those:
            each["growth"] = grown.get(name, {}).get(each["call"])
    return found
