"""The tickers and limiters of the registry, as parameters."""

from __future__ import annotations

from typing import Any

import pytest

from queues.registry import SUBJECTS, load


def classes(family: str) -> list[Any]:
    return [pytest.param(load(family, name), id=name) for name in SUBJECTS[family]]


TICKERS = classes("ticker")
LIMITERS = classes("limiter")
BLOCKING_TICKERS = [param for param in TICKERS if "asyncio" not in str(param.id)]
BLOCKING_LIMITERS = [param for param in LIMITERS if "asyncio" not in str(param.id)]
EPSILON = 1e-9


class Clock:
    """A clock that stands still until somebody sets `now`; its `sleep` moves it."""

    def __init__(self, now: Any = 0.0) -> None:
        self.now = now
        self.slept: list[Any] = []

    def __call__(self) -> Any:
        return self.now

    def sleep(self, span: Any) -> None:
        self.slept.append(span)
        self.now += span
