"""Findings on four made-up machines as whole texts, marks at their bounds, and what makes measuring impossible."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lab import advice, doctor, probe
from lab.advice import NOTE, OK, WARNING, Finding
from lab.doctor import examine, obstacles, text, tools
from lab.environment import capture
from lab.machine import facts
from tests.lab.machines import KNOWN, MACHINES, put

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "doctor.txt"
GOOD_CLOCKS = {
    "thread_time_ns": {"read_ns": 90.4, "step_ns": 40},
    "perf_counter_ns": {"read_ns": 35.0, "step_ns": 10},
}
MEASURED: dict[str, dict[str, Any]] = {
    "bare metal": {"clocks": GOOD_CLOCKS, "speeds_ns": [7_000_000, 7_100_000, 7_050_000]},
    "virtual": {
        "clocks": {**GOOD_CLOCKS, "thread_time_ns": {"read_ns": 612.3, "step_ns": 520}},
        "speeds_ns": [7_000_000] * 12 + [14_200_000] * 8,
    },
    "limited": {"clocks": GOOD_CLOCKS, "speeds_ns": [7_000_000, 7_500_000, 8_100_000]},
    "nothing readable": {
        "clocks": {**GOOD_CLOCKS, "thread_time_ns": {"read_ns": 400.0, "step_ns": 1_000_000}},
        "speeds_ns": [7_000_000, 9_000_000, 12_000_000],
    },
}
TOOLS_THERE = {"bare metal": True, "virtual": False, "limited": True, "nothing readable": False}


@pytest.fixture(autouse=True)
def no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """git is asked in tests of its own; here it would only take time."""
    monkeypatch.setattr("lab.environment._commit", lambda folder: {"commit": None, "dirty": None})


def environment_of(name: str, root: Path) -> dict[str, Any]:
    fixed = {"implementation": "cpython", "python": "3.12.1", "load_average": None}
    return {**capture(files=root), **fixed, **KNOWN[name]}


def examined(name: str, folder: Path) -> list[Finding]:
    root = put(folder / name.replace(" ", "-"), MACHINES[name])
    environment = environment_of(name, root)
    usable = environment["cores_usable"] if MACHINES[name] else None
    there = dict.fromkeys(doctor.TOOLS, TOOLS_THERE[name])
    return examine(environment, facts(root, usable and usable - 1), MEASURED[name], there)


def mark_of(found: list[Finding], topic: str) -> str:
    (mark,) = (one.mark for one in found if one.topic == topic)
    return mark


def test_what_the_doctor_says_of_each_machine_is_as_it_was(tmp_path: Path) -> None:
    said = "\n\n".join(f"{name}\n{text(examined(name, tmp_path))}" for name in MACHINES) + "\n"
    got = GOLDEN.with_suffix(".got")
    got.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN.name} with {got.name}"
    got.unlink()


@pytest.mark.parametrize("name", MACHINES)
def test_every_topic_has_one_sentence_on_every_machine(name: str, tmp_path: Path) -> None:
    found = examined(name, tmp_path)
    assert len({one.topic for one in found}) == len(found) == len(advice.CHECKS) + 3 + len(doctor.TOOLS)
    for one in found:
        assert one.mark in (OK, NOTE, WARNING)
        assert one.sentence.endswith(".")
        assert "None" not in one.sentence
        assert "\n" not in one.sentence


@pytest.mark.parametrize(
    ("topic", "fact", "values"),
    [
        ("load", "load", {0.5: OK, 0.51: NOTE, 2.0: NOTE, 2.01: WARNING}),
        ("steal", "steal_share", {0.001: OK, 0.0011: NOTE, 0.01: NOTE, 0.011: WARNING}),
        ("cpu limit", "cpu_quota", {None: OK, 2.0: OK, 1.99: WARNING}),
        ("memory", "memory_available_bytes", {4 * 2**30: OK, 4 * 2**30 - 1: NOTE, 2**30: NOTE, 2**30 - 1: WARNING}),
        ("memory limit", "memory_limit_bytes", {64 * 2**30: OK, 2**30: NOTE, 2**30 - 1: WARNING}),
        ("swap", "swap_used_bytes", {0: OK, 1: WARNING}),
        ("frequency", "frequencies_mhz", {(100.0, 110.0): OK, (100.0, 110.1): NOTE}),
        ("sibling", "siblings", {(): OK, (5,): NOTE}),
    ],
)
def test_a_mark_changes_where_it_should(topic: str, fact: str, values: dict[Any, str], tmp_path: Path) -> None:
    root = put(tmp_path, MACHINES["bare metal"])
    environment = environment_of("bare metal", root)
    for value, mark in values.items():
        found = examine(environment, {**facts(root, 3), fact: value}, MEASURED["bare metal"], {})
        assert mark_of(found, topic) == mark, value


@pytest.mark.parametrize(
    ("build", "mark"),
    [
        ({"optimized": True, "debug": True}, WARNING),
        ({"optimized": False}, WARNING),
        ({"optimized": True, "free_threaded": True}, NOTE),
        ({"optimized": None}, NOTE),
        ({"optimized": True}, OK),
    ],
)
def test_the_build_of_the_interpreter_decides(build: dict[str, Any], mark: str, tmp_path: Path) -> None:
    environment = {**environment_of("bare metal", put(tmp_path, {})), "python_build": build}
    assert mark_of(examine(environment, facts(tmp_path), MEASURED["bare metal"], {}), "interpreter") == mark


@pytest.mark.parametrize(
    ("speeds", "words"),
    [
        ([100, 110], "steady"),
        ([100, 111], "not steady"),
        ([100] * 5 + [200] * 5, "two speeds a factor of 2.0 apart (5 rounds fast, 5 slow)"),
        ([100] * 9 + [200], "not steady"),  # one slow round is no second speed
        ([100, 120, 140, 160, 180, 200], "not steady"),  # no gap between two groups
    ],
)
def test_two_speeds_are_told_from_one_that_wanders(speeds: list[int], words: str, tmp_path: Path) -> None:
    measured = {"clocks": {}, "speeds_ns": speeds}
    found = examine(environment_of("bare metal", tmp_path), facts(tmp_path), measured, {})
    (sentence,) = (one.sentence for one in found if one.topic == "speed")
    assert words in sentence
    assert ("not steady" in sentence) == (words == "not steady")


def test_nothing_is_in_the_way_on_this_machine() -> None:
    assert obstacles({"clocks": GOOD_CLOCKS}) == []


def test_what_makes_measuring_impossible_is_a_sentence_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    clocks = {"thread_time_ns": {"read_ns": 1.0, "step_ns": None}}
    found = obstacles({"clocks": clocks}, python=str(tmp_path / "no-python"))
    assert [sentence.split(":")[0] for sentence in found] == [
        "time.thread_time_ns does not advance",
        "time.perf_counter_ns is not there",
        "no temporary folder can be made (Read-only file system)",
        "no worker can be started",
    ]


def test_the_command_ends_with_4_when_a_clock_stands_still(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lab.cli import main

    clocks = {**GOOD_CLOCKS, "thread_time_ns": {"read_ns": 5.0, "step_ns": None}}
    monkeypatch.setattr(probe, "probe", lambda: {"clocks": clocks, "speeds_ns": [100, 100]})
    monkeypatch.setattr(sys, "argv", ["lab", "doctor"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 4
    assert said.err.startswith("lab: nothing can be measured here: time.thread_time_ns does not advance")
    assert "warning  clock cpu" in said.out


def test_the_command_speaks_json_and_names_nobody() -> None:
    import getpass
    import socket

    command = [sys.executable, "-m", "lab", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=GOLDEN.parents[2])
    said = json.loads(done.stdout)
    assert {one["mark"] for one in said["findings"]} <= {OK, NOTE, WARNING}
    assert {"environment", "machine", "measured", "obstacles", "tools", "findings"} == set(said)
    assert said["tools"] == tools()
    names = [name for name in (socket.gethostname(), getpass.getuser(), str(Path.home())) if len(name) > 4]
    assert [name for name in names if name in done.stdout] == []
