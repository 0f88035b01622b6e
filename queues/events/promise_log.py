"""Promises about what is recorded and what is pending."""

from __future__ import annotations

from queues.events.rules import FAILED, FORMS, HIGHEST, LOWEST, SUCCEEDED
from queues.events.trial import Promise, Trial, promise

LOG: list[Promise] = []

NAMES = (
    "a",
    "A",
    "a ",
    " a",
    "ä",
    "a\u0308",
    "日本",
    "\N{PILE OF POO}",
    "a'b",
    'a"b',
    "a\\",
    "%s",
    ":of",
    "a;--",
    "\n",
    "0",
)
"""All different: an engine that folds case, strips spaces or normalises takes two for one."""


@promise(LOG, "order", "record pending")
def order(trial: Trial) -> None:
    """Events come in order of instant, equal instants in order of recording, whatever the form of the query."""
    queue = trial.queue()
    for task, at_us in (("c", 30), ("a", 10), ("d", 30), ("b", 20)):
        queue.record("a", task, SUCCEEDED, at_us)
    for form in FORMS:
        trial.expect_pending(queue, "abcd", form=form)
        trial.expect_pending(queue, "ab", form=form, limit=2)


@promise(LOG, "processed", "record pending finish")
def processed(trial: Trial) -> None:
    """What a job has processed is pending for it no more, and still is for others; any name is a job."""
    queue = trial.queue()
    for place, task in enumerate("xyz"):
        queue.record("a", task, SUCCEEDED, place)
    first, *_ = queue.pending("a", "b")
    queue.finish(first, "b", SUCCEEDED)
    for form in FORMS:
        trial.expect_pending(queue, "yz", form=form)
        trial.expect_pending(queue, "xyz", by="another job, added just now", form=form)


@promise(LOG, "counts-once", "record pending")
def counts_once(trial: Trial) -> None:
    """A task that succeeded twice counts once, as of the first time, and the second recording returns the first id."""
    queue = trial.queue()
    first = queue.record("a", "x", SUCCEEDED, 10)
    trial.expect(queue.record("a", "x", SUCCEEDED, 5), first)
    for form in FORMS:
        trial.expect([event.row for event in queue.pending("a", "b", form=form)], [(first, "a", "x", SUCCEEDED, 10)])


@promise(LOG, "failed-then-succeeded", "record pending")
def failed_then_succeeded(trial: Trial) -> None:
    """A failure is no event to wait for; the success before or after it is."""
    queue = trial.queue()
    for at_us, (task, result) in enumerate(
        (("x", FAILED), ("x", SUCCEEDED), ("y", SUCCEEDED), ("y", FAILED), ("z", FAILED))
    ):
        queue.record("a", task, result, at_us)
    for form in FORMS:
        trial.expect_pending(queue, "xy", form=form)


@promise(LOG, "failure-leaves-pending", "record pending finish")
def failure_leaves_pending(trial: Trial) -> None:
    """A job that failed on an event still has it to process."""
    queue = trial.queue()
    queue.record("a", "x", SUCCEEDED)
    (event,) = queue.pending("a", "b")
    queue.finish(event, "b", FAILED)
    for form in FORMS:
        trial.expect_pending(queue, "x", form=form)
    queue.finish(event, "b", SUCCEEDED)
    for form in FORMS:
        trial.expect_pending(queue, "", form=form)


@promise(LOG, "bound", "record pending finish")
def bound(trial: Trial) -> None:
    """A bound counts itself and looks at nothing before it; what is done is never dated before its event."""
    queue = trial.queue(now=0)
    for task, at_us in (("x", 10), ("y", 20), ("z", 20), ("w", 30)):
        queue.record("a", task, SUCCEEDED, at_us)
    for form in FORMS:
        for since_us, expected in ((LOWEST, "xyzw"), (10, "xyzw"), (11, "yzw"), (20, "yzw"), (21, "w"), (31, "")):
            trial.expect_pending(queue, expected, form=form, since_us=since_us)
    queue.finish(queue.pending("a", "b")[1], "b", SUCCEEDED)  # at 0 by the clock
    for form in FORMS:
        trial.expect_pending(queue, "zw", form=form, since_us=20)


