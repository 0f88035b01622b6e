"""The event queues that tests are about: each engine, opened for a test and let go of after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from queues.registry import load
from tests.engines import server

ENGINES = ("sqlite", "postgresql", "mariadb")
RELAXED = {"sqlite": "sqlite-relaxed", "postgresql": "postgresql-relaxed", "mariadb": "mariadb"}
"""Tests that do not cut the power need not wait for a disk; the server of the tests is a durable one."""


def class_of(engine: str) -> Any:
    """Return the class of an engine that waits for the disk least; its server is running."""
    if engine != "sqlite":
        os.environ.update(server(engine).environment())
    return load("events", RELAXED[engine])


def target_of(engine: str) -> str:
    """Return "module:Class" of it, for worker processes."""
    found = class_of(engine)
    return f"{found.__module__}:{found.__qualname__}"


@contextmanager
def opened(engine: str, **settings: Any) -> Iterator[Any]:
    """Open a queue of its own, and close it."""
    queue = class_of(engine)(**settings)
    try:
        yield queue
    finally:
        queue.close()


@contextmanager
def both(engine: str, **settings: Any) -> Iterator[tuple[Any, Any]]:
    """Open a queue of its own over two connections."""
    with ExitStack() as stack:
        first = stack.enter_context(opened(engine, **settings))
        second = class_of(engine)(**{**first.place, **settings})
        stack.callback(second.close)
        yield first, second


each_engine = pytest.mark.parametrize("engine", ENGINES)
