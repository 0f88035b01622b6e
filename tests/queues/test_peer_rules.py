"""The rules of each library that decide its verdicts, so that a new version that changes one shows which."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from random import Random
from typing import Any, cast

import pytest

from queues.peers.sched_scheduler import no_delay
from queues.promises.holding import Payload
from queues.timer.rules import StopDispatch
from tests.queues.test_peers import INFINITY, filled, peer, read

# kombu


def test_kombu_orders_ties_by_the_addresses_of_their_entries() -> None:
    queue = peer("kombu")()
    for number in range(200):
        queue.enqueue(1.0, number)
    batch = queue.take(1.0)
    assert [id(entry) for entry in batch] == sorted(id(entry) for entry in batch)
    assert sorted(message[1] for message in read(queue, batch)) == list(range(200))


def test_kombu_counts_and_holds_a_cancelled_message_until_it_is_due() -> None:
    queue = peer("kombu")()
    payload = Payload()
    ghost = weakref.ref(payload)
    queue.enqueue(2.0, payload)
    queue.enqueue(3.0, "b")
    del payload
    queue.cancel(2.0)
    assert len(queue) == 2
    assert ghost() is not None
    assert queue.take(1.0) is None
    assert len(queue) == 2
    assert read(queue, queue.take(3.0)) == [(3.0, "b")]
    assert len(queue) == 0
    assert ghost() is None


def test_kombu_can_be_stopped_after_some() -> None:
    queue = filled("kombu", 1.0, 2.0, 3.0)
    assert read(queue, queue.take(5.0, limit=2)) == [(1.0, "a"), (2.0, "b")]
    assert len(queue) == 1


@pytest.mark.parametrize("name", ["kombu", "asyncio-heap"])
def test_an_exception_is_logged_and_the_next_message_is_called(name: str) -> None:
    queue = filled(name, 1.0, 2.0, 3.0)
    batch = queue.take(3.0)
    seen: list[str] = []

    def handler(start: float, letter: str) -> None:
        seen.append(letter)
        if start == 1.0:
            raise StopDispatch
        if start == 2.0:
            raise RuntimeError

    assert queue.process(batch, handler) == 3
    assert seen == ["a", "b", "c"]
    assert len(batch) == 0
    assert getattr(queue, "unhandled", 2) == 2


# sched


@pytest.mark.parametrize("error", [RuntimeError, StopDispatch])
def test_an_exception_leaves_sched_and_its_message_is_gone(error: type[Exception]) -> None:
    queue = filled("sched", 1.0, 2.0, 3.0)
    batch = queue.take(3.0)

    def handler(start: float, _letter: str) -> None:
        if start == 2.0:
            raise error

    with pytest.raises(error):
        queue.process(batch, handler)
    assert queue.requeue(batch) == 1
    assert read(queue, queue.take(3.0)) == [(3.0, "c")]


def test_sched_does_not_sleep_between_two_events() -> None:
    queue = filled("sched", 1.0, 2.0)
    assert queue._scheduler.delayfunc is no_delay
    assert len(queue.take(2.0)) == 2


def test_sched_puts_back_behind_equal_starts_and_keeps_the_order_of_the_rest() -> None:
    queue = filled("sched", 1.0, 1.0)
    batch = queue.take(1.0)
    queue.enqueue(1.0, "new")
    queue.requeue(batch)
    assert list(queue.contents()) == [(1.0, "new"), (1.0, "a"), (1.0, "b")]


# APScheduler


def test_apscheduler_orders_ties_by_ids_that_are_random() -> None:
    queue = peer("apscheduler")()
    for number in range(50):
        queue.enqueue(1.0, number)
    batch = queue.take(1.0)
    ids = [job.id for job in batch.jobs]
    assert ids == sorted(ids)
    assert [message[1] for message in batch] != list(range(50))


def test_apscheduler_rounds_to_the_microsecond() -> None:
    queue = filled("apscheduler", 1.000_000_4, 1.000_000_6)
    assert queue.next_start == 1.0
    assert list(queue.take(1.0)) == [(1.000_000_4, "a")]
    assert queue.next_start == 1.000_001


def test_apscheduler_knows_the_years_1_to_9999_and_takes_everything_at_infinity() -> None:
    queue = filled("apscheduler", -62_135_596_800.0, 253_402_300_799.0)
    for start in (INFINITY, -INFINITY, 1e300, 10**30, 253_402_300_800.0):
        with pytest.raises((OverflowError, ValueError)):
            queue.enqueue(start, "m")
    assert list(queue.take(-INFINITY)) == [(-62_135_596_800.0, "a")]
    assert queue.take(253_402_300_798.9) is None
    queue.requeue(queue.take(253_402_300_800.0))
    queue.requeue(queue.take(1e18))
    assert list(queue.take(INFINITY)) == [(253_402_300_799.0, "b")]
    assert queue.next_start is None


# asyncio


class Loop:
    """A real event loop, one pass at a time, with a clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = 0.0
        loop: Any = cast("Any", asyncio.new_event_loop())
        loop.time = lambda: self.now
        self.loop = loop

    def one_pass(self, now: float) -> None:
        self.now = now
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()


