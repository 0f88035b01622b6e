"""Runs one fixed plan in many workers: green threads, threads, or tasks; and looks what a worker costs.

Worker side: the standard library and `queues` only (gevent stands in queues.peers.pacing_gevent). The plan of a worker:
some ticks of a ticker of its own, one permit of a limiter that all share, and one call of the standard library that
sleeps (`sched.scheduler.run`). In threads and in green threads it is the same blocking code, unchanged; for tasks it
had to be written again, and what the standard library would do in `sched` stands there as asyncio.sleep.
"""

from __future__ import annotations

import asyncio
import sched
import threading
import time
from functools import partial

from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.limiter_arithmetic_asyncio import ArithmeticAsyncioLimiter
from queues.pacing.ticker_arithmetic import ArithmeticTicker
from queues.pacing.ticker_arithmetic_asyncio import ArithmeticAsyncioTicker
from runners.counters import peak_bytes, resident_bytes
from runners.pacing_clocks import CheckFailed, busy_until, nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BURNED_S, SLEPT_S = 0.2, 0.02


class Plan:
    """The plan of all workers, and when each of its waits ended: (came - due) in seconds."""

    def __init__(self, case: dict[str, Any], limiter: Any) -> None:
        self.interval: float = case["interval"]
        self.ticks: int = case["ticks"]
        self.limiter = limiter
        self.late: list[float] = []
        self.done = 0

    def blocking(self) -> None:
        """The plan as blocking code: nothing in it knows of green threads."""
        with ArithmeticTicker(self.interval) as ticker:
            for _ in range(self.ticks):
                due = ticker.wait_next()
                self.late.append(time.monotonic() - due)
        self.limiter.acquire()
        due = time.monotonic() + self.interval
        scheduler = sched.scheduler(time.monotonic, time.sleep)
        scheduler.enterabs(due, 0, lambda: self.late.append(time.monotonic() - due))
        scheduler.run()
        self.done += 1

    async def awaited(self) -> None:
        """The plan written for asyncio."""
        async with ArithmeticAsyncioTicker(self.interval) as ticker:
            for _ in range(self.ticks):
                due = await ticker.wait_next()
                self.late.append(time.monotonic() - due)
        await self.limiter.acquire()
        due = time.monotonic() + self.interval
        await asyncio.sleep(self.interval)
        self.late.append(time.monotonic() - due)
        self.done += 1


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Run the plan; params: subject (green, threads, asyncio), workers, ticks, interval (s), rate, burst."""
    run = {"green": _green, "threads": _threads, "asyncio": _tasks}[case["subject"]]
    kind = ArithmeticAsyncioLimiter if case["subject"] == "asyncio" else ArithmeticLimiter
    plan = Plan(case, kind(case["rate"], case["burst"]))
    extra: dict[str, Any] = {}
    if case["subject"] == "green":
        import queues.peers.pacing_gevent  # noqa: F401 - loaded before the memory is read: it is no worker's
    before = resident_bytes() or 0
    start = time.monotonic()
    run(plan, case["workers"], extra)
    span = time.monotonic() - start
    peak = peak_bytes() or 0
    if case["subject"] == "green":
        extra["slept_after_burning_ns"] = _slept_after_burning()
    if plan.done != case["workers"]:
        raise CheckFailed(f"{plan.done} of {case['workers']} workers came to the end")
    return {
        "late_ns": [nanoseconds(late) for late in plan.late],
        "wall_ns": nanoseconds(span),
        "bytes_per_worker": (peak - before) / case["workers"],
        "plan_ns": nanoseconds(
            (case["ticks"] + 1) * case["interval"] + max(0, case["workers"] - case["burst"]) / case["rate"]
        ),
        **extra,
    }


def _green(plan: Plan, workers: int, extra: dict[str, Any]) -> None:
    from queues.peers.pacing_gevent import GreenSleep, run_green

    with GreenSleep() as green:
        extra["bound_early"] = green.bound
        run_green([plan.blocking] * workers)


def _slept_after_burning() -> int:
    """Return how long a green sleep takes that follows work: not less than asked for, though the loop saw no time."""
    from queues.peers.pacing_gevent import GreenSleep, run_green

    def sleep() -> float:
        busy_until(time.monotonic() + BURNED_S)
        t0 = time.monotonic()
        time.sleep(SLEPT_S)
        return time.monotonic() - t0

    with GreenSleep():
        slept: float = run_green([sleep])[0]
    if slept < SLEPT_S:
        raise CheckFailed(f"a sleep of {SLEPT_S} s after work took {slept:.6f} s")
    return nanoseconds(slept)


def _threads(plan: Plan, workers: int, _extra: dict[str, Any]) -> None:
    threading.stack_size(256 << 10)
    threads = [threading.Thread(target=partial(plan.blocking)) for _ in range(workers)]
    for number, thread in enumerate(threads):
        try:
            thread.start()
        except RuntimeError:
            raise CheckFailed(f"this machine starts no more than {number} threads") from None
    for thread in threads:
        thread.join()


def _tasks(plan: Plan, workers: int, _extra: dict[str, Any]) -> None:
    async def main() -> None:
        await asyncio.gather(*(plan.awaited() for _ in range(workers)))

    asyncio.run(main())
