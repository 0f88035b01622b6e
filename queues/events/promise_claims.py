"""Promises about claims: who has an event, for how long, and what came of it."""

from __future__ import annotations

from typing import Any

from queues.events.rules import FAILED, SUCCEEDED, StaleClaim
from queues.events.trial import Promise, Trial, promise

CLAIMS: list[Promise] = []
LEASE_US = 100


def with_tasks(trial: Trial, tasks: str) -> Any:
    """Return a queue on which job `a` has succeeded with each task, at 0, 1, 2 …"""
    queue = trial.queue()
    for at_us, task in enumerate(tasks):
        queue.record("a", task, SUCCEEDED, at_us)
    return queue


def claimed(queue: Any, now_us: int = 1_000, worker: str = "w") -> Any:
    """Claim the next event for job `b`."""
    return queue.claim("a", "b", worker=worker, lease_us=LEASE_US, now_us=now_us)


@promise(CLAIMS, "claimed-once", "record claim")
def claimed_once(trial: Trial) -> None:
    """Each event is claimed by one worker, in order, over any connection; then there is none."""
    queue = with_tasks(trial, "xyz")
    other = trial.again(queue)
    trial.expect([claimed(one).event.task for one in (queue, other, queue)], list("xyz"))
    trial.expect(claimed(other), None)


@promise(CLAIMS, "late-events", "record claim")
def late_events(trial: Trial) -> None:
    """What is recorded after the first claim is claimed as well, also when it is dated before it."""
    queue = with_tasks(trial, "xy")
    claimed(queue)
    other = trial.again(queue)
    other.record("a", "w", SUCCEEDED, -5)
    trial.expect([claimed(queue).event.task for _ in range(2)], ["w", "y"])
    trial.expect(claimed(queue), None)


@promise(CLAIMS, "completed", "record claim complete pending")
def completed(trial: Trial) -> None:
    """A completed event is pending no more; what is done is an event of the job itself, dated no earlier."""
    queue = with_tasks(trial, "x")
    queue.complete(claimed(queue), SUCCEEDED)
    trial.expect_pending(queue, "")
    trial.expect(claimed(queue, now_us=10**9), None)
    trial.expect([event.row[1:] for event in queue.pending("b", "c")], [("b", "x", SUCCEEDED, 1_000)])


@promise(CLAIMS, "failed-is-claimable", "record claim complete pending")
def failed_is_claimable(trial: Trial) -> None:
    """An event that a job failed on is claimed again, at once and in its place; the claim counts how often."""
    queue = with_tasks(trial, "xy")
    queue.complete(claimed(queue), FAILED)
    trial.expect_pending(queue, "xy")
    again = claimed(queue)
    trial.expect((again.event.task, again.token), ("x", 2))


@promise(CLAIMS, "lease", "record claim complete")
def lease(trial: Trial) -> None:
    """A lease that ran out gives the event to the next; the old owner can do nothing with it any more."""
    queue = with_tasks(trial, "x")
    old = claimed(queue, 1_000, "old")
    trial.expect(claimed(queue, 1_099), None)
    new = claimed(queue, 1_100, "new")
    trial.expect((new.event.task, new.worker), ("x", "new"))
    trial.refused(StaleClaim, queue.complete, old, SUCCEEDED)
    trial.refused(StaleClaim, queue.complete, old, FAILED)
    trial.refused(StaleClaim, queue.heartbeat, old, 1_100)
    trial.refused(StaleClaim, queue.release, old)
    trial.expect_pending(queue, "x")
    queue.complete(new, SUCCEEDED)
    trial.expect_pending(queue, "")
    trial.refused(StaleClaim, queue.complete, new, SUCCEEDED)


@promise(CLAIMS, "late-completion", "record claim complete")
def late_completion(trial: Trial) -> None:
    """A lease that ran out unnoticed costs nothing: as long as nobody else has the event its owner may complete it."""
    queue = with_tasks(trial, "x")
    old = claimed(queue, 1_000)
    trial.clock.now = 10**9
    queue.complete(old, SUCCEEDED)
    trial.expect_pending(queue, "")


