"""An event queue under one check: how one is made, a clock that is set, and every call written down."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from queues.promises.offer import Clock, Offer, attempt
from queues.promises.trial import Recorded
from queues.promises.trial import Trial as TimerTrial

METHODS = (
    *("record", "record_many", "pending", "finish", "claim", "heartbeat", "complete", "release"),
    *("transaction", "close"),
)


@dataclass(frozen=True)
class Promise:
    """One thing that the contract promises, and the check of it, which raises Broken when it is not kept."""

    name: str
    sentence: str
    needs: tuple[str, ...]
    check: Callable[[Trial], None]


Check = Callable[["Trial"], None]


def promise(chapter: list[Promise], name: str, needs: str = "") -> Callable[[Check], Check]:
    """Add the decorated check to `chapter`; `needs` are names of methods, apart by spaces.

    The first line of its docstring is the sentence of the promise, what follows says on which input it is checked.
    """

    def added(check: Check) -> Check:
        sentence = (check.__doc__ or "").partition("\n")[0]
        chapter.append(Promise(name, sentence, tuple(needs.split()), check))
        return check

    return added


def offer_of(queue_class: Any) -> Offer:
    """Return the methods that `queue_class` has; none is made, a server may have to be started for that.

    >>> from queues.events.model import Model
    >>> offer_of(Model).missing(METHODS), offer_of(dict).missing(["record"])
    ([], ['record'])
    """
    return Offer(frozenset(name for name in METHODS if callable(getattr(queue_class, name, None))))


class Trial(TimerTrial):
    """Makes the queues of one check, lets them go at its end, and remembers what was done to them."""

    def __init__(self, queue_class: Any, offer: Offer, random: Random, steps: int) -> None:
        """Prepare a check of `queue_class`; `steps` is how many random steps a check may spend."""
        super().__init__(queue_class, offer, random, steps)
        self.made = ExitStack()

    def queue(self, now: Any = 1_000, window: Any = None) -> Any:
        """Return a new queue whose calls are written down; its clock stands at `now`."""
        self.log = []
        self.clock = Clock(now)
        return Recorded(self, self.opened(), "")

    def opened(self, **more: Any) -> Any:
        """Return a queue itself, on the clock at hand; it is closed with the trial."""
        made = self.call("queue()", partial(self.queue_class, clock=self.clock, **more))
        self.log.pop()
        self.made.callback(attempt, made.close)
        return made

    def again(self, queue: Any) -> Any:
        """Return another connection to the queue at hand, whose calls are written down as well."""
        return Recorded(self, self.opened(**queue.bare.place), "other.")

    def rows(self, events: Any) -> list[tuple[str, str, int]]:
        """Return events without their ids, which an engine may leave gaps between."""
        return [(event.job, event.task, event.at_us) for event in events]

    def expect_pending(self, queue: Any, expected: str, of: str = "a", by: str = "b", **more: Any) -> None:
        """Break the promise unless the tasks that are pending are the letters of `expected`, in order."""
        self.expect("".join(event.task for event in queue.pending(of, by, **more)), expected)

    def close(self) -> None:
        """Let go of all that was made."""
        self.made.close()
