"""What people use for periodic jobs, as advisory schedulers: the examples, and what the adapters say differs."""

from __future__ import annotations

import doctest
import subprocess
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from queues.registry import PEERS, SUBJECTS, load, target
from runners.promises import search_path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
MODULES = ("heap", "jobs", "model", "promise_schedules", "promises", "rules", "sorted_each_call", "spread", "trial")


@pytest.fixture(params=PEERS["advisory"])
def peer(request: pytest.FixtureRequest) -> Any:
    return load("advisory", request.param)


def settled(peer: Any, names: str = "abc", period: float = 10.0) -> Any:
    scheduler = peer(clock=lambda: 0.0)
    for name in names:
        scheduler.add(name, period)
    for _ in names:
        scheduler.next_job(0.0)
    return scheduler


@pytest.mark.parametrize(
    "module",
    [
        *(f"queues.advisory.{name}" for name in MODULES),
        *(path.partition(":")[0] for path in PEERS["advisory"].values()),
        *(f"runners.{name}" for name in ("advisory_rigs", "advisory_simulated")),
    ],
)
def test_the_examples_hold(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert tried > 0
    assert failed == 0


def test_next_job_never_sleeps(peer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def asleep(_seconds: float) -> None:
        raise AssertionError("it slept")

    monkeypatch.setattr(time, "sleep", asleep)
    scheduler = settled(peer)
    assert scheduler.next_job(1.0)[1] == 9.0
    assert scheduler.next_job(30.0)[1] == 0


def test_each_call_advises_one_job_and_keeps_all(peer: Any) -> None:
    scheduler = settled(peer, "abcdef")
    for now in (10.0, 25.0, 100.0):
        assert sorted(scheduler.next_job(now)[0] for _ in range(6)) == list("abcdef")
        assert sorted(scheduler.all_jobs()) == list("abcdef")


def test_removed_is_gone_and_unknown_is_a_key_error(peer: Any) -> None:
    scheduler = settled(peer)
    scheduler.remove("b")
    assert {scheduler.next_job(50.0)[0] for _ in range(8)} == {"a", "c"}
    for name, *more in (("remove",), ("update_period", 5)):
        with pytest.raises(KeyError):
            getattr(scheduler, name)("b", *more)
    scheduler.remove("a")
    scheduler.remove("c")
    with pytest.raises(LookupError, match="there is no job"):
        scheduler.next_job(0.0)


def test_userdata_is_advised_with_its_job(peer: Any) -> None:
    scheduler = peer(clock=lambda: 0.0)
    for value in (None, 0, "data"):
        scheduler.add(str(value), 10.0, value)
    assert {scheduler.next_job(0.0)[2] for _ in range(3)} == {None, 0, "data"}


def test_a_changed_period_counts_from_the_last_run_with_sched_and_from_now_with_apscheduler() -> None:
    found = {}
    for name in PEERS["advisory"]:
        now = [0.0]
        scheduler = load("advisory", name)(clock=partial(now.__getitem__, 0))
        scheduler.add("a", 100.0)
        scheduler.next_job(0.0)
        now[0] = 7.0
        scheduler.update_period("a", 50.0)
        found[name] = scheduler.next_job(7.0)[1]
    assert found == {"sched": 43.0, "apscheduler": 50.0}


def test_apscheduler_keeps_a_grid_and_sched_counts_from_the_run() -> None:
    found = {}
    for name in PEERS["advisory"]:
        scheduler = settled(load("advisory", name), "a")
        assert scheduler.next_job(13.0)[1] == 0
        found[name] = scheduler.next_job(14.0)[1]
    assert found == {"sched": 9.0, "apscheduler": 6.0}


def test_polling_pushes_the_schedule_of_both_into_the_future(peer: Any) -> None:
    scheduler = settled(peer, "a")
    assert [scheduler.next_job(0.0)[1] for _ in range(4)] == [10.0, 20.0, 30.0, 40.0]


LISTING = """
import sys
before = set(sys.modules)
sys.path[:0] = [sys.argv[1]]
sys.path += sys.argv[3:]
from queues.registry import load_target
load_target(sys.argv[2])
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.processes
@pytest.mark.parametrize("name", [*SUBJECTS["advisory"], *PEERS["advisory"]])
def test_a_worker_loads_the_standard_library_and_the_wrapped_one(name: str) -> None:
    command = [sys.executable, "-S", "-s", "-P", "-c", LISTING, str(ROOT), target("advisory", name), *search_path()]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    tops = {module.partition(".")[0] for module in listed}
    foreign = {top for top in tops if top not in sys.stdlib_module_names and not top.startswith("_")}
    assert foreign <= {"queues"} | ({"apscheduler", "tzlocal"} if name == "apscheduler" else set())
    if name in SUBJECTS["advisory"]:
        assert not {"typing", "fractions", "decimal", "queues.advisory.model"} & set(listed)
