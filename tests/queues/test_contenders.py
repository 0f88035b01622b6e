"""What only the contenders can get wrong: their fast paths, what they keep of cancelled messages, their own checks."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from queues.conformance import PROMISES, conform
from queues.model import Model
from queues.registry import load
from queues.timer import buckets, heap, marker_index, wheel
from queues.timer.rules import StopDispatch
from tests.queues.lines import lines_of

INFINITY = float("inf")
CONTENDERS = ("heap", "sorted", "deque", "buckets", "markers", "wheel")
ORDER = frozenset(
    ("start-order", "ties-keep-arrival-order", "requeue-merges-late-arrivals", "nothing-dropped", "model-agreement")
    + ("many-messages", "check-holds", "any-epoch", "mixed-numbers-exact", "cancelled-leaves-nothing")
)


def filled(name: str, *starts: Any) -> Any:
    queue = load("timer", name)(clock=lambda: 0.0)
    for start in starts:
        queue.enqueue(start, f"at {start}")
    return queue


def starts_of(queue: Any) -> list[Any]:
    queue.check()
    return [item[0] for item in queue.contents()]


# The contract, at sizes where every branch is taken all the time


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Purge, split and join at sizes that a small queue reaches."""
    monkeypatch.setattr(heap, "SLACK", 0)
    monkeypatch.setattr(buckets, "SLACK", 0)
    monkeypatch.setattr(marker_index, "LOAD", 2)
    monkeypatch.setattr(wheel, "BLOCK", 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CONTENDERS)
def test_every_promise_is_kept_for_every_seed(name: str, seed: int) -> None:
    assert [
        outcome for outcome in conform(load("timer", name), seed=seed, steps=1000) if outcome.verdict != "kept"
    ] == []


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["heap", "buckets", "markers", "wheel"])
def test_the_contract_holds_when_everything_is_purged_split_and_joined_all_the_time(name: str, seed: int) -> None:
    promises = [promise for promise in PROMISES if promise.name in ORDER]
    outcomes = conform(load("timer", name), seed=seed, promises=promises)
    assert len(outcomes) == len(ORDER)
    assert [outcome for outcome in outcomes if outcome.verdict != "kept"] == []


# What is kept of cancelled and rescheduled messages


def stored(queue: Any) -> int:
    """How many entries the containers hold, live or dead, nodes and slots included."""
    return sum(len(part) if isinstance(part, list | dict) else 1 for part in queue.container())


@pytest.mark.parametrize("ahead", [1, 50])
@pytest.mark.parametrize("name", CONTENDERS)
def test_cancelled_far_future_messages_leave_no_more_than_twice_the_live_and_a_constant(name: str, ahead: int) -> None:
    """A25"""
    queue = filled(name, *range(10))
    before = stored(queue)
    far: list[int] = []
    for number in range(20_000):
        far.append(1_000_000 + number)
        queue.enqueue(far[-1])
        if len(far) > ahead:
            start = far.pop(0)
            assert queue.cancel(start) == (start,)
            assert len(queue) == 10 + ahead
        if number % 500 == 0:
            assert stored(queue) <= 8 * (10 + ahead) + before + 100
    for start in far:
        queue.cancel(start)
    assert starts_of(queue) == list(range(10))
    assert stored(queue) <= 2 * before + 100


@pytest.mark.parametrize("name", ["heap", "buckets"])
def test_dead_entries_never_outweigh_the_live_ones_by_more_than_the_slack(name: str) -> None:
    """A25"""
    source = random.Random(25)
    queue = filled(name, *range(200))
    module = {"heap": heap, "buckets": buckets}[name]
    live = list(range(200))
    for step in range(2_000):
        if source.random() < 0.45 and live:
            start = live.pop(source.randrange(len(live)))
            assert queue.cancel(start) is not None
        elif source.random() < 0.1 and live:
            first = min(live)
            assert queue.take(first) is not None
            live.remove(first)
        else:
            live.append(1_000 + step)
            queue.enqueue(1_000 + step)
        entries = len(queue._heap if name == "heap" else queue._starts)
        assert entries <= 2 * len(live) + module.SLACK
    assert starts_of(queue) == sorted(live)


@pytest.mark.parametrize("name", CONTENDERS)
def test_rescheduling_the_same_messages_back_and_forth_keeps_entries_flat(name: str) -> None:
    """A30"""
    queue = filled(name, *range(100))
    sizes = []
    for _ in range(40):
        for shift in (100_000, -100_000):
            for number in range(100):
                here = number if shift > 0 else number + 100_000
                item = queue.cancel(here)
                assert item == (here, f"at {number}")
                queue.enqueue(here + shift, *item[1:])
        sizes.append(stored(queue))
    assert starts_of(queue) == list(range(100))
    assert max(sizes[1:]) <= 2 * sizes[0]


