"""The timer queue over a store that outlives the process: what SQLite, PostgreSQL and Redis have in common.

Idea        A message is a row: its place (durable_place.py), a position among equal places, and its line
            (durable_codec.py). `take` moves rows to a lease, in one transaction; whoever processes tells the store now
            and then how far it has come, which renews the lease; what is left of a lease that runs out is put back by
            the next call of anybody. So a process may die at any time and nothing is lost.
Source      Leases: Gray and Cheriton, 1989; the visibility timeout of Amazon SQS is one. That a job's rows are moved
            and not marked keeps the front of the queue short, which is what PgQ taught.
Cost        of the store's; a call here adds the JSON of its messages. `len` counts rows, O(queued).
Differs     from queues.contract.TimerQueue in this, all of it because messages are kept outside the process:
            * A part of a message is str, int, finite float, bool, None, list or dict with str keys, nested 100 deep at
              most; all else is a TypeError or ValueError that names its place. A start is int, float, Fraction or
              Decimal itself, of at most about 2,400 digits. Both come back equal and of the same type, as copies.
            * Delivery is at least once: what was dispatched and not confirmed when a process dies is dispatched again.
              `confirm` messages are handed out between two confirmations at most; 1 asks the store each time.
            * A batch that is neither put back nor used up is queued again once its lease has run out, dropped ones
              included: dropping a batch loses nothing. A batch that lost its lease is empty: `requeue` puts back 0,
              `process` raises LeaseLost when it finds out.
            * No `container()`: the messages are not in the process.
            * Several processes and queues may work on one name; `merged` and `walked` count what this object did.
Weakness    A handler that takes longer than half a lease risks that its message, and the rest, are handed out twice.
"""

from __future__ import annotations

import time
from weakref import finalize, ref

from queues.timer.array_batch import find
from queues.timer.durable_batch import DurableBatch, check_batch
from queues.timer.durable_codec import line, read
from queues.timer.durable_place import place
from queues.timer.rules import (
    deadline_of,
    require_batch,
    require_handler,
    require_instant,
    require_limit,
    require_settings,
)

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Any, Self

    from queues.timer.durable_store import Row, Store

LEASE_SECONDS = 300.0
CONFIRM = 100


