"""An advisory scheduler under one check: what it offers, how one is made, and every call written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from queues.promises.offer import Clock, Offer, attempt
from queues.promises.trial import Broken, Recorded, told_error
from queues.promises.trial import Trial as TimerTrial

ESSENTIALS = ("add", "next_job")
METHODS = (
    *ESSENTIALS,
    "update_period",
    "remove",
    "spread",
    "all_jobs",
    "job_data",
    "userdata",
    "update_userdata",
    "delete_userdata",
)
SETTINGS = (("auto_spread", "clock"), ("clock",), ("auto_spread",), ())


@dataclass(frozen=True)
class Promise:
    """One thing that the contract promises, and the check of it, which raises Broken when it is not kept."""

    name: str
    sentence: str
    needs: tuple[str, ...]
    check: Callable[[Trial], None]


Check = Callable[["Trial"], None]


def promise(chapter: list[Promise], name: str, needs: str = "") -> Callable[[Check], Check]:
    """Add the decorated check to `chapter`; `needs` are names of an Offer, apart by spaces.

    The first line of its docstring is the sentence of the promise, what follows says on which input it is checked.
    """

    def added(check: Check) -> Check:
        sentence = (check.__doc__ or "").partition("\n")[0]
        chapter.append(Promise(name, sentence, tuple(needs.split()), check))
        return check

    return added


def build(scheduler_class: Any, offer: Offer, auto_spread: bool, clock: Callable[[], Any]) -> Any:
    """Return a new scheduler, given those settings that its constructor takes."""
    settings = {"auto_spread": auto_spread, "clock": clock}
    return scheduler_class(**{name: value for name, value in settings.items() if name in offer})


def offer_of(scheduler_class: Any) -> Offer:
    """Return the methods and settings that `scheduler_class` has, told by making one; it never raises.

    >>> from queues.advisory.model import Model
    >>> offer_of(Model).missing(METHODS), offer_of(dict).missing(ESSENTIALS)
    ([], ['add', 'next_job'])
    """
    for settings in SETTINGS:
        made, error = attempt(partial(build, scheduler_class, Offer(frozenset(settings)), False, Clock()))
        if error is None:
            methods = (name for name in METHODS if callable(getattr(made, name, None)))
            return Offer(frozenset((*settings, *methods)))
        if not isinstance(error, TypeError):  # a constructor that fails otherwise: each promise tells so
            break
    return Offer(frozenset(settings))


class Trial(TimerTrial):
    """Makes the schedulers of one check and remembers what was done to them."""

    def __init__(self, scheduler_class: Any, offer: Offer, random: Random, steps: int) -> None:
        """Prepare a check of `scheduler_class`; `steps` is how many random steps a check may spend."""
        super().__init__(scheduler_class, offer, random, steps)

    def scheduler(self, now: Any = 0, auto_spread: bool = False) -> Any:
        """Return a new scheduler whose calls are written down; its clock stands at `now`. Forget the one before."""
        self.log = []
        self.clock = Clock(now)
        made, error = attempt(partial(build, self.queue_class, self.offer, auto_spread, self.clock))
        if error is not None:
            raise Broken(self.told(f"raised {told_error(error)}")) from error
        return Recorded(self, made, "")

    def with_jobs(self, *jobs: tuple[Any, Any], now: Any = 0) -> Any:
        """Return a new scheduler with a job for each (id, period), its clock at `now`."""
        scheduler = self.scheduler(now)
        for job_id, period in jobs:
            scheduler.add(job_id, period)
        return scheduler

    def told(self, what: str) -> str:
        """Return the calls so far and what went wrong."""
        return super().told(what) if self.log else f"a new scheduler: {what}"

    def expect_advice(self, scheduler: Any, now: Any, job_id: Any, delay: Any) -> None:
        """Break the promise unless `next_job(now)` advises `job_id` in `delay`."""
        self.clock.now = now
        self.expect(tuple(scheduler.next_job(now))[:2], (job_id, delay))

    def expect_ids(self, scheduler: Any, now: Any, expected: str | list[Any]) -> None:
        """Break the promise unless as many calls of `next_job(now)` advise the ids `expected`, in order."""
        self.clock.now = now
        self.expect([scheduler.next_job(now)[0] for _ in expected], list(expected))
