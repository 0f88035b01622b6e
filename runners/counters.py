"""What the system and the collector say about this process; read outside every timed region.

Resident memory is `VmRSS` and its peak `VmHWM` of `/proc/self/status`, in bytes; never `ru_maxrss`, because a child
inherits the peak of its parent there. What a system cannot tell is None.
"""

from __future__ import annotations

import gc

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
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

    Page faults and switches of this process, stolen ticks of the whole machine, collections per generation. None where
    the system does not say.
    """

    __slots__ = ("collections", "steal", "usage")

    def __init__(self) -> None:
        self.steal = steal_ticks()
        self.usage = resource.getrusage(resource.RUSAGE_SELF) if resource is not None else None
        self.collections = collections_now()

    def since(self) -> Figures:
        now = Counters()
        used = {
            name: (getattr(now.usage, field, None), getattr(self.usage, field, None)) for name, field in USAGE.items()
        }
        figures: Figures = {name: difference(*pair) for name, pair in used.items()}
        figures["steal_ticks"] = difference(now.steal, self.steal)
        figures["collections"] = list(map(difference, now.collections, self.collections))
        return figures


def difference(after: int | None, before: int | None) -> int | None:
    """Return how far a count has come, None where the system keeps none."""
    return None if after is None or before is None else after - before


def steal_ticks() -> int | None:
    """Return how many ticks the host has kept from this machine, from the first line of `/proc/stat`."""
    try:
        with open("/proc/stat", "rb") as stat:  # noqa: PTH123
            return int(stat.readline().split()[8])
    except (OSError, IndexError):
        return None


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
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - a worker does not pay for pathlib
            for line in status:
                if line.startswith(wanted):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def resident_bytes() -> int | None:
    """Return the memory this process has resident now."""
    return status_bytes("VmRSS")


def peak_bytes() -> int | None:
    """Return the most this process has had resident since it began."""
    return status_bytes("VmHWM")


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
