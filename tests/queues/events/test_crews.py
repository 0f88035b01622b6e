"""Many processes on one queue: each event once, whatever happens to them (known-faults.md: D08, D16, D18, D21)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from queues.events.rules import SUCCEEDED, StaleClaim
from runners import events_race, events_storm
from runners.events_crew import Crew
from tests.queues.events.subjects import RELAXED, class_of, each_engine, opened, target_of
from tests.runners.processes import ended

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[3]
ORDER = {"do": "work", "of": "job1", "by": "job2"}
MINUTE_US = 60_000_000


def crew(engine: str, queue: Any, workers: int) -> Crew:
    return Crew(target_of(engine), queue.place, workers, path=sys.path)


def fill(queue: Any, events: int) -> None:
    queue.record_many(("job1", f"task {number}", SUCCEEDED, number) for number in range(events))


@each_engine
def test_d08_four_processes_take_each_event_once(engine: str) -> None:
    with opened(engine) as queue:
        fill(queue, 120)
        with crew(engine, queue, 4) as workers:
            answers = workers.run(**ORDER, lease_us=MINUTE_US)
        done = Counter(task for answer in answers for task in answer["tasks"])
        assert done == {f"task {number}": 1 for number in range(120)}
        assert queue.pending("job1", "job2") == []
        assert len(queue.pending("job2", "job3")) == 120


@each_engine
def test_d16_writers_and_claimers_at_once_lose_nothing_to_deadlocks(engine: str) -> None:
    with opened(engine) as queue:
        with crew(engine, queue, 6) as workers:
            writers, claimers = workers.processes[:3], workers.processes[3:]
            for process in writers:
                workers.tell(process, {"do": "record", "of": "job1", "count": 40})
            answers: list[dict[str, Any]] = []
            for process in writers:
                workers.tell(claimers[len(answers)], {**ORDER, "lease_us": MINUTE_US})
                answers.append(workers.hear(process))
            early = [task for process in claimers for task in workers.hear(process)["tasks"]]
            rest = [task for answer in workers.run(**ORDER, lease_us=MINUTE_US) for task in answer["tasks"]]
        recorded = Counter(task for answer in answers for task in answer["tasks"])
        assert len(recorded) == 120
        assert Counter([*early, *rest]) == recorded
        assert queue.pending("job1", "job2") == []


@each_engine
def test_d18_what_a_killed_worker_held_is_claimed_when_its_lease_is_over_and_not_before(engine: str) -> None:
    with opened(engine) as queue:
        fill(queue, 1)
        with crew(engine, queue, 1) as workers:
            (process,) = workers.processes
            workers.tell(process, {**ORDER, "lease_us": MINUTE_US, "hold": True})
            assert workers.hear(process) == {"held": "task 0"}
            process.kill()
            process.wait()
        now_us = queue.clock()
        assert queue.claim("job1", "job2", worker="next", lease_us=10, now_us=now_us) is None
        claim = queue.claim("job1", "job2", worker="next", lease_us=10, now_us=now_us + MINUTE_US)
        assert (claim.event.task, claim.token) == ("task 0", 2)
        queue.complete(claim, SUCCEEDED)
        assert queue.pending("job1", "job2") == []


@each_engine
def test_d18_a_slow_worker_with_a_heartbeat_is_not_doubled_and_a_stale_one_is_refused(engine: str) -> None:
    with opened(engine) as queue:
        fill(queue, 1)
        claim = queue.claim("job1", "job2", worker="slow", lease_us=100, now_us=0)
        for now_us in range(50, 1_000, 50):
            queue.heartbeat(claim, now_us)
            assert queue.claim("job1", "job2", worker="other", lease_us=100, now_us=now_us + 40) is None
        other = queue.claim("job1", "job2", worker="other", lease_us=100, now_us=2_000)
        assert other.event == claim.event
        with pytest.raises(StaleClaim, match=r"claim of 'slow' on event .* no longer counts"):
            queue.complete(claim, SUCCEEDED)
        queue.complete(other, SUCCEEDED)
        assert len(queue.pending("job2", "job3")) == 1


@each_engine
def test_d21_only_what_a_process_completes_goes_whatever_another_completes_meanwhile(engine: str) -> None:
    with opened(engine) as queue:
        fill(queue, 2)
        with crew(engine, queue, 2) as workers:
            first, second = workers.processes
            for process, task in ((first, "task 0"), (second, "task 1")):
                workers.tell(process, {**ORDER, "lease_us": MINUTE_US, "hold": True, "until_none": True})
                assert workers.hear(process) == {"held": task}
            workers.tell(second, {})  # the later event is completed first
            assert workers.hear(second)["tasks"] == ["task 1"]
            assert [event.task for event in queue.pending("job1", "job2")] == ["task 0"]
            workers.tell(first, {})
            assert workers.hear(first)["tasks"] == ["task 0"]
        assert queue.pending("job1", "job2") == []


@each_engine
def test_each_event_is_processed_exactly_once_though_a_worker_is_killed(engine: str) -> None:
    class_of(engine)
    found = events_race.race(class_of(engine), RELAXED[engine], workers=3, events=60)
    assert (found["completed"], found["twice"], found["lost"]) == (60, 0, 0)
    assert found["by the killed, at least"] == 10


@each_engine
@pytest.mark.parametrize("snapshot", [False, True], ids=["", "snapshot"])
def test_d16_d17_the_totals_of_writers_and_claimers_are_exact_and_what_a_snapshot_keeps_is_told_apart(
    engine: str, snapshot: bool
) -> None:
    class_of(engine)
    found = events_storm.storm(RELAXED[engine], 0.4, writers=2, claimers=2, snapshot=snapshot)
    assert found.exact
    assert found.recorded > 0
    assert (found.twice, found.lost) == (0, 0)
    if engine == "mariadb":
        assert found.kept >= 0, "its undo log is tidied up in its own time"
    else:
        assert (found.kept > 0) == (snapshot and found.completed + found.recorded > 0)


def told(*tasks: str) -> list[dict[str, Any]]:
    return [{"tasks": list(tasks), "retried": 3}]


def test_a_total_that_is_not_exact_is_seen() -> None:
    with opened("sqlite") as queue:
        fill(queue, 3)
        claim = queue.claim("job1", "job2", worker="w", lease_us=MINUTE_US)
        queue.complete(claim, SUCCEEDED)
        every = told("task 0", "task 1", "task 2")
        right = events_storm.totals(queue, every, told("task 0"))
        assert (right.exact, right.completed, right.pending, right.retried) == (True, 1, 2, 6)
        wrongs = (told("task 0", "task 0"), told(), told("task 1"), told("task 0", "task 1"))
        for wrote, claimed in (*((every, wrong) for wrong in wrongs), (told("task 0", "task 1"), told("task 0"))):
            assert not events_storm.totals(queue, wrote, claimed).exact


def test_the_storm_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    order = ["--subject", "sqlite-relaxed", "--seconds", "0.2", "--writers", "2", "--claimers", "2", "--snapshot"]
    assert events_storm.main(order) == 0
    without, with_one = capsys.readouterr().out.splitlines()
    assert without.startswith("sqlite-relaxed, 2 + 2 processes for 0.2 s: totals exact: ")
    assert with_one.startswith("sqlite-relaxed, 2 + 2 processes for 0.2 s, a snapshot held: totals exact: ")
    assert "pages of its log that cannot be merged" in with_one


def test_the_race_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    code = events_race.main(["--subject", "sqlite-relaxed", "--runs", "1", "--workers", "2", "--events", "40"])
    assert code == 0
    said = capsys.readouterr().out
    assert said.startswith("sqlite-relaxed run 1: exactly once: 40 completed, 0 twice, 0 lost, 10 by the killed")


ABANDONED = """
import sys
from runners.events_crew import Crew
with Crew("queues.events.sqlite:SqliteRelaxed", {{"path": {path!r}}}, 2, path=sys.path) as crew:
    for process in crew.processes:
        crew.tell(process, {{"do": "work", "of": "job1", "by": "job2", "lease_us": 60_000_000}})
    print(*(process.pid for process in crew.processes), flush=True)
    sys.stdin.read()
"""


def test_a_crew_whose_owner_is_killed_ends_though_it_waits_for_what_another_holds(tmp_path: Path) -> None:
    path = str(tmp_path / "events.db")
    with opened("sqlite", path=path) as queue:
        fill(queue, 1)
        queue.claim("job1", "job2", worker="elsewhere", lease_us=60 * MINUTE_US)
        command = [sys.executable, "-c", ABANDONED.format(path=path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
            assert owner.stdout is not None
            pids = [int(word) for word in owner.stdout.readline().split()]
            owner.kill()
        assert len(pids) == 2
        assert all(ended(pid) for pid in pids)


def test_a_worker_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"LookupError: module 'queues.events.sqlite' has no 'Nothing'"):
        Crew("queues.events.sqlite:Nothing", {}, 1, path=sys.path)
