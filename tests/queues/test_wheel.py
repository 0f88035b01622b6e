"""What only the wheel can get wrong: ticks, turns over many of them, digits that roll over, and what lies beyond."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from queues.conformance import PROMISES, conform
from queues.timer.ticks import HIGHEST, LIMIT, end_of, high_edge, tick_counter
from queues.timer.wheel import BLOCK, Wheel
from queues.timer.wheel_front import SMALLEST_GAP
from queues.timer.wheel_levels import LEVELS, SLOTS, WheelLevels
from tests.queues.lines import lines_of
from tests.queues.test_contenders import ORDER

INFINITY = math.inf
TICKS = (1, 1.0, 0.1, 0.001, 10, 60.0, Fraction(1, 3), Decimal("0.25"))
BASES = (0, 0.0, 1e9, -1e9, 63.0, 64.0, 4095.0, 4096.0, 262143.0, 262144.0, 64.0**4 - 1, 64.0**5, -64.0)


def filled(*starts: Any, tick: Any = 1.0) -> Any:
    queue = Wheel(tick=tick, clock=lambda: 0.0)
    for start in starts:
        queue.enqueue(start, f"at {start}")
    return queue


def starts_of(queue: Any) -> list[Any]:
    queue.check()
    found = [item[0] for item in queue.contents()]
    assert (len(queue), queue.next_start) == (len(found), found[0] if found else None)
    return found


def taken(queue: Any, now: Any) -> list[Any]:
    """The starts that a take hands out."""
    batch = queue.take(now)
    queue.check()
    return [] if batch is None else [item[0] for item in batch.items]


# The contract, for any tick and any place of the wheel


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "tick", [0.001, 0.1, 2.5, 7, 64, 3600.0, 1e300, 5e-324, 10**400, Fraction(1, 3), Decimal("0.1")], ids=str
)
def test_the_tick_decides_costs_and_nothing_else(tick: Any, seed: int) -> None:
    class Ticking(Wheel):
        __slots__ = ()

        def __init__(self, *, window: Any = 60.0, clock: Any = None) -> None:
            super().__init__(window=window, clock=clock, tick=tick)

    promises = [promise for promise in PROMISES if promise.name in ORDER or "number" in promise.name]
    outcomes = conform(Ticking, seed=seed, steps=600, promises=promises)
    assert [outcome for outcome in outcomes if outcome.verdict != "kept"] == []


@pytest.mark.parametrize("tick", [0, -1.0, INFINITY, math.nan, Decimal("NaN")], ids=str)
def test_a_tick_that_is_none_is_refused(tick: Any) -> None:
    with pytest.raises(ValueError, match="tick is"):
        Wheel(tick=tick)


@pytest.mark.parametrize("base", BASES)
def test_random_use_around_every_base_agrees_with_a_sorted_list(base: float) -> None:
    source = random.Random(f"{base}")
    queue = filled(tick=source.choice((1.0, 0.5, 3)))
    model: list[tuple[float, int]] = []
    now = base
    for number in range(1_500):
        if source.random() < 0.6:
            start = base + source.choice((1, 1, 70, 5_000, 300_000)) * (source.randrange(-40, 200) / 4)
            queue.enqueue(start, number)
            model.append((start, number))
            model.sort(key=lambda item: item[0])
        elif source.random() < 0.8:
            now += source.choice((0.25, 1, 63, 64, 65, 4_000, -3, -70))
            batch = queue.take(now, limit=source.choice((None, 3)))
            seen = batch.items if batch else []
            due = [item for item in model if item[0] <= now][: len(seen)]
            assert seen == due
            if source.random() < 0.5 and batch:
                queue.requeue(batch)
            else:
                del model[: len(seen)]
        elif model:
            start, wanted = source.choice(model)
            assert queue.cancel(start, lambda other, wanted=wanted: other == wanted) == (start, wanted)
            model.remove((start, wanted))
        if number % 50 == 0:
            queue.check()
            assert list(queue.contents()) == model
    assert taken(queue, INFINITY) == [start for start, _ in model]


# Named faults of other wheels


@pytest.mark.parametrize("base", [0, 1e9, 4095.0])
@pytest.mark.parametrize("tick", TICKS, ids=str)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_delay_of_a_whole_span_of_a_level_is_due_exactly_then(tick: Any, power: int, base: float) -> None:
    """A05"""
    span = Fraction(tick) * SLOTS**power
    queue = filled(base, tick=tick)
    assert taken(queue, base) == [base]
    now = Fraction(base)
    queue.enqueue(now + 3 * span, "third")
    queue.enqueue(now + 2 * span, "second")
    for turn in range(1, 13):
        queue.enqueue(now + span, turn)
        assert queue.take(now + span - Fraction(1, 10**9)) is None
        now += span
        batch = queue.take(now)
        assert [item[0] for item in batch.items] == [now] * (2 if turn in (2, 3) else 1)
        queue.check()
    assert len(queue) == 0


@pytest.mark.parametrize("tick", TICKS, ids=str)
def test_one_take_gets_all_that_is_due_however_many_ticks_have_passed(tick: Any) -> None:
    """A07"""
    queue = filled(12, 990, 25, 11, 12, tick=tick)
    assert taken(queue, 1000) == [11, 12, 12, 25, 990]


@pytest.mark.parametrize("tick", TICKS, ids=str)
def test_polls_that_skip_ticks_miss_nothing_and_find_nothing_early(tick: Any) -> None:
    """A07"""
    starts = [Fraction(number * number, 7) for number in range(80)]
    queue = filled(*reversed(starts), tick=tick)
    last = Fraction(-1)
    for poll in range(1, 540):
        now = Fraction(18 * poll, 10)
        assert taken(queue, now) == [start for start in starts if last < start <= now]
        last = now
    assert len(queue) == 0


@pytest.mark.parametrize("origin", [0.0, 0.03, 7.99, 1_000_000_000.7, -5.05])
@pytest.mark.parametrize("tick", TICKS, ids=str)
def test_neither_start_nor_now_is_rounded_to_a_tick(tick: Any, origin: float) -> None:
    """A08, A29"""
    start = origin + 0.25
    queue = filled(math.nextafter(start, INFINITY), start, origin - 1, tick=tick)
    assert taken(queue, origin) == [origin - 1]
    for now in (origin + 0.2, origin + 0.2499, math.nextafter(start, -INFINITY)):
        assert queue.take(now) is None
    assert taken(queue, start) == [start]
    assert queue.take(start) is None
    assert len(queue) == 1


@pytest.mark.parametrize("tick", TICKS, ids=str)
def test_huge_and_infinite_starts_wait_beyond_all_ticks(tick: Any) -> None:
    """A13"""
    starts = [INFINITY, 1e308, 10**30, -1, -INFINITY, 10**400, Fraction(10**400, 3), Decimal("Infinity"), 5]
    queue = filled(*starts, tick=tick)
    assert len(queue) == 9
    assert taken(queue, 0) == [-INFINITY, -1]
    assert taken(queue, 10**29) == [5]
    assert taken(queue, sys.float_info.max) == [10**30, 1e308]
    assert queue.cancel(INFINITY) == (INFINITY, "at inf")
    assert taken(queue, 10**400) == [Fraction(10**400, 3), 10**400]
    assert starts_of(queue) == [INFINITY]
    assert taken(queue, INFINITY) == [INFINITY]


def test_a_message_for_never_does_not_hold_up_those_that_come_after_a_far_look_ahead() -> None:
    """A13: the wheel stands where it last gave something out, and not where it was asked about."""
    queue = filled(INFINITY, 5, 7)
    assert taken(queue, 1e300) == [5, 7]
    for start in (100, 50, 20, 90):
        queue.enqueue(start)
    assert len(queue._front) == 0
    assert taken(queue, 60) == [20, 50]
    assert starts_of(queue) == [90, 100, INFINITY]


def test_a_look_far_ahead_with_a_limit_does_not_carry_the_wheel_along() -> None:
    """A13"""
    queue = filled(5, 7, INFINITY)
    batch = queue.take(1e300, limit=1)
    queue.enqueue(100)
    assert (len(queue._front), queue._levels.count) == (1, 1)
    queue.requeue(batch)
    assert starts_of(queue) == [5, 7, 100, INFINITY]


def test_a_batch_with_a_message_for_never_does_not_carry_an_empty_wheel_along() -> None:
    """A13"""
    queue = filled(5, 7, INFINITY)
    queue.requeue(queue.take(INFINITY))
    queue.enqueue(100)
    assert (len(queue._front), queue._levels.count, len(queue._beyond)) == (2, 1, 1)
    assert starts_of(queue) == [5, 7, 100, INFINITY]


@pytest.mark.parametrize("tick", TICKS, ids=str)
def test_a_clock_that_goes_back_takes_nothing_and_leaves_the_wheel_unharmed(tick: Any) -> None:
    """A11"""
    queue = filled(90, 110, 5_000, tick=tick)
    assert taken(queue, 100) == [90]
    assert queue.take(40) is None
    for start in (50, 105, 40, 41):
        queue.enqueue(start)
    assert queue.take(39) is None
    assert taken(queue, 60) == [40, 41, 50]
    assert starts_of(queue) == [105, 110, 5_000]
    assert taken(queue, 5_000) == [105, 110, 5_000]


# Turns


YEAR = 365 * 86_400


@pytest.mark.parametrize("base", [0, 1e9, -1e9])
def test_a_clock_that_jumps_by_years_costs_no_more_than_one_that_jumps_by_hours(base: float) -> None:
    costs = {}
    for jump in (3_600, YEAR, 30 * YEAR, 3_000_000 * YEAR):
        queue = filled(base, base + 1, base + jump, base + 2 * jump)
        assert taken(queue, base + 1) == [base, base + 1]
        costs[jump] = lines_of(lambda: queue.take(base + jump))  # noqa: B023 - called at once
        assert len(queue) == 1
        queue.check()
    assert max(costs.values()) <= 400
    assert lines_of(lambda: queue.take(base + 1.9 * jump)) <= 400  # nothing is due in all that time


def test_a_turn_visits_each_slot_that_has_messages_once_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    visited: list[int] = []
    empty = WheelLevels._empty

    def watched(levels: WheelLevels, level: int, mask: int, due: list[Any]) -> None:
        visited.append(mask.bit_count())
        empty(levels, level, mask, due)

    monkeypatch.setattr(WheelLevels, "_empty", watched)
    queue = filled(0, *(number * YEAR + 1 for number in range(1, 50)))
    slots = len(queue._levels.slots)
    assert len(taken(queue, 60 * YEAR)) == 50
    assert len(visited) <= LEVELS
    assert sum(visited) <= slots < 60


def test_a_message_is_filed_anew_at_most_once_a_level() -> None:
    starts = [number * 977.0 for number in range(3_000)]
    queue = filled(*starts)
    for now in range(0, 3_000_000, 613):
        queue.take(now)
    assert len(queue) == 0
    assert 0 < queue.refiled <= 4 * len(starts)


def test_polling_without_anything_due_files_nothing_anew() -> None:
    queue = filled(0, *(5_000 + number for number in range(1_000)))
    queue.take(0)
    for now in range(1, 4_096):
        assert queue.take(now) is None
    assert queue.refiled == 0
    for now in range(4_096, 5_000):
        assert queue.take(now) is None
    assert queue.refiled <= 2 * 1_000
    queue.check()


def test_take_and_requeue_of_what_is_in_front_do_not_grow_with_the_batch() -> None:
    costs = []
    for due in (10, 10_000):
        queue = filled(*range(due + 1_000))
        queue.requeue(queue.take(due - 1))
        batches: list[Any] = []
        cut = lines_of(lambda: batches.append(queue.take(due - 1)))  # noqa: B023 - called at once
        back = lines_of(lambda: queue.requeue(batches[0]))  # noqa: B023
        costs.append((cut, back))
        assert len(queue) == due + 1_000
    assert costs[1][0] - costs[0][0] <= 50  # the search that doubles its stride
    assert costs[1][1] == costs[0][1]


def test_many_limited_takes_move_what_is_behind_them_only_now_and_then() -> None:
    queue = filled(*range(10_000))
    closed = 0
    while (batch := queue.take(INFINITY, limit=10)) is not None:
        gap = queue._front.head
        queue.requeue(batch)
        assert (queue._front.head, len(queue._front)) == (max(0, gap - 10), len(queue))
        before = len(queue._front.items)
        assert len(queue.take(INFINITY, limit=10)) == 10
        closed += len(queue._front.items) != before
        assert len(queue._front.items) <= 2 * len(queue._front) + 2 * SMALLEST_GAP
    assert closed < 20


def test_a_late_arrival_for_a_tick_that_has_passed_has_its_place_in_front() -> None:
    queue = filled(0, 10, 20, 30)
    queue.requeue(queue.take(20))
    for start in (15, 5, 20, 0, -100, 10):
        queue.enqueue(start, "late")
    assert starts_of(queue) == [-100, 0, 0, 5, 10, 10, 15, 20, 20, 30]
    assert [item[1] for item in queue.contents()][4:6] == ["at 10", "late"]


def test_the_first_message_sets_the_wheel_so_that_no_time_base_is_special() -> None:
    shapes = set()
    for block in (-(10**6), 0, 4, 10**6):
        base = block * BLOCK + 100
        queue = filled(*(base + offset for offset in (5, 0, 1, 64, 4_100, 200_000)))
        shapes.add((len(queue._front), tuple(sorted(queue._levels.slots))))
        queue.check()
    assert len(shapes) == 1


# Putting back into a wheel that has been emptied meanwhile


def test_what_is_put_back_into_an_emptied_queue_that_was_filled_again_has_its_place() -> None:
    queue = filled(10, 1_000, 1_000, 70_000, INFINITY, INFINITY)
    batch = queue.take(INFINITY)
    for start in (1, 1_000, 500, 70_000, 70_001, INFINITY):
        queue.enqueue(start, "new")
    assert queue.requeue(batch) == 6
    assert queue.merged == 6
    queue.check()
    assert [(start, name == "new") for start, name in queue.contents()] == [
        *((1, True), (10, False), (500, True), (1_000, False), (1_000, False), (1_000, True)),
        *((70_000, False), (70_000, True), (70_001, True), (INFINITY, False), (INFINITY, False), (INFINITY, True)),
    ]


def test_a_batch_of_never_alone_goes_back_and_leaves_the_wheel_free() -> None:
    queue = filled(INFINITY, INFINITY)
    assert queue.requeue(queue.take(INFINITY)) == 2
    queue.enqueue(5)
    queue.enqueue(6)
    assert starts_of(queue) == [5, 6, INFINITY, INFINITY]
    assert queue.merged == 0


@pytest.mark.parametrize("seed", range(20))
def test_batches_from_different_places_of_the_wheel_come_back_in_any_order(seed: int) -> None:
    source = random.Random(seed)
    choices = [0, 1, 63, 64, 4_096, 300_000, 1e9, -1e9, INFINITY, -INFINITY, 1e308]
    queue: Any = Wheel(tick=source.choice((1, 0.3)))
    known: list[Any] = []
    for _ in range(6):
        batches = []
        for _ in range(3):
            starts = [source.choice(choices) for _ in range(5)]
            for start in starts:
                queue.enqueue(start)
            known += starts
            batches.append(queue.take(source.choice(choices)))
        source.shuffle(batches)
        for batch in batches:
            if batch is not None:
                queue.requeue(batch)
                queue.check()
        assert starts_of(queue) == sorted(known)


# Ticks alone


SPANS = (1, 1.0, 0.1, 1e-3, 60, 1 / 3, Fraction(1, 3), Decimal("0.1"), 1e-9, 1e300, 7.3, 2**60 + 1, 1e15)


def near(point: Fraction, source: random.Random) -> Any:
    """A number of some kind at or close to `point`."""
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: math.nextafter(float(point), source.choice((INFINITY, -INFINITY, float(point)))),
        lambda: int(point) + source.randrange(-1, 2),
        lambda: point + Fraction(source.randrange(-3, 4), 10**20),
        lambda: Decimal(point.numerator) / Decimal(point.denominator),
    )
    return source.choice(kinds)()


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_a_tick_is_the_exact_floor_for_every_kind_of_number(span: Any) -> None:
    source = random.Random(8)
    tick_of = tick_counter(span)
    for _ in range(1_500):
        reach = source.choice((100, 10**6, LIMIT >> 20))
        point = source.randrange(-reach, reach) * Fraction(span)
        if abs(point) < 1e307:
            start = near(point, source)
            assert tick_of(start) == LIMIT + math.floor(Fraction(start) / Fraction(span))


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_the_bound_of_a_tick_is_never_behind_its_end(span: Any) -> None:
    source = random.Random(9)
    for _ in range(500):
        tick = LIMIT + source.randrange(-(10**6), 10**6)
        end = (tick - LIMIT + 1) * Fraction(span)
        assert end_of(tick, span) <= end
        if isinstance(span, int | float):
            assert end_of(tick, span) > end - Fraction(span) / 1_000  # and hardly before it
    assert end_of(0, span) == end_of(HIGHEST, span) == -INFINITY


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_ticks_never_fall_where_starts_rise_edges_included(span: Any) -> None:
    edge = high_edge(span)
    rising = [-INFINITY, -(10**400), -edge, -1, 0, Fraction(1, 10**9), Decimal(1), edge - 1, edge, 10**400, INFINITY]
    rising.sort()
    found = [tick_counter(span)(start) for start in rising]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, HIGHEST)


def test_a_number_without_a_ratio_of_its_own_goes_through_fraction() -> None:
    class Whole(int):
        as_integer_ratio = property()  # reading it raises AttributeError

    assert tick_counter(2)(Whole(7)) == LIMIT + 3


@pytest.mark.parametrize("kind", ["int64", "uint8", "float32", "float64"])
def test_a_number_of_numpy_is_a_start_like_any_other(kind: str) -> None:
    start = getattr(np, kind)(7)
    assert type(tick_counter(2)(start)) is int
    queue = Wheel(tick=2)
    for each in (5, start, 6):
        queue.enqueue(each)
    queue.check()
    assert [item[0] for item in queue.contents()] == [5, 6, 7]
    assert queue.take(start, limit=2) is not None
    assert queue.cancel(start) == (7,)
