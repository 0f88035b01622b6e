"""huey's SQLite storage as a queue of events: what claims cost there.

Its `dequeue` deletes what it returns, so there is no lease and no completion: a worker that dies has lost its event.
Priorities, results and schedules of huey are not used.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import huey
from huey.storage import SqliteStorage

from queues.events.rules import Claim, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Huey:
    """The part of the event queue's contract that huey's storage has: record, claim, and a completion that is nothing.

    >>> queue = Huey()
    >>> queue.record_many([("fetch", "page 1", "SUCCEEDED", 0)])
    1
    >>> queue.claim("fetch", "parse", worker="w", lease_us=1).event.task
    'page 1'
    >>> queue.close()
    """

    engine = "sqlite"

    def __init__(self, path: str | None = None) -> None:
        """Open or make the file; without a path a private one that goes with the object."""
        self._folder = tempfile.mkdtemp(prefix="lab-huey-") if path is None else ""
        self.path = os.path.join(self._folder, "huey.db") if path is None else path  # noqa: PTH118
        self._storage = SqliteStorage("events", filename=self.path)

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more."""
        return {"path": self.path}

    def facts(self) -> dict[str, str]:
        """Return what decides a figure, by name."""
        found = {
            name: self._storage.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        }
        return {"huey": huey.__version__, **{name: str(value) for name, value in found.items()}}

    def record_many(self, events: Iterable[tuple[str, str, str, int]]) -> int:
        """Enqueue the tasks, one by one, as huey does."""
        count = 0
        for _, task, _, _ in events:
            self._storage.enqueue(task.encode())
            count += 1
        return count

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        """Dequeue the next task; it is gone from the storage then."""
        data = self._storage.dequeue()
        if data is None:
            return None
        return Claim(Event(0, of, bytes(data).decode(), "SUCCEEDED", 0), by, worker, 1, lease_us, 0)

    def complete(self, claim: Claim, result: str) -> int:
        """Nothing: the task went when it was dequeued."""
        return 0

    def pending(self, of: str, by: str, *, limit: int | None = None) -> list[Any]:
        """Return what is still enqueued, as huey has it."""
        return list(self._storage.enqueued_items(limit))

    def close(self) -> None:
        """Let go of the connection, and of the file when it was made for this object."""
        self._storage.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
