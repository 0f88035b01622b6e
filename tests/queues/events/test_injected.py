"""Faults that are put in: locks that are held, crashes half-way, a server that is killed, a disk that is full."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from queues.events.rules import SUCCEEDED, Busy, EventsError, StorageFull, Unavailable
from queues.events.sqlite import Sqlite
from queues.registry import load
from runners.servers import started
from tests.engines import need
from tests.queues.events.subjects import both, class_of, each_engine, opened


@contextlib.contextmanager
def locked(queue: Any) -> Iterator[None]:
    """Hold what a claim on the queue needs, from another connection."""
    if queue.engine == "sqlite":
        with queue.transaction():
            yield
        return
    with queue.transaction():
        queue._run("SELECT * FROM subscriptions FOR UPDATE", {})
        queue._run("UPDATE work SET token = token", {})
        yield


@each_engine
def test_d09_a_lock_that_is_let_go_in_time_is_waited_for(engine: str) -> None:
    with both(engine, busy_seconds=30.0) as (queue, holder):
        queue.record("job1", "x", SUCCEEDED, 1)
        claim = queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0)
        asks = threading.Event()

        def complete() -> int:
            with type(queue)(**queue.place, busy_seconds=30.0) as own:
                asks.set()
                return int(own.complete(claim, SUCCEEDED))

        with ThreadPoolExecutor(1) as threads:
            with locked(holder):
                done = threads.submit(complete)
                assert asks.wait(30) or engine == "sqlite"
                assert not done.done()
            assert done.result(60) > 0
        assert queue.pending("job1", "job2") == []


@each_engine
def test_d09_a_lock_that_is_held_beyond_the_limit_is_told_as_busy_and_nothing_is_lost(engine: str) -> None:
    seconds = 0.05 if engine != "mariadb" else 1.0  # whole seconds there
    with both(engine, busy_seconds=seconds) as (queue, holder):
        queue.record("job1", "x", SUCCEEDED, 1)
        claim = queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0)
        with locked(holder), pytest.raises(Busy, match=r"others held what was needed for .* s; try again$"):
            queue.complete(claim, SUCCEEDED)
        queue.complete(claim, SUCCEEDED)
        assert queue.pending("job1", "job2") == []


def test_d09_a_lock_in_a_file_is_asked_for_again_and_again_so_that_one_of_many_writers_does_not_starve() -> None:
    """The engine's own waiting pauses up to 100 ms between two looks: with 16 writers one was unlucky for over 5 s."""
    with both("sqlite", busy_seconds=0.3) as (queue, holder):
        before = queue.retried
        with locked(holder), pytest.raises(Busy):
            queue.record("job1", "x", SUCCEEDED, 1)
        assert queue.retried - before > 10


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_claim_passes_over_what_another_is_claiming(engine: str) -> None:
    """With SKIP LOCKED a claim waits for no other; SQLite's writers take turns."""
    with both(engine, busy_seconds=1.0) as (queue, other):
        queue.record_many([("job1", "x", SUCCEEDED, 1), ("job1", "y", SUCCEEDED, 2)])
        queue.claim("job1", "job2", worker="w", lease_us=1, now_us=0)
        other.claim("job1", "job2", worker="w", lease_us=1, now_us=10)
        with other.transaction():
            assert other.claim("job1", "job2", worker="w", lease_us=1, now_us=20).event.task == "x"
            assert queue.claim("job1", "job2", worker="w", lease_us=1, now_us=20).event.task == "y"


