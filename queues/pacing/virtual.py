"""Virtual time for threads: a clock that jumps to the next instant at which somebody wakes up, as soon as all sleep.

Idea        Real threads, of which only one runs at a time. Whoever waits picks the next: the first of those that have
            been woken, or else the earliest sleeper, and the clock jumps to its instant; of equal instants the one that
            went to sleep first. So a run is the same every time, it takes no time, and no two threads ever race.
            When nobody can be woken any more, Deadlock is raised in the thread that made the clock.
Use         `VirtualTime` gives `clock` and `sleep` to what is tested. Threads that take part are started with `start`;
            the alarms and threads of a ticker or limiter come from `sleep.backing` (queues/pacing/waiting.py).
"""

from __future__ import annotations

import threading
from collections import deque
from heapq import heappop, heappush
from itertools import count

from queues.pacing.instants import INFINITY
from queues.pacing.waiting import Stopped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self


class Deadlock(RuntimeError):
    """Nobody can be woken any more: whoever waits would wait for ever."""


class Worker:
    """A thread that takes part: `result` is what its function returned, `error` what it raised."""

    def __init__(self, time: VirtualTime, name: str) -> None:
        """It runs when its gate is opened."""
        self.name = name
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.ended_at: Any = None
        self.wakes = 0
        self.sleeps = 0
        self._time = time
        self._joining: deque[Sleeper] = deque()
        self.gate = threading.Lock()
        self.gate.acquire()
        self.sleeper: Sleeper | None = None
        self.thrown: BaseException | None = None

    def join(self) -> Any:
        """Wait until it has ended; return its result, or raise what it raised."""
        if not self.done:
            sleeper = Sleeper(self._time.running)
            self._joining.append(sleeper)
            self._time.block(sleeper, None)
        if self.error is not None and not isinstance(self.error, Stopped):
            raise self.error
        return self.result

    @property
    def waits(self) -> bool:
        """Whether it waits and nobody has woken it."""
        return self.sleeper is not None and self.sleeper.alive

    def throw(self, error: BaseException) -> None:
        """Let what it waits in raise `error`, as a signal does; ValueError when it does not wait."""
        if self.sleeper is None or not self.sleeper.alive:
            raise ValueError(f"{self.name} does not wait")
        self.thrown = error
        self._time.wake(self.sleeper)

    def finish(self) -> None:
        """Wake those who wait for its end."""
        self.done = True
        self.ended_at = self._time.now
        for sleeper in self._joining:
            self._time.wake(sleeper)


class Sleeper:
    """One wait of one worker."""

    def __init__(self, worker: Worker) -> None:
        """Alive until it is woken."""
        self.worker = worker
        self.alive = True


class VirtualAlarm:
    """The alarm of the virtual backing; queues.pacing.waiting.LockAlarm says what it does."""

    asleep = False

    def __init__(self, time: VirtualTime) -> None:
        """Not set."""
        self._time = time
        self._rung = False
        self._sleeper: Sleeper | None = None

    def set(self) -> None:
        """End the wait, or the next one."""
        self._rung = True
        if self._sleeper is not None:
            self._time.wake(self._sleeper)

    def wait(self, span: Any) -> None:
        """Wait for a span, or until it is set."""
        if not self._rung:
            self._sleeper = Sleeper(self._time.running)
            try:
                self._time.block(self._sleeper, None if span == INFINITY else span)
            finally:
                self._sleeper = None
        self._rung = False


class VirtualSleep:
    """The `sleep` of a VirtualTime. With `backing` what uses it can be woken; without, it is any callable."""

    def __init__(self, time: VirtualTime) -> None:
        """Sleep in `time`."""
        self.backing = time

    def __call__(self, span: Any) -> None:
        """Let the calling thread sleep; the others run meanwhile. ValueError for a negative span, as time.sleep."""
        if not span >= 0:
            raise ValueError(f"sleep of {span!r}: expected a span of at least 0")
        time = self.backing
        time.block(Sleeper(time.running), None if span == INFINITY else span)


