"""Measures one rate limiter with many that wait, in real time: the rate reached, the bound, order, lateness, wakes."""

from __future__ import annotations

import asyncio
import inspect
import resource
import threading
import time
from array import array
from collections import Counter
from itertools import pairwise

from queues.pacing.waiting import LockAlarm
from runners.latency import CheckFailed
from runners.pacing_clocks import Counted, nanoseconds
from runners.realtime import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Parameters: TypeAlias = dict[str, int]

STACK_BYTES = 256 << 10
"""Of a thread: a thousand of the usual size would not fit everywhere."""


def waiters(kind: Any, params: Parameters, seed: int) -> Found:
    """Let many wait for permits: threads, or tasks where it is awaited."""
    if inspect.iscoroutinefunction(kind.acquire):
        return asyncio.run(_tasks(kind, params))
    return _threads(kind, params)


def _threads(kind: Any, params: Parameters) -> Found:
    threading.stack_size(STACK_BYTES)
    each = params["each"]
    came: list[tuple[float, int]] = []
    ready, go = threading.Semaphore(0), threading.Event()

    def take(number: int) -> None:
        ready.release()
        go.wait()
        for _ in range(each):
            limiter.acquire()
            came.append((time.monotonic(), number))

    threads = [threading.Thread(target=take, args=(number,)) for number in range(params["waiters"])]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    woken = _count_alarms()
    made = time.monotonic()
    limiter = kind(params["rate"], params["burst"])
    go.set()
    for thread in threads:
        thread.join()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - switches
    _close(limiter)
    counted = {"switches_per_grant": switches / len(came)}
    if woken:  # a limiter of others waits in its own way
        counted["wakes_per_grant"] = len(woken) / len(came)
    return grants(made, came, params, counted)


def _count_alarms() -> list[None]:
    """Let every alarm of the blocking designs leave a mark when a wait of it ends; return the list of marks."""
    woken: list[None] = []
    wait = LockAlarm.wait

    def marked(alarm: LockAlarm, span: Any) -> None:
        wait(alarm, span)
        woken.append(None)

    setattr(LockAlarm, "wait", marked)  # noqa: B010 - a method is exchanged
    return woken


async def _tasks(kind: Any, params: Parameters) -> Found:
    came: list[tuple[float, int]] = []
    made = time.monotonic()
    limiter = kind(params["rate"], params["burst"])
    steps = 0

    async def take(number: int) -> None:
        nonlocal steps
        for _ in range(params["each"]):
            acquiring = Counted(limiter.acquire())
            await acquiring
            came.append((time.monotonic(), number))
            steps += acquiring.steps

    await asyncio.gather(*(take(number) for number in range(params["waiters"])))
    _close(limiter)
    return grants(made, came, params, {"wakes_per_grant": steps / len(came)})


def _close(limiter: Any) -> None:
    if hasattr(limiter, "close"):
        limiter.close()


def grants(made: float, came: list[tuple[float, int]], params: Parameters, counted: dict[str, float]) -> Found:
    """Return the lateness of each grant, the rate reached, and how even and orderly it went, after the first round.

    The bound is held against every span that begins when the limiter was made: what its waiters have seen by then was
    granted by then. A span that begins later would not do: of two grants that are seen at once, late, one may be old.
    The first round, in which the burst is used up and all waiters arrive at once, is left out of all else. Late:
    against the line of the rate through the grant that came earliest for its number.
    Each waiter takes its turn in the order of the round before; what stands out of it is counted.
    """
    rate, many = params["rate"], params["waiters"]
    if len(came) != many * params["each"]:
        raise CheckFailed(f"{len(came)} permits were granted: expected {many * params['each']}")
    came.sort()
    steady = came[many:]
    reached = (len(steady) - 1) / (steady[-1][0] - steady[0][0])
    placed = [now - number / rate for number, (now, _) in enumerate(steady)]
    line = min(placed)
    order = {waiter: place for place, (_, waiter) in enumerate(came[:many])}
    turns = [order.get(waiter, 0) for _, waiter in steady]
    allowed = (params["burst"] + rate * (now - made) for now, _ in came)
    over = max(seen - most for seen, most in enumerate(allowed, 1))
    taken = Counter(waiter for _, waiter in steady)
    figures = {
        "grants": len(came),
        "reached_per_second": reached,
        "of_rate_ratio": reached / rate,
        "over_bound_permits": max(0.0, over),
        "out_of_order_grants": sum(_before(following, one, many) for one, following in pairwise(turns)),
        "fewest_grants": min(taken.values()),
        "most_grants": max(taken.values()),
    }
    return Found({"late": array("q", [nanoseconds(instant - line) for instant in placed])}, {**figures, **counted})


def _before(following: int, one: int, waiters: int) -> bool:
    """Whether `following` should have come before `one`, of waiters that take turns in a circle."""
    return 0 < (one - following) % waiters < waiters // 2