@each_engine
def test_d20_a_crash_between_the_two_halves_of_a_completion_leaves_the_event_as_it_was(engine: str) -> None:
    with opened(engine) as queue:
        queue.record("job1", "x", SUCCEEDED, 1)
        claim = queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0)
        insert = queue._insert

        def crash(parameters: dict[str, Any]) -> tuple[int, bool]:
            raise MemoryError

        queue._insert = crash
        with pytest.raises(MemoryError):
            queue.complete(claim, SUCCEEDED)
        queue._insert = insert
        assert [event.task for event in queue.pending("job1", "job2")] == ["x"]
        queue.complete(claim, SUCCEEDED)
        assert queue.pending("job1", "job2") == []
        assert len(queue.pending("job2", "job3")) == 1


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_what_was_committed_outlives_kill_9_of_the_server(engine: str) -> None:
    need(engine)
    with started(engine) as server:
        os.environ.update(class_environment := server.environment())
        assert class_environment
        with load("events", engine)(server.url) as queue:
            queue.record_many(("job1", str(number), SUCCEEDED, number) for number in range(20))
            claim = queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0)
            queue.complete(claim, SUCCEEDED)
            held = queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0)
            server.kill()
            with pytest.raises(Unavailable, match="the server does not answer"):
                queue.record("job1", "lost", SUCCEEDED, 99)
            server.restart()
            assert [event.task for event in queue.pending("job1", "job2")] == [str(number) for number in range(1, 20)]
            queue.complete(held, SUCCEEDED)
            assert queue.claim("job1", "job2", worker="w", lease_us=100, now_us=0).event.task == "2"


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_transaction_that_loses_its_server_is_undone_and_says_so(engine: str) -> None:
    need(engine)
    with started(engine, durable=False) as server, load("events", engine)(server.url) as queue:
        with pytest.raises(Unavailable), queue.transaction():  # noqa: PT012
            queue.record("job1", "x", SUCCEEDED, 1)
            server.kill()
            with contextlib.suppress(Unavailable):
                queue.record("job1", "y", SUCCEEDED, 2)
            for number in range(3, 10_000):  # a backend may answer for a moment after its server is gone
                queue.record("job1", f"z{number}", SUCCEEDED, number)
        server.restart()
        assert queue.pending("job1", "job2") == []


def test_a_file_that_may_not_grow_is_told_as_full_and_nothing_is_half_done(tmp_path: Path) -> None:
    with Sqlite(tmp_path / "events.db", durable=False, max_pages=40) as queue:
        written = 0
        with pytest.raises(StorageFull, match="there is no room for more; nothing was changed"):  # noqa: PT012
            while True:
                queue.record("job1", f"{written:>0190}", SUCCEEDED, written)
                written += 1
        assert written > 100
        assert len(queue.pending("job1", "job2")) == written
        with pytest.raises(StorageFull):
            queue.record_many(("job1", f"more {number:>0100}", SUCCEEDED, number) for number in range(500))
        assert len(queue.pending("job1", "job2")) == written
    with Sqlite(tmp_path / "events.db", durable=False) as queue:
        queue.record("job1", "there is room again", SUCCEEDED, written)
        assert len(queue.pending("job1", "job2")) == written + 1


def test_a_postgresql_whose_files_may_not_grow_says_so_and_nothing_is_half_done() -> None:
    """Its log of 16 MiB a file may be written, its tables may not grow beyond."""
    need("postgresql")
    many = """
        INSERT INTO events (job, task, result, at_us)
        SELECT 'job0', repeat('x', 190), 'FAILED', g FROM generate_series(1, CAST(:rows AS bigint)) g"""
    with (
        started("postgresql", durable=False, limits={"RLIMIT_FSIZE": 17 << 20}) as server,
        load("events", "postgresql-relaxed")(server.url, indexed=False) as queue,
    ):
        queue.record("job1", "x", SUCCEEDED, 1)
        with pytest.raises(StorageFull, match="there is no room for more"):
            queue._write(lambda: queue._run(many, {"rows": 200_000}))
        assert [event.task for event in queue.pending("job1", "job2")] == ["x"]
        assert queue._run("SELECT count(*) FROM events", {})[0] == [(1,)]


