"""The stores alone: exactness at the edges of floats, what is given back, and that both limiters' stores agree."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.pacing.bucket import Bucket
from queues.pacing.grid import Grid
from queues.pacing.instants import exact, span_until
from queues.pacing.model import LimiterModel, worst_excess
from queues.pacing.permits import Permits
from queues.pacing.ticks import Channel, Ticks
from queues.registry import SUBJECTS, load

STORES = [Bucket, Permits]
RATES = [1 / 3600, 0.1, 1 / 3, 1, 3, 7.5, 1000, 1e6 / 3, 1_000_000]
checked = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("now", [0.0, 1e-3, 12345.678, 1e9])
def test_each_permit_comes_at_the_first_float_that_is_not_before_its_exact_instant(
    store: Any, rate: float, now: float
) -> None:
    bucket = store(rate, 3)
    assert bucket.take(3, now)
    grants = [(now, 3)]
    for number in range(1, 200):
        due = exact(now) + number / exact(rate)
        span = span_until(now, bucket.instant(1))
        instant = now + span
        assert instant >= due
        assert due > nextafter(instant, 0) or due > now + nextafter(span, 0)
        if due > nextafter(instant, 0) > grants[-1][0]:
            assert bucket.take(1, nextafter(instant, 0)) is None
        assert bucket.take(1, instant)
        grants.append((instant, 1))
    assert worst_excess(grants, rate, 3) is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kind", [int, Fraction, Decimal, float])
def test_any_kind_of_clock_gives_the_same(store: Any, kind: Any) -> None:
    bucket = store(kind(2), 3)
    asks = [(5, 3), (5, 1), (6, 2), (6, 1), (7, 1), (7, 1), (100, 3), (99, 1)]
    answers = [bucket.take(n, kind(now)) for now, n in asks]
    assert answers == [True, None, True, None, True, True, True, None]
    assert span_until(kind(99), bucket.instant(2)) == kind(1)
    assert bucket.take(2, kind(99) + span_until(kind(99), bucket.instant(2)))


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("broken", [float("nan"), inf, -inf, *map(Decimal, ("NaN", "sNaN", "Infinity", "-Infinity"))])
def test_a_clock_that_shows_no_finite_number_is_an_error_and_changes_nothing(store: Any, broken: float) -> None:
    bucket = store(1, 2)
    bucket.take(1, 10.0)
    before = bucket.mark(1), bucket.instant(1)
    with pytest.raises(ValueError, match="finite"):
        bucket.settle(broken)
    assert (bucket.mark(1), bucket.instant(1)) == before
    assert bucket.take(1, 10.0)
    assert bucket.take(1, 10.5) is None
    assert bucket.take(1, 11.0)


@pytest.mark.parametrize("name", SUBJECTS["limiter"])
@pytest.mark.parametrize(
    "broken", [Decimal("NaN"), Decimal("sNaN"), float("nan"), Decimal("Infinity"), "noon", None, 5j]
)
def test_a_limiter_says_of_its_clock_that_it_shows_no_finite_number(name: str, broken: Any) -> None:
    shown: list[Any] = [10.0]
    limiter = load("limiter", name)(1, 2, clock=lambda: shown[0])
    error = ValueError if isinstance(broken, float | Decimal) else TypeError
    for _ in range(3):  # full, begun, empty
        shown[0] = broken
        with pytest.raises(error, match=r"the clock .*finite number"):
            limiter.try_acquire()
        shown[0] = 10.0
        limiter.try_acquire()


@checked
@given(
    st.sampled_from(RATES),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e9]),
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 5)), max_size=25),
)
def test_both_stores_answer_as_the_model_does(
    rate: float, burst: int, now: float, asks: list[tuple[float, int]]
) -> None:
    bucket, permits, model = Bucket(rate, burst), Permits(rate, burst), LimiterModel(rate, burst, now)
    for permits_passed, n in asks:
        now += permits_passed / rate
        n = min(n, burst)
        model.pass_until(now)
        expected = model.try_acquire(n)
        assert [bool(bucket.take(n, now)), bool(permits.take(n, now))] == [expected, expected]
        assert max(now, bucket.instant(1)) == max(now, permits.instant(1))


GIVEN = st.lists(
    st.tuples(st.sampled_from(["pass", "take", "hand", "collect", "back"]), st.floats(0, 2), st.integers(1, 3)),
    max_size=30,
)


@checked
@given(st.sampled_from([1, 0.3, 3]), st.integers(1, 4), GIVEN)
def test_what_is_given_back_never_breaks_the_bound_and_both_stores_agree(
    rate: Any, burst: int, steps: list[tuple[str, float, int]]
) -> None:
    stores: tuple[Any, ...] = (Bucket(rate, burst), Permits(rate, burst))
    now = 50.0
    kept: list[tuple[Any, int]] = []
    out: list[tuple[Any, list[Any]]] = []
    for step, span, n in steps:
        n = min(n, burst)
        if step == "pass":
            now += span / float(rate)
        elif step == "take":
            answers = [bool(store.take(n, now)) for store in stores]
            assert answers[0] == answers[1]
            kept += [(now, n)] * answers[0]
        elif step == "hand":
            for store in stores:
                store.settle(now)
            grants = [store.hand(n) for store in stores]
            assert (grants[0] is None) == (grants[1] is None)
            if grants[0] is not None:
                out.append((now, grants))
        elif out:
            instant, grants = out.pop(n % len(out))
            for store, grant in zip(stores, grants, strict=True):
                assert grant is not None
                store.settle(now)
                (store.collect if step == "collect" else store.give_back)(grant)
            if step == "collect" and grants[0] is not None:
                kept.append((instant, grants[0].n))
    for quarter in range(9):  # what is too much in the bucket comes out now
        instant = now + quarter / 4 / float(rate)
        while stores[0].take(1, instant):
            assert stores[1].take(1, instant)
            kept.append((instant, 1))
    assert worst_excess(sorted(kept, key=lambda grant: grant[0]), rate, burst) is None


@pytest.mark.parametrize("store", STORES)
def test_what_would_have_run_over_does_not_come_back(store: Any) -> None:
    bucket = store(1, 2)
    bucket.take(2, 0.0)
    bucket.settle(1.0)
    grant = bucket.hand(1)
    assert bucket.take(1, 2.5)
    bucket.give_back(grant)
    granted = [(0.0, 2), (2.5, 1)]
    granted += [(now, 1) for now in (2.5, 2.75, 3.0, 3.25, 3.5, 4.0) if bucket.take(1, now)]
    assert worst_excess(granted, 1, 2) is None


@pytest.mark.parametrize("store", STORES)
def test_what_is_given_back_at_once_was_never_taken(store: Any) -> None:
    bucket = store(1, 3)
    bucket.take(2, 10.0)
    bucket.settle(11.5)
    first, second = bucket.hand(1), bucket.hand(1)
    assert bucket.hand(1) is None
    bucket.give_back(first)
    bucket.give_back(second)
    assert bucket.take(3, 11.5) is None
    assert bucket.take(2, 11.5)


@checked
@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.permutations(range(5)))
@pytest.mark.parametrize("store", STORES)
def test_what_is_given_back_in_any_order_was_never_taken(store: Any, wanted: list[int], order: list[int]) -> None:
    bucket = store(2, 8)
    assert bucket.take(8, 10.0)
    bucket.settle(13.25)
    grants = [grant for grant in (bucket.hand(n) for n in wanted) if grant is not None]
    for place in order:
        if place < len(grants):
            bucket.give_back(grants[place])
    assert bucket.take(7, 13.25) is None
    assert bucket.take(6, 13.25)
    assert bucket.instant(1) == 13.5


@pytest.mark.parametrize("store", STORES)
def test_what_is_given_back_after_the_bucket_was_full_is_worth_nothing(store: Any) -> None:
    bucket = store(1, 1)
    bucket.take(1, 0.0)
    bucket.settle(1.0)
    grant = bucket.hand(1)
    assert bucket.take(1, 2.0)
    bucket.give_back(grant)
    assert bucket.take(1, 2.0) is None


@pytest.mark.parametrize("store", [Ticks, Channel])
def test_a_silence_of_a_billion_ticks_is_settled_at_once(store: Any) -> None:
    ticks = store(Grid(0.0, 1e-6), 3)
    assert [ticks.take(1, 1000.0) for _ in range(4)] == [1, 2, 3, None]
    assert ticks.dropped == 10**9 - 3


@pytest.mark.parametrize("store", [Ticks, Channel])
@pytest.mark.parametrize("interval", [5e-324, 1e-300, 1e-12])
def test_an_interval_below_the_resolution_of_the_clock_ends(store: Any, interval: float) -> None:
    ticks = store(Grid(1e9, interval), 1)
    assert ticks.take(1, 1e9) == 1
    assert ticks.dropped > 0


@pytest.mark.parametrize(
    ("now", "instant"),
    [
        (0.1, 1e9), (1e9, 1e9 + 1 / 3), (-1e9, 1e-9), (1e-300, 1.0), (0, Fraction(1, 3)),
        (2**60, Fraction(2**61 + 1, 2)),
        (Decimal("0.1"), Fraction(1, 3)), (Fraction(1, 7), 0.5), (5, Decimal("7.5")), (0.3, Fraction(10**400)),
    ],
)  # fmt: skip
def test_the_span_until_an_instant_reaches_it(now: Any, instant: Any) -> None:
    span = span_until(now, instant)
    assert span > 0
    assert now + span >= instant


@pytest.mark.parametrize("store", [Ticks, Channel])
def test_a_tick_that_is_given_back_comes_again_and_the_newest_goes_for_it(store: Any) -> None:
    ticks = store(Grid(0, 1), 2)
    first = ticks.take(1, 1)
    ticks.settle(3)
    ticks.give_back(first)
    assert [ticks.take(1, 3) for _ in range(3)] == [1, 2, None]
    assert ticks.dropped == 1
