"""Faults that other systems had, each as a rule for every timer queue; the docstring names the line of the list."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import pytest

from queues.registry import SUBJECTS, load

INFINITY = math.inf
NAN = math.nan


class Clock:
    """A clock that stands where it is put."""

    def __init__(self, now: Any = 0.0) -> None:
        self.now = now

    def __call__(self) -> Any:
        return self.now


Make = Callable[..., Any]


@pytest.fixture(params=SUBJECTS["timer"])
def make(request: pytest.FixtureRequest) -> Make:
    """The constructor of each subject in turn, with a clock that never reads the machine's."""
    try:
        subject = load("timer", request.param)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{request.param} needs {missing.name}")

    def build(**settings: Any) -> Any:
        return subject(**{"clock": Clock()} | settings)

    return build


def filled(make: Make, *items: tuple[Any, ...], **settings: Any) -> Any:
    queue = make(**settings)
    for item in items:
        queue.enqueue(*item)
    return queue


def numbers(make: Make, starts: Any) -> Any:
    """A queue with one message at each start, the start as its payload too."""
    return filled(make, *((start, start) for start in starts))


def dispatched(queue: Any, batch: Any) -> list[tuple[Any, ...]]:
    """Everything in the batch, by processing it to its end."""
    seen: list[tuple[Any, ...]] = []
    count = queue.process(batch, lambda *item: seen.append(item), deadline=INFINITY)
    assert count == len(seen)
    assert len(batch) == 0
    return seen


def drained(queue: Any, now: Any = INFINITY) -> list[tuple[Any, ...]]:
    """Everything due at `now`, by taking and processing it."""
    batch = queue.take(now)
    return [] if batch is None else dispatched(queue, batch)


def starts_of(queue: Any) -> list[Any]:
    queue.check()
    found = [item[0] for item in queue.contents()]
    assert len(queue) == len(found)
    assert queue.next_start == (found[0] if found else None)
    return found


# Order


def test_equal_starts_keep_arrival_order_among_many_others(make: Make) -> None:
    """A01"""
    source = random.Random(1)
    items: list[tuple[Any, ...]] = [(source.randrange(11), number) for number in range(1000)]
    for place, name in ((900, "c"), (500, "b"), (100, "a")):
        items.insert(place, (5, name))
    queue = filled(make, *items)
    expected = sorted((item for item in items if item[0] <= 5), key=lambda item: item[0])
    seen = drained(queue, 5)
    assert seen == expected
    assert [name for start, name in seen if isinstance(name, str)] == ["a", "b", "c"]
    assert len(queue) == len(items) - len(seen)


class Hostile:
    """A payload that must not be compared, hashed or asked for truth."""

    def _refuse(self, *_: object) -> NoReturn:
        raise AssertionError("a payload was compared, hashed or asked for truth")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __hash__ = __bool__ = __len__ = _refuse


def test_payloads_are_never_compared_hashed_or_asked_for_truth(make: Make) -> None:
    """A02"""
    first, second, third, late = (Hostile() for _ in range(4))
    queue = filled(make, (0.0, first), (0.0, second), (0.0, third))
    batch = queue.take(0.0)
    queue.enqueue(-1.0, late)
    queue.enqueue(0.0, late)
    assert queue.requeue(batch) == 3
    queue.check()
    assert queue.cancel(0.0, lambda payload: payload is second)[1] is second
    assert queue.cancel(-1.0)[1] is late
    seen = [payload for _, payload in drained(queue)]
    assert [payload is known for payload, known in zip(seen, (first, third, late), strict=True)] == [True] * 3


def test_a_later_enqueue_with_an_earlier_start_comes_first(make: Make) -> None:
    """A03"""
    queue = filled(make, (12, "a"), (11, "b"), (12, "c"))
    assert drained(queue, 20) == [(11, "b"), (12, "a"), (12, "c")]


# What is due, and when


@pytest.mark.parametrize("span", [1, 8, 60.0, 64, 256, 0.1, 512, 3600, 4096.0, 86400])
def test_multiples_of_any_span_are_due_exactly_then(make: Make, span: float) -> None:
    """A05"""
    queue = numbers(make, [3 * span, span, 2 * span])
    for due in (span, 2 * span, 3 * span):
        assert queue.take(math.nextafter(due, -INFINITY)) is None
        assert drained(queue, due) == [(due, due)]
    assert len(queue) == 0


