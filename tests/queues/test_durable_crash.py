"""Processes that die, leases that run out, several that take at once, and stores that are locked, full or gone."""

from __future__ import annotations

import errno
import gc
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from queues.registry import DURABLE, ENGINE_OF, load
from queues.timer.durable_batch import LeaseLost
from queues.timer.rules import StopDispatch
from runners.servers import started
from tests.engines import need
from tests.queues.durable_subjects import INFINITY, LEASE, ONE_AN_ENGINE, Place, contents, drained

ROOT = Path(__file__).resolve().parents[2]


class Failure(Exception):
    """What a handler raises."""


@pytest.fixture(params=ONE_AN_ENGINE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for each engine in turn, emptied afterwards."""
    made = Place(request.param, tmp_path, f"{request.node.name} {tmp_path.name}")
    yield made
    made.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Place]:
    """A place for files."""
    made = Place("sqlite", tmp_path, "timer")
    yield made
    made.close()


def filled(place: Place, count: int, **settings: Any) -> Any:
    queue = place.queue(**settings)
    queue.enqueue_many([(float(number), number) for number in range(count)])
    return queue


def killed(child: subprocess.Popen[str]) -> None:
    """End a process by SIGKILL, and see that it had not ended by itself."""
    assert child.poll() is None
    child.kill()
    assert child.wait() == -signal.SIGKILL
    for end in (child.stdin, child.stdout):
        assert end is not None
        end.close()


def said(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def test_a_process_killed_between_take_and_requeue_loses_nothing(place: Place) -> None:
    queue = filled(place, 8)
    child = place.process("batch = make().take(4.0)\nsay(len(batch))\nsys.stdin.read()\n")
    assert said(child) == "5"
    killed(child)
    assert contents(queue) == [(5.0, 5), (6.0, 6), (7.0, 7)]
    place.lease_clock.now += LEASE - 1.0
    assert queue.take(4.0) is None
    place.lease_clock.now += 1.0
    assert contents(queue) == [(float(number), number) for number in range(8)]
    assert drained(queue) == [(float(number), number) for number in range(8)]


def test_a_process_killed_while_handling_repeats_what_it_had_not_confirmed_and_no_more(place: Place) -> None:
    queue = filled(place, 9)
    script = (
        "def handler(start, number):\n"
        "    say(number)\n"
        "    if number == 4:\n"
        "        sys.stdin.read()\n"
        "queue = make(confirm=2)\n"
        "queue.process(queue.take(7.0), handler, float('inf'))\n"
    )
    child = place.process(script)
    assert [said(child) for _ in range(5)] == ["0", "1", "2", "3", "4"]
    killed(child)
    assert contents(queue) == [(8.0, 8)]
    place.lease_clock.now += LEASE
    assert drained(queue) == [(float(number), number) for number in range(4, 9)]


def test_what_is_put_back_after_a_crash_stands_ahead_of_equal_starts_queued_meanwhile(place: Place) -> None:
    queue = place.queue()
    for name in ("a", "b", "c"):
        queue.enqueue(1, name)
    first, second = queue.take(1, limit=1), queue.take(1, limit=1)
    assert (len(first), len(second)) == (1, 1)
    queue.enqueue(1, "d")
    queue.enqueue(0, "e")
    place.lease_clock.now += LEASE
    assert contents(queue) == [(0, "e"), (1, "a"), (1, "b"), (1, "c"), (1, "d")]


def test_a_new_process_finds_the_messages_of_an_old_one(place: Place) -> None:
    child = place.process("queue = make()\nqueue.enqueue(2.5, 'kept', {'a': [1]})\nsay('done')\nsys.stdin.read()\n")
    assert said(child) == "done"
    killed(child)
    assert contents(place.queue()) == [(2.5, "kept", {"a": [1]})]


def test_two_processes_that_take_at_once_get_different_messages(place: Place) -> None:
    filled(place, 1_200)
    script = (
        "queue = make()\n"
        "say('ready')\n"
        "sys.stdin.readline()\n"
        "seen = []\n"
        "while (batch := queue.take(float('inf'), limit=37)) is not None:\n"
        "    queue.process(batch, lambda start, number: seen.append(number), float('inf'))\n"
        "say(*seen)\n"
    )
    children = [place.process(script) for _ in range(2)]
    assert [said(child) for child in children] == ["ready", "ready"]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    shares = [[int(word) for word in said(child).split()] for child in children]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert all(share == sorted(share) for share in shares)
    assert sorted(shares[0] + shares[1]) == list(range(1_200))
    assert contents(place.queue()) == []


def test_a_lease_that_ran_out_is_lost_and_its_messages_are_not_doubled(place: Place) -> None:
    queue, other = filled(place, 3), place.queue()
    batch = queue.take(1.0)
    place.lease_clock.now += LEASE
    assert contents(other) == [(0.0, 0), (1.0, 1), (2.0, 2)]
    with pytest.raises(LeaseLost, match="the lease ran out after 0 messages"):
        queue.process(batch, lambda *_: pytest.fail("a message that is not ours"), INFINITY)
    assert (len(batch), queue.requeue(batch)) == (0, 0)
    late = queue.take(0.0)
    place.lease_clock.now += LEASE
    assert drained(other) == [(0.0, 0), (1.0, 1), (2.0, 2)]
    assert queue.requeue(late) == 0
    assert contents(queue) == []


def test_the_number_of_a_lease_is_never_given_twice(place: Place) -> None:
    queue = filled(place, 3)
    numbers = []
    for _ in range(3):
        batch = queue.take(INFINITY, limit=1)
        numbers.append(batch.lease)
        queue.requeue(batch)
    assert len(set(numbers)) == 3


def test_a_slow_handler_renews_the_lease_as_it_goes(place: Place) -> None:
    queue, other = filled(place, 6), place.queue()
    seen = []

    def handler(start: float, number: int) -> None:
        place.lease_clock.now += 0.4 * LEASE
        seen.append(number)
        assert other.take(INFINITY) is None

    assert queue.process(queue.take(INFINITY), handler, INFINITY) == 6
    assert seen == list(range(6))
    place.lease_clock.now += 2 * LEASE
    assert contents(other) == []


def test_a_handler_slower_than_the_lease_stops_before_the_next_message(place: Place) -> None:
    queue, other = filled(place, 4), place.queue()

    def handler(start: float, number: int) -> None:
        place.lease_clock.now += LEASE
        assert len(other) == 4

    batch = queue.take(INFINITY)
    with pytest.raises(LeaseLost, match="after 1 messages of the batch"):
        queue.process(batch, handler, INFINITY)
    assert contents(other) == [(float(number), number) for number in range(4)]


def test_a_clock_of_leases_that_goes_back_breaks_nothing(place: Place) -> None:
    queue = filled(place, 3)
    batch = queue.take(0.0)
    place.lease_clock.now -= 900.0
    second = queue.take(1.0)
    assert contents(queue) == [(2.0, 2)]
    assert queue.process(batch, lambda *_: None, INFINITY) == 1
    assert queue.requeue(second) == 1
    assert contents(queue) == [(1.0, 1), (2.0, 2)]


def test_what_a_handler_cancelled_in_its_batch_does_not_come_back_after_a_crash(place: Place) -> None:
    queue, other = filled(place, 5), place.queue()

    def handler(start: float, number: int) -> None:
        assert queue.cancel(2.0) == ((2.0, 2) if number == 0 else None)
        if number == 1:
            raise Failure

    batch = queue.take(3.0)
    with pytest.raises(Failure):
        queue.process(batch, handler, INFINITY)
    assert len(batch) == 2
    place.lease_clock.now += LEASE
    assert contents(other) == [(1.0, 1), (3.0, 3), (4.0, 4)]


def test_a_window_that_closes_confirms_what_was_dispatched(place: Place) -> None:
    queue, other = filled(place, 4), place.queue()

    def handler(start: float, number: int) -> None:
        if number == 2:
            raise StopDispatch

    assert queue.process(queue.take(INFINITY), handler, INFINITY) == 2
    place.lease_clock.now += LEASE
    assert contents(other) == [(2.0, 2), (3.0, 3)]


def test_a_batch_of_another_object_is_foreign_though_the_queue_has_the_same_name(place: Place) -> None:
    queue, other = filled(place, 2), place.queue()
    batch = queue.take(0.0)
    with pytest.raises(ValueError, match="another queue"):
        other.requeue(batch)
    assert queue.requeue(batch) == 1
    assert contents(other) == [(0.0, 0), (1.0, 1)]


def test_queues_of_different_names_do_not_meet(place: Place) -> None:
    queue = filled(place, 2)
    other = place.queue(name=f"{place.label} other")
    other.enqueue(0.0, "mine")
    assert (contents(other), len(queue)) == ([(0.0, "mine")], 2)
    assert drained(other) == [(0.0, "mine")]


def test_a_closed_queue_says_so(place: Place) -> None:
    queue = place.queue()
    queue.close()
    queue.close()
    for call in (lambda: queue.enqueue(1.0), lambda: queue.take(1.0), lambda: len(queue)):
        with pytest.raises(ValueError, match="the queue is closed"):
            call()


def test_a_private_queue_leaves_nothing_behind_when_it_is_dropped(place: Place) -> None:
    queue = place.subject()
    queue.enqueue_many([(1.0, number) for number in range(10)])
    batch = queue.take(1.0, limit=3)
    store = queue._store
    if place.name == "sqlite":
        folder = Path(store.private)
        assert [path.name for path in folder.glob("*.db")] == ["queue.db"]
    del queue
    gc.collect()
    assert batch.queue is None
    if place.name == "sqlite":
        assert not folder.exists()
    elif place.name == "redis":
        assert place.queue()._store.redis.exists(*store.keys) == 0
    else:
        for table, column in (("timer_message", "queue"), ("timer_lease", "queue"), ("timer_queue", "id")):
            found = place.queue()._store._read(f"SELECT 1 FROM {table} WHERE {column} = %s", store.queue)
            assert found == []


# SQLite: locks, full disks, other files


def test_a_lock_of_another_connection_is_waited_out(sqlite: Place) -> None:
    holder = filled(sqlite, 3)._store.file.connection
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) % 20 == 0:
            holder.execute("COMMIT")

    queue = sqlite.queue(sleep=pause)
    for call in (lambda: queue.enqueue(1.5, "late"), lambda: drained(queue, 1.0)):
        holder.execute("BEGIN IMMEDIATE")
        call()
        assert not holder.in_transaction
    assert len(pauses) == 40
    assert contents(queue) == [(1.5, "late"), (2.0, 2)]


def test_a_lock_beyond_the_limit_is_a_timeout_and_nothing_changes(sqlite: Place) -> None:
    holder = filled(sqlite, 3)._store.file.connection
    pauses: list[float] = []
    queue = sqlite.queue(busy=2.0, sleep=pauses.append)
    batch = queue.take(0.0)
    holder.execute("BEGIN IMMEDIATE")
    calls: list[Callable[[], Any]] = [
        lambda: queue.enqueue(1.5, "late"),
        lambda: queue.take(1.0),
        lambda: queue.requeue(batch),
        lambda: queue.cancel(1.0),
    ]
    for call in calls:
        del pauses[:]
        with pytest.raises(TimeoutError, match="locked by another connection for 2 s"):
            call()
        assert 2.0 <= sum(pauses) < 2.1
    assert list(queue.contents()) == [(1.0, 1), (2.0, 2)]  # reading waits for nobody
    holder.execute("ROLLBACK")
    assert queue.requeue(batch) == 1
    assert contents(queue) == [(0.0, 0), (1.0, 1), (2.0, 2)]


def test_a_full_disk_leaves_the_queue_as_it_was(sqlite: Place) -> None:
    queue = filled(sqlite, 50)
    connection = queue._store.file.connection
    ((pages,),) = connection.execute("PRAGMA page_count")
    connection.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(OSError, match="no room to write") as full:
        queue.enqueue_many([(1e6 + number, "x" * 500) for number in range(200)])
    assert full.value.errno == errno.ENOSPC
    for _ in range(3):
        with pytest.raises(OSError, match="no room to write"):
            queue.enqueue(0.5, "x" * 20_000)
    assert contents(queue) == [(float(number), number) for number in range(50)]
    connection.execute("PRAGMA max_page_count=1000000")
    queue.enqueue(0.5, "room again")
    assert drained(queue, 1.0) == [(0.0, 0), (0.5, "room again"), (1.0, 1)]


def test_a_limit_on_the_size_of_files_loses_nothing_that_was_acknowledged(sqlite: Place) -> None:
    script = (
        "import resource\n"
        "queue = make()\n"
        "queue.enqueue(-1.0, 'first')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "done = 0\n"
        "try:\n"
        "    while True:\n"
        "        queue.enqueue(float(done), 'x' * 2_000)\n"
        "        done += 1\n"
        "except OSError as error:\n"
        "    say(done, type(error).__name__)\n"
    )
    child = sqlite.process(script)
    done, kind = said(child).split()
    child.communicate()
    assert (child.returncode, kind) == (0, "OSError")
    assert int(done) > 10
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300_000
    assert [start for start, _ in contents(sqlite.queue())] == [-1.0, *map(float, range(int(done)))]


def test_a_file_that_is_no_database_and_a_folder_that_is_not_there_are_told(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are no messages " * 100)
    with pytest.raises(ValueError, match="no sound SQLite database"):
        load("timer", "sqlite")(database=other)
    with pytest.raises(OSError, match="expected a file in a folder that exists"):
        load("timer", "sqlite")(database=tmp_path / "missing" / "queue.db")
    for name in ("", "queue\0.db"):
        with pytest.raises(ValueError, match="expected the name of a file"):
            load("timer", "sqlite")(database=name)
    assert other.read_text().startswith("these are no messages")


def test_a_forked_process_leaves_the_private_file_to_the_one_that_made_it() -> None:
    code = """
import os, sys
from queues.timer.sqlite import SQLite
queue = SQLite()
if child := os.fork():
    os.waitpid(child, 0)
    print(os.path.exists(queue._store.file.path))
    queue.close()
    print(os.path.exists(queue._store.private))
else:
    sys.exit()
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.split() == ["True", "False"]


def test_a_database_of_another_version_is_refused(sqlite: Place) -> None:
    sqlite.queue()._store.file.connection.execute("PRAGMA user_version=7")
    with pytest.raises(ValueError, match="has version 7: expected 1"):
        sqlite.queue()
    sqlite.made[0]._store.file.connection.execute("PRAGMA user_version=1")


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("CREATE TABLE timer_message (x)", "timer_message"),
        ("CREATE TABLE timer_message (queue, low, rest, position, line)", "timer_message"),
        ("CREATE TABLE timer_lease (id, queue, until)", "timer_lease"),
        ("CREATE TABLE a (x); CREATE VIEW timer_held AS SELECT x FROM a", "timer_held"),
        ("CREATE TABLE a (x); CREATE INDEX timer_queue ON a (x)", "timer_queue"),
        ("CREATE TABLE a (x); PRAGMA user_version=1", "timer_queue"),
    ],
)
def test_a_database_of_another_program_is_refused_and_stays_as_it_was(script: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        before = list(connection.iterdump())
    with pytest.raises(ValueError, match=f"the database has '{name}' otherwise than a timer queue has it"):
        load("timer", "sqlite")(database=path)
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize(("name", "level"), [("sqlite", "normal"), ("sqlite-full", "full")])
def test_the_settings_that_decide_what_a_write_costs_are_told(name: str, level: str) -> None:
    with load("timer", name)() as queue:
        facts = queue.facts
    assert (facts["engine"], facts["journal_mode"], facts["synchronous"]) == ("sqlite", "wal", level)
    assert facts["version"].startswith("3.")
    with pytest.raises(ValueError, match="synchronous is 'SOMETIMES': expected one of OFF, NORMAL"):
        load("timer", name)(synchronous="SOMETIMES")


# Servers


def test_rows_locked_in_postgresql_are_waited_for_up_to_the_limit(tmp_path: Path) -> None:
    place = Place("postgres", tmp_path, f"locked {tmp_path.name}")
    queue, holder = filled(place, 3), place.queue()._store.connection
    impatient = place.queue(busy=0.05)
    with holder.transaction():
        holder.execute("LOCK TABLE timer_lease IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(TimeoutError, match=r"locked by another connection for 0.05 s"):
            impatient.take(1.0)
        patient = threading.Thread(target=lambda: seen.extend(drained(queue, 1.0)))
        seen: list[Any] = []
        patient.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'timer_lease'::regclass"
        while holder.execute(waiting).fetchone() == (0,):
            pass
    patient.join()
    assert seen == [(0.0, 0), (1.0, 1)]
    assert contents(impatient) == [(2.0, 2)]
    place.close()


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_server_that_is_killed_and_comes_back_has_every_message_that_was_acknowledged(name: str) -> None:
    target = DURABLE["timer"][name]
    need(ENGINE_OF[target])
    with started(ENGINE_OF[target]) as own:
        settings: dict[str, Any] = {"url": own.url, "name": "kept", "lease": LEASE, "lease_clock": lambda: 1000.0}
        queue = load("timer", name)(**settings)
        queue.enqueue_many([(float(number), number) for number in range(5)])
        batch = queue.take(1.0)
        own.kill()
        with pytest.raises(ConnectionError, match="is gone") as gone:
            queue.enqueue(9.0, "never")
        assert own.url not in str(gone.value)
        queue.close()
        own.restart()
        with load("timer", name)(**{**settings, "lease_clock": lambda: 1000.0 + LEASE}) as again:
            assert contents(again) == [(float(number), number) for number in range(5)]
        assert len(batch) == 2


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_server_that_is_not_there_is_told_without_its_address(name: str, tmp_path: Path) -> None:
    url = {
        "postgres": f"postgresql://someone:secret@/nowhere?host={tmp_path}",
        "redis": f"unix://default:secret@{tmp_path}/none.sock?db=0",
    }[name]
    with pytest.raises(ConnectionError) as error:
        load("timer", name)(url=url)
    assert "secret" not in str(error.value)
    assert str(tmp_path) not in str(error.value)


def test_a_redis_without_memory_leaves_the_queue_as_it_was() -> None:
    """`maxmemory` and the policy `noeviction`, which is the default: what would need more is refused."""
    need("redis")
    with started("redis", durable=False) as own, load("timer", "redis")(url=own.url) as queue:
        queue.enqueue_many([(float(number), number) for number in range(50)])
        batch = queue.take(0.0)
        redis = queue._store.redis
        redis.config_set("maxmemory", redis.info("memory")["used_memory"])
        calls: list[Callable[[], Any]] = [
            lambda: queue.enqueue(0.5, "x" * 20_000),
            lambda: queue.enqueue_many([(1e6 + number, "x" * 500) for number in range(200)]),
            lambda: queue.requeue(batch),
        ]
        for call in calls:
            with pytest.raises(OSError, match="has no memory left; the queue is as it was") as full:
                call()
            assert full.value.errno == errno.ENOSPC
        assert contents(queue) == [(float(number), number) for number in range(1, 50)]
        redis.config_set("maxmemory", 0)
        assert queue.requeue(batch) == 1
        assert drained(queue, 1.0) == [(0.0, 0), (1.0, 1)]


def acknowledged(queue: Any) -> tuple[int, OSError]:
    """Put in messages until there is no room; how many were, and what was said then."""
    done = 0
    try:
        while done < 1_000:
            queue.enqueue(float(done), "x" * 50_000)
            done += 1
    except OSError as error:
        return done, error
    raise AssertionError("the store took more than it has room for")


def test_a_redis_whose_log_may_not_grow_loses_nothing_that_was_acknowledged() -> None:
    """With appendfsync always it ends rather than acknowledge what it cannot keep; it comes back with all of it."""
    need("redis")
    with started("redis", limits={"RLIMIT_FSIZE": 1 << 20}) as own:
        queue = load("timer", "redis")(url=own.url, name="kept")
        done, error = acknowledged(queue)
        assert (type(error), done > 10) == (ConnectionError, True)
        queue.close()
        own.kill()
        own.restart()
        with load("timer", "redis")(url=own.url, name="kept") as again:
            assert [start for start, _ in contents(again)] == list(map(float, range(done)))


def test_a_postgresql_whose_files_may_not_grow_leaves_the_queue_as_it_was() -> None:
    """Its log of 16 MiB a file may be written, its tables may not grow beyond."""
    need("postgresql")
    with (
        started("postgresql", durable=False, limits={"RLIMIT_FSIZE": 17 << 20}) as own,
        load("timer", "postgres-async")(url=own.url) as queue,
    ):
        queue.enqueue_many([(float(number), number) for number in range(5)])
        with pytest.raises(OSError, match="has no room to write; the queue is as it was") as full:
            queue.enqueue_many([(10.0, "x" * 1_500)] * 15_000)
        assert full.value.errno == errno.ENOSPC
        assert contents(queue) == [(float(number), number) for number in range(5)]
        queue.enqueue(0.5, "room again")
        assert drained(queue, 1.0) == [(0.0, 0), (0.5, "room again"), (1.0, 1)]
