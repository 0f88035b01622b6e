"""For each promise a ticker or a limiter that breaks it: what one writes without thinking of it, and the peers."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from queues.pacing.limiter_arithmetic import ArithmeticLimiter
from queues.pacing.limiter_semaphore import SemaphoreLimiter
from queues.pacing.line import Line
from queues.pacing.ticker_arithmetic import ArithmeticTicker
from queues.registry import load


class Plain:
    """A token bucket as it is written in a minute; what it does wrong is set in subclasses."""

    start = 1.0  # of the burst
    cap = True
    fee = 0.0  # what a refusal costs
    zero = True
    counted = True  # whether acquire takes anything

    def __init__(self, rate: Any, burst: int, *, clock: Any = time.monotonic, sleep: Any = time.sleep) -> None:
        self.rate, self.burst, self.clock, self.sleep = float(rate), burst, clock, sleep
        self.level = burst * self.start
        self.last = clock()

    def flow(self) -> None:
        now = self.clock()
        self.level += (now - self.last) * self.rate
        if self.cap:
            self.level = min(self.level, float(self.burst))
        self.last = now

    def try_acquire(self, n: int = 1) -> bool:
        self.flow()
        if self.level >= n and (n or self.zero):
            self.level -= n
            return True
        self.level -= self.fee
        return False

    def wait_time(self, n: int = 1) -> float:
        self.flow()
        return max(0.0, n - self.level) / self.rate

    def acquire(self, n: int = 1) -> None:
        if not self.counted:
            self.sleep(1e-3)
            return
        while not self.try_acquire(n):
            self.sleep(max(1e-6, self.wait_time(n)))

    def close(self) -> None:
        pass


class StartsEmpty(Plain):
    start = 0.0


class NeverCapped(Plain):
    cap = False


class RefusalCosts(Plain):
    fee = 0.5


class ZeroRefused(Plain):
    zero = False


class RateZeroAlways(ArithmeticLimiter):
    def __init__(self, rate: Any, burst: int, *, clock: Any = None, sleep: Any = None) -> None:
        super().__init__(rate or float("inf"), burst, clock=clock, sleep=sleep)


class RateInfiniteOnce(ArithmeticLimiter):
    def __init__(self, rate: Any, burst: int, *, clock: Any = None, sleep: Any = None) -> None:
        super().__init__(min(rate, 1e9), burst, clock=clock, sleep=sleep)


class WaitTimeRounded(ArithmeticLimiter):
    def wait_time(self, n: int = 1) -> Any:
        return round(super().wait_time(n), 3)


class WaitsUncounted(Plain):
    counted = False


class ClosesNot(ArithmeticLimiter):
    def close(self) -> None:
        pass


class KeepsItsThread(SemaphoreLimiter):
    def close(self) -> None:
        pass


class HalfATickOff(ArithmeticTicker):
    def wait_next(self) -> Any:
        tick = super().wait_next()
        return tick and tick + 0.5


class InFloats(ArithmeticTicker):
    def __init__(
        self, interval: Any, *, capacity: int = 1, clock: Any = time.monotonic, sleep: Any = time.sleep
    ) -> None:
        super().__init__(float(interval), capacity=capacity, clock=lambda: float(clock()), sleep=sleep)


class Early(ArithmeticTicker):
    def __init__(
        self, interval: Any, *, capacity: int = 1, clock: Any = time.monotonic, sleep: Any = time.sleep
    ) -> None:
        super().__init__(interval, capacity=capacity, clock=lambda: clock() + 0.01, sleep=sleep)


class NewestKept(ArithmeticTicker):
    """Takes all that came and returns the last."""

    def wait_next(self) -> Any:
        tick = super().wait_next()
        while self._store._held:
            tick = super().wait_next()
        return tick


class LastComeFirst(ArithmeticTicker):
    """The line is a stack."""

    def __init__(
        self, interval: Any, *, capacity: int = 1, clock: Any = time.monotonic, sleep: Any = time.sleep
    ) -> None:
        super().__init__(interval, capacity=capacity, clock=clock, sleep=sleep)

        class Stack(deque):  # type: ignore[type-arg]
            def append(self, item: Any) -> None:
                super().appendleft(item)

        self._turnstile.line.waiting = Stack()


class Deaf(Line):
    def leave(self, waiter: Any) -> None:
        pass


class LeaverKeepsItsTick(ArithmeticTicker):
    """One that leaves goes on standing in the line."""

    def __init__(
        self, interval: Any, *, capacity: int = 1, clock: Any = time.monotonic, sleep: Any = time.sleep
    ) -> None:
        super().__init__(interval, capacity=capacity, clock=clock, sleep=sleep)
        self._turnstile.line = Deaf(self._store)


class GoesOnAfterClose(ArithmeticTicker):
    def close(self) -> None:
        pass


def peer(family: str, name: str) -> Any:
    return load(family, name)


BROKEN_TICKERS: dict[str, Any] = {
    "on-the-grid": HalfATickOff,
    "work-does-not-count": peer("ticker", "naive-sleep"),
    "lateness-does-not-add-up": peer("ticker", "call-later"),
    "no-rounding-adds-up": peer("ticker", "naive-sleep"),
    "fractions-stay-exact": InFloats,
    "never-early": Early,
    "oldest-are-kept": NewestKept,
    "stall-keeps-phase": peer("ticker", "naive-sleep"),
    "no-burst-of-old-ticks": peer("ticker", "call-later"),
    "clock-back-repeats-nothing": peer("ticker", "naive-sleep"),
    "one-tick-each-in-order": LastComeFirst,
    "leaver-takes-no-tick": LeaverKeepsItsTick,
    "close-ends-it": GoesOnAfterClose,
    "close-wakes-a-waiter": GoesOnAfterClose,
    "close-leaves-nothing": GoesOnAfterClose,
    "settings-refused": peer("ticker", "naive-sleep"),
}

BROKEN_LIMITERS: dict[str, Any] = {
    "bound": peer("limiter", "limits-fixed"),
    "nothing-lost": peer("limiter", "limits-moving"),
    "starts-full": StartsEmpty,
    "idle-is-capped": NeverCapped,
    "refusal-changes-nothing": RefusalCosts,
    "high-rate-late-clock": peer("limiter", "pyrate-limiter"),
    "slow-rate": peer("limiter", "limits-sliding"),
    "zero-is-granted": ZeroRefused,
    "too-many-refused": Plain,
    "rate-zero": RateZeroAlways,
    "rate-infinite": RateInfiniteOnce,
    "settings-refused": Plain,
    "clock-back": Plain,
    "wait-time-exact": WaitTimeRounded,
    "served-when-due": peer("limiter", "pyrate-limiter"),
    "in-order": peer("limiter", "aiolimiter"),
    "newcomers-go-last": peer("limiter", "aiolimiter"),
    "waiting-keeps-the-bound": WaitsUncounted,
    "one-wake-up-a-grant": Plain,
    "leaver-frees-the-next": peer("limiter", "pyrate-limiter"),
    "leavers-leave-no-debt": peer("limiter", "pyrate-limiter"),
    "handed-but-not-taken": peer("limiter", "pyrate-limiter"),
    "clock-back-strands-nobody": Plain,
    "close-wakes-all": ClosesNot,
    "close-leaves-nothing": KeepsItsThread,
}
