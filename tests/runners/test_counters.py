"""What the system counts, read from files of our own; and a peak that is really reset."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runners import counters
from tests.lab.machines import CPU, put

STAT = """\
cpu  100 5 50 9000 7 3 2 60 40 0
cpu0 60 5 20 4000 7 1 1 20 0 0
cpu1 40 0 30 5000 0 2 1 40 40 0
intr 1 2 3
"""
linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs /proc/self/clear_refs")


def slashed(folder: Path) -> str:
    return f"{folder}/"


def test_ticks_are_those_of_all_processors_and_of_the_own_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = slashed(put(tmp_path, {"proc/stat": STAT}))
    monkeypatch.setattr(counters, "pinned_to", lambda: 1)
    assert counters.ticks(root) == {"steal_ticks": 60, "steal_own_ticks": 40, "busy_ticks": 100 + 5 + 50 + 3 + 2}
    monkeypatch.setattr(counters, "pinned_to", lambda: None)
    assert counters.ticks(root)["steal_own_ticks"] is None
    monkeypatch.setattr(counters, "pinned_to", lambda: 7)  # switched off meanwhile
    assert counters.ticks(root)["steal_own_ticks"] is None


@pytest.mark.parametrize("text", [None, "", "cpu  1 2 3\n", "cpu  a b c d e f g h\n", "intr 4\n"])
def test_a_system_that_tells_too_little_of_ticks_tells_nothing(text: str | None, tmp_path: Path) -> None:
    root = slashed(put(tmp_path, {} if text is None else {"proc/stat": text}))
    assert set(counters.ticks(root).values()) == {None}


def test_a_process_on_one_processor_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5}, raising=False)
    assert counters.pinned_to() == 5
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {4, 5}, raising=False)
    assert counters.pinned_to() is None
    monkeypatch.delattr(os, "sched_getaffinity")
    assert counters.pinned_to() is None


def test_the_frequency_is_that_of_the_own_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpuinfo = "processor\t: 0\ncpu MHz\t\t: 800.0\n\nprocessor\t: 1\ncpu MHz\t\t: 2445.406\n"
    root = slashed(put(tmp_path, {"proc/cpuinfo": cpuinfo}))
    monkeypatch.setattr(counters, "pinned_to", lambda: 1)
    assert counters.frequency_mhz(root) == 2445.406
    put(tmp_path, {f"{CPU}/cpu1/cpufreq/scaling_cur_freq": "3100000\n"})
    assert counters.frequency_mhz(root) == 3100.0
    monkeypatch.setattr(counters, "pinned_to", lambda: None)
    assert counters.frequency_mhz(root) == 800.0
    assert counters.frequency_mhz(slashed(tmp_path / "nothing")) is None


def test_counters_are_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = iter([{"steal_ticks": 5, "steal_own_ticks": None, "busy_ticks": 100},
                 {"steal_ticks": 12, "steal_own_ticks": 3, "busy_ticks": 101}])  # fmt: skip
    monkeypatch.setattr(counters, "ticks", lambda: next(seen))
    first = counters.Counters()
    monkeypatch.setattr(counters, "collections_now", lambda: [count + 2 for count in first.collections])
    found = first.since()
    assert found["collections"] == [2] * len(first.collections)
    assert (found["steal_ticks"], found["steal_own_ticks"], found["busy_ticks"]) == (7, None, 1)
    assert 0 <= found["minor_faults"] < 10_000
    assert found["counted_ns"] > 0
    assert found["processor_ns"] >= 0
    assert counters.difference(3, None) is None


@linux
def test_a_peak_that_was_reset_is_what_is_resident_now() -> None:
    held = bytearray(b"x" * (64 << 20))
    del held
    before, resident = counters.peak_bytes(), counters.resident_bytes()
    assert before is not None
    assert resident is not None
    assert before - resident > 32 << 20, "the memory was not given back, so nothing can be seen"
    if not counters.reset_peak():
        pytest.skip("this system does not allow it")
    after = counters.peak_bytes()
    assert after is not None
    assert after < before - (32 << 20)


def test_a_peak_that_cannot_be_reset_is_said(tmp_path: Path) -> None:
    assert counters.reset_peak(str(tmp_path / "no" / "clear_refs")) is False
    assert counters.reset_peak(str(tmp_path / "clear_refs")) is True
    assert (tmp_path / "clear_refs").read_text() == "5"