@pytest.mark.parametrize("span", [1, 64, 256.0, 3600])
def test_rescheduling_by_a_span_is_never_a_round_early_or_late(make: Make, span: float) -> None:
    """A05"""
    queue = numbers(make, [span])
    for step in range(1, 13):
        assert queue.take(step * span - 0.5) is None
        assert [item[0] for item in drained(queue, step * span)] == [step * span]
        queue.enqueue((step + 1) * span, "again")


def test_one_take_after_a_long_silence_gets_everything_in_order(make: Make) -> None:
    """A07"""
    assert [item[0] for item in drained(numbers(make, [12, 990, 25]), 1000)] == [12, 25, 990]


def test_sparse_polling_misses_nothing(make: Make) -> None:
    """A07"""
    queue = numbers(make, [12, 25, 990])
    found = {}
    for poll in range(60):
        now = poll * 18.0
        for start, _ in drained(queue, now):
            found[start] = now
    assert found == {12: 18.0, 25: 36.0, 990: 990.0}


@pytest.mark.parametrize("origin", [0.0, 0.03, 7.99, 1_000_000_000.7, -5.05])
def test_neither_start_nor_now_is_rounded_to_a_tick(make: Make, origin: float) -> None:
    """A08"""
    queue = make(clock=Clock(origin))
    start = origin + 0.25
    queue.enqueue(start)
    for now in (origin + 0.2, origin + 0.2499, math.nextafter(start, -INFINITY)):
        assert queue.take(now) is None
    assert len(queue.take(start)) == 1


@pytest.mark.parametrize("now", [0.0, 1.0, 1e9, -3.5, 1e-300])
def test_what_starts_one_step_after_now_is_not_taken_and_what_starts_now_is(make: Make, now: float) -> None:
    """A29"""
    queue = numbers(make, [math.nextafter(now, INFINITY), now])
    assert drained(queue, now) == [(now, now)]
    assert queue.take(now) is None
    assert len(queue) == 1


def test_a_clock_that_goes_back_takes_nothing_and_breaks_nothing(make: Make) -> None:
    """A11"""
    clock = Clock(100)
    queue = filled(make, (90, "old"), (120, "later"), clock=clock)
    assert drained(queue, None) == [(90, "old")]
    clock.now = 40
    assert queue.take() is None
    queue.enqueue(50, "new")
    assert queue.take() is None
    assert starts_of(queue) == [50, 120]
    clock.now = 60
    assert drained(queue, None) == [(50, "new")]
    clock.now = 10
    queue.enqueue(5, "early")
    assert drained(queue, None) == [(5, "early")]
    assert starts_of(queue) == [120]


# Numbers


@pytest.mark.parametrize(
    "wrong", [NAN, -NAN, Decimal("NaN"), Decimal("sNaN"), Decimal("-NaN")], ids=lambda value: repr(value)
)
@pytest.mark.parametrize("held", [[], [1.0, 3.0], [-INFINITY], [INFINITY]], ids=repr)
def test_nan_is_refused_before_anything_changes(make: Make, wrong: Any, held: list[float]) -> None:
    """A12"""
    queue = numbers(make, held)
    for call in (queue.enqueue, queue.take, queue.cancel):
        with pytest.raises(ValueError, match=r"(?i)nan"):
            call(wrong)
        assert starts_of(queue) == held
    queue.enqueue(2.0, "after")
    assert starts_of(queue) == sorted([*held, 2.0])


@pytest.mark.parametrize(
    "wrong", ["5", "", b"5", 5j, [5], (5,), {5}, object()], ids=lambda value: type(value).__name__ + str(value)[:1]
)
@pytest.mark.parametrize("held", [[], [1.0, 3.0]], ids=repr)
def test_what_is_no_number_is_refused_before_anything_changes(make: Make, wrong: Any, held: list[float]) -> None:
    """A12"""
    queue = numbers(make, held)
    for call in (queue.enqueue, queue.take, queue.cancel):
        with pytest.raises(TypeError, match="expected a number"):
            call(wrong)
        assert starts_of(queue) == held
    for call in (queue.enqueue, queue.cancel):
        with pytest.raises(TypeError, match="expected a number"):
            call(None)
    assert starts_of(queue) == held


