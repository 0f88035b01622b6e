"""Is every event processed exactly once when a worker is killed? `python -m runners.events_race --help`.

Each run is a queue of its own: so many events, a crew that claims and completes them, one worker ended by kill -9 when
it has done some. What it held comes back when its lease is over. Then the log is read: each event must have been
completed, once, and be pending no more.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from typing import Any

from queues.registry import SUBJECTS, load, target
from runners.events_crew import Crew
from runners.events_rows import BY, OF
from runners.servers import Pool
from runners.workload import NotOffered

LEASE_US = 500_000
NEXT = "job3"
"""A job that waits for what job2 has done: what is pending for it is what was completed."""


def race(queue_class: Any, subject: str, workers: int, events: int, kills: int = 1) -> dict[str, int]:
    """Run one crew and return what became of the events: completed, twice, lost, and what the killed had done."""
    queue = queue_class()
    try:
        queue.record_many((OF, f"task {number}", "SUCCEEDED", number) for number in range(events))
        with Crew(target("events", subject), queue.place, workers, path=sys.path) as crew:
            order = {"do": "work", "of": OF, "by": BY, "lease_us": LEASE_US}
            doomed, others = crew.processes[:kills], crew.processes[kills:]
            for process in doomed:
                crew.tell(process, {**order, "report": True})
            killed = sum(crew.hear(process)["done"] for process in doomed)
            for process in others:
                crew.tell(process, order)
            for process in doomed:
                process.kill()
            for process in others:
                crew.hear(process)
        done = Counter(event.task for event in queue.pending(BY, NEXT))
        return {
            "completed": sum(done.values()),
            "twice": sum(count - 1 for count in done.values()),
            "lost": events - len(done) + len(queue.pending(OF, BY)),
            "by the killed, at least": killed,
        }
    finally:
        queue.close()


def at_least_one(text: str) -> int:
    """Return a number of a command line; argparse says what was wrong with another one.

    >>> at_least_one("20")
    20
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is too few: expected at least 1")
    return number


def main(arguments: list[str] | None = None) -> int:
    """Race; exit code 0 when every event of every run was processed exactly once, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m runners.events_race", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--subject", action="append", choices=list(SUBJECTS["events"]), help="default: sqlite; may be repeated"
    )
    parser.add_argument("--runs", type=at_least_one, default=20)
    parser.add_argument("--workers", type=at_least_one, default=4)
    parser.add_argument("--events", type=at_least_one, default=2_000)
    given = parser.parse_args(arguments)
    wrong = 0
    with Pool() as pool:
        for subject in given.subject or ["sqlite"]:
            try:
                os.environ.update(pool.environment(target("events", subject)))
            except NotOffered as error:
                print(f"{subject}: not tried: {error}")
                wrong += 1
                continue
            for number in range(given.runs):
                started = time.monotonic()
                found = race(load("events", subject), subject, given.workers, given.events)
                exact = found["twice"] == found["lost"] == 0 and found["completed"] == given.events
                wrong += not exact
                said = ", ".join(f"{count} {what}" for what, count in found.items())
                verdict = "exactly once" if exact else "WRONG"
                print(
                    f"{subject} run {number + 1}: {verdict}: {said}, in {time.monotonic() - started:.1f} s", flush=True
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
