"""Throw-away servers: reachable by nobody else, and gone with whoever asked for them, however that ended."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import psutil
import pytest

from queues.addresses import engine_of, mariadb_arguments, url_of, variable
from runners import server_engines
from runners.server_keeper import PREFIX
from runners.server_settings import asked
from runners.servers import ENGINES, Pool, Server, ServerError, existing, missing, started
from tests.engines import need, server

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = """
import signal
import sys
from pathlib import Path
from runners.servers import started
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background may ignore it
with started({engine!r}, Path({base!r})) as server:
    print(server.pid, flush=True)
    {then}
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that the server's own user may pass through, which those of pytest do not let it."""
    with tempfile.TemporaryDirectory(prefix="lab-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def folder_of(server: Server) -> Path:
    parts = urlsplit(server.url)
    query = parse_qs(parts.query)
    if server.engine == "postgresql":
        return Path(query["host"][0])
    return Path(query["unix_socket"][0] if server.engine == "mariadb" else unquote(parts.path)).parent


def password_of(url: str) -> str:
    return unquote(urlsplit(url).password or "")


def processes(server: Server) -> list[psutil.Process]:
    own = psutil.Process(server.pid)
    return [own, *own.children(recursive=True)]


def outside(engine: str, base: Path, then: str) -> subprocess.Popen[str]:
    """Start a server from another process, in a process group of its own."""
    command = [sys.executable, "-c", OUTSIDE.format(engine=engine, base=str(base), then=then)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def ended(pid: int, seconds: float = 20.0) -> bool:
    """Wait until no such process runs any more."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        deadline = time.monotonic() + seconds
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
    return True


def emptied(base: Path, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while list(base.iterdir()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_tells_its_version_and_the_settings_that_decide(engine: str) -> None:
    found = server(engine)
    assert found.version[0].isdigit()
    decisive = {
        "postgresql": {"fsync": "on", "synchronous_commit": "on", "work_mem": "4MB"},
        "mariadb": {"innodb_flush_log_at_trx_commit": "1"},
        "redis": {"appendonly": "yes", "appendfsync": "always"},
    }
    assert decisive[engine].items() <= found.settings.items()
    assert found.facts() == {"engine": engine, "version": found.version, **found.settings}


@pytest.mark.parametrize("engine", ENGINES)
def test_one_that_is_not_durable_waits_for_no_disk(engine: str, base: Path) -> None:
    need(engine)
    decisive = {
        "postgresql": {"fsync": "off", "synchronous_commit": "off"},
        "mariadb": {"innodb_flush_log_at_trx_commit": "0"},
        "redis": {"appendonly": "no"},
    }
    with started(engine, base, durable=False) as found:
        assert decisive[engine].items() <= found.settings.items()
        assert not found.durable


@pytest.mark.parametrize("engine", ENGINES)
def test_no_port_is_open_and_no_argument_holds_the_password(engine: str) -> None:
    found = server(engine)
    password = password_of(found.url)
    assert len(password) == 32
    for process in processes(found):
        assert process.net_connections(kind="inet") == []
        assert not any(password in argument for argument in process.cmdline())
    assert password not in repr(found)
    assert password not in str(found.facts())


@pytest.mark.parametrize("engine", ENGINES)
def test_root_starts_it_as_somebody_else_whose_folder_is_closed_to_others(engine: str) -> None:
    found = server(engine)
    folder = folder_of(found)
    assert folder.stat().st_mode & 0o077 == 0
    if os.geteuid() == 0:
        assert {process.uids().effective for process in processes(found)}.isdisjoint({0})
        assert folder.stat().st_uid == psutil.Process(found.pid).uids().effective


@pytest.mark.parametrize("engine", ENGINES)
def test_another_password_is_refused_and_not_told(engine: str) -> None:
    found = server(engine)
    wrong = found.url.replace(password_of(found.url), "wrong-password")
    with pytest.raises(ServerError, match="does not answer as expected") as refused:
        existing(wrong)
    assert "wrong-password" not in str(refused.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_of_it_after_the_block_not_even_after_an_error(engine: str, base: Path) -> None:
    need(engine)
    with pytest.raises(ZeroDivisionError), started(engine, base) as found:  # noqa: PT012
        pids = [process.pid for process in processes(found)]
        assert list(base.iterdir()) == [folder_of(found)]
        raise ZeroDivisionError
    assert all(ended(pid) for pid in pids)
    assert list(base.iterdir()) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_kill_9_of_the_parent_ends_it_and_removes_its_folder(engine: str, base: Path) -> None:
    need(engine)
    with outside(engine, base, "sys.stdin.read()") as parent:
        pid = int(line_of(parent))
        parent.kill()
    assert ended(pid)
    assert emptied(base)


def test_a_fork_that_holds_the_pipe_open_does_not_keep_it_alive(base: Path) -> None:
    need("redis")
    then = "import os; child = os.fork(); print(child or os.getpid(), flush=True) if child else None; sys.stdin.read()"
    with outside("redis", base, then) as parent:
        pid, fork = int(line_of(parent)), int(line_of(parent))
        try:
            parent.kill()
            assert ended(pid)
            assert emptied(base)
        finally:
            os.kill(fork, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_group_ends_it(number: signal.Signals, base: Path) -> None:
    need("redis")
    with outside("redis", base, "sys.stdin.read()") as parent:
        pid = int(line_of(parent))
        os.killpg(parent.pid, number)
        assert parent.wait() != 0
    assert ended(pid)
    assert emptied(base)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_kill_9_of_the_keeper_ends_the_server_and_the_next_keeper_sweeps_up(base: Path) -> None:
    need("redis")
    with started("redis", base) as found:
        keeper = psutil.Process(found.pid).parent()
        assert keeper is not None
        keeper.kill()
        assert ended(found.pid)
    (left,) = base.iterdir()
    with started("redis", base):
        assert left.exists(), "one so young may be about to be locked"
    os.utime(left, (1, 1))
    with started("redis", base):
        assert not left.exists()
    assert list(base.iterdir()) == []


def test_a_folder_whose_keeper_lives_is_never_swept_up(base: Path) -> None:
    need("redis")
    with started("redis", base) as old:
        folder = folder_of(old)
        assert folder.name.startswith(PREFIX)
        os.utime(folder, (1, 1))
        with started("redis", base):
            pass
        assert asked("redis", old.url)[0] == old.version


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_server_comes_back_at_the_same_address(engine: str, base: Path) -> None:
    need(engine)
    with started(engine, base) as found:
        found.kill()
        with pytest.raises(ServerError):
            asked(engine, found.url)
        pid = found.restart()
        assert pid != found.pid
        assert asked(engine, found.url)[0] == found.version


def test_a_killed_postgresql_leaves_no_shared_memory(base: Path) -> None:
    need("postgresql")

    def segments() -> str:
        return subprocess.run(["ipcs", "-m"], capture_output=True, text=True, check=True).stdout

    with started("postgresql", base) as found:
        number = (folder_of(found) / "data" / "postmaster.pid").read_text().splitlines()[6].split()[1]
        assert f" {number} " in segments()
        found.kill()
    assert f" {number} " not in segments()


@pytest.mark.parametrize(
    ("engine", "limit", "sentence"),
    [
        ("redis", {"RLIMIT_AS": 4 << 20}, r"^Redis ended while it started: "),
        ("redis", {"RLIMIT_NONE": 1}, r"^Redis could not be started: "),
        ("postgresql", {"RLIMIT_NOFILE": 12}, r"^PostgreSQL (could not make its data|ended while it started): "),
    ],
)
def test_a_server_that_cannot_start_says_so_in_one_sentence(
    engine: str, limit: dict[str, int], sentence: str, base: Path
) -> None:
    need(engine)
    with pytest.raises(ServerError, match=sentence) as failed, started(engine, base, limits=limit):
        pass
    assert str(base) not in str(failed.value)
    assert list(base.iterdir()) == []


def test_a_folder_with_too_long_a_path_is_refused(base: Path) -> None:
    need("redis")
    deep = base / ("x" * 90)
    deep.mkdir(mode=0o711)
    with pytest.raises(ServerError, match="too long a path: choose a shorter one"), started("redis", deep):
        pass
    assert list(deep.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it as somebody else")
def test_a_folder_that_the_other_user_cannot_enter_is_refused(base: Path) -> None:
    need("redis")
    base.chmod(0o700)
    with pytest.raises(ServerError, match="cannot be entered by the unprivileged user"), started("redis", base):
        pass


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_that_is_not_there_is_named_with_what_to_do(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_engines, "SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", "")
    package = {"postgresql": "postgresql", "mariadb": "mariadb-server", "redis": "redis-server"}[engine]
    assert missing(engine).endswith(f"`make servers` installs the Debian package {package}")
    with pytest.raises(ServerError, match="is not installed"), started(engine):
        pass


def test_a_pool_starts_each_server_once_and_ends_all() -> None:
    need("redis")
    with Pool() as pool:
        assert not pool.running
        first = pool.server("redis")
        assert pool.server("redis") is first
        relaxed = pool.server("redis", durable=False)
        assert relaxed.pid != first.pid
        assert list(pool.running) == [first, relaxed]
        assert first.environment() == {"LAB_REDIS_URL": first.url}
    assert ended(first.pid)
    assert ended(relaxed.pid)


def test_a_pool_says_each_time_why_a_server_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool() as pool:
        with monkeypatch.context() as lacking:
            lacking.setattr(server_engines, "SYSTEM_FOLDERS", ())
            lacking.setenv("PATH", "")
            with pytest.raises(ServerError) as first:
                pool.server("redis")
        with pytest.raises(ServerError) as second:
            pool.server("redis")
    assert str(first.value) == str(second.value)


def test_an_address_that_is_given_is_used_and_not_ended() -> None:
    own = server("redis")
    with Pool([own.url]) as pool:
        found = pool.server("redis")
        assert (found.url, found.pid) == (own.url, 0)
        with pytest.raises(ServerError, match="is not ours"):
            found.kill()
    assert asked("redis", own.url)[0] == own.version


def test_an_address_of_another_kind_is_refused_without_telling_its_password() -> None:
    with pytest.raises(ServerError, match="begins with 'oracle:': expected postgresql") as refused:
        Pool(["oracle://scott:tiger@host/db"])
    assert "tiger" not in str(refused.value)
    with pytest.raises(ServerError, match="has no scheme"):
        existing("localhost")
    with pytest.raises(ServerError, match="two addresses of MariaDB were given"):
        Pool(["mysql://u:tiger@host/db", "mariadb://u:tiger@other/db"])


def test_an_address_where_nobody_answers_is_one_sentence() -> None:
    with pytest.raises(ServerError, match=r"^the Redis server does not answer as expected") as refused:
        existing("redis://:secret-word@127.0.0.1:1/0")
    assert "secret-word" not in str(refused.value)


def test_something_that_listens_and_says_nothing_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queues.events.mariadb_connection.CONNECT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"mysql://lab:secret-word@127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(ServerError, match=r"^the MariaDB server does not answer.*look at the host") as refused:
            existing(address)
    assert "secret-word" not in str(refused.value)


def test_a_library_that_lacks_another_is_no_fault_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)  # as an import that fails leaves it
    with pytest.raises(ServerError, match="Redis needs 'redis', which cannot be imported here: `make setup`"):
        existing("redis://127.0.0.1:1/0")


def test_a_server_that_no_queue_needs_is_named() -> None:
    with Pool(["mysql://u:p@h/d", "redis://h/0"]) as pool:
        assert pool.idle(["", "queues.timer.sqlite:SQLite", "queues.timer.redis:RedisQueue"]) == ["MariaDB"]


def test_a_queue_finds_the_address_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable("mariadb"), raising=False)
    with pytest.raises(LookupError, match="LAB_MARIADB_URL in the environment"):
        url_of("mariadb")
    monkeypatch.setenv(variable("mariadb"), "mysql://a:b@localhost/c")
    assert url_of("mariadb") == "mysql://a:b@localhost/c"
    assert url_of("mariadb", "mysql://d@e/f") == "mysql://d@e/f"


def test_a_mariadb_address_is_taken_apart() -> None:
    assert engine_of("mysql://u:p@h:1/d") == "mariadb"
    assert mariadb_arguments("mysql://u%40:p%2F@h:1/d%20e") == {
        "host": "h",
        "port": 1,
        "user": "u@",
        "password": "p/",
        "database": "d e",
    }
    with pytest.raises(ValueError, match="not one of MariaDB"):
        mariadb_arguments("redis://h/0")
