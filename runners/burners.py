"""Subjects of which it is known what a call takes: they burn, wait and collect, and keep account of it themselves.

What a subject burns is a span of the clock's own time, so that it is right on a machine of any speed, while it is put
off the processor, and whatever the speed changes to meanwhile. Its accounts are made in front of the call or behind it,
or of clock reads that are part of what it burns.
"""

from __future__ import annotations

import gc
import os
from operator import is_
from time import perf_counter_ns, sleep, thread_time_ns

from runners.latency import CheckFailed, blank
from runners.rigs import PAYLOAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

ONE = (None,)
"""What a subject that keeps nothing hands out as a batch of one."""


SLOW_CALL = 12_345
"""Where `SlowAtOneCall` is slow."""


def random_call(hash_seed: int, calls: int) -> int:
    """Return the call that is slow in the process with this hash seed: one step of Knuth's MMIX generator.

    >>> [random_call(seed, 13_000) for seed in (1, 2, 3)]
    [5501, 9986, 1471]
    """
    return ((hash_seed * 6364136223846793005 + 1442695040888963407) % 2**64 >> 32) * calls >> 32


def burn(ns: int) -> int:
    """Use up `ns` of this thread's processor time by reading its clock until they are over; return what it came to.

    The last read is up to one read late: 2,000 ns at a clock that takes 700 ns to read may come to 2,650.

    >>> burn(0), burn(1_000) >= 1_000
    (0, True)
    """
    first = last = thread_time_ns()
    end = first + ns
    while last < end:
        last = thread_time_ns()
    return last - first


class Spin:
    """Burns `BURNS_NS` of processor time in every `enqueue`, and keeps account of every call.

    A sample has three parts: `burned`, from the first of its own clock reads to the last; the way in and out, with the
    reads at both ends, which is what the same call takes with nothing to burn (`idle`, timed by itself in the untimed
    `take`); and, for the net figure, the call of something that does nothing, which is taken off (`nothing`). The raw
    truth of a call is burned + idle, the net one burned + idle − nothing. Two reads in a row (`clock`) tell whether the
    machine is as fast as it was at the set-up (`before`), and so when the null calls were timed.
    """

    __slots__ = ("accounts", "before", "burned", "calls", "clock", "idle", "nothing", "ns", "ns_burned")

    BURNS_NS = 0

    def __init__(self, calls: int) -> None:
        self.ns = self.BURNS_NS
        self.ns_burned = 0
        self.calls = 0
        self.accounts = tuple(blank(calls) for _ in range(5))
        self.burned, self.idle, self.nothing, self.clock, self.before = self.accounts
        for call in range(calls):
            t0 = thread_time_ns()
            t1 = thread_time_ns()
            self.before[call] = t1 - t0

    def enqueue(self, start: float, message: str) -> None:
        """Burn; the last read of the clock is followed by nothing but the way out."""
        first = last = thread_time_ns()
        end = first + self.ns
        while last < end:
            last = thread_time_ns()
        self.ns_burned = last - first

    def take(self, now: float) -> tuple[None]:
        """Enter the account of the call before; what costs time here is in no sample.

        Something else is done before each first read of the clock, as it is before those of a loop.
        """
        call, enqueue, do_nothing = self.calls, self.enqueue, is_
        self.burned[call] = self.ns_burned
        self.ns = 0
        t0 = thread_time_ns()
        enqueue(now, PAYLOAD)
        t1 = thread_time_ns()
        self.idle[call] = t1 - t0
        t0 = thread_time_ns()
        do_nothing(now, PAYLOAD)
        t1 = thread_time_ns()
        self.nothing[call] = t1 - t0
        t0 = thread_time_ns()
        t1 = thread_time_ns()
        self.clock[call] = t1 - t0
        self.ns = self.BURNS_NS
        self.calls = call + 1
        return ONE


class Spin2(Spin):
    """Burns 2 µs a call."""

    __slots__ = ()
    BURNS_NS = 2_000


