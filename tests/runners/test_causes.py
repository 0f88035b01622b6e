"""Why a call is slow, found in real processes on queues that are slow at a known call for a known reason."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.causes import MOST_OBJECTS, Enough, Probe, Sizes, collections_in, faults_in, growth_between
from runners.workloads import WORKLOADS
from tests.runners.queues_with_causes import COLLECTS_AT, GROWS_AT, PAGES, TOUCHES_AT
from tests.runners.workers import WORKER, environment, work

HERE = Path(__file__).resolve().parent
CALLS = 2_000


def explained(folder: Path, subject: str, calls: list[int], grown: list[int] | None = None, **changes: Any) -> Any:
    case: dict[str, Any] = {
        "target": f"queues_with_causes:{subject}",
        "path": [str(HERE)],
        "params": {"messages": CALLS},
        **changes,
    }
    case |= {"explain": {"enqueue": calls}, "grown": {"enqueue": calls if grown is None else grown}}
    ended = work(folder, "latency", "growth", **case)
    assert (ended.code, ended.result.get("status"), ended.stderr) == (0, "ok", "")
    return ended.result


def found(folder: Path, subject: str, call: int, **changes: Any) -> dict[str, Any]:
    (each,) = explained(folder, subject, [call], **changes)["explained"]["enqueue"]
    assert each["call"] == call
    return dict(each)


@pytest.mark.processes
def test_a_collection_is_found_at_its_call_and_at_no_other(tmp_path: Path) -> None:
    result = explained(tmp_path, "Collects", list(range(CALLS)), grown=[])
    full = [each["call"] for each in result["explained"]["enqueue"] if 2 in each["collections"]]
    assert full == [COLLECTS_AT]
    assert result["counters"]["collections"][2] == 1
    young = [each["call"] for each in result["explained"]["enqueue"] if 0 in each["collections"]]
    assert len(young) == result["counters"]["collections"][0] > 0
    assert result["reported"] is True


@pytest.mark.processes
def test_with_the_collector_off_only_what_the_queue_asks_for_is_collected(tmp_path: Path) -> None:
    result = explained(tmp_path, "Collects", list(range(CALLS)), grown=[], gc="off")
    assert [each["call"] for each in result["explained"]["enqueue"] if each["collections"]] == [COLLECTS_AT]
    assert result["counters"]["collections"] == [0, 0, 1]


@pytest.mark.processes
def test_the_growth_of_a_list_is_found_at_its_call_with_its_size(tmp_path: Path) -> None:
    each = found(tmp_path, "Grows", GROWS_AT)
    kind, size = each["growth"]
    assert kind == "list"
    assert 8 * 100_000 <= size <= 10 * 100_000
    assert each["faults"] > 0  # the new room was written to
    before, after = explained(tmp_path, "Grows", [GROWS_AT - 1, GROWS_AT + 1])["explained"]["enqueue"]
    assert before["growth"] is after["growth"] is None


@pytest.mark.processes
def test_growth_is_not_looked_for_where_it_was_not_asked_for_or_cannot_be_seen(tmp_path: Path) -> None:
    (each,) = explained(tmp_path, "Grows", [GROWS_AT], grown=[])["explained"]["enqueue"]
    assert each["growth"] is None
    assert found(tmp_path, "Hides", GROWS_AT)["growth"] is None


@pytest.mark.processes
def test_first_touch_is_found_at_its_call_with_the_pages(tmp_path: Path) -> None:
    each = found(tmp_path, "Touches", TOUCHES_AT)
    assert PAGES <= each["faults"] <= PAGES + 16
    assert each["collections"] == []


def interpreters() -> list[str]:
    """This interpreter, and the others that are kept beside it."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [sys.executable, *map(str, sorted(kept.glob("3.1[2-9]*/bin/python")))]


