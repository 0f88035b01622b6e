"""Does an advisory scheduler keep the contract? Every promise by name, and what came of it for one class.

The promises stand in the chapters queues/advisory/promise_*.py; queues/advisory/model.py is what random schedules are
compared with. Nothing that a scheduler raises ends the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from queues.advisory.promise_advice import ADVICE
from queues.advisory.promise_jobs import JOBS
from queues.advisory.promise_refusals import REFUSALS
from queues.advisory.promise_schedules import SCHEDULES
from queues.advisory.promise_spread import SPREADING
from queues.advisory.trial import Promise, Trial, offer_of
from queues.conformance import Outcome, checked

PROMISES: tuple[Promise, ...] = (*ADVICE, *JOBS, *SPREADING, *REFUSALS, *SCHEDULES)
"""All promises of the advisory scheduler's contract, in reading order."""


def conform(
    scheduler_class: Any,
    seed: int = 0,
    steps: int = 600,
    *,
    progress: Callable[[str], object] | None = None,
    promises: Iterable[Promise] = PROMISES,
) -> list[Outcome]:
    """Check each of `promises` on `scheduler_class` and return one outcome each, in their order.

    `steps`: about how many calls each random promise makes. The same seed gives the same outcomes. `progress` is called
    with the name of each promise before its check. Whatever the scheduler raises breaks a promise; only
    KeyboardInterrupt passes. The detail of a broken promise is the calls that show it: of a random schedule the
    smallest that does.

    >>> from queues.advisory.heap import Heap
    >>> {outcome.verdict for outcome in conform(Heap, steps=60)}
    {'kept'}
    """
    offer = offer_of(scheduler_class)

    def trial_of(promise: Promise) -> Trial:
        return Trial(scheduler_class, offer, Random(f"{seed}/{promise.name}"), steps)

    return checked(promises, offer, trial_of, progress)
