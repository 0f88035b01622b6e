"""The slowest calls of a case, aligned by their index over its processes: what the structure did and what the machine.

The k-th call of a seeded workload is the same call in every process. What it takes in all of them is the structure's;
what it takes in one of them only is the machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lab.histogram import Samples, as_samples

SHOWN = 10
NOT_LOOKED_FOR = "not looked for"
UNKNOWN = "unknown"
"""How the text of a cause begins when the pass that explains the calls could not tell; what follows says why."""


@dataclass(frozen=True)
class Slowest:
    """The slowest calls of one operation of a case, and its structural worst call.

    `index` has up to `SHOWN` calls by what they took at least in any process, then up to as many others by what they
    took in any one process, slowest first both times; `least_ns` what each of them took at least, `process_ns` what it
    took in every process. `structural_ns` and `structural_index` are None with a single process.
    """

    index: tuple[int, ...]
    least_ns: tuple[int, ...]
    process_ns: tuple[tuple[int, ...], ...]
    structural_ns: int | None
    structural_index: int | None


class Call(NamedTuple):
    """One call, `k` its index: what it took in every process."""

    k: int
    process_ns: tuple[int, ...]


def slowest(pieces: Iterable[Sequence[ArrayLike | None]], warmup: int = 0, shown: int = SHOWN) -> Slowest | None:
    """Return the slowest calls after the first `warmup` ones, of equal ones the first.

    `pieces` go through the calls in order; each has the same calls of every process, so that only one piece need be in
    memory. None with no process, calls that are missing (None), unequal numbers of calls, or none after the warm-up.
    O(all calls).

    >>> found = slowest([([10, 90], [10, 12]), ([10, 11], [70, 12])], shown=2)
    >>> found.index, found.least_ns, found.process_ns, found.structural_ns
    ((1, 3, 2), (12, 11, 10), ((90, 12), (11, 12), (10, 70)), 12)
    """
    by_least: list[Call] = []
    by_most: list[Call] = []
    start = 0
    for piece in pieces:
        samples = _alike(piece)
        if samples is None:
            return None
        for of_all, of_call, kept in ((np.minimum, min, by_least), (np.maximum, max, by_most)):
            places = _largest(reduce(of_all, samples), max(0, warmup - start), shown)
            kept += [Call(start + k, tuple(int(calls[k]) for calls in samples)) for k in places]
            kept.sort(key=partial(_slower_first, of_call))
            del kept[shown:]
        start += len(samples[0])
    if not by_least:
        return None
    found = list(dict.fromkeys([*by_least, *by_most]))
    several = len(found[0].process_ns) > 1
    return Slowest(
        index=tuple(call.k for call in found),
        least_ns=tuple(min(call.process_ns) for call in found),
        process_ns=tuple(call.process_ns for call in found),
        structural_ns=min(found[0].process_ns) if several else None,
        structural_index=found[0].k if several else None,
    )


def aligned(streams: Sequence[Iterator[Samples]]) -> Iterator[list[Samples]]:
    """Yield the same calls of every stream, wherever each of them is cut; O(a piece of each) of memory.

    Where one stream ends before another, the last piece has rows of unequal length.

    >>> rows = iter([np.array([1, 2, 3])]), iter([np.array([4]), np.array([5, 6])])
    >>> [[row.tolist() for row in piece] for piece in aligned(rows)]
    [[[1], [4]], [[2, 3], [5, 6]]]
    """
    nothing: Samples = np.empty(0, dtype=np.int64)
    held = [nothing] * len(streams)
    while streams:
        held = [rest if len(rest) else next(stream, nothing) for rest, stream in zip(held, streams, strict=True)]
        count = min(map(len, held))
        if not count:
            if any(map(len, held)):
                yield held
            return
        yield [rest[:count] for rest in held]
        held = [rest[count:] for rest in held]


def _alike(piece: Sequence[ArrayLike | None]) -> list[Samples] | None:
    """Return the rows of a piece as arrays, or None where one is missing, they are unequal or there is none."""
    if not piece or any(calls is None for calls in piece):
        return None
    arrays = [np.asarray(calls) for calls in piece]
    if len({array.shape for array in arrays}) > 1:
        return None
    return [as_samples(array) for array in arrays]


def _slower_first(of_call: Callable[[tuple[int, ...]], int], call: Call) -> tuple[int, int]:
    """Return what puts the slower call first, and of equal ones the earlier."""
    return -of_call(call.process_ns), call.k


def _largest(values: Samples, warmup: int, count: int) -> list[int]:
    """Return the places of the `count` largest values after the warm-up, largest first, of equal ones the first."""
    kept = values[warmup:]
    count = min(count, len(kept))
    if not count:
        return []
    threshold = np.partition(kept, len(kept) - count)[len(kept) - count]
    places = np.flatnonzero(kept >= threshold)
    ordered = places[np.argsort(-kept[places], kind="stable")][:count]
    return [warmup + int(place) for place in ordered]


def structural_worst(matrix: Iterable[ArrayLike], warmup: int = 0) -> tuple[int, int] | None:
    """Return (ns, index) of the worst call that the structure itself causes, from the calls of several processes.

    The smallest time of call k over the processes is what the structure costs there; the largest such value after the
    first `warmup` calls is the answer, and of equal ones the first. None with fewer than two processes, unequal
    numbers of calls, or no call after the warm-up. O(all samples).

    >>> structural_worst([[10, 90, 10, 11], [10, 12, 70, 12]])
    (12, 1)
    """
    found = slowest([list(matrix)], warmup, shown=1)
    if found is None or found.structural_ns is None or found.structural_index is None:
        return None
    return found.structural_ns, found.structural_index


def made_by(process_ns: Sequence[int], typical_ns: float) -> str:
    """Return what made a call slow: "structural", "machine", "both", or "one process", which cannot tell.

    `process_ns` is what the call took in every process, `typical_ns` what a call of the case usually takes (its p50).
    What the call takes at least is held against the typical call: that is the structure's part. What it takes at most
    is held against what it takes at least: that is the machine's. The larger part gives the name; "both" when the
    machine's part is larger and the structure's still doubles the call.

    >>> made_by([900, 910, 980], 100), made_by([90, 100, 5_000], 100), made_by([500, 510, 9_000], 100)
    ('structural', 'machine', 'both')
    """
    if len(process_ns) < 2:
        return "one process"
    structure, machine = min(process_ns) - typical_ns, max(process_ns) - min(process_ns)
    if structure >= machine:
        return "structural"
    return "both" if structure >= typical_ns else "machine"


def short_cause(cause: str) -> str:
    """Return a cause without its figures, and "" for one that is not known or was not looked for.

    >>> short_cause("growth: list to 1,600,056 bytes; first touch: 12 pages"), short_cause("unknown: other collections")
    ('growth + first touch', '')
    """
    if cause == NOT_LOOKED_FOR or cause.startswith(UNKNOWN):
        return ""
    return " + ".join(part.partition(":")[0] for part in cause.split("; "))
