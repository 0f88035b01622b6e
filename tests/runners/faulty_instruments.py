"""Instruments with one deliberate fault each, a patch through one seam of the real one: `calibrate` must catch all.

Those of the worker's side are put in by a worker of our own, which patches and then is the real one. Those of the
parent's side are put in by pytest's monkeypatch. Nothing of this is known to the code that is patched.
"""

from __future__ import annotations

import gc
import random
import resource
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runners import counters as real_counters
from runners import latency as real_latency
from runners import memory as real_memory

counters: Any = real_counters
latency: Any = real_latency
memory: Any = real_memory

ROOT = Path(__file__).resolve().parent.parent.parent


def reads_the_clock_twice() -> None:
    """A second read of the clock inside the timed region, of the null call as well."""

    def loop(clock: Any, samples: Any, calls: int, queue: Any, end: int, message: str) -> None:
        (enqueue_samples,) = samples
        enqueue, take = queue.enqueue, queue.take
        for call in range(calls):
            start, now = float(end + call), float(call)
            t0 = clock()
            clock()
            enqueue(start, message)
            t1 = clock()
            enqueue_samples[call] = t1 - t0
            latency.require_length(take(now), 1)

    latency.steady_enqueue_each = loop


def shuffles_the_samples() -> None:
    """The samples are kept in another order than they were taken in."""
    kept = latency.kept

    def shuffled(workload: Any, stage: Any, save: Any) -> Any:
        def save_shuffled(name: str, samples: array[int]) -> str:
            ordered = samples.tolist()
            random.Random(7).shuffle(ordered)
            return str(save(name, array("q", ordered)))

        return kept(workload, stage, save_shuffled)

    latency.kept = shuffled


def inherits_the_peak() -> None:
    """The peak is that of the process that forked this one, where that was higher."""
    memory.peak_bytes = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def freezes_after_the_set_up() -> None:
    """What the set-up made is hidden from the collector."""
    set_stage = latency.set_stage

    def frozen(*arguments: Any) -> Any:
        stage = set_stage(*arguments)
        gc.freeze()
        return stage

    latency.set_stage = frozen


def mixes_up_the_clocks() -> None:
    """The clock that is called cpu shows the time on the wall, and the other way round."""
    from runners import worker

    worker.CLOCKS.update(cpu=time.perf_counter_ns, wall=time.thread_time_ns)


def misses_collections() -> None:
    """Collections are neither counted nor seen when a slow call is explained."""
    from runners import causes

    counters.collections_now = lambda: [0, 0, 0]
    probe: Any = causes.Probe
    probe.collected = lambda self, phase, info: None


def has_a_fast_clock() -> None:
    """The clock gains a tenth."""
    from runners import worker

    worker.CLOCKS["cpu"] = lambda: time.thread_time_ns() * 11 // 10


def counts_what_is_reserved() -> None:
    """Memory counts when it is reserved, whether it was ever written to or not."""
    memory.resident_bytes = lambda: counters.status_bytes("VmSize")


def takes_the_peak_for_what_is_there() -> None:
    """What was once resident is said to be so still."""
    memory.resident_bytes = memory.peak_bytes


WORKERS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        reads_the_clock_twice,
        shuffles_the_samples,
        inherits_the_peak,
        freezes_after_the_set_up,
        mixes_up_the_clocks,
        has_a_fast_clock,
        misses_collections,
        counts_what_is_reserved,
        takes_the_peak_for_what_is_there,
    )
}


def faulty_worker(folder: Path, fault: str) -> Path:
    """Return a worker in `folder` that has the fault, to be started like the real one."""
    path = folder / f"{fault}.py"
    path.write_text(
        f"import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"from tests.runners.faulty_instruments import main\n"
        f"sys.exit(main({fault!r}, sys.argv[1:]))\n",
        encoding="utf-8",
    )
    return path


def main(fault: str, arguments: list[str]) -> int:
    """Put the fault in, then be the worker."""
    WORKERS[fault]()
    from runners import worker

    return worker.main(arguments)


def one_rank_too_high(patch: Any) -> None:
    """A percentile is the next larger sample."""
    from lab import sample

    nearest_rank = sample.nearest_rank
    patch.setattr(sample, "nearest_rank", lambda n, q: min(n, nearest_rank(n, q) + 1))


