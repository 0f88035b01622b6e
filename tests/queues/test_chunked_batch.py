"""The batch of the chunked queue by itself: where it stops, what is left then, what is cancelled, what it gives."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from queues.timer.chunked_batch import ChunkedBatch, check_batch
from queues.timer.chunked_run import Run, messages_of
from queues.timer.rules import StopDispatch
from tests.queues.chunked_parts import INFINITY, chunk, nothing, several, single

Shape = tuple[tuple[tuple[int, ...], ...], ...]


def left(batch: ChunkedBatch) -> list[list[list[int]]]:
    """The starts of each chunk of each run that is left."""
    runs = [batch.chunks] if batch.runs is None else [run.chunks for run in batch.runs]
    return [[[item[0] for item in chunk] for chunk in chunks] for chunks in runs]


SHAPES: tuple[Shape, ...] = (
    (((1,),),),
    (((1,), (2,)),),
    (((1, 2), (3, 4, 5)), ((6,),), ((7, 8), (9,))),
    (((1,),), ((2,),), ((3, 4),)),
)


def behind(shape: Shape, done: int) -> list[list[list[int]]]:
    """What is left of a shape whose first messages are gone."""
    runs = [[[start for start in of if start > done] for of in run] for run in shape]
    return [[of for of in run if of] for run in runs if any(run)]


def test_a_batch_is_what_it_was_given() -> None:
    chunks = [chunk(1, 2)]
    batch = ChunkedBatch(nothing, chunks, 2)  # type: ignore[arg-type]
    assert (batch.chunks is chunks, batch.latest, batch.runs, batch.behind, batch.beyond) == (True, 2, None, 0, 0)
    assert (batch.processing, len(batch), batch.queue) == (False, 2, None)
    assert len(single()) == 0
    assert len(several(((1, 2), (3,)), ((4,),))) == 4


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", ["window", "handler", "error"])
def test_wherever_it_stops_the_rest_is_left_in_order(how: str, shape: Shape, kind: Any) -> None:
    total = len(several(*shape))
    for stop in range(total + 1):
        batch = several(*shape, kind=kind)
        seen: list[int] = []
        active: list[Any] = []
        ticks = count()

        def handler(start: int, text: str) -> None:
            assert (active, batch.processing, text) == ([batch], True, f"at {start}")  # noqa: B023
            assert check_batch(batch) == []  # noqa: B023
            if how != "window" and len(seen) == stop:  # noqa: B023
                raise StopDispatch if how == "handler" else LookupError
            seen.append(start)  # noqa: B023

        try:
            deadline = stop if how == "window" else INFINITY
            assert batch.dispatch(active, handler, lambda: next(ticks), deadline) == stop  # noqa: B023
            assert how != "error" or stop == total
        except LookupError:
            assert how == "error"
        assert (seen, active, batch.processing) == ([*range(1, stop + 1)], [], False)
        assert (len(batch), left(batch)) == (total - stop, behind(shape, stop) or [[]])
        assert check_batch(batch) == []
        assert (batch.runs is None) == (stop == total)


@pytest.mark.parametrize("messages", [1, 2, 3])
@pytest.mark.parametrize("closes", [False, True])
def test_a_single_chunk_is_handed_out_up_to_the_deadline(messages: int, closes: bool) -> None:
    for stop in range(messages + 1):
        batch = single(*range(messages))
        seen: list[Any] = []
        ticks = count()
        deadline: float = stop if closes else INFINITY
        done = batch.dispatch([], lambda *of, seen=seen: seen.append(of), ticks.__next__, deadline)
        assert done == (stop if closes else messages)
        assert seen == chunk(*range(done))
        assert [*messages_of([Run(batch.chunks, [], None, 0)])] == chunk(*range(done, messages))
        assert check_batch(batch) == []


def test_an_empty_batch_hands_out_nothing_and_asks_nothing() -> None:
    assert single().dispatch([], nothing, lambda: 1 // 0, 0) == 0


def test_a_chunk_of_one_message_is_not_copied_to_be_handed_out() -> None:
    batch = several(((1,), (2,)))
    only = batch.chunks[0]
    assert batch.dispatch([], nothing, lambda: 0, 0) == 0
    assert batch.chunks[0] is only


def test_keys_are_forgotten_when_a_run_comes_first() -> None:
    batch = several(((1,),), ((2, 3), (4,)))
    assert batch.runs is not None
    batch.runs[1].keys = [[2, 3], None]
    assert batch.dispatch([], lambda *message: None, iter(range(9)).__next__, 2) == 2
    assert (batch.runs[0].keys, left(batch)) == (None, [[[3], [4]]])


CANCELS = (
    (((1, 2, 3, 5),),),
    (((1, 2, 2), (2, 2), (3, 5)), ((5, 6), (6,)), ((6,),), ((7, 9),)),
    (((1,), (2,)), ((3,), (5,)), ((6, 7),), ((9,),)),
    (((1, 5), (5, 5)), ((5,), (5, 5)), ((5,), (6,))),
)


def numbered(shape: Shape, kind: Any) -> tuple[ChunkedBatch, list[tuple[int, int]]]:
    """A batch of such a shape with keys, and its messages, each of which has its number."""
    batch = several(*shape, kind=kind)
    messages = [(at, number) for number, at in enumerate(start for run in shape for of in run for start in of)]
    numbers = iter(messages)
    assert batch.runs is not None
    for run in batch.runs:
        run.keys = [None] * len(run.ends)
        run.chunks = kind([kind([next(numbers) for _ in of]) for of in run.chunks])
    batch.runs[0].open()
    batch.chunks = batch.runs[0].chunks
    return batch, messages


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("shape", CANCELS)
@pytest.mark.parametrize("passed", [0, 1, 3])
def test_the_first_that_matches_is_cancelled_and_the_rest_handed_out(shape: Shape, passed: int, kind: Any) -> None:
    for start in range(10):
        batch, messages = numbered(shape, kind)
        equal = [message for message in messages[1:] if message[0] == start]
        expected = equal[passed] if len(equal) > passed else None
        seen: list[Any] = []
        asked: list[Any] = []

        def match(number: int) -> bool:
            asked.append((number,))  # noqa: B023
            return len(asked) > passed  # noqa: B023

        def handler(*message: int) -> None:
            if not seen:  # noqa: B023
                found = batch.cancel(start, match if passed else None)  # noqa: B023
                assert found == (expected, min(passed, len(equal)))  # noqa: B023
                assert check_batch(batch) == []  # noqa: B023
            seen.append(message)  # noqa: B023

        done = batch.dispatch([], handler, lambda: 0, 1)
        assert asked == [message[1:] for message in equal[: passed + 1 if passed else 0]]
        assert seen == [message for message in messages if message != expected]
        assert done == len(seen)


@pytest.mark.parametrize("cancelled", [(2,), (9,), (3, 4, 5), (2, 3), (6,), (6, 7), (8, 9), (4, 2), (9, 8, 7, 6)])
@pytest.mark.parametrize("stop", [1, 3])
def test_what_was_cancelled_is_neither_counted_nor_left(cancelled: tuple[int, ...], stop: int) -> None:
    batch = several(((1, 2), (3, 4, 5)), ((6, 7),), ((8,), (9,)), kind=tuple)
    assert batch.runs is not None
    batch.runs[1].keys = [None]
    ticks = count()

    def handler(start: int, text: str) -> None:
        if start == 1:
            for late in cancelled:
                assert batch.cancel(late, None) == ((late, f"at {late}"), 0)
                assert check_batch(batch) == []
            assert batch.withdrawn == len(cancelled)

    assert batch.dispatch([], handler, lambda: next(ticks), stop) == stop
    rest = [start for start in range(1, 10) if start not in cancelled][stop:]
    assert [start for run in left(batch) for of in run for start in of] == rest
    assert check_batch(batch) == []
    assert (batch.runs is None) == (not rest)


@pytest.mark.parametrize("make", [lambda: single(1, 2, 4), lambda: several(((1, 2), (4,)))])
def test_a_handler_that_cancels_and_stops_leaves_the_count_right(make: Callable[[], ChunkedBatch]) -> None:
    batch = make()

    def handler(start: int, text: str) -> None:
        if start == 4:
            raise StopDispatch
        assert batch.cancel(2, None)[0] == (2, "at 2")

    assert batch.dispatch([], handler, lambda: 0, 1) == 1
    assert left(batch) == [[[4]]]


class Counted(int):
    """A start that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    def __gt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) > int(other)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_a_cancel_looks_at_few_of_the_starts() -> None:
    shape = tuple(tuple((at, at + 1) for at in range(run, run + 32, 2)) for run in range(0, 32 * 32, 32))
    batch = several(*shape)

    def handler(start: int, text: str) -> None:
        if not start:
            Counted.compared = 0
            assert batch.cancel(Counted(1_021), None) == ((1_021, "at 1021"), 0)
            assert Counted.compared < 20

    batch.dispatch([], handler, lambda: 0, 1)


@pytest.mark.parametrize("make", [lambda: single(1, 2, 3), lambda: several(((1, 2),), ((3,),))])
def test_what_is_left_is_given_once(make: Callable[[], ChunkedBatch]) -> None:
    emptied = (0, None, 0, 0)
    batch = make()
    assert batch.give_messages() == chunk(1, 2, 3)
    assert (len(batch), batch.runs, batch.behind, batch.beyond) == emptied
    batch = make()
    chunks, runs = batch.chunks, batch.runs
    given = batch.give()
    assert given[0].chunks is chunks
    assert given is runs or [(run.ends, run.keys, run.count) for run in given] == [([3], None, 3)]
    assert (len(batch), batch.chunks, batch.runs, batch.behind, batch.beyond) == (0, [], *emptied[1:])
    batch = make()
    batch.empty()
    assert (len(batch), batch.chunks, batch.runs, batch.behind, batch.beyond) == (0, [], *emptied[1:])


def test_the_only_chunk_is_given_itself() -> None:
    batch = single(1, 2)
    only = batch.chunks[0]
    assert batch.give_messages() is only
    assert only == chunk(1, 2)