@pytest.mark.parametrize("name", ["buckets", "markers", "sorted", "wheel"])
def test_rescheduling_costs_the_same_in_every_round(name: str) -> None:
    """A30: counted in lines that run, not in seconds."""
    queue = filled(name, *range(60))

    def one_round() -> None:
        for here, there in ((0, 5_000), (5_000, 0)):
            for number in range(60):
                queue.enqueue(there + number, *queue.cancel(here + number)[1:])

    costs = [lines_of(one_round, within="") for _ in range(12)]
    assert max(costs[2:]) <= 1.3 * min(costs[2:])


# Each structure's own ways


@pytest.mark.parametrize("name", CONTENDERS)
def test_what_is_put_back_again_and_again_stands_where_the_model_puts_it(name: str) -> None:
    """Two batches of equal starts at a time, which come back in either order, with arrivals in between."""
    source = random.Random(7)
    for _ in range(20):
        pair = (load("timer", name)(), Model())
        for turn in range(12):
            limits, back = (source.randrange(1, 4), source.randrange(1, 4)), source.choice(((0, 1), (1, 0)))
            start = source.choice((5, 5, 5, 4))
            for queue in pair:
                queue.enqueue(5, f"first {turn}")
                batches = [queue.take(5, limit=limit) for limit in limits]
                queue.enqueue(start, f"new {turn}")
                for batch in (batches[place] for place in back):
                    if batch is not None:
                        queue.requeue(batch)
            assert list(pair[0].contents()) == list(pair[1].contents())
            pair[0].check()


def test_the_heap_never_gives_one_sequence_number_twice() -> None:
    queue = filled("heap", *[1] * 50)
    for _ in range(20):
        batches = [queue.take(1, limit=7) for _ in range(4)]
        queue.enqueue(1)
        for batch in batches:
            queue.requeue(batch)
        queue.check()
    assert len(queue) == 70


@pytest.mark.parametrize("left", [1, 3, 200, 5_000])
def test_the_heap_takes_back_few_and_many_alike(left: int) -> None:
    queue = filled("heap", *range(6_000))
    batch = queue.take(left - 1)
    assert queue.requeue(batch) == left
    assert starts_of(queue) == list(range(6_000))


def test_buckets_of_equal_starts_leave_and_return_as_the_lists_they_are() -> None:
    queue = filled("buckets", *[1] * 500, *[2] * 500)
    lists = [queue._buckets[1], queue._buckets[2]]
    batch = queue.take(2)
    assert [one is other for one, other in zip(batch.buckets, lists, strict=True)] == [True, True]
    queue.requeue(batch)
    assert [queue._buckets[1] is lists[0], queue._buckets[2] is lists[1]] == [True, True]
    queue.check()


def test_a_bucket_is_found_by_every_kind_of_number_and_each_message_keeps_its_own() -> None:
    same: list[Any] = [1, 1.0, Decimal(1), Fraction(1), True]
    queue = filled("buckets", *same)
    assert len(queue._buckets) == 1
    seen: list[Any] = []
    queue.process(queue.take(1), lambda start, _: seen.append(start), deadline=INFINITY)
    assert [type(start) for start in seen] == [int, float, Decimal, Fraction, bool]


def test_a_limit_may_cut_a_bucket_and_both_parts_keep_their_order() -> None:
    queue = load("timer", "buckets")()
    for number in range(10):
        queue.enqueue(1, number)
    batch = queue.take(1, limit=4)
    assert (len(batch), len(queue)) == (4, 6)
    queue.enqueue(1, 10)
    queue.requeue(batch)
    queue.check()
    assert [number for _, number in queue.contents()] == list(range(11))


def test_a_bucket_comes_back_to_a_start_that_was_emptied_meanwhile() -> None:
    queue = filled("buckets", 1, 2, 2)
    batch = queue.take(2)
    for start in (0, 2, 5):
        queue.enqueue(start)
    assert queue.cancel(2) == (2,)
    queue.check()
    queue.requeue(batch)
    assert starts_of(queue) == [0, 1, 2, 2, 5]


def test_a_bucket_half_handed_out_comes_back_as_its_rest() -> None:
    queue = filled("buckets", 1, 1, 1, 2, 3)
    batch = queue.take(2)

    def handler(start: int, payload: str) -> None:
        assert queue.cancel(2) is not None or len(batch) < 4
        if len(batch) == 2:
            raise StopDispatch

    assert queue.process(batch, handler, deadline=INFINITY) == 1
    queue.check()
    assert queue.requeue(batch) == 2
    assert starts_of(queue) == [1, 1, 3]


def test_a_deque_finds_its_cut_for_any_number_of_due_messages() -> None:
    for due in (1, 2, 63, 64, 65, 500):
        queue = filled("deque", *range(600))
        assert len(queue.take(due - 1)) == due
        assert starts_of(queue) == list(range(due, 600))


