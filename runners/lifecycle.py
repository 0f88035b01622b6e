"""The whole life of a message, enqueue to dispatch, because a structure can move its cost into another call.

A life is a list of rounds. In each, messages come in, some may be cancelled, what is due is taken, nine tenths of it
are processed, late ones may arrive, and the tenth that was not reached goes back. At the end all that is left is
dispatched. The patterns differ in when a message is to start; message i comes at time i.
"""

from __future__ import annotations

from itertools import count

from runners.checks import INFINITY
from runners.latency import CheckFailed, ignore
from runners.rigs import PAYLOAD, shuffled
from runners.workload import NotOffered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Round: TypeAlias = tuple[list[float], list[float], float, list[float]]
    Pattern: TypeAlias = Callable[[int, int], Iterator[Round]]

A_ROUND = 100
"""Messages that come in between two visits of the dispatcher."""

DELAY = 1_000
"""The usual delay, so that about so many messages are queued at a time."""

SLEEPERS = 10_000
FAR = 1e9


def rounds_of(starts: list[float], cancel_every: int = 0, late: int = 0) -> Iterator[Round]:
    """Yield the rounds in which messages with these starts come in, in this order, one a unit of time.

    `cancel_every` k cancels each k-th message of a round; `late` messages of a round arrive while the batch is out.
    """
    for first in range(0, len(starts), A_ROUND):
        coming = starts[first : first + A_ROUND]
        now = float(first + len(coming))
        overdue = [now - 1.0 - number for number in range(late)]
        yield coming[late:], coming[::cancel_every] if cancel_every else [], now, overdue


def constant_delay(messages: int, seed: int) -> Iterator[Round]:
    """Every message starts the same delay after it came: a retry in five minutes."""
    return rounds_of([float(number + DELAY) for number in range(messages)])


