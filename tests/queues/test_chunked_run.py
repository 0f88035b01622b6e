"""A run of the chunked queue by itself: what stays, what is handed on, and which of the two keeps its own lists."""

from __future__ import annotations

from typing import Any

import pytest

from queues.timer.chunked_run import Run, check_run, messages_of, runs_of
from tests.queues.chunked_parts import chunk

Rows = list[Any] | None


def run_of(*starts: tuple[int, ...], keys: Rows = None, tail: list[Any] | None = None) -> Run:
    """A run of a chunk for each tuple of starts; with a tail it is the last of a queue."""
    chunks = [chunk(*of) for of in starts]
    count = sum(map(len, chunks))
    return Run(chunks if tail is None else [*chunks, tail], [of[-1] for of in starts], keys, count)


def state(run: Run) -> tuple[Any, ...]:
    """The starts of each chunk, the ends, the keys and the count."""
    return [[item[0] for item in chunk] for chunk in run.chunks], run.ends, run.keys, run.count


def test_a_run_is_what_it_was_given() -> None:
    chunks, ends, keys = chunk(1), [1], [[1]]
    run = Run(chunks, ends, keys, 7)
    assert (run.chunks is chunks, run.ends is ends, run.keys is keys, run.count) == (True, True, True, 7)


@pytest.mark.parametrize(("keys", "kind"), [(None, tuple), ([[1, 2], None], list)])
def test_a_run_is_closed_into_a_new_one_and_keeps_its_lists_with_the_tail(keys: Rows, kind: type) -> None:
    tail = chunk(6)
    last = run_of((1, 2), (3, 4, 5), keys=keys, tail=tail)
    chunks, ends = last.chunks, last.ends
    first, second = chunks[0], chunks[1]
    closed = last.closed()
    assert (type(closed.chunks), type(closed.ends)) == (kind, kind)
    assert (closed.chunks[0] is first, closed.chunks[1] is second, len(closed.chunks)) == (True, True, 2)
    assert ([*closed.ends], closed.keys, closed.count) == ([2, 5], keys, 5)
    assert (last.chunks is chunks, last.ends is ends, last.chunks[0] is tail) == (True, True, True)
    assert state(last) == ([[6]], [], None, 0)


def test_a_closed_run_is_opened_and_an_open_one_is_left_as_it_is() -> None:
    run = Run((chunk(1), chunk(2, 3)), (1, 3), None, 3)
    run.open()
    assert state(run) == ([[1], [2, 3]], [1, 3], None, 3)
    chunks, ends = run.chunks, run.ends
    run.open()
    assert (run.chunks is chunks, run.ends is ends) == (True, True)


FOUR = ((1,), (2, 3), (4, 5, 6), (7,))
ROWS = ([1], None, [4, 5, 6], None)


@pytest.mark.parametrize("keys", [None, ROWS])
@pytest.mark.parametrize("number", range(5))
def test_dividing_a_run_copies_the_smaller_part(number: int, keys: Any) -> None:
    run = run_of(*FOUR, keys=keys and [*keys])
    chunks, ends = run.chunks, run.ends
    part = run.divide(number, 7)
    of = [[*starts] for starts in FOUR]
    rows = ([*keys[:number]], [*keys[number:]]) if keys else (None, None)
    first_ends, last_ends = [1, 3, 6, 7][:number], [1, 3, 6, 7][number:]
    assert state(part) == (of[:number], first_ends, rows[0], (0, 1, 3, 6, 7)[number])
    assert state(run) == (of[number:], last_ends, rows[1], 7)
    keeps = run if number <= 2 else part
    assert (keeps.chunks is chunks, keeps.ends is ends) == (True, True)


@pytest.mark.parametrize(("number", "count"), [(0, 0), (1, 1), (2, 3), (3, 6)])
def test_the_tail_is_no_part_of_the_count_of_a_divided_run(number: int, count: int) -> None:
    run = run_of(*FOUR[:3], tail=chunk(7, 8))
    part = run.divide(number, 6)
    assert (part.count, len(part.ends), len(run.ends)) == (count, number, 3 - number)
    assert [len(row) for row in run.chunks] == [1, 2, 3, 2][number:]


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (None, None, None),
        ([[1], None], None, [[1], None, None]),
        (None, [[4]], [None, None, [4]]),
        ([None, [2, 3]], [[4]], [None, [2, 3], [4]]),
    ],
)
def test_a_run_hung_in_before_another_brings_its_keys(first: Rows, second: Rows, both: Rows) -> None:
    earlier, later = run_of((1,), (2, 3), keys=first), run_of((4,), keys=second)
    chunks, ends = later.chunks, later.ends
    earlier.put_before(later)
    assert state(later) == ([[1], [2, 3], [4]], [1, 3, 4], both, 1)
    assert (later.chunks is chunks, later.ends is ends) == (True, True)


