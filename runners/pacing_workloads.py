"""What is done to tickers, rate limiters and crowds of workers, in real time but for the calls where nobody waits."""

from __future__ import annotations

from runners import pacing_calls, pacing_cooperative, pacing_limiter, pacing_ticker
from runners.workload import Workload

CALLS = "timed calls"
INTERVAL = "microseconds between two ticks"

TICKER = (
    Workload(
        "ticks",
        "take ticks in real time and work a part of each interval: how far from its instant does each come",
        {"ticks": "ticks taken", "interval_us": INTERVAL, "work_percent": "part of the interval that is worked"},
        needs=("wait_next", "close"),
        operations=("phase",),
        may_be_zero=("work_percent",),
        real={"lateness": pacing_ticker.ticks},
    ),
)

LIMITER = (
    Workload(
        "try-acquire",
        "ask for a permit of a limiter that always has one, or never",
        {"answer": "what every try gets", "calls": CALLS},
        needs=("try_acquire",),
        operations=("try_acquire",),
        steady=True,
        choices={"answer": pacing_calls.ANSWERS},
        setup=pacing_calls.trying,
        null=pacing_calls.null_calling,
        loop=pacing_calls.call_each,
    ),
    Workload(
        "acquire",
        "take a permit that is there, with the call that would wait",
        {"calls": CALLS},
        needs=("acquire",),
        operations=("acquire",),
        steady=True,
        setup=pacing_calls.acquiring,
        null=pacing_calls.null_calling,
        loop=pacing_calls.call_each,
    ),
    Workload(
        "acquire-awaited",
        "await a permit that is there",
        {"calls": CALLS},
        needs=("acquire",),
        operations=("acquire",),
        steady=True,
        setup=pacing_calls.awaiting,
        null=pacing_calls.null_awaiting,
        loop=pacing_calls.await_each,
    ),
    Workload(
        "waiters",
        "let many wait for permits: the rate reached, the bound, lateness, order, wake-ups",
        {
            "waiters": "threads or tasks that wait",
            "each": "permits that each takes, one after the other",
            "rate": "permits a second",
            "burst": "permits at once",
        },
        needs=("acquire",),
        operations=("late",),
        real={"throughput": pacing_limiter.waiters},
    ),
)

COOPERATIVE = (
    Workload(
        "plan",
        "run one plan of sleeps in many workers: wall time, lateness of every wake-up, memory of a worker",
        {
            "workers": "workers at once",
            "ticks": "ticks of each one's own ticker",
            "interval_us": INTERVAL,
            "rate": "permits a second that all share",
            "burst": "permits at once",
        },
        needs=("run",),
        operations=("late",),
        real={"throughput": pacing_cooperative.plan},
    ),
)

WORKLOADS: dict[str, dict[str, Workload]] = {
    "ticker": {workload.name: workload for workload in TICKER},
    "limiter": {workload.name: workload for workload in LIMITER},
    "cooperative": {workload.name: workload for workload in COOPERATIVE},
}
"""family -> name -> Workload; runners/suite_pacing.py says at which sizes."""
