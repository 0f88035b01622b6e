"""The durable queues as the tests make them: private ones, named ones, and ones in other processes."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from queues.promises.offer import Clock
from queues.registry import DURABLE, ENGINE_OF, load
from runners.servers import Server, started
from tests.engines import need

ROOT = Path(__file__).resolve().parents[2]
DURABLES = tuple(DURABLE["timer"])
ONE_AN_ENGINE = ("sqlite", "postgres", "redis")
LEASE = 100.0
INFINITY = float("inf")


@functools.cache
def relaxed(engine: str) -> Server:
    """Return a server of this test process that does not wait for the disk: no test here cuts the power of it."""
    need(engine)
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(started(engine, durable=False))


def subject(name: str) -> Any:
    """Return the class of a durable queue, its server started if it needs one; skips or fails where there is none."""
    if engine := ENGINE_OF.get(DURABLE["timer"][name]):
        os.environ.update(relaxed(engine).environment())
    return load("timer", name)


def contained(name: str) -> Any:
    """Return the class with the container() that those who test memory structures ask for."""
    base = subject(name)

    def container(self: Any) -> Any:
        yield self

    return type(f"Contained{base.__name__}", (base,), {"container": container})


class Place:
    """Where the queues of one test are: several of them on one name, and processes that open the same."""

    def __init__(self, name: str, folder: Path, label: str) -> None:
        """Prepare for queues of the subject `name`; `label` keeps them apart from those of other tests."""
        self.subject = subject(name)
        self.name = name
        self.label = label
        self.database = folder / "queue.db"
        self.lease_clock = Clock(1000.0)
        self.made: list[Any] = []

    @property
    def where(self) -> dict[str, str]:
        """The settings by which every process finds the queue."""
        database = {"database": str(self.database)} if self.name.startswith("sqlite") else {}
        return {**database, "name": self.label}

    def queue(self, **settings: Any) -> Any:
        """Open the queue once more; leases are counted by a clock of the test."""
        given = {"clock": Clock(0.0), "lease": LEASE, "lease_clock": self.lease_clock, **self.where, **settings}
        self.made.append(self.subject(**given))
        return self.made[-1]

    def process(self, script: str) -> subprocess.Popen[str]:
        """Start an interpreter on `script`, in which `make(**settings)` opens the queue at 1000.0 of its lease."""
        start = (
            "from queues.registry import load\n"
            "import sys\n"
            f"def make(**settings):\n"
            f"    given = dict({self.where!r}, lease={LEASE}, lease_clock=lambda: 1000.0)\n"
            f"    return load('timer', {self.name!r})(**(given | settings))\n"
            "def say(*words):\n"
            "    print(*words, flush=True)\n"
        )
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", start + script], stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=dict(os.environ)
        )

    def close(self) -> None:
        """Empty the queue and close all that were opened."""
        self.lease_clock.now = INFINITY
        while (batch := self.queue().take(INFINITY)) is not None:
            batch.queue.process(batch, lambda *_: None, INFINITY)
        for one in self.made:
            one.close()


def contents(queue: Any) -> list[Any]:
    """Return what is queued, checked."""
    queue.check()
    found = list(queue.contents())
    assert len(queue) == len(found)
    assert queue.next_start == (found[0][0] if found else None)
    return found


def drained(queue: Any, now: Any = INFINITY, limit: int | None = None) -> list[Any]:
    """Take what is due and hand it out."""
    seen: list[Any] = []
    batch = queue.take(now, limit)
    if batch is not None:
        assert queue.process(batch, lambda *message: seen.append(message), INFINITY) == len(seen)
    return seen


Make = Callable[..., Any]
