"""The ticks of a grid that have come and that nobody took: the stores behind the two designs of a ticker.

`Ticks` never looks at a tick on its own: after a silence of a million ticks it knows at once which of them are kept.
`Channel` is the bounded queue of the document, into which each tick is put or not. Both answer the same.

A store is what a Line (queues/pacing/line.py) hands out: `settle(now, waiting)` brings it to an instant, `take(n, now)`
takes from it for somebody who is there, `hand(n)` for somebody who is asleep, `give_back` undoes that, and
`instant(total)` says when `total` more can be had.
"""

from __future__ import annotations

from collections import deque

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from typing import Any

    from queues.pacing.grid import Grid
    from queues.pacing.pulses import Pulses


class Ticks:
    """Kept ticks as runs of consecutive indices, oldest first; what does not fit is counted in `dropped`.

    >>> from queues.pacing.grid import Grid
    >>> ticks = Ticks(Grid(0, 1), capacity=2)
    >>> ticks.take(1, 5), ticks.take(1, 5), ticks.take(1, 5), ticks.dropped
    (1, 2, None, 3)
    """

    __slots__ = ("_capacity", "_held", "_next", "_runs", "dropped", "grid")

    def __init__(self, grid: Grid | Pulses, capacity: int) -> None:
        """No tick has come yet."""
        self.grid: Any = grid
        self._capacity = capacity
        self._next = 1  # the first index that has not been looked at
        self._runs: deque[tuple[int, int]] = deque()  # (first, last)
        self._held = 0
        self.dropped = 0

    def settle(self, now: Any, waiting: int = 0) -> None:
        """Keep what has come until `now`, the oldest first; whoever waits has room for one more. O(log passed)."""
        last = self.grid.last(self._next, now)
        passed = last - self._next + 1
        if passed <= 0:
            return
        kept = max(0, min(passed, self._capacity + waiting - self._held))
        if kept:
            self._runs.append((self._next, self._next + kept - 1))
            self._held += kept
        self.dropped += passed - kept
        self._next = last + 1

    def take(self, n: int, now: Any) -> int | None:
        """Return the index of the oldest tick kept until `now`, or None. O(1) on time."""
        self.settle(now)
        return self.hand(n)

    def hand(self, _n: int) -> int | None:
        """Return the index of the oldest kept tick as of the last `settle`, or None. O(1)."""
        if not self._held:
            return None
        first, last = self._runs.popleft()
        if first < last:
            self._runs.appendleft((first + 1, last))
        self._held -= 1
        return first

    def collect(self, _tick: int) -> None:
        """A tick that arrived needs no more keeping."""

    def give_back(self, tick: int) -> None:
        """Put a tick that nobody saw in front again; if that is one too many, the newest goes. O(1)."""
        self._runs.appendleft((tick, tick))
        self._held += 1
        if self._held > self._capacity:
            first, last = self._runs.pop()
            if first < last:
                self._runs.append((first, last - 1))
            self._held -= 1
            self.dropped += 1

    def take_all(self) -> int:
        """Take all kept ticks and return how many. O(runs)."""
        count = self._held
        self._runs.clear()
        self._held = 0
        return count

    def mark(self, total: int) -> object:
        """Return what `instant(total)` depends on: as long as it is the same, so is the instant."""
        return self._next + total

    def instant(self, total: int) -> Any:
        """Return when the `total`-th tick from now comes; nothing is kept where somebody waits. O(1)."""
        return self.grid.at(self._next + total - 1)


class Channel:
    """A bounded queue of ticks with try-put: what the document builds its ticker on.

    >>> from queues.pacing.grid import Grid
    >>> channel = Channel(Grid(0, 1), capacity=2)
    >>> channel.take(1, 5), channel.take(1, 5), channel.take(1, 5), channel.dropped
    (1, 2, None, 3)
    """

    __slots__ = ("_buffer", "_capacity", "_next", "dropped", "grid")

    def __init__(self, grid: Grid, capacity: int) -> None:
        """An empty queue for at most `capacity` ticks."""
        self.grid = grid
        self._capacity = capacity
        self._buffer: deque[int] = deque()
        self._next = 1  # the tick that the producer puts next
        self.dropped = 0

    def try_put(self, tick: int, waiting: int) -> bool:
        """Put a tick unless the queue is full; one for each that waits goes through at once. O(1)."""
        if len(self._buffer) >= self._capacity + waiting:
            return False
        self._buffer.append(tick)
        return True

    def settle(self, now: Any, waiting: int = 0) -> None:
        """Do what the producer does until `now`. O(log passed + put): when one does not fit, no later one does."""
        last = self.grid.last(self._next, now)
        for tick in range(self._next, last + 1):
            if not self.try_put(tick, waiting):
                self.dropped += last - tick + 1
                break
        self._next = last + 1

    def take(self, n: int, now: Any) -> int | None:
        """Return the oldest tick in the queue at `now`, or None. O(1) on time."""
        self.settle(now)
        return self.hand(n)

    def hand(self, _n: int) -> int | None:
        """Return the oldest tick in the queue as of the last `settle`, or None. O(1)."""
        return self._buffer.popleft() if self._buffer else None

    def collect(self, _tick: int) -> None:
        """A tick that arrived needs no more keeping."""

    def give_back(self, tick: int) -> None:
        """Put a tick that nobody saw in front again; if that is one too many, the newest goes. O(1)."""
        self._buffer.appendleft(tick)
        if len(self._buffer) > self._capacity:
            self._buffer.pop()
            self.dropped += 1

    def mark(self, total: int) -> object:
        """Return what `instant(total)` depends on."""
        return self._next + total

    def instant(self, total: int) -> Any:
        """Return when the `total`-th tick from now comes. O(1)."""
        return self.grid.at(self._next + total - 1)