@promise(LOG, "names-are-exact", "record pending finish")
def names_are_exact(trial: Trial) -> None:
    """Names differ when a character does: case, accents, spaces at the end, quotes, what looks like a parameter."""
    queue = trial.queue()
    for at_us, name in enumerate(NAMES):
        queue.record("jobs", name, SUCCEEDED, at_us)
    trial.expect([event.task for event in queue.pending("jobs", "b")], list(NAMES))
    queue.finish(queue.pending("jobs", "b")[0], "b", SUCCEEDED)
    for form in FORMS:
        trial.expect([event.task for event in queue.pending("jobs", "b", form=form)], list(NAMES[1:]))
    for name in NAMES:
        trial.expect(queue.pending(f"{name}.", name), [])


@promise(LOG, "numbers-are-exact", "record pending")
def numbers_are_exact(trial: Trial) -> None:
    """Instants keep every microsecond, up to the ends of 64 bits."""
    queue = trial.queue()
    instants = (LOWEST, -1, 0, 59_999_999, 1_764_547_199_999_999, 2**53 + 1, HIGHEST)
    for place, at_us in enumerate(instants):
        queue.record("a", str(place), SUCCEEDED, at_us)
    for form in FORMS:
        trial.expect([event.at_us for event in queue.pending("a", "b", form=form)], list(instants))
        bounded = queue.pending("a", "b", form=form, since_us=2**53 + 1)
        trial.expect([event.at_us for event in bounded], list(instants[5:]))


@promise(LOG, "clock", "record pending")
def clock(trial: Trial) -> None:
    """Without an instant an event has the clock's; a clock that goes back leaves the order as it was."""
    queue = trial.queue(now=100)
    queue.record("a", "x", SUCCEEDED)
    trial.clock.now = 40
    queue.record("a", "y", SUCCEEDED)
    trial.clock.now = 200
    queue.record("a", "z", SUCCEEDED)
    trial.expect([(event.task, event.at_us) for event in queue.pending("a", "b")], [("x", 100), ("y", 100), ("z", 200)])


@promise(LOG, "all-or-nothing", "record transaction pending")
def all_or_nothing(trial: Trial) -> None:
    """What stands in a transaction is done together, and not at all when the block raises."""
    queue = trial.queue()
    with queue.bare.transaction():
        queue.record("a", "x", SUCCEEDED, 1)
        queue.record("a", "y", SUCCEEDED, 1)
    trial.expect_pending(queue, "xy")
    try:
        with queue.bare.transaction():
            queue.record("a", "z", SUCCEEDED, 1)
            raise LookupError
    except LookupError:
        pass
    trial.expect_pending(queue, "xy")


@promise(LOG, "refusals", "record pending")
def refusals(trial: Trial) -> None:
    """What cannot be an event is refused before anything changes."""
    queue = trial.queue()
    queue.record("a", "x", SUCCEEDED, 1)
    for name in ("", "n\0l", "\ud800", "x" * 201):
        trial.refused(ValueError, queue.record, name, "t", SUCCEEDED, 1)
        trial.refused(ValueError, queue.record, "a", name, SUCCEEDED, 1)
        trial.refused(ValueError, queue.pending, "a", name)
    for no_text in (None, 1, b"a", 1.5):
        trial.refused(TypeError, queue.record, no_text, "t", SUCCEEDED, 1)
        trial.refused(TypeError, queue.record, "a", no_text, SUCCEEDED, 1)
    for result in ("", None, "succeeded", True):
        trial.refused(ValueError, queue.record, "a", "t", result, 1)
    for at_us, kind in ((1.5, TypeError), ("1", TypeError), (True, TypeError), (2**63, ValueError)):
        trial.refused(kind, queue.record, "a", "t", SUCCEEDED, at_us)
    trial.refused(ValueError, lambda: queue.pending("a", "b", form="minus"))
    trial.refused(ValueError, lambda: queue.pending("a", "b", limit=0))
    trial.expect_pending(queue, "x")
