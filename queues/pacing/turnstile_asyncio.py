"""Where tasks take something or wait their turn: a Line, its clock, and its keeper, a task, where it has one.

The same as queues/pacing/turnstile.py without a lock: between two awaits nobody else of the loop runs.
"""

from __future__ import annotations

import asyncio

from queues.pacing.instants import INFINITY
from queues.pacing.line import Line

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from queues.pacing.line import Waiter


class AsyncAlarm:
    """A wait that ends after a span or when `set` is called, whichever is first; a `set` before it counts.

    With asyncio.sleep the span is a timer of the loop; another `sleep` runs in a task, which is cancelled when it is
    not needed any more and which `running` holds until it has ended.
    """

    __slots__ = ("_future", "_rung", "_running", "_sleep")

    def __init__(self, sleep: Callable[[Any], Any], running: set[asyncio.Task[Any]]) -> None:
        """Not set."""
        self._sleep = sleep
        self._running = running
        self._future: asyncio.Future[None] | None = None
        self._rung = False

    def set(self) -> None:
        """End the wait, or the next one."""
        self._rung = True
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    async def wait(self, span: Any) -> None:
        """Wait `span`, inf for ever, or less; raise what the `sleep` raises."""
        if self._rung or span <= 0:
            self._rung = False
            return
        loop = asyncio.get_running_loop()
        future = self._future = loop.create_future()
        timer: asyncio.TimerHandle | None = None
        task: asyncio.Task[Any] | None = None
        if span != INFINITY and self._sleep is asyncio.sleep:
            timer = loop.call_later(float(span), _end, future)
        elif span != INFINITY:
            task = loop.create_task(_slept(self._sleep, span))
            self._running.add(task)
            task.add_done_callback(lambda _: _end(future))
            task.add_done_callback(self._running.discard)
        try:
            await future
        finally:
            self._future = None
            self._rung = False
            if timer is not None:
                timer.cancel()
            if task is not None and not task.done():
                task.cancel()
        if task is not None and task.done():
            task.result()


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _slept(sleep: Callable[[Any], Any], span: Any) -> None:
    await sleep(span)


class Ending:
    """What `close()` of an asyncio form returns: awaiting it waits until the tasks have ended; not awaiting is fine."""

    __slots__ = ("_tasks",)

    def __init__(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Wait for `tasks`, as they are at the `await`."""
        self._tasks = tasks

    def __await__(self) -> Generator[Any, None, None]:
        """Wait for the tasks, but for the one that waits."""
        others = self._tasks - {asyncio.current_task()}
        if others:
            yield from asyncio.wait(others).__await__()


class AsyncTurnstile:
    """The awaited front of a store. `kept`: a task watches the time for all that wait, as long as somebody waits."""

    __slots__ = ("_keeper", "_kept", "_running", "_sleep", "clock", "line")

    def __init__(self, store: Any, clock: Callable[[], Any], sleep: Callable[[Any], Any], *, kept: bool) -> None:
        """Nobody waits, no task runs."""
        self.line = Line(store)
        self.clock = clock
        self._sleep = sleep
        self._kept = kept
        self._keeper: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[Any]] = set()

    async def take(self, n: int) -> Any:
        """Return `n` from the store, waiting its turn, or None when it is or gets closed. O(1), one wake-up."""
        line = self.line
        if line.closed:
            return None
        got = line.take(n, self.clock())
        if got is not None:
            return got
        waiter = line.enter(n, self._alarm())
        try:
            if self._kept:
                self._keep_on()
            return await self._wait(waiter)
        except BaseException:
            line.leave(waiter)
            raise

    async def _wait(self, waiter: Waiter) -> Any:
        line = self.line
        while True:
            if waiter.got is None and waiter.error is None and not line.closed and not self._kept:
                now = self.clock()
                line.serve(now)
            if waiter.got is not None:
                return line.collect(waiter)
            if waiter.error is not None:
                raise waiter.error
            if line.closed:
                return None
            await waiter.alarm.wait(INFINITY if self._kept else line.span(waiter, now))

    def _alarm(self) -> AsyncAlarm:
        return AsyncAlarm(self._sleep, self._running)

    def _keep_on(self) -> None:
        """Start the keeper unless it runs."""
        if self._keeper is None:
            self.line.keeper = self._alarm()
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
            self._running.add(self._keeper)
            self._keeper.add_done_callback(self._ended)

    def _ended(self, keeper: asyncio.Task[None]) -> None:
        self._running.discard(keeper)

    async def _keep(self) -> None:
        """Serve those who wait until nobody does. An exception goes to the first of them."""
        line = self.line
        try:
            while line.waiting and not line.closed:
                try:
                    now = self.clock()
                    line.serve(now)
                    if line.waiting:
                        await line.keeper.wait(line.span(line.waiting[0], now))
                except asyncio.CancelledError:  # the loop is being closed: nobody will be served any more
                    line.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - whoever waits for it has to see it
                    line.fail(error)
        finally:
            self._keeper = None

    def close(self) -> Ending:
        """Wake everybody and end the keeper. O(waiting)."""
        self.line.close()
        return Ending(self._running)
