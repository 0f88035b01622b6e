"""The process that keeps a folder for another one, and takes it and all that lives in it away when that one is gone.

`python -S -s -P runners/folder_keeper.py BASE`, started by runners/folders.py. It makes the folder in BASE, says where
it is in one line on stdout and waits until stdin is closed, however that comes, kill -9 of its parent included. Then it
ends what still lives in the folder and removes it. Should it be killed itself, the next keeper does both.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "lab-"
KEPT = ".kept"
"""The file that says that a folder is a keeper's; it is written when the folder is locked."""

PROCESSES = Path("/proc")
ENDING_SECONDS = 5.0
"""How long what is told to end may take; it was killed, so that only the system can keep it."""


def living_in(folder: Path) -> list[int]:
    """Return the processes whose folder for temporary files (TMPDIR) is in a folder; O(processes).

    Whatever a worker starts has that from it, whoever its parent is by then. [] where there is no /proc.
    """
    return [int(each.name) for each in PROCESSES.glob("[0-9]*") if _lives_in(each, str(folder))]


def lives_in(pid: int, folder: Path) -> bool:
    """Return whether `living_in` would name this process; O(1)."""
    return _lives_in(PROCESSES / str(pid), str(folder))


def _lives_in(process: Path, folder: str) -> bool:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it is gone, or another user's
        return False
    places = [os.fsdecode(each[7:]) for each in variables if each.startswith(b"TMPDIR=")]
    return any(place == folder or place.startswith(f"{folder}/") for place in places)


def end_all(folder: Path) -> None:
    """Kill every process that lives in a folder, those that they start meanwhile too, and wait until they are gone."""
    deadline = time.monotonic() + ENDING_SECONDS
    while (left := living_in(folder)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def sweep(base: Path, prefix: str, least_age_seconds: float, mark: str = "") -> None:
    """Take away the folders that keepers have left which were killed themselves; not those of others, not new ones.

    A folder that has a keeper is locked. `mark` is the file that must be in it, where the prefix alone says too little.
    """
    for folder in base.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or time.time() - found.st_mtime < least_age_seconds:
                continue
            if os.getuid() not in (0, found.st_uid) or not (folder / mark).exists():
                continue
            lock = locked(folder)
            end_all(folder)
            remove(folder)
            os.close(lock)


def remove(folder: Path) -> None:
    """Remove a folder that somebody may still be writing to: once more, should a file have come meanwhile."""
    for _ in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


def locked(folder: Path) -> int:
    """Lock the folder for as long as the descriptor is open; BlockingIOError when a keeper has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def main(arguments: list[str]) -> int:
    """Keep one folder until stdin is closed; the exit code is 0 when all of it is gone."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write(f"{' '.join(arguments)!r} is no folder: expected the one to keep a folder in\n")
        return 2
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the end comes by the pipe
    base = Path(arguments[0]).resolve()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    lock = locked(folder)
    (folder / KEPT).touch()
    sys.stdout.write(f"{folder}\n")
    sys.stdout.flush()
    sweep(base, PREFIX, least_age_seconds=0, mark=KEPT)
    while os.read(0, 4096):
        pass
    end_all(folder)
    remove(folder)
    os.close(lock)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
