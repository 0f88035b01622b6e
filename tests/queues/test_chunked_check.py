"""What `check` says of a damaged chunked queue and of its batches, word for word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import pytest

from queues.timer.chunked import Chunked
from queues.timer.chunked_batch import ChunkedBatch, check_batch
from queues.timer.chunked_run import Run
from tests.queues.chunked_parts import INFINITY, chunk, filled, resize, several, shape_of, single, starts_of

Damage = Callable[[Chunked], object]


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    resize(monkeypatch, LOAD=2, FULL=4, SMALL=1, RUN=2, SHORT=2, WIDE=4)


def put(row: Any, index: int, value: Any) -> None:
    row[index] = value


def several_damages(*damages: Damage) -> Damage:
    return lambda queue: [damage(queue) for damage in damages]


def copied(opening: Callable[[Chunked], Any], opened: Callable[[Any], list[Any]], ready: int = 0) -> Damage:
    """Say that of a chunk, or of a run's chunks, so much is copied ahead."""

    def damage(queue: Chunked) -> None:
        queue._opening = opening(queue)
        queue._opened = opened(queue._opening)
        queue._ready = ready

    return damage


def second(queue: Chunked) -> Run:
    return queue._runs[1]


def told(queue: Chunked) -> str:
    with pytest.raises(AssertionError) as raised:
        queue.check()
    return str(raised.value)


STATE = "runs with chunks of {}, {} being processed, merged {}, walked {}, starts {}"
NO_END = "a run is empty, or a chunk but the tail has no end"
NO_TAIL = "the tail is not the last chunk"
ANOTHER = "the front run is another"
AHEAD = "copied ahead are {} of {}"
LOST = "what is copied ahead is not queued"
FOUR = (tuple(chunk(4, 5)), tuple(chunk(6, 7)))
ROW = list(FOUR[0])

FAULTS: list[tuple[str, Damage]] = [
    ("out of order; latest is 12", lambda q: q._tail.reverse()),
    ("out of order", lambda q: put(q._tail, 1, (9, "at 9"))),
    ("the ends are [5, 3]", lambda q: put(q._ends, 0, 5)),
    ("the ends are (6, 7)", lambda q: setattr(second(q), "ends", (6, 7))),
    ("there are 1 rows of keys", lambda q: setattr(second(q), "keys", [None])),
    ("there is said to be room for 1 behind 3", lambda q: setattr(q, "_room", repeat(None, 1))),
    (f"{NO_TAIL}; 10 are said to be sealed", lambda q: setattr(q, "_tail", [])),
    (
        NO_TAIL,
        several_damages(lambda q: setattr(q, "_tail", tuple(q._tail)), lambda q: put(q._runs[-1].chunks, -1, q._tail)),
    ),
    (f"a sealed chunk is empty; the ends are [1, 3]; {NO_END}", lambda q: q._chunks.insert(0, [])),
    (NO_END, lambda q: q._runs.insert(1, Run([], [], None, 0))),
    (NO_END, lambda q: q._runs.insert(2, Run([], [], None, 0))),
    (
        f"{NO_END}; the runs are said to end at [3, 7]; behind the front run 6 are said to be sealed: [4, 2, 2]",
        several_damages(
            lambda q: setattr(second(q), "ends", (5,)),
            lambda q: setattr(second(q), "count", 2),
            copied(lambda q: second(q).chunks, lambda of: []),
        ),
    ),
    ("the runs are said to end at [3]", lambda q: q._run_ends.pop()),
    ("the runs are said to end at [2, 7]", lambda q: put(q._run_ends, 0, 2)),
    (ANOTHER, lambda q: setattr(q, "_front", second(q))),
    (ANOTHER, lambda q: setattr(q, "_chunks", [*q._chunks])),
    (ANOTHER, lambda q: setattr(q, "_ends", [*q._ends])),
    (ANOTHER, lambda q: setattr(q._front, "chunks", (*q._chunks,))),
    ("behind the front run 7 are said to be sealed: [4, 4, 2]", lambda q: setattr(q, "_deep", 7)),
    ("behind the front run 6 are said to be sealed: [4, 4, 2]", lambda q: setattr(second(q), "count", 5)),
    ("behind the front run 6 are said to be sealed: [4, 4, 2]", lambda q: setattr(q._runs[2], "count", 5)),
    ("latest is 3", lambda q: setattr(q, "_latest", 3)),
    ("7 are said to be sealed", lambda q: setattr(q, "_sealed", 7)),
    (AHEAD.format([1], None), lambda q: setattr(q, "_opened", [1])),
    (f"{AHEAD.format([], ((1, 'one'),))}; {LOST}", lambda q: setattr(q, "_opening", ((1, "one"),))),
    (AHEAD.format([FOUR[0], 6], FOUR), copied(lambda q: second(q).chunks, lambda of: [of[0], 6])),
    (AHEAD.format([FOUR[1], 5], FOUR), copied(lambda q: second(q).chunks, lambda of: [of[1], 5])),
    (AHEAD.format([None], FOUR[0]), copied(lambda q: second(q).chunks[0], lambda of: [None])),
    (AHEAD.format([None, None], FOUR[0]), copied(lambda q: second(q).chunks[0], lambda of: [None, None], 1)),
    (AHEAD.format([ROW[1], None], FOUR[0]), copied(lambda q: second(q).chunks[0], lambda of: [of[1], None], 1)),
]


