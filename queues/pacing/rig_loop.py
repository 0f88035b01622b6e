"""The rig of what is awaited: a ticker or limiter in a loop whose time is virtual; the other is in rig.py."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Generator
from functools import partial
from types import TracebackType
from typing import Any

from queues.pacing.rigging import Rig, Waiting
from queues.pacing.virtual_loop import VirtualLoop


class _Counted:
    """An awaitable that counts the steps of a coroutine."""

    def __init__(self, waiting: Waiting, coroutine: Any) -> None:
        self.waiting = waiting
        self.coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self.coroutine.__await__()
        advance = partial(next, inner)
        while True:
            try:
                future = advance()
            except StopIteration as stop:
                return stop.value
            try:
                yield future
                advance = partial(next, inner)
            except BaseException as error:  # noqa: BLE001 - thrown into the coroutine, as the loop meant it
                advance = partial(inner.throw, error)
            self.waiting.steps += 1


class LoopRig(Rig):
    """The rig of what is awaited. `plain`: give it a sleep of its own, which it has to run in a task."""

    def __init__(self, subject: Any, *settings: Any, now: Any = 0.0, plain: bool = False, **named: Any) -> None:
        """Make the subject at `now`."""
        self.loop = VirtualLoop(float(now))
        self.tasks: list[Waiting] = []

        async def make() -> Any:
            return self._made(subject, settings, named, _own_sleep if plain else None)

        try:
            self.subject = self.loop.run_until_complete(make())
        except BaseException:
            self.loop.close()
            raise

    def clock(self) -> Any:
        """Return what the clock of the subject says."""
        return self.loop.now + self.offset if self.offset else self.loop.now

    def call(self, name: str, *given: Any) -> Any:
        """Call a method, in the loop, and await what it returns if that is to be awaited."""

        async def called() -> Any:
            result = getattr(self.subject, name)(*given)
            return await result if inspect.isawaitable(result) else result

        return self.loop.run_until_complete(called())

    def calls(self, name: str, count: int) -> list[Any]:
        """Call a method without arguments `count` times, in one go, and return what it returned."""

        async def called() -> list[Any]:
            method = getattr(self.subject, name)
            results = []
            for _ in range(count):
                result = method()
                results.append(await result if inspect.isawaitable(result) else result)
            return results

        return list(self.loop.run_until_complete(called()))

    def get(self, name: str) -> Any:
        """Return a property."""
        return getattr(self.subject, name)

    def pass_until(self, instant: Any) -> None:
        """Let time pass until the loop's clock shows `instant`."""

        async def passed() -> None:
            reached = self.loop.create_future()
            self.loop.call_at(instant, reached.set_result, None)
            await reached

        self.loop.run_until_complete(passed())
        self.settle()

    def settle(self) -> None:
        """Let everybody go on who can without time passing."""

        async def turns() -> None:
            for _ in range(8):
                await asyncio.sleep(0)

        self.loop.run_until_complete(turns())

    def enter(self, name: str, *given: Any, settle: bool = True) -> Waiting:
        """Let a task call a method that waits, and go on when it waits; without `settle` at the next chance."""
        waiting = Waiting()

        async def wait() -> None:
            result, error = None, None
            try:
                result = await _Counted(waiting, getattr(self.subject, name)(*given))
            except BaseException as raised:  # noqa: BLE001 - written down
                error = raised
            waiting.end(self.clock(), result, error)

        waiting.handle = self.loop.create_task(wait())
        self.tasks.append(waiting)
        if settle:
            self.settle()
        return waiting

    def throw(self, waiting: Waiting, _error: BaseException) -> None:
        """Cancel the task; it goes on when time passes or `settle` is called."""
        waiting.handle.cancel()

    def throw_at(self, waiting: Waiting, instant: Any, *, early: bool) -> None:
        """Cancel the task at `instant`: `early`, or else after the timers of that instant but before any task runs."""

        def cancel() -> None:
            if early:
                waiting.handle.cancel()
            else:
                self.loop.call_soon(waiting.handle.cancel)

        self.loop.call_at(instant, cancel)

    def wake_late(self, span: Any) -> None:
        """Let every timer from now on fire `span` later than it was meant to."""
        self.loop.late = span

    def left(self) -> list[str]:
        """Return the tasks that are left."""
        return sorted(task.get_name() for task in asyncio.all_tasks(self.loop))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End all tasks and close the loop."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.settle()
        self.loop.close()


async def _own_sleep(span: Any) -> None:
    await asyncio.sleep(span)
