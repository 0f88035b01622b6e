"""The order of the tests: what starts processes for long comes first, so that no processor waits at the end.

And a heap in which a full collection is short: what was there before a file of tests is kept out of it.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

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