@pytest.mark.processes
@pytest.mark.parametrize("python", interpreters(), ids=lambda python: Path(python).parent.parent.name)
def test_the_collector_has_counted_the_same_at_every_call_as_in_a_timed_process(tmp_path: Path, python: str) -> None:
    counted = []
    for more in ({}, {}, {"explain": {"enqueue": [5]}, "grown": {"enqueue": []}}):
        (tmp_path / "counted").unlink(missing_ok=True)
        case = {
            "kind": "latency",
            "family": "timer",
            "target": "queues_with_causes:Counts",
            "path": [str(HERE)],
            "workload": "growth",
            "params": {"messages": CALLS},
            "seed": 1,
            "clock": "cpu",
            "gc": "on",
            "out": str(tmp_path),
            **more,
        }
        (tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
        command = [python, "-S", "-s", "-P", str(WORKER), str(tmp_path / "case.json")]
        subprocess.run(command, env=environment(), cwd=tmp_path, check=True, capture_output=True, timeout=60)
        assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["status"] == "ok"
        counted.append((tmp_path / "counted").read_text(encoding="utf-8"))
    assert counted[0] == counted[1] == counted[2]
    assert len(json.loads(counted[0])) == 15


def test_the_counter_makes_nothing_that_stays_and_leaves_the_collector_as_it_was() -> None:
    probe = Probe("on")
    before = gc.get_count()[0]
    first, second = probe.read(), probe.read()
    assert gc.isenabled()
    assert abs(gc.get_count()[0] - before) <= 1
    assert second - first >= 0
    gc.disable()
    try:
        Probe("off").read()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_counts_of_faults_and_collections_do_not_run_into_each_other() -> None:
    probe = Probe("on")
    start = probe.packed[0]
    for generation, times in ((0, 900), (1, 30), (2, 3)):
        for _ in range(times):
            probe.collected("start", {"generation": generation})
            probe.collected("stop", {"generation": generation})
    count = probe.packed[0] - start + 70_000
    assert faults_in(count) == 70_000
    assert collections_in(count) == [2, 1, 0]
    assert [(count >> (32 + 10 * generation)) & 1023 for generation in range(3)] == [900, 30, 3]
    assert len(probe.spares) == 1_000 - 3


def test_sizes_looks_at_the_wanted_readings_only_and_ends_after_the_last() -> None:
    class Queue:
        looked = 0

        def container(self) -> list[Any]:
            self.looked += 1
            return [[None] * (1_000 * self.looked), (1, 2)]

    queue = Queue()
    sizes = Sizes(queue, {2, 3})
    assert [sizes() for _ in range(3)] == [0, 0, 0]
    with pytest.raises(Enough):
        sizes()
    assert queue.looked == 2
    assert [sorted(kind for kind, _ in large.values()) for large in sizes.found.values()] == [["list"], ["list"]]


class Nodes:
    """A container that counts how far it is looked into: one large part in front of more nodes than anybody wants."""

    def __init__(self) -> None:
        self.large = [None] * 1_000
        self.seen = 0

    def container(self) -> Iterator[object]:
        yield self.large
        for self.seen in range(10 * MOST_OBJECTS):
            yield self.seen


def test_a_reading_looks_at_the_first_objects_of_a_container_and_at_no_more_of_its_nodes() -> None:
    queue = Nodes()
    sizes = Sizes(queue, {0})
    with pytest.raises(Enough):
        sizes()
    assert [kind for kind, _ in sizes.found[0].values()] == ["list"]
    assert queue.seen == MOST_OBJECTS - 2


@pytest.mark.parametrize(
    ("before", "after", "grown"),
    [
        ({}, {}, None),
        ({1: ("list", 5_000)}, {1: ("list", 5_000)}, None),
        ({1: ("list", 5_000)}, {1: ("list", 4_200)}, None),  # shrunk
        ({1: ("list", 5_000)}, {}, None),
        ({}, {1: ("dict", 5_000)}, ("dict", 5_000)),
        ({1: ("list", 5_000), 2: ("dict", 9_000)}, {1: ("list", 5_600), 2: ("dict", 18_000)}, ("dict", 18_000)),
    ],
)
def test_what_grew_is_the_largest_object_that_is_larger_or_new(before: Any, after: Any, grown: Any) -> None:
    assert growth_between(before, after) == grown


@pytest.mark.processes
def test_both_operations_of_a_cycle_are_explained_each_at_its_own_readings(tmp_path: Path) -> None:
    assert WORKLOADS["timer"]["cycle"].operations == ("take", "requeue")
    calls = {"take": [3, 7], "requeue": [7]}
    ended = work(tmp_path, "latency", "cycle", target="tiny:Hoards", explain=calls, grown=calls)
    explained = ended.result["explained"]
    assert {name: [each["call"] for each in those] for name, those in explained.items()} == calls