def test_a_mariadb_whose_files_may_not_grow_says_so_and_nothing_is_half_done() -> None:
    """Its log of 96 MiB may be written, its tables may not grow beyond."""
    need("mariadb")
    many = """
        INSERT INTO events (job, task, result, at_us)
        SELECT REPEAT('💽', 100), REPEAT('💽', 200), 'FAILED', seq FROM seq_1_to_200000"""
    with (
        started("mariadb", durable=False, limits={"RLIMIT_FSIZE": 97 << 20}) as server,
        load("events", "mariadb-relaxed")(server.url, indexed=False) as queue,
    ):
        queue.record("job1", "x", SUCCEEDED, 1)
        with pytest.raises(StorageFull, match="there is no room for more"):
            queue._write(lambda: queue._run(many, {}))
        assert [event.task for event in queue.pending("job1", "job2")] == ["x"]
        assert queue._run("SELECT count(*) FROM events", {})[0] == [(1,)]
        queue._run("TRUNCATE TABLE events", {})
        queue.record("job1", "there is room again", SUCCEEDED, 2)
        assert [event.task for event in queue.pending("job1", "job2")] == ["there is room again"]


def test_a_closed_queue_says_so() -> None:
    queue = class_of("sqlite")()
    queue.close()
    queue.close()
    for call in (lambda: queue.pending("a", "b"), queue.facts):
        with pytest.raises(EventsError, match="the queue is closed"):
            call()


def test_a_file_that_cannot_be_one_of_events_is_one_sentence(tmp_path: Path) -> None:
    missing, text, other = tmp_path / "missing" / "events.db", tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("these are no events " * 100)
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE events (weather TEXT)")
    for path, said in ((missing, "cannot be opened"), (text, "is no database"), (other, "has a table 'events'")):
        with pytest.raises(EventsError, match=said) as refused:
            Sqlite(path)
        assert path.name in str(refused.value)
    for name in ("", "events\0.db"):
        with pytest.raises(ValueError, match="expected the name of a file"):
            Sqlite(name)
    assert text.read_text().startswith("these are no events")


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), True, "5"], ids=str)
def test_a_limit_of_waiting_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="busy_seconds is"):
        Sqlite(busy_seconds=seconds)


def test_a_forked_process_leaves_the_private_file_to_the_one_that_made_it() -> None:
    with Sqlite() as queue:
        queue._owner = os.getppid()  # as a fork of that process finds it
        queue.close()
        assert Path(queue.path).exists()
    shutil.rmtree(Path(queue.path).parent)


def test_transactions_do_not_nest() -> None:
    with opened("sqlite") as queue, queue.transaction():
        with pytest.raises(RuntimeError, match="they do not nest"), queue.transaction():
            pass
        queue.record("a", "x", SUCCEEDED)


def test_a_private_file_goes_with_its_queue() -> None:
    queue = class_of("sqlite")()
    folder = Path(queue.path).parent
    assert folder.is_dir()
    queue.close()
    assert not folder.exists()


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_private_place_on_a_server_goes_with_its_queue_and_a_named_one_stays(engine: str) -> None:
    kept_class = class_of(engine)
    with kept_class(name="lab_kept_events") as queue:
        queue.record("job1", "x", SUCCEEDED, 1)
        with opened(engine) as private:
            name = private.name
            assert name in places(queue)
        assert name not in places(queue)
    with kept_class(name="lab_kept_events") as queue:
        assert [event.task for event in queue.pending("job1", "job2")] == ["x"]
        drop = "DROP SCHEMA lab_kept_events CASCADE" if engine == "postgresql" else "DROP DATABASE lab_kept_events"
        queue._run(drop, {})


def places(queue: Any) -> list[str]:
    text = "SELECT schema_name FROM information_schema.schemata"
    return [row[0] for row in queue._run(text, {})[0]]


@pytest.mark.parametrize("name", ["", "Events", "a b", "x" * 64, "a;drop", "1a"])
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_name_that_would_need_quoting_is_refused(engine: str, name: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 63 of a-z"):
        class_of(engine)(name=name)
