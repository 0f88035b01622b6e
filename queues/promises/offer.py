"""What a queue class offers beyond the four essentials, found out by looking, and how one is built with it.

A user's queue needs only enqueue, take, requeue and len. What a check needs beyond that it names, and where the queue
has no such thing the promise is "not offered", never broken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

ESSENTIALS = ("enqueue", "take", "requeue", "__len__")
VIEWS = ("next_start", "merged", "walked")
METHODS = (*ESSENTIALS, *VIEWS, "process", "cancel", "contents", "container", "check")
SETTINGS = (("window", "clock"), ("clock",), ("window",), ())
ARGUMENTS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "take-now": ("take", (), {}),  # that it may be left out
    "take-limit": ("take", (1.0,), {"limit": 1}),
    "process-deadline": ("process", (None, None), {"deadline": 1.0}),
    "cancel-match": ("cancel", (1.0,), {"match": None}),
}
"""Optional arguments: name in an Offer -> the method and a call that takes it."""


class Clock:
    """A clock that stands still until somebody sets `now`; set to an exception, it fails with that."""

    def __init__(self, now: Any = 0.0) -> None:
        """Stand at `now`."""
        self.now = now

    def __call__(self) -> Any:
        """Return the time."""
        if isinstance(self.now, Exception):
            raise self.now
        return self.now


@dataclass(frozen=True)
class Offer:
    """The names of what a queue class has: methods, settings, `method-argument`, for its batches `read`, `iterate` and
    `latest`, and `objects` when a message may be made of any object (a durable queue keeps JSON)."""

    names: frozenset[str]

    def missing(self, needs: Iterable[str]) -> list[str]:
        """Return what of `needs` is not offered, in that order."""
        return [name for name in needs if name not in self.names]

    def __contains__(self, name: str) -> bool:
        """Whether the queue offers `name`."""
        return name in self.names

    def without(self, *names: str) -> Offer:
        """Return the offer of a queue that lacks `names`."""
        return Offer(self.names - set(names))


def build(queue_class: Any, offer: Offer, window: Any = 60.0, clock: Callable[[], Any] | None = None) -> Any:
    """Return a new queue, given those of `window` and `clock` that its constructor takes (no clock: neither)."""
    settings = {"window": window, "clock": clock} if clock is not None else {}
    return queue_class(**{name: value for name, value in settings.items() if name in offer})


def offer_of(queue_class: Any) -> Offer:
    """Return what `queue_class` offers, told from one queue of it that has held two messages; it never raises.

    >>> from queues.model import Model
    >>> offer_of(Model).missing(METHODS)
    []
    >>> offer_of(list).missing(ESSENTIALS)
    ['enqueue', 'take', 'requeue']
    """
    for settings in SETTINGS:
        names = set(settings)
        queue, error = attempt(partial(build, queue_class, Offer(frozenset(names)), clock=Clock()))
        if error is None:
            break
        if not isinstance(error, TypeError):  # a constructor that fails otherwise: each promise tells so
            return Offer(frozenset(names))
    names.update(name for name in METHODS if has(queue, name))
    names.update(name for name, call in ARGUMENTS.items() if call[0] in names and _accepts(queue, *call))
    if not isinstance(attempt(lambda: queue.enqueue(1.0, Clock()))[1], TypeError):
        names.add("objects")
    attempt(lambda: queue.enqueue(1.0, "probe"))
    batch, _ = attempt(lambda: queue.take(1.0))
    if has(batch, "latest"):
        names.add("latest")
    if has(batch, "__iter__"):
        names.add("iterate")
    if names & {"process", "iterate"}:
        names.add("read")
    return Offer(frozenset(names))


def attempt(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Return what `function()` returns and no error, or None and whatever it raised (KeyboardInterrupt passes)."""
    try:
        return function(), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - code under test may raise anything, SystemExit included
        return None, error


def has(thing: object, name: str) -> bool:
    """Whether `thing` has `name`; one that raises when it is looked at is there, and broken."""
    found, error = attempt(lambda: getattr(thing, name))
    if isinstance(error, AttributeError):  # it is not there, or it is and its own code failed so
        return inspect.getattr_static(thing, name, None) is not None
    if error is not None:
        return True
    return found is not None or name in VIEWS


def _accepts(queue: Any, method: str, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    signature, error = attempt(lambda: inspect.signature(getattr(queue, method)))
    if error is not None:  # written in C, without a signature: believe the contract
        return True
    return attempt(lambda: signature.bind(*given, **named))[1] is None
