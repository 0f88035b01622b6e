"""Private throw-away PostgreSQL, MariaDB and Redis, for the cases that need one.

A server is started in a folder of its own, behind a socket in it and a password made for it, as an unprivileged user
when the caller is root, and is gone with the process that asked for it, however that ends: runners/server_keeper.py
sees to it. A server that runs already is only used when its address is given.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import pwd
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from queues.addresses import engine_of, variable
from queues.registry import ENGINE_OF
from runners.server_engines import ENGINES as BY_NAME
from runners.server_engines import Engine, binary
from runners.server_settings import LIBRARIES, asked
from runners.server_settings import ServerError as ServerError
from runners.workload import NotOffered

ENGINES = tuple(BY_NAME)
KEEPER = Path(__file__).resolve().parent / "server_keeper.py"
END_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server that takes connections: its address (with the password, which `repr` hides), version and settings."""

    engine: str
    url: str = field(repr=False)
    version: str
    settings: dict[str, str]
    durable: bool = True
    pid: int = 0
    _keeper: Keeper | None = field(default=None, repr=False, compare=False)

    def environment(self) -> dict[str, str]:
        """Return what a worker finds the server by."""
        return {variable(self.engine): self.url}

    def facts(self) -> dict[str, str]:
        """Return what decides a figure, by name, to store beside it: version and settings, and no address."""
        return {"engine": self.engine, "version": self.version, **self.settings}

    def kill(self) -> None:
        """End the server by SIGKILL, as a power cut would; only a private one."""
        self._own().ask("kill")

    def restart(self) -> int:
        """Start a server that was killed once more, on its data; return its process id. It keeps its address."""
        return int(self._own().ask("start")["pid"])

    def _own(self) -> Keeper:
        if self._keeper is None:
            raise ServerError(f"the {BY_NAME[self.engine].title} server is not ours: only a private one is ended")
        return self._keeper


