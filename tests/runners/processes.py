"""Waiting for what another process does: until it is so, with a bound that only a fault reaches."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import psutil


def came_true(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until something holds; False when it still does not after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def ended(pid: int, seconds: float = 20.0) -> bool:
    """Wait until no such process runs any more; a zombie does not."""

    def gone() -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        return True

    return came_true(gone, seconds)