def test_huge_and_infinite_starts_are_kept_and_counted(make: Make) -> None:
    """A13"""
    queue = numbers(make, [INFINITY, 1e308, 10**30, -1, -INFINITY])
    assert [item[0] for item in drained(queue, 0)] == [-INFINITY, -1]
    assert starts_of(queue) == [10**30, 1e308, INFINITY]
    assert [item[0] for item in drained(queue, sys.float_info.max)] == [10**30, 1e308]
    assert [item[0] for item in drained(queue, INFINITY)] == [INFINITY]


def test_integers_beyond_every_float_have_their_place_below_infinity(make: Make) -> None:
    """A13"""
    queue = numbers(make, [INFINITY, 10**400, 1e308, -(10**400), -INFINITY, 10**400 + 1])
    assert starts_of(queue) == [-INFINITY, -(10**400), 1e308, 10**400, 10**400 + 1, INFINITY]
    assert [item[0] for item in drained(queue, 10**400)] == [-INFINITY, -(10**400), 1e308, 10**400]
    assert queue.cancel(10**400 + 1) == (10**400 + 1, 10**400 + 1)


def test_mixed_numbers_are_ordered_by_exact_value(make: Make) -> None:
    """A12"""
    exact = [Fraction(1, 10), 0.1, Decimal("0.1000000000000000055511151231257827021181583404541015626"), Fraction(1, 3)]
    ordered = [False, *exact, True, 2**53, Fraction(2**54 + 1, 2), 2**53 + 1]
    shuffled = ordered[:]
    random.Random(4).shuffle(shuffled)
    queue = numbers(make, shuffled)
    assert [start is known for start, known in zip(starts_of(queue), ordered, strict=True)] == [True] * len(ordered)
    assert len(queue.take(Fraction(1, 10))) == 2
    assert len(queue.take(Decimal("0.1"), limit=9) or ()) == 0
    assert queue.cancel(float(2**53)) == (2**53, 2**53)
    assert queue.cancel(0.1) == (0.1, 0.1)
    starts_of(queue)


def test_equal_starts_of_different_types_keep_arrival_order(make: Make) -> None:
    """A01, A12"""
    halves: list[Any] = [Decimal("0.5"), 0.5, Fraction(1, 2)]
    queue = numbers(make, [1, *halves, 0])
    assert [type(start) for start in starts_of(queue)[1:4]] == [Decimal, float, Fraction]
    batch = queue.take(0.5)
    queue.enqueue(0.5, "meanwhile")
    queue.requeue(batch)
    assert [type(start) for start in starts_of(queue)[1:5]] == [Decimal, float, Fraction, float]


@pytest.mark.parametrize("wrong", [0, -1, False, -(10**30)])
def test_a_limit_below_one_is_refused_even_when_nothing_is_queued(make: Make, wrong: int) -> None:
    """A32"""
    for held in ([], [1.0, 2.0]):
        queue = numbers(make, held)
        with pytest.raises(ValueError, match="limit"):
            queue.take(5.0, limit=wrong)
        assert starts_of(queue) == held


def test_a_limit_caps_the_batch_and_may_be_larger_than_the_queue(make: Make) -> None:
    """A32"""
    queue = numbers(make, range(6))
    first = queue.take(4, limit=2)
    second = queue.take(4, limit=10**30)
    assert (len(first), first.latest, len(second), second.latest) == (2, 1, 3, 4)
    assert starts_of(queue) == [5]
    with pytest.raises(TypeError, match="limit"):
        queue.take(9, limit=1.5)


# Handlers


class Failure(Exception):
    """What a handler raises."""


