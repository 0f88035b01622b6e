"""Every promise of tickers and rate limiters by name, and what came of it for one class, in virtual time.

`conform` takes any class with the names of queues/pacing/contract.py, or some of them: what it lacks is not offered. A
class that blocks is given `clock` and `sleep`, one whose calls are coroutines runs in a loop whose time is virtual.
Nothing here sleeps, and nothing needs more than the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

from queues.conformance import BROKEN, KEPT, NOT_OFFERED, Outcome
from queues.pacing.promises_ticker import TICKING
from queues.pacing.promises_waiting import LIMITING
from queues.pacing.rigging import offer
from queues.pacing.trial import Broken, NotOffered, Promise, Trial

PROMISES: dict[str, tuple[Promise, ...]] = {"ticker": tuple(TICKING), "limiter": LIMITING}
"""family -> its promises, in reading order."""


def conform(
    subject: Any,
    family: str,
    *,
    seed: int = 0,
    steps: int = 600,
    promises: Iterable[Promise] | None = None,
    progress: Callable[[str], object] | None = None,
) -> list[Outcome]:
    """Check each promise of `family` on the class `subject` and return one outcome each, in their order.

    `steps`: about how many steps a check with random schedules takes. The same seed gives the same outcomes.
    `progress` is called with the name of each promise before its check. Whatever the class raises breaks a promise;
    only KeyboardInterrupt passes.

    >>> from queues.pacing.limiter_arithmetic import ArithmeticLimiter
    >>> {outcome.verdict for outcome in conform(ArithmeticLimiter, "limiter", steps=60)}
    {'kept'}
    """
    chosen = PROMISES[family] if promises is None else promises
    outcomes = []
    for one in chosen:
        if progress is not None:
            progress(one.name)
        outcomes.append(_outcome(one, subject, Random(f"{seed}/{one.name}"), steps))
    return outcomes


conform_ticker, conform_limiter = partial(conform, family="ticker"), partial(conform, family="limiter")


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
