"""How each engine is set up and started in a private folder: binaries, commands, settings, and when it is ready.

Only sockets in that folder, no port; the password goes in by a file that only the server's user can read, never by an
argument. Nothing here starts a process: runners/server_keeper.py does, runners/servers.py is what the lab calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

USER = "lab"
"""The user of the database; the system's user is another matter."""

IPC_RMID = 0

SYSTEM_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/opt/homebrew/bin")
"""Where packages put servers, besides the PATH. They come first: what stands in a PATH may be a wrapper."""


class Engine(Protocol):
    """What the keeper asks of an engine. `folder` is private to one server and owned by the user that it runs as."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def package(self) -> str: ...
    @property
    def system_users(self) -> tuple[str, ...]: ...
    @property
    def binaries(self) -> tuple[str, ...]: ...
    @property
    def stop_signal(self) -> int: ...

    def url(self, folder: Path, password: str) -> str:
        """Return the address of the server in `folder`."""

    def prepare(self, folder: Path, password: str) -> list[list[str]]:
        """Write the files that the server needs and return the commands that make its data, in order."""

    def command(self, folder: Path, durable: bool) -> list[str]:
        """Return the command that runs the server in the foreground."""

    def ready(self, folder: Path, password: str, pid: int) -> bool:
        """Return whether the server, which is process `pid`, takes connections."""

    def killed(self, folder: Path) -> None:
        """Take away what the server leaves outside `folder` when it is killed."""


class Postgresql:
    """PostgreSQL: `initdb`, then `postgres` with no port."""

    name = "postgresql"
    title = "PostgreSQL"
    package = "postgresql"
    system_users = ("postgres", "nobody")
    binaries = ("postgres", "initdb")
    stop_signal = signal.SIGQUIT
    """Ends it at once; SIGKILL leaves a segment of shared memory behind."""

    def url(self, folder: Path, password: str) -> str:
        """Return an address as libpq reads it."""
        return f"postgresql://{USER}:{quote(password)}@/postgres?host={quote(str(folder), safe='')}"

    def prepare(self, folder: Path, password: str) -> list[list[str]]:
        """Make the cluster with one user, who needs the password on the socket too; nothing is synced to disk yet."""
        secret = folder / "password"
        secret.write_text(password, encoding="ascii")
        options = ["--no-sync", "--auth=scram-sha-256", "--username", USER, f"--pwfile={secret}"]
        return [[binary("initdb"), *options, "--encoding=UTF8", "--no-locale", "-D", str(folder / "data")]]

    def command(self, folder: Path, durable: bool) -> list[str]:
        """Settings are the defaults of PostgreSQL but for those named here; not durable: a commit waits for no disk."""
        on = "on" if durable else "off"
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(folder),
            "unix_socket_permissions": "0700",
            "dynamic_shared_memory_type": "mmap",
            "fsync": on,
            "synchronous_commit": on,
            "full_page_writes": on,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [binary("postgres"), "-D", str(folder / "data"), *options]

    def ready(self, folder: Path, password: str, pid: int) -> bool:
        """Ask what `pg_ctl` asks: the state in the eighth line of postmaster.pid, if the first names this process."""
        lines = self._state(folder)
        return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def killed(self, folder: Path) -> None:
        """Remove its segment of shared memory, whose number is the second in the seventh line of postmaster.pid."""
        lines = self._state(folder)
        with contextlib.suppress(IndexError, ValueError, AttributeError):
            ctypes.CDLL(None).shmctl(int(lines[6].split()[1]), IPC_RMID, None)

    def _state(self, folder: Path) -> list[str]:
        with contextlib.suppress(OSError):
            return (folder / "data" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        return []


class Mariadb:
    """MariaDB: `mariadb-install-db`, then `mariadbd` with no port."""

    name = "mariadb"
    title = "MariaDB"
    package = "mariadb-server"
    system_users = ("mysql", "nobody")
    binaries = ("mariadbd", "mariadb-install-db")
    stop_signal = signal.SIGKILL

    def url(self, folder: Path, password: str) -> str:
        """Return an address as `queues.addresses` reads it."""
        return f"mysql://{USER}:{quote(password)}@localhost/lab?unix_socket={quote(str(folder / 'socket'), safe='')}"

    def prepare(self, folder: Path, password: str) -> list[list[str]]:
        """Make the system tables, in which root is who runs the server and nobody else."""
        statements = (
            "CREATE DATABASE IF NOT EXISTS lab CHARACTER SET utf8mb4;",
            f"CREATE USER IF NOT EXISTS {USER}@localhost IDENTIFIED BY '{password}';",
            f"GRANT ALL ON *.* TO {USER}@localhost;",
        )
        (folder / "init.sql").write_text("\n".join(statements), encoding="ascii")
        options = ["--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db", "--skip-name-resolve"]
        return [[binary("mariadb-install-db"), *options, "--auth-root-authentication-method=socket"]]

    def command(self, folder: Path, durable: bool) -> list[str]:
        """Settings are the defaults of MariaDB but for those named here; not durable: a commit waits for no disk."""
        settings = {
            "datadir": str(folder / "data"),
            "socket": str(folder / "socket"),
            "pid-file": str(folder / "pid"),
            "init-file": str(folder / "init.sql"),
            "tmpdir": str(folder),
            "innodb-flush-log-at-trx-commit": "1" if durable else "0",
            "lc-messages": "en_US",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [binary("mariadbd"), "--no-defaults", "--skip-networking", "--skip-name-resolve", *options]

    def killed(self, folder: Path) -> None:
        """Leaves nothing."""

    def ready(self, folder: Path, password: str, pid: int) -> bool:
        """Its socket answers only once it serves."""
        with contextlib.suppress(OSError), _connected(folder / "socket") as connection:
            return bool(connection.recv(1))
        return False


class Redis:
    """Redis: `redis-server` with no port, its log of commands written before each answer when durable."""

    name = "redis"
    title = "Redis"
    package = "redis-server"
    system_users = ("redis", "nobody")
    binaries = ("redis-server",)
    stop_signal = signal.SIGKILL

    def url(self, folder: Path, password: str) -> str:
        """Return an address as redis-py reads it."""
        return f"unix://default:{quote(password)}@{quote(str(folder / 'socket'))}?db=0"

    def prepare(self, folder: Path, password: str) -> list[list[str]]:
        """Write the secret; there is nothing to make."""
        (folder / "secret.conf").write_text(f"requirepass {password}\n", encoding="ascii")
        return []

    def command(self, folder: Path, durable: bool) -> list[str]:
        """Write the settings into a file and name it."""
        settings = (
            "port 0",
            f"unixsocket {folder / 'socket'}",
            "unixsocketperm 700",
            f"dir {folder}",
            'save ""',
            f"appendonly {'yes' if durable else 'no'}",
            f"appendfsync {'always' if durable else 'no'}",
            "daemonize no",
            f"include {folder / 'secret.conf'}",
        )
        path = folder / "redis.conf"
        path.write_text("\n".join(settings) + "\n", encoding="utf-8")
        return [binary("redis-server"), str(path)]

    def killed(self, folder: Path) -> None:
        """Leaves nothing."""

    def ready(self, folder: Path, password: str, pid: int) -> bool:
        """Ask it; while it loads its data it answers something else."""
        with contextlib.suppress(OSError), _connected(folder / "socket") as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode("ascii"))
            answer = b""
            while answer.count(b"\n") < 2:
                part = connection.recv(4096)
                if not part:
                    return False
                answer += part
            return b"+PONG" in answer
        return False


ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Postgresql(), Mariadb(), Redis())}


def binary(name: str) -> str:
    """Return the path of a program of a server, the newest version first; "" when there is none.

    >>> binary("no-such-server")
    ''
    """
    for pattern in SYSTEM_FOLDERS:
        for folder in sorted(Path("/").glob(pattern.lstrip("/")), key=_version, reverse=True):
            path = folder / name
            if os.access(path, os.X_OK):
                return str(path)
    return shutil.which(name) or ""


def _version(folder: Path) -> tuple[float, str]:
    number = folder.parent.name
    return (float(number) if number.replace(".", "", 1).isdigit() else 0.0, str(folder))


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(2)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection
