"""Cooperative sleep with gevent, in a process of its own: nothing of it reaches the other tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def ran(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


MANNERS = """
import threading, time
from math import inf, nan
from time import sleep as bound_early
from queues.peers.pacing_gevent import GreenSleep, run_green
real = time.sleep
with GreenSleep() as green:
    print(time.sleep is not real, "__main__.bound_early" in green.bound, "__main__.real" in green.bound)
    for wrong in (-1, nan, "x", None, inf):
        try: time.sleep(wrong)
        except Exception as error: print(type(error).__name__)
    other = []
    def count():
        while len(other) < 20:
            other.append(1)
            time.sleep(0)
    def tiny():
        turns = 0
        while len(other) < 20:
            turns += 1
            time.sleep(1e-6)
        return turns
    print(run_green([tiny, count])[0] <= 100, len(other))
    asked = []
    green._real = asked.append
    thread = threading.Thread(target=lambda: time.sleep(12.5)); thread.start(); thread.join()
    print(asked)
    green._real = real
print(time.sleep is real)
"""


@pytest.mark.processes
def test_c24_c27_the_green_sleep_has_the_manners_of_the_real_one_and_goes_without_trace() -> None:
    assert ran(MANNERS) == [
        "True True True",
        "ValueError",
        "ValueError",
        "TypeError",
        "TypeError",
        "OverflowError",
        "True 20",
        "[12.5]",
        "True",
    ]


BURNT = """
import time
from queues.peers.pacing_gevent import GreenSleep, run_green
def burn(span):
    until = time.thread_time() + span
    while time.thread_time() < until: pass
def worker():
    slept = []
    for burnt, span in ((1.0, 0.1), (0.15, 0.05), (0.0, 0.01)):
        burn(burnt)
        began = time.monotonic()
        time.sleep(span)
        slept.append(time.monotonic() - began >= span)
    return slept
with GreenSleep():
    print(run_green([worker])[0])
"""


@pytest.mark.processes
def test_c25_the_first_sleep_after_a_second_of_work_is_no_shorter_than_asked() -> None:
    assert ran(BURNT) == ["[True, True, True]"]


GREEN = """
import gevent, gevent.monkey
from queues.pacing.ticker_arithmetic import ArithmeticTicker
from queues.pacing.ticker_channel import ChannelTicker
from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.limiter_semaphore import SemaphoreLimiter
{patch}
# the loop of gevent stands still: its sleep is a turn of the loop, and the clock is moved by whoever sleeps last
now = [0.0]
import time
asleep = []
def turn(span):
    until = now[0] + span
    asleep.append(until)
    while now[0] < until:
        gevent.sleep(0)
        if now[0] < min(asleep): now[0] = min(asleep)
    asleep.remove(until)
time.sleep = turn
trace = []
def worker(number, ticker, limiter):
    tick = ticker.wait_next()
    limiter.acquire()
    trace.append((tick, now[0]))
limiter = ArithmeticLimiter(1000, 10, clock=lambda: now[0])
ticker = ArithmeticTicker(1.0, clock=lambda: now[0])
jobs = [gevent.spawn(worker, number, ticker, limiter) for number in range(200)]
gevent.joinall(jobs, raise_error=True)
print(len(trace), [tick for tick, _ in trace] == [float(k) for k in range(1, 201)], now[0])
"""


@pytest.mark.processes
@pytest.mark.parametrize("patch", ["", "gevent.monkey.patch_time()"])
def test_unchanged_blocking_code_runs_in_green_threads_that_have_only_time_sleep_replaced(patch: str) -> None:
    assert ran(GREEN.replace("{patch}", patch)) == ["200 True 200.0"]


PATCHED_ALL = """
import gevent.monkey
{before}
from queues.registry import load
import gevent, threading
{after}
for family, name, settings in (("ticker", "channel", (1e-4,)), ("ticker", "arithmetic", (1e-4,)),
                               ("limiter", "semaphore", (1e5, 2)), ("limiter", "arithmetic", (1e5, 2))):
    with load(family, name)(*settings) as subject:
        call = subject.wait_next if family == "ticker" else subject.acquire
        jobs = [gevent.spawn(call) for _ in range(50)]
        gevent.joinall(jobs, raise_error=True)
        print(name, all(job.ready() for job in jobs))
"""


@pytest.mark.processes
@pytest.mark.parametrize("when", ["before", "after"])
def test_all_blocking_designs_run_in_green_threads_where_gevent_has_patched_everything(when: str) -> None:
    script = PATCHED_ALL.replace("{" + when + "}", "gevent.monkey.patch_all()")
    script = script.replace("{before}", "").replace("{after}", "")
    assert ran(script) == ["channel True", "arithmetic True", "semaphore True", "arithmetic True"]
