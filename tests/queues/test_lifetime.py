"""What a queue lets go, and when: told by weak references with the collector off, so that no cycle can hide."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from queues.registry import SUBJECTS, load
from queues.timer.rules import StopDispatch

INFINITY = float("inf")


class Token:
    """A payload that a weak reference can be made of."""


class Failure(Exception):
    """What a handler raises."""


@pytest.fixture(params=SUBJECTS["timer"])
def make(request: pytest.FixtureRequest) -> Iterator[Callable[[], Any]]:
    """The constructor of each subject in turn, with the collector off."""
    try:
        subject = load("timer", request.param)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{request.param} needs {missing.name}")
    gc.collect()
    gc.disable()
    yield lambda: subject(clock=lambda: 0.0)
    gc.enable()


class Watched:
    """A queue with one Token at each of 0.0, 1.0, ..., and who of them is alive."""

    def __init__(self, queue: Any, messages: int) -> None:
        self.queue = queue
        self.known = []
        for start in range(messages):
            token = Token()
            self.known.append(weakref.ref(token))
            queue.enqueue(float(start), token)

    def alive(self) -> str:
        """One letter a message, in start order: x alive, - released."""
        return "".join("-" if token() is None else "x" for token in self.known)


def ignore(start: float, token: Token) -> None:
    """A handler that keeps nothing."""


def test_dropping_a_queue_releases_what_it_held(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 5)
    assert watched.alive() == "xxxxx"
    del watched.queue
    assert watched.alive() == "-----"


def test_dropping_a_queue_releases_what_it_held_while_a_batch_is_out(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 5)
    batch = watched.queue.take(1.0)
    del watched.queue
    assert watched.alive() == "xx---"
    del batch
    assert watched.alive() == "-----"


def test_a_batch_whose_queue_is_gone_is_refused_by_another(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 2)
    batch = watched.queue.take(0.0)
    del watched.queue
    with pytest.raises(ValueError, match="another queue"):
        make().requeue(batch)
    assert len(batch) == 1


@pytest.mark.parametrize("now", [1.0, 9.0])
def test_dropping_a_batch_releases_what_it_held_and_the_queue_lives_on(make: Callable[[], Any], now: float) -> None:
    watched = Watched(make(), 5)
    batch = watched.queue.take(now)
    del batch
    assert watched.alive() == ("--xxx" if now == 1.0 else "-----")
    watched.queue.check()
    watched.queue.enqueue(9.0, "later")
    watched.queue.check()


def test_a_dispatched_message_is_released_before_the_next_handler_call(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 5)
    batch = watched.queue.take(3.0)
    seen = []

    def handler(start: float, token: Token) -> None:
        seen.append((watched.alive(), len(batch)))

    assert watched.queue.process(batch, handler, deadline=INFINITY) == 4
    assert seen == [("xxxxx", 4), ("-xxxx", 3), ("--xxx", 2), ("---xx", 1)]
    assert watched.alive() == "----x"  # the last one too, though the batch is still held
    assert len(batch) == 0


@pytest.mark.parametrize("failure", [StopDispatch, Failure])
def test_a_handler_that_raises_keeps_its_message_and_those_behind_it(
    make: Callable[[], Any], failure: type[Exception]
) -> None:
    watched = Watched(make(), 5)
    batch = watched.queue.take(3.0)

    def handler(start: float, token: Token) -> None:
        if start == 2.0:
            raise failure

    try:
        assert watched.queue.process(batch, handler, deadline=INFINITY) == 2
        assert failure is StopDispatch
    except Failure:
        pass
    assert watched.alive() == "--xxx"
    del batch
    assert watched.alive() == "----x"


def test_a_requeue_releases_nothing_and_leaves_nothing_in_the_batch(make: Callable[[], Any]) -> None:
    for late in (False, True):
        watched = Watched(make(), 5)
        batch = watched.queue.take(3.0)
        watched.queue.process(batch, ignore, deadline=-INFINITY)
        if late:
            watched.queue.enqueue(0.5, "late")
        assert watched.queue.requeue(batch) == 4
        assert watched.alive() == "xxxxx"
        watched.queue.check()
        del watched.queue
        assert watched.alive() == "-----"  # the batch, still held, is empty
        assert len(batch) == 0


def test_what_is_left_of_a_batch_survives_its_way_back(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 6)
    batch = watched.queue.take(4.0)

    def handler(start: float, token: Token) -> None:
        if start == 2.0:
            raise StopDispatch

    watched.queue.process(batch, handler, deadline=INFINITY)
    watched.queue.requeue(batch)
    del batch
    assert watched.alive() == "--xxxx"
    again = watched.queue.take(9.0)
    assert watched.queue.process(again, ignore, deadline=INFINITY) == 4
    assert watched.alive() == "------"


def test_a_cancelled_message_is_released_with_what_cancel_returned(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 4)
    for start, expected in ((0.0, "-xxx"), (3.0, "-xx-"), (2.0, "-x--"), (1.0, "----")):
        item = watched.queue.cancel(start)
        assert item[0] == start
        del item
        assert watched.alive() == expected


def test_a_message_cancelled_in_its_batch_is_released(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 4)
    batch = watched.queue.take(3.0)
    seen = []

    def handler(start: float, token: Token) -> None:
        if start == 1.0:
            watched.queue.cancel(3.0)
            watched.queue.cancel(2.0)
            seen.append(watched.alive())

    assert watched.queue.process(batch, handler, deadline=INFINITY) == 2
    assert seen == ["-x--"]
    assert watched.alive() == "----"


def test_processing_leaves_no_reference_to_the_handler_the_batch_or_the_queue(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 3)

    class Handler:
        def __call__(self, start: float, token: Token) -> None:
            if start == 1.0:
                raise Failure

    handler = Handler()
    known = weakref.ref(handler)
    batch = watched.queue.take(1.0)
    with contextlib.suppress(Failure):
        watched.queue.process(batch, handler, deadline=INFINITY)
    del handler
    assert known() is None
    del batch
    assert watched.alive() == "--x"
    del watched.queue
    assert watched.alive() == "---"


def test_steady_use_keeps_only_what_is_queued(make: Callable[[], Any]) -> None:
    watched = Watched(make(), 50)
    for step in range(200):
        batch = watched.queue.take(float(step))
        watched.queue.process(batch, ignore, deadline=INFINITY)
        token = Token()
        watched.known.append(weakref.ref(token))
        watched.queue.enqueue(50.0 + step, token)
        del token, batch
        assert watched.alive().count("x") == 50
    watched.queue.check()


def test_a_long_queue_and_a_long_batch_are_let_go_without_deep_recursion(make: Callable[[], Any]) -> None:
    queue = make()
    for start in range(60_000):
        queue.enqueue(float(start), "message")
    batch = queue.take(29_999.0)
    assert len(batch) == len(queue) == 30_000
    del batch
    del queue
