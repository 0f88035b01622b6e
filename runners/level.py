"""A cycle that finds the caches alike at every size, so that a growing time is the queue's and not the machine's.

A take that walks 100,000 messages drives the interpreter itself out of the caches, and the put back after it then pays
15 µs for 2 µs of work: growth that the queue has not caused. Here a companion, a queue of the same class and of one
size, is taken from and put back to before every timed put back, untimed.
"""

from __future__ import annotations

from runners.latency import require_length
from runners.rigs import Rig, fill, holds, ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runners.rigs import Parameters

COMPANION_DUE = 1_000
"""Messages due in the companion: in the middle of the sizes, so that it goes the way of a large batch."""

ROUNDS = 3
"""Cycles of the companion before each put back."""


def level_cycle(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """As `runners.rigs.cycle`; at the end the companion holds what it held as well."""
    due, queued = params["due"], params["queued"]
    queue = fill(queue_class(), ordered(0, due + queued))
    companion = fill(queue_class(), ordered(0, 2 * COMPANION_DUE))

    def check() -> None:
        holds(queue, 0, due + queued)()
        holds(companion, 0, 2 * COMPANION_DUE)()

    return Rig(queue, (queue, due - 1.0, levelled(companion, due)), check)


def levelled(companion: Any, due: int) -> Callable[[Any], None]:
    """Return what stands between take and requeue: the check of the length, then the cycles of the companion."""
    take, requeue = companion.take, companion.requeue

    def between(batch: Any) -> None:
        require_length(batch, due)
        for _ in range(ROUNDS):
            other = take(COMPANION_DUE - 1.0)
            require_length(other, COMPANION_DUE, "the batch of the companion")
            requeue(other)

    return between