@promise(CLAIMS, "heartbeat", "record claim heartbeat")
def heartbeat(trial: Trial) -> None:
    """A heartbeat extends the lease to its length from then on."""
    queue = with_tasks(trial, "x")
    held = claimed(queue, 1_000)
    trial.expect(queue.heartbeat(held, 1_050), 1_150)
    trial.expect(queue.heartbeat(held, 1_050), 1_150)
    trial.expect(claimed(queue, 1_149), None)
    trial.expect(claimed(queue, 1_150).event.task, "x")


@promise(CLAIMS, "released", "record claim release pending")
def released(trial: Trial) -> None:
    """A released event is claimed by the next, in its place; its old owner is refused."""
    queue = with_tasks(trial, "xy")
    old = claimed(queue)
    queue.release(old)
    trial.refused(StaleClaim, queue.complete, old, SUCCEEDED)
    trial.expect_pending(queue, "xy")
    trial.expect(claimed(queue).event.task, "x")


@promise(CLAIMS, "clock-back", "record claim heartbeat")
def clock_back(trial: Trial) -> None:
    """A clock that goes back gives nothing away: a lease may last longer, and ends."""
    queue = with_tasks(trial, "x")
    claimed(queue, 1_000)
    trial.expect(claimed(queue, 500), None)
    trial.expect(claimed(queue, -(10**6)), None)
    trial.expect(claimed(queue, 1_100).event.task, "x")


@promise(CLAIMS, "finished-by-hand", "record claim finish complete")
def finished_by_hand(trial: Trial) -> None:
    """What was processed without a claim is claimed no more, and a claim on it is stale."""
    queue = with_tasks(trial, "xy")
    held = claimed(queue)
    queue.finish(held.event, "b", SUCCEEDED)
    trial.refused(StaleClaim, queue.complete, held, SUCCEEDED)
    trial.expect(claimed(queue, 10**9).event.task, "y")


@promise(CLAIMS, "jobs-apart", "record claim complete")
def jobs_apart(trial: Trial) -> None:
    """Every job has its own claims on an event; what one does is an event for the next, so that jobs form a line."""
    queue = with_tasks(trial, "x")
    held = claimed(queue)
    other = queue.claim("a", "c", worker="w", lease_us=LEASE_US, now_us=1_000)
    trial.expect((held.event, other.event.task), (other.event, "x"))
    trial.expect(queue.claim("b", "d", worker="w", lease_us=LEASE_US, now_us=1_000), None)
    queue.complete(held, SUCCEEDED)
    trial.expect(queue.claim("b", "d", worker="w", lease_us=LEASE_US, now_us=1_000).event.job, "b")


@promise(CLAIMS, "claim-in-a-transaction", "record claim transaction")
def claim_in_a_transaction(trial: Trial) -> None:
    """A claim in a transaction that is undone is none; the first one of a pair of jobs is refused there."""
    queue = with_tasks(trial, "xy")
    with queue.bare.transaction():
        trial.refused(RuntimeError, lambda: claimed(queue))
    trial.expect(claimed(queue).event.task, "x")
    try:
        with queue.bare.transaction():
            trial.expect(claimed(queue).event.task, "y")
            raise LookupError
    except LookupError:
        pass
    trial.expect(claimed(queue).event.task, "y")


@promise(CLAIMS, "claim-refusals", "record claim complete")
def claim_refusals(trial: Trial) -> None:
    """What is no lease, no instant, no worker and no claim is refused before anything changes."""
    queue = with_tasks(trial, "x")
    for more, kind in (({"lease_us": 0}, ValueError), ({"lease_us": 1.5}, TypeError), ({"worker": ""}, ValueError)):
        arguments = {"worker": "w", "lease_us": LEASE_US, "now_us": 1_000, **more}
        trial.refused(kind, lambda: queue.claim("a", "b", **arguments))  # noqa: B023 - called at once
    trial.refused(TypeError, queue.complete, ("a", "x"), SUCCEEDED)
    held = claimed(queue)
    trial.refused(ValueError, queue.complete, held, "done")
    queue.complete(held, SUCCEEDED)
