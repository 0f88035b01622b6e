"""How the blocking designs wait: real threads that are woken, not slept; sleeps that cannot be woken; nothing left."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from math import inf
from typing import Any

import pytest

from queues import registry
from queues.pacing import cooperative
from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.rig import ThreadRig, rig_of
from queues.pacing.rigging import is_awaited
from queues.pacing.rules import LimiterClosed
from queues.pacing.virtual import VirtualTime
from queues.pacing.virtual_loop import VirtualLoop
from queues.pacing.waiting import GivenSleep, LockAlarm, SleepAlarm, Threads, backing_of
from queues.registry import load
from tests.queues.pacing.subjects import BLOCKING_LIMITERS, BLOCKING_TICKERS, LIMITERS, TICKERS, Clock

LONG = 3600.0
SUBJECTS = [load(family, name) for family in ("ticker", "limiter") for name in registry.SUBJECTS[family]]


def names_of_threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate())


class SeenClock:
    """A clock that says when it was asked a second time: whoever asks is about to wait."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.times = 0

    def __call__(self) -> float:
        self.times += 1
        if self.times > 2:
            self.asked.set()
        return 100.0


@pytest.mark.parametrize("subject", [*BLOCKING_TICKERS, *BLOCKING_LIMITERS])
def test_close_wakes_a_real_thread_out_of_a_long_wait_and_leaves_none(subject: Any) -> None:
    before = names_of_threads()
    clock = SeenClock()
    ticking = hasattr(subject, "wait_next")
    made = subject(LONG, clock=clock) if ticking else subject(1 / LONG, 1, clock=clock)
    if not ticking:
        made.acquire()
    ended: list[Any] = []

    def wait() -> None:
        try:
            ended.append(made.wait_next() if ticking else made.acquire())
        except LimiterClosed as error:
            ended.append(type(error))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert clock.asked.wait(10)
    made.close()
    for thread in threads:
        thread.join(10)
    assert ended == [None if ticking else LimiterClosed] * 3
    assert names_of_threads() == before


@pytest.mark.parametrize("subject", [*BLOCKING_TICKERS, *BLOCKING_LIMITERS])
def test_one_that_nobody_closed_and_nobody_holds_leaves_no_thread(subject: Any) -> None:
    with VirtualTime() as virtual:
        made = subject(1.0, *([] if hasattr(subject, "wait_next") else [1]), clock=virtual.clock, sleep=virtual.sleep)
        for _ in range(3):
            (made.wait_next if hasattr(made, "wait_next") else made.acquire)()
        gone = weakref.ref(made)
        del made
        gc.collect()
        assert gone() is None
        virtual.sleep(0.0)
        assert virtual.left() == []


@pytest.mark.parametrize("subject", [*BLOCKING_TICKERS, *BLOCKING_LIMITERS])
def test_a_sleep_that_cannot_be_woken_is_asked_once_a_wait(subject: Any) -> None:
    clock = Clock(50.0)
    with subject(2.0, *([] if hasattr(subject, "wait_next") else [1]), clock=clock, sleep=clock.sleep) as made:
        for _ in range(5):
            (made.wait_next if hasattr(made, "wait_next") else made.acquire)()
    assert clock.slept == ([2.0] * 5 if hasattr(subject, "wait_next") else [0.5] * 4)


def test_where_nobody_can_be_woken_a_leaver_delays_nobody_beyond_what_he_was_told() -> None:
    with ThreadRig(ArithmeticLimiter, 1, 1, now=0.0, plain=True) as rig:
        rig.call("try_acquire")
        first, second, third = (rig.enter("acquire") for _ in range(3))
        rig.pass_until(0.5)
        rig.throw(first, KeyboardInterrupt())
        rig.pass_until(5.0)
        assert isinstance(first.error, KeyboardInterrupt)
        assert second.at <= 2.0
        assert third.at <= 3.0
        assert rig.call("try_acquire")


