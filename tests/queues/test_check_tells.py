"""What `check` says of a damaged queue, word for word: each fault in its order, then the whole state.

Of the queues in an array, a deque, a heap, a sorted list and buckets. A batch that is being processed comes after the
queue itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.registry import load
from queues.timer import heap

INFINITY = float("inf")
Damage = Callable[[Any], object]

COUNTS = "{active} being processed, merged 0, walked 0"
STATE = {
    "array": "head {head}, {slots} slots, " + COUNTS + ", starts {starts}",
    "array-naive": COUNTS + ", starts {starts}",
    "deque": COUNTS + ", starts {starts}",
    "heap": "first {first}, next {next}, " + COUNTS + ", keys {keys}",
    "sorted": "length {length}, first {first}, next {next}, " + COUNTS + ", keys {keys}",
    "buckets": "count {count}, " + COUNTS + ", heap {heap}, lists {lists}",
}
"""How a queue of each kind tells its state."""

KEYS = [(1, 0), (2, 1), (3, 2)]
LISTS = {1: [(1, "at 1")], 2: [(2, "at 2")], 3: [(3, "at 3")]}
SOUND: dict[str, Any] = {
    "active": 0,
    "starts": [1, 2, 3],
    "head": 1,
    "slots": 4,
    "first": 0,
    "next": 3,
    "length": 3,
    "keys": KEYS,
    "count": 3,
    "heap": [1, 2, 3],
    "lists": LISTS,
}
"""The state of a queue with a message at 1, 2 and 3."""


def filled(name: str, *starts: int) -> Any:
    queue = load("timer", name)(clock=lambda: 0.0)
    for start in starts:
        queue.enqueue(start, f"at {start}")
    return queue


def put(row: Any, index: Any, value: Any) -> None:
    row[index] = value


def swap(row: Any, one: int, other: int) -> None:
    row[one], row[other] = row[other], row[one]


def said(check: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as raised:
        check()
    return str(raised.value)


def both(one: Damage, other: Damage) -> Damage:
    return lambda queue: [one(queue), other(queue)]


def dead(at: int) -> Damage:
    """Make an entry of a heap a dead one, without counting it."""
    return lambda queue: put(queue._heap, at, (*queue._heap[at][:2], heap.CANCELLED))


GAP = "the gap is not empty"
GIVEN = "sequence numbers are repeated or were never given"
NEVER = "a sequence number was never given"
NOT_KEYS = "the heap does not hold the keys"
MOVED = "a message is in the list of another start"

CASES: list[tuple[str, str, dict[str, Any], Damage]] = [
    ("array", "slot 0 is not the floor", {}, lambda q: put(q._items, 0, (-INFINITY,))),
    ("array", "out of order", {"starts": [1, 9, 3]}, lambda q: put(q._items, 2, (9,))),
    ("array", "out of order", {"starts": [1, 2, None]}, lambda q: put(q._items, 3, None)),
    ("array", GAP, {"head": 2, "starts": [2, 3]}, lambda q: setattr(q, "_head", 2)),
    (
        "array",
        GAP,
        {"head": 3, "starts": [3]},
        both(lambda q: put(q._items, 1, None), lambda q: setattr(q, "_head", 3)),
    ),
    ("array", GAP, {"head": 0, "starts": [-INFINITY, 1, 2, 3]}, lambda q: setattr(q, "_head", 0)),
    ("array", f"{GAP}; an empty queue keeps a gap", {"head": 5, "starts": []}, lambda q: setattr(q, "_head", 5)),
    ("array-naive", "out of order", {"starts": [2, 1, 3]}, lambda q: swap(q._queue, 0, 1)),
    ("deque", "out of order", {"starts": [2, 1, 3]}, lambda q: swap(q._queue, 0, 1)),
    ("heap", "a child comes before its parent", {"keys": [KEYS[1], KEYS[0], KEYS[2]]}, lambda q: swap(q._heap, 0, 1)),
    ("heap", GIVEN, {"keys": [*KEYS[:2], (1, 0)]}, lambda q: put(q._heap, 2, (1, 0, "again"))),
    ("heap", GIVEN, {"next": 2}, lambda q: setattr(q, "_next", 2)),
    ("heap", GIVEN, {"first": 1}, lambda q: setattr(q, "_first", 1)),
    ("heap", "1 entries are dead, not 0; the top is dead", {}, dead(0)),
    ("sorted", "out of order", {"keys": [KEYS[1], KEYS[0], KEYS[2]]}, lambda q: swap(q._entries._lists[0], 0, 1)),
    ("sorted", "out of order", {"keys": [KEYS[0], *KEYS[::2]]}, lambda q: put(q._entries._lists[0], 1, (1, 0, "z"))),
    ("sorted", NEVER, {"next": 2}, lambda q: setattr(q, "_next", 2)),
    (
        "sorted",
        f"{NEVER}; the length is wrong",
        {"first": 1, "length": 5},
        both(lambda q: setattr(q, "_first", 1), lambda q: setattr(q._entries, "_len", 5)),
    ),
    ("sorted", "the largest entries are not those of the lists", {}, lambda q: put(q._entries._maxes, 0, (2, 2, "z"))),
    ("buckets", "a child comes before its parent", {"heap": [2, 1, 3]}, lambda q: swap(q._starts, 0, 1)),
    ("buckets", NOT_KEYS, {"heap": [1, 2]}, lambda q: q._starts.pop()),
    ("buckets", NOT_KEYS, {"heap": [1, 2, 4]}, lambda q: put(q._starts, 2, 4)),
    ("buckets", NOT_KEYS, {"heap": [0, 2, 3]}, lambda q: put(q._starts, 0, 0)),
    ("buckets", NOT_KEYS, {"heap": [1, 1, 2, 3]}, lambda q: q._starts.insert(1, 1)),
    ("buckets", MOVED, {"lists": LISTS | {2: [(1, "at 2")]}}, lambda q: put(q._buckets[2], 0, (1, "at 2"))),
    ("buckets", "the count is wrong", {"count": 2}, lambda q: setattr(q, "_count", 2)),
    ("buckets", "0 lists are empty, not 1", {}, lambda q: setattr(q, "_emptied", 1)),
    (
        "buckets",
        "the count is wrong; 1 lists are empty, not 0; the top is an emptied list",
        {"lists": LISTS | {1: []}},
        lambda q: q._buckets[1].clear(),
    ),
]


@pytest.mark.parametrize(
    ("name", "faults", "changed", "damage"), CASES, ids=[f"{case[0]}-{at}" for at, case in enumerate(CASES)]
)
def test_a_fault_is_told_alone_and_with_the_whole_state(
    name: str, faults: str, changed: dict[str, Any], damage: Damage
) -> None:
    queue = filled(name, 1, 2, 3)
    queue.check()
    damage(queue)
    assert said(queue.check) == f"{faults}: {STATE[name].format(**SOUND | changed)}"


HELD = "a batch still holds what was dispatched"
PROCESSED: dict[str, tuple[Damage, str, dict[str, Any]]] = {
    "array": (lambda q: put(q._items, 0, None), "slot 0 is not the floor", {"head": 5, "slots": 6, "starts": [5]}),
    "array-naive": (lambda q: q._queue.append((0,)), "out of order", {"starts": [5, 0]}),
    "deque": (lambda q: q._queue.append((0,)), "out of order", {"starts": [5, 0]}),
    "heap": (lambda q: setattr(q, "_cancelled", 1), "0 entries are dead, not 1", {"keys": [(5, 4)], "next": 5}),
    "sorted": (lambda q: setattr(q, "_next", 4), NEVER, {"length": 1, "keys": [(5, 4)], "next": 4}),
}


@pytest.mark.parametrize("name", PROCESSED)
def test_the_faults_of_a_batch_being_processed_stand_behind_those_of_the_queue(name: str) -> None:
    queue = filled(name, 1, 2, 3, 4, 5)
    batch = queue.take(4)
    damage, words, changed = PROCESSED[name]
    state = STATE[name].format(**SOUND | changed | {"active": 1})
    told = []

    def handler(start: int, payload: str) -> None:
        if start == 2:
            third = batch.items[2]
            damage(queue)
            batch.items[0], batch.items[2] = (1, "kept"), (9, "late")
            told.append(said(queue.check))
            batch.items[0], batch.items[2] = None, None
            told.append(said(queue.check))
            batch.items[2] = third

    assert queue.process(batch, handler, deadline=INFINITY) == 4
    assert told == [
        f"{words}; {HELD}; a batch is out of order: [2, 9, 4]: {state}",
        f"{words}; a batch is out of order: [2, None, 4]: {state}",
    ]
