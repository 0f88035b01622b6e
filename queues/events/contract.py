"""The contract of the SQL event queue as a protocol: pure typing, nothing to inherit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from queues.events.rules import Claim, Event


class EventQueue(Protocol):
    """One table of events, written as tasks end; a job asks which successes of another job it has not processed yet.

    Promises that hold on every engine (queues/events/promises.py has a named check for each):

    * A job is a name. Adding one, or one that listens to another, is a row at most and never changes the schema.
    * An event of `of` is pending for `by` when its result is SUCCEEDED and `by` has no success of the same task. A task
      counts once: of several successes of a task the first stands, and recording another returns its id. A failure of
      `of` is no event to wait for, also not before or after a success; a failure of `by` leaves the event pending.
    * Events come in order of (at_us, id). Instants are whole microseconds, stored as they are given, never rounded.
    * All forms of the query return the same events. No column of the table may be NULL, so NOT IN has no third answer.
    * A bound (`since_us`, which counts itself) looks at nothing before it, neither at events nor at what was done about
      them: so it must lie before the oldest event that may still be pending, by as much as the longest transaction
      takes (queues.events.cursor keeps such a bound). `finish` and `complete` never date what is done before its event.
    * Without `at_us` an event has the clock's time, or that of this object's last event if the clock went back.
    * Each event is claimed by one worker at a time. A lease that ran out (`until_us <= now_us`) gives it to the next;
      then the old owner's heartbeat, completion and release are refused with StaleClaim, and nothing is done.
    * What `claim` sees is not bounded and needs no cursor: an event that is committed late is claimed all the same.
      The first `claim` of (of, by), on any connection, reads what is pending; from then on recording hands it on.
      That first call cannot stand in a `transaction`: RuntimeError.
    * A call is done wholly or not at all, also when its process or the server is killed; with `transaction()` all calls
      within are. A refused call leaves everything as it was.
    * Waiting for others, and deadlocks, end within `busy_seconds` with Busy, never with the engine's own error.

    An object is for one thread. Arguments: ValueError for a name that is empty, too long or not storable, a result that
    is neither SUCCEEDED nor FAILED, an unknown form; TypeError for what is of another type.
    """

    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        """Write that a task of a job has ended and return the event's id.

        A second success of the same task returns the id of the first and changes nothing.
        """

    def record_many(self, events: Iterable[tuple[str, str, str, int]]) -> int:
        """Write events (job, task, result, at_us) in one transaction, in order; return how many were new."""

    def pending(
        self, of: str, by: str, *, form: str = "not-exists", since_us: int | None = None, limit: int | None = None
    ) -> list[Event]:
        """Return the events of `of` that succeeded and that `by` has not processed, at most `limit` (at least 1)."""

    def finish(self, event: Event, by: str, result: str) -> int:
        """Write that `by` has processed the event, without a claim; return the id of what was written."""

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        """Return the first pending event that nobody has, for `lease_us` from `now_us` on; None when there is none."""

    def heartbeat(self, claim: Claim, now_us: int | None = None) -> int:
        """Extend the lease to its length from `now_us` on and return its end; StaleClaim when it counts no more."""

    def complete(self, claim: Claim, result: str) -> int:
        """Write what came of the event and give the claim up; return the id of what was written.

        With FAILED the event is pending and can be claimed again, by anybody and at once: to wait is up to the caller.
        """

    def release(self, claim: Claim) -> None:
        """Give the event back unprocessed."""

    def transaction(self) -> AbstractContextManager[None]:
        """All calls within are done together, not at all when the block raises. Blocks do not nest: RuntimeError."""

    def plan(self, of: str, by: str, *, form: str, since_us: int | None = None, limit: int | None = None) -> str:
        """Return how the engine goes about `pending` with these arguments, in its own words."""

    def close(self) -> None:
        """Let go of the connection, and of the storage when it was made for this object. A second call does nothing."""


Make = Callable[[], Any]
"""What makes a queue, or another connection to the same."""
