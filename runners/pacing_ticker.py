"""Measures one ticker in real time: how far from the grid each tick comes, and what it costs.

Worker side: the standard library and `queues` only. Each form of consumer is one loop: take a tick, note the time,
work. Work is the processor kept busy for a part of the interval; its time is taken off the cost of a tick.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from array import array
from fractions import Fraction

from queues.registry import load
from runners.pacing_clocks import busy_until, nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BARE, BARE_ASYNCIO = "bare-sleep", "bare-asyncio-sleep"
"""The yardsticks: no ticker, one sleep until the next instant of a grid."""


class BareSleep:
    """One `time.sleep` until the next instant of the grid that is still ahead: as near as a sleep comes."""

    def __init__(self, interval: float) -> None:
        self.origin = time.monotonic()
        self.interval = interval
        self.k = 0
        self.dropped = 0

    def next_instant(self, now: float) -> float:
        """Return the next instant of the grid after `now`."""
        self.k += 1
        while self.origin + self.k * self.interval <= now:
            self.k += 1
            self.dropped += 1
        return self.origin + self.k * self.interval

    def wait_next(self) -> Any:
        """Sleep once and return the instant that was meant."""
        now = time.monotonic()
        instant = self.next_instant(now)
        time.sleep(instant - now)
        return instant

    def close(self) -> None:
        """Nothing is open."""


class BareAsyncioSleep(BareSleep):
    """The same with one asyncio.sleep."""

    async def wait_next(self) -> float:
        """Sleep once and return the instant that was meant."""
        now = time.monotonic()
        instant = self.next_instant(now)
        await asyncio.sleep(instant - now)
        return instant


YARDSTICKS = {BARE: BareSleep, BARE_ASYNCIO: BareAsyncioSleep}


class Notes:
    """What is written down of each tick: when it came and which instant it stands for."""

    def __init__(self, ticks: int) -> None:
        self.came = array("d", bytes(8 * ticks))
        self.meant = array("d", bytes(8 * ticks))
        self.worked_ns = 0

    def note(self, place: int, tick: float, work: float) -> None:
        """Write one down, then work for `work` seconds from now."""
        now = time.monotonic()
        self.came[place] = now
        self.meant[place] = tick
        if work:
            self.worked_ns += busy_until(now + work)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Measure the ticker of the case; params: interval (s), ticks, work (part of the interval)."""
    interval, ticks, work = case["interval"], case["ticks"], case["work"] * case["interval"]
    kind: Any = YARDSTICKS.get(case["subject"]) or load("ticker", case["subject"])
    notes = Notes(ticks)
    cpu_ns = time.process_time_ns()
    if inspect.iscoroutinefunction(kind.wait_next):
        origin, dropped = asyncio.run(_consume_awaited(kind, interval, ticks, work, notes))
    else:
        origin, dropped = _consume(kind, interval, ticks, work, notes)
    cpu_ns = time.process_time_ns() - cpu_ns - notes.worked_ns
    awaited = inspect.iscoroutinefunction(kind.wait_next)
    found = figures(origin, interval, notes)
    return {**found, "dropped": dropped, "cpu_ns_per_tick": cpu_ns / ticks, "awaited": awaited}


def _consume(kind: Any, interval: float, ticks: int, work: float, notes: Notes) -> tuple[float, int]:
    before = time.monotonic()
    ticker = kind(interval)
    origin = getattr(ticker, "origin", before)
    for place in range(ticks):
        notes.note(place, ticker.wait_next(), work)
    dropped = getattr(ticker, "dropped", 0)
    ticker.close()
    return origin, dropped


async def _consume_awaited(kind: Any, interval: float, ticks: int, work: float, notes: Notes) -> tuple[float, int]:
    before = time.monotonic()
    ticker = kind(interval)
    origin = getattr(ticker, "origin", before)
    for place in range(ticks):
        notes.note(place, await ticker.wait_next(), work)
    dropped = getattr(ticker, "dropped", 0)
    ticker.close()
    return origin, dropped


def figures(origin: float, interval: float, notes: Notes) -> dict[str, Any]:
    """Return the phase error of each tick, the drift over the run, and how exactly the ticks stand on the grid.

    Phase error: how long after the instant that a tick stands for it came; a subject without a grid of its own stands
    for the next instant after the one before. Drift: how far the last tick that was not late to begin with is behind
    the grid, counted in ticks that came and were dropped.
    """
    came, meant = notes.came, notes.meant
    place_of = [round((tick - origin) / interval) for tick in meant]
    off_grid = max(abs(_off(origin, interval, k, tick)) for k, tick in zip(place_of, meant, strict=True))
    on_grid = off_grid < Fraction(1, 10**6)
    if on_grid:
        phase = [nanoseconds(now - tick) for now, tick in zip(came, meant, strict=True)]
        drift = 0
    else:
        phase = [nanoseconds(now - (origin + k * interval)) for k, now in enumerate(came, 1)]
        drift = phase[-1] - phase[0]
    return {
        "phase_ns": phase,
        "drift_ns": drift,
        "off_grid_ns": float(off_grid * 10**9),
        "span_ns": nanoseconds(came[-1] - origin),
    }


def _off(origin: float, interval: float, k: int, tick: float) -> Fraction:
    return Fraction(tick) - Fraction(origin) - k * Fraction(interval)
