"""What a call does, counted exactly: bytecodes executed in the queue's own files, and memory blocks left allocated.

The loops are those of runners/latency.py. In place of a clock they read a counter, so a "sample" is what the counter
rose by over one call. Counts are exact: a call that counts another number in another process is a finding, and any
change of them is a change of the queue or of the interpreter. They hold for one version of Python: 3.11 counts what
`sys.settrace` shows of every opcode (all but RESUME, with which a function begins), later versions count the
INSTRUCTION events of `sys.monitoring` (RESUME too), and compilers differ between versions.

What a bytecode moves inside C (a slice, an insert) is one bytecode whatever it moves: instructions and time show that.
Under callgrind (runners/callgrind.py) the same loop calls `os.getppid` as its clock: a function that does next to
nothing and whose entry callgrind can stop at, so that it counts each call on its own.
"""

from __future__ import annotations

import gc
import os
import sys
from itertools import chain, repeat

from runners.counters import Counters, note_queue, resident_bytes
from runners.latency import WARMUP_CALLS, CheckFailed, blank
from runners.workload import NotOffered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], int]
    Save: TypeAlias = Callable[[str, array[int]], str]
    Figures: TypeAlias = dict[str, Any]
    Samples: TypeAlias = tuple[array[int], ...]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib in a worker

NULL_CALLS = 16
"""Calls of the null loop that tell what reading the counter itself leaves allocated."""

FIRST_CALLS = 6
"""Calls before those whose blocks are counted: the first ones fill caches of the interpreter, which begin differently
from process to process."""

SETTLING_CALLS = 16
"""The same for instructions: the interpreter specialises code in its first rounds."""


class OwnFiles(dict[str, bool]):
    """Which files are the queue's own: `files[name]` says it of a code object's file name, and remembers the answer.

    Own are all files under `queues`; of a class from elsewhere its module, or all of its top-level package, and the
    modules of its bases. The standard library and what is installed beside it never are, and neither is `runners`.

    >>> from queues.registry import load
    >>> files = OwnFiles(load("timer", "array"))
    >>> files[os.path.join(ROOT, "queues", "timer", "rules.py")], files[os.__file__], files[__file__]
    (True, False, False)
    """

    __slots__ = ("folders", "names")

    def __init__(self, queue_class: type) -> None:
        self.folders = [os.path.join(ROOT, "queues") + os.sep]  # noqa: PTH118
        self.names: set[str] = set()
        for base in queue_class.__mro__:
            top = base.__module__.partition(".")[0]
            if top in sys.stdlib_module_names or top in ("queues", "runners"):
                continue
            self.names.add(file_of(base.__module__))
            if top != base.__module__:
                paths = getattr(sys.modules.get(top), "__path__", ())
                self.folders += [os.path.join(path, "") for path in paths]  # noqa: PTH118

    def __missing__(self, name: str) -> bool:
        found = self[name] = name in self.names or name.startswith(tuple(self.folders))
        return found


def file_of(module: str) -> str:
    """Return the file of a loaded module, "" when it has none."""
    return getattr(sys.modules.get(module), "__file__", None) or ""


class BytecodeCounter:
    """Counts the bytecodes executed in a queue's own files between `start()` and `stop()`; `read()` is the clock.

    O(1) a bytecode, a Python function called for each. Raises NotOffered on an interpreter that shows no bytecodes.
    """

    __slots__ = ("read", "start", "stop")

    def __init__(self, own: OwnFiles) -> None:
        if sys.implementation.name != "cpython":
            raise NotOffered(f"{sys.implementation.name} shows no bytecodes: counts need CPython")
        monitoring = getattr(sys, "monitoring", None)
        parts = by_trace(own) if monitoring is None else by_monitoring(own, monitoring)
        self.start, self.stop, self.read = parts