class VirtualTime:
    """Virtual time for the threads that are started with it, the one that makes it included.

    `oversleep(span)` is the span that a wait of `span` takes instead; by default just that.

    >>> with VirtualTime(100.0) as time:
    ...     workers = [time.start(lambda span=span: time.sleep(span), f"sleeper {span}") for span in (2, 1)]
    ...     _ = [worker.join() for worker in workers]
    ...     [worker.ended_at for worker in workers], time.now
    ([102.0, 101.0], 102.0)
    """

    def __init__(self, now: Any = 0.0, oversleep: Callable[[Any], Any] | None = None) -> None:
        """The clock stands at `now`; the calling thread is the first worker."""
        self.now = now
        self.sleep = VirtualSleep(self)
        self.oversleep = oversleep
        self._main = Worker(self, "main")
        self.running = self._main
        self.workers: list[Worker] = []
        self._ready: deque[Worker] = deque()
        self._sleepers: list[tuple[Any, int, Sleeper]] = []
        self._order = count()
        self._ending = False

    def clock(self) -> Any:
        """Return the time."""
        return self.now

    def plain_sleep(self, span: Any) -> None:
        """Sleep as `sleep` does, without a backing: what uses it cannot be woken, as with any function.

        Not for what starts a thread of its own: without the backing that is none of those that take part.
        """
        self.sleep(span)

    def timer(self) -> VirtualAlarm:
        """Return an alarm for a wait with an end."""
        return VirtualAlarm(self)

    alarm = timer

    def start(self, function: Callable[[], Any], name: str = "worker") -> Worker:
        """Run `function` in a thread that takes part, when the caller next waits."""
        worker = Worker(self, name)
        self.workers.append(worker)
        threading.Thread(target=self._run, args=(worker, function), name=name, daemon=True).start()
        self._ready.append(worker)
        return worker

    def _run(self, worker: Worker, function: Callable[[], Any]) -> None:
        worker.gate.acquire()
        try:
            if not self._ending:
                worker.result = function()
        except BaseException as error:  # noqa: BLE001 - join raises it
            worker.error = error
        worker.finish()
        self._hand_over()

    def left(self) -> list[str]:
        """Return the names of the started threads that have not ended."""
        return [worker.name for worker in self.workers if not worker.done]

    def wake(self, sleeper: Sleeper) -> None:
        """Let a sleeper go on after those that were woken before."""
        if sleeper.alive:
            sleeper.alive = False
            self._ready.append(sleeper.worker)

    def block(self, sleeper: Sleeper, span: Any) -> None:
        """Let the running thread wait for `span`, or for ever, until it is woken; let others run meanwhile."""
        until = None
        if span is not None:
            until = self.now + (span if self.oversleep is None else self.oversleep(span))
        self._block(sleeper, until)

    def sleep_until(self, instant: Any) -> None:
        """Let the running thread sleep until `instant` itself, which no sum has rounded."""
        self._block(Sleeper(self.running), None if instant == INFINITY else instant)

    def _block(self, sleeper: Sleeper, until: Any) -> None:
        me = self.running
        if self._ending and me is not self._main:
            raise Stopped
        me.sleeper = sleeper
        me.sleeps += 1
        if until is not None:
            heappush(self._sleepers, (until, next(self._order), sleeper))
        self._hand_over()
        me.gate.acquire()
        me.wakes += 1
        me.sleeper = None
        thrown, me.thrown = me.thrown, None
        if thrown is not None:
            raise thrown

    def _hand_over(self) -> None:
        """Choose who runs next, moving the clock when nobody is ready, and open its gate."""
        while not self._ready and self._sleepers:
            instant, _, sleeper = heappop(self._sleepers)
            if sleeper.alive:
                self.now = max(self.now, instant)
                self.wake(sleeper)
        if not self._ready:
            main = self._main
            if main.sleeper is None or not main.sleeper.alive:
                return  # the run is over
            waiting = ", ".join(["main", *self.left()])
            main.thrown = Deadlock(f"nobody can be woken any more: {waiting} would wait for ever")
            self.wake(main.sleeper)
        self.running = self._ready.popleft()
        self.running.gate.release()

    def __enter__(self) -> Self:
        """Take down what is left at the end of a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the threads that are left: what each waits in raises Stopped."""
        self._ending = True
        for worker in self.workers:
            if not worker.done:
                if worker.sleeper is not None and worker.sleeper.alive:
                    worker.throw(Stopped())
                worker.join()
