"""Holds the SQLite queue against what it is to reach: messages a second, and the barest read of the same rows.

    python -m runners.durable_yardsticks

Everything is on the wall clock: medians over rounds in one process, of which the two sides of a ratio alternate.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from queues.timer.sqlite import SQLite, SQLiteFull
from runners.rigs import PAYLOAD, ordered
from runners.spawn import pinned_processor

DUE = 10_000
SELECT = """SELECT low, line FROM timer_message WHERE queue = 1 AND (low, rest) <= (?, x'')
    ORDER BY low, rest, position"""


@contextmanager
def opened(kind: type[SQLite] = SQLite) -> Iterator[tuple[SQLite, sqlite3.Connection]]:
    """Yield a queue in a new file, and a connection of its own to that file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queue.db"
        with kind(database=path) as queue, closing(sqlite3.connect(path, isolation_level=None)) as bare:
            yield queue, bare


def a_second(kind: type[SQLite], messages: int, rounds: int) -> float:
    """Messages queued in a second by calls of enqueue_many with `messages` each, on a queue that grows by them."""
    taken_ns = []
    with opened(kind) as (queue, _):
        for number in range(rounds):
            items = [(start, PAYLOAD) for start in ordered(number * messages, messages)]
            t0 = perf_counter_ns()
            queue.enqueue_many(items)
            taken_ns.append(perf_counter_ns() - t0)
        assert len(queue) == rounds * messages
    return messages * 1e9 / median(taken_ns)


def one_by_one(kind: type[SQLite], messages: int) -> float:
    """Messages queued in a second, each in a transaction of its own."""
    with opened(kind) as (queue, _):
        t0 = perf_counter_ns()
        for start in ordered(0, messages):
            queue.enqueue(start, PAYLOAD)
        taken_ns = perf_counter_ns() - t0
        assert len(queue) == messages
    return messages * 1e9 / taken_ns


def take_and_select(queued: int, rounds: int) -> tuple[float, float]:
    """ns of a take of DUE messages with `queued` behind them, and of a SELECT of the same rows, each a median."""
    takes, selects = [], []
    with opened() as (queue, bare):
        queue.enqueue_many([(start, PAYLOAD) for start in ordered(0, DUE + queued)])
        for _ in range(rounds):
            rows: list[Any] | None
            t0 = perf_counter_ns()
            rows = bare.execute(SELECT, (DUE - 1.0,)).fetchall()
            selects.append(perf_counter_ns() - t0)
            assert len(rows) == DUE
            rows = None
            t0 = perf_counter_ns()
            batch = queue.take(DUE - 1.0)
            takes.append(perf_counter_ns() - t0)
            assert batch is not None
            assert len(batch) == DUE
            queue.requeue(batch)
            batch = None
    return float(median(takes)), float(median(selects))


def main() -> None:
    """Print every figure; about half a minute."""
    processor = pinned_processor()
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    gc.collect()
    gc.freeze()
    with opened() as (queue, _):
        settings = ", ".join(f"{name} {text}" for name, text in queue.facts.items())
    print(f"{sys.implementation.name} {sys.version.split()[0]}, {settings}", flush=True)
    for messages, rounds in ((1_000, 60), (10_000, 15), (100_000, 3)):
        print(f"enqueue_many of {messages:,}: {a_second(SQLite, messages, rounds):,.0f} messages a second", flush=True)
    for name, kind in (("NORMAL", SQLite), ("FULL", SQLiteFull)):
        print(f"enqueue one by one, synchronous={name}: {one_by_one(kind, 2_000):,.0f} messages a second", flush=True)
    for queued in (0, 100_000):
        take, select = take_and_select(queued, 25)
        print(
            f"take of {DUE:,} before {queued:,} / SELECT of the same rows: {take / 1e6:.1f} / {select / 1e6:.1f} ms = "
            f"{take / select:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    ArgumentParser("python -m runners.durable_yardsticks", description=main.__doc__).parse_args()
    main()
