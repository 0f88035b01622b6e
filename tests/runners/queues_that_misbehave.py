"""Queues that do to a worker what users' queues do: hang, die, print, eat memory, fork, leave."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from typing import Any


class Plain:
    """A queue that does no more than the least it must; the base of those that misbehave."""

    def __init__(self) -> None:
        self.items: list[tuple[Any, ...]] = []

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order."""
        self.items.append((start, *message))
        self.items.sort(key=lambda item: item[0])

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Cut what is due."""
        due = [item for item in self.items if item[0] <= now]
        self.items = self.items[len(due) :]
        return due or None

    def requeue(self, batch: list[tuple[Any, ...]]) -> int:
        """Put it back in front."""
        left = len(batch)
        self.items[:0] = batch
        batch.clear()
        self.items.sort(key=lambda item: item[0])
        return left

    def __len__(self) -> int:
        return len(self.items)


class Hangs(Plain):
    """Never comes back from take."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Wait for what does not come."""
        while True:
            pass


class HangsWithAFile(Hangs):
    """Has a folder of its own, and never comes back to remove it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="misbehaving-")


class Killed(Plain):
    """Dies of a signal."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """End the process the hard way."""
        os.kill(os.getpid(), signal.SIGKILL)
        return None


class Leaves(Plain):
    """Leaves the process as if all were well."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Exit without a word."""
        os._exit(0)


class Exits(Plain):
    """Asks the interpreter to exit."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Exit by exception."""
        sys.exit(3)


class Raises(Plain):
    """Has a fault of its own."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Divide by nothing."""
        raise ZeroDivisionError("the wheel has no spokes")


class Eats(Plain):
    """Wants more memory than there is."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Ask for it in one piece."""
        bytearray(1 << 40)
        return None


class Prints(Plain):
    """Talks on stdout all the time."""

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message and say so."""
        print("queued", start)
        super().enqueue(start, *message)


class Forks(Plain):
    """Leaves a child behind that never ends."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Fork before the work."""
        if os.fork() == 0:
            signal.pause()
        return super().take(now)


class Loses(Plain):
    """Drops a message on the way back."""

    def requeue(self, batch: list[tuple[Any, ...]]) -> int:
        """Forget the last one."""
        left = len(batch)
        batch.pop()
        super().requeue(batch)
        return left


class Forgets(Plain):
    """Keeps no message that starts at a multiple of seven."""

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message, or not."""
        if start % 7:
            super().enqueue(start, *message)


class NeedsServer(Plain):
    """Cannot be made without knowing where its server is."""

    def __init__(self) -> None:
        if os.environ["LAB_REDIS_URL"] != "redis://here":
            raise ConnectionError("nobody is there")
        super().__init__()


class LeavesADaemon(Plain):
    """Starts a process that leaves its session, its group, its folder and its parent, and never ends."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Fork twice before the work, as daemons do."""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.chdir("/")
                signal.pause()
            os._exit(0)
        os.wait()
        return super().take(now)


class HangsWithADaemon(LeavesADaemon):
    """The same, and never comes back from take itself."""

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Start it, then wait for what does not come."""
        super().take(now)
        while True:
            pass
