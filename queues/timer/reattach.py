"""The bare relinks behind a batch, for the reattach workload: cut the front of a list and put it back, both ways.

Each function builds a list of queued + part messages and returns `(detach, reattach, check)`: `detach()` cuts the
first `part` and returns the fragment, `reattach(fragment)` puts it back in front, `check()` asserts that the list is
whole and in order. `part` is at least 1.
"""

from __future__ import annotations

from queues.timer.linked_list import Cursor, Fragment, LinkedList

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Relinks: TypeAlias = tuple[Callable[[], Fragment], Callable[[Fragment], object], Callable[[], None]]


PAYLOAD = "message"  # the same for all, and never looked at


def relink_counted(queued: int, part: int) -> Relinks:
    """By `detach(count)` and `append_to(cursor)`, which both walk: O(part) each.

    >>> detach, reattach, check = relink_counted(queued=5, part=2)
    >>> _ = reattach(detach())
    >>> check()
    """
    chain, _ = _messages(queued, part)
    anchor = chain.cursor()
    return (
        lambda: anchor.detach(part),
        lambda fragment: fragment.append_to(anchor),
        _whole(chain, queued + part),
    )


def relink_known(queued: int, part: int) -> Relinks:
    """By `detach_through(stop)` and `append_to(cursor, known_tail)`, with a cursor that stands there: O(1) each.

    >>> detach, reattach, check = relink_known(queued=5, part=2)
    >>> fragment = detach()
    >>> check()
    Traceback (most recent call last):
        ...
    AssertionError: the list is not whole and in order: expected 0 to 6, found [2.0, 3.0, 4.0, 5.0, 6.0]
    >>> _ = reattach(fragment)
    >>> check()
    """
    chain, stop = _messages(queued, part)
    anchor = chain.cursor()
    return (
        lambda: anchor.detach_through(stop),
        lambda fragment: fragment.append_to(anchor, stop),
        _whole(chain, queued + part),
    )


def _messages(queued: int, part: int) -> tuple[LinkedList, Cursor]:
    """A list of messages at 0.0, 1.0, ... and a cursor on the last of the first `part`."""
    chain = LinkedList()
    last = chain.cursor()
    for index in range(part):
        last.append((float(index), PAYLOAD))
    stop = last.copy()
    for index in range(part, part + queued):
        last.append((float(index), PAYLOAD))
    return chain, stop


def _whole(chain: LinkedList, messages: int) -> Callable[[], None]:
    """A function that asserts that `chain` is as it was built."""

    def check() -> None:
        starts = [data[0] for data in chain]
        if starts != list(range(messages)):
            raise AssertionError(f"the list is not whole and in order: expected 0 to {messages - 1}, found {starts}")

    return check
