"""The workloads of event queues in the worker: what is asked, how many claim, and what a wrong queue gets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.case import Case
from queues.events.rules import FORMS
from queues.events.sqlite import SqliteRelaxed
from queues.registry import target
from runners.events_workloads import asked, claiming, require_once
from runners.latency import CheckFailed
from runners.spawn import Limits, run_worker
from runners.suites import SUITES, cases
from runners.workloads import find

pytestmark = pytest.mark.processes
PENDING: dict[str, Any] = {"rows": 205, "index": "indexed", "calls": 8}


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
    params = {"rows": 205, "form": "except", "index": "bare", "calls": 7}
    result = measured("sqlite-relaxed", "latency", "pending-unbounded", params, tmp_path)
    assert [one["operation"] for one in result["operations"]] == ["pending"]
    assert "EXCEPT" in result["facts"]["plan of except"]


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


def test_every_case_of_the_suite_is_one_that_its_workload_takes() -> None:
    for name in ("events", "full"):
        for case in cases(SUITES[name]):
            if case.family == "events":
                find("events", case.workload).require(case.kind, case.parameters)
                assert case.clock == "wall"
    assert Case.of("latency", "events", "sqlite", "pending", **PENDING, clock="wall").key
