"""What a queue holds: the points, the container, and that a parent's memory never counts."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from queues.registry import load
from runners import counters, memory
from runners.latency import CheckFailed
from runners.workloads import find
from tests.runners.workers import ROOT, work

LINKED = "queues.timer.linked:Linked"
linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


@pytest.mark.parametrize("messages", [1, 2, 19, 20, 200_000])
def test_the_points_are_equal_steps_from_a_twentieth_to_all(messages: int) -> None:
    goals = memory.steps(messages)
    assert goals[-1] == messages
    assert goals[0] == max(1, round(messages / 20))
    assert len(goals) <= memory.POINTS
    gaps = [later - earlier for earlier, later in pairwise(goals)]
    assert min(gaps, default=1) >= 1
    assert max(gaps, default=1) - min(gaps, default=1) <= 1


def test_the_container_is_what_the_queue_says_it_is_made_of() -> None:
    class Two:
        def container(self) -> Any:
            yield []
            yield {}

    assert memory.container_bytes(Two()) == sys.getsizeof([]) + sys.getsizeof({})
    assert memory.container_bytes([]) is None


@linux
def test_resident_memory_follows_what_is_held() -> None:
    before = counters.resident_bytes()
    held = bytearray(b"x" * (32 << 20))
    after, peak = counters.resident_bytes(), counters.peak_bytes()
    assert before is not None
    assert after is not None
    assert peak is not None
    assert 30 << 20 <= after - before <= 40 << 20
    assert peak >= after
    del held


def test_where_the_system_tells_nothing_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", refuse)
    assert counters.resident_bytes() is None
    assert set(counters.ticks().values()) == {None}
    found = memory.measure(find("timer", "resident"), load("timer", "array"), {"params": {"messages": 40}}, None, None)
    held = found["memory"]
    assert (held["rss_before_bytes"], held["hwm_bytes"], held["points"]) == (None, None, [])
    assert held["fill_peak_bytes"] is None
    assert held["container_bytes"] > 0


class Fake:
    """A process whose memory is what we say."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, allowed: bool) -> None:
        self.resident = self.peak = 100
        self.allowed = allowed
        monkeypatch.setattr(memory, "resident_bytes", lambda: self.resident)
        monkeypatch.setattr(memory, "peak_bytes", lambda: self.peak)
        monkeypatch.setattr(memory, "reset_peak", self.reset)

    def hold(self, size: int) -> None:
        self.resident = size
        self.peak = max(self.peak, size)

    def reset(self) -> bool:
        if self.allowed:
            self.peak = self.resident
        return self.allowed


