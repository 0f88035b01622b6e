"""Event queues that each break a promise, named by the promise that must find them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from queues.events.model import Model
from queues.events.rules import HIGHEST, LOWEST, SUCCEEDED, Claim, Event


class ByTask(Model):
    def pending(self, *given: Any, **named: Any) -> list[Event]:
        return sorted(super().pending(*given, **named), key=lambda event: event.task, reverse=True)


class ForgetsJobs(Model):
    """Takes what one job has processed for processed by all."""

    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        done = {event.task for event in self.events if event.job != of and event.result == SUCCEEDED}
        return [event for event in super()._pending(of, by, since) if event.task not in done]


class CountsTwice(Model):
    def _success(self, job: str, task: str) -> Event | None:
        return None


class WaitsForFailures(Model):
    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        failed = [event for event in self.events if event.job == of and event.result != SUCCEEDED]
        return super()._pending(of, by, since) + failed


class FailureIsProcessed(Model):
    """The document's query: `result is not null`."""

    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        done = {event.task for event in self.events if event.job == by}
        return [event for event in super()._pending(of, by, since) if event.task not in done]


class BoundExcludesItself(Model):
    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        return super()._pending(of, by, min(since + 1, HIGHEST) if since > LOWEST else since)


class FoldsCase(Model):
    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        return super().record(job, task.lower(), result, at_us)


class Doubles(Model):
    """Keeps instants as floating-point numbers."""

    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        return super().record(
            job, task, result, at_us if type(at_us) is not int else max(LOWEST, min(HIGHEST, int(float(at_us))))
        )


class FollowsTheClock(Model):
    def _instant(self, at_us: Any) -> int:
        self.last_us = LOWEST
        return super()._instant(at_us)


class KeepsHalf(Model):
    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        yield


class TakesAnything(Model):
    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        try:
            return super().record(job, task, result, at_us)
        except ValueError:
            return 0


class ClaimsAgain(Model):
    """Does not look whether somebody has it."""

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        for held in self.held.values():
            held.until_us = LOWEST
        return super().claim(of, by, worker=worker, lease_us=lease_us, now_us=now_us)


class PassesLate(Model):
    """Goes on from where it was: what is dated before the last claim is passed over."""

    at = LOWEST

    def _pending(self, of: str, by: str, since: int) -> list[Event]:
        return super()._pending(of, by, max(since, self.at))

    def claim(self, *given: Any, **named: Any) -> Claim | None:
        found = super().claim(*given, **named)
        if found:
            self.at = found.event.at_us
        return found


class CompletesNothing(Model):
    def complete(self, claim: Claim, result: str) -> int:
        self.release(claim)
        return 0


class KeepsFailed(Model):
    """An event that was failed on stays claimed."""

    def complete(self, claim: Claim, result: str) -> int:
        until = self._owned(claim).until_us
        number = super().complete(claim, result)
        if result != SUCCEEDED:
            self.held[claim.by, claim.event.job, claim.event.task].until_us = until
        return number


class CompletesTwice(Model):
    """Lets an old owner complete."""

    def _owned(self, claim: Claim) -> Any:
        held = self.held.get((claim.by, claim.event.job, claim.event.task))
        return held if held is not None else super()._owned(claim)


class ExpiresOwners(Model):
    """Refuses an owner whose lease has run out though nobody else has the event."""

    def complete(self, claim: Claim, result: str) -> int:
        if self.clock() > claim.until_us:
            raise RuntimeError("too late")
        return super().complete(claim, result)


class NoHeartbeat(Model):
    def heartbeat(self, claim: Claim, now_us: int | None = None) -> int:
        self._owned(claim)
        return claim.until_us


class ReleasesNothing(Model):
    def release(self, claim: Claim) -> None:
        self._owned(claim)


class TrustsTheClock(Model):
    """Takes a lease that begins in the future for none."""

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        for held in self.held.values():
            if now_us is not None and held.until_us - lease_us > now_us:
                held.until_us = LOWEST
        return super().claim(of, by, worker=worker, lease_us=lease_us, now_us=now_us)


class ForgetsHands(Model):
    """A claim outlives that its event was processed by hand."""

    def record(self, job: str, task: str, result: str, at_us: int | None = None) -> int:
        held = dict(self.held)
        number = super().record(job, task, result, at_us)
        self.held.update(held)
        return number


class OneJob(Model):
    """Claims of one job count for all."""

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        if any(held.worker for held in self.held.values()):
            return None
        return super().claim(of, by, worker=worker, lease_us=lease_us, now_us=now_us)


class AnyLease(Model):
    def _lease(self, lease_us: int, now_us: int | None) -> tuple[int, int]:
        return super()._lease(max(1, int(lease_us)), now_us)


BREAKS: dict[str, type[Model]] = {
    "order": ByTask,
    "processed": ForgetsJobs,
    "counts-once": CountsTwice,
    "failed-then-succeeded": WaitsForFailures,
    "failure-leaves-pending": FailureIsProcessed,
    "bound": BoundExcludesItself,
    "names-are-exact": FoldsCase,
    "numbers-are-exact": Doubles,
    "clock": FollowsTheClock,
    "all-or-nothing": KeepsHalf,
    "refusals": TakesAnything,
    "claimed-once": ClaimsAgain,
    "late-events": PassesLate,
    "completed": CompletesNothing,
    "failed-is-claimable": KeepsFailed,
    "lease": CompletesTwice,
    "late-completion": ExpiresOwners,
    "heartbeat": NoHeartbeat,
    "released": ReleasesNothing,
    "clock-back": TrustsTheClock,
    "finished-by-hand": ForgetsHands,
    "jobs-apart": OneJob,
    "claim-in-a-transaction": KeepsHalf,
    "claim-refusals": AnyLease,
    "model-agreement": CompletesTwice,
}
"""promise -> a queue that breaks it."""
