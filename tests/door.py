"""The front door in this process: what `python -m lab` says and how it ends, without what starting a process costs.

For what is refused or answered from what is there. What starts workers, or must not leave anything behind, is tested in
a process of its own.
"""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.cli import main

ROOT = Path(__file__).resolve().parent.parent


def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Return what the command said on both streams and its exit code; whatever it raises comes out here."""
    said, errors = io.StringIO(), io.StringIO()
    code = 0
    streams = contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors)
    with contextlib.chdir(ROOT), _as_it_was(["lab", *arguments]), streams[0], streams[1]:
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, code, said.getvalue(), errors.getvalue())


@contextlib.contextmanager
def _as_it_was(argv: list[str]) -> Iterator[None]:
    """Give the command its arguments, and put back afterwards what it changed of this process."""
    before, handlers = sys.argv, {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    sys.argv = argv
    try:
        yield
    finally:
        sys.argv = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
