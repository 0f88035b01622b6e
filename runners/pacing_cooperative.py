"""Runs one fixed plan in many workers: green threads, threads, or tasks; and looks what a worker costs.

The plan of a worker: some ticks of a ticker of its own, one permit of a limiter that all share, and one call of the
standard library that sleeps (`sched.scheduler.run`). In threads and in green threads it is the same blocking code,
unchanged; for tasks it had to be written again, and what the standard library would do in `sched` stands there as
asyncio.sleep.
"""

from __future__ import annotations

import asyncio
import sched
import time
from array import array

from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.limiter_arithmetic_asyncio import ArithmeticAsyncioLimiter
from queues.pacing.ticker_arithmetic import ArithmeticTicker
from queues.pacing.ticker_arithmetic_asyncio import ArithmeticAsyncioTicker
from runners.counters import peak_bytes, resident_bytes
from runners.latency import CheckFailed
from runners.pacing_clocks import busy_until, nanoseconds
from runners.realtime import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Parameters: TypeAlias = dict[str, int]

BURNED_S, SLEPT_S = 0.2, 0.02


class Plan:
    """The plan of all workers, and when each of its waits ended: (came - due) in seconds."""

    def __init__(self, params: Parameters, limiter: Any) -> None:
        self.interval = params["interval_us"] / 1_000_000
        self.ticks = params["ticks"]
        self.limiter = limiter
        self.late: list[float] = []
        self.alive = self.most_alive = self.done = 0

    def began(self) -> None:
        """Count a worker that begins; in threads no other one comes between, because nothing here is called."""
        self.alive += 1
        if self.alive > self.most_alive:
            self.most_alive = self.alive

    def ended(self) -> None:
        """Count one that comes to its end."""
        self.alive -= 1
        self.done += 1

    def blocking(self) -> None:
        """The plan as blocking code: nothing in it knows of green threads."""
        self.began()
        with ArithmeticTicker(self.interval) as ticker:
            for _ in range(self.ticks):
                due = ticker.wait_next()
                self.late.append(time.monotonic() - due)
        self.limiter.acquire()
        due = time.monotonic() + self.interval
        scheduler = sched.scheduler(time.monotonic, time.sleep)
        scheduler.enterabs(due, 0, lambda: self.late.append(time.monotonic() - due))
        scheduler.run()
        self.ended()

    async def awaited(self) -> None:
        """The plan written for asyncio."""
        self.began()
        async with ArithmeticAsyncioTicker(self.interval) as ticker:
            for _ in range(self.ticks):
                due = await ticker.wait_next()
                self.late.append(time.monotonic() - due)
        await self.limiter.acquire()
        due = time.monotonic() + self.interval
        await asyncio.sleep(self.interval)
        self.late.append(time.monotonic() - due)
        self.ended()


def plan(kind: Any, params: Parameters, seed: int) -> Found:
    """Run the plan in so many workers of a crowd."""
    crowd = kind()
    limiter = (ArithmeticAsyncioLimiter if crowd.awaited else ArithmeticLimiter)(params["rate"], params["burst"])
    made, workers = Plan(params, limiter), params["workers"]
    before = resident_bytes()
    start = time.monotonic()
    crowd.run(made.awaited if crowd.awaited else made.blocking, workers)
    span = time.monotonic() - start
    peak = peak_bytes()
    if made.done != workers:
        raise CheckFailed(f"{made.done} of {workers} workers came to the end")
    least = (params["ticks"] + 1) * made.interval + max(0, workers - params["burst"]) / params["rate"]
    figures: dict[str, float] = {"wall_ns": nanoseconds(span), "plan_ns": nanoseconds(least)}
    figures["most_at_once_workers"] = made.most_alive
    if before is not None and peak is not None:
        figures["bytes_per_worker"] = (peak - before) / made.most_alive
    if not crowd.awaited:
        figures["slept_after_work_ns"] = _slept_after_burning(crowd)
    facts = {"code": "written for asyncio" if crowd.awaited else "blocking, unchanged"}
    if crowd.bound:
        facts["bound_early"] = ", ".join(crowd.bound)
    return Found({"late": array("q", map(nanoseconds, made.late))}, figures, facts)


def _slept_after_burning(crowd: Any) -> int:
    """Return how long a sleep takes that follows work: not less than asked for, though a loop saw no time."""
    spans: list[float] = []

    def sleep() -> None:
        busy_until(time.monotonic() + BURNED_S)
        t0 = time.monotonic()
        time.sleep(SLEPT_S)
        spans.append(time.monotonic() - t0)

    crowd.run(sleep, 1)
    (slept,) = spans
    if slept < SLEPT_S:
        raise CheckFailed(f"a sleep of {SLEPT_S} s after work took {slept:.6f} s")
    return nanoseconds(slept)