@pytest.mark.parametrize(("faults", "damage"), FAULTS, ids=range(len(FAULTS)))
def test_a_fault_of_the_queue_is_told_alone_and_with_its_state(faults: str, damage: Damage) -> None:
    queue = filled(13)
    assert shape_of(queue._runs) == "(2) (2) | <(2) (2)> | (2) [3]"
    queue.check()
    queue.merged, queue.walked = 3, 5
    damage(queue)
    lengths = [[len(one) for one in run.chunks] for run in queue._runs]
    assert told(queue) == f"{faults}: {STATE.format(lengths, 0, 3, 5, starts_of(queue))}"


SOUND: list[Damage] = [
    copied(lambda q: second(q).chunks, lambda of: []),
    copied(lambda q: second(q).chunks, lambda of: [of[0], 5]),
    copied(lambda q: second(q).chunks, lambda of: [of[0], 5, of[1], 7]),
    copied(lambda q: second(q).chunks[1], lambda of: [None, None]),
    copied(lambda q: second(q).chunks[1], lambda of: [of[0], None], 1),
    copied(lambda q: second(q).chunks[1], lambda of: [*of], 2),
    lambda q: put(q._tail, 1, (10, "at 10")),
]


@pytest.mark.parametrize("change", SOUND)
def test_nothing_is_said_of_what_may_be(change: Damage) -> None:
    queue = filled(13)
    change(queue)
    queue.check()


def test_a_small_queue_is_told_its_room_and_its_latest_start() -> None:
    queue = filled(1)
    queue.check()
    queue._room = repeat(None, 3)
    assert told(queue).startswith("there is said to be room for 3 behind 1: runs with chunks of [[1]], ")
    queue = Chunked()
    queue.check()
    queue._latest = 3
    assert told(queue).startswith("latest is 3: runs with chunks of [[0]], ")


def test_the_faults_of_a_batch_being_processed_stand_behind_those_of_the_queue() -> None:
    queue = filled(8)
    batch = queue.take(2)
    assert batch is not None
    said = []

    def handler(start: int, text: str) -> None:
        if start == 1:
            queue._sealed, batch.behind = 7, 3
            said.append(told(queue))
            queue._sealed, batch.behind = 1, 1

    assert queue.process(batch, handler, INFINITY) == 3
    state = STATE.format([[1, 4]], 1, 0, 0, [3, 4, 5, 6, 7])
    fault = "a batch of [1, 2]: 3 are said to be behind the first chunk"
    assert said == [f"7 are said to be sealed; {fault}: {state}"]


def runs_of(batch: ChunkedBatch) -> list[Run]:
    assert batch.runs is not None
    return batch.runs


BATCH_FAULTS: list[tuple[list[str], Callable[[ChunkedBatch], object]]] = [
    ([], lambda b: None),
    (["3 are said to be behind the first chunk"], lambda b: setattr(b, "behind", 3)),
    (["9 are said to be beyond the first run"], lambda b: setattr(b, "beyond", 9)),
    (
        ["the runs are said to have [5, 2, 3] messages", "4 are said to be beyond the first run"],
        lambda b: setattr(runs_of(b)[1], "count", 2),
    ),
    (
        ["the runs are said to have [5, 1, 2] messages", "4 are said to be beyond the first run"],
        lambda b: setattr(runs_of(b)[2], "count", 2),
    ),
    (["a run is not the first or empty"], lambda b: setattr(b, "chunks", [*b.chunks])),
    (["a run is not the first or empty"], lambda b: runs_of(b).insert(1, Run([], [], None, 0))),
    (["out of order"], lambda b: runs_of(b).append(runs_of(b).pop(1))),
    (["a chunk has no end"], lambda b: runs_of(b)[2].ends.pop()),
    (["the ends are [7]"], lambda b: put(runs_of(b)[1].ends, 0, 7)),
    (["there are 1 rows of keys"], lambda b: setattr(runs_of(b)[2], "keys", [None])),
]


@pytest.mark.parametrize(("faults", "damage"), BATCH_FAULTS, ids=range(len(BATCH_FAULTS)))
def test_a_fault_of_a_batch_is_told_with_its_starts(
    faults: list[str], damage: Callable[[ChunkedBatch], object]
) -> None:
    batch = several(((1, 2), (3, 4, 5)), ((6,),), ((7, 8), (9,)))
    damage(batch)
    first = batch.chunks[0]
    starts = [item[0] for run in runs_of(batch) for one in run.chunks for item in one]
    assert check_batch(batch) == [f"a batch of {starts}: {fault}" for fault in faults]
    assert batch.chunks[0] is first


@pytest.mark.parametrize(
    ("starts", "processing", "wrong"),
    [
        ((), False, False),
        ((), True, False),
        ((1, 1, 2), False, False),
        ((3, 2, 2), True, False),
        ((1, 2, 3), True, True),
        ((2, 1), False, True),
    ],
)
def test_the_only_chunk_stands_the_other_way_round_while_it_is_processed(
    starts: tuple[int, ...], processing: bool, wrong: bool
) -> None:
    batch = single(*starts)
    batch.processing = processing
    first = batch.chunks[0] if starts else None
    shown = [*starts[::-1]] if processing else [*starts]
    assert check_batch(batch) == [f"a batch of {shown}: out of order"] * wrong
    assert not starts or batch.chunks[0] is first


def test_several_chunks_without_a_run_and_an_empty_chunk_are_faults() -> None:
    batch = several(((1, 2), (3,)))
    batch.runs = None
    assert check_batch(batch) == ["a batch of [1, 2, 3]: several chunks are no run"]
    batch = single(1)
    batch.chunks[0].clear()
    assert check_batch(batch) == ["a batch of []: a chunk has no end"]
