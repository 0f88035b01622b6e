"""What a queue holds in memory, measured in a process of its own.

Resident memory and its peak come from runners/counters.py. The container's own size is `sys.getsizeof` over its
`container()`. What a system cannot tell is None.
"""

from __future__ import annotations

import sys

from runners.counters import Counters, peak_bytes, resident_bytes
from runners.latency import ignore, require_length
from runners.rigs import ordered, require_at_most, verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Parameters: TypeAlias = dict[str, int]
    Figures: TypeAlias = dict[str, Any]
    Check: TypeAlias = Callable[[], None]

POINTS = 10


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


def resident(queue_class: Any, params: Parameters) -> tuple[Figures, Check]:
    """Fill a queue and read the resident memory on the way; return the figures and the check of what is in it.

    Starts and payloads are made on the fly and owned by the queue alone, so the slope over the points is what one
    message costs with everything it brings.
    """
    messages = params["messages"]
    points: list[list[int]] = []
    before = resident_bytes()
    queue = queue_class()
    queued = 0
    for goal in steps(messages):
        fill(queue, queued, goal)
        queued = goal
        note(points, queued)
    return figures(before, queue, points), lambda: verify_distinct(queue, 0, messages)


def drained(queue_class: Any, params: Parameters) -> tuple[Figures, Check]:
    """Take a burst in, send all but `left` of it, let the batch go; what does the container keep?

    The points are the burst and what is left. Raises ValueError when more are to be left than come.
    """
    require_at_most(params, "left", "messages")
    messages, left = params["messages"], params["left"]
    points: list[list[int]] = []
    before = resident_bytes()
    queue = queue_class()
    fill(queue, 0, messages)
    note(points, messages)
    batch = queue.take(float(messages - left - 1))
    if left < messages:
        require_length(batch, messages - left)
        queue.process(batch, ignore)
        require_length(batch, 0)
    batch = None
    note(points, left)
    return figures(before, queue, points), lambda: verify_distinct(queue, messages - left, left)


def fill(queue: Any, first: int, end: int) -> None:
    """Queue the messages `first` … `end - 1`, each with its own start and payload."""
    enqueue = queue.enqueue
    for number in range(first, end):
        enqueue(float(number), payload(number))


def verify_distinct(queue: Any, first: int, count: int) -> None:
    """Raise CheckFailed unless `queue` holds `count` messages from `first` on, each with its own payload."""
    payloads = map(payload, range(first, first + count))
    verify(queue, count, zip(ordered(first, count), payloads, strict=True))


def note(points: list[list[int]], messages: int) -> None:
    """Append [messages queued, resident bytes], where the system tells."""
    now = resident_bytes()
    if now is not None:
        points.append([messages, now])


def figures(before: int | None, queue: Any, points: list[list[int]]) -> Figures:
    """Return the `memory` part of a result; the container is walked last, after the resident memory was read."""
    after, peak = resident_bytes(), peak_bytes()
    return {
        "rss_before_bytes": before,
        "rss_after_bytes": after,
        "hwm_bytes": peak,
        "container_bytes": container_bytes(queue),
        "points": points,
    }


def measure(workload: Any, queue_class: Any, case: Figures, clock: object, save: object) -> Figures:
    """See what a queue holds; nothing is timed and no samples are kept."""
    counters = Counters()
    held, check = workload.hold(queue_class, case["params"])
    differences = counters.since()
    check()
    return {"memory": held, "counters": differences, "operations": []}