@pytest.mark.parametrize(
    ("subject", "plain"),
    [(subject, False) for subject in SUBJECTS]
    + [(subject, True) for subject in SUBJECTS if is_awaited(subject) or not subject.kept],
)
def test_a_loop_of_ticks_or_permits_is_the_same_with_a_sleep_of_ones_own(subject: Any, plain: bool) -> None:
    ticking = hasattr(subject, "wait_next")
    with rig_of(subject, 0.5, *([] if ticking else [1]), now=0.0, plain=plain) as rig:
        rig.calls("wait_next" if ticking else "acquire", 4)
        assert rig.clock() == (2.0 if ticking else 6.0)
        rig.call("close")
        rig.settle()
        assert rig.left() == []


@pytest.mark.parametrize("ticker", BLOCKING_TICKERS)
def test_a_ticker_is_iterated_until_it_is_closed(ticker: Any) -> None:
    with ThreadRig(ticker, 1.0, now=0.0) as rig:
        ticks = []
        for tick in rig.subject:
            ticks.append(tick)
            if tick == 3.0:
                rig.subject.close()
        assert ticks == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("ticker", [param for param in TICKERS if param not in BLOCKING_TICKERS])
def test_an_asyncio_ticker_is_iterated_until_it_is_closed(ticker: Any) -> None:
    loop = VirtualLoop(0.0)

    async def main() -> list[float]:
        ticks = []
        async with ticker(1.0, clock=loop.time) as subject:
            async for tick in subject:
                ticks.append(tick)
                if tick == 3.0:
                    await subject.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return ticks

    assert loop.run_until_complete(main()) == [1.0, 2.0, 3.0]
    loop.close()


@pytest.mark.parametrize("subject", [param for param in [*TICKERS, *LIMITERS] if "asyncio" in str(param.id)])
def test_an_asyncio_form_outlives_its_loop_and_is_used_in_the_next(subject: Any) -> None:
    ticking = hasattr(subject, "wait_next")
    now = [0.0]
    made = subject(1.0, *([] if ticking else [1]), clock=lambda: now[0])

    async def main(loop: VirtualLoop) -> None:
        waiting = asyncio.ensure_future(made.wait_next() if ticking else made.acquire())
        await asyncio.sleep(0)
        now[0] += 1.0
        await waiting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    for _ in range(2):
        loop = VirtualLoop(0.0)
        loop.run_until_complete(main(loop))
        loop.close()


def test_the_backing_follows_what_stands_in_place_of_time_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(backing_of(cooperative.sleep)) is Threads
    assert type(backing_of(time.sleep)) is Threads
    assert type(backing_of(lambda span: None)) is GivenSleep
    assert type(Threads().timer()) is LockAlarm
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    alarm = Threads().timer()
    assert type(alarm) is SleepAlarm
    alarm.wait(0.5)
    alarm.wait(1e12)
    alarm.wait(inf)
    assert slept == [0.5, 86_400.0, 86_400.0]


def test_an_alarm_that_was_set_before_the_wait_does_not_wait() -> None:
    slept: list[float] = []
    for alarm in (LockAlarm(), SleepAlarm(slept.append)):
        alarm.set()
        alarm.set()
        alarm.wait(inf)
        alarm.set()
        alarm.wait(LONG)
        alarm.wait(0)
        alarm.wait(-1e-9)
    assert slept == []


@pytest.mark.parametrize("subject", [*TICKERS, *LIMITERS])
def test_a_clock_or_a_sleep_that_cannot_be_called_is_refused(subject: Any) -> None:
    settings = [1.0] if hasattr(subject, "wait_next") else [1.0, 1]
    for wrong in ({"clock": 5}, {"sleep": None}):
        with pytest.raises(TypeError, match="expected something to call"):
            subject(*settings, **wrong)


@pytest.mark.parametrize("limiter", BLOCKING_LIMITERS)
def test_threads_that_take_at_the_same_time_never_exceed_the_burst(limiter: Any) -> None:
    made = limiter(1, 500, clock=lambda: 7.0)
    granted: list[int] = []

    def take() -> None:
        granted.append(sum(made.try_acquire() for _ in range(300)))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 500
