"""The folder that an execution works in: in one that a process of its own takes away, whatever becomes of this one.

runners/folder_keeper.py is that process. It is started with the first folder and serves all later ones.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runners.folder_keeper import PREFIX

KEEPER = Path(__file__).resolve().parent / "folder_keeper.py"
LEAVE_SECONDS = 10.0
"""How long this process waits at its end for its folder to be taken away."""

_LOCK = threading.Lock()
_kept: list[tuple[subprocess.Popen[bytes], Path]] = []


@contextmanager
def working_folder() -> Iterator[Path]:
    """Yield a new folder that is gone afterwards with all in it, also when this process is killed before.

    Where no keeper can be started it is an ordinary temporary folder. OSError when none can be made.
    """
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=_home(), ignore_cleanup_errors=True) as name:
        yield Path(name)


def _home() -> Path | None:
    """Return the folder that is kept for this process, or None: the system's folder for temporary files."""
    with _LOCK:
        if not _kept or _kept[0][0].poll() is not None or not _kept[0][1].is_dir():
            leave()
            with contextlib.suppress(OSError):
                _kept.append(_started())
        return _kept[0][1] if _kept else None


def _started() -> tuple[subprocess.Popen[bytes], Path]:
    keeper = subprocess.Popen(
        [sys.executable, "-S", "-s", "-P", str(KEEPER), tempfile.gettempdir()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ},
        cwd="/",
        start_new_session=True,  # what is typed at the terminal is for this process
    )
    assert keeper.stdout is not None
    with keeper.stdout as said:
        path = os.fsdecode(said.readline().rstrip(b"\n"))
    if not path:
        _dismissed(keeper)
        raise OSError("no folder")
    return keeper, Path(path)


def leave() -> None:
    """Have the folder of this process taken away now, and wait for it; a later execution gets a new one."""
    while _kept:
        _dismissed(_kept.pop()[0])


def _dismissed(keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None
    with contextlib.suppress(OSError):
        keeper.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        keeper.wait(LEAVE_SECONDS)


atexit.register(leave)
