"""Which cases of tickers, limiters and cooperative sleep are measured, in full or less; each in a fresh process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queues.registry import PEERS, SUBJECTS, load
from runners.pacing_ticker import YARDSTICKS
from runners.promises import search_path
from runners.spawn import BARE as BARE_INTERPRETER
from runners.spawn import worker_environment

WORKER = Path(__file__).resolve().parent / "pacing_worker.py"
PARTS = ("ticker", "calls", "waiters", "cooperative")
WORKS = (0.0, 0.2, 1.2)
"""Parts of the interval that the consumer works."""
MODES = ("green", "threads", "asyncio")
OPERATIONS = ("granted", "refused", "acquire")

Case = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """How much is measured; spans in seconds."""

    ticks: int
    interval: float
    calls: int
    waiters: int
    each: int
    rate: int
    burst: int
    workers: int
    worker_interval: float
    worker_rate: int
    seconds: float
    """The time limit of one case."""


FULL = Size(
    ticks=4000,
    interval=0.002,
    calls=20_000,
    waiters=1000,
    each=10,
    rate=2000,
    burst=100,
    workers=10_000,
    worker_interval=0.5,
    worker_rate=20_000,
    seconds=180.0,
)
QUICK = Size(
    ticks=400,
    interval=0.001,
    calls=1000,
    waiters=200,
    each=3,
    rate=2000,
    burst=50,
    workers=500,
    worker_interval=0.05,
    worker_rate=20_000,
    seconds=60.0,
)


def cases(size: Size, parts: tuple[str, ...] = PARTS, subjects: tuple[str, ...] = ()) -> list[Case]:
    """Return the cases of the chosen parts, in the order in which they are carried out; `subjects`: only these."""
    found = [case for part in parts for case in _CASES[part](size)]
    return [case for case in found if not subjects or case["subject"] in subjects]


def _ticker_cases(size: Size) -> Iterator[Case]:
    for work in WORKS:
        for subject in (*YARDSTICKS, *SUBJECTS["ticker"], *PEERS["ticker"]):
            yield {
                "kind": "ticker",
                "subject": subject,
                "work": work,
                "interval": size.interval,
                "ticks": size.ticks,
            }


def _call_cases(size: Size) -> Iterator[Case]:
    for operation in OPERATIONS:
        for subject in (*SUBJECTS["limiter"], *PEERS["limiter"]):
            if operation != "acquire" or hasattr(load("limiter", subject), "acquire"):
                yield {"kind": "calls", "subject": subject, "operation": operation, "calls": size.calls}


def _waiter_cases(size: Size) -> Iterator[Case]:
    for subject in (*SUBJECTS["limiter"], *PEERS["limiter"]):
        if hasattr(load("limiter", subject), "acquire"):
            yield {
                "kind": "waiters",
                "subject": subject,
                "waiters": size.waiters,
                "each": size.each,
                "rate": size.rate,
                "burst": size.burst,
            }


def _cooperative_cases(size: Size) -> Iterator[Case]:
    for subject in MODES:
        yield {
            "kind": "cooperative",
            "subject": subject,
            "workers": size.workers,
            "ticks": 3,
            "interval": size.worker_interval,
            "rate": size.worker_rate,
            "burst": 100,
        }


_CASES = {"ticker": _ticker_cases, "calls": _call_cases, "waiters": _waiter_cases, "cooperative": _cooperative_cases}


def measured(case: Case, seconds: float) -> dict[str, Any]:
    """Measure one case in a process of its own and return the case with its result; `status` says what became of it.

    Never raises for what the subject does: one that hangs is stopped after `seconds`, one that dies is told.
    """
    command = [sys.executable, *BARE_INTERPRETER, str(WORKER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=worker_environment(hash_seed=1), process_group=0, text=True
    ) as process:
        try:
            said, error = process.communicate(json.dumps({**case, "path": list(search_path())}), timeout=seconds)
        except subprocess.TimeoutExpired:
            return {**case, "status": "timeout", "message": f"did not end within {seconds:g} s"}
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    try:
        return {**case, **json.loads(said)}
    except ValueError:
        last = next((line for line in reversed(error.splitlines()) if line.strip()), f"exit code {process.returncode}")
        return {**case, "status": "crashed", "message": last}
