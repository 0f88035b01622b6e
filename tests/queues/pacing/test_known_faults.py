"""Faults that real tickers, limiters and sleeps had: shared list, part (c), each line by its rule."""

from __future__ import annotations

import sys
import time
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan, nextafter
from types import ModuleType
from typing import Any

import pytest

from queues.pacing.cooperative import bound_sleeps, is_real_sleep
from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.model import worst_excess
from queues.pacing.rig import rig_of
from queues.pacing.rules import LimiterClosed
from queues.pacing.ticker_arithmetic import ArithmeticTicker
from tests.queues.pacing.subjects import BLOCKING_LIMITERS, BLOCKING_TICKERS, LIMITERS, TICKERS, Clock


def greedy(rig: Any, most: int = 1000) -> int:
    """How many single permits are granted now."""
    return next(count for count in range(most) if not rig.call("try_acquire"))


@pytest.mark.parametrize("ticker", TICKERS)
def test_c01_a_late_wake_up_moves_no_later_tick(ticker: Any) -> None:
    with rig_of(ticker, 0.5, now=100.0) as rig:
        rig.wake_late(0.003)
        ticks = rig.calls("wait_next", 10_000)
        assert ticks == [100.0 + 0.5 * k for k in range(1, 10_001)]
        assert 0 < rig.clock() - ticks[-1] < 0.004
        assert rig.get("dropped") == 0


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize("capacity", [1, 2, 5])
def test_c02_missed_ticks_come_as_one_late_tick_for_each_place_and_the_rest_are_dropped(
    ticker: Any, capacity: int
) -> None:
    with rig_of(ticker, 1, now=0.0, capacity=capacity) as rig:
        rig.pass_until(0.2)
        rig.pass_until(3.7)
        late = [rig.call("wait_next") for _ in range(min(capacity, 3))]
        assert late == [1, 2, 3][:capacity]
        assert rig.clock() == 3.7
        assert rig.get("dropped") == max(0, 3 - capacity)
        assert rig.call("wait_next") == 4
        assert rig.clock() == 4.0


@pytest.mark.parametrize("ticker", TICKERS)
def test_c04_an_exception_of_the_consumer_ends_nothing(ticker: Any) -> None:
    with rig_of(ticker, 1, now=0.0) as rig:
        seen = []
        for number in range(1, 4):
            try:
                tick = rig.call("wait_next")
                if number == 2:
                    raise ZeroDivisionError("in tick 2")
                seen.append(tick)
            except ZeroDivisionError as error:
                seen.append(str(error))
        assert seen == [1, "in tick 2", 3]