def test_a_run_hung_in_before_one_of_a_tail_alone_brings_its_keys() -> None:
    later = run_of(tail=chunk(9))
    run_of((1,), (2, 3), keys=[None, [2, 3]]).put_before(later)
    assert state(later) == ([[1], [2, 3], [9]], [1, 3], [None, [2, 3]], 0)


@pytest.mark.parametrize(("keys", "after"), [(None, None), ([[1]], [[1], None])])
def test_a_chunk_is_added_behind_the_others(keys: Rows, after: Rows) -> None:
    run, added = run_of((1,), keys=keys and [*keys]), chunk(2, 3, 4)
    run.add(added)
    assert state(run) == ([[1], [2, 3, 4]], [1, 4], after, 4)
    assert run.chunks[1] is added


@pytest.mark.parametrize("keys", [None, [[1], None, [4, 5]]])
@pytest.mark.parametrize("closed", [False, True])
def test_the_last_two_chunks_are_joined_and_their_keys_forgotten(keys: Rows, closed: bool) -> None:
    run = run_of((1,), (2, 3), (4, 5), keys=keys and [*keys])
    if closed:
        run.chunks, run.ends = tuple(map(tuple, run.chunks)), tuple(run.ends)
    run.join_last()
    assert state(run) == ([[1], [2, 3, 4, 5]], [1, 5], keys and [[1], None], 5)
    assert type(run.chunks[1]) is list


def test_the_messages_of_runs_come_one_after_the_other() -> None:
    assert [*messages_of([run_of((1,), (2, 3)), run_of((4,))])] == chunk(1, 2, 3, 4)
    assert [*messages_of([])] == []


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (0, []),
        (1, [[1]]),
        (3, [[3]]),
        (4, [[3, 1]]),
        (6, [[3, 3]]),
        (7, [[3, 3], [1]]),
        (12, [[3, 3], [3, 3]]),
        (14, [[3, 3], [3, 3], [2]]),
    ],
)
def test_sorted_messages_are_put_into_full_chunks_and_full_runs(messages: int, expected: list[list[int]]) -> None:
    given = chunk(*range(messages))
    runs = runs_of(given, 3, 2)
    assert [[len(row) for row in run.chunks] for run in runs] == expected
    assert [*messages_of(runs)] == given
    assert [run.count for run in runs] == [sum(lengths) for lengths in expected]
    assert [run.ends for run in runs] == [[row[-1][0] for row in run.chunks] for run in runs]
    assert all(run.keys is None for run in runs)


WRONG: list[tuple[Run, list[str]]] = [
    (run_of((1,), (2, 3)), []),
    (run_of((1,), (2, 3), keys=[None, [2, 3]]), []),
    (run_of((1,), tail=[]), []),
    (run_of((1,), keys=[[1]], tail=chunk(2)), []),
    (Run((chunk(1), tuple(chunk(2, 3))), (1, 3), [[1], None], 3), []),
    (Run([chunk(1), []], [1, 1], None, 1), ["a sealed chunk is empty", "the ends are [1, 1]"]),
    (Run([chunk(1), []], [1], None, 1), []),
    (Run([[], chunk(1)], [1, 1], None, 1), ["a sealed chunk is empty", "the ends are [1, 1]"]),
    (Run([chunk(1, 2)], [1], None, 2), ["the ends are [1]"]),
    (Run((chunk(1, 2),), (3,), None, 2), ["the ends are (3,)"]),
    (run_of((1,), (2, 3), keys=[None]), ["there are 1 rows of keys"]),
    (run_of((1,), (2, 3), keys=[]), ["there are 0 rows of keys"]),
    (run_of((1,), keys=[None, None]), ["there are 2 rows of keys"]),
    (run_of((1,), (2, 3), keys=[[1], [3, 3]]), ["keys are [3, 3]"]),
    (run_of((1,), (2, 3), keys=[[2]]), ["there are 1 rows of keys", "keys are [2]"]),
    (Run([tuple(chunk(1)), chunk(2)], [1, 2], [[1], []], 2), ["keys are [1]", "keys are []"]),
]


@pytest.mark.parametrize(("run", "wrong"), WRONG, ids=range(len(WRONG)))
def test_each_fault_of_a_run_is_told_in_its_words(run: Run, wrong: list[str]) -> None:
    assert check_run(run) == wrong
