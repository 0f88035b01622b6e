"""The chunked queue: its edges when chunks and runs are tiny, what it promises itself, and a check that can fail."""

from __future__ import annotations

import gc
import random
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, repeat
from types import FrameType
from typing import Any

import pytest

import queues.timer.chunked as module
from queues.conformance import conform
from queues.model import Model
from queues.timer.chunked import AHEAD, LOAD, Chunked
from queues.timer.chunked_batch import ChunkedBatch, check_batch
from queues.timer.chunked_run import Run
from queues.timer.rules import StopDispatch
from tests.queues.chunked_parts import INFINITY, resize

LITTLE = 32
"""Messages in a chunk where `_short_runs` has been asked for."""


def filled(count: int) -> Chunked:
    queue = Chunked()
    for start in range(count):
        queue.enqueue(float(start), "message")
    return queue


def taken(queue: Chunked, now: float, limit: int | None = None) -> ChunkedBatch:
    """What is due, of which there is some."""
    batch = queue.take(now, limit)
    assert batch is not None
    return batch


def chunks_of(queue: Chunked) -> list[Any]:
    return [chunk for run in queue._runs for chunk in run.chunks]


@pytest.fixture
def _short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a chunk have LITTLE messages and a run be full of 8 chunks, and let two be joined that have 4."""
    resize(monkeypatch, LOAD=LITTLE, FULL=3 * LITTLE, SMALL=LITTLE // 4, RUN=8, SHORT=4, WIDE=12)


@pytest.fixture(params=["collected", "not collected"])
def _collector(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have the collector on, and then off: chunks and runs are closed only for it."""
    if request.param == "not collected":
        gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_collector")
@pytest.mark.parametrize(
    ("seed", "load", "small", "run", "short", "wide"),
    [
        (0, 2, 0, 128, 32, 1024),
        (1, 2, 1, 1, 0, 2),
        (2, 3, 1, 2, 1, 4),
        (3, 4, 2, 3, 2, 3),
        (4, 8, 3, 1, 1, 2),
        (5, 2, 0, 2, 2, 2),
        (6, 2, 1, 4, 6, 8),
    ],
)
def test_every_promise_holds_when_chunks_and_runs_are_tiny(
    load: int, small: int, run: int, short: int, wide: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, LOAD=load, FULL=load + small, SMALL=small, RUN=run, SHORT=short, WIDE=wide)
    broken = [(outcome.promise, outcome.detail) for outcome in conform(Chunked, seed=seed) if outcome.verdict != "kept"]
    assert broken == []


