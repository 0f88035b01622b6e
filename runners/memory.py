"""What a queue holds in memory, measured in a process of its own.

Resident memory and its peak come from runners/counters.py. The container's own size is `sys.getsizeof` over its
`container()`. What a system cannot tell is None.
"""

from __future__ import annotations

import sys

from runners.checks import verify
from runners.counters import Counters, peak_bytes, reset_peak, resident_bytes
from runners.latency import ignore, require_length
from runners.null import NullQueue
from runners.rigs import nothing_to_check, ordered, require_at_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Parameters: TypeAlias = dict[str, int]
    Figures: TypeAlias = dict[str, Any]
    Held: TypeAlias = tuple[Any, Callable[[], None]]

POINTS = 10
WARM_UP_MESSAGES = 100


def container_bytes(queue: Any) -> int | None:
    """Return the shallow size of what makes up the container, or None when it or the interpreter cannot tell.

    O(objects of the container).
    """
    if not callable(getattr(queue, "container", None)):
        return None
    try:
        return sum(map(sys.getsizeof, queue.container()))
    except TypeError:  # PyPy has no getsizeof
        if sys.implementation.name == "cpython":
            raise
        return None


def steps(messages: int) -> list[int]:
    """Return ten equal steps from a twentieth of `messages` to all of it, without the ones that fall together.

    >>> steps(2000)
    [100, 311, 522, 733, 944, 1156, 1367, 1578, 1789, 2000]
    """
    first = messages / 20
    goals = {max(1, round(first + (messages - first) * step / (POINTS - 1))) for step in range(POINTS)}
    return sorted(goals)


def payload(number: int) -> str:
    """Return the short string, unlike any other, that message `number` carries."""
    return f"message {number}"


class Gauge:
    """Reads the memory of this process on the way: points, and the peak of each phase where it can be reset.

    With `reads=False` it reads nothing, so that whoever counts allocations sees those of the queue alone.
    """

    __slots__ = ("before_bytes", "highest_bytes", "peaks", "points", "reads", "reset")

    def __init__(self, *, reads: bool = True) -> None:
        self.reads = reads
        self.reset = False
        self.points: list[list[int]] = []
        self.peaks: dict[str, int | None] = {}
        self.highest_bytes: int | None = None
        self.before_bytes = resident_bytes() if reads else None

    def note(self, messages: int) -> None:
        """Add the point [messages queued, resident bytes], where the system tells."""
        now = resident_bytes() if self.reads else None
        if now is not None:
            self.points.append([messages, now])

    def begin(self) -> None:
        """Begin a phase: what was the peak until now is none of its."""
        if self.reads:
            self._see()
            self.reset = reset_peak()

    def end(self, phase: str) -> None:
        """End a phase; its peak is unknown where the one from before could not be reset."""
        if self.reads:
            peak = self._see()
            self.peaks[f"{phase}_peak_bytes"] = peak if self.reset else None

    def figures(self) -> Figures:
        """Return the `memory` part of a result but for the container, which is walked after this was read."""
        after = resident_bytes() if self.reads else None
        self._see()
        return {
            "rss_before_bytes": self.before_bytes,
            "rss_after_bytes": after,
            "hwm_bytes": self.highest_bytes,
            "points": self.points,
            **self.peaks,
        }

    def _see(self) -> int | None:
        peak = peak_bytes() if self.reads else None
        if peak is not None:
            self.highest_bytes = max(peak, self.highest_bytes or 0)
        return peak


def resident(queue_class: Any, params: Parameters, gauge: Gauge) -> Held:
    """Fill a queue and read the resident memory on the way; return it and the check of what is in it.

    Starts and payloads are made on the fly and owned by the queue alone, so the slope over the points is what one
    message costs with everything it brings.
    """
    messages = params["messages"]
    gauge.begin()
    queue = queue_class()
    fill_by_steps(queue, messages, gauge)
    gauge.end("fill")
    return queue, lambda: verify_distinct(queue, 0, messages)


def baseline(queue_class: Any, params: Parameters, gauge: Gauge) -> Held:
    """The same with the null subject, which keeps nothing: what the interpreter and the workload take themselves.

    Its slope is what the instrument adds to that of a queue. There is no queue to check.
    """
    queue = NullQueue()
    gauge.begin()
    fill_by_steps(queue, params["messages"], gauge)
    gauge.end("fill")
    return queue, nothing_to_check


def drained(queue_class: Any, params: Parameters, gauge: Gauge) -> Held:
    """Take a burst in, send all but `left` of it, let the batch go; what does the container keep?

    The points are the burst and what is left; the two phases have a peak each. Raises ValueError when more are to be
    left than come.
    """
    require_at_most(params, "left", "messages")
    messages, left = params["messages"], params["left"]
    gauge.begin()
    queue = queue_class()
    fill(queue, 0, messages)
    gauge.end("fill")
    gauge.note(messages)
    gauge.begin()
    batch = queue.take(float(messages - left - 1))
    if left < messages:
        require_length(batch, messages - left)
        queue.process(batch, ignore)
        require_length(batch, 0)
    batch = None
    gauge.end("drain")
    gauge.note(left)
    return queue, lambda: verify_distinct(queue, messages - left, left)


def fill_by_steps(queue: Any, messages: int, gauge: Gauge) -> None:
    """Queue so many messages and note ten points on the way."""
    queued = 0
    for goal in steps(messages):
        fill(queue, queued, goal)
        queued = goal
        gauge.note(queued)


def fill(queue: Any, first: int, end: int) -> None:
    """Queue the messages `first` … `end - 1`, each with its own start and payload."""
    enqueue = queue.enqueue
    for number in range(first, end):
        enqueue(float(number), payload(number))


def verify_distinct(queue: Any, first: int, count: int) -> None:
    """Raise CheckFailed unless `queue` holds `count` messages from `first` on, each with its own payload."""
    payloads = map(payload, range(first, first + count))
    verify(queue, count, zip(ordered(first, count), payloads, strict=True))


def warm_up() -> None:
    """Fill nothing and read as a measurement does, so that the interpreter's own code for it is in memory.

    Pages of its file come in when they are first called for, and would count as the queue's: most where all of the
    interpreter is one file, as Debian builds it. What is left shows as the memory checks of `lab calibrate`.
    """
    gauge = Gauge()
    counters = Counters()
    baseline(None, {"messages": WARM_UP_MESSAGES}, gauge)
    gauge.figures()
    counters.since()


def measure(workload: Any, queue_class: Any, case: Figures, clock: object, save: object) -> Figures:
    """See what a queue holds; nothing is timed and no samples are kept."""
    warm_up()
    gauge = Gauge()
    counters = Counters()
    queue, check = workload.hold(queue_class, case["params"], gauge)
    held = gauge.figures()
    differences = counters.since()
    held["container_bytes"] = container_bytes(queue)
    check()
    return {"memory": held, "counters": differences, "operations": []}