class Keeper:
    """The other end of runners/server_keeper.py: orders go in, answers come out, and closing it ends the server."""

    def __init__(self, engine: Engine, base: Path, durable: bool, limits: Mapping[str, int]) -> None:
        self.engine = engine
        user, group = unprivileged(engine) or (None, None)
        if user is not None and not _reachable(base):
            raise ServerError(
                f"the folder for {engine.title} cannot be entered by the unprivileged user that it runs as: "
                f"expected one that everybody may pass through, as the system's folder for temporary files is"
            )
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-P", str(KEEPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.order = {
            "engine": engine.name,
            "base": str(base),
            "password": secrets.token_hex(16),
            "durable": durable,
            "user": user,
            "group": group,
            "parent": os.getpid(),
            "limits": dict(limits),
        }

    def start(self) -> dict[str, Any]:
        """Return the answer of a server that has come up: its url and its process id."""
        return self._say(self.order)

    def ask(self, what: str) -> dict[str, Any]:
        """Tell it to "kill" the server, or to "start" it again."""
        return self._say({"do": what})

    def close(self) -> None:
        """End the server; when this returns, the process and its folder are gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        finally:
            self.process.stdout.close()

    def _say(self, order: Mapping[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"failed": f"the keeper of {self.engine.title} ended"}
        if "failed" in answer:
            raise ServerError(answer["failed"])
        return answer


def missing(engine: str) -> str:
    """Return "" when `engine` can be started here, else one sentence that says what to install.

    LookupError for an engine that is none of ENGINES.

    >>> missing("oracle")
    Traceback (most recent call last):
        ...
    LookupError: no engine 'oracle': there are postgresql, mariadb, redis
    """
    known = _known(engine)
    lacking = [name for name in known.binaries if not binary(name)]
    if lacking:
        return (
            f"{known.title} is not installed ({lacking[0]} was not found): "
            f"`make servers` installs the Debian package {known.package}"
        )
    library = LIBRARIES[engine]
    if importlib.util.find_spec(library) is None:
        return (
            f"{known.title} needs the library {library!r}, which this interpreter cannot import: `make setup` brings it"
        )
    return ""


@contextlib.contextmanager
def started(
    engine: str, folder: Path | None = None, *, durable: bool = True, limits: Mapping[str, int] | None = None
) -> Iterator[Server]:
    """Start a private `engine`, yield it, and end it: its process and its folder are gone at the end of the block.

    Its own folder is made in `folder` (default: the system's for temporary files), whose path must be short, because
    the path of a socket is, and open to others to pass through when the caller is root. `durable=False` lets a commit
    return before it is on disk. `limits` maps names of `resource`, such as RLIMIT_FSIZE, to bounds for the server.
    ServerError, one sentence, when it cannot be had. Seconds: PostgreSQL and MariaDB make their data first.
    """
    if lacking := missing(engine):
        raise ServerError(lacking)
    keeper = Keeper(BY_NAME[engine], Path(folder or _temporary()), durable, limits or {})
    try:
        answer = keeper.start()
        version, settings = asked(engine, answer["url"])
        yield Server(engine, answer["url"], version, settings, durable, int(answer["pid"]), keeper)
    finally:
        keeper.close()


def existing(url: str) -> Server:
    """Return the server at `url`, which is used as it is and not ended; ServerError when it does not answer."""
    try:
        engine = engine_of(url)
    except ValueError as error:
        raise ServerError(str(error)) from None
    version, settings = asked(engine, url)
    return Server(engine, url, version, settings)


class Pool:
    """The servers of a run: each is started when it is first asked for and ended with the pool.

    `urls` are addresses of servers that run already: they take the place of private ones of the same engine.

    >>> with Pool() as pool:
    ...     pool.running
    ()
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._stack = contextlib.ExitStack()
        self._servers: dict[tuple[str, bool], Server] = {}
        self._failed: dict[tuple[str, bool], str] = {}
        self._given: dict[str, str] = {}
        for url in urls:
            try:
                engine = engine_of(url)
            except ValueError as error:
                raise ServerError(str(error)) from None
            if engine in self._given:
                raise ServerError(f"two addresses of {BY_NAME[engine].title} were given: expected one of an engine")
            self._given[engine] = url

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        self._servers.clear()
        self._stack.close()

    @property
    def running(self) -> tuple[Server, ...]:
        """What has been asked for so far."""
        return tuple(self._servers.values())

    def server(self, engine: str, durable: bool = True) -> Server:
        """Return the server, starting it if need be; ServerError, each time the same, when it cannot be had."""
        key = (engine, durable)
        if key in self._failed:
            raise ServerError(self._failed[key])
        if key not in self._servers:
            try:
                self._servers[key] = self._opened(engine, durable)
            except ServerError as error:
                self._failed[key] = str(error)
                raise
        return self._servers[key]

    def environment(self, target: str) -> dict[str, str]:
        """Return what a worker of the queue "module:Class" finds its server by; empty for one that needs none.

        NotOffered, with the sentence of the ServerError, when the server cannot be had.
        """
        needed = ENGINE_OF.get(target)
        if needed is None:
            return {}
        engine, _, relaxed = needed.partition("-")
        try:
            return self.server(engine, durable=not relaxed).environment()
        except ServerError as error:
            raise NotOffered(str(error)) from None

    def facts(self, target: str) -> dict[str, str]:
        """Return the version and the settings of the server that the queue "module:Class" talks to; empty without."""
        engine, _, relaxed = ENGINE_OF.get(target, "").partition("-")
        running = self._servers.get((engine, not relaxed))
        return running.facts() if running else {}

    def idle(self, targets: Iterable[str]) -> list[str]:
        """Return the titles of the servers that were given and that none of the queues "module:Class" needs."""
        needed = {ENGINE_OF.get(target, "").partition("-")[0] for target in targets}
        return [BY_NAME[engine].title for engine in self._given if engine not in needed]

    def _opened(self, engine: str, durable: bool) -> Server:
        if engine in self._given:
            return existing(self._given[engine])
        return self._stack.enter_context(started(engine, durable=durable))


def unprivileged(engine: Engine) -> tuple[int, int] | None:
    """Return the user and group that the server runs as when the caller is root; None: the caller itself."""
    if os.geteuid() != 0:
        return None
    for name in engine.system_users:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    raise ServerError(f"{engine.title} does not run as root, and there is no user {' or '.join(engine.system_users)}")


def _reachable(folder: Path) -> bool:
    return all(path.stat().st_mode & 0o001 for path in (folder.resolve(), *folder.resolve().parents))


def _temporary() -> str:
    """Return the system's folder for temporary files, or /tmp where its path is too long for a socket."""
    found = tempfile.gettempdir()
    return found if len(found) < 60 else "/tmp"


def _known(engine: str) -> Engine:
    try:
        return BY_NAME[engine]
    except KeyError:
        raise LookupError(f"no engine {engine!r}: there are {', '.join(ENGINES)}") from None