def test_a_handler_that_raises_keeps_its_message_first_and_loses_nothing(make: Make) -> None:
    """A15"""
    queue = numbers(make, [1, 2, 3, 4, 5])
    batch = queue.take(5)
    seen = []

    def handler(start: int, payload: int) -> None:
        if start == 3:
            raise Failure
        seen.append(start)

    with pytest.raises(Failure):
        queue.process(batch, handler, deadline=INFINITY)
    assert (seen, len(batch), batch.latest) == ([1, 2], 3, 5)
    assert queue.requeue(batch) == 3
    assert starts_of(queue) == [3, 4, 5]
    assert [item[0] for item in drained(queue)] == [3, 4, 5]


def test_a_batch_whose_handler_raised_can_be_processed_on(make: Make) -> None:
    """A15"""
    queue = numbers(make, [1, 2, 3])
    batch = queue.take(5)
    failures = iter([True, False, False, False])

    def handler(start: int, payload: int) -> None:
        if next(failures):
            raise Failure

    with pytest.raises(Failure):
        queue.process(batch, handler, deadline=INFINITY)
    assert queue.process(batch, handler, deadline=INFINITY) == 3


def test_a_message_that_always_fails_stays_first_until_the_caller_skips_it(make: Make) -> None:
    """A16: a failed message returns; skipping it is the caller's duty, and `cancel` is the means."""
    queue = numbers(make, range(101))
    seen = []

    def handler(start: int, payload: int) -> None:
        if start == 0:
            raise Failure
        seen.append(start)

    for _ in range(3):
        batch = queue.take(200)
        with pytest.raises(Failure):
            queue.process(batch, handler, deadline=INFINITY)
        queue.requeue(batch)
        assert queue.next_start == 0
    assert seen == []
    assert queue.cancel(0) == (0, 0)
    assert queue.process(queue.take(200), handler, deadline=INFINITY) == 100
    assert seen == list(range(1, 101))


def test_what_a_handler_enqueues_is_never_dispatched_by_the_running_process(make: Make) -> None:
    """A17"""
    queue = numbers(make, [1, 2, 3])
    handled = []

    def handler(start: Any, payload: Any) -> None:
        handled.append(payload)
        queue.enqueue(3, "new")
        queue.enqueue(-1, "earlier")

    batch = queue.take(3)
    assert queue.process(batch, handler, deadline=INFINITY) == 3
    assert handled == [1, 2, 3]
    assert starts_of(queue) == [-1, -1, -1, 3, 3, 3]
    assert len(queue.take(3)) == 6


def test_a_message_cancelled_by_an_earlier_handler_of_its_batch_is_not_handled(make: Make) -> None:
    """A18"""
    queue = filled(make, (1, "a"), (2, "b"), (2, "c"), (3, "d"))
    batch = queue.take(3)
    seen = []
    removed = []
    lengths = []

    def handler(start: int, name: str) -> None:
        lengths.append(len(batch))
        seen.append(name)
        if name == "a":
            removed.append(queue.cancel(2))
            removed.append(queue.cancel(3, lambda payload: payload == "d"))
            removed.append(queue.cancel(1))
            lengths.append(len(batch))

    assert queue.process(batch, handler, deadline=INFINITY) == 2
    assert seen == ["a", "c"]
    assert removed == [(2, "b"), (3, "d"), None]
    assert lengths == [4, 2, 1]
    assert (len(batch), len(queue), batch.latest) == (0, 0, 3)


def test_a_match_is_asked_in_a_running_batch_too(make: Make) -> None:
    """A18: of equal starts the one that is meant is cancelled, and none when none is."""
    queue = filled(make, (1, "first"), (2, "a"), (2, "b"), (2, "c"))

    def handler(start: int, name: str) -> None:
        assert queue.cancel(2, lambda name: name == "none") is None
        assert queue.cancel(2, lambda name: name == "b") == (2, "b")
        raise Failure

    batch = queue.take(2)
    with pytest.raises(Failure):
        queue.process(batch, handler, deadline=INFINITY)
    assert queue.requeue(batch) == 3
    assert [name for _, name in queue.contents()] == ["first", "a", "c"]


