"""pyperf around the batched loops: its figures, what it hands on, and that a wrong queue gives none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runners import cost
from runners.cost import Measurement, read_cost
from tests.runners.workers import ROOT, case_of, environment, noted, work, write_tiny

pytestmark = pytest.mark.processes

FAST = ("-p", "1", "-n", "3", "-w", "1", "--min-time", "0.001")
SPEC = "case.json"


def run(folder: Path, *options: str, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Run cost.py as a parent does."""
    write_tiny(folder)
    case = case_of(folder, "cost", "enqueue-in-order") | {"params": {"messages": 200}} | changes
    (folder / SPEC).write_text(json.dumps(case), encoding="utf-8")
    command = [sys.executable, "-s", "-P", str(ROOT / "runners" / "cost.py"), "--case", SPEC, "-o", "cost.json"]
    return subprocess.run(
        [*command, *(options or FAST)],
        capture_output=True,
        text=True,
        env=environment(PYTHONHASHSEED="77"),
        cwd=folder,
        timeout=60,
        check=False,
    )


def test_the_file_of_pyperf_is_read_as_ns_per_message(tmp_path: Path) -> None:
    done = run(tmp_path, target="queues.timer.array:Array")
    assert (done.returncode, done.stderr) == (0, "")
    found = read_cost(tmp_path / "cost.json")
    assert (len(found["values_ns"]), found["calls"]) == (3, 200)
    assert found["loops"] >= 1
    assert min(found["values_ns"]) <= found["median_ns"] <= max(found["values_ns"])
    assert found["mean_ns"] == pytest.approx(sum(found["values_ns"]) / 3)
    assert 20 < found["mean_ns"] < 20_000
    assert found["python"] == "{}.{}.{}".format(*sys.version_info[:3])
    assert found["pyperf"].count(".") >= 1


def test_loops_that_are_known_are_not_calibrated_again(tmp_path: Path) -> None:
    assert run(tmp_path, *FAST, "-l", "3").returncode == 0
    assert read_cost(tmp_path / "cost.json")["loops"] == 3


def test_the_measuring_process_doubles_the_loops_itself_until_they_fill_the_time(tmp_path: Path) -> None:
    options = ("--worker", "-n", "3", "-w", "1", "-l", "1", "--doubling")
    assert run(tmp_path, *options, "--min-time", "0.005", target="queues.timer.array:Array").returncode == 0
    found = read_cost(tmp_path / "cost.json")
    assert found["loops"] > 1
    assert found["loops"] & (found["loops"] - 1) == 0
    assert max(found["values_ns"]) * found["calls"] * found["loops"] > 5e6 / 4
    (tmp_path / "cost.json").unlink()
    assert run(tmp_path, *options[:-1], target="queues.timer.array:Array").returncode == 0
    assert read_cost(tmp_path / "cost.json")["loops"] == 1


@pytest.mark.parametrize(
    ("workload", "params"),
    [("enqueue-in-order", {"messages": 2000}), ("cycle", {"due": 100, "queued": 100})],
)
def test_pyperf_and_the_batched_kind_time_the_same_thing(tmp_path: Path, workload: str, params: dict[str, int]) -> None:
    case: dict[str, Any] = {"target": "queues.timer.linked:Linked", "params": params, "clock": "cpu"}
    assert run(tmp_path, *FAST, workload=workload, **case).returncode == 0
    by_pyperf_ns = min(read_cost(tmp_path / "cost.json")["values_ns"])
    ended = work(tmp_path, "batched", workload, **case)
    (operation,) = ended.result["operations"]
    batched_ns = min(ended.samples(operation["samples"])) / operation["calls_per_sample"]
    # A processor shared with others is at times half as fast; a wrong divisor is off by 100 and more.
    assert 0.2 < by_pyperf_ns / batched_ns < 5


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"target": "tiny:LiesAboutLosing"}, 3, "check failed: message 0 is (0.0,): expected (0.0, 'message')"),
        (
            {"target": "tiny:NoRequeue", "workload": "cycle", "params": {"due": 1, "queued": 1}},
            4,
            "not offered: requeue() is not offered: workload 'cycle' needs it",
        ),
        (
            {"target": "tiny:Raises", "workload": "cycle", "params": {"due": 1, "queued": 1}},
            1,
            "RuntimeError: the spring is broken",
        ),
        ({"target": "tiny:None"}, 1, "LookupError: module 'tiny' has no 'None': expected the name of a queue class"),
        ({"params": {}}, 1, "ValueError: parameter 'messages' of workload 'enqueue-in-order' is missing: expected"),
        ({"workload": "growth"}, 1, "LookupError: workload 'growth' has no cost kind: there are latency"),
        ({"kind": "latency"}, 2, "no case to measure: 'kind' of the case is 'latency': expected one of cost"),
        (
            {"target": "tiny:Leaves", "workload": "cycle", "params": {"due": 1, "queued": 1}},
            1,
            "the measuring process left no values: ",
        ),
    ],
)
def test_a_queue_without_a_number_ends_with_a_code_and_one_sentence(
    tmp_path: Path, changes: dict[str, Any], code: int, said: str
) -> None:
    done = run(tmp_path, **changes)
    assert done.returncode == code
    assert done.stderr.splitlines()[-1].startswith(said)
    assert code == 1 or done.stderr.count("\n") == 1
    assert not (tmp_path / "cost.json").exists()


@pytest.mark.parametrize("collector", ["on", "off"])
def test_the_measuring_process_has_the_hash_seed_and_the_collector_of_the_case(tmp_path: Path, collector: str) -> None:
    assert run(tmp_path, target="tiny:Noted", gc=collector).returncode == 0
    found, frozen_at_the_end, hash_seed, _ = noted(tmp_path)
    assert hash_seed == "77"
    assert found["enabled"] == (collector == "on")
    assert found["frozen"] == frozen_at_the_end > 1000


def test_making_queues_and_looking_at_them_is_outside_the_timed_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "slow.py").write_text(
        """
now = 0.0

def clock():
    return now

def spend(seconds):
    global now
    now += seconds

class Slow:
    def __init__(self):
        spend(1000)
        self.items = []

    def enqueue(self, *item):
        spend(0.25)
        self.items.append(item)

    def __len__(self):
        spend(1000)
        return len(self.items)

    take = requeue = print
""",
        encoding="utf-8",
    )
    monkeypatch.setattr(cost, "settle", lambda collector: None)
    measurement = Measurement(case_of(tmp_path, "cost", "enqueue-in-order", params={"messages": 8}, target="slow:Slow"))
    measurement.clock = sys.modules["slow"].clock
    assert (measurement.calls, measurement.time_loops(3)) == (8, 3 * 8 * 0.25)


@pytest.mark.parametrize("options", [FAST, ("--worker", "-n", "3", "-w", "1", "-l", "1")])
def test_a_queue_may_load_what_pyperf_is_kept_from_loading(tmp_path: Path, options: tuple[str, ...]) -> None:
    source = "import psutil\nfrom queues.timer.array import Array as Wants\n"
    (tmp_path / "wants.py").write_text(source, encoding="utf-8")
    done = run(tmp_path, *options, target="wants:Wants")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(read_cost(tmp_path / "cost.json")["values_ns"]) == 3


def test_a_file_that_is_none_of_pyperfs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_cost(tmp_path / "cost.json")
    (tmp_path / "cost.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="not supported"):
        read_cost(tmp_path / "cost.json")
