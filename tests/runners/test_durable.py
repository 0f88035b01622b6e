"""Durable queues are measured as the others are, on the wall clock, with what decides their figures beside these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.case import Case, execution_of
from lab.durable import tables
from lab.record import schema
from lab.sample import operation_columns
from lab.table import text
from queues.registry import DURABLE, ENGINE_OF, load
from runners import durable_yardsticks, promises, suite_durable
from runners.run import spec_of
from runners.servers import ServerError
from runners.spawn import Limits, run_worker
from runners.suites import SUITES, cases
from runners.workload import Workload
from runners.workloads import families, find

SMALL: dict[str, tuple[str, dict[str, int]]] = {
    "durable-enqueue": ("latency", {"messages": 20}),
    "durable-enqueue-many": ("batched", {"messages": 20}),
    "durable-cycle": ("latency", {"due": 5, "queued": 9, "calls": 8}),
    "durable-life": ("batched", {"messages": 200}),
}


def worked(folder: Path, subject: str, workload: str) -> dict[str, Any]:
    """Return the result of one real worker."""
    kind, params = SMALL[workload]
    case = Case(kind, "timer", subject, workload, tuple(params.items()), "wall")
    spec = spec_of(execution_of(case, 0, 1), promises.search_path())
    outcome = run_worker(spec, folder, limits=Limits(seconds=60))
    assert outcome.ok, (outcome.message, outcome.stderr)
    return outcome.result


@pytest.mark.processes
@pytest.mark.parametrize("subject", ["sqlite", "array"])
@pytest.mark.parametrize("workload", SMALL)
def test_a_worker_measures_a_queue_in_a_file_beside_one_in_memory(subject: str, workload: str, tmp_path: Path) -> None:
    result = worked(tmp_path, subject, workload)
    assert all(operation["n"] >= 5 for operation in result["operations"])
    found = result.get("facts", {})
    assert found.get("journal_mode", "") == ("wal" if subject == "sqlite" else "")


def test_every_workload_of_the_suite_is_tried_here_and_can_be_found() -> None:
    named = {workload for part in suite_durable.PARTS for sizes in part.by_kind().values() for workload in sizes}
    assert named == set(SMALL)
    for name in named:
        assert isinstance(find("timer", name), Workload)
        assert name in families()["timer"]


def test_the_suite_measures_every_durable_subject_beside_two_in_memory_on_the_wall_clock() -> None:
    found = cases(SUITES["durable"])
    assert {case.subject for case in found} == {*DURABLE["timer"], "array", "chunked"}
    assert {case.clock for case in found} == {"wall"}
    assert {case.key for case in found} < {case.key for case in cases(SUITES["full"])}


def test_the_null_loop_of_a_cycle_does_nothing() -> None:
    workload = find("timer", "durable-cycle")
    assert workload.null is not None
    assert workload.null({"due": 3, "queued": 5})[0].take(1.0) is not None


@pytest.mark.parametrize("name", DURABLE["timer"])
def test_a_durable_subject_is_loaded_by_name_and_says_which_server_it_needs(name: str) -> None:
    assert load("timer", name).__module__.startswith("queues.timer.")
    assert (DURABLE["timer"][name] in ENGINE_OF) == (not name.startswith("sqlite"))


def test_a_server_that_cannot_be_had_makes_every_promise_not_offered_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(engine: str, *, durable: bool) -> None:
        raise ServerError(f"{engine} is not installed")

    monkeypatch.setattr(promises, "started", none)
    ended, outcomes = promises.conform(DURABLE["timer"]["redis"])
    assert ended.status == "not-offered"
    assert {outcome[2:] for outcome in outcomes} == {("not-offered", "redis is not installed")}
    assert promises.not_there({"redis": outcomes}) == ["redis was not checked: redis is not installed"]


@pytest.mark.processes
def test_conformance_of_a_durable_queue_is_checked_in_a_process_of_its_own() -> None:
    ended, outcomes = promises.conform(DURABLE["timer"]["sqlite"], path=promises.search_path())
    assert ended.ok
    assert {outcome[2] for outcome in outcomes} == {"kept", "not-offered"}
    assert promises.not_there({"sqlite": outcomes}) == []


def test_the_yardsticks_measure_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable_yardsticks, "DUE", 50)
    take, select = durable_yardsticks.take_and_select(20, 3)
    assert take > 0
    assert select > 0
    assert durable_yardsticks.a_second(load("timer", "sqlite"), 30, 3) > 0
    assert durable_yardsticks.one_by_one(load("timer", "sqlite-full"), 5) > 0


def row(subject: str, workload: str, operation: str, params: str, ns: int, **more: Any) -> dict[str, Any]:
    """A row of executions: 40 calls, or samples of ten messages, of `ns` each."""
    each = 10 if workload in ("durable-enqueue-many", "durable-life") else 1
    columns = operation_columns(np.full(40, each * ns), null_before=[9] * 99, bare=[8], calls_per_sample=each)
    names = {"subject": subject, "workload": workload, "operation": operation, "params": params, "status": "ok"}
    return {**dict.fromkeys(schema("executions").names), **names, "process": 0, **columns, **more}


def test_the_tables_hold_a_durable_queue_against_the_array() -> None:
    cycle, many = "calls=8,due=10,queued=100", "messages=1000"
    rows = [
        row("sqlite", "durable-cycle", "take", cycle, 200_000, facts=["journal_mode=wal", "synchronous=normal"]),
        row("sqlite", "durable-cycle", "requeue", cycle, 100_000),
        row("array", "durable-cycle", "take", cycle, 1_000),
        row("array", "durable-cycle", "requeue", cycle, 500),
        row("sqlite", "durable-enqueue-many", "enqueue", many, 10_000),
        row("array", "durable-life", "life", "messages=300", 900),
        row("redis", "durable-life", "life", "messages=300", 90_000),
        row("array", "cycle", "take", cycle, 77),
        {**row("redis", "durable-cycle", "take", cycle, 1), "status": "not-offered"},
    ]
    found = tables(rows, ["array", "sqlite"])
    assert [one.title.partition(": ")[2] for one in found] == [
        "take, then put everything back",
        "putting in",
        "the life of a message",
        "engine and settings",
    ]
    cycles, puts, lives, settings = found
    assert [(line[2], line[4], line[6]) for line in cycles.rows] == [
        ("array", "1.0", "1.0"),
        ("sqlite", "200.0", "200.0"),
    ]
    assert puts.rows[0][-1] == "100,000"
    assert [(line[1], line[3]) for line in lives.rows] == [("array", "1.0"), ("redis", "100.0")]
    assert settings.rows == (("sqlite", "journal_mode wal, synchronous normal"),)
    assert "77" not in text(cycles)
    assert tables([]) == []
