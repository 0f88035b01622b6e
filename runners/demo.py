"""A few rounds of the dispatcher that a person can follow, on a clock that only moves when the story says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from queues.registry import DURABLE, SUBJECTS, load

WINDOW = 60
SECONDS_A_MAIL = 25


class VirtualClock:
    """A clock in seconds since nine o'clock that stands still until it is moved.

    >>> clock = VirtualClock()
    >>> clock.move(90); clock(), clock.said()
    (90, '09:01:30')
    """

    def __init__(self) -> None:
        self._now = 0

    def __call__(self) -> int:
        return self._now

    def move(self, seconds: int) -> None:
        """Let time pass."""
        self._now += seconds

    def said(self, instant: int | None = None) -> str:
        """The time of day, now or at `instant`."""
        seconds = self._now if instant is None else instant
        return f"{9 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def story(subject: str) -> Iterator[str]:
    """Yield the lines of three rounds on `subject`: what was due, what the window cut off, what went back in front.

    Raises LookupError for what is none of the lab's own timer queues: others take no clock.
    """
    ours = [*SUBJECTS["timer"], *DURABLE["timer"]]
    if subject not in ours:
        raise LookupError(f"the demo does not run on {subject!r}: expected one of {', '.join(ours)}")
    clock = VirtualClock()
    queue = load("timer", subject)(window=WINDOW, clock=clock)
    for start, mail in (
        (0, "reminder"),
        (0, "receipt"),
        (10, "digest"),
        (30, "retry"),
        (40, "invoice"),
        (300, "newsletter"),
    ):
        queue.enqueue(start, "send", mail)
    yield f"Six mails are queued on '{subject}'. Sending one takes {SECONDS_A_MAIL} s, a window is {WINDOW} s."
    yield "The clock is the story's own: no time passes for you."
    yield f"  queued: {_listed(queue.contents(), clock)}"
    clock.move(45)
    yield from _round(queue, clock, late_start=20)
    while len(queue):
        wait = queue.next_start - clock()
        if wait > 0:
            yield f"  nothing more is due before {clock.said(queue.next_start)}; the dispatcher sleeps until then"
            clock.move(wait)
        yield from _round(queue, clock)
    yield "\nAll seven were sent, none early, none twice."
    yield f"Put back one by one because of a late arrival: {queue.merged}."


def _round(queue: Any, clock: VirtualClock, late_start: int | None = None) -> Iterator[str]:
    yield f"\n{clock.said()}  the dispatcher wakes up"
    batch = queue.take()
    yield f"  take: {len(batch)} due, cut off as one batch; {len(queue)} stay queued and the queue is free"
    lines: list[str] = []
    if late_start is not None:
        queue.enqueue(late_start, "send", "latecomer")
        lines.append(f"  meanwhile: a mail that should have started at {clock.said(late_start)} is queued late")

    def send(start: int, action: str, mail: str) -> None:
        clock.move(SECONDS_A_MAIL)
        lines.append(f"    {clock.said()}  sent {mail} (due since {clock.said(start)})")

    closes = clock() + WINDOW
    sent = queue.process(batch, send, closes)
    yield from lines
    cut_off = len(batch)
    yield f"  process: {sent} sent before the window closed at {clock.said(closes)}; {cut_off} not reached"
    if cut_off:
        merged_before = queue.merged
        queue.requeue(batch)
        how = "one by one, because of the late arrival" if queue.merged > merged_before else "in front, in one step"
        yield f"  requeue: {cut_off} put back {how}"
        yield f"  queued: {_listed(queue.contents(), clock)}"


def _listed(messages: Iterator[tuple[Any, ...]], clock: VirtualClock) -> str:
    return ", ".join(f"{clock.said(start)} {mail}" for start, _, mail in messages)
