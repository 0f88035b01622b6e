"""Does a queue keep the contract? Every promise by name, and what came of it for one class.

The promises themselves stand in queues/promises/, one chapter each; queues/model.py is what random schedules are
compared with. Nothing here needs more than the standard library, and nothing that a queue raises ends the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from queues.promises.cancel import CANCEL
from queues.promises.holding import HOLDING
from queues.promises.numbers import NUMBERS
from queues.promises.offer import Offer, attempt, offer_of
from queues.promises.process import PROCESS
from queues.promises.refusals import REFUSALS
from queues.promises.requeue import REQUEUE
from queues.promises.taking import TAKING
from queues.promises.trial import Broken, Promise, Trial, told_error
from queues.promises.views import VIEWING

KEPT, BROKEN, NOT_OFFERED = "kept", "broken", "not-offered"
PROMISES: tuple[Promise, ...] = (*TAKING, *NUMBERS, *REQUEUE, *PROCESS, *CANCEL, *VIEWING, *HOLDING, *REFUSALS)
"""All promises of the timer queue's contract, in reading order."""

TOLERATED = frozenset(promise.name for promise in PROMISES if promise.tolerated)
"""Promises that a queue may break and still be timed, because no workload does what they are about: how a wrong call is
refused, and that arguments may be given by name. All others must hold, or a figure would compare unequal work."""


@dataclass(frozen=True)
class Outcome:
    """What came of one promise: verdict "kept", "broken" or "not-offered", and in detail why."""

    promise: str
    sentence: str
    verdict: str
    detail: str


def conform(
    queue_class: Any,
    *,
    seed: int = 0,
    steps: int = 2500,
    progress: Callable[[str], object] | None = None,
    promises: Iterable[Promise] = PROMISES,
) -> list[Outcome]:
    """Check each of `promises` on `queue_class` and return one outcome each, in their order.

    `steps`: about how many steps the random schedules spend in all. The same seed gives the same outcomes.
    `progress` is called with the name of each promise before its check, so that one that hangs can be named from
    outside. Whatever the queue raises breaks a promise; only KeyboardInterrupt passes.

    >>> from queues.model import Model
    >>> {outcome.verdict for outcome in conform(Model, steps=100)}
    {'kept'}
    """
    offer = offer_of(queue_class)

    def trial_of(promise: Promise) -> Trial:
        return Trial(queue_class, offer, Random(f"{seed}/{promise.name}"), steps)

    return checked(promises, offer, trial_of, progress)


def checked(
    promises: Iterable[Any],
    offer: Offer,
    trial_of: Callable[[Any], Any],
    progress: Callable[[str], object] | None = None,
    end: Callable[[Any], object] = lambda trial: None,
) -> list[Outcome]:
    """Check each of `promises` in a trial of its own and return one outcome each, in their order; for every family.

    A promise whose needs are missing in `offer` has no trial. `progress` is called with the name of each promise before
    its check, `end` with its trial after it. Whatever a check raises breaks the promise; only KeyboardInterrupt passes.
    """
    outcomes = []
    for promise in promises:
        if progress is not None:
            progress(promise.name)
        if missing := offer.missing(promise.needs):
            found = (NOT_OFFERED, f"no {', no '.join(missing)}")
        else:
            trial = trial_of(promise)
            try:
                found = _found(promise, trial)
            finally:
                end(trial)
        outcomes.append(Outcome(promise.name, promise.sentence, *found))
    return outcomes


def _found(promise: Any, trial: Any) -> tuple[str, str]:
    """Return verdict and detail of one check."""
    _, error = attempt(lambda: promise.check(trial))
    if error is None:
        return KEPT, ""
    return BROKEN, str(error) if isinstance(error, Broken) else trial.told(f"raised {told_error(error)}")


def essential(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that forbid timing: every broken promise but the TOLERATED ones.

    A queue that drops, reorders or duplicates messages does other work than the one it is compared with, so a figure
    of it would be about nothing.
    """
    return [outcome for outcome in outcomes if outcome.verdict == BROKEN and outcome.promise not in TOLERATED]
