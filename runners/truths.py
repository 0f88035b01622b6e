"""What is done to subjects of known truth: the workloads on which the instrument is proven (runners/calibrate.py).

The subjects are in runners/burners.py and runners/rooms.py. They are timed by the loops of runners/latency.py and held
by those of runners/memory.py, as every queue is. Their accounts are stored beside the samples as operations of their
own, call by call. They are no times that a loop has read a clock for: what `lab.worst` says caused a slow one means
nothing.
"""

from __future__ import annotations

from runners import latency, memory
from runners.latency import CheckFailed
from runners.null import NullQueue
from runners.rigs import PAYLOAD, Rig, null_enqueue, ordered
from runners.workload import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable
    from typing import Any

    from runners.latency import Clock, Samples
    from runners.workload import Parameters


def require_calls(queue: Any, calls: int) -> Callable[[], None]:
    """Return the check that a subject was called as often as it was to be, and its own check where it has one."""

    def check() -> None:
        if queue.calls != calls:
            raise CheckFailed(f"it was called {queue.calls} times: expected {calls}")
        getattr(queue, "check", bool)()

    return check


def spin(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A subject that tells in `take` what it burned in `enqueue`."""
    queue = queue_class(params["calls"])
    return Rig(queue, (queue, 0, PAYLOAD), require_calls(queue, params["calls"]))


def seldom(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A subject that is slow in some calls."""
    queue = queue_class(params["calls"])
    return Rig(queue, (queue, ordered(0, params["calls"]), PAYLOAD), require_calls(queue, params["calls"]))


def waits(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """A subject of which `take` is what counts."""
    queue = queue_class(params["calls"])
    return Rig(queue, (queue, 0.0, len), require_calls(queue, params["calls"]))


def spin_each(clock: Clock, samples: Samples, calls: int, queue: Any, end: int, message: str) -> None:
    """Time as every steady queue is timed, then enter the accounts of the subject."""
    latency.steady_enqueue_each(clock, samples[:1], calls, queue, end, message)
    enter(queue, samples[1:])


def waits_each(
    clock: Clock, samples: Samples, calls: int, queue: Any, now: float, between: Callable[[Any], None]
) -> None:
    """Time as a cycle is timed, then enter the accounts of the subject."""
    latency.cycle_each(clock, samples[:2], calls, queue, now, between)
    enter(queue, samples[2:])


def enter(queue: Any, samples: tuple[array[int], ...]) -> None:
    """Copy the accounts of a subject into arrays of samples; the null subject has none, its stay at 0."""
    for place, account in zip(samples, getattr(queue, "accounts", ()), strict=False):
        place[:] = account


CALLS = {"calls": "timed calls"}
MESSAGES = {"messages": "messages queued, one after the other"}
LEFT = {"left": "messages left"}

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "spin",
            "call what burns a known span in every call",
            CALLS,
            operations=("enqueue", "burned", "idle", "nothing", "clock", "before"),
            steady=True,
            setup=spin,
            null=lambda params: (NullQueue(1), 0, PAYLOAD),
            loop=spin_each,
        ),
        Workload(
            "seldom",
            "call what burns a known span in known calls",
            CALLS,
            operations=("enqueue",),
            setup=seldom,
            null=null_enqueue,
            loop=latency.enqueue_each,
        ),
        Workload(
            "waits",
            "call what keeps account of something else than burning",
            CALLS,
            operations=("take", "requeue", "account"),
            setup=waits,
            null=lambda params: (NullQueue(1), 0.0, len),
            loop=waits_each,
        ),
        Workload("resident", "fill what holds known sizes", MESSAGES, hold=memory.resident),
        Workload("drained", "fill and drain what leaks, or not", {**MESSAGES, **LEFT}, hold=memory.drained),
    )
}
"""name -> Workload; `runners.workloads.find` knows them as the family "truth"."""
