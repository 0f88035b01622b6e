"""Rate limiters set up so that nobody waits, the loops that time their calls, and the check that comes after.

A loop is as in runners/latency.py. A limiter of asyncio is called inside a running loop. That it is awaited is part of
what its `acquire` costs; its null call is the await of a coroutine that does nothing.
"""

from __future__ import annotations

import asyncio
import inspect
from contextvars import ContextVar
from functools import partial

from runners.latency import CheckFailed
from runners.rigs import Rig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, TypeAlias

    Clock: TypeAlias = Callable[[], Any]
    Samples: TypeAlias = tuple[Any, ...]
    Parameters: TypeAlias = dict[str, Any]
    Arguments: TypeAlias = tuple[Any, ...]

AMPLE, SCARCE = (1, 1_000_000), (1 / 3600, 1)
"""(rate, burst) of which every call of a case is granted, or refused."""

ANSWERS = ("granted", "refused")


def trying(kind: Any, params: Parameters, seed: int) -> Rig:
    """A limiter of which every try is granted, or refused."""
    granted = params["answer"] == "granted"
    limiter = kind(*(AMPLE if granted else SCARCE))
    loop = asyncio.new_event_loop() if _awaited(kind) else None
    within = _directly if loop is None else partial(_within, loop)
    if not granted and not within(limiter.try_acquire):
        raise CheckFailed("a full bucket refused the first permit")
    within(_require, limiter, granted)

    def check() -> None:
        within(_require, limiter, granted)
        _close(limiter)
        if loop is not None:
            loop.close()

    return Rig(limiter, (limiter.try_acquire, within), check)


def acquiring(kind: Any, params: Parameters, seed: int) -> Rig:
    """A limiter that blocks whoever waits, with permits for all."""
    limiter = kind(*AMPLE)
    return Rig(limiter, (limiter.acquire, _directly), partial(_close, limiter))


def awaiting(kind: Any, params: Parameters, seed: int) -> Rig:
    """A limiter whose acquire is awaited, with permits for all."""
    limiter = kind(*AMPLE)
    return Rig(limiter, (limiter.acquire,), partial(_close, limiter))


def null_calling(params: Parameters) -> Arguments:
    """Of the loop that calls: the cheapest call without arguments that there is."""
    preset: ContextVar[bool] = ContextVar("preset")
    preset.set(True)
    return preset.get, _directly


def null_awaiting(params: Parameters) -> Arguments:
    """Of the loop that awaits."""

    async def nothing() -> None:
        return None

    return (nothing,)


def call_each(clock: Clock, samples: Samples, calls: int, call: Callable[[], Any], within: Callable[..., Any]) -> None:
    """Call once a time; what is returned is not looked at."""
    within(_call_each, clock, samples, calls, call)


def _call_each(clock: Clock, samples: Samples, calls: int, acquire: Callable[[], Any]) -> None:
    (call_samples,) = samples
    for call in range(calls):
        t0 = clock()
        acquire()
        t1 = clock()
        call_samples[call] = t1 - t0


def await_each(clock: Clock, samples: Samples, calls: int, acquire: Callable[[], Awaitable[Any]]) -> None:
    """Await once a time, in one task of a loop of its own."""
    asyncio.run(_await_each(clock, samples, calls, acquire))


async def _await_each(clock: Clock, samples: Samples, calls: int, acquire: Callable[[], Awaitable[Any]]) -> None:
    (call_samples,) = samples
    for call in range(calls):
        t0 = clock()
        await acquire()
        t1 = clock()
        call_samples[call] = t1 - t0


def _awaited(kind: Any) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "acquire", None))


def _directly(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _within(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in the running loop."""

    async def inside() -> Any:
        return function(*arguments)

    return loop.run_until_complete(inside())


def _require(limiter: Any, granted: bool) -> None:
    if limiter.try_acquire() != granted:
        raise CheckFailed(f"a call that should be {ANSWERS[not granted]} was not")


def _close(limiter: Any) -> None:
    if hasattr(limiter, "close"):
        limiter.close()