@pytest.mark.parametrize("ticker", BLOCKING_TICKERS)
@pytest.mark.parametrize("error", [OSError("sleep"), KeyboardInterrupt(), SystemExit(3)])
def test_c04_an_exception_of_the_sleep_reaches_who_waits_and_the_next_tick_still_comes(
    ticker: Any, error: BaseException
) -> None:
    clock = Clock()
    failing = [error]

    def sleep(span: Any) -> None:
        if failing:
            raise failing.pop()
        clock.sleep(span)

    with ticker(1, clock=clock, sleep=sleep) as subject:
        with pytest.raises(type(error)):
            subject.wait_next()
        assert [subject.wait_next() for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize("stall", [1.3, 2.0, 7.9, 1000.5])
def test_c05_a_stall_does_not_shift_the_phase(ticker: Any, stall: float) -> None:
    with rig_of(ticker, 1.0, now=50.0) as rig:
        ticks = [rig.call("wait_next")]
        rig.pass_until(rig.clock() + stall)
        ticks += [rig.call("wait_next") for _ in range(4)]
        assert all(tick == int(tick) for tick in ticks)
        assert ticks == sorted(set(ticks))
        assert ticks[-1] >= 51.0 + int(stall)


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize(
    "interval", [0, -1, 0.0, -0.0, -1e-300, inf, -inf, nan, Decimal("NaN"), Decimal("sNaN"), Decimal(0), 10**400]
)
def test_c06_an_interval_that_is_not_positive_and_finite_is_refused(ticker: Any, interval: Any) -> None:
    with pytest.raises(ValueError, match="interval"):
        ticker(interval, clock=Clock(0.0))


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize("interval", ["5", None, True, 1j, [1]])
def test_c06_an_interval_that_is_no_number_is_refused(ticker: Any, interval: Any) -> None:
    with pytest.raises(TypeError, match="interval"):
        ticker(interval)


@pytest.mark.parametrize("ticker", BLOCKING_TICKERS)
@pytest.mark.parametrize("interval", [5e-324, 1e-300, 1e-17])
def test_c06_an_interval_far_below_a_step_of_the_clock_ticks_at_each_step(ticker: Any, interval: float) -> None:
    clock = Clock(1e9)
    with ticker(interval, clock=clock, sleep=clock.sleep) as subject:
        ticks = [subject.wait_next() for _ in range(4)]
    assert ticks == sorted(ticks)
    assert 1e9 < ticks[-1] <= clock.now < 1e9 + 1e-5


@pytest.mark.parametrize("ticker", BLOCKING_TICKERS)
def test_c07_a_wake_up_a_little_early_brings_no_tick_and_none_twice(ticker: Any) -> None:
    clock = Clock(1000.0)
    asked: list[float] = []

    def sleep(span: float) -> None:
        asked.append(clock.now)
        clock.now = clock.now + span if len(asked) % 2 == 0 else clock.now + span - 1e-9

    with ticker(0.1, clock=clock, sleep=sleep) as subject:
        ticks = []
        for _ in range(50):
            tick = subject.wait_next()
            assert clock.now >= tick
            ticks.append(tick)
    assert ticks == [1000.0 + k * 0.1 for k in range(1, 51)]
    assert len(asked) == 100


@pytest.mark.parametrize("limiter", BLOCKING_LIMITERS)
def test_c07_a_sleep_that_returns_early_grants_nothing_early(limiter: Any) -> None:
    clock = Clock(1000.0)

    def sleep(span: float) -> None:
        clock.now += span / 2 if span > 1e-6 else span

    with limiter(10, 1, clock=clock, sleep=sleep) as subject:
        grants = []
        for _ in range(20):
            subject.acquire()
            grants.append((clock.now, 1))
    assert worst_excess(grants, 10, 1) is None


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c09_idle_time_is_saved_up_to_the_burst_only(limiter: Any) -> None:
    with rig_of(limiter, 1, 1, now=0.0) as rig:
        assert greedy(rig) == 1
        rig.pass_until(30.0)
        assert greedy(rig) == 1


@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize(
    ("rate", "step", "polls"), [(1, 0.3, 334), (1000, 0.0003, 300), (1 / 3, 0.7, 100), (7, 0.01, 200)]
)
def test_c10_polling_neither_loses_nor_makes_permits(limiter: Any, rate: float, step: float, polls: int) -> None:
    with rig_of(limiter, rate, 2, now=0.0) as rig:
        granted = int(rig.call("try_acquire")) + int(rig.call("try_acquire"))
        for poll in range(1, polls):
            rig.pass_until(poll * step)
            granted += rig.call("try_acquire")
    passed = (polls - 1) * step
    assert abs(granted - 2 - rate * passed) <= 1


@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize("back", [11.0, 100.0, 1e-6, 1e6])
def test_c13_a_clock_that_goes_back_changes_no_balance_and_the_refill_goes_on_from_there(
    limiter: Any, back: float
) -> None:
    with rig_of(limiter, 1, 5, now=100.0) as rig:
        assert [rig.call("try_acquire", n) for n in (3, 3)] == [True, False]
        rig.step_clock(-back)
        assert greedy(rig) == 2
        assert rig.call("wait_time") == pytest.approx(1.0)
        rig.pass_until(100.9)
        assert greedy(rig) == 0
        rig.pass_until(102.001)
        assert greedy(rig) == 2


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c13_a_clock_that_jumps_ahead_gives_a_burst_and_no_more(limiter: Any) -> None:
    with rig_of(limiter, 1, 5, now=100.0) as rig:
        rig.call("try_acquire", 5)
        rig.step_clock(1e9)
        assert greedy(rig) == 5


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c13_a_clock_that_trembles_neither_mints_nor_burns(limiter: Any) -> None:
    with rig_of(limiter, 1, 3, now=100.0) as rig:
        rig.call("try_acquire", 3)
        for _ in range(100):
            rig.step_clock(-0.5)
            assert not rig.call("try_acquire")
        rig.pass_until(101.0)
        assert greedy(rig) == 1


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c14_rate_zero_grants_the_burst_then_never(limiter: Any) -> None:
    with rig_of(limiter, 0, 1, now=0.0) as rig:
        assert rig.call("wait_time") == 0
        assert rig.call("try_acquire")
        for now in (0.0, 1.0, 1e9, 1e15):
            rig.pass_until(now)
            assert not rig.call("try_acquire")
            assert rig.call("wait_time") == inf
            assert rig.call("try_acquire", 0)


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c14_who_waits_at_rate_zero_is_woken_by_close(limiter: Any) -> None:
    with rig_of(limiter, 0, 1, now=0.0) as rig:
        rig.call("try_acquire")
        waiting = rig.enter("acquire")
        rig.pass_until(1e6)
        assert not waiting.done
        rig.call("close")
        rig.settle()
        assert isinstance(waiting.error, LimiterClosed)


@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize("burst", [0, -1, 0.5, 2.5, nan, inf, Fraction(1, 2)])
def test_c14_a_burst_below_one_or_not_whole_is_refused(limiter: Any, burst: Any) -> None:
    with pytest.raises(ValueError, match="burst"):
        limiter(1, burst)


@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize("rate", [-1, -1e-300, -inf, nan, Decimal("NaN")])
def test_c14_a_negative_rate_is_refused(limiter: Any, rate: Any) -> None:
    with pytest.raises(ValueError, match="rate"):
        limiter(rate, 1)


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c14_rate_infinite_grants_always(limiter: Any) -> None:
    with rig_of(limiter, inf, 5, now=0.0) as rig:
        assert all(rig.call("try_acquire", 5) for _ in range(1000))
        assert rig.call("wait_time", 5) == 0
        assert rig.enter("acquire", 5).at == 0.0


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c15_more_than_the_burst_is_an_error_at_once_and_changes_nothing(limiter: Any) -> None:
    with rig_of(limiter, 1, 5, now=0.0) as rig:
        for n in (6, 10**30, -1, 1.5, nan, inf):
            for name in ("try_acquire", "wait_time", "acquire"):
                with pytest.raises(ValueError, match="n is"):
                    rig.call(name, n)
        for other in ("1", None, True):
            with pytest.raises(TypeError, match="n is"):
                rig.call("try_acquire", other)
        assert rig.call("acquire", 5) is None
        assert rig.call("acquire", 0) is None
        assert rig.clock() == 0.0
        assert greedy(rig) == 0


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c17_fifteen_a_minute_keeps_burst_plus_rate_times_t_in_every_window(limiter: Any) -> None:
    rate = Fraction(15, 60)
    with rig_of(limiter, rate, 15, now=0.0) as rig:
        grants: list[tuple[Any, int]] = []
        for instant in [0.0, 55.9, 59.9, 60.0, 60.1, 63.9, 64.0, 90.0, 119.9, 120.1, 500.0, 559.99, 560.01]:
            rig.pass_until(instant)
            grants += [(instant, 1)] * greedy(rig)
    assert worst_excess(grants, rate, 15) is None
    for first in range(len(grants)):
        for last in range(first, len(grants)):
            span = Fraction(grants[last][0]) - Fraction(grants[first][0])
            assert last - first + 1 <= 15 + rate * span
    assert sum(1 for instant, _ in grants if instant < 60) == 15 + 14  # which the formula in the contract says


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c18_a_thousand_that_wait_are_woken_at_most_twice_a_grant(limiter: Any) -> None:
    with rig_of(limiter, 100, 5, now=0.0) as rig:
        waiting = [rig.enter("acquire", settle=False) for _ in range(1000)]
        rig.settle()
        for number in (100, 101, 500, 998):
            rig.throw(waiting[number], KeyboardInterrupt())
        rig.pass_until(11.0)
        served = [one for one in waiting if one.error is None]
        assert len(served) == 996
        assert all(one.done for one in served)
        assert sum(one.steps for one in served) <= 2 * len(served)


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c19_a_permit_handed_to_one_that_is_cancelled_before_it_runs_goes_to_the_next(limiter: Any) -> None:
    with rig_of(limiter, 1, 1, now=0.0) as rig:
        rig.call("try_acquire")
        first, second = rig.enter("acquire"), rig.enter("acquire")
        rig.throw_at(first, 1.0, early=False)
        rig.pass_until(3.0)
        assert second.at == (2.0 if first.error is None else 1.0)


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c19_cancel_cycles_leave_no_debt_and_keep_the_order(limiter: Any) -> None:
    with rig_of(limiter, 1, 2, now=0.0) as rig:
        rig.call("try_acquire", 2)
        first = rig.enter("acquire", 2)
        for number in range(50):
            cancelled = rig.enter("acquire", 1 + number % 2)
            rig.throw(cancelled, KeyboardInterrupt())
            rig.settle()
            assert cancelled.error is not None
        second, third = rig.enter("acquire", 1), rig.enter("acquire", 2)
        rig.pass_until(10.0)
        assert (first.at, second.at, third.at) == (2.0, 3.0, 5.0)
        assert greedy(rig) == 2


@pytest.mark.parametrize("limiter", BLOCKING_LIMITERS)
@pytest.mark.parametrize("error", [OSError("sleep"), KeyboardInterrupt(), SystemExit(3)])
def test_c19_an_exception_of_the_sleep_costs_no_permit(limiter: Any, error: BaseException) -> None:
    clock = Clock()
    failing: list[BaseException] = []

    def sleep(span: Any) -> None:
        if failing:
            raise failing.pop()
        clock.sleep(span)

    with limiter(1, 2, clock=clock, sleep=sleep) as subject:
        subject.acquire(2)
        for _ in range(10):
            failing.append(error)
            with pytest.raises(type(error)):
                subject.acquire(1)
        assert clock.now == 0.0
        assert subject.wait_time(1) == 1.0
        subject.acquire(2)
        assert clock.now == 2.0


@pytest.mark.parametrize("subject", [*BLOCKING_TICKERS, *BLOCKING_LIMITERS])
def test_c21_no_sleep_is_ever_asked_for_a_negative_span_or_none(subject: Any) -> None:
    clock = Clock(1e9)
    drift = [0.0, 1e-9, 0.25, 0.013]

    def sleep(span: float) -> None:
        assert span > 0
        clock.now = clock.now + span + drift[len(clock.slept) % 4]
        clock.slept.append(span)

    settings = (0.1,) if hasattr(subject, "wait_next") else (10, 1)
    with subject(*settings, clock=clock, sleep=sleep) as made:
        for _ in range(200):
            getattr(made, "wait_next" if len(settings) == 1 else "acquire")()
    assert clock.slept


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c23_idle_ticks_do_not_over_release_and_close_stops_it_and_wakes_with_an_error(limiter: Any) -> None:
    with rig_of(limiter, 10, 3, now=0.0) as rig:
        rig.call("try_acquire")
        rig.pass_until(10.0)
        assert greedy(rig) == 3
        waiting = [rig.enter("acquire", n) for n in (3, 1)]
        rig.call("close")
        rig.settle()
        assert [type(one.error) for one in waiting] == [LimiterClosed] * 2
        assert rig.left() == []
        rig.pass_until(20.0)
        for name in ("try_acquire", "acquire"):
            with pytest.raises(LimiterClosed):
                rig.call(name)
        assert rig.call("wait_time") == inf


@pytest.mark.parametrize("limiter", LIMITERS)
def test_c23_the_bucket_left_full_just_before_a_tick_gives_no_permit_too_many(limiter: Any) -> None:
    with rig_of(limiter, 1, 3, now=0.0) as rig:
        grants = []
        for instant in (0.0, 7.999, 8.0, 8.001, 8.999, 9.0):
            rig.pass_until(instant)
            grants += [(instant, 1)] * greedy(rig)
        assert worst_excess(grants, 1, 3) is None


EARLY = """
import functools, time
from time import sleep
from time import sleep as nap
class Worker:
    pause = staticmethod(sleep)
    def run(self, pause=sleep, *, again=nap): pause(1)
    @staticmethod
    def still(pause=sleep): pause(1)
def poll(every, pause=sleep): pause(every)
def outer():
    held = sleep
    def inner(): held(1)
    return inner
closed = outer()
second = functools.partial(sleep, 1)
table = {"wait": sleep, "other": [nap]}
def late(): time.sleep(1)
"""


def test_c24_names_bound_before_patching_are_found_with_where() -> None:
    module = ModuleType("early")
    exec(EARLY, module.__dict__)  # noqa: S102
    assert bound_sleeps({"early": module}) == [
        "early.Worker.pause",
        "early.Worker.run(again=)",
        "early.Worker.run(pause=)",
        "early.Worker.still(pause=)",
        "early.closed(closure held)",
        "early.nap",
        "early.poll(pause=)",
        "early.second(partial)",
        "early.sleep",
        "early.table['other'][0]",
        "early.table['wait']",
    ]


def test_c24_the_default_argument_of_the_standard_librarys_scheduler_is_found() -> None:
    import sched

    assert "sched.scheduler.__init__(delayfunc=)" in bound_sleeps({"sched": sched})
    assert sys.modules["sched"] is sched
    assert is_real_sleep(time.sleep)


@pytest.mark.parametrize("subject", [*BLOCKING_TICKERS, *BLOCKING_LIMITERS])
def test_c24_our_own_designs_bind_no_sleep(subject: Any) -> None:
    names = [name for name in sys.modules if name.startswith("queues.pacing")]
    assert subject.__module__ in names
    assert bound_sleeps({name: sys.modules[name] for name in names}, ignore=()) == []


@pytest.mark.parametrize(
    "make", [partial(ArithmeticTicker, 0.5), partial(ArithmeticLimiter, 2, 1)], ids=["ticker", "limiter"]
)
def test_c24_a_sleep_patched_after_construction_is_used(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(nextafter(100.0, 0))
    subject = make(clock=clock)
    if hasattr(subject, "acquire"):
        subject.acquire()
    monkeypatch.setattr(time, "sleep", clock.sleep)
    (subject.wait_next if hasattr(subject, "wait_next") else subject.acquire)()
    assert clock.slept == [0.5]
