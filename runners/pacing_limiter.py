"""Measures one rate limiter in real time: every call where nobody waits, and many that wait.

Worker side: the standard library and `queues` only.
"""

from __future__ import annotations

import asyncio
import inspect
import resource
import threading
import time
from collections import Counter
from itertools import pairwise

from queues.pacing.model import worst_excess
from queues.pacing.waiting import LockAlarm
from queues.registry import load
from runners.pacing_clocks import CheckFailed, Counted, nanoseconds, timed_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AMPLE, SCARCE = (1, 1_000_000), (1 / 3600, 1)
"""(rate, burst) of which every call of a case is granted, or refused."""


def measure_calls(case: dict[str, Any]) -> dict[str, Any]:
    """Time every call of the case's `operation`: granted, refused, or acquire; params: calls."""
    kind = load("limiter", case["subject"])

    async def within() -> dict[str, Any]:
        return _calls(kind, case["operation"], case["calls"])

    awaited = inspect.iscoroutinefunction(getattr(kind, "acquire", None))
    if not awaited:
        return _calls(kind, case["operation"], case["calls"])
    return asyncio.run(_awaited_calls(kind, case["calls"]) if case["operation"] == "acquire" else within())


def _calls(kind: Any, operation: str, calls: int) -> dict[str, Any]:
    rate, burst = SCARCE if operation == "refused" else AMPLE
    limiter = kind(rate, burst)
    if operation == "refused" and not limiter.try_acquire():
        raise CheckFailed("a full bucket refused the first permit")
    call = limiter.acquire if operation == "acquire" else limiter.try_acquire
    if operation != "acquire" and call() != (operation == "granted"):
        raise CheckFailed(f"a call that should be {operation} was not")
    samples, null = timed_calls(call, calls)
    if operation != "acquire" and call() != (operation == "granted"):
        raise CheckFailed(f"the calls stopped being {operation}")
    return {"call_ns": samples.tolist(), "null_ns": null.tolist()}


async def _awaited_calls(kind: Any, calls: int) -> dict[str, Any]:
    """Time `await acquire()` with permits there; the null call is the await of a coroutine that does nothing."""

    async def nothing() -> None:
        return None

    limiter = kind(*AMPLE)
    clock = time.thread_time_ns
    found: list[list[int]] = []
    for function in (nothing, limiter.acquire):
        samples = [0] * calls
        for place in range(calls):
            t0 = clock()
            await function()
            t1 = clock()
            samples[place] = t1 - t0
        found.append(samples)
    return {"call_ns": found[1], "null_ns": found[0]}


def measure_waiters(case: dict[str, Any]) -> dict[str, Any]:
    """Let many wait for permits; params: waiters, each (permits a waiter takes), rate, burst."""
    kind = load("limiter", case["subject"])
    if inspect.iscoroutinefunction(kind.acquire):
        return asyncio.run(_tasks(kind, case))
    return _threads(kind, case)


def _threads(kind: Any, case: dict[str, Any]) -> dict[str, Any]:
    threading.stack_size(256 << 10)
    waiters, each = case["waiters"], case["each"]
    came: list[tuple[float, int]] = []
    ready, go = threading.Semaphore(0), threading.Event()

    def take(number: int) -> None:
        ready.release()
        go.wait()
        for _ in range(each):
            limiter.acquire()
            came.append((time.monotonic(), number))

    threads = [threading.Thread(target=take, args=(number,)) for number in range(waiters)]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    woken = _count_alarms()
    limiter = kind(case["rate"], case["burst"])
    go.set()
    for thread in threads:
        thread.join()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - switches
    _close(limiter)
    figures = grants(came, case)
    return {**figures, "wakes_per_grant": len(woken) / len(came), "switches_per_grant": switches / len(came)}


def _count_alarms() -> list[None]:
    """Let every alarm of the blocking designs leave a mark when a wait of it ends; return the list of marks."""
    woken: list[None] = []
    wait = LockAlarm.wait

    def marked(alarm: LockAlarm, span: Any) -> None:
        wait(alarm, span)
        woken.append(None)

    setattr(LockAlarm, "wait", marked)  # noqa: B010 - a method is exchanged
    return woken


async def _tasks(kind: Any, case: dict[str, Any]) -> dict[str, Any]:
    came: list[tuple[float, int]] = []
    limiter = kind(case["rate"], case["burst"])
    steps = 0

    async def take(number: int) -> None:
        nonlocal steps
        for _ in range(case["each"]):
            acquiring = Counted(limiter.acquire())
            await acquiring
            came.append((time.monotonic(), number))
            steps += acquiring.steps

    await asyncio.gather(*(take(number) for number in range(case["waiters"])))
    _close(limiter)
    return {**grants(came, case), "wakes_per_grant": steps / len(came)}


def _close(limiter: Any) -> None:
    if hasattr(limiter, "close"):
        limiter.close()


def grants(came: list[tuple[float, int]], case: dict[str, Any]) -> dict[str, Any]:
    """Return the rate reached, the lateness of each grant, and how even and orderly it went, after the first round.

    The first round, in which the burst is used up and all waiters arrive at once, is left out but for the bound, which
    is held against every span. Late: against the line of the rate through the grant that came earliest for its number.
    Each waiter takes its turn in the order of the round before; what stands out of it is counted.
    """
    rate, waiters = case["rate"], case["waiters"]
    came.sort()
    steady = came[waiters:]
    span = steady[-1][0] - steady[0][0]
    placed = [now - number / rate for number, (now, _) in enumerate(steady)]
    line = min(placed)
    order = {waiter: place for place, (_, waiter) in enumerate(came[:waiters])}
    turns = [order.get(waiter, 0) for _, waiter in steady]
    found = worst_excess([(now, 1) for now, _ in came], rate, case["burst"])
    taken = Counter(waiter for _, waiter in steady)
    return {
        "late_ns": [nanoseconds(instant - line) for instant in placed],
        "rate_reached": (len(steady) - 1) / span,
        "of_rate": (len(steady) - 1) / span / rate,
        "over_bound": float(found[0]) if found else 0.0,
        "out_of_order": sum(_before(following, one, waiters) for one, following in pairwise(turns)),
        "fewest": min(taken.values()),
        "most": max(taken.values()),
        "grants": len(came),
    }


def _before(following: int, one: int, waiters: int) -> bool:
    """Whether `following` should have come before `one`, of waiters that take turns in a circle."""
    return 0 < (one - following) % waiters < waiters // 2