def test_no_contender_leaves_a_cycle_for_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        for name in CONTENDERS:
            queue = filled(name, *range(50), INFINITY)
            batch = queue.take(20)
            queue.enqueue(3)
            queue.requeue(batch)
            queue.cancel(30)
            del queue, batch
        assert gc.collect() == 0
    finally:
        gc.enable()


# Every invariant, broken on purpose


def swap(row: Any, one: int, other: int) -> None:
    row[one], row[other] = row[other], row[one]


def dead(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*entry[:2], heap.CANCELLED)


def kill(queue: Any, count: int) -> None:
    """Add `count` dead entries to a heap, and count them."""
    for _ in range(count):
        queue._heap.append((9, queue._next, heap.CANCELLED))
        queue._next += 1
        queue._cancelled += 1


def empty_buckets(queue: Any, count: int) -> None:
    for start in range(100, 100 + count):
        queue._buckets[start] = []
        queue._starts.append(start)
    queue._emptied += count


def kill_top(queue: Any) -> None:
    queue._heap[0] = dead(queue._heap[0])
    queue._cancelled = 1


def empty_top(queue: Any) -> None:
    queue._buckets[1].clear()
    queue._emptied = 1


def gap_only(queue: Any) -> None:
    queue._front.items = [None]
    queue._front.head = 1


def set_item(row: Any, index: Any, value: Any) -> None:
    row[index] = value


DAMAGE: list[tuple[str, str, Callable[[Any], object]]] = [
    ("heap", "a child comes before its parent", lambda q: swap(q._heap, 0, 1)),
    ("heap", "sequence numbers are repeated or were never given", lambda q: set_item(q._heap, 2, (2, 0, "again"))),
    ("heap", "sequence numbers are repeated or were never given", lambda q: setattr(q, "_next", 1)),
    ("heap", "sequence numbers are repeated or were never given", lambda q: setattr(q, "_first", 1)),
    ("heap", "0 entries are dead, not 1", lambda q: setattr(q, "_cancelled", 1)),
    ("heap", "1 entries are dead, not 0", lambda q: set_item(q._heap, 2, dead(q._heap[2]))),
    ("heap", "the top is dead", kill_top),
    ("heap", "a purge is due", lambda q: kill(q, 4 + heap.SLACK)),
    ("sorted", "out of order", lambda q: swap(q._entries._lists[0], 0, 1)),
    ("sorted", "the length is wrong", lambda q: setattr(q._entries, "_len", 5)),
    ("sorted", "the largest entries are not those of the lists", lambda q: set_item(q._entries._maxes, 0, (1, 1))),
    ("sorted", "a sequence number was never given", lambda q: setattr(q, "_next", 0)),
    ("deque", "out of order", lambda q: q._queue.rotate(1)),
    ("buckets", "a child comes before its parent", lambda q: swap(q._starts, 0, 1)),
    ("buckets", "the heap does not hold the keys", lambda q: q._starts.pop()),
    ("buckets", "the heap does not hold the keys", lambda q: q._starts.append(3)),
    ("buckets", "a message is in the list of another start", lambda q: set_item(q._buckets[2], 0, (3, "moved"))),
    ("buckets", "the count is wrong", lambda q: q._buckets[2].append((2, "uncounted"))),
    ("buckets", "0 lists are empty, not 1", lambda q: setattr(q, "_emptied", 1)),
    ("buckets", "the top is an emptied list", empty_top),
    ("buckets", "a purge is due", lambda q: empty_buckets(q, 4 + buckets.SLACK)),
    ("markers", "the anchor or the count is wrong", lambda q: setattr(q, "_count", 2)),
    ("markers", "the anchor or the count is wrong", lambda q: q._anchor.advance()),
    ("markers", "out of order", lambda q: setattr(q._anchor.node.next, "data", (2.5,))),
    ("markers", "the end is not remembered right", lambda q: setattr(q, "_latest", 2)),
    ("markers", "the end is not remembered right", lambda q: setattr(q, "_last", q._anchor.copy())),
    ("markers", "the bound is not that of the last span", lambda q: setattr(q, "_bound", 9)),
    ("markers", "markers are out of order", lambda q: swap(q._index.groups[0], 0, 1)),
    ("markers", "the markers are not those of the spans", lambda q: q._index.groups[0].pop()),
    ("markers", "an end is not the last tick of its group", lambda q: set_item(q._index.ends, 0, 7)),
    ("markers", "a group is empty or too long", lambda q: q._index.groups.append([])),
    ("markers", "a group's count is wrong", lambda q: set_item(q._index.counts, 0, 7)),
    (
        "markers",
        "a marker is not on the last node of its span",
        lambda q: setattr(q._index.groups[0][0], "last", q._anchor.node),
    ),
    ("markers", "a marker's count is wrong", lambda q: setattr(q._index.groups[0][0], "count", 7)),
    ("wheel", "the front is out of order", lambda q: q._front.items.append((0, "moved"))),
    ("wheel", "the gap in front is not empty", lambda q: setattr(q._front, "head", 1)),
    ("wheel", "an empty front keeps a gap", gap_only),
    ("wheel", "the front has a tick that the wheel has not come to", lambda q: q._front.items.append((70, "moved"))),
    ("wheel", "the masks are not those of the slots that have messages", lambda q: set_item(q._levels.masks, 3, 1)),
    ("wheel", "the masks are not those of the slots that have messages", lambda q: set_item(q._levels.masks, 0, 0)),
    ("wheel", "the masks are not those of the slots that have messages", lambda q: next(iter(q._levels)).clear()),
    ("wheel", "the count of the levels is wrong", lambda q: setattr(q._levels, "count", 0)),
    ("wheel", r"slot 2 holds ticks \[.*\] at \d+", lambda q: next(iter(q._levels)).append((70, "moved"))),
    ("wheel", r"slot 2 holds ticks \[.*\] at \d+", lambda q: setattr(q._levels, "current", q._levels.current + 64)),
    ("wheel", "beyond: the front is out of order", lambda q: q._beyond.items.append((1e300, "moved"))),
    ("wheel", "what is beyond belongs into a slot", lambda q: q._beyond.items.insert(0, (70, "moved"))),
]


