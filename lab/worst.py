"""The slowest calls of a case, aligned by their index over its processes: what the structure did and what the machine.

The k-th call of a seeded workload is the same call in every process. What it takes in all of them is the structure's;
what it takes in one of them only is the machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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


def slowest(read: Callable[[], Iterable[ArrayLike | None]], warmup: int = 0, shown: int = SHOWN) -> Slowest | None:
    """Return the slowest calls after the first `warmup` ones, of equal ones the first.

    `read()` yields the calls of one process after the other and is asked twice, so that three processes are in memory
    and not all. None with no process, calls that are missing (None), unequal numbers of calls, or none after the
    warm-up. O(all calls).

    >>> found = slowest(lambda: [[10, 90, 10, 11], [10, 12, 70, 12]], shown=2)
    >>> found.index, found.least_ns, found.process_ns, found.structural_ns
    ((1, 3, 2), (12, 11, 10), ((90, 12), (11, 12), (10, 70)), 12)
    """
    least: Samples | None = None
    most: Samples | None = None
    processes = 0
    for calls in read():
        if calls is None:
            return None
        samples = as_samples(calls)
        if least is None or most is None:
            least = most = samples
        elif len(samples) != len(least):
            return None
        else:
            least, most = np.minimum(least, samples), np.maximum(most, samples)
        processes += 1
    if least is None or most is None or warmup >= len(least):
        return None
    by_least = _largest(least, warmup, shown)
    index = tuple(dict.fromkeys([*by_least, *_largest(most, warmup, shown)]))
    rows = [[int(as_samples(calls)[k]) for k in index] for calls in read() if calls is not None]
    several = processes > 1
    return Slowest(
        index=index,
        least_ns=tuple(int(least[k]) for k in index),
        process_ns=tuple(zip(*rows, strict=True)),
        structural_ns=int(least[by_least[0]]) if several else None,
        structural_index=by_least[0] if several else None,
    )


def _largest(values: Samples, warmup: int, count: int) -> list[int]:
    """Return the places of the `count` largest values after the warm-up, largest first, of equal ones the first."""
    kept = values[warmup:]
    count = min(count, len(kept))
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
    calls = list(matrix)
    found = slowest(lambda: calls, warmup, shown=1)
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
