"""The event queue over any connection: what each call does, in which order, in one transaction."""

from __future__ import annotations

from queues.events import statements
from queues.events.connection import Connection
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from queues.events.connection import Parameters

NEVER = LOWEST
"""`until_us` of what nobody has: before every instant."""


class Pipeline(Connection):
    """What the engines have in common; `queues.events.contract` says what every method does."""

    indexes: tuple[str, ...] = ()
    waiting = ""
    """What makes a SELECT wait for rows that are not committed yet, where `_exclude` does not."""

    locking = ""
    """What makes a SELECT keep a row for itself, where a transaction that writes is not alone anyway."""

    def __init__(self, *, indexed: bool = True, busy_seconds: float = 5.0, clock: Callable[[], int] = now_us) -> None:
        """Connect, and make the tables where they are not there. `busy_seconds`: how long to wait for others.

        `indexed=False` makes the log without any index but its key, to measure what that costs: a second success of a
        task is then not seen to be one.
        """
        self.indexed = indexed
        self.clock = clock
        self._last_us = LOWEST
        self._subscribed: set[tuple[str, str]] = set()
        super().__init__(busy_seconds)

    def make_indexes(self) -> None:
        """Give a log that was made without them its indexes, as one that is loaded first and asked later wants it."""
        self._write(lambda: [self._run(text, {}) for text in self.indexes])
        self.indexed = True

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more."""
        raise NotImplementedError

    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        """Write that a task of a job has ended and return the event's id."""
        row = (_job(job), require_name(task, "task", LONGEST_TASK), require_result(result), self._instant(at_us))
        return self._write(lambda: self._record(*row)[0])

    def record_many(self, events: Iterable[tuple[str, str, str, int]]) -> int:
        """Write events (job, task, result, at_us) in one transaction, in order; return how many were new."""
        rows = [
            (_job(job), require_name(task, "task", LONGEST_TASK), require_result(result), require_whole(at_us, "at_us"))
            for job, task, result, at_us in events
        ]
        return self._write(lambda: sum(self._record(*row)[1] for row in rows))

    def pending(
        self, of: str, by: str, *, form: str = "not-exists", since_us: int | None = None, limit: int | None = None
    ) -> list[Event]:
        """Return the events of `of` that succeeded and that `by` has not processed, in order."""
        text, parameters = self._question(of, by, form, since_us, limit)
        return [Event(*row) for row in self._read(lambda: self._run(text, parameters, fresh_plan=True)[0])]

    def plan(self, of: str, by: str, *, form: str, since_us: int | None = None, limit: int | None = None) -> str:
        """Return how the engine goes about `pending` with these arguments, in its own words, on one line."""
        text, parameters = self._question(of, by, form, since_us, limit)
        return self._read(lambda: self._explain(text, parameters))

    def finish(self, event: Event, by: str, result: str) -> int:
        """Write that `by` has processed the event, without a claim; return the id of what was written."""
        task, job, found = require_event(event).task, _job(by), require_result(result)
        at_us = max(self._instant(None), event.at_us)
        return self._write(lambda: self._record(job, task, found, at_us)[0])

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        """Return the first pending event that nobody has, for `lease_us` from `now_us` on; None when there is none."""
        source, consumer = _job(of), _job(by)
        until_us, now = self._lease(lease_us, now_us)
        parameters: Parameters = {
            "of": source,
            "by": consumer,
            "worker": require_name(worker, "worker", LONGEST_JOB),
            "now_us": now,
            "until_us": until_us,
        }
        self._subscribe(source, consumer)
        found = self._write(lambda: self._take(parameters))
        if found is None:
            return None
        number, task, at_us, token = found
        return Claim(Event(number, source, task, SUCCEEDED, at_us), consumer, worker, token, lease_us, until_us)

    def heartbeat(self, claim: Claim, now_us: int | None = None) -> int:
        """Extend the lease to its length from `now_us` on and return its end; StaleClaim when it counts no more."""
        until_us, _ = self._lease(require_claim(claim).lease_us, now_us)
        self._write(lambda: self._owned(statements.HEARTBEAT, claim, until_us=until_us))
        return until_us

    def complete(self, claim: Claim, result: str) -> int:
        """Write what came of the event and give the claim up; return the id of what was written."""
        event, found = require_claim(claim).event, require_result(result)
        at_us = max(self._instant(None), event.at_us)

        def completed() -> int:
            if found == SUCCEEDED:
                self._owned(statements.COMPLETE, claim)
            else:
                self._owned(statements.RELEASE, claim, never=NEVER)
            return self._record(claim.by, event.task, found, at_us)[0]

        return self._write(completed)

    def release(self, claim: Claim) -> None:
        """Give the event back unprocessed; StaleClaim when the claim counts no more."""
        self._write(lambda: self._owned(statements.RELEASE, require_claim(claim), never=NEVER))

    def _record(self, job: str, task: str, result: str, at_us: int) -> tuple[int, bool]:
        """Write one event and hand it on; its id, and whether it is new."""
        parameters: Parameters = {"job": job, "task": task, "result": result, "at_us": at_us}
        number, new = self._insert(parameters)
        if new and result == SUCCEEDED:
            self._run(self._ignoring(statements.FAN_OUT), {**parameters, "event": number, "never": NEVER})
            self._run(statements.WORK_DONE, parameters)
        return number, new

    def _owned(self, text: str, claim: Claim, **more: int) -> None:
        """Run a statement on the row of a claim; StaleClaim when the row is not that claim's any more."""
        event = claim.event
        owned = {"by": claim.by, "of": event.job, "task": event.task, "token": claim.token}
        if self._run(text, {**owned, **more})[1] != 1:
            stale(claim)

    def _subscribe(self, of: str, by: str) -> None:
        """See to it that what is pending, and what will be, is work; known pairs cost nothing."""
        if (of, by) in self._subscribed:
            return
        parameters: Parameters = {"of": of, "by": by, "never": NEVER}
        if not self._read(lambda: self._run(statements.SUBSCRIBED, parameters)[0]):
            if self._within:
                raise RuntimeError(f"the first claim of {by!r} on {of!r} stands in a transaction: claim once before it")
            # Committed first: from now on whoever writes hands on, and whoever wrote before is waited for below.
            self._write(lambda: self._run(self._ignoring(statements.SUBSCRIBE), parameters))
            self._write(lambda: self._catch_up(parameters))
        self._subscribed.add((of, by))

    def _catch_up(self, parameters: Parameters) -> None:
        """Make work of what is pending, once: of several connections one does it, and the others wait for it."""
        if self._run(statements.SUBSCRIPTION + self.locking, parameters)[0][0][0]:
            return
        self._exclude()
        self._run(self._ignoring(statements.backfill(self.waiting)), parameters)
        self._run(statements.READY, parameters)

    def _question(self, of: str, by: str, form: str, since_us: int | None, limit: int | None) -> tuple[str, Parameters]:
        parameters: Parameters = {"of": _job(of), "by": _job(by)}
        text = (statements.UNBOUNDED if since_us is None else statements.BOUNDED)[require_form(form)]
        if since_us is not None:
            parameters["since_us"] = require_whole(since_us, "since_us")
        if limit is not None:
            parameters["limit"] = require_whole(limit, "limit", 1)
            text += " LIMIT :limit"
        return text, parameters

    def _instant(self, at_us: int | None) -> int:
        if at_us is not None:
            return require_whole(at_us, "at_us")
        self._last_us = max(self._last_us, require_whole(self.clock(), "the clock's time"))
        return self._last_us

    def _lease(self, lease_us: int, now_us: int | None) -> tuple[int, int]:
        """Return the end of a lease and the instant it begins at."""
        now = require_whole(self.clock() if now_us is None else now_us, "now_us")
        return min(now + require_whole(lease_us, "lease_us", 1), HIGHEST), now

    # What a dialect has to say.

    def _insert(self, parameters: Parameters) -> tuple[int, bool]:
        """Insert an event unless it is a second success; the id of the one that stands, and whether it is new."""
        raise NotImplementedError

    def _take(self, parameters: Parameters) -> tuple[int, str, int, int] | None:
        """Claim the next row of work: (event, task, at_us, token)."""
        raise NotImplementedError

    def _ignoring(self, text: str) -> str:
        """Return an INSERT that leaves out what is there already."""
        return f"{text} ON CONFLICT DO NOTHING"

    def _explain(self, text: str, parameters: Parameters) -> str:
        raise NotImplementedError

    def _exclude(self) -> None:
        """Within a transaction: let nobody else write events until it ends."""


def _job(name: Any) -> str:
    return require_name(name, "job", LONGEST_JOB)