@pytest.mark.usefixtures("_collector")
@pytest.mark.parametrize(("run", "short"), [(1, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_it_does_what_the_model_does_when_many_runs_move(
    run: int, short: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, LOAD=3, FULL=5, SMALL=1, RUN=run, SHORT=short, WIDE=run + 2)
    source = random.Random(seed)
    queues: tuple[Any, Any] = (Chunked(), Model())
    out: list[tuple[Any, Any]] = []
    for step in range(400):
        start, kind = source.randrange(200), source.randrange(10)
        if kind < 5:
            for number in range(source.randrange(1, 8)):
                for queue in queues:
                    queue.enqueue(start + (number if kind else 200), step)
        elif kind == 5:
            assert queues[0].cancel(start) == queues[1].cancel(start)
        elif kind < 8 and len(out) < 4:
            limit = source.choice((None, None, 1, 5, 40))
            batches = [queue.take(start, limit) for queue in queues]
            assert (batches[0] is None) == (batches[1] is None)
            if batches[0] is not None:
                assert len(batches[0]) == len(batches[1])
                out.append((batches[0], batches[1]))
        elif out:
            pair = out.pop(source.randrange(len(out)))
            assert process_some(queues[0], pair[0], start // 4) == process_some(queues[1], pair[1], start // 4)
            assert queues[0].requeue(pair[0]) == queues[1].requeue(pair[1])
        queues[0].check()
        assert list(queues[0].contents()) == list(queues[1].contents())
    assert queues[0].merged == queues[1].merged > 0


def process_some(queue: Any, batch: Any, start: int) -> list[Any]:
    """What a handler sees that cancels now and then, checks each time, and stops after about `start` messages."""
    seen: list[Any] = []

    def handler(*message: Any) -> None:
        if len(seen) > start:
            raise StopDispatch
        seen.append(message)
        if len(seen) % 3 == 0:
            seen.append(queue.cancel(message[0] + len(seen) % 5))
            queue.check()

    queue.process(batch, handler, INFINITY)
    return seen


def lines_executed(call: Callable[[], Any]) -> tuple[Any, int]:
    """What a call returns, and how many lines of the chunked queue's own files it executes."""
    count = 0

    def local(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        return local if "chunked" in frame.f_code.co_filename else None

    sys.settrace(enter)
    try:
        return call(), count
    finally:
        sys.settrace(None)


def lines_of_a_cycle(due: int) -> tuple[int, int]:
    """The lines of a second cycle: the first divides what the cut falls into, and the pieces stay."""
    queue = filled(due + 10 * LITTLE)
    queue.requeue(queue.take(due - 1.0))  # type: ignore[arg-type]
    batch, taken = lines_executed(partial(queue.take, due - 1.0))
    assert len(batch) == due
    left, put_back = lines_executed(partial(queue.requeue, batch))
    assert left == due
    queue.check()
    return taken, put_back


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize(("run", "short", "chunks"), [(128, 32, (40, 80, 120)), (8, 4, (16, 24, 32))])
def test_take_and_requeue_execute_the_same_lines_whatever_the_batch(
    run: int, short: int, chunks: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, RUN=run, SHORT=short)
    counts = {lines_of_a_cycle(number * LITTLE) for number in chunks}
    assert len(counts) == 1
    assert min(counts) > (5, 5)


@pytest.mark.usefixtures("_short_runs")
def test_a_batch_of_whole_runs_is_the_runs_that_were_queued() -> None:
    messages = 3 * 8 * LITTLE
    queue = filled(messages + 8 * LITTLE)
    runs = queue._runs[:3]
    first, last = (runs[0].chunks, runs[2].chunks)
    batch = queue.take(messages - 1.0)
    assert batch is not None
    assert batch.runs == runs
    assert queue.requeue(batch) == messages
    assert queue._runs[:3] == runs
    assert (runs[0].chunks is first, runs[2].chunks is last) == (True, True)
    queue.check()


def test_nothing_a_full_collection_walks_grows_with_the_messages() -> None:
    gc.collect()
    before = len(gc.get_objects())
    queue = filled(100 * LOAD)
    gc.collect()
    gc.collect()
    tracked = sum(1 for chunk in chunks_of(queue) if gc.is_tracked(chunk))
    assert tracked <= 3
    assert len(gc.get_objects()) - before < 100


def test_of_the_runs_a_full_collection_walks_one_object_each(monkeypatch: pytest.MonkeyPatch) -> None:
    resize(monkeypatch, RUN=8, SHORT=4)
    gc.collect()
    before = len(gc.get_objects())
    queue = filled(100 * LOAD)
    gc.collect()
    gc.collect()
    closed = queue._runs[1:-1]
    assert len(closed) >= 10
    assert not any(gc.is_tracked(run.chunks) or gc.is_tracked(run.ends) for run in closed)
    assert len(gc.get_objects()) - before < len(closed) + 30


def test_messages_that_the_collector_must_see_are_still_seen() -> None:
    queue = Chunked()
    for start in range(2 * LOAD):
        queue.enqueue(start, [start])
    gc.collect()
    assert all(gc.is_tracked(chunk) for chunk in chunks_of(queue))


def test_with_the_collector_off_nothing_is_copied_for_it_and_runs_are_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = 12
    resize(monkeypatch, RUN=8, WIDE=wide)
    gc.disable()
    try:
        queue = Chunked()
        tail = queue._tail
        for start in range(LOAD * (wide + 2)):
            queue.enqueue(float(start), "message")
        chunks = chunks_of(queue)
    finally:
        gc.enable()
    assert chunks[0] is tail
    assert {type(chunk) for chunk in chunks} == {list}
    assert [len(chunk) for chunk in chunks[:wide]] == [LOAD] * wide
    assert [len(run.ends) for run in queue._runs] == [wide, 1]
    queue.check()


def test_the_container_follows_what_is_queued() -> None:
    queue = filled(20_000)
    batch = queue.take(19_989.0)
    assert batch is not None
    assert queue.process(batch, lambda start, message: None, INFINITY) == 19_990
    assert len(queue) == 10
    assert sum(map(sys.getsizeof, queue.container())) < 4_096


def test_a_batch_that_is_put_back_again_and_again_leaves_no_crumbs() -> None:
    queue = filled(20 * LOAD)
    for now in range(1, 10 * LOAD, 29):
        batch = queue.take(float(now))
        assert batch is not None
        assert queue.requeue(batch) == now + 1
    queue.check()
    assert len(chunks_of(queue)) <= 25


def test_single_messages_put_back_one_by_one_are_joined() -> None:
    queue = filled(4 * LOAD)
    batches = [queue.take(INFINITY, limit=1) for _ in range(LOAD)]
    for batch in reversed(batches):
        assert batch is not None
        assert queue.requeue(batch) == 1
    queue.check()
    assert len(queue) == 4 * LOAD
    assert len(chunks_of(queue)) <= 6


def test_many_cancelled_messages_leave_no_empty_chunks() -> None:
    queue = filled(20 * LOAD)
    order = list(range(20 * LOAD))
    random.Random(1).shuffle(order)
    for start in order[10:]:
        assert queue.cancel(float(start)) is not None
    queue.check()
    assert len(queue) == 10
    assert len(chunks_of(queue)) <= 11
    assert sorted(order[:10]) == [start for start, _ in queue.contents()]


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize("order", ["rising", "falling", "random"])
def test_cuts_at_many_places_leave_no_tiny_runs(order: str) -> None:
    queue = filled(80 * LITTLE)
    ends = [*range(1, 70 * LITTLE, LITTLE // 2)]
    if order == "falling":
        ends.reverse()
    elif order == "random":
        random.Random(1).shuffle(ends)
    for now in ends:
        batch = queue.take(float(now))
        assert batch is not None
        assert queue.requeue(batch) == now + 1
    queue.check()
    assert len(queue._runs) <= 2 * 160 // 4
    assert len(queue) == 80 * LITTLE


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize("left", [0, 10])
def test_cancelling_most_messages_joins_the_runs(left: int) -> None:
    queue = filled(80 * LITTLE)
    order = list(range(80 * LITTLE))
    random.Random(1).shuffle(order)
    for start in order[left:]:
        assert queue.cancel(float(start)) is not None
    queue.check()
    assert len(queue._runs) <= 4
    assert sorted(order[:left]) == [start for start, _ in queue.contents()]


@pytest.mark.usefixtures("_short_runs")
def test_messages_put_in_out_of_order_make_runs_that_are_divided() -> None:
    queue = Chunked()
    order = list(range(40 * LITTLE))
    random.Random(1).shuffle(order)
    for start in order:
        queue.enqueue(float(start), "message")
    queue.check()
    assert len(queue._runs) > 3
    assert max(len(run.ends) for run in queue._runs) <= 12
    assert [start for start, _ in queue.contents()] == sorted(order)
    batch = queue.take(20.0 * LITTLE)
    assert batch is not None
    for late in (3.5, 15.5 * LITTLE, 30.5 * LITTLE):
        queue.enqueue(late, "late")
    queue.requeue(batch)
    queue.check()
    assert queue.merged == 20 * LITTLE + 1
    assert len(queue) == 40 * LITTLE + 3


@pytest.mark.usefixtures("_short_runs")
def test_a_limit_cuts_between_and_within_runs() -> None:
    for limit in (1, LITTLE, 8 * LITTLE - 1, 8 * LITTLE, 8 * LITTLE + 1, 17 * LITTLE, 30 * LITTLE + 7, 99 * LITTLE):
        queue = filled(31 * LITTLE)
        batch = queue.take(INFINITY, limit=limit)
        assert batch is not None
        assert len(batch) == min(limit, 31 * LITTLE)
        assert batch.latest == len(batch) - 1
        queue.check()
        assert queue.requeue(batch) == min(limit, 31 * LITTLE)
        queue.check()


@pytest.mark.parametrize("message", [(), (None,), ("one",), ("one", "two"), (1, 2, 3, 4), ((),)])
@pytest.mark.parametrize("late", [False, True])
def test_a_message_of_any_number_of_parts_comes_back_as_it_was_given(message: tuple[Any, ...], late: bool) -> None:
    queue = filled(10 if late else 0)
    queue.enqueue(3.0, *message)
    assert queue.cancel(3.0, lambda *found: found == message) == (3.0, *message)
    seen: list[Any] = []
    queue.enqueue(3.5, *message)
    queue.process(taken(queue, 3.5), lambda *found: seen.append(found), INFINITY)
    assert seen[-1] == (3.5, *message)


class Counting(Chunked):
    """Counts the long things that are done."""

    __slots__ = ("done",)
    done: list[str]

    def _seal(self) -> None:
        self.done.append("seal")
        super()._seal()

    def _close(self, last: Run) -> None:
        self.done.append("close")
        super()._close(last)


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize("late", [0.0, 0.5])
def test_no_single_enqueue_both_seals_a_chunk_and_closes_a_run(late: float) -> None:
    queue = Counting()
    done: list[str] = []
    for start in range(40 * LITTLE):
        queue.done = []
        queue.enqueue(start - late * (start % 3), "message")
        assert len(queue.done) <= 1
        done += queue.done
        assert len(queue._tail) <= module.FULL + 1
    queue.check()
    assert set(done) == {"seal", "close"}


@pytest.mark.usefixtures("_short_runs")
def test_the_tail_keeps_its_bound_when_messages_leave_it_and_come_back() -> None:
    queue = Chunked()
    source = random.Random(1)
    starts = count()
    for _ in range(500):
        for _ in range(source.randrange(20)):
            queue.enqueue(float(next(starts)), "message")
        batch = queue.take(INFINITY, limit=source.choice((None, 3, 90)))
        if batch is not None:
            keep = source.randrange(len(batch) + 1)
            queue.process(batch, stopping_after(len(batch) - keep), INFINITY)
            assert queue.requeue(batch) == keep
        queue.check()
        assert len(queue._tail) <= module.FULL + 1


def stopping_after(messages: int) -> Callable[..., None]:
    """A handler that closes the window at the message after so many."""
    left = iter(range(messages))

    def handler(*message: Any) -> None:
        if next(left, None) is None:
            raise StopDispatch

    return handler


@pytest.mark.usefixtures("_short_runs")
def test_a_dispatcher_that_keeps_up_finds_every_chunk_opened_a_few_messages_a_call() -> None:
    queue = filled(8 * LITTLE)
    for now in range(5 * LITTLE):
        opened = queue._ready
        assert type(queue._chunks[0]) is list or not now
        assert len(taken(queue, float(now))) == 1
        assert now == 0 or queue._ready - opened <= AHEAD
        queue.check()


@pytest.mark.parametrize("messages", [1, 2, LOAD, 3 * LOAD])
@pytest.mark.parametrize("closes", [False, True])
def test_the_clock_is_asked_once_before_each_message(messages: int, closes: bool) -> None:
    queue = filled(4 * LOAD)
    batch = taken(queue, messages - 1.0)
    ticks = count()
    queue._clock = lambda: next(ticks)
    reached = messages - 1 if closes else messages
    assert queue.process(batch, lambda *message: None, reached if closes else INFINITY) == reached
    assert next(ticks) == messages


def test_the_clock_is_asked_once_before_each_message_when_some_are_cancelled_meanwhile() -> None:
    queue = filled(3 * LOAD)
    batch = taken(queue, 2.0 * LOAD)
    ticks = count()
    queue._clock = lambda: next(ticks)

    def handler(start: float, message: str) -> None:
        if start % 10 == 0:
            assert queue.cancel(start + 3) is not None

    done = queue.process(batch, handler, INFINITY)
    assert done == next(ticks) < 2 * LOAD


def test_what_a_handler_returns_is_not_kept() -> None:
    queue = filled(3)
    returned: list[weakref.ref[Any]] = []

    class Thing:
        pass

    def handler(start: float, message: str) -> Thing:
        assert all(reference() is None for reference in returned)
        thing = Thing()
        returned.append(weakref.ref(thing))
        return thing

    assert queue.process(taken(queue, INFINITY), handler, INFINITY) == 3


CORRUPTIONS: dict[str, Callable[[Chunked], object]] = {
    "order": lambda queue: queue._tail.reverse(),
    "ends": lambda queue: queue._ends.__setitem__(0, -5.0),
    "ends behind the front": lambda queue: setattr(queue._runs[1], "ends", (1.0, *queue._runs[1].ends[1:])),
    "run ends": lambda queue: queue._run_ends.__setitem__(1, -5.0),
    "run ends too few": lambda queue: queue._run_ends.pop(),
    "latest": lambda queue: setattr(queue, "_latest", 3.0),
    "sealed": lambda queue: setattr(queue, "_sealed", 7),
    "deep": lambda queue: setattr(queue, "_deep", 7),
    "count": lambda queue: setattr(queue._runs[1], "count", 7),
    "keys": lambda queue: setattr(queue._runs[1], "keys", [None]),
    "empty chunk": lambda queue: queue._chunks.insert(0, []),
    "empty run": lambda queue: queue._runs.insert(1, Run([], [], None, 0)),
    "tail": lambda queue: setattr(queue, "_tail", []),
    "room": lambda queue: setattr(queue, "_room", repeat(None, module.FULL)),
    "front": lambda queue: setattr(queue, "_front", queue._runs[1]),
    "front's chunks": lambda queue: setattr(queue, "_chunks", [*queue._chunks]),
    "front's ends": lambda queue: setattr(queue, "_ends", [*queue._ends]),
    "front closed": lambda queue: setattr(queue._runs[0], "chunks", (*queue._chunks,)),
    "runs out of order": lambda queue: queue._runs.__setitem__(slice(1, 3), queue._runs[2:0:-1]),
    "copied ahead": lambda queue: setattr(queue, "_opening", ((1.0, "message"),)),
}


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_check_catches_a_corrupted_copy(name: str) -> None:
    queue = filled(40 * LITTLE)
    queue.check()
    CORRUPTIONS[name](queue)
    with pytest.raises(AssertionError, match="chunks of"):
        queue.check()


BATCH_CORRUPTIONS: dict[str, Callable[[ChunkedBatch], object]] = {
    "behind": lambda batch: setattr(batch, "behind", 7),
    "beyond": lambda batch: setattr(batch, "beyond", 7),
    "count": lambda batch: setattr(runs_of_batch(batch)[1], "count", 7),
    "chunks": lambda batch: setattr(batch, "chunks", [*batch.chunks]),
    "order": lambda batch: runs_of_batch(batch).reverse(),
    "ends": lambda batch: setattr(runs_of_batch(batch)[1], "ends", (1.0, *runs_of_batch(batch)[1].ends[1:])),
    "no runs": lambda batch: setattr(batch, "runs", None),
}


def runs_of_batch(batch: ChunkedBatch) -> list[Run]:
    assert batch.runs is not None
    return batch.runs


@pytest.mark.usefixtures("_short_runs")
@pytest.mark.parametrize("name", BATCH_CORRUPTIONS)
def test_check_catches_a_corrupted_batch(name: str) -> None:
    batch = filled(40 * LITTLE).take(25.0 * LITTLE)
    assert batch is not None
    assert check_batch(batch) == []
    BATCH_CORRUPTIONS[name](batch)
    assert check_batch(batch) != []