def test_cancelling_the_last_of_a_batch_leaves_a_batch_that_can_go_back(make: Make) -> None:
    """A18: whoever keeps a mark on the end of a batch has to move it."""
    for behind in ([], [9]):
        queue = numbers(make, [1, 2, 3, *behind])
        batch = queue.take(3)

        def handler(start: int, payload: int, queue: Any = queue) -> None:
            assert queue.cancel(3) == (3, 3)
            raise Failure

        with pytest.raises(Failure):
            queue.process(batch, handler, deadline=INFINITY)
        assert (len(batch), batch.latest) == (2, 3)
        assert queue.requeue(batch) == 2
        assert starts_of(queue) == [1, 2, *behind]
        queue.enqueue(2, "after")
        queue.enqueue(10, "last")
        assert starts_of(queue) == [1, 2, 2, *behind, 10]


def test_of_several_batches_being_processed_the_one_begun_first_is_searched_first(make: Make) -> None:
    """A18"""
    queue = filled(make, (1, "outer"), (5, "in outer"))
    outer = queue.take(5)
    queue.enqueue(1, "inner")
    queue.enqueue(5, "in inner")
    inner = queue.take(5)
    queue.enqueue(5, "queued")
    removed: list[Any] = []

    def inner_handler(start: int, name: str) -> None:
        removed.extend(queue.cancel(5) for _ in range(4))

    def outer_handler(start: int, name: str) -> None:
        queue.process(inner, inner_handler, deadline=INFINITY)

    assert queue.process(outer, outer_handler, deadline=INFINITY) == 1
    assert removed == [(5, "in outer"), (5, "in inner"), (5, "queued"), None]
    assert (len(outer), len(inner), len(queue)) == (0, 0, 0)


def test_a_batch_is_searched_on_after_a_nested_process_has_ended(make: Make) -> None:
    """A18"""
    queue = numbers(make, [1, 2, 3, 4])
    inner = queue.take(2)
    outer = queue.take(4)
    removed = []

    def handler(start: int, payload: int) -> None:
        assert queue.process(inner, lambda *_: None, deadline=INFINITY) == 2
        removed.append(queue.cancel(4))

    assert queue.process(outer, handler, deadline=INFINITY) == 1
    assert removed == [(4, 4)]


def test_a_batch_that_is_out_but_not_processed_is_not_cancelled_from(make: Make) -> None:
    """A18, A24"""
    queue = numbers(make, [1, 2])
    batch = queue.take(2)
    assert queue.cancel(1) is None
    assert len(batch) == 2


# Putting back


def test_what_is_put_back_goes_ahead_of_what_is_queued(make: Make) -> None:
    """A21"""
    clock = iter([0, 0, 9])
    queue = numbers(lambda: make(clock=lambda: next(clock)), range(1, 7))
    batch = queue.take(5)
    assert queue.process(batch, lambda *_: None, deadline=9) == 2
    assert queue.requeue(batch) == 3
    assert starts_of(queue) == [3, 4, 5, 6]
    assert (len(batch), queue.requeue(batch), queue.merged) == (0, 0, 0)


def test_a_late_arrival_is_merged_by_its_start(make: Make) -> None:
    """A21"""
    queue = numbers(make, range(3, 7))
    batch = queue.take(5)
    queue.enqueue(3.5, "late")
    assert queue.requeue(batch) == 3
    assert starts_of(queue) == [3, 3.5, 4, 5, 6]
    assert queue.merged == 3


def test_what_is_put_back_goes_ahead_of_an_equal_start_that_arrived_meanwhile(make: Make) -> None:
    """A21: DESIGN.md puts the batch ahead of anything queued meanwhile, a merge included."""
    queue = filled(make, (3, "old"), (4, "old"), (4, "old too"), (5, "old"), (6, "old"))
    batch = queue.take(5)
    queue.enqueue(4, "meanwhile")
    queue.enqueue(5, "meanwhile")
    assert queue.requeue(batch) == 4
    queue.check()
    assert list(queue.contents()) == [
        (3, "old"),
        (4, "old"),
        (4, "old too"),
        (4, "meanwhile"),
        (5, "old"),
        (5, "meanwhile"),
        (6, "old"),
    ]


