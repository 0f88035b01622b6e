"""The process that holds one throw-away server: makes it, runs it, and takes all of it away when its parent is gone.

`python -S -s -P runners/server_keeper.py`, started by runners/servers.py. The order, one JSON object a line, comes on
stdin; a closed stdin means the end, however the parent came to it, kill -9 included. Each answer is a line on stdout.
Should this process itself be killed, Linux ends the server with it, and the next keeper takes the folder away.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from runners.folder_keeper import locked, remove, sweep  # noqa: E402
from runners.server_engines import ENGINES, Engine  # noqa: E402

PREFIX = "lab-server-"
SECONDS = 30.0
"""How long making or starting a server may take."""

STOP_SECONDS = 5.0
LONGEST_SOCKET = 100
"""Bytes of the path of a socket: the system's limit is 104 or 108."""

SWEEP_AGE_SECONDS = 60.0
"""A folder without a keeper is left alone for so long: its keeper may just be about to lock it."""

PR_SET_PDEATHSIG = 1


class Gone(Exception):
    """The parent has closed the pipe, or is no more."""


class Failed(Exception):
    """The server could not be had. Its text is one sentence."""


class Keeper:
    """One server in one private folder."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.engine: Engine = ENGINES[order["engine"]]
        self.password: str = order["password"]
        self.durable: bool = order["durable"]
        self.user: int | None = order["user"]
        self.group: int | None = order["group"]
        self.parent: int = order["parent"]
        self.limits: dict[str, int] = order.get("limits", {})
        self.server: subprocess.Popen[bytes] | None = None
        self.buffer = b""
        sweep(Path(order["base"]), PREFIX, SWEEP_AGE_SECONDS)
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=order["base"])).resolve()
        self.lock = locked(self.folder)

    def make(self) -> None:
        """Fill the folder: files for the server's user, then its data."""
        if len(str(self.folder / ".s.PGSQL.5432.lock")) > LONGEST_SOCKET:
            raise Failed(f"the folder for the socket of {self.engine.title} has too long a path: choose a shorter one")
        (self.folder / "data").mkdir(mode=0o700)
        commands = self.engine.prepare(self.folder, self.password)
        for path in (self.folder, *self.folder.iterdir()):
            path.chmod(0o700 if path.is_dir() else 0o600)
            if self.user is not None and self.group is not None:
                os.chown(path, self.user, self.group)
        for command in commands:
            process = self._started(command)
            self._wait(lambda process=process: process.poll() is not None, process)  # type: ignore[misc]
            if process.returncode:
                raise Failed(f"{self.engine.title} could not make its data: {self._last_words()}")

    def start(self) -> None:
        """Run the server and wait until it takes connections."""
        server = self.server = self._started(self.engine.command(self.folder, self.durable))

        def up() -> bool:
            if server.poll() is not None:
                raise Failed(f"{self.engine.title} ended while it started: {self._last_words()}")
            return self.engine.ready(self.folder, self.password, server.pid)

        self._wait(up, server)

    def kill(self) -> None:
        """End the server without any warning."""
        if self.server is not None:
            end_group(self.server)

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(self.engine.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.server.wait(STOP_SECONDS)
        self.kill()
        self.engine.killed(self.folder)
        remove(self.folder)
        os.close(self.lock)

    def order(self) -> dict[str, Any]:
        """Return the next order; raises Gone when there will be none."""
        while b"\n" not in self.buffer:
            if self._parent_speaks(1.0):
                part = os.read(0, 65536)
                if not part:
                    raise Gone
                self.buffer += part
        line, _, self.buffer = self.buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _parent_speaks(self, seconds: float) -> bool:
        """Wait for the parent. A child of it may hold the pipe open after its end, so we look whose child we are."""
        if os.getppid() != self.parent:
            raise Gone
        return bool(select.select([0], [], [], seconds)[0])

    def _wait(self, done: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + SECONDS
        try:
            while not done():
                if self._parent_speaks(0.01) and not self.buffer:
                    self.buffer = os.read(0, 65536)
                    if not self.buffer:
                        raise Gone
                if time.monotonic() > deadline:
                    raise Failed(f"{self.engine.title} was not ready within {SECONDS:g} s")
        except BaseException:
            end_group(process)
            raise

    def _started(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder)},
                user=self.user,
                group=self.group,
                extra_groups=None if self.user is None else [],
                start_new_session=True,
                preexec_fn=self._bound,
            )

    def _bound(self) -> None:
        """In the child, after it has changed its user: die with this process, keep within the limits."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(self.engine.stop_signal))
        for name, value in self.limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
        if "RLIMIT_FSIZE" in self.limits:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write that finds no room fails, as on a full disk

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self.folder / "log").read_text(encoding="utf-8", errors="replace").split("\n")
            said = next((line.strip() for line in reversed(lines) if line.strip()), "")
            return self.without_secrets(said) or "it said nothing"
        return "it said nothing"

    def without_secrets(self, text: str) -> str:
        """Return a text without the server's place and password."""
        return text.replace(str(self.folder), "its folder").replace(self.password, "***")


def say(**answer: Any) -> None:
    """Answer the parent; one that is gone does not hear it."""
    with contextlib.suppress(OSError):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def serve(keeper: Keeper) -> None:
    """Make and start the server, then do what the parent says until it says no more."""
    keeper.make()
    while True:
        keeper.start()
        assert keeper.server is not None
        say(url=keeper.engine.url(keeper.folder, keeper.password), pid=keeper.server.pid)
        while keeper.order()["do"] != "start":
            keeper.kill()
            say(killed=True)


def _pass(number: int, frame: object) -> None:
    """Do nothing: the end comes by the pipe."""


def _first_line() -> bytes:
    """Read one line and not a byte more: what follows is waited for by `select`, which sees no buffer."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1)
        if not part:
            raise SystemExit(2)
        line += part
    return line


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it has started in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main() -> int:
    """Keep one server; the exit code is 0 when all of it is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _pass)  # not SIG_IGN, which the server would inherit
    try:
        keeper = Keeper(json.loads(_first_line()))
    except (ValueError, TypeError, KeyError):
        sys.stderr.write("no order on stdin: expected a JSON object in a line, as runners/servers.py writes it\n")
        return 2
    try:
        serve(keeper)
    except Gone:
        pass
    except Failed as failed:
        say(failed=str(failed))
    except (OSError, subprocess.SubprocessError) as error:
        say(failed=f"{keeper.engine.title} could not be started: {keeper.without_secrets(str(error))}")
    finally:
        keeper.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
