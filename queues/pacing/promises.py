"""Every promise of tickers and rate limiters by name, and what came of it for one class, in virtual time.

`conform` takes any class with the names of queues/pacing/contract.py, or some of them: what it lacks is not offered. A
class that blocks is given `clock` and `sleep`, one whose calls are coroutines runs in a loop whose time is virtual.
Nothing here sleeps, and nothing needs more than the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from queues.conformance import BROKEN, KEPT, NOT_OFFERED, Outcome
from queues.pacing.promises_ticker import TICKING
from queues.pacing.promises_waiting import LIMITING
from queues.pacing.rigging import offer
from queues.pacing.trial import Broken, NotOffered, Promise, Trial
from queues.registry import PEERS, SUBJECTS, load

PROMISES: dict[str, tuple[Promise, ...]] = {"ticker": tuple(TICKING), "limiter": LIMITING}
"""family -> its promises, in reading order."""


def conform(
    subject: Any, family: str, *, seed: int = 0, steps: int = 600, promises: Iterable[Promise] | None = None
) -> list[Outcome]:
    """Check each promise of `family` on the class `subject` and return one outcome each, in their order.

    `steps`: about how many steps a check with random schedules takes. The same seed gives the same outcomes. Whatever
    the class raises breaks a promise; only KeyboardInterrupt passes.

    >>> from queues.pacing.limiter_arithmetic import ArithmeticLimiter
    >>> {outcome.verdict for outcome in conform(ArithmeticLimiter, "limiter", steps=60)}
    {'kept'}
    """
    chosen = PROMISES[family] if promises is None else promises
    return [_outcome(one, subject, Random(f"{seed}/{one.name}"), steps) for one in chosen]


def conform_all(family: str, *, seed: int = 0, steps: int = 600) -> dict[str, list[Outcome]]:
    """Return name -> outcomes for every subject and every peer of `family`."""
    names = [*SUBJECTS[family], *PEERS[family]]
    return {name: conform(load(family, name), family, seed=seed, steps=steps) for name in names}


def _outcome(one: Promise, subject: Any, random: Random, steps: int) -> Outcome:
    missing = [name for name in one.needs if name not in offer(subject)]
    if missing:
        return Outcome(one.name, one.sentence, NOT_OFFERED, f"no {', no '.join(missing)}")
    trial = Trial(subject, random, steps)
    try:
        one.check(trial)
    except NotOffered as error:
        return Outcome(one.name, one.sentence, NOT_OFFERED, str(error))
    except Broken as error:
        return Outcome(one.name, one.sentence, BROKEN, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - code under test may raise anything
        return Outcome(one.name, one.sentence, BROKEN, trial.told(f"{type(error).__name__}: {error}"))
    finally:
        trial.end()
    return Outcome(one.name, one.sentence, KEPT, "")
