"""What only the queue with markers can get wrong: what it walks, what a cut and a join cost, and the index itself."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from queues.conformance import PROMISES, conform
from queues.timer.marker_index import LOAD, Marker, MarkerIndex
from queues.timer.markers import Markers
from queues.timer.ticks import HIGHEST
from tests.queues.lines import lines_of
from tests.queues.test_contenders import ORDER

INFINITY = float("inf")


def filled(*starts: Any, span: Any = 1.0) -> Any:
    queue = Markers(span=span, clock=lambda: 0.0)
    for start in starts:
        queue.enqueue(start)
    return queue


def starts_of(queue: Any) -> list[Any]:
    queue.check()
    return [item[0] for item in queue.contents()]


def ticks(queue: Any) -> int:
    """How many markers there are."""
    return sum(map(len, queue._index.groups))


# Spans


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "span", [0.001, 0.1, 2.5, 7, 60.0, 3600, 1e300, 5e-324, 10**400, Fraction(1, 3), Decimal("0.1")], ids=str
)
def test_the_span_decides_costs_and_nothing_else(span: Any, seed: int) -> None:
    class Spanned(Markers):
        __slots__ = ()

        def __init__(self, *, window: Any = 60.0, clock: Any = None) -> None:
            super().__init__(window=window, clock=clock, span=span)

    promises = [promise for promise in PROMISES if promise.name in ORDER or "number" in promise.name]
    outcomes = conform(Spanned, seed=seed, steps=600, promises=promises)
    assert [outcome for outcome in outcomes if outcome.verdict != "kept"] == []


@pytest.mark.parametrize("span", [0, -1.0, INFINITY, float("nan"), Decimal("NaN")], ids=str)
def test_a_span_that_is_none_is_refused(span: Any) -> None:
    with pytest.raises(ValueError, match="span is"):
        Markers(span=span)


@pytest.mark.parametrize("span", [None, "1", 1j])
def test_a_span_that_is_no_number_is_refused(span: Any) -> None:
    with pytest.raises(TypeError, match="span is"):
        Markers(span=span)


@pytest.mark.parametrize("base", [0, -1e9, 1e9, -64.0, 2**18])
def test_there_is_one_marker_for_each_span_that_has_messages(base: float) -> None:
    queue = filled(*(base + offset for offset in (0, 0.25, 59.75, 60, 600, 61, 0.5)), span=60)
    expected = len({(base + offset) // 60 for offset in (0, 0.25, 59.75, 60, 600, 61, 0.5)})
    assert ticks(queue) == expected
    queue.cancel(base + 600)
    assert ticks(queue) == expected - 1
    queue.check()


def test_negative_starts_and_the_span_around_zero_are_spans_like_any_other() -> None:
    queue = filled(-1.5, -1, -0.5, -0.0, 0, 0.5, 1)
    assert ticks(queue) == 4  # -1.5 · -1, -0.5 · 0, 0.5 · 1
    assert len(queue.take(-1)) == 2
    assert starts_of(queue) == [-0.5, -0.0, 0, 0.5, 1]


def test_what_is_huge_or_infinite_falls_into_the_two_edges_and_keeps_its_order() -> None:
    starts = [INFINITY, -INFINITY, 10**400, 1e308, -(10**400), -1e308, 0.0, INFINITY, 1e17]
    queue = filled(*starts)
    assert [marker.tick for marker in queue._index][::2] == [0, HIGHEST]
    assert ticks(queue) == 3
    assert starts_of(queue) == sorted(starts)
    assert len(queue.take(1e308)) == 6
    assert len(queue.take(10**400)) == 1
    assert starts_of(queue) == [INFINITY, INFINITY]


# Walking


def test_an_insertion_walks_within_its_span_only() -> None:
    queue = filled(*(second + part / 10 for second in range(100) for part in range(10)))
    assert queue.walked == 0
    queue.enqueue(50.45)
    assert queue.walked == 5
    queue.enqueue(50.95)  # behind the last of its span: no walk
    queue.enqueue(49.0)
    assert queue.walked == 6
    for start in (7.999, 30.0, 99.5):
        before = queue.walked
        queue.enqueue(start)
        assert queue.walked - before <= 10
    queue.check()


def test_cancelling_walks_within_its_span_only() -> None:
    queue = filled(*(second + part / 10 for second in range(100) for part in range(10)))
    assert queue.cancel(70.3) == (70.3,)
    assert queue.walked == 3
    assert queue.cancel(70.35) is None
    assert queue.walked == 6
    assert queue.cancel(200) is None
    assert queue.walked == 6


def test_a_merge_walks_only_the_spans_that_both_have() -> None:
    queue = filled(*range(0, 1000, 2))
    batch = queue.take(799)
    for start in (*range(1, 1000, 2), 400.5, 400.25):
        queue.enqueue(start)
    before = queue.walked
    assert queue.requeue(batch) == 400
    assert queue.walked - before <= 2
    assert queue.merged == 400
    assert starts_of(queue) == sorted([*range(1000), 400.25, 400.5])


def test_merges_of_dense_spans_agree_with_the_rule_one_by_one() -> None:
    source = random.Random(3)
    for _ in range(60):
        queue: Any = Markers(span=source.choice((0.5, 2, 10)))
        items = [(source.randrange(30) / 2, f"old {number}") for number in range(40)]
        for item in items:
            queue.enqueue(*item)
        batch = queue.take(source.randrange(15))
        for number in range(source.randrange(30)):
            queue.enqueue(source.randrange(40) / 2, f"new {number}")
        expected = list(queue.contents())
        if batch is None:
            continue
        node, rest = batch.fragment.node, []
        while node is not None:
            rest.append(node.data)
            node = node.next
        for item in reversed(rest):
            place = next((at for at, other in enumerate(expected) if other[0] >= item[0]), len(expected))
            expected.insert(place, item)
        queue.requeue(batch)
        queue.check()
        assert list(queue.contents()) == expected


# What a cut and a join cost


@pytest.mark.parametrize("span", [1.0, 60])
def test_take_and_requeue_do_not_grow_with_the_batch(span: float) -> None:
    costs = {}
    for due in (10, 1_000, 20_000):
        queue = filled(*(float(start) for start in range(due + 5_000)), span=span)
        batches = []
        cut = lines_of(lambda: batches.append(queue.take(due - 0.5)))  # noqa: B023 - called at once
        assert len(batches[0]) == due
        back = lines_of(lambda: queue.requeue(batches[0]))  # noqa: B023
        costs[due] = cut, back
        queue.check()
        assert len(queue) == due + 5_000
    most = 60 + 2 * LOAD + 2 * span  # one group, and the span that now lies in
    assert max(cut for cut, _ in costs.values()) <= most
    assert max(back for _, back in costs.values()) - min(back for _, back in costs.values()) <= 10


def test_a_cut_at_the_end_of_a_span_walks_nothing() -> None:
    costs = set()
    for inside in (10, 5_000):
        queue = filled(*(part / inside for part in range(inside)), 1.0)
        costs.add(lines_of(lambda: queue.take(0.9999)))  # noqa: B023
        assert starts_of(queue) == [1.0]
    assert len(costs) == 1


def test_a_limit_walks_within_one_span() -> None:
    queue = filled(*(second + part / 4 for second in range(5_000) for part in range(4)))
    for most in (1, 3, 4, 5, 4_001, 8_000):
        batch = queue.take(INFINITY, limit=most)
        assert batch is not None
        queue.check()
        assert (len(batch), batch.latest) == (most, (most - 1) / 4)
        queue.requeue(batch)
        assert ticks(queue) == 5_000
        queue.check()


def test_a_span_that_was_cut_in_two_is_one_again_after_it_came_back() -> None:
    queue = filled(0.25, 0.5, 0.75, 1.5)
    batch = queue.take(0.5)
    assert (ticks(queue), len(batch)) == (2, 2)
    queue.requeue(batch)
    assert ticks(queue) == 2
    assert starts_of(queue) == [0.25, 0.5, 0.75, 1.5]
    queue.enqueue(0.6)
    assert starts_of(queue) == [0.25, 0.5, 0.6, 0.75, 1.5]


def test_many_small_batches_that_come_back_do_not_shred_the_index() -> None:
    queue = filled(*range(1_000))
    for size in (1, 7, 300):
        batches: list[Any] = []
        while (batch := queue.take(INFINITY, limit=size)) is not None:
            batches.append(batch)
        for batch in reversed(batches):
            queue.requeue(batch)
            queue.check()
        assert len(queue._index.groups) <= 2 * 1_000 // LOAD + 2


def test_arrivals_in_reverse_split_groups_evenly() -> None:
    queue = filled(*reversed(range(2_000)))
    assert starts_of(queue) == list(range(2_000))
    assert all(LOAD // 2 <= len(group) <= 2 * LOAD for group in queue._index.groups)


# The index alone


def index_of(*spans: int) -> MarkerIndex:
    node: Any = object()
    return MarkerIndex(Marker(tick, node, 2) for tick in spans)


@pytest.mark.parametrize("size", [1, LOAD - 1, LOAD, LOAD + 1, 3 * LOAD])
def test_an_index_finds_cuts_and_joins_at_every_place(size: int) -> None:
    spans = list(range(0, 2 * size, 2))
    for tick in (-1, 0, 1, 2 * LOAD - 2, 2 * LOAD - 1, 2 * LOAD, size, 2 * size - 2, 2 * size):
        index = index_of(*spans)
        place = index.find(tick)
        marker, before = index.at(*place), index.before(*place)
        assert (marker and marker.tick) == next((span for span in spans if span >= tick), None)
        assert (before and before.tick) == next((span for span in reversed(spans) if span < tick), None)
        assert index.count_before(*place) == 2 * sum(span < tick for span in spans)
        piece = index.cut(*place)
        assert [marker.tick for marker in piece] == [span for span in spans if span < tick]
        assert sum(piece.counts) + sum(index.counts) == 2 * size
        if piece.groups:
            index.put_in_front(piece)
        assert [marker.tick for marker in index] == spans
        assert [sum(marker.count for marker in group) for group in index.groups] == index.counts
        assert [group[-1].tick for group in index.groups] == index.ends


def test_an_index_locates_the_marker_that_a_number_of_messages_ends_in() -> None:
    index = index_of(*range(3 * LOAD))
    for most in (1, 2, 3, 2 * LOAD - 1, 2 * LOAD, 2 * LOAD + 1, 6 * LOAD - 1):
        number, place, inside = index.locate(most)
        assert index.count_before(number, place) + inside == most
        assert inside < 2
