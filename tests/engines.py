"""The real servers that tests talk to: one of each engine a test process, started when it is first asked for.

Where an engine is not installed its tests are skipped with the reason; in CI, that is with CI=true, they fail.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os

import pytest

from runners.servers import Server, missing, started


def need(engine: str) -> None:
    """Skip the test, or fail it in CI, when `engine` cannot be started here."""
    if lacking := missing(engine):
        if os.environ.get("CI") == "true":
            pytest.fail(f"in CI every engine must be there: {lacking}")
        pytest.skip(lacking)


def server(engine: str) -> Server:
    """Return the server of this test process; tests share it and keep apart by the names of their tables."""
    need(engine)
    return _started(engine)


@functools.cache
def _started(engine: str) -> Server:
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(started(engine))
