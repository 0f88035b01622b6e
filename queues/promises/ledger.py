"""Double-entry book-keeping over a schedule: what went into a queue came out, or is still there, after every step.

It needs no model: order may be wrong and the books still balance, so a queue that only mixes up ties is not accused of
losing messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from queues.promises.offer import Offer, attempt
from queues.promises.schedules import ACTIONS, Difference, Player, Step
from queues.promises.trial import told_error


class Ledger:
    """The messages that went in and came out of the queue of one player."""

    def __init__(self, player: Player) -> None:
        """Start with an empty queue."""
        self.player = player
        self.came: Counter[Any] = Counter()
        self.went: Counter[Any] = Counter()
        self.left = 0
        """How many went out, the unseen ones of a queue whose batches cannot be read included."""

    def book(self, step: Step, result: Any) -> None:
        """Enter what `step` did, told from its result."""
        operation = step[0]
        if operation == "enqueue":
            self.came[step[2]] += 1
        elif operation == "cancel" and result is not None:
            self._out([result])
        elif operation == "read" and isinstance(result, list):
            self._out(result)
        elif operation == "read" and result is not None:
            self.left += result
        elif operation == "process" and result is not None:
            self._process(step, *result)

    def _process(self, step: Step, count: Any, seen: list[Any]) -> None:
        messages = [entry for entry in seen if entry[0] not in ACTIONS]
        self._out(messages if isinstance(count, int) and count == len(messages) else messages[:-1])
        for operation, result in (entry for entry in seen if entry[0] in ACTIONS):
            if operation in ("enqueue", "cancel"):
                self.book(step[3], result)

    def _out(self, messages: Sequence[Any]) -> None:
        self.went.update(message[1] for message in messages)
        self.left += len(messages)

    def balance(self) -> tuple[int, int]:
        """Return how many came in, and how many went out, are queued, or are held in batches."""
        held = sum(len(batch) for batch in self.player.batches.values())
        return self.came.total(), self.left + len(self.player.queue) + held


def unbalanced(queue_class: Any, offer: Offer, steps: Sequence[Step]) -> Difference | None:
    """Play `steps` and return the first one after which the books do not balance, or None.

    The last steps are expected to take and read everything: then each message must have come out exactly once.
    """
    player, error = attempt(lambda: Player(queue_class, offer, Offer(frozenset()), "read" in offer))
    if error is not None:
        return Difference((), "raised", "a queue", told_error(error))
    ledger = Ledger(player)
    for number, step in enumerate(steps, 1):
        done = tuple(steps[:number])
        result = player.play(step)
        if isinstance(result, tuple) and result[:1] == ("raised",):
            return Difference(done, "raised", "no exception", result[1])
        ledger.book(step, result)
        balance, error = attempt(ledger.balance)
        if error is not None:
            return Difference(done, "raised", "the lengths", told_error(error))
        if balance[0] != balance[1]:
            return Difference(done, "messages accounted for", *balance)
        twice = [name for name, count in ledger.went.items() if count > ledger.came[name]]
        if twice:
            return Difference(done, "messages that came out more often than they went in", [], twice)
    return None