class Spin10(Spin):
    """Burns 10 µs a call."""

    __slots__ = ()
    BURNS_NS = 10_000


class Spin50(Spin):
    """Burns 50 µs a call."""

    __slots__ = ()
    BURNS_NS = 50_000


class Spin55(Spin):
    """Burns a tenth more than Spin50."""

    __slots__ = ()
    BURNS_NS = 55_000


class Spin65(Spin):
    """Burns three tenths more than Spin50."""

    __slots__ = ()
    BURNS_NS = 65_000


class Seldom:
    """Burns `BURNS_NS` in some calls of `enqueue`, those of `slow`, and does nothing in all others."""

    __slots__ = ("calls", "slow")

    BURNS_NS = 2_000_000

    def __init__(self, calls: int) -> None:
        self.calls = 0
        self.slow = self.slow_of(calls)

    def slow_of(self, calls: int) -> Collection[int]:
        """Return the slow ones of so many calls."""
        raise NotImplementedError

    def enqueue(self, start: float, message: str) -> None:
        """Burn, or not."""
        call = self.calls
        self.calls = call + 1
        if call in self.slow:
            burn(self.BURNS_NS)


class OnceInAThousand(Seldom):
    """Slow at the calls 999, 1,999, 2,999 …"""

    __slots__ = ()
    BURNS_NS = 200_000

    def slow_of(self, calls: int) -> range:
        """Return every thousandth call."""
        return range(999, calls, 1_000)


class SlowAtOneCall(Seldom):
    """Slow at the same call in every process, as a structure is."""

    __slots__ = ()

    def slow_of(self, calls: int) -> frozenset[int]:
        """Return the one."""
        return frozenset({SLOW_CALL})


class SlowAtAnyCall(Seldom):
    """Slow at a random call, another one in every process, as a machine is."""

    __slots__ = ()

    def slow_of(self, calls: int) -> frozenset[int]:
        """Return the one that follows from the hash seed of the process."""
        return frozenset({random_call(int(os.environ["PYTHONHASHSEED"]), calls)})


class Sleeps:
    """Sleeps `NS` in every `take`: time passes on the wall and next to none on the processor."""

    __slots__ = ("accounts", "calls", "slept")

    NS = 2_000_000

    def __init__(self, calls: int) -> None:
        self.calls = 0
        self.slept = blank(calls)
        self.accounts = (self.slept,)

    def take(self, now: float) -> tuple[None]:
        """Sleep, and see on the clock on the wall how long."""
        before = perf_counter_ns()
        sleep(self.NS / 1e9)
        self.slept[self.calls] = perf_counter_ns() - before
        self.calls += 1
        return ONE

    def requeue(self, batch: object) -> None:
        """Nothing is put back."""


class Collects:
    """Lets go of a ring of objects in one `take`, which only the collector can free, and has it collect there.

    The collector must find all of them: one that was told to leave out what is there after the set-up finds none.
    """

    __slots__ = ("accounts", "calls", "found", "ring", "took")

    RING = 100_000
    AT = 1_000

    def __init__(self, calls: int) -> None:
        self.calls = 0
        self.found: int | None = None
        self.took = blank(calls)
        self.accounts = (self.took,)
        self.ring: list[Any] = []
        for _ in range(self.RING - 1):
            self.ring = [self.ring]
        first = last = self.ring
        while last:
            last = last[0]
        last.append(first)

    def take(self, now: float) -> tuple[None]:
        """Collect in the one call, and see on the thread's clock what it took."""
        before = thread_time_ns()
        if self.calls == self.AT:
            self.ring = []
            self.found = gc.collect()
        self.took[self.calls] = thread_time_ns() - before
        self.calls += 1
        return ONE

    def requeue(self, batch: object) -> None:
        """Nothing is put back."""

    def check(self) -> None:
        """Raise CheckFailed unless the collector found the whole ring."""
        if self.found is None or self.found < self.RING:
            raise CheckFailed(f"the collector found {self.found} of {self.RING} objects that it alone can free")
