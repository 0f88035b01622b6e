"""Measures one ticker in real time: how far from the grid each tick comes, and what it costs.

Each form of consumer is one loop: take a tick, note the time, work. Work is the processor kept busy for a part of the
interval; its time is taken off the cost of a tick.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from array import array
from fractions import Fraction

from runners.pacing_clocks import SECOND_NS, busy_until, nanoseconds
from runners.realtime import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ON_GRID = Fraction(1, 10**6)
"""Seconds off the grid up to which a tick stands on it: what rounding makes of an instant is far less."""


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


def ticks(kind: Any, params: dict[str, int], seed: int) -> Found:
    """Take so many ticks of a ticker, working a part of each interval."""
    interval, count = params["interval_us"] / 1_000_000, params["ticks"]
    work = params["work_percent"] / 100 * interval
    notes = Notes(count)
    cpu_ns = time.process_time_ns()
    awaited = inspect.iscoroutinefunction(kind.wait_next)
    if awaited:
        origin, dropped = asyncio.run(_consume_awaited(kind, interval, count, work, notes))
    else:
        origin, dropped = _consume(kind, interval, count, work, notes)
    cpu_ns = time.process_time_ns() - cpu_ns - notes.worked_ns
    phase, figures = held_against_the_grid(origin, interval, notes)
    figures |= {"dropped_ticks": dropped, "cpu_ns_per_tick": cpu_ns / count}
    return Found({"phase": phase}, figures, {"form": "awaited" if awaited else "blocking"})


def _consume(kind: Any, interval: float, count: int, work: float, notes: Notes) -> tuple[float, int]:
    before = time.monotonic()
    ticker = kind(interval)
    origin = getattr(ticker, "origin", before)
    for place in range(count):
        notes.note(place, ticker.wait_next(), work)
    dropped = getattr(ticker, "dropped", 0)
    ticker.close()
    return origin, dropped


async def _consume_awaited(kind: Any, interval: float, count: int, work: float, notes: Notes) -> tuple[float, int]:
    before = time.monotonic()
    ticker = kind(interval)
    origin = getattr(ticker, "origin", before)
    for place in range(count):
        notes.note(place, await ticker.wait_next(), work)
    dropped = getattr(ticker, "dropped", 0)
    ticker.close()
    return origin, dropped


def held_against_the_grid(origin: float, interval: float, notes: Notes) -> tuple[array[int], dict[str, float]]:
    """Return the phase error of each tick in ns, the drift over the run, and how exactly the ticks stand on the grid.

    Phase error: how long after the instant that a tick stands for it came; a subject without a grid of its own is held
    against the one that it began with. Drift: how far the last tick is behind that grid, the first one set off.
    """
    came, meant = notes.came, notes.meant
    place_of = [round((tick - origin) / interval) for tick in meant]
    off = [_off(origin, interval, k, tick) for k, tick in zip(place_of, meant, strict=True)]
    if max(map(abs, off)) < ON_GRID:
        phase = [nanoseconds(now - tick) for now, tick in zip(came, meant, strict=True)]
        drift_ns = float((off[-1] - off[0]) * SECOND_NS)
    else:
        phase = [nanoseconds(now - (origin + k * interval)) for k, now in enumerate(came, 1)]
        drift_ns = float(phase[-1] - phase[0])
    return array("q", phase), {
        "drift_ns": drift_ns,
        "off_grid_ns": float(max(map(abs, off)) * SECOND_NS),
        "span_ns": nanoseconds(came[-1] - origin),
    }


def _off(origin: float, interval: float, k: int, tick: float) -> Fraction:
    return Fraction(tick) - Fraction(origin) - k * Fraction(interval)