def digest(messages: int, seed: int) -> Iterator[Round]:
    """Everything waits for the next full hour: many equal starts."""
    return rounds_of([float((number // DELAY + 1) * DELAY) for number in range(messages)])


def random_delay(messages: int, seed: int) -> Iterator[Round]:
    """Every message has a delay of its own, up to twice the usual one."""
    return rounds_of(delayed(messages, seed))


def delayed(messages: int, seed: int) -> list[float]:
    """Return one start a message: its number and a delay that follows from the seed."""
    delays = shuffled(2 * DELAY, seed)
    return [number + delays[number % len(delays)] for number in range(messages)]


def sawtooth(messages: int, seed: int) -> Iterator[Round]:
    """Delays that fall faster than time goes on, again and again: starts run backwards within a tooth."""
    return rounds_of([float(number + 2 * DELAY - 2 * (number % DELAY)) for number in range(messages)])


def reverse(messages: int, seed: int) -> Iterator[Round]:
    """All come first, each to start before the ones before it; then the dispatcher works them off."""
    yield [float(start) for start in range(messages - 1, -1, -1)], [], -1.0, []
    for end in range(A_ROUND, messages + A_ROUND, A_ROUND):
        yield [], [], float(end), []


def all_ties(messages: int, seed: int) -> Iterator[Round]:
    """All start at once: now."""
    return rounds_of([0.0] * messages)


def late_arrivals(messages: int, seed: int) -> Iterator[Round]:
    """As with a constant delay, and a tenth comes overdue while a batch is out."""
    return rounds_of([float(number + DELAY) for number in range(messages)], late=A_ROUND // 10)


def half_cancelled(messages: int, seed: int) -> Iterator[Round]:
    """Random delays, and every second message is cancelled before it is due."""
    return rounds_of([start + DELAY for start in delayed(messages, seed)], cancel_every=2)


def far_sleepers(messages: int, seed: int) -> Iterator[Round]:
    """10,000 that will not start for ages, and before them one near message after the other."""
    yield [FAR + number for number in range(SLEEPERS)], [], -1.0, []
    for number in range(messages):
        yield [float(number)], [], float(number), []


def live(clock: Callable[[], Any], queue: Any, tick: Callable[[], int], rounds: list[Round], message: str) -> Any:
    """Return how long the rounds took, in the clock's unit, everything dispatched at the end.

    The queue's own clock is `tick`, which counts how often it is asked: a window of n messages closes at n more.
    """
    enqueue, take, process, requeue = queue.enqueue, queue.take, queue.process, queue.requeue
    cancel = getattr(queue, "cancel", None)
    t0 = clock()
    for starts, cancelled, now, late in rounds:
        for start in starts:
            enqueue(start, message)
        for start in cancelled:
            cancel(start)  # type: ignore[misc]
        batch = take(now)
        if batch is not None:
            left = len(batch)
            process(batch, ignore, tick() + 1 + left - left // 10)
        for start in late:
            enqueue(start, message)
        if batch is not None:
            requeue(batch)
    batch = take(INFINITY)
    if batch is not None:
        process(batch, ignore, INFINITY)
    t1 = clock()
    return t1 - t0


class LifeSampler:
    """Lets all messages of a pattern live on one fresh queue a sample."""

    __slots__ = ("calls", "queue", "queue_class", "rounds")

    def __init__(self, queue_class: Any, rounds: Iterator[Round]) -> None:
        self.queue_class = queue_class
        self.rounds = list(rounds)
        self.calls = sum(len(starts) + len(late) for starts, _, _, late in self.rounds)
        self.queue: Any = None

    def _fresh(self, tick: Callable[[], int]) -> Any:
        try:
            return self.queue_class(clock=tick)
        except TypeError as error:
            raise NotOffered(f"a clock of one's own is not offered, which a window needs: {error}") from error

    def sample(self, clock: Callable[[], Any]) -> Any:
        """Return what one sample took, in the clock's unit; making the queue, letting go of the last: outside."""
        tick = count().__next__
        self.queue = None
        self.queue = self._fresh(tick)
        return live(clock, self.queue, tick, self.rounds, PAYLOAD)

    def check(self) -> None:
        """Live once more, slowly, and see that every message is dispatched or cancelled once, in order in a batch."""
        tick = count().__next__
        queue = self._fresh(tick)
        seen: list[float] = []
        expected = self.calls
        for starts, cancelled, now, late in self.rounds:
            for start in starts:
                queue.enqueue(start, PAYLOAD)
            expected -= sum(queue.cancel(start) is not None for start in cancelled)
            batch = queue.take(now)
            if batch is not None:
                self._dispatch(queue, batch, tick, seen, len(batch) - len(batch) // 10)
            for start in late:
                queue.enqueue(start, PAYLOAD)
            if batch is not None:
                queue.requeue(batch)
        batch = queue.take(INFINITY)
        if batch is not None:
            self._dispatch(queue, batch, tick, seen, len(batch))
        if len(seen) != expected or len(queue):
            raise CheckFailed(
                f"{len(seen)} messages were dispatched and {len(queue)} are queued: expected {expected}, 0"
            )

    @staticmethod
    def _dispatch(queue: Any, batch: Any, tick: Callable[[], int], seen: list[float], share: int) -> None:
        before = len(seen)
        queue.process(batch, lambda start, message: seen.append(start), tick() + 1 + share)
        dispatched = seen[before:]
        if dispatched != sorted(dispatched):
            raise CheckFailed("a batch was dispatched out of order")
        if len(dispatched) != share:
            raise CheckFailed(f"a window of {share} messages dispatched {len(dispatched)}")


def lives(pattern: Pattern) -> Callable[[Any, dict[str, int], int], LifeSampler]:
    """Return the sampler of a pattern, as a workload wants it."""
    return lambda queue_class, params, seed: LifeSampler(queue_class, pattern(params["messages"], seed))


PATTERNS: dict[str, tuple[str, Pattern]] = {
    "constant-delay": ("every message starts the same delay after it came", constant_delay),
    "digest": ("many messages wait for the same full hour", digest),
    "random-delay": ("every message has a delay of its own", random_delay),
    "sawtooth": ("starts run backwards for a while, again and again", sawtooth),
    "reverse": ("every message starts before the ones that came before it", reverse),
    "all-ties": ("all messages start at once", all_ties),
    "late-arrivals": ("a tenth of the messages comes overdue, while a batch is out", late_arrivals),
    "half-cancelled": ("every second message is cancelled before it is due", half_cancelled),
    "far-sleepers": ("10,000 messages sleep behind one near message after the other", far_sleepers),
}
"""name -> (sentence, rounds)."""