def test_a_batch_that_ends_at_the_head_s_start_goes_in_front_without_a_merge(make: Make) -> None:
    """A21"""
    queue = filled(make, (4, "old"), (5, "old"))
    batch = queue.take(5)
    queue.enqueue(5, "meanwhile")
    queue.requeue(batch)
    assert list(queue.contents()) == [(4, "old"), (5, "old"), (5, "meanwhile")]
    assert queue.merged == 0


def test_a_batch_that_reaches_beyond_the_queue_is_merged_to_its_end(make: Make) -> None:
    """A21"""
    queue = numbers(make, [4, 5])
    batch = queue.take(5)
    queue.enqueue(4.5, "late")
    queue.requeue(batch)
    assert starts_of(queue) == [4, 4.5, 5]
    queue.enqueue(5, "after")
    queue.enqueue(4.75, "between")
    assert starts_of(queue) == [4, 4.5, 4.75, 5, 5]
    assert [item[1] for item in drained(queue)] == [4, "late", "between", 5, "after"]


def test_a_long_batch_is_merged_into_a_long_queue_as_if_one_by_one(make: Make) -> None:
    """A21"""
    source = random.Random(9)
    queue = make()
    early = [(source.randrange(500), f"early {number}") for number in range(1500)]
    for item in early:
        queue.enqueue(*item)
    batch = queue.take(400)
    late = [(source.randrange(500), f"late {number}") for number in range(700)]
    for item in late:
        queue.enqueue(*item)
    expected = list(queue.contents())
    rest = sorted((item for item in early if item[0] <= 400), key=lambda item: item[0])
    while rest:
        item = rest.pop()
        place = next((at for at, other in enumerate(expected) if other[0] >= item[0]), len(expected))
        expected.insert(place, item)
    left = len(batch)
    assert queue.requeue(batch) == left == queue.merged
    queue.check()
    assert list(queue.contents()) == expected


def test_a_second_requeue_puts_back_nothing(make: Make) -> None:
    """A22"""
    queue = numbers(make, [1, 2, 3])
    batch = queue.take(2)
    assert queue.requeue(batch) == 2
    assert len(batch) == 0
    assert queue.requeue(batch) == 0
    assert starts_of(queue) == [1, 2, 3]
    assert queue.process(batch, print, deadline=INFINITY) == 0


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2), (2, 0, 1), (0, 2, 1)])
def test_open_batches_return_in_any_order_and_do_not_touch_each_other(make: Make, order: tuple[int, ...]) -> None:
    """A22"""
    queue = numbers(make, range(9))
    batches = [queue.take(2), queue.take(5), queue.take(6)]
    sizes = [3, 3, 1]
    for step, which in enumerate(order):
        assert queue.requeue(batches[which]) == sizes[which]
        assert [len(batches[other]) for other in order[step + 1 :]] == [sizes[other] for other in order[step + 1 :]]
        queue.check()
    assert starts_of(queue) == list(range(9))


def test_a_batch_of_another_queue_is_refused_and_both_queues_stay_as_they_were(make: Make) -> None:
    """A23"""
    one, other = numbers(make, [1, 2, 3]), numbers(make, [1, 2, 3])
    batch = one.take(2)
    with pytest.raises(ValueError, match="another queue"):
        other.requeue(batch)
    with pytest.raises(ValueError, match="another queue"):
        other.process(batch, print)
    assert (starts_of(one), starts_of(other), len(batch)) == ([3], [1, 2, 3], 2)
    assert one.requeue(batch) == 2


@pytest.mark.parametrize("wrong", [None, 5, [], "batch", object()], ids=["none", "number", "list", "text", "object"])
def test_what_is_no_batch_is_refused(make: Make, wrong: object) -> None:
    """A23"""
    queue = numbers(make, [1])
    for nothing in (wrong, queue):
        with pytest.raises(TypeError, match="batch"):
            queue.requeue(nothing)
        with pytest.raises(TypeError, match="batch"):
            queue.process(nothing, print)
    assert starts_of(queue) == [1]