def by_trace(own: OwnFiles) -> tuple[Callable[[], None], Callable[[], None], Clock]:
    """Count by `sys.settrace`: Python 3.11."""
    count = 0

    def opcode(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if event == "opcode":
            count += 1
        return opcode

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        if not own[frame.f_code.co_filename]:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return opcode

    return lambda: sys.settrace(enter), lambda: sys.settrace(None), lambda: count


def by_monitoring(own: OwnFiles, monitoring: Any) -> tuple[Callable[[], None], Callable[[], None], Clock]:
    """Count by the INSTRUCTION events of `sys.monitoring`: Python 3.12 and later."""
    count = 0
    disable, event = monitoring.DISABLE, monitoring.events.INSTRUCTION

    def instruction(code: CodeType, offset: int) -> Any:
        nonlocal count
        if not own[code.co_filename]:
            return disable
        count += 1
        return None

    def start() -> None:
        monitoring.use_tool_id(monitoring.PROFILER_ID, "timer-queue-lab")
        monitoring.register_callback(monitoring.PROFILER_ID, event, instruction)
        monitoring.restart_events()
        monitoring.set_events(monitoring.PROFILER_ID, event)

    def stop() -> None:
        monitoring.set_events(monitoring.PROFILER_ID, 0)
        monitoring.register_callback(monitoring.PROFILER_ID, event, None)
        monitoring.free_tool_id(monitoring.PROFILER_ID)

    return start, stop, lambda: count


def count_bytecodes(workload: Any, queue_class: Any, case: Figures, samples: Samples) -> None:
    """Fill `samples` with the bytecodes of each call, and check the queue."""
    counter = BytecodeCounter(OwnFiles(queue_class))
    rig = workload.setup(queue_class, case["params"], case["seed"])
    counter.start()
    try:
        workload.loop(counter.read, samples, len(samples[0]), *rig.arguments)
    finally:
        counter.stop()
    rig.check()


def live_blocks() -> int:
    """Return how many blocks are allocated for objects that are in use.

    What was freed may wait in a free list of the interpreter, 2,000 tuples of each length for example, and would hide
    as many that a call makes: a full collection clears these lists. O(objects that are not frozen).
    """
    gc.collect()
    return sys.getallocatedblocks()


def count_blocks(workload: Any, queue_class: Any, case: Figures, samples: Samples, figures: Figures) -> bool:
    """Fill `samples` with the blocks each call left allocated, and check the queue; False where nobody counts them.

    What the reading itself leaves is taken off: it is the same at every call of the null loop, or nothing is exact.
    """
    if not hasattr(sys, "getallocatedblocks"):
        return False
    calls = FIRST_CALLS + len(samples[0])
    params = {**case["params"], "calls": calls}
    every, null = (tuple(blank(count) for _ in samples) for count in (calls, NULL_CALLS))
    workload.loop(live_blocks, null, NULL_CALLS, *workload.null(params))
    rig = workload.setup(queue_class, params, case["seed"])
    gc.freeze()  # nothing is timed here, and every reading collects
    workload.loop(live_blocks, every, calls, *rig.arguments)
    note_queue(figures, rig.queue)
    for counted, found, own in zip(samples, every, null, strict=True):
        seen = set(own[FIRST_CALLS:])
        if len(seen) != 1:
            raise CheckFailed(f"a call that does nothing left {sorted(seen)} blocks: nothing is counted exactly here")
        for call, blocks in enumerate(found[FIRST_CALLS:]):
            counted[call] = blocks - own[-1]
    rig.check()
    return True


def under_callgrind(workload: Any, queue_class: Any, case: Figures) -> Figures:
    """Do `case["callgrind"]` calls after those that settle, and nothing else; a queue is checked where it is not slow.

    The set-up and the arrays are those for all `calls` of the parameters: what differs between runs is the calls alone,
    not where in memory things lie. The clock is made of C alone, and enters `getppid` only once all is settled: every
    entry costs callgrind a page of its book.
    """
    settling = 2 * len(workload.operations) * SETTLING_CALLS
    clock = chain(repeat(0, settling), iter(os.getppid, -1)).__next__
    samples = tuple(blank(case["params"]["calls"]) for _ in workload.operations)
    rig = workload.setup(queue_class, case["params"], case["seed"])
    workload.loop(clock, samples, SETTLING_CALLS + case["callgrind"], *rig.arguments)
    return {"operations": []}


def measure(workload: Any, queue_class: Any, case: Figures, clock: object, save: Save) -> Figures:
    """Count every call of a case; `save(name, counts)` keeps an array and returns the name of its file.

    The collector must be off: what it frees in the middle of a call is not the call's doing. ValueError when it is on.
    """
    if case["gc"] != "off":
        raise ValueError(f"'gc' of a case of counts is {case['gc']!r}: expected off, or the collector would be counted")
    if case.get("callgrind"):
        return under_callgrind(workload, queue_class, case)
    names, calls = workload.operations, workload.calls(case["params"])
    blocks, bytecodes = (tuple(blank(calls) for _ in names) for _ in range(2))
    figures: Figures = {"memory": {"rss_before_bytes": resident_bytes()}}
    counters = Counters()
    known = count_blocks(workload, queue_class, case, blocks, figures)
    count_bytecodes(workload, queue_class, case, bytecodes)
    figures["counters"] = counters.since()
    figures["operations"] = [
        {
            "operation": name,
            "samples": save(f"{name}.bytecodes", bytecodes[k]),
            "blocks": save(f"{name}.blocks", blocks[k]) if known else None,
            "n": calls,
            "warmup": warmup_of(calls),
        }
        for k, name in enumerate(names)
    ]
    return figures


def warmup_of(calls: int) -> int:
    """Return how many of `calls` are warm-up: a tenth, at least one where there are two, at most those of latency.

    >>> [warmup_of(calls) for calls in (1, 2, 40, 4000)]
    [0, 1, 4, 64]
    """
    return min(WARMUP_CALLS, max(1, calls // 10), calls - 1)
