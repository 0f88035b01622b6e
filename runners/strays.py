"""What a worker has started and left behind: found and ended with it, so that nothing of it meets the next."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from runners.folder_keeper import PROCESSES, lives_in

ORPHANS_SECONDS = 1.0


def processes() -> frozenset[str]:
    """Return which processes there are, as names; empty where the system does not say. O(processes)."""
    with contextlib.suppress(OSError):
        return frozenset(name for name in os.listdir(PROCESSES) if name.isdecimal())  # noqa: PTH208 - names will do
    return frozenset()


def end_group(process: subprocess.Popen[bytes], folder: Path, before: frozenset[str]) -> None:
    """End a worker and whatever it started: what is in its group, and what left the group but lives in its folder.

    `before` is which processes there were when it was started. A child that was told to end may still be at it: it is
    waited for, so that nothing of one execution runs into the next. Not for long: where nobody reaps orphans, they stay
    on as zombies.
    """
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + ORPHANS_SECONDS
    while (_signal_group(process.pid, 0) or _ended_strays(folder, before)) and time.monotonic() < deadline:
        time.sleep(0.001)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group of processes; whether there is anybody in it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


def _ended_strays(folder: Path, before: frozenset[str]) -> bool:
    """Kill what has come since `before` and lives in the folder; whether there was anything."""
    found = [int(name) for name in processes() - before if lives_in(int(name), folder)]
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)
