"""What is done to a queue: named and seeded, the k-th call the same in every process and on every interpreter.

WORKLOADS and ELSEWHERE are the table of contents, family by family. Adding a workload is one entry in it: a set-up of
runners/rigs.py (or of another family's rigs) and a loop of runners/latency.py, new ones only if none of those there
serves.
"""

from __future__ import annotations

from queues.registry import load_target
from runners import batched, blocks, latency, level, lifecycle, memory, rigs
from runners.null import NullQueue
from runners.workload import Workload

MESSAGES = "messages queued, one after the other"
CALLS = "timed calls"
DUE = "messages due at every take"
QUEUED = "messages queued behind those due"

TAKE_AND_REQUEUE = ("enqueue", "take", "requeue", "__len__")


TIMER = (
    Workload(
        "null-loop",
        "call the null subject: what the instrument itself costs",
        {"calls": CALLS},
        operations=("null",),
        steady=True,
        setup=rigs.null_loop,
        null=rigs.null_enqueue,
        loop=latency.enqueue_each,
    ),
    Workload(
        "cycle",
        "take what is due and put all of it back",
        {"due": DUE, "queued": QUEUED, "calls": CALLS},
        needs=TAKE_AND_REQUEUE,
        operations=("take", "requeue"),
        may_be_zero=("queued",),
        steady=True,
        setup=rigs.cycle,
        null=rigs.null_cycle,
        loop=latency.cycle_each,
        sampler=batched.CycleSampler,
    ),
    Workload(
        "window-cycle",
        "take what is due, find the window closed already, and put all of it back",
        {"due": DUE, "queued": QUEUED, "calls": CALLS},
        needs=(*TAKE_AND_REQUEUE, "process"),
        operations=("take", "requeue"),
        may_be_zero=("queued",),
        steady=True,
        setup=rigs.window_cycle,
        null=rigs.null_cycle,
        loop=latency.cycle_each,
        sampler=blocks.WindowCycleSampler,
    ),
    Workload(
        "level-cycle",
        "take what is due and put all of it back, after the same with a companion: every size finds the caches alike",
        {"due": DUE, "queued": QUEUED, "calls": CALLS},
        needs=TAKE_AND_REQUEUE,
        operations=("take", "requeue"),
        may_be_zero=("queued",),
        steady=True,
        setup=level.level_cycle,
        null=rigs.null_cycle,
        loop=latency.cycle_each,
    ),
    Workload(
        "requeue-unused",
        "put back what a window left over; as many new messages come at the end as were sent",
        {"due": DUE, "unused": "messages of the batch that are put back", "queued": QUEUED, "calls": CALLS},
        needs=(*TAKE_AND_REQUEUE, "process"),
        operations=("requeue",),
        may_be_zero=("unused", "queued"),
        steady=True,
        setup=rigs.requeue_unused,
        null=lambda params: (NullQueue(1), 1, 1, 1, rigs.PAYLOAD),
        loop=latency.requeue_unused_each,
        sampler=blocks.RequeueUnusedSampler,
    ),
    Workload(
        "reattach",
        "cut a part off the front of a list and hang it in again, without any search",
        {"part": "messages cut off", "queued": "messages in the list", "calls": CALLS},
        needs=("primitives",),
        operations=("detach", "reattach"),
        steady=True,
        setup=rigs.reattach,
        null=rigs.null_reattach,
        loop=latency.reattach_each,
        sampler=batched.ReattachSampler,
    ),
    Workload(
        "growth",
        "queue messages in order, from empty",
        {"messages": MESSAGES},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        calls=lambda params: params["messages"],
        setup=rigs.growth,
        null=rigs.null_enqueue,
        loop=latency.enqueue_each,
    ),
    Workload(
        "steady-enqueue",
        "queue one message in order; the one that is due is taken and dropped",
        {"queued": "messages queued at all times", "calls": CALLS},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        steady=True,
        setup=rigs.steady_enqueue,
        null=lambda params: (NullQueue(1), 0, rigs.PAYLOAD),
        loop=latency.steady_enqueue_each,
        sampler=blocks.SteadyEnqueueSampler,
    ),
    Workload(
        "steady-dispatch",
        "take and process the one message that is due; one comes at the end",
        {"queued": "messages queued at all times", "calls": CALLS},
        needs=("enqueue", "take", "process", "__len__"),
        operations=("take+process",),
        steady=True,
        setup=rigs.steady_enqueue,
        null=lambda params: (NullQueue(0), 0, rigs.PAYLOAD),
        loop=latency.steady_dispatch_each,
        sampler=blocks.SteadyDispatchSampler,
    ),
    Workload(
        "free",
        "drop the last reference to a full queue",
        {"messages": MESSAGES},
        needs=("enqueue", "take", "__len__"),
        operations=("free",),
        calls=lambda params: 1,
        setup=rigs.free,
        null=rigs.null_free,
        loop=latency.free_each,
    ),
    Workload(
        "free-in-batches",
        "take messages in batches of limited size and drop them, until the queue is empty",
        {"messages": MESSAGES, "limit": "most messages in a batch"},
        needs=("enqueue", "take(limit)", "__len__"),
        operations=("free",),
        calls=lambda params: -(-params["messages"] // params["limit"]),
        setup=rigs.free_in_batches,
        null=rigs.null_free_in_batches,
        loop=latency.free_in_batches_each,
    ),
    Workload(
        "enqueue-in-order",
        "queue messages in order, from empty",
        {"messages": MESSAGES},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        sampler=batched.in_order,
    ),
    Workload(
        "enqueue-out-of-order",
        "queue messages in a seeded random order of their starts, from empty",
        {"messages": MESSAGES},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        sampler=batched.out_of_order,
    ),
    Workload(
        "enqueue-at-random",
        "queue messages at seeded random places of a long queue",
        {"queued": "messages queued in order beforehand"},
        needs=("enqueue", "take", "__len__"),
        operations=("enqueue",),
        sampler=blocks.AtRandomSampler,
    ),
    Workload(
        "process",
        "dispatch a whole batch, the clock asked before each message",
        {"messages": "messages in the batch"},
        needs=("enqueue", "take", "process", "__len__"),
        operations=("process",),
        sampler=batched.ProcessSampler,
    ),
    Workload(
        "resident",
        "fill a queue and read the resident memory on the way",
        {"messages": MESSAGES},
        needs=("enqueue", "take", "__len__"),
        hold=memory.resident,
    ),
    Workload(
        "baseline",
        "fill no queue at all: what the interpreter and the workload take themselves",
        {"messages": MESSAGES},
        hold=memory.baseline,
    ),
    Workload(
        "drained",
        "take a burst in, send all but a few, and see what the container keeps",
        {"messages": "messages of the burst", "left": "messages left"},
        needs=("enqueue", "take", "process", "__len__"),
        may_be_zero=("left",),
        hold=memory.drained,
    ),
)

LIVES = tuple(
    Workload(
        f"life-{name}",
        f"enqueue to dispatch, a tenth put back on the way: {sentence}",
        {"messages": "messages that live"},
        needs=(*TAKE_AND_REQUEUE, "process", *(("cancel",) if name == "half-cancelled" else ())),
        operations=("life",),
        sampler=lifecycle.lives(pattern),
    )
    for name, (sentence, pattern) in lifecycle.PATTERNS.items()
)
"""The lifecycle of a message under each pattern of starts."""

WORKLOADS: dict[str, dict[str, Workload]] = {
    "timer": {workload.name: workload for workload in (*TIMER, *LIVES)},
}
"""family -> name -> Workload: what every worker loads."""

ELSEWHERE: dict[str, str] = {
    "advisory": "runners.advisory_workloads",
    "events": "runners.events_workloads",
    "ticker": "runners.pacing_workloads",
    "limiter": "runners.pacing_workloads",
    "cooperative": "runners.pacing_workloads",
}
"""family -> the module whose `WORKLOADS` has it in the same way: what only its own workers load."""

MORE: dict[str, str] = {
    "timer": "runners.durable_workloads",
}
"""family -> a module with more of it, which is looked at when the others do not have the name."""


def families() -> dict[str, dict[str, Workload]]:
    """Return family -> name -> Workload of all that there are; this loads all of them.

    >>> list(families())[:2]
    ['timer', 'advisory']
    """
    return {family: {**_family(family), **_more(family)} for family in (*WORKLOADS, *ELSEWHERE)}


def _family(family: str) -> dict[str, Workload]:
    """Return name -> Workload of a family; KeyError where there is none."""
    if family not in ELSEWHERE:
        return WORKLOADS[family]
    found: dict[str, Workload] = load_target(f"{ELSEWHERE[family]}:WORKLOADS")[family]
    return found


def _more(family: str) -> dict[str, Workload]:
    """Return name -> Workload of what else there is of a family."""
    found: dict[str, Workload] = load_target(f"{MORE[family]}:WORKLOADS")[family] if family in MORE else {}
    return found


def find(family: str, name: str) -> Workload:
    """Return the workload `name` of `family`; LookupError names what there is.

    >>> find("timer", "rush")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    LookupError: no workload 'rush' in family 'timer': there are null-loop, cycle, ...
    """
    try:
        workloads = _truths() if family == "truth" else _family(family)
    except KeyError:
        raise LookupError(f"no family {family!r}: there are {', '.join((*WORKLOADS, *ELSEWHERE))}") from None
    if name not in workloads:
        workloads = {**workloads, **_more(family)}
    try:
        return workloads[name]
    except KeyError:
        raise LookupError(f"no workload {name!r} in family {family!r}: there are {', '.join(workloads)}") from None


def _truths() -> dict[str, Workload]:
    """Return what the instrument is proven on: no other worker pays for it, and no list of workloads shows it."""
    from runners import truths

    return truths.WORKLOADS
