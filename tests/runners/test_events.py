"""The workloads of event queues in the worker: what is asked, how many claim, and what a wrong queue gets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.case import Case, execution_of
from lab.claims_events import WIDE
from lab.events import stopped_at
from queues.events.rules import FORMS
from queues.events.sqlite import SqliteRelaxed
from queues.registry import target
from runners.events_rows import SETTLE
from runners.events_workloads import asked, claiming, require_once
from runners.latency import CheckFailed
from runners.run import spec_of
from runners.spawn import Limits, run_worker
from runners.suites import SUITES, cases
from runners.workloads import find
from tests.queues.events.subjects import opened

pytestmark = pytest.mark.processes
PENDING: dict[str, Any] = {"rows": 205, "index": "indexed", "calls": 8}
WHOLE: dict[str, Any] = {"rows": 205, "form": "except", "index": "bare"}


class Forgetful(SqliteRelaxed):
    """Leaves out the last event."""

    def pending(self, *given: Any, **named: Any) -> Any:
        return super().pending(*given, **named)[:-1]


class Generous(SqliteRelaxed):
    """Gives the first event to whoever asks, twice."""

    def claim(self, of: str, by: str, **named: Any) -> Any:
        found = super().claim(of, by, **named)
        if found is not None and found.token == 1:
            self.release(found)
        return found

    def complete(self, claim: Any, result: str) -> int:
        return 0


def measured(subject: str, kind: str, workload: str, params: dict[str, Any], folder: Path) -> dict[str, Any]:
    spec = {
        "kind": kind,
        "family": "events",
        "subject": subject,
        "target": target("events", subject),
        "path": sys.path,
        "workload": workload,
        "params": params,
        "seed": 1,
        "clock": "wall",
        "gc": "on",
    }
    outcome = run_worker(spec, folder, limits=Limits(seconds=60, pinned=False))
    assert outcome.ok, outcome.message
    return outcome.result


@pytest.mark.parametrize("index", ["indexed", "bare"])
def test_every_form_is_asked_and_its_plan_stands_beside_it(index: str, tmp_path: Path) -> None:
    result = measured("sqlite-relaxed", "latency", "pending", {**PENDING, "index": index}, tmp_path)
    assert [one["operation"] for one in result["operations"]] == list(FORMS)
    assert {one["n"] for one in result["operations"]} == {8}
    for form in FORMS:
        plan = result["facts"][f"plan of {form}"]
        assert ("USING COVERING INDEX events_by_job" in plan) == (index == "indexed"), plan
    assert result["facts"]["journal_mode"] == "wal"


def test_the_whole_table_is_asked_in_one_form(tmp_path: Path) -> None:
    result = measured("sqlite-relaxed", "latency", "pending-unbounded", {**WHOLE, "calls": 7}, tmp_path)
    assert [one["operation"] for one in result["operations"]] == ["pending"]
    assert "EXCEPT" in result["facts"]["plan of except"]


def test_what_does_not_end_in_its_time_leaves_word_of_its_plan(tmp_path: Path) -> None:
    case = Case.of("latency", "events", "sqlite-relaxed", "pending-unbounded", **WHOLE, calls=10_000_000, clock="wall")
    spec = spec_of(execution_of(case, 0, 1), sys.path)
    outcome = run_worker(spec, tmp_path, limits=Limits(seconds=1.5, pinned=False))
    assert outcome.status == "timeout"
    row = {"status": outcome.status, "message": outcome.message}
    assert "EXCEPT" in stopped_at(row)


def test_in_a_folder_of_others_no_word_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked(SqliteRelaxed, {**WHOLE, "calls": 7}, 1).check()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("history", [0, 100])
def test_a_crew_claims_every_event_once(history: int, tmp_path: Path) -> None:
    params = {"events": 30, "history": history, "workers": 2}
    result = measured("sqlite-relaxed", "throughput", "claims", params, tmp_path)
    assert {one["operation"]: one["n"] for one in result["operations"]} == {"claim": 30, "complete": 30}
    assert result["figures"]["events_per_second"] > 0
    assert json.dumps(result).count("synchronous") == 1


def test_an_answer_that_is_not_the_pending_events_gives_no_number() -> None:
    rig = asked(Forgetful, PENDING, 1)
    ask, _, check = rig.arguments
    with pytest.raises(CheckFailed, match="pending found 4 events"):
        check(ask("not-in"))
    rig.check()


def test_an_event_that_was_done_twice_gives_no_number() -> None:
    with pytest.raises(CheckFailed, match=r"events done, .* expected each of 5 once"):
        claiming(Generous, {"events": 5, "history": 0, "workers": 1}, 1)
    with pytest.raises(CheckFailed, match="2 events done, 1 different ones: expected each of 2 once"):
        require_once(["x", "x"], 2)


@pytest.mark.parametrize("engine", SETTLE)
def test_what_makes_an_engine_write_back_is_accepted_by_it(engine: str) -> None:
    """When a table is filled, a refusal is passed over: here it is not."""
    with opened(engine) as queue:
        for text in SETTLE[engine]:
            queue._run(text, {})
        identity = queue.record("job1", "x", "SUCCEEDED", 1)  # and it can be written again
        assert [event.id for event in queue.pending("job1", "job2")] == [identity]


@pytest.mark.parametrize("name", ["events", "full"])
def test_a_suite_has_the_sizes_that_the_claims_are_about(name: str) -> None:
    """Growth over tables that are far apart, up to a million rows; the whole table beside the recent events."""
    sizes: dict[tuple[str, ...], set[int]] = {}
    for case in cases(SUITES[name], ["mariadb"], workloads=["pending", "pending-unbounded"]):
        params = case.parameters
        key = (case.workload, str(params["index"]), str(params.get("form", "")))
        sizes.setdefault(key, set()).add(int(params["rows"]))
    assert {1_005, 2_005, 1_000_005} <= sizes["pending", "indexed", ""]
    for index in ("indexed", "bare"):
        both = sizes["pending", index, ""] & sizes["pending-unbounded", index, "not-in"]
        assert max(both) > (WIDE - 1) * min(both)
        assert 40_005 in sizes["pending-unbounded", index, "not-in"]


def test_every_case_of_the_suite_is_one_that_its_workload_takes() -> None:
    for name in ("events", "full"):
        for case in cases(SUITES[name]):
            if case.family == "events":
                find("events", case.workload).require(case.kind, case.parameters)
                assert case.clock == "wall"
    assert Case.of("latency", "events", "sqlite", "pending", **PENDING, clock="wall").key