def test_a_batch_being_processed_is_refused_and_nothing_is_lost(make: Make) -> None:
    """A22, A23"""
    queue = numbers(make, [1, 2, 3])
    batch = queue.take(2)
    errors = []

    def handler(start: int, payload: int) -> None:
        with pytest.raises(RuntimeError, match="being processed"):
            queue.requeue(batch)
        with pytest.raises(RuntimeError, match="being processed"):
            queue.process(batch, print)
        errors.append(start)

    assert queue.process(batch, handler, deadline=INFINITY) == 2
    assert errors == [1, 2]
    assert (len(batch), starts_of(queue)) == (0, [3])


# Cancelling


def test_cancelling_what_was_consumed_finds_nothing_and_hits_no_younger_message(make: Make) -> None:
    """A24"""
    queue = filled(make, (5, "old"))
    assert drained(queue, 5) == [(5, "old")]
    assert queue.cancel(5) is None
    queue.enqueue(5, "young")
    assert queue.cancel(5, lambda name: name == "old") is None
    assert starts_of(queue) == [5]
    assert queue.cancel(5) == (5, "young")
    assert queue.cancel(5) is None
    assert starts_of(queue) == []


def test_cancel_takes_the_first_at_exactly_that_start_that_matches(make: Make) -> None:
    """A24"""
    queue = filled(make, (4, "a"), (5, "b"), (5, "c", 1), (5, "d"), (5, "c", 2), (6, "c"))
    assert queue.cancel(5, lambda name, *_: name == "c") == (5, "c", 1)
    assert queue.cancel(4.5) is None
    assert queue.cancel(5) == (5, "b")
    assert queue.cancel(6) == (6, "c")
    queue.enqueue(5, "last")
    queue.check()
    assert list(queue.contents()) == [(4, "a"), (5, "d"), (5, "c", 2), (5, "last")]


def test_a_match_that_raises_changes_nothing(make: Make) -> None:
    """A24"""
    queue = numbers(make, [1, 1, 2])

    def match(payload: int) -> NoReturn:
        raise Failure

    with pytest.raises(Failure):
        queue.cancel(1, match)
    assert starts_of(queue) == [1, 1, 2]


def stored_bytes(queue: Any) -> int:
    return sum(sys.getsizeof(part) for part in queue.container())


@pytest.mark.parametrize("way", ["one at a time", "all, then first to last", "all, then last to first"])
def test_cancelled_far_future_messages_do_not_pile_up(make: Make, way: str) -> None:
    """A25"""
    live = numbers(make, range(10))
    size = stored_bytes(live)
    far = [1_000_000 + number for number in range(3_000)]
    if way == "one at a time":
        for start in far:
            live.enqueue(start)
            assert live.cancel(start) == (start,)
    else:
        for start in far:
            live.enqueue(start)
        for start in far if way == "all, then first to last" else reversed(far):
            assert live.cancel(start) == (start,)
    assert starts_of(live) == list(range(10))
    assert stored_bytes(live) < size + 20_000


def test_messages_cancelled_at_the_front_do_not_pile_up(make: Make) -> None:
    """A25"""
    queue = numbers(make, range(10))
    size = stored_bytes(queue)
    for start in range(5_000):
        queue.enqueue(start + 10)
        assert queue.cancel(start) == ((start, start) if start < 10 else (start,))
    assert len(starts_of(queue)) == 10
    assert stored_bytes(queue) < size + 20_000


def test_counts_agree_with_what_draining_yields_while_batches_are_out(make: Make) -> None:
    """A26"""
    queue = numbers(make, range(30))
    batch = queue.take(10)
    for start in range(11, 21):
        assert queue.cancel(start) is not None
        assert queue.cancel(start) is None
    assert (len(queue), len(batch)) == (9, 11)
    assert queue.requeue(batch) == 11
    assert len(queue) == 20
    assert len(drained(queue)) == 20
    assert (len(queue), bool(queue), queue.next_start, queue.take(INFINITY)) == (0, False, None, None)


