"""Writers and claimers at once: is anything lost to deadlocks, and what does a snapshot cost that somebody holds?

    python -m runners.events_storm --subject mariadb
    python -m runners.events_storm --subject postgresql --snapshot

Each run is a queue of its own, on which so many processes record events and as many others claim and complete them for
half a minute. Then the totals: every event that was recorded has been completed, once, or is pending, and the log says
the same. With --snapshot a second run follows, in which one more connection goes on seeing what there was at its
beginning (REPEATABLE READ); what the engine had to keep for it is told beside the throughput.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from queues.registry import SUBJECTS, load, target
from runners.events_crew import Crew
from runners.events_race import at_least_one
from runners.events_rows import BY, OF
from runners.servers import Pool
from runners.workload import NotOffered

LEASE_US = 600_000_000
"""Longer than any run: an event comes back to nobody."""

NEXT = "job3"
"""A job that waits for what job2 has done: what is pending for it is what the log says was completed."""

SNAPSHOT = {
    "sqlite": ("BEGIN",),
    "postgresql": ("BEGIN ISOLATION LEVEL REPEATABLE READ",),
    "mariadb": ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT"),
}
COUNT = "SELECT count(*) FROM events"
KEPT = {
    "sqlite": "pages of its log that cannot be merged",
    "postgresql": "dead rows that VACUUM had to leave",
    "mariadb": "transactions in its undo log",
}
"""What an engine keeps for a snapshot."""

DEAD_ROWS = """
    SELECT sum(n_dead_tup) FROM pg_stat_all_tables
    WHERE relid IN (to_regclass('work'), to_regclass('events'))"""
UNDO_LOG = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'"


@dataclass(frozen=True, slots=True)
class Storm:
    """What became of the events of one run; `kept` is what the engine had not thrown away at its end, in KEPT."""

    recorded: int
    completed: int
    pending: int
    twice: int
    lost: int
    retried: int
    kept: int

    @property
    def exact(self) -> bool:
        """Whether every event recorded was completed once, or is pending."""
        return self.twice == self.lost == 0 and self.recorded == self.completed + self.pending


@contextlib.contextmanager
def held(holder: Any) -> Iterator[None]:
    """See what there is now, and nothing else, until the block ends; RuntimeError when that was not so."""
    for text in SNAPSHOT[holder.engine]:
        holder._run(text, {})
    seen = holder._run(COUNT, {})[0]
    yield
    if holder._run(COUNT, {})[0] != seen:
        raise RuntimeError("the snapshot changed while it was held")
    holder._run("ROLLBACK", {})


def kept(queue: Any) -> int:
    """Return what the engine keeps of old versions of rows, counted as KEPT says, after it has been told to tidy up."""
    if queue.engine == "sqlite":
        ((_, log, merged),) = queue._run("PRAGMA wal_checkpoint(PASSIVE)", {})[0]
        return int(log - merged)
    if queue.engine == "postgresql":
        for table in ("work", "events"):
            queue._run(f"VACUUM {table}", {})
        queue._run("SELECT pg_stat_force_next_flush()", {})
    text = DEAD_ROWS if queue.engine == "postgresql" else UNDO_LOG
    return int(queue._run(text, {})[0][0][0])


def storm(subject: str, seconds: float, writers: int, claimers: int, *, snapshot: bool = False) -> Storm:
    """Have one crew record and claim for so many seconds; RuntimeError when a process of it fails."""
    queue_class = load("events", subject)
    with contextlib.ExitStack() as stack:
        queue = queue_class()
        stack.callback(queue.close)
        if snapshot:
            holder = queue_class(**queue.place)
            stack.callback(holder.close)
            stack.enter_context(held(holder))
        made = Crew(target("events", subject), queue.place, writers + claimers, path=sys.path)
        crew = stack.enter_context(made)
        claim = {"do": "work", "of": OF, "by": BY, "lease_us": LEASE_US, "seconds": seconds}
        for place, process in enumerate(crew.processes):
            crew.tell(process, claim if place >= writers else {"do": "record", "of": OF, "seconds": seconds})
        answers = [crew.hear(process) for process in crew.processes]
        return totals(queue, answers[:writers], answers[writers:])


def totals(queue: Any, wrote: list[dict[str, Any]], claimed: list[dict[str, Any]]) -> Storm:
    """Hold what the processes say against the log, and against what is pending."""
    recorded = {task for answer in wrote for task in answer["tasks"]}
    completed = Counter(task for answer in claimed for task in answer["tasks"])
    in_log = Counter(event.task for event in queue.pending(BY, NEXT))
    pending = {event.task for event in queue.pending(OF, BY)}
    twice = sum((in_log - Counter(set(in_log))).values()) + sum((completed - Counter(set(completed))).values())
    lost = len(recorded ^ (completed.keys() | pending)) + len(completed.keys() ^ in_log.keys())
    retried = sum(answer["retried"] for answer in (*wrote, *claimed))
    return Storm(len(recorded), len(completed), len(pending), twice, lost, retried, kept(queue))


def told(found: Storm, engine: str, seconds: float) -> str:
    """Return a run in one line."""
    return (
        f"{'totals exact' if found.exact else 'WRONG'}: {found.recorded:,} recorded, "
        f"{found.completed:,} completed ({found.completed / seconds:,.0f} a second), {found.pending:,} pending, "
        f"{found.twice} twice, {found.lost} lost; {found.retried:,} times tried again; {found.kept:,} {KEPT[engine]}"
    )


def seconds_of_storm(text: str) -> float:
    """Return the seconds of a command line; argparse says what was wrong with what is no span of time.

    >>> seconds_of_storm("0.5")
    0.5
    """
    seconds = float(text)
    if not 0 < seconds <= LEASE_US / 2e6:
        raise argparse.ArgumentTypeError(f"{text} seconds: expected over 0, and at most {LEASE_US / 2e6:g}")
    return seconds


def main(arguments: list[str] | None = None) -> int:
    """Run; exit code 0 when the totals of every run are exact, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m runners.events_storm", description=(__doc__ or "").partition("\n")[0]
    )
    known = [name for name in SUBJECTS["events"] if load("events", name).engine in SNAPSHOT]
    parser.add_argument("--subject", action="append", choices=known, help="default: sqlite; may be repeated")
    parser.add_argument("--seconds", type=seconds_of_storm, default=30.0)
    parser.add_argument("--writers", type=at_least_one, default=8)
    parser.add_argument("--claimers", type=at_least_one, default=8)
    parser.add_argument("--snapshot", action="store_true", help="once more, with a snapshot held all the while")
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
            for snapshot in (False, True) if given.snapshot else (False,):
                found = storm(subject, given.seconds, given.writers, given.claimers, snapshot=snapshot)
                who = f"{subject}, {given.writers} + {given.claimers} processes for {given.seconds:g} s"
                said = told(found, load("events", subject).engine, given.seconds)
                print(f"{who}{', a snapshot held' if snapshot else ''}: {said}", flush=True)
                wrong += not found.exact
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
