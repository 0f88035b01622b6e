"""Does a lock that another process holds for a while reach a caller as an error? Every call has to wait it out.

    python -m runners.held_locks                       SQLite alone: events and timer queue
    python -m runners.held_locks --subject events/mariadb --seconds 2

A process of its own takes the lock: of the whole file where that is the lock that there is (SQLite), else of the rows
or the tables that the calls need. Several calls, each on a connection of its own, then wait at once. It lets go when
they have waited for so long; each call must then have done its work, within its limit of waiting, which is longer.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from queues.registry import load, target
from runners.servers import Pool
from runners.workload import NotOffered

SUBJECTS = ("events/sqlite", "events/postgresql", "events/mariadb", "timer/sqlite", "timer/postgres")
"""Those whose engine has locks that last; Redis does one thing after the other, and nobody can hold it up."""

LIMIT_SECONDS = 30
"""What a call may wait."""

Place = dict[str, Any]
Calls = dict[str, Callable[[Any], Any]]


@dataclass(frozen=True, slots=True)
class Waited:
    """One call: how long it waited, whether it ended after the lock was let go, and what it said if it failed."""

    call: str
    seconds: float
    after: bool
    error: str

    @property
    def right(self) -> bool:
        """Whether it waited the lock out and did its work."""
        return self.after and not self.error


def hold(subject: str, place: Place, seconds: float, pipe: Connection) -> None:
    """Be the process that holds the lock: say that it is held, and keep it for `seconds` from the answer on.

    A second answer ends it at once: then all that waited have given up.
    """
    family, name = subject.split("/")
    with load(family, name)(**place) as queue, locked(subject, queue):
        pipe.send("held")
        pipe.recv()
        pipe.poll(seconds)
        pipe.send(time.monotonic())


@contextlib.contextmanager
def locked(subject: str, queue: Any) -> Iterator[None]:
    """Hold what the calls of `prepared` need, until the block ends."""
    if subject == "timer/sqlite":
        connection = queue._store.file.connection
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    elif subject == "timer/postgres":
        connection = queue._store.connection
        with connection.transaction():
            connection.execute("LOCK TABLE timer_message, timer_lease IN ACCESS EXCLUSIVE MODE")
            yield
    else:
        with queue.transaction():
            queue._run("UPDATE work SET token = token", {})
            yield


def prepared(subject: str, queue: Any) -> Calls:
    """Fill an empty queue; return the calls that need the lock, each on messages or events that are its own."""
    if subject.startswith("timer/"):
        queue.enqueue_many([(float(number), number) for number in range(9)])
        return {
            "enqueue": lambda own: own.enqueue(99.0, "late"),
            "take": lambda own: len(own.take(2.0)),
            "cancel": lambda own: own.cancel(8.0),
        }
    queue.record_many(("job1", f"task {number}", "SUCCEEDED", number) for number in range(5))
    claims = [queue.claim("job1", "job2", worker="w", lease_us=60_000_000) for _ in range(4)]
    return {
        "complete": lambda own: own.complete(claims[0], "SUCCEEDED"),
        "heartbeat": lambda own: own.heartbeat(claims[1]),
        "release": lambda own: own.release(claims[2]),
        "finish": lambda own: own.finish(claims[3].event, "job2", "SUCCEEDED"),
    }


def waited(subject: str, seconds: float, folder: Path, limit: float = LIMIT_SECONDS) -> list[Waited]:
    """Have the lock held for `seconds` while every call waits, at most for `limit`; what became of each."""
    family, name = subject.split("/")
    queue_class = load(family, name)
    place = settings_of(subject, folder)
    patience = {"busy_seconds": limit} if family == "events" else {"busy": limit}
    with contextlib.ExitStack() as stack:
        queue = stack.enter_context(queue_class(**place))
        place = queue.place if family == "events" else place
        calls = prepared(subject, queue)
        pipe, their_end = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        holder = spawn.Process(target=hold, args=(subject, place, seconds, their_end), daemon=True)
        stack.callback(ended, holder)
        holder.start()
        threads = stack.enter_context(ThreadPoolExecutor(len(calls)))
        ready = threading.Barrier(len(calls) + 1)
        opened = [threads.submit(_call, queue_class, {**place, **patience}, call, ready) for call in calls.values()]
        if not pipe.poll(LIMIT_SECONDS):
            raise RuntimeError("the holder did not get the lock")
        pipe.recv()
        ready.wait(LIMIT_SECONDS)
        pipe.send("they wait")
        found = [one.result() for one in opened]
        pipe.send("all have an answer")
        released = pipe.recv()
    ends = zip(calls, found, strict=True)
    return [Waited(call, end - begin, end >= released, said) for call, (begin, end, said) in ends]


def _call(queue_class: Any, settings: Place, call: Callable[[Any], Any], ready: threading.Barrier) -> Any:
    with queue_class(**settings) as own:
        ready.wait(LIMIT_SECONDS)
        begin, said = time.monotonic(), ""
        try:
            call(own)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            said = f"{type(error).__name__}: {error}"
        return begin, time.monotonic(), said


def settings_of(subject: str, folder: Path) -> Place:
    """Return the arguments with which every process finds the same queue."""
    if subject == "events/sqlite":
        return {"path": str(folder / "events.db")}
    if subject == "timer/sqlite":
        return {"database": str(folder / "queue.db")}
    return {"name": f"held locks {folder.name}"} if subject == "timer/postgres" else {}


def ended(process: multiprocessing.process.BaseProcess) -> None:
    """See to it that the holder is gone."""
    process.join(LIMIT_SECONDS)
    process.kill()
    process.join()


def seconds_held(text: str) -> float:
    """Return the seconds of a command line; argparse says what was wrong with what no call could wait out.

    >>> seconds_held("2")
    2.0
    """
    seconds = float(text)
    if not 0 < seconds < LIMIT_SECONDS / 2:
        raise argparse.ArgumentTypeError(f"{text} seconds: expected over 0 and under {LIMIT_SECONDS / 2:g}")
    return seconds


def main(arguments: list[str] | None = None) -> int:
    """Try every subject that is named; exit code 0 when every call waited the lock out and did its work, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m runners.held_locks", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--subject", action="append", choices=SUBJECTS, help="default: those on SQLite; may be repeated"
    )
    parser.add_argument("--seconds", type=seconds_held, default=2.0, help="how long the lock is held")
    given = parser.parse_args(arguments)
    wrong = 0
    with Pool() as pool, tempfile.TemporaryDirectory() as folder:
        for subject in given.subject or [name for name in SUBJECTS if name.endswith("sqlite")]:
            try:
                os.environ.update(pool.environment(target(*subject.split("/"))))
            except NotOffered as error:
                print(f"{subject}: not tried: {error}")
                wrong += 1
                continue
            for one in waited(subject, given.seconds, Path(folder)):
                said = one.error or ("done" if one.after else "done before the lock was let go: it needs no lock")
                print(f"{subject}, held for {given.seconds:g} s: {one.call} waited {one.seconds:.2f} s: {said}")
                wrong += not one.right
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