@pytest.mark.parametrize("allowed", [True, False])
def test_a_phase_has_the_peak_of_its_own_only_where_the_peak_can_be_reset(
    monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    process = Fake(monkeypatch, allowed=allowed)
    gauge = memory.Gauge()
    process.hold(900)  # before any phase
    process.hold(110)
    gauge.begin()
    process.hold(500)
    gauge.end("fill")
    gauge.note(10)
    process.hold(200)
    gauge.begin()
    process.hold(250)
    process.hold(120)
    gauge.end("drain")
    gauge.note(1)
    assert gauge.figures() == {
        "rss_before_bytes": 100,
        "rss_after_bytes": 120,
        "hwm_bytes": 900,
        "points": [[10, 500], [1, 120]],
        "fill_peak_bytes": 500 if allowed else None,
        "drain_peak_bytes": 250 if allowed else None,
    }


def test_a_gauge_that_reads_nothing_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise AssertionError("it was read")

    for name in ("resident_bytes", "peak_bytes", "reset_peak"):
        monkeypatch.setattr(memory, name, refuse)
    gauge = memory.Gauge(reads=False)
    _, check = memory.drained(load("timer", "linked"), {"messages": 50, "left": 10}, gauge)
    check()
    assert gauge.figures()["points"] == []


def test_drained_leaves_what_it_says_and_refuses_to_leave_more_than_came() -> None:
    for messages, left in ((50, 10), (50, 0), (50, 50)):
        _, check = memory.drained(load("timer", "linked"), {"messages": messages, "left": left}, memory.Gauge())
        check()
    with pytest.raises(ValueError, match="parameter left is 6: expected at most messages, which is 5"):
        memory.drained(load("timer", "linked"), {"messages": 5, "left": 6}, memory.Gauge())


def test_payloads_are_checked_one_by_one() -> None:
    queue = load("timer", "array")()
    for number in (0, 1, 1):
        queue.enqueue(float(number), memory.payload(number))
    with pytest.raises(CheckFailed, match=r"message 2 is \(1.0, 'message 1'\): expected \(2.0, 'message 2'\)"):
        memory.verify_distinct(queue, 0, 3)


@linux
@pytest.mark.processes
def test_resident_memory_grows_by_what_a_message_must_cost(tmp_path: Path) -> None:
    found = work(tmp_path, "memory", "resident", target=LINKED, params={"messages": 40_000}).result
    points = found["memory"]["points"]
    assert [messages for messages, _ in points] == memory.steps(40_000)
    assert points == sorted(points)
    (first, first_bytes), (last, last_bytes) = points[0], points[-1]
    per_message_bytes = (last_bytes - first_bytes) / (last - first)
    # A float, a text of 13 letters and a tuple of two are 24 + 62 + 56 bytes, and a node comes on top.
    assert 142 < per_message_bytes < 400
    assert last_bytes <= found["memory"]["hwm_bytes"] <= last_bytes + (1 << 20)
    assert found["memory"]["container_bytes"] >= 40_000 * 40


@linux
@pytest.mark.processes
def test_what_the_parent_holds_is_not_in_the_figures(tmp_path: Path) -> None:
    held = bytearray(b"x" * (96 << 20))  # inherited by ru_maxrss, not by VmHWM
    found = work(tmp_path, "memory", "resident").result
    assert found["memory"]["hwm_bytes"] < 32 << 20
    del held


@linux
@pytest.mark.processes
def test_a_container_that_keeps_its_room_is_seen(tmp_path: Path) -> None:
    params = {"messages": 5_000, "left": 10}
    kept = work(tmp_path, "memory", "drained", target="tiny:Hoards", params=params).result["memory"]
    given_back = work(tmp_path, "memory", "drained", target=LINKED, params=params).result["memory"]
    assert kept["container_bytes"] > 5_000 * 8
    assert given_back["container_bytes"] < 2_000
    assert [messages for messages, _ in given_back["points"]] == [5_000, 10]


@linux
@pytest.mark.processes
def test_filling_and_draining_have_a_peak_each(tmp_path: Path) -> None:
    params = {"messages": 60_000, "left": 10}
    held = work(tmp_path, "memory", "drained", target=LINKED, params=params).result["memory"]
    if held["fill_peak_bytes"] is None:
        pytest.skip("this system does not allow the peak to be reset")
    (_, filled), (_, drained) = held["points"]
    assert filled <= held["fill_peak_bytes"] + (256 << 10)  # the kernel counts pages in batches
    assert drained < filled - (4 << 20)
    assert held["hwm_bytes"] >= max(held["fill_peak_bytes"], held["drain_peak_bytes"])
    again = work(tmp_path, "memory", "drained", target=LINKED, params={"messages": 60_000, "left": 60_000})
    kept = again.result["memory"]
    assert kept["drain_peak_bytes"] >= kept["points"][0][1] - (256 << 10)


@linux
@pytest.mark.processes
def test_without_a_queue_nothing_grows(tmp_path: Path) -> None:
    held = work(tmp_path, "memory", "baseline", target="", params={"messages": 50_000}).result["memory"]
    assert [messages for messages, _ in held["points"]] == memory.steps(50_000)
    assert held["points"][-1][1] - held["points"][0][1] <= 256 << 10  # 5 bytes a message at most
    assert held["rss_after_bytes"] < 32 << 20
    assert held["container_bytes"] is None


SYSTEM = Path("/usr/bin/python3")


@linux
@pytest.mark.processes
@pytest.mark.parametrize("python", [Path(sys.executable), SYSTEM], ids=["own", "system"])
def test_the_code_of_the_interpreter_that_a_fill_calls_for_is_there_before_it(python: Path, tmp_path: Path) -> None:
    """The system's interpreter is one large file on Debian, of which a page comes in when it is first called for."""
    if not python.exists() or not new_enough(python):
        pytest.skip(f"{python} is not here, or older than 3.11")
    held = work(tmp_path, "memory", "baseline", python=str(python), target="", params={"messages": 2_000}).result
    assert held["memory"]["rss_after_bytes"] - held["memory"]["rss_before_bytes"] <= 64 << 10


def new_enough(python: Path) -> bool:
    asked = [str(python), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    return subprocess.run(asked, check=False).returncode == 0


def test_the_peak_that_a_child_inherits_is_never_read() -> None:
    for path in (ROOT / "runners").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert source.count("ru_maxrss") == source.count("never `ru_maxrss`"), path.name