def whole(name: str) -> Any:
    """A queue with something in every part: a wheel that has turned, a message in a slot and one beyond."""
    if name != "wheel":
        return filled(name, 1, 2, 3)
    queue = filled(name, 0, 1, 2, INFINITY)
    queue.requeue(queue.take(1))
    return queue


@pytest.mark.parametrize(("name", "words", "damage"), DAMAGE, ids=[f"{case[0]}-{at}" for at, case in enumerate(DAMAGE)])
def test_check_tells_a_broken_invariant_with_the_state(name: str, words: str, damage: Callable[[Any], object]) -> None:
    queue = whole(name)
    queue.check()
    damage(queue)
    with pytest.raises(AssertionError, match=rf"(?s)^(?:.*; )?{words}(?:; .*)?: .*merged 0, walked 0"):
        queue.check()


BATCH_DAMAGE: list[tuple[str, str, Callable[[Any], object]]] = [
    *(
        (name, "a batch still holds what was dispatched", lambda b: set_item(b.items, 0, (1, "kept")))
        for name in ("heap", "sorted", "wheel")
    ),
    *(
        (name, r"a batch is out of order: \[.*\]", lambda b: set_item(b.items, 1, (9, "late")))
        for name in ("deque", "wheel")
    ),
    ("buckets", "a batch still holds what was dispatched", lambda b: set_item(b.buckets[0], 0, (1, "kept"))),
    ("buckets", "a batch says 7 left and holds .*", lambda b: setattr(b, "left", 7)),
    ("buckets", r"a batch is out of order: \[.*\]", lambda b: swap(b.starts, 0, 1)),
    (
        "buckets",
        "a batch has a message in the list of another start: .*",
        lambda b: set_item(b.buckets[1], 0, (1, "moved")),
    ),
    ("markers", "a batch says 7 left and holds .*", lambda b: setattr(b, "left", 7)),
    (
        "markers",
        "the known tail of a batch is not on its last node: .*",
        lambda b: setattr(b.tail, "node", b.fragment.node),
    ),
    ("markers", "a batch: a marker's count is wrong", lambda b: setattr(b.markers.groups[0][0], "count", 7)),
    ("markers", "a batch: the markers are not those of the spans", lambda b: b.markers.groups[0].pop()),
    (
        "markers",
        "a batch: a marker is not on the last node of its span",
        lambda b: setattr(b.markers.groups[0][1], "last", b.fragment.node),
    ),
]


@pytest.mark.parametrize(
    ("name", "words", "damage"), BATCH_DAMAGE, ids=[f"{case[0]}-{at}" for at, case in enumerate(BATCH_DAMAGE)]
)
def test_check_sees_a_batch_that_is_being_processed(name: str, words: str, damage: Callable[[Any], object]) -> None:
    queue = filled(name, 1, 1, 2, 3, 4)
    batch = queue.take(3)

    def handler(start: int, payload: str) -> None:
        queue.check()
        if len(batch) == 3:
            damage(batch)
            queue.check()

    with pytest.raises(AssertionError, match=rf"(?s)^(?:.*; )?{words}(?:; .*)?: "):
        queue.process(batch, handler, deadline=INFINITY)


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_has_its_invariants_broken(name: str) -> None:
    assert name in {case[0] for case in DAMAGE}
    assert name in {case[0] for case in BATCH_DAMAGE}
