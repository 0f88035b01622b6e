"""What every timer queue refuses, and how: one check and one wording for all of them.

Functions only, standard library only, nothing to inherit. A queue calls these on its slow path or once per call;
the in-order path of `enqueue` needs none of them, because `start >= latest` is False for NaN and raises TypeError
for what is no number, and only then is a check made.
"""

from __future__ import annotations

import math
from operator import index

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sized
    from typing import Any

INFINITY = math.inf
NEGATIVE_INFINITY = -math.inf


class StopDispatch(Exception):
    """Raised by a handler to close the window quietly: the message stays first in its batch, `process` returns.

    >>> from queues.timer.array import Array
    >>> queue = Array()
    >>> queue.enqueue(1, "send", "mail")
    >>> batch = queue.take(now=1)
    >>> def refuse(start, *message):
    ...     raise StopDispatch
    >>> queue.process(batch, refuse, deadline=float("inf")), len(batch)
    (0, 1)
    """


def require_instant(value: Any, name: str = "start") -> None:
    """Refuse an instant that has no place on the line of numbers; ±inf and every mixture of real types have one.

    O(1). Raises ValueError for NaN (float or Decimal, quiet or signalling), TypeError for what cannot be ordered
    against numbers (None, str, datetime, complex).

    >>> require_instant(float("inf"))
    >>> require_instant(float("nan"))
    Traceback (most recent call last):
        ...
    ValueError: start is nan: expected a number that can be ordered; leave out or replace the message
    """
    try:
        comparable = value >= NEGATIVE_INFINITY
    except TypeError:
        comparable = None
    except ArithmeticError:  # Decimal("NaN") raises InvalidOperation, which is no ValueError
        comparable = False
    if comparable is None:
        raise TypeError(
            f"{name} is {value!r} ({type(value).__name__}): expected a number (int, float, Fraction, Decimal)"
        ) from None
    if not comparable:
        raise ValueError(
            f"{name} is {value!r}: expected a number that can be ordered; leave out or replace the message"
        )


def require_limit(limit: Any) -> int:
    """Return `limit` as an int of at least 1, the most messages a batch may hold.

    Raises ValueError below 1, TypeError for what is no whole number.

    >>> require_limit(3)
    3
    """
    try:
        count = index(limit)
    except TypeError:
        raise TypeError(f"limit is {limit!r}: expected a whole number of messages, or None for no limit") from None
    if count < 1:
        raise ValueError(f"limit is {limit!r}: expected at least 1, or None for no limit")
    return count


def require_settings(window: Any, clock: Any) -> None:
    """Refuse a window that is negative or no number, and a clock that cannot be called.

    >>> require_settings(-1, int)
    Traceback (most recent call last):
        ...
    ValueError: window is -1: expected a span of at least 0
    """
    require_instant(window, "window")
    if window < 0:
        raise ValueError(f"window is {window!r}: expected a span of at least 0")
    if not callable(clock):
        raise TypeError(f"clock is {clock!r}: expected something to call that returns the time")


def require_batch(batch: Any, batch_type: type, queue: object) -> None:
    """Refuse what is no batch (TypeError), another queue's (ValueError), or one in use by `process` (RuntimeError).

    A batch has the attributes `queue` (its owner) and `processing` (True while its messages are being handed out).
    """
    if not isinstance(batch, batch_type):
        raise TypeError(f"batch is {type(batch).__name__}: expected what take() of this queue returned")
    if batch.queue is not queue:  # type: ignore[attr-defined]
        raise ValueError("batch was taken from another queue: give it back to the queue that it came from")
    if batch.processing:  # type: ignore[attr-defined]
        raise RuntimeError("batch is being processed: wait until process() of it has ended")


def require_handler(handler: Any) -> None:
    """Refuse a handler that cannot be called, before any message is touched."""
    if not callable(handler):
        raise TypeError(f"handler is {handler!r}: expected something to call with (start, *message)")


def watched(match: Any, queue: Sized, running: Iterable[Sized]) -> Any:
    """Return `match` as `cancel` calls it: RuntimeError, and nothing removed, as soon as it changes how many there are.

    `running` are the batches being processed, which `cancel` searches too. A search goes on where it was, so what came
    or went meanwhile would be missed, met twice, or taken for another message. None stays None.

    >>> queue = [1, 2]
    >>> watched(lambda message: queue.clear(), queue, [])("mail")
    Traceback (most recent call last):
        ...
    RuntimeError: match put messages in or took some out: expected it to look at the one it is given
    """
    if match is None:
        return None
    before = [len(queue), *map(len, running)]

    def look(*message: Any) -> object:
        found = match(*message)
        if [len(queue), *map(len, running)] != before:
            raise RuntimeError("match put messages in or took some out: expected it to look at the one it is given")
        return found

    return look


def deadline_of(deadline: Any, clock: Callable[[], Any], window: Any) -> Any:
    """Return the instant at which the window closes: `deadline`, or `window` from now when it is None."""
    if deadline is None:
        return clock() + window
    require_instant(deadline, "deadline")
    return deadline
