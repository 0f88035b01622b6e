"""The obviously right event queue, that the engines are compared with: a list, and every call looks at all of it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from queues.events.rules import (
    HIGHEST,
    LONGEST_JOB,
    LONGEST_TASK,
    LOWEST,
    SUCCEEDED,
    Claim,
    Event,
    now_us,
    require_claim,
    require_event,
    require_form,
    require_name,
    require_result,
    require_whole,
    stale,
)


class Held:
    """What is known of an event that was claimed: by whom, how often, until when."""

    def __init__(self) -> None:
        """Nobody has it yet."""
        self.worker = ""
        self.token = 0
        self.until_us = LOWEST


class Model:
    """The contract of `queues.events.contract.EventQueue`, word by word.

    >>> queue = Model(clock=lambda: 5)
    >>> queue.record("fetch", "page 1", "SUCCEEDED"), queue.pending("fetch", "parse")
    (1, [Event(1, 'fetch', 'page 1', 'SUCCEEDED', 5)])
    """

    def __init__(
        self, *, busy_seconds: float = 5.0, clock: Callable[[], int] = now_us, other: Model | None = None
    ) -> None:
        """A queue without events, or with those of another."""
        self.busy_seconds = busy_seconds
        self.clock = clock
        self.events: list[Event] = [] if other is None else other.events
        self.held: dict[tuple[str, str, str], Held] = {} if other is None else other.held  # (by, of, task)
        self.claimed: set[tuple[str, str]] = set() if other is None else other.claimed
        self.last_us = LOWEST
        self.within = False

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more."""
        return {"other": self}

    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        """Write that a task of a job has ended."""
        require_name(job, "job", LONGEST_JOB)
        require_name(task, "task", LONGEST_TASK)
        require_result(result)
        at = self._instant(at_us)
        first = self._success(job, task)
        if result == SUCCEEDED and first is not None:
            return first.id
        self.events.append(Event(len(self.events) + 1, job, task, result, at))
        if result == SUCCEEDED:
            for by, of, done in list(self.held):
                if (by, done) == (job, task):
                    del self.held[by, of, done]
        return len(self.events)

    def record_many(self, events: Iterable[tuple[str, str, str, int]]) -> int:
        """Write events in order; all are looked at before the first is written."""
        given = list(events)
        for job, task, result, at_us in given:
            require_name(job, "job", LONGEST_JOB)
            require_name(task, "task", LONGEST_TASK)
            require_result(result)
            require_whole(at_us, "at_us")
        before = len(self.events)
        for row in given:
            self.record(*row)
        return len(self.events) - before

    def pending(
        self, of: str, by: str, *, form: str = "not-exists", since_us: int | None = None, limit: int | None = None
    ) -> list[Event]:
        """Return the events of `of` that succeeded and that `by` has not processed."""
        require_name(of, "job", LONGEST_JOB)
        require_name(by, "job", LONGEST_JOB)
        require_form(form)
        since = LOWEST if since_us is None else require_whole(since_us, "since_us")
        if limit is not None:
            require_whole(limit, "limit", 1)
        return self._pending(of, by, since)[:limit]

    def finish(self, event: Event, by: str, result: str) -> int:
        """Write that `by` has processed the event, no earlier than it happened."""
        require_event(event)
        require_name(by, "job", LONGEST_JOB)
        require_result(result)
        return self.record(by, event.task, result, max(self._instant(None), event.at_us))

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        """Return the first pending event that nobody has."""
        require_name(of, "job", LONGEST_JOB)
        require_name(by, "job", LONGEST_JOB)
        now, until = self._lease(lease_us, now_us)
        require_name(worker, "worker", LONGEST_JOB)
        if self.within and (of, by) not in self.claimed:
            raise RuntimeError("the first claim stands in a transaction")
        self.claimed.add((of, by))
        for event in self._pending(of, by, LOWEST):
            held = self.held.setdefault((by, of, event.task), Held())
            if held.until_us <= now:
                held.worker, held.token, held.until_us = worker, held.token + 1, until
                return Claim(event, by, worker, held.token, lease_us, until)
        return None

    def heartbeat(self, claim: Claim, now_us: int | None = None) -> int:
        """Extend the lease."""
        _, until = self._lease(require_claim(claim).lease_us, now_us)
        self._owned(claim).until_us = until
        return until

    def complete(self, claim: Claim, result: str) -> int:
        """Write what came of the event and give the claim up."""
        event = require_claim(claim).event
        require_result(result)
        at = max(self._instant(None), event.at_us)
        self.release(claim)
        return self.record(claim.by, event.task, result, at)

    def release(self, claim: Claim) -> None:
        """Give the event back unprocessed."""
        held = self._owned(require_claim(claim))
        held.worker, held.until_us = "", LOWEST

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all or nothing."""
        if self.within:
            raise RuntimeError("a transaction is open already")
        events, held = list(self.events), copy.deepcopy(self.held)
        self.within = True
        try:
            yield
        except BaseException:
            self.events[:] = events
            self.held.clear()
            self.held.update(held)
            raise
        finally:
            self.within = False

    def close(self) -> None:
        """Nothing to let go of."""

    def _success(self, job: str, task: str) -> Event | None:
        found = (event for event in self.events if (event.job, event.task, event.result) == (job, task, SUCCEEDED))
        return next(found, None)

    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        found = []
        for event in self.events:
            if event.job != of or event.result != SUCCEEDED or event.at_us < since:
                continue
            done = self._success(by, event.task)
            if done is None or done.at_us < since:
                found.append(event)
        return sorted(found, key=lambda event: (event.at_us, event.id))

    def _owned(self, claim: Claim) -> Held:
        held = self.held.get((claim.by, claim.event.job, claim.event.task))
        if held is None or held.token != claim.token or not held.worker:
            stale(claim)
        return held

    def _instant(self, at_us: Any) -> int:
        if at_us is not None:
            return require_whole(at_us, "at_us")
        self.last_us = max(self.last_us, require_whole(self.clock(), "the clock's time"))
        return self.last_us

    def _lease(self, lease_us: int, now_us: int | None) -> tuple[int, int]:
        now = require_whole(self.clock() if now_us is None else now_us, "now_us")
        return now, min(now + require_whole(lease_us, "lease_us", 1), HIGHEST)