def test_random_enqueues_cancels_and_takes_agree_with_a_sorted_list(make: Make) -> None:
    """A27"""
    source = random.Random(27)
    queue = make()
    model: list[tuple[int, int]] = []
    for step in range(4_000):
        chance = source.random()
        if chance < 0.6 or not model:
            item = (source.randrange(300), step)
            queue.enqueue(*item)
            model.append(item)
            model.sort(key=lambda item: item[0])  # stable: arrival order among equals
        elif chance < 0.85:
            start, payload = source.choice(model)
            assert queue.cancel(start, lambda number, wanted=payload: number == wanted) == (start, payload)
            model.remove((start, payload))
        else:
            due = source.randrange(1, 4)
            batch = queue.take(INFINITY, limit=due)
            assert dispatched(queue, batch) == model[:due]
            del model[:due]
        assert (len(queue), queue.next_start) == (len(model), model[0][0] if model else None)
    queue.check()
    assert list(queue.contents()) == model


def test_rescheduling_the_same_messages_over_and_over_keeps_the_entries_flat(make: Make) -> None:
    """A30"""
    queue = numbers(make, range(100))
    size = stored_bytes(queue)
    for _ in range(20):
        for shift in (1_000, -1_000):
            for start in range(100):
                here = start if shift > 0 else start + 1_000
                item = queue.cancel(here)
                assert item == (here, start)
                queue.enqueue(here + shift, start)
            assert len(queue) == 100
    assert starts_of(queue) == list(range(100))
    assert stored_bytes(queue) < 2 * size + 20_000


# Nothing to do


def test_an_empty_queue_answers_every_question(make: Make) -> None:
    """A32"""
    queue = make()
    assert (len(queue), bool(queue), queue.next_start, list(queue.contents())) == (0, False, None, [])
    assert (queue.take(), queue.take(INFINITY), queue.take(5, limit=3), queue.cancel(5)) == (None,) * 4
    assert (queue.merged, queue.walked) == (0, 0)
    queue.check()


def test_an_exhausted_batch_can_be_processed_and_put_back_to_no_effect(make: Make) -> None:
    """A32"""
    queue = numbers(make, [1, 2])
    batch = queue.take(1)
    assert dispatched(queue, batch) == [(1, 1)]
    assert (len(batch), bool(batch), batch.latest) == (0, False, 1)
    assert queue.process(batch, print, deadline=INFINITY) == 0
    assert queue.requeue(batch) == 0
    assert (starts_of(queue), queue.merged) == ([2], 0)


@pytest.mark.parametrize("deadline", [5.0, 4, -INFINITY])
def test_a_deadline_already_past_dispatches_nothing(make: Make, deadline: float) -> None:
    """A32"""
    queue = numbers(lambda: make(clock=Clock(5.0)), [1, 2])
    batch = queue.take(2)
    assert queue.process(batch, print, deadline=deadline) == 0
    assert len(batch) == 2


def test_the_window_closes_between_two_messages(make: Make) -> None:
    """A32"""
    clock = Clock(100)
    queue = numbers(lambda: make(clock=clock, window=10), range(10))
    batch = queue.take(9)

    def handler(start: int, payload: int) -> None:
        clock.now += 4

    assert queue.process(batch, handler) == 3
    assert [len(batch), queue.requeue(batch)] == [7, 7]
    assert starts_of(queue) == list(range(3, 10))


def test_a_queue_emptied_in_any_way_takes_new_messages_in_any_order(make: Make) -> None:
    """A32: an end that is remembered has to be forgotten when the queue is empty."""
    for empty in ("take", "limit", "cancel"):
        queue = numbers(make, [5, 6])
        batch = None
        if empty == "cancel":
            assert [queue.cancel(6), queue.cancel(5)] == [(6, 6), (5, 5)]
        else:
            batch = queue.take(9, limit=2 if empty == "limit" else None)
        assert starts_of(queue) == []
        queue.enqueue(2, "b")
        queue.enqueue(1, "a")
        queue.enqueue(3, "c")
        assert starts_of(queue) == [1, 2, 3]
        if batch is not None:
            assert len(batch) == 2
            queue.requeue(batch)
            assert starts_of(queue) == [1, 2, 3, 5, 6]


def test_contents_may_be_read_while_the_queue_changes(make: Make) -> None:
    """A24: removing while iterating skips nothing."""
    queue = numbers(make, range(20))
    for start, _ in queue.contents():
        assert queue.cancel(start) == (start, start)
    assert starts_of(queue) == []
