"""Faults that real pipelines had (known-faults.md, D), each as a test whose name says the rule, on every engine.

D08, D16, D18 and D21 with processes stand in test_crews.py, D09 and D20 in test_injected.py.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from queues.events.cursor import Cursor
from queues.events.mariadb import require_skip_locked
from queues.events.rules import FAILED, FORMS, SUCCEEDED, EventsError
from queues.events.statements import NEXT, percent
from runners.events_rows import BY, OF, fill
from tests.queues.events.subjects import both, each_engine, opened


def tasks(events: list[Any]) -> list[str]:
    return [event.task for event in events]


@each_engine
def test_d01_no_column_can_be_null_so_not_in_has_no_third_answer(engine: str) -> None:
    with opened(engine) as queue:
        queue.record("job1", "x", SUCCEEDED, 1)
        for column in ("job", "task", "result", "at_us"):
            row: dict[str, Any] = {"job": "job2", "task": "y", "result": SUCCEEDED, "at_us": 2, column: None}
            text = "INSERT INTO events (job, task, result, at_us) VALUES (:job, :task, :result, :at_us)"
            with pytest.raises(Exception, match=r"(?i)null"):
                queue._run(text, row)
        for form in FORMS:
            assert tasks(queue.pending("job1", "job2", form=form)) == ["x"]


def test_d02_work_mem_changes_the_plan_of_not_in_and_no_answer() -> None:
    rows = 50_000
    with opened("postgresql", indexed=False) as queue:
        fill(queue, rows, 5)
        plans = {}
        for work_mem in ("64kB", "4MB"):
            queue._run("SELECT set_config('work_mem', :work_mem, false)", {"work_mem": work_mem})
            plans[work_mem] = queue.plan(OF, BY, form="not-in")
            forms = FORMS if work_mem == "4MB" else ("not-exists", "left-join", "except")
            answers = {form: tasks(queue.pending(OF, BY, form=form)) for form in forms}
            assert set(map(tuple, answers.values())) == {tuple(f"new {number}" for number in range(5))}
        assert "hashed SubPlan" in plans["4MB"]
        assert "hashed SubPlan" not in plans["64kB"], "the subquery is read again for every row"
        assert "SubPlan" in plans["64kB"]


@each_engine
def test_d04_an_event_that_is_committed_late_is_delivered(engine: str) -> None:
    with both(engine) as (early, late):
        cursor = Cursor(overlap_us=100)
        if engine == "sqlite":  # writers take turns there: the first is written after the second, with the earlier date
            late.record("job1", "second", SUCCEEDED, 1_050)
            assert tasks(late.pending("job1", "job2", since_us=cursor.since_us)) == ["second"]
            cursor.move(late.pending("job1", "job2", since_us=cursor.since_us), now_us=1_060)
            early.record("job1", "first", SUCCEEDED, 1_000)
        else:
            with early.transaction():
                early.record("job1", "first", SUCCEEDED, 1_000)
                late.record("job1", "second", SUCCEEDED, 1_050)
                assert tasks(late.pending("job1", "job2", since_us=cursor.since_us)) == ["second"]
                cursor.move(late.pending("job1", "job2", since_us=cursor.since_us), now_us=1_060)
        assert cursor.since_us == 950
        for form in FORMS:
            assert tasks(late.pending("job1", "job2", form=form, since_us=cursor.since_us)) == ["first", "second"]


@each_engine
def test_d04_an_event_that_is_committed_late_is_claimed(engine: str) -> None:
    with both(engine) as (early, late):
        late.record("job1", "second", SUCCEEDED, 1_050)
        late.claim("job1", "job2", worker="w", lease_us=10, now_us=0)
        with early.transaction():
            early.record("job1", "first", SUCCEEDED, 1_000)
            if engine != "sqlite":
                assert late.claim("job1", "job2", worker="w", lease_us=10, now_us=0) is None
        assert late.claim("job1", "job2", worker="w", lease_us=10, now_us=0).event.task == "first"


@each_engine
def test_d04_a_job_that_begins_to_claim_while_an_event_is_being_written_gets_it(engine: str) -> None:
    """The first claim waits for what is written and not committed, or finds that its writer hands it on."""
    with opened(engine) as writer:
        asks = threading.Event()

        def first_claim() -> Any:
            with type(writer)(**writer.place) as claimer:
                asks.set()
                return claimer.claim("job1", "job2", worker="w", lease_us=10, now_us=0)

        with ThreadPoolExecutor(1) as threads:
            with writer.transaction():
                writer.record("job1", "x", SUCCEEDED, 1)
                claim = threads.submit(first_claim)
                assert asks.wait(30)
            assert claim.result(30).event.task == "x"


@each_engine
def test_d05_events_of_one_instant_come_in_order_and_none_is_lost_at_a_bound(engine: str) -> None:
    with opened(engine, clock=lambda: 7_000_000) as queue:
        for task in "abc":
            queue.record("job1", task, SUCCEEDED)
        cursor = Cursor(overlap_us=0)
        for left in ("abc", "bc", "c"):
            found = queue.pending("job1", "job2", since_us=cursor.since_us)
            assert tasks(found) == list(left)
            queue.finish(found[0], "job2", SUCCEEDED)
            cursor.move(queue.pending("job1", "job2", since_us=cursor.since_us), now_us=7_000_000)
            assert cursor.since_us == 7_000_000
        assert queue.pending("job1", "job2", since_us=cursor.since_us) == []


@each_engine
def test_d07_a_fraction_of_a_second_is_kept_and_never_moves_into_the_future(engine: str) -> None:
    now_us = 59_999_999  # 59.999999 s; a column of whole seconds would say 60
    with opened(engine, clock=lambda: now_us) as queue:
        queue.record("job1", "x", SUCCEEDED)
        (event,) = queue.pending("job1", "job2", since_us=now_us)
        assert event.at_us == now_us
        assert queue.claim("job1", "job2", worker="w", lease_us=1, now_us=now_us).event == event


@each_engine
def test_d12_events_of_one_transaction_come_in_the_order_of_their_ids(engine: str) -> None:
    with opened(engine, clock=lambda: 5) as queue:
        with queue.transaction():
            ids = [queue.record("job1", task, SUCCEEDED) for task in "edcba"]
        assert ids == sorted(ids)
        for form in FORMS:
            found = queue.pending("job1", "job2", form=form)
            assert [event.id for event in found] == ids
        claimed = [queue.claim("job1", "job2", worker="w", lease_us=9, now_us=0).event.id for _ in ids]
        assert claimed == ids


@pytest.mark.parametrize("version", ["10.5.23-MariaDB-0+deb11u1", "5.5.5-10.4.1-MariaDB", "10.3.39-MariaDB"])
def test_d14_a_server_without_skip_locked_is_named_and_not_read_as_empty(version: str) -> None:
    with pytest.raises(EventsError, match=r"has no SKIP LOCKED, .*: expected MariaDB 10.6 or newer"):
        require_skip_locked(version)


def test_d14_a_server_that_is_no_mariadb_is_named() -> None:
    with pytest.raises(EventsError, match="is no MariaDB"):
        require_skip_locked("8.0.36")
    require_skip_locked("5.5.5-10.11.6-MariaDB")
    require_skip_locked("11.4.2-MariaDB")


def test_d17_claims_go_on_under_a_held_snapshot_and_the_dead_rows_can_be_told() -> None:
    with both("postgresql") as (queue, holder):
        queue.record_many(("job1", str(number), SUCCEEDED, number) for number in range(50))
        with holder.transaction():
            holder._run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", {})
            assert len(holder.pending("job1", "job2")) == 50  # the snapshot is taken
            done = 0
            while claim := queue.claim("job1", "job2", worker="w", lease_us=10, now_us=0):
                queue.complete(claim, SUCCEEDED)
                done += 1
            assert done == 50
            queue._run("VACUUM work", {})
            assert dead_rows(queue) >= 50, "what the snapshot can still see stays"
            assert len(holder.pending("job1", "job2")) == 50
        queue._run("VACUUM work", {})
        assert dead_rows(queue) == 0


def dead_rows(queue: Any) -> int:
    """Versions of rows of the table `work` that take room: the pages are read, the statistics lag behind."""
    text = "SELECT n_dead_tup FROM pg_stat_all_tables WHERE relid = 'work'::regclass"
    queue._run("SELECT pg_stat_force_next_flush()", {})
    return int(queue._connection.execute(text).fetchone()[0])


@each_engine
def test_d19_a_claim_looks_at_no_finished_event(engine: str) -> None:
    """What a claim reads is the table of work, in the order of its index, and there is nothing finished in it."""
    with opened(engine, indexed=False) as queue:
        fill(queue, 20_000, 10)
        done = queue.claim(OF, BY, worker="w", lease_us=10, now_us=0)
        queue.complete(done, SUCCEEDED)
        ((left,),) = queue._run("SELECT count(*) FROM work", {})[0]
        assert left == 9
        plan = explained(queue)
        assert "work_next" in plan
        assert "events" not in plan


def explained(queue: Any) -> str:
    parameters = {"by": BY, "of": OF, "now_us": 0}
    if queue.engine == "postgresql":
        queue._run("SET enable_seqscan = off", {})  # nine rows are one page: the plan of many is asked for
        queue._run("SET enable_bitmapscan = off", {})
        queue._run("SET enable_sort = off", {})
        return " ".join(row[0] for row in queue._connection.execute(f"EXPLAIN {percent(NEXT)}", parameters))
    return str(queue._explain(NEXT, parameters))


@each_engine
def test_d22_failed_then_succeeded_counts_once_and_a_failure_of_the_next_job_leaves_it_pending(engine: str) -> None:
    with opened(engine) as queue:
        queue.record("job1", "x", FAILED, 1)
        assert queue.pending("job1", "job2") == []
        first = queue.record("job1", "x", SUCCEEDED, 2)
        assert queue.record("job1", "x", SUCCEEDED, 3) == first
        queue.record("job1", "x", FAILED, 4)
        for form in FORMS:
            assert [event.id for event in queue.pending("job1", "job2", form=form)] == [first]
        queue.complete(queue.claim("job1", "job2", worker="w", lease_us=9), FAILED)
        for form in FORMS:
            assert [event.id for event in queue.pending("job1", "job2", form=form)] == [first]
        queue.complete(queue.claim("job1", "job2", worker="w", lease_us=9), SUCCEEDED)
        assert queue.pending("job1", "job2") == []
        assert queue.claim("job1", "job2", worker="w", lease_us=9) is None


@each_engine
def test_ids_beyond_what_a_double_holds_come_back_as_they_are(engine: str) -> None:
    with opened(engine) as queue:
        huge = 2**62 + 1
        text = "INSERT INTO events (id, job, task, result, at_us) VALUES (:id, 'job1', 'x', 'SUCCEEDED', 5)"
        queue._run(text, {"id": huge})
        (event,) = queue.pending("job1", "job2")
        assert event.id == huge
        claim = queue.claim("job1", "job2", worker="w", lease_us=9, now_us=0)
        assert claim.event.id == huge
        queue.complete(claim, SUCCEEDED)
        assert queue.pending("job1", "job2") == []
