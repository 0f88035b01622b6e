"""The null subject: what a call costs that does nothing is what the instrument adds to every sample."""

from __future__ import annotations

from contextvars import ContextVar
from operator import is_, is_not

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NullBatch:
    """A batch that only has a length."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length


class NullQueue:
    """A timer queue that does nothing, in the cheapest calls that the interpreter has.

    Its methods are built-in functions that accept the arguments and make nothing of them: no queue can be called for
    less, so a call that takes less has not been made. A method written in Python would add its frame, 20 to 60 ns.

    >>> queue = NullQueue(due=3)
    >>> len(queue.take(5.0)), queue.take(5.0) is queue.take(6.0), queue.process(queue.take(5.0), print) == 1
    (3, True, True)
    """

    __slots__ = ("enqueue", "process", "requeue", "take")

    def __init__(self, due: int = 1) -> None:
        preset: ContextVar[Any] = ContextVar("preset")
        preset.set(NullBatch(due))
        self.enqueue: Any = is_  # (start, message)
        self.take: Any = preset.get  # (now): the batch, whatever now is; it would be the default
        self.process: Any = is_not  # (batch, handler): True, that is, one was dispatched
        self.requeue: Any = callable  # (batch)

    @classmethod
    def with_limit(cls) -> NullQueue:
        """Return one whose `take` accepts a limit as well, and returns no batch."""
        queue = cls()
        queue.take = is_  # (now, limit)
        return queue

    def __len__(self) -> int:
        return 0
