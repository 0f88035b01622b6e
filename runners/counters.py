"""What the system and the collector say about this process; read outside every timed region.

Resident memory is `VmRSS` and its peak `VmHWM` of `/proc/self/status`, in bytes; never `ru_maxrss`, because a child
inherits the peak of its parent there. A tick is what /proc/stat counts in, 1/100 s on Linux. What a system cannot tell
is None.
"""

from __future__ import annotations

import gc
import os
import time

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    Figures: TypeAlias = dict[str, Any]

USAGE = {
    "minor_faults": "ru_minflt",
    "major_faults": "ru_majflt",
    "voluntary_switches": "ru_nvcsw",
    "involuntary_switches": "ru_nivcsw",
}


class Counters:
    """What the system and the collector did in between: `since()` is the difference to when it was made.

    Page faults and switches of this process, the wall and the processor time they were counted over, ticks of the whole
    machine (stolen, busy) and of the own processor, collections per generation; and the frequency at the end. None
    where the system does not say.
    """

    __slots__ = ("at_ns", "collections", "processor_ns", "ticks", "usage")

    def __init__(self) -> None:
        self.ticks = ticks()
        self.usage = resource.getrusage(resource.RUSAGE_SELF) if resource is not None else None
        self.collections = collections_now()
        self.processor_ns = time.process_time_ns()
        self.at_ns = time.monotonic_ns()

    def since(self) -> Figures:
        """Return column -> how far it has come; `collections` has a number for each generation."""
        now = Counters()
        used = {
            name: (getattr(now.usage, field, None), getattr(self.usage, field, None)) for name, field in USAGE.items()
        }
        figures: Figures = {name: difference(*pair) for name, pair in used.items()}
        figures |= {name: difference(now.ticks[name], self.ticks[name]) for name in now.ticks}
        figures["collections"] = list(map(difference, now.collections, self.collections))
        figures["counted_ns"] = now.at_ns - self.at_ns
        figures["processor_ns"] = now.processor_ns - self.processor_ns
        figures["frequency_mhz"] = frequency_mhz()
        return figures


def difference(after: int | None, before: int | None) -> int | None:
    """Return how far a count has come, None where the system keeps none."""
    return None if after is None or before is None else after - before


def ticks(root: str = "/") -> dict[str, int | None]:
    """Return what /proc/stat counts since the system began, all in ticks; None for each that it does not tell.

    `steal_ticks` the host has kept from all processors, `steal_own_ticks` from the one this process is pinned to (None
    when it may use several), `busy_ticks` all processors were at work, whoever for.
    """
    found: dict[str, int | None] = dict.fromkeys(("steal_ticks", "steal_own_ticks", "busy_ticks"))
    lines = {name: numbers for name, *numbers in map(bytes.split, lines_of(f"{root}proc/stat")) if name[:3] == b"cpu"}
    try:
        user, nice, system, _, _, irq, softirq, steal = map(int, lines[b"cpu"][:8])
        found |= {"steal_ticks": steal, "busy_ticks": user + nice + system + irq + softirq}
        own = lines.get(b"cpu%d" % processor) if (processor := pinned_to()) is not None else None
        found["steal_own_ticks"] = None if own is None else int(own[7])
    except (KeyError, ValueError, IndexError):
        pass
    return found


def pinned_to() -> int | None:
    """Return the one processor that this process may use; None when there are several, or nobody says."""
    try:
        (processor,) = os.sched_getaffinity(0)
    except (AttributeError, OSError, ValueError):
        return None
    return processor


def frequency_mhz(root: str = "/") -> float | None:
    """Return the frequency of the processor that this process is pinned to, else of the first, in MHz, or None.

    From sysfs, which says what the processor was last set to, or else from /proc/cpuinfo; a virtual machine shows the
    nominal frequency there.
    """
    processor = pinned_to() or 0
    try:
        with open(f"{root}sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_cur_freq", "rb") as khz:  # noqa: PTH123
            return int(khz.read()) / 1000
    except (OSError, ValueError):
        pass
    current = b""
    for line in lines_of(f"{root}proc/cpuinfo"):
        name, _, value = line.partition(b":")
        if name.strip() == b"processor":
            current = value.strip()
        elif name.strip() == b"cpu MHz" and current == b"%d" % processor:
            return float(value)
    return None


def lines_of(path: str) -> Iterator[bytes]:
    """Yield the lines of a file of the kernel one by one; none where it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a worker does not pay for pathlib
            yield from file
    except OSError:
        pass


def collections_now() -> list[int]:
    """Return how often each generation has been collected; empty where the interpreter does not say."""
    try:
        return [generation["collections"] for generation in gc.get_stats()]
    except (AttributeError, TypeError, KeyError):  # PyPy's figures are others
        return []


def status_bytes(field: str) -> int | None:
    """Return a field of `/proc/self/status` that is given in kB, in bytes, or None where there is none.

    >>> status_bytes("VmNothing") is None
    True
    """
    wanted = field.encode() + b":"
    for line in lines_of("/proc/self/status"):
        if line.startswith(wanted):
            return int(line.split()[1]) * 1024
    return None


def resident_bytes() -> int | None:
    """Return the memory this process has resident now."""
    return status_bytes("VmRSS")


def peak_bytes() -> int | None:
    """Return the most this process has had resident since it began, or since `reset_peak` was allowed to reset it."""
    return status_bytes("VmHWM")


def reset_peak(path: str = "/proc/self/clear_refs") -> bool:
    """Have the peak of this process begin anew at what is resident now; False where the system does not allow it.

    Writing 5 does that and nothing else (proc(5)); other values of this file clear the marks of pages.
    """
    try:
        with open(path, "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"5")
    except OSError:
        return False
    return True


def settle(collector: str) -> None:
    """Clear up and freeze what is there: before the subject exists, never after, or its container would be hidden.

    The second collection lets the collector count what it still has, which is next to nothing. It goes through
    everything only when a quarter of that count is new: without it, it would compare with what was frozen, and a queue
    of a million messages might never be walked.
    """
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()
        gc.collect()
    if collector == "off":
        gc.disable()


def note_queue(figures: Figures, queue: Any) -> None:
    """Add what is resident after the loop and what the queue counts itself, where it does, before a check drains it."""
    figures["memory"] |= {"rss_after_bytes": resident_bytes(), "hwm_bytes": peak_bytes()}
    for name in ("merged", "walked"):
        if hasattr(queue, name):
            figures[name] = getattr(queue, name)
    facts = getattr(queue, "facts", None)
    if isinstance(facts, dict) and all(isinstance(text, str) and "=" not in name for name, text in facts.items()):
        figures["facts"] = facts