class Durable:
    """A timer queue over a Store; not for use by itself: queues.timer.sqlite, .postgres and .redis make stores."""

    __slots__ = (
        "__weakref__",
        "_active",
        "_changes",
        "_clock",
        "_every",
        "_finish",
        "_lease",
        "_lease_clock",
        "_reference",
        "_store",
        "_window",
        "merged",
        "walked",
    )

    def __init__(
        self,
        store: Store,
        *,
        window: Any = 60.0,
        clock: Callable[[], Any] = time.time,
        lease: float = LEASE_SECONDS,
        lease_clock: Callable[[], float] = time.time,
        confirm: int = CONFIRM,
    ) -> None:
        """A queue over `store`, which it closes in the end; settings were looked at by `require_durable_settings`."""
        self._window = window
        self._clock = clock
        self._lease = float(lease)
        self._lease_clock = lease_clock
        self._every = confirm
        self._store = store
        self._active: list[DurableBatch] = []  # being processed, innermost last
        self._changes = 0  # calls that put something in or took something out
        self._reference = ref(self)  # what batches know their queue by
        self._finish = finalize(self, store.close)
        self.merged = 0
        self.walked = 0

    def close(self) -> None:
        """Let go of the store; what was made for this queue alone is removed. A second time does nothing."""
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def facts(self) -> dict[str, str]:
        """The engine, its version, and the settings that decide what a write costs."""
        return self._store.facts()

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message in start order, behind equal starts; it is there when this returns. One transaction."""
        self._store.add([(*place(start), line(start, message))])
        self._changes += 1

    def enqueue_many(self, items: Iterable[Any]) -> int:
        """Keep all `items`, each `(start, *message)`, in one transaction: all or, if one is refused, none; how many."""
        rows: list[Row] = []
        for at, item in enumerate(items):
            if not isinstance(item, tuple | list) or not item:
                raise TypeError(f"item {at} is {item!r}: expected (start, *message)")
            try:
                rows.append((*place(item[0]), line(item[0], tuple(item[1:]))))
            except (TypeError, ValueError) as error:
                raise type(error)(f"item {at}: {error}") from None
        if rows:
            self._store.add(rows)
            self._changes += 1
        return len(rows)

    def take(self, now: Any = None, limit: int | None = None) -> DurableBatch | None:
        """Move everything with `start <= now` to a lease, at most `limit`, or return None. One transaction."""
        if now is None:
            now = self._clock()
        most = None if limit is None else require_limit(limit)
        where = place(now, "now")
        leased_at = self._lease_clock()
        cut = self._store.cut(where, most, leased_at, leased_at + self._lease)
        if cut is None:
            return None
        self._changes += 1
        return DurableBatch(self._reference, *cut, leased_at + self._lease / 2)

    def process(self, batch: DurableBatch, handler: Callable[..., object], deadline: Any = None) -> int:
        """Hand out messages in order until the window closes; return how many were dispatched.

        LeaseLost when the lease has run out and somebody's call put the messages back.
        """
        require_batch(batch, DurableBatch, self)
        require_handler(handler)
        deadline = deadline_of(deadline, self._clock, self._window)
        if not batch:
            return 0
        if self._due(batch) and not self._confirm(batch):
            batch.lose()
        self._changes += 1
        return batch.dispatch(self._active, handler, self._clock, deadline, self._due, self._confirm)

    def _due(self, batch: DurableBatch) -> bool:
        """Whether the store should hear how far a batch has come: after so many messages, or half of the lease."""
        return batch.at - batch.confirmed >= self._every or self._lease_clock() >= batch.renew_at

    def _confirm(self, batch: DurableBatch) -> bool:
        """Tell the store how far a batch has come, and renew its lease; False when that is gone."""
        if not batch:
            return self._store.finish(batch.lease)
        now = self._lease_clock()
        if not self._store.confirm(batch.lease, batch.at, now + self._lease):
            return False
        batch.confirmed = batch.at
        batch.renew_at = now + self._lease / 2
        return True

    def requeue(self, batch: DurableBatch) -> int:
        """Put what is left in front of the queue and return how many; 0 when the lease is gone. One transaction."""
        require_batch(batch, DurableBatch, self)
        left = len(batch)
        if not left:
            return 0
        rows = [(*place(item[0]), kept) for item, kept in zip(batch.items[batch.at :], batch.lines(), strict=True)]
        late = self._store.put_back(batch.lease, rows)
        batch.empty()
        self._changes += 1
        if late is None:
            return 0
        if late:
            self.merged += left
        return left

    def cancel(self, start: Any, match: Callable[..., object] | None = None) -> tuple[Any, ...] | None:
        """Remove and return the first message at exactly `start` that matches, or None. O(equal starts)."""
        require_instant(start)
        match = self._watched(match)
        for batch in self._active:
            index, passed = find(batch.items, batch.at + 1, start, match)
            self.walked += passed
            if index is not None and self._store.rewrite(batch.lease, batch.without(index)):
                self._changes += 1
                return batch.remove(index)
        where = place(start)
        for position, kept in self._store.at(where, self._lease_clock()):
            ((own, *message),) = read((kept,))
            if (match is None or match(*message)) and self._store.remove(where, position, kept):
                self._changes += 1
                return (own, *message)
            self.walked += 1
        return None

    def _watched(self, match: Callable[..., object] | None) -> Callable[..., object] | None:
        """Return `match` as `cancel` calls it: RuntimeError when it changes the queue; not so for others."""
        if match is None:
            return None
        before = self._changes

        def look(*message: Any) -> object:
            found = match(*message)
            if self._changes != before:
                raise RuntimeError("match put messages in or took some out: expected it to look at the one it is given")
            return found

        return look

    def __len__(self) -> int:
        """Messages queued, those on lease not counted. O(queued)."""
        return self._store.count(self._lease_clock())

    @property
    def next_start(self) -> Any:
        """The earliest queued start, or None. O(log n)."""
        kept = self._store.first(self._lease_clock())
        return None if kept is None else read((kept,))[0][0]

    def contents(self) -> Iterator[tuple[Any, ...]]:
        """The queued messages, earliest first, as they are at the call. O(queued), in memory too."""
        return map(tuple, read(self._store.lines(self._lease_clock())))

    def check(self) -> None:
        """Assert that what is kept is in order and can be read, and so are batches being processed. O(messages)."""
        wrong = self._store.check()
        for batch in self._active:
            wrong += check_batch(batch)
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}: {len(self._active)} being processed, merged {self.merged}, walked {self.walked}"
            )


def require_durable_settings(window: Any, clock: Any, lease: Any, lease_clock: Any, confirm: Any) -> None:
    """Refuse settings that make no sense, before any store is opened.

    >>> require_durable_settings(60.0, time.time, -1, time.time, 100)
    Traceback (most recent call last):
        ...
    ValueError: lease is -1: expected a span in seconds above 0
    """
    require_settings(window, clock)
    require_settings(0, lease_clock)
    require_instant(lease, "lease")
    if not lease > 0:
        raise ValueError(f"lease is {lease!r}: expected a span in seconds above 0")
    if type(confirm) is not int or confirm < 1:
        raise ValueError(f"confirm is {confirm!r}: expected a whole number of messages of at least 1")


def require_name(name: Any) -> str:
    """Return the name of a queue; ValueError when it is no text of 1 to 200 characters that can be stored.

    >>> require_name("mails")
    'mails'
    """
    if type(name) is not str or not 0 < len(name) <= 200 or "\0" in name or not name.isprintable():
        raise ValueError(f"name is {name!r}: expected a text of 1 to 200 printable characters")
    return name


def rows_of(text: str, done: int) -> list[Row]:
    """Return the rows of a lease, given its lines, of which the first `done` are done for. O(size)."""
    lines = text.split("\n")[done:]
    return [(*place(item[0]), kept) for item, kept in zip(read(lines), lines, strict=True)]


def checked(rows: Iterable[tuple[float, bytes, int, str]]) -> list[str]:
    """What is wrong with rows as a store keeps them: (low, rest, position, line), in order. O(rows)."""
    wrong = []
    last: tuple[float, bytes, int] | None = None
    for low, rest, position, kept in rows:
        key = (low, bytes(rest), position)
        if last is not None and not last < key:
            wrong.append(f"{key} stands behind {last}")
        last = key
        (message,) = read((kept,))
        if place(message[0]) != key[:2]:
            wrong.append(f"start {message[0]!r} stands at {key[:2]}")
    return wrong
