"""The order of the tests: what starts processes for long comes first, so that no processor waits at the end.

A heap in which a full collection is short: what was there before a file of tests is kept out of it. And a processor of
their own for the workers that the tests of each process start: a run alone pins its workers to the last there is.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from runners import spawn

ROOT = Path(__file__).resolve().parent

LONG = (
    "runners/test_reattach.py",
    "runners/test_calibrate.py",
    "runners/test_run.py",
    "notebooks/test_site.py",
    "notebooks/test_notebooks.py",
    "runners/test_servers.py",
)
"""Files with tests of ten seconds and more, the longest first; the order of all others stays."""


def pytest_sessionstart() -> None:
    """Have runs that are started here pin their workers elsewhere than those of the other processes of pytest do."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))

    def pinned_processor() -> int | None:
        available = spawn.processors()
        return available[-1 - number % len(available)] if len(available) >= 2 else None

    spawn.pinned_processor = pinned_processor


class Frozen:
    """Before the tests of which file what was in the heap was last kept out of collections."""

    before: Path | None = None


def place(path: Path) -> int:
    """Return where the tests of a file come; the same in every process, since workers must agree on the order.

    >>> place(ROOT / "runners/test_reattach.py"), place(ROOT / "lab/test_units.py") == len(LONG)
    (0, True)
    """
    own = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    return LONG.index(own) if own in LONG else len(LONG)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by `place`; within one place they stay as they were collected."""
    items.sort(key=lambda item: place(item.path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let no collection look at what was there before the first test of a file: those that ask for one took minutes."""
    if item.path != Frozen.before:
        gc.collect()
        gc.freeze()
        Frozen.before = item.path
