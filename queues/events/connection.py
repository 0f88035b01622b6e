"""A connection that is patient: transactions, waiting for others within a limit, an engine's errors told as ours.

A dialect (sqlite.py, postgresql.py, mariadb.py) says how to connect, run a statement and read an error.
"""

from __future__ import annotations

import contextlib
import time

from queues.events.rules import Busy, EventsError, StorageFull, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any, NoReturn, Self, TypeVar

    Parameters = dict[str, Any]
    T = TypeVar("T")

PAUSE_SECONDS = 0.001
ATTEMPTS = 5

AGAIN, BUSY, FULL, GONE = "again", "busy", "full", "gone"
"""What an engine's error means: it must be tried again, waited too long, has no room, or does not answer."""


class Connection:
    """What is the same for every engine, whatever its tables hold."""

    engine = ""
    title = ""

    def __init__(self, busy_seconds: float) -> None:
        """Connect. `busy_seconds`: how long to wait for others."""
        self.busy_seconds = busy_seconds
        self.retried = 0
        """How often something was tried again because others were in the way: a deadlock, or the lock of a file."""

        self._within = False
        self._connection: Any = None
        self._closed = False
        self._patiently(lambda: None)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All calls within are done together or, when the block raises, not at all."""
        if self._within:
            raise RuntimeError("a transaction is open already: they do not nest")
        self._read(self._begin)
        self._within = True
        try:
            yield
            self._within = False
            self._guarded(self._commit)
        except BaseException:
            self._within = False
            self._undo()
            raise

    def close(self) -> None:
        """Let go of the connection, and of the storage when it was made for this object."""
        if not self._closed:
            self._closed = True
            self._disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def _write(self, work: Callable[[], T]) -> T:
        """Do some work in a transaction of its own, or in the one that is open."""
        if self._within:
            return self._guarded(work)

        def attempt() -> T:
            self._begin()
            try:
                result = work()
                self._commit()
            except BaseException:
                self._undo()
                raise
            return result

        return self._patiently(attempt)

    def _read(self, work: Callable[[], T]) -> T:
        return self._guarded(work) if self._within else self._patiently(work)

    def _patiently(self, work: Callable[[], T]) -> T:
        """Try until it is done or the limit is over; the engine's errors come out as ours."""
        if self._closed:
            raise EventsError("the queue is closed: make another one")
        deadline = time.monotonic() + self.busy_seconds
        while True:
            try:
                if self._connection is None:
                    self._open()
                return work()
            except Exception as error:  # noqa: BLE001 - what it is the dialect knows
                kind = self._kind(error)
                if kind == GONE:
                    self._drop()
                if kind != AGAIN or time.monotonic() >= deadline:
                    self._raise(error, kind)
            self.retried += 1
            time.sleep(PAUSE_SECONDS)

    def _insist(self, work: Callable[[], object]) -> None:
        """Do it, and once more when others were in the way that are about to end."""
        for attempt in range(ATTEMPTS):
            try:
                work()
                return
            except Exception as error:
                if self._kind(error) not in (AGAIN, BUSY) or attempt == ATTEMPTS - 1:
                    raise

    def _guarded(self, work: Callable[[], T]) -> T:
        """Do it once: in the transaction of a caller nothing can be tried again."""
        if self._connection is None:
            raise Unavailable(f"{self.title}: the connection was lost within the transaction; nothing of it was done")
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - what it is the dialect knows
            self._raise(error, self._kind(error))

    def _raise(self, error: Exception, kind: str) -> NoReturn:
        if kind in (AGAIN, BUSY):
            raise Busy(f"{self.title}: others held what was needed for {self.busy_seconds:g} s; try again") from error
        if kind == FULL:
            raise StorageFull(f"{self.title}: there is no room for more; nothing was changed") from error
        if kind == GONE:
            self._drop()
            raise Unavailable(
                f"{self.title}: the server does not answer; whether the call was done is not known"
            ) from error
        raise error

    def _undo(self) -> None:
        with contextlib.suppress(Exception):  # the server has done it already, or is gone
            self._rollback()

    def _drop(self) -> None:
        """Forget a connection that is no use any more; the next call opens another."""
        connection, self._connection = self._connection, None
        with contextlib.suppress(Exception):
            if connection is not None:
                connection.close()

    # What a dialect has to say.

    def _open(self) -> None:
        raise NotImplementedError

    def _run(self, text: str, parameters: Parameters, *, fresh_plan: bool = False) -> tuple[list[Any], int]:
        """Run a statement; its rows and how many rows it touched."""
        raise NotImplementedError

    def _kind(self, error: Exception) -> str:
        """Return AGAIN, BUSY, FULL, GONE or "" for an error that is none of them."""
        raise NotImplementedError

    def _begin(self) -> None:
        self._run("BEGIN", {})

    def _commit(self) -> None:
        self._run("COMMIT", {})

    def _rollback(self) -> None:
        self._run("ROLLBACK", {})

    def _disconnect(self) -> None:
        self._drop()
