"""The part of the suites that measures tickers, rate limiters and cooperative sleep, most of it in real time.

What it takes is mostly what it waits for, so the sizes are the smallest that give every percentile that is shown.
"""

from __future__ import annotations

from runners.parts import Part

BLOCKING_TICKERS = ("bare-sleep", "channel", "arithmetic", "naive-sleep")
AWAITED_TICKERS = ("bare-asyncio-sleep", "channel-asyncio", "arithmetic-asyncio", "call-later")
"""Each begins with the yardstick of its form."""

BLOCKING, AWAITED = ("semaphore", "arithmetic"), ("semaphore-asyncio", "arithmetic-asyncio")
AWAITED_PEERS = ("aiolimiter", "pyrate-limiter", "pyrate-gcra")
OTHERS = ("limits-fixed", "limits-moving", "limits-sliding")
CROWDS = ("green", "threads", "asyncio")

FINE_US, COARSE_US = 400, 2_000
"""Intervals: asyncio rounds each wait up to a millisecond, so that its tickers would miss every other finer tick."""

TICKS = 3_700
"""Enough for a p99.9."""

LATE_TICKS = 1_000
"""Of a consumer that is slower than the ticker: every tick is late, so the tail is not looked at."""

FEW_TICKS = 400
"""Of the coarse interval, where as many as TICKS would take most of the time of the suite: enough for a p99."""

CALLS = 5_000
WAITERS = {"waiters": 1_000, "each": 4, "rate": 2_000, "burst": 100}
MANY_GRANTS = {**WAITERS, "each": 10}
PLAN = {"workers": 10_000, "ticks": 3, "interval_us": 500_000, "rate": 20_000, "burst": 100}


def _ticks(ticks: int, work_percent: int, interval_us: int = FINE_US) -> dict[str, int]:
    return {"ticks": ticks, "interval_us": interval_us, "work_percent": work_percent}


def _tries(calls: int) -> list[dict[str, int | str]]:
    return [{"answer": answer, "calls": calls} for answer in ("granted", "refused")]


def _tickers(coarse_ticks: int) -> tuple[Part, Part]:
    """The tickers, those of asyncio on the coarse grid with so many ticks."""
    fine = [_ticks(TICKS, 0), _ticks(TICKS, 20), _ticks(LATE_TICKS, 120)]
    late = min(LATE_TICKS, coarse_ticks)
    coarse = [_ticks(coarse_ticks, 0, COARSE_US), _ticks(coarse_ticks, 20, COARSE_US), _ticks(late, 120, COARSE_US)]
    return (
        Part("ticker", BLOCKING_TICKERS, lateness={"ticks": fine}),
        Part("ticker", AWAITED_TICKERS, lateness={"ticks": coarse}),
    )


CALLING = (
    Part("limiter", (*BLOCKING, *AWAITED, *AWAITED_PEERS, *OTHERS), latency={"try-acquire": _tries(CALLS)}),
    Part("limiter", BLOCKING, latency={"acquire": [{"calls": CALLS}]}),
    Part("limiter", (*AWAITED, *AWAITED_PEERS), latency={"acquire-awaited": [{"calls": CALLS}]}),
)


def _waiting(params: dict[str, int]) -> Part:
    return Part("limiter", (*BLOCKING, *AWAITED, *AWAITED_PEERS), throughput={"waiters": [params]})


FEWER = {**PLAN, "workers": 2_000}
"""As many as threads of the system stand beside each other within seconds; 10,000 of them take most of a minute."""

SIDE_BY_SIDE = Part("cooperative", CROWDS, throughput={"plan": [FEWER]})
MANY = Part("cooperative", ("green", "asyncio"), throughput={"plan": [PLAN]})
MANY_THREADS = Part("cooperative", ("threads",), throughput={"plan": [PLAN]})

PARTS = (*_tickers(FEW_TICKS), *CALLING, _waiting(WAITERS), SIDE_BY_SIDE, MANY)
"""What the suite `pacing` measures."""

FULL = (*_tickers(TICKS), *CALLING, _waiting(MANY_GRANTS), SIDE_BY_SIDE, MANY, MANY_THREADS)
"""The same with a p99.9 for every ticker, with more grants, and with as many threads as there are green ones."""

QUICK = (
    Part("ticker", ("bare-sleep", "arithmetic", "naive-sleep"), lateness={"ticks": [_ticks(400, 20)]}),
    Part("limiter", ("arithmetic", "aiolimiter"), latency={"try-acquire": _tries(1_000)[:1]}),
)
"""A taste of it, in three seconds."""