def leaves_the_null_call_in(patch: Any) -> None:
    """The net figure is the raw one."""

    def raw(columns: Any, *given: Any, **more: Any) -> Any:
        found = columns(*given, **more)
        return found | {"net_p50_ns": found["p50_ns"]}

    _around_columns(patch, raw)


def trims_the_tail(patch: Any) -> None:
    """What is over the 99th percentile counts for an outlier and is cut off at it."""

    def cut(columns: Any, samples: Any, **more: Any) -> Any:
        limit = sorted(samples.tolist())[len(samples) * 99 // 100]
        return columns(samples.clip(max=limit), **more)

    _around_columns(patch, cut)


def has_a_coarse_histogram(patch: Any) -> None:
    """A bucket is up to a quarter of its value wide."""
    from lab import histogram

    patch.setattr(histogram, "HISTOGRAM_BITS", 3)


def mixes_up_the_columns(patch: Any) -> None:
    """The largest sample stands in the column of p99."""

    def mixed(columns: Any, *given: Any, **more: Any) -> Any:
        found = columns(*given, **more)
        return found | {"p99_ns": found["max_ns"]}

    _around_columns(patch, mixed)


def takes_the_slowest_process(patch: Any) -> None:
    """What a call took at most in any process is taken for what it took at least."""
    from lab import worst

    numpy = vars(worst)["np"]

    class Wrong:
        """numpy, with one function taken for another."""

        def __getattr__(self, name: str) -> Any:
            return getattr(numpy, {"minimum": "maximum"}.get(name, name))

    patch.setattr(worst, "np", Wrong())
    patch.setattr(worst, "min", max, raising=False)  # of one call's times, where numpy is not asked


def _around_columns(patch: Any, wrapped: Callable[..., Any]) -> None:
    """Have the columns of a row made by `wrapped`, which is given what makes them."""
    from runners import operations

    columns = vars(operations)["operation_columns"]
    patch.setattr(operations, "operation_columns", lambda *given, **more: wrapped(columns, *given, **more))


PARENTS: dict[str, Callable[[Any], None]] = {
    fault.__name__: fault
    for fault in (
        one_rank_too_high,
        has_a_coarse_histogram,
        leaves_the_null_call_in,
        trims_the_tail,
        mixes_up_the_columns,
        takes_the_slowest_process,
    )
}

SPINS = ("spin 2.00 µs", "spin 10.0 µs", "spin 50.0 µs")

CAUGHT = {
    "reads_the_clock_twice": ("spin", ("spin 2.00 µs: p50", "spin 2.00 µs: mean")),
    "has_a_fast_clock": (
        "spin",
        (
            *(f"{spin}: p50" for spin in SPINS),
            *(f"{spin}: {figure}" for spin in SPINS[1:] for figure in ("mean", "p50 net of the null call")),
        ),
    ),
    "leaves_the_null_call_in": ("spin", ("spin 2.00 µs: p50 net of the null call",)),
    "one_rank_too_high": ("spin", ("percentiles, mean and extremes",)),
    "has_a_coarse_histogram": ("spin", ("percentiles of the histogram",)),
    "shuffles_the_samples": ("seldom", ("slow once in 1,000: where",)),
    "trims_the_tail": ("seldom", ("slow once in 1,000: interval of p99.9",)),
    "mixes_up_the_columns": ("seldom", ("slow once in 1,000: p99",)),
    "takes_the_slowest_process": ("apart", ("structural and machine told apart",)),
    "mixes_up_the_clocks": ("sleep", ("sleep, on the CPU clock", "sleep, on the clock on the wall")),
    "freezes_after_the_set_up": ("collection", ("collection: its time",)),
    "misses_collections": ("collection", ("collection: how many", "collection: where and why")),
    "inherits_the_peak": ("memory", ("memory: peak, 8 MiB more for a moment",)),
    "counts_what_is_reserved": ("memory", ("memory: slope beyond the payload", "memory: leak")),
    "takes_the_peak_for_what_is_there": ("memory", ("memory: 8 MiB once", "memory: no leak")),
}
"""fault -> the part of the calibration, and its checks that must not hold."""