@pytest.fixture
def real() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.loop.close()


@pytest.mark.parametrize("seed", range(5))
def test_asyncio_heap_calls_in_the_order_of_the_real_loop(real: Loop, seed: int) -> None:
    random = Random(seed)
    queue = peer("asyncio-heap")()
    called: list[int] = []
    for now in range(20):
        for number in range(30):
            start = float(random.randrange(20))
            queue.enqueue(start, 100 * now + number)
            real.loop.call_at(start, called.append, 100 * now + number)
        real.one_pass(float(now))
        batch = queue.take(float(now))
        assert [number for _, number in (read(queue, batch) if batch else [])] == called
        called.clear()


@pytest.mark.parametrize(
    ("scheduled", "cancelled", "left"), [(100, 99, 100), (101, 50, 101), (101, 51, 50), (102, 51, 102), (102, 52, 50)]
)
def test_asyncio_purges_above_100_scheduled_when_more_than_half_are_cancelled(
    real: Loop, scheduled: int, cancelled: int, left: int
) -> None:
    queue = peer("asyncio-heap")()
    handles = []
    for start in range(1, scheduled + 1):
        queue.enqueue(start, "m")
        handles.append(real.loop.call_at(start, print))
    for start in range(scheduled - cancelled + 1, scheduled + 1):
        assert queue.cancel(start) == (start, "m")
        handles[start - 1].cancel()
    assert len(queue._scheduled) == scheduled
    assert queue.take(0) is None
    real.one_pass(0.0)
    assert len(queue._scheduled) == len(real.loop._scheduled) == left
    assert len(queue) == scheduled - cancelled
    assert [start for start, _ in read(queue, queue.take(INFINITY))] == list(range(1, scheduled - cancelled + 1))
    assert len(queue) == len(queue._scheduled) == 0


def test_asyncio_drops_cancelled_handles_at_the_front_and_counts_those_behind_it() -> None:
    queue = filled("asyncio-heap", 1.0, 2.0, 3.0, 4.0)
    for start in (1.0, 3.0):
        queue.cancel(start)
    assert queue.take(0.0) is None
    assert len(queue._scheduled) == 3
    batch = queue.take(3.0)
    assert (len(batch), len(queue), len(queue._scheduled)) == (1, 1, 1)
    assert read(queue, batch) == [(2.0, "b")]


def test_asyncio_lets_a_cancelled_message_go_at_once() -> None:
    queue = peer("asyncio-heap")()
    payload = Payload()
    ghost = weakref.ref(payload)
    queue.enqueue(2.0, payload)
    del payload
    assert queue.cancel(2.0) is not None
    assert ghost() is None
    assert len(queue._scheduled) == 1
