"""Where the queues in an array, a deque, a heap, a sorted list and buckets change their way: to the very message.

Which way is taken shows in what moves and in what it costs, not in what comes out.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from queues.registry import load
from queues.timer import buckets, heap

INFINITY = float("inf")


def filled(name: str, *starts: Any) -> Any:
    """A queue with a message at each of `starts`, its number its payload, and a clock that stands."""
    queue = load("timer", name)(clock=lambda: 0.0)
    for number, start in enumerate(starts):
        queue.enqueue(start, number)
    return queue


@pytest.mark.parametrize("name", ["array", "array-naive", "deque", "heap", "sorted", "buckets"])
def test_a_search_in_a_batch_being_processed_counts_what_it_passed(name: str) -> None:
    queue = filled(name, 1, 5, 5, 5, 6)
    batch = queue.take(9)
    counted = []

    def handler(start: int, number: int) -> None:
        if number > 1:
            return
        queue.cancel(5, lambda _: False)
        counted.append(queue.walked)
        assert queue.cancel(5, lambda other: other == 3 - number) == (5, 3 - number)
        counted.append(queue.walked)
        assert queue.cancel(7) is queue.cancel(1) is None
        assert queue.cancel(6, lambda _: False) is None
        counted.append(queue.walked)

    assert queue.process(batch, handler, deadline=INFINITY) == 3
    assert counted == [3, 5, 6, 7, 7, 8]  # of the start being handled only what stands behind


@pytest.mark.parametrize("name", ["array", "array-naive", "deque", "heap", "sorted", "buckets"])
def test_a_search_in_the_queue_counts_what_it_passed(name: str) -> None:
    """Those at the start that is looked for; a heap has to look at all."""
    queue = filled(name, 1, 5, 5, 5, 6)
    assert queue.cancel(5, lambda number: number == 3) == (5, 3)
    assert queue.walked == (5 if name == "heap" else 2)
    assert queue.cancel(5, lambda number: False) is None
    assert queue.walked == (9 if name == "heap" else 4)
    assert queue.cancel(4) is None
    assert queue.cancel(6) == (6, 4)
    assert queue.walked == (17 if name == "heap" else 4)


@pytest.mark.parametrize("name", ["array", "array-naive", "deque"])
def test_what_comes_in_order_is_appended_without_a_search(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Equal starts too."""
    queue = filled(name, 1)
    monkeypatch.delattr(sys.modules[type(queue).__module__], "bisect_right")
    for start in (1, 2, 2.0, INFINITY, INFINITY):
        queue.enqueue(start)
    assert [item[0] for item in queue.contents()] == [1, 1, 2, 2.0, INFINITY, INFINITY]


# Heaps: when dead entries are purged, and when what is put back is sorted in at once


@pytest.mark.parametrize(("name", "module"), [("heap", heap), ("buckets", buckets)])
def test_a_purge_comes_when_the_dead_are_one_more_than_the_slack_allows(name: str, module: ModuleType) -> None:
    live = 5
    dead = live + module.SLACK
    queue = filled(name, *range(live + dead))
    entries = queue._heap if name == "heap" else queue._starts
    for start in range(live, live + dead):
        assert queue.cancel(start) == (start, start)
    assert len(entries) == live + dead
    queue.check()
    assert queue.cancel(live - 1) == (live - 1, live - 1)
    assert len(entries) == live - 1
    assert list(queue.contents()) == [(start, start) for start in range(live - 1)]
    queue.check()


@pytest.mark.parametrize(("left", "sorts"), [(1, 0), (3, 0), (4, 1), (9, 1)])
@pytest.mark.parametrize(("name", "module"), [("heap", heap), ("buckets", buckets)])
def test_what_is_put_back_goes_in_at_once_where_that_is_less_than_to_push_each(
    monkeypatch: pytest.MonkeyPatch, name: str, module: ModuleType, left: int, sorts: int
) -> None:
    """`left` at a heap of 9, which is 4 high: 4 · left beside 9 + left."""
    asked = []

    def heapify(entries: list[Any]) -> None:
        asked.append(len(entries))
        sort(entries)

    sort = module.heapify
    monkeypatch.setattr(module, "heapify", heapify)
    queue = filled(name, *range(left + 9))
    assert queue.requeue(queue.take(left - 1)) == left
    assert asked == [left + 9] * sorts
    assert [start for start, _ in queue.contents()] == list(range(left + 9))
    queue.check()
