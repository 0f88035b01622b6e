"""Virtual time: jumps, order, ends and deadlocks, for threads and for a loop."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import pytest

from queues.pacing.virtual import Deadlock, VirtualTime
from queues.pacing.virtual_loop import LoopDeadlock, VirtualLoop, run


def test_sleepers_wake_in_the_order_of_their_instants_and_equals_in_that_of_going_to_sleep() -> None:
    woken: list[str] = []
    with VirtualTime(1e9) as virtual:

        def sleeper(name: str, span: float) -> None:
            virtual.sleep(span)
            woken.append(f"{name}@{virtual.now - 1e9:g}")

        for name, span in (("a", 2), ("b", 1), ("c", 2), ("d", 1e6)):
            virtual.start(partial(sleeper, name, span), name)
        virtual.sleep(3)
        assert woken == ["b@1", "a@2", "c@2"]
        assert virtual.left() == ["d"]
    assert virtual.left() == []


def test_the_same_run_is_the_same_every_time() -> None:
    def once() -> list[Any]:
        trace: list[Any] = []
        with VirtualTime() as virtual:

            def worker(number: int) -> None:
                for step in range(5):
                    virtual.sleep((number * 7 + step * 3) % 5)
                    trace.append((virtual.now, number, step))

            workers = [virtual.start(partial(worker, number)) for number in range(8)]
            for one in workers:
                one.join()
        return trace

    assert once() == once()


def test_a_wait_that_nobody_can_end_is_an_error_in_the_thread_that_made_the_clock() -> None:
    with VirtualTime() as virtual:
        virtual.start(lambda: virtual.alarm().wait(float("inf")), "stuck")
        with pytest.raises(Deadlock, match="main, stuck"):
            virtual.alarm().wait(float("inf"))
    assert virtual.left() == []


def test_what_a_worker_raised_is_raised_by_join_and_its_result_returned() -> None:
    with VirtualTime() as virtual:
        assert virtual.start(lambda: 42).join() == 42
        with pytest.raises(ZeroDivisionError):
            virtual.start(lambda: 1 // 0).join()


def test_an_exception_can_be_thrown_into_a_wait_only() -> None:
    with VirtualTime() as virtual:
        worker = virtual.start(lambda: virtual.sleep(5))
        with pytest.raises(ValueError, match="does not wait"):
            worker.throw(KeyboardInterrupt())
        virtual.sleep(1)
        worker.throw(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            worker.join()
        assert virtual.now == 1


@pytest.mark.parametrize("span", [-1, float("nan")])
def test_a_negative_sleep_is_refused(span: float) -> None:
    with VirtualTime() as virtual, pytest.raises(ValueError, match="at least 0"):
        virtual.sleep(span)


def test_no_thread_is_left_behind_by_any_of_it() -> None:
    before = threading.active_count()
    with VirtualTime() as virtual:
        for _ in range(20):
            virtual.start(lambda: virtual.sleep(1e9))
        virtual.sleep(1)
    assert all("worker" not in thread.name or not thread.is_alive() for thread in threading.enumerate()[before:])


def test_a_loop_jumps_to_its_next_timer_exactly() -> None:
    loop = VirtualLoop(1e9)
    seen: list[float] = []
    for instant in (1e9 + 1 / 3, 1e9 + 1e-7, 1e9 + 86_400 * 365):
        loop.call_at(instant, lambda instant=instant: seen.append(loop.time() - instant))
    loop.run_until_complete(asyncio.sleep(86_400 * 366))
    assert seen == [0.0, 0.0, 0.0]
    loop.close()


def test_a_loop_in_which_nobody_can_go_on_says_so() -> None:
    async def stuck(_clock: Any) -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(LoopDeadlock, match="no task"):
        run(stuck)


def test_a_loop_that_turns_without_end_says_so() -> None:
    async def turning(_clock: Any) -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(LoopDeadlock, match="time does not pass"):
        run(turning)


def test_a_task_that_is_left_is_an_error() -> None:
    async def main(_clock: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(5), loop=asyncio.get_running_loop())
        task.set_name("left over")
        await asyncio.sleep(1)

    with pytest.raises(RuntimeError, match="left over"):
        run(main)
