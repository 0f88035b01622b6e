"""Does an event queue keep the contract? Every promise by name, and what came of it for one class.

The promises stand in the chapters queues/events/promise_*.py; queues/events/model.py is what random schedules are
compared with. Nothing that a queue raises ends the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from queues.conformance import Outcome, checked
from queues.events.promise_claims import CLAIMS
from queues.events.promise_log import LOG
from queues.events.promise_schedules import SCHEDULES
from queues.events.trial import Promise, Trial, offer_of

PROMISES: tuple[Promise, ...] = (*LOG, *CLAIMS, *SCHEDULES)
"""All promises of the event queue's contract, in reading order."""


def conform(
    queue_class: Any,
    seed: int = 0,
    steps: int = 300,
    *,
    progress: Callable[[str], object] | None = None,
    promises: Iterable[Promise] = PROMISES,
) -> list[Outcome]:
    """Check each of `promises` on `queue_class` and return one outcome each, in their order.

    `steps`: about how many calls the random schedules make. The same seed gives the same outcomes. `progress` is called
    with the name of each promise before its check. Whatever the queue raises breaks a promise; only KeyboardInterrupt
    passes.

    >>> from queues.events.sqlite import SqliteRelaxed
    >>> {outcome.verdict for outcome in conform(SqliteRelaxed, steps=60)}
    {'kept'}
    """
    offer = offer_of(queue_class)

    def trial_of(promise: Promise) -> Trial:
        return Trial(queue_class, offer, Random(f"{seed}/{promise.name}"), steps)

    return checked(promises, offer, trial_of, progress, end=Trial.close)
