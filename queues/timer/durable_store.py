"""What a durable queue asks of the store behind it: pure typing.

Every call is one transaction: it happens as a whole or not at all, whoever else uses the store meanwhile.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from queues.timer.durable_place import Place

Row: TypeAlias = tuple[float, bytes, str]
"""Where a message stands (the two parts of its place), and its line."""


class Store(Protocol):
    """One named queue in a database. `now` is the time by which leases are counted; what has run out is put back first.

    TimeoutError when the store is locked for longer than the queue was told to wait, OSError when it cannot be
    written, ConnectionError when it is gone; the queue is then as it was.
    """

    def add(self, rows: list[Row]) -> None:
        """Queue messages, each behind all that are queued with an equal start."""

    def cut(self, at: Place, limit: int | None, now: float, until: float) -> tuple[int, str] | None:
        """Move what stands at or before `at` to a lease that ends at `until`; its number, and the lines as one text."""

    def confirm(self, lease: int, done: int, until: float) -> bool:
        """The first `done` lines of a lease are done for, and it ends at `until`; False when it is gone."""

    def finish(self, lease: int) -> bool:
        """All lines of a lease are done for; False when it is gone."""

    def rewrite(self, lease: int, text: str) -> bool:
        """Replace the lines of a lease, as one of them was cancelled; False when it is gone."""

    def put_back(self, lease: int, rows: list[Row]) -> bool | None:
        """End a lease and queue `rows`, what is left of it, each ahead of all that are queued with an equal start.

        True when something queued stands before the last of them; None when the lease is gone.
        """

    def at(self, where: Place, now: float) -> list[tuple[int, str]]:
        """(position, line) of all messages at exactly that place, in order."""

    def remove(self, where: Place, position: int, line: str) -> bool:
        """Drop one message; False when it is not there any more."""

    def count(self, now: float) -> int:
        """How many messages are queued."""

    def first(self, now: float) -> str | None:
        """The line of the first message."""

    def lines(self, now: float) -> list[str]:
        """The lines of all messages, in order."""

    def check(self) -> list[str]:
        """What is wrong with what is kept, in words."""

    def facts(self) -> dict[str, str]:
        """The settings that decide what a write costs, and the version of the engine."""

    def close(self) -> None:
        """Let go of the database, and remove what was made for this queue alone. A second time does nothing."""
