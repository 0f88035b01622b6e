"""What a machine is, read from a made-up one, and that nothing of its owner is kept."""

from __future__ import annotations

import getpass
import json
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import environment
from lab.environment import capture, check_label, machine_name, scrub, scrub_plain, utc_now


def machine(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


VIRTUAL = """\
processor\t: 0
model name\t: AMD EPYC 7B13  64-Core Processor
flags\t\t: fpu vme hypervisor sse2

processor\t: 1
model name\t: AMD EPYC 7B13  64-Core Processor
flags\t\t: fpu vme hypervisor sse2
"""


def texts(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    for item in plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ():
        yield from texts(item)


def test_a_virtual_machine_is_read_from_proc_and_sys(tmp_path: Path) -> None:
    files = machine(
        tmp_path,
        proc__cpuinfo=VIRTUAL,
        proc__meminfo="MemTotal:       24683656 kB\nMemFree: 1 kB\n",
        proc__sys__kernel__randomize_va_space="2\n",
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="performance\n",
        sys__devices__system__cpu__cpufreq__boost="0\n",
        sys__devices__system__clocksource__clocksource0__current_clocksource="tsc\n",
    )
    found = capture(files=files)
    assert found["processor"] == "AMD EPYC 7B13 64-Core Processor"
    assert (found["cores"], found["memory_bytes"], found["virtual"]) == (2, 24683656 * 1024, True)
    assert (found["governor"], found["boost"], found["aslr"], found["clocksource"]) == ("performance", False, 2, "tsc")


def test_a_bare_machine_has_no_hypervisor_flag_and_may_name_its_boost_the_other_way_round(tmp_path: Path) -> None:
    cpuinfo = VIRTUAL.replace("hypervisor ", "")
    files = machine(tmp_path, proc__cpuinfo=cpuinfo, sys__devices__system__cpu__intel_pstate__no_turbo="0")
    assert capture(files=files)["virtual"] is False
    assert capture(files=files)["boost"] is True


def test_an_arm_machine_has_its_board_as_processor_and_its_firmware_tells_whether_it_is_virtual(tmp_path: Path) -> None:
    files = machine(tmp_path, proc__cpuinfo="processor\t: 0\nBogoMIPS\t: 108.00\n")
    machine(files, **{"proc__device-tree__model": "Raspberry Pi 5 Model B\0"})
    assert capture(files=files)["processor"] == "Raspberry Pi 5 Model B"
    assert capture(files=files)["virtual"] is None
    machine(files, sys__class__dmi__id__product_name="KVM Virtual Machine\n")
    assert capture(files=files)["virtual"] is True


def test_what_cannot_be_read_is_unknown_and_no_error(tmp_path: Path) -> None:
    found = capture(files=tmp_path / "nothing")
    assert found["governor"] is found["boost"] is found["aslr"] is None
    assert found["cores"] >= 1
    assert found["processor"]


def test_a_capture_is_plain_json_and_knows_this_interpreter(tmp_path: Path) -> None:
    found = capture("desk")
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["label"] == "desk"
    assert found["packages"]["numpy"]
    assert set(found["packages"]) == set(environment.PACKAGES)
    assert isinstance(found["python_build"]["debug"], bool)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["started_utc"])


def test_a_capture_holds_no_path_host_name_or_user_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "tower7.example.org")
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    monkeypatch.setattr(platform, "release", lambda: "6.1.0-tower7-custom")
    found = capture()
    assert found["kernel"] == "6.1.0-…-custom"
    for text in texts(found):
        assert not re.search(r"(^|[\s'\"=])(/|~|[A-Z]:\\)", text), text
        assert not re.search(r"\b(tower7|ann)\b", text), text


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("FileNotFoundError: '/home/ann/my queues/fast.py'", "FileNotFoundError: '…/fast.py'"),
        ('  File "/srv/lab/x.py", line 3, in f', '  File "…/x.py", line 3, in f'),
        ("error:/srv/data/log:12", "error:…/log:12"),
        ("(/opt/q/z)", "(…/z)"),
        ("at /tmp/", "at …/tmp"),
        ("file:///home/x/y", "…/y"),
        (r"C:\Users\ann\queue.txt is missing", "…/queue.txt is missing"),
        ("ann@tower7: no route to TOWER7.example.org", "…@…: no route to …"),
        ("see '~/notes/a.txt'", "see '…/a.txt'"),
        ("timer/array/cycle/due=1/latency/cpu/gc-on", "timer/array/cycle/due=1/latency/cpu/gc-on"),
        ("and/or 1/2, a / b, https://a.b/c/d", "and/or 1/2, a / b, https://a.b/c/d"),
        ("the annual towers", "the annual towers"),
        ("…/x.py", "…/x.py"),
        ("", ""),
    ],
)
def test_paths_host_and_user_names_leave_a_text_and_nothing_else_does(
    text: str, scrubbed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "tower7.example.org")
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert scrub(text) == scrubbed
    assert scrub(scrubbed) == scrubbed
    assert scrub_plain({"a": [text, (text, 3)], "b": None}) == {"a": [scrubbed, [scrubbed, 3]], "b": None}


def test_a_user_without_a_name_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert scrub("/x/y") == "…/y"


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"processor": "AMD EPYC", "cores": 2, "memory_bytes": 25276063744}, "amd-epyc-2-cores-24-gib-python-3.11"),
        (
            {"processor": "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "cores": 8, "memory_bytes": 16 * 2**30},
            "intel-core-i7-8650u-8-cores-16-gib-python-3.11",
        ),
        ({"processor": "Apple M2", "cores": 1, "memory_bytes": 2**28}, "apple-m2-1-core-1-gib-python-3.11"),
        ({"processor": None, "architecture": "riscv64"}, "riscv64-python-3.11"),
        ({"processor": "../../etc/passwd"}, "etc-passwd-python-3.11"),
        ({"processor": "X", "implementation": "pypy", "python": "3.10.14"}, "x-pypy-3.10"),
        ({"processor": "X", "python": "3.14.0rc2", "python_build": {"free_threaded": True}}, "x-python-3.14t"),
        ({"label": "Desk_2.fast", "processor": "X"}, "Desk_2.fast"),
    ],
)
def test_a_machine_is_named_after_what_it_is_made_of_or_its_label(facts: dict[str, Any], name: str) -> None:
    assert machine_name({"python": "3.11.7", "implementation": "cpython", **facts}) == name


def test_this_machines_name_is_safe_as_a_folder() -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", machine_name(capture()))


@pytest.mark.parametrize("label", ["", ".", "..", ".hidden", "-x", "a/b", "a b", "a\\b", "ä", "a\n", "x" * 65])
def test_a_label_that_is_no_folder_name_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 64 letters, digits, dots, dashes or underscores"):
        check_label(label)
    if label:
        with pytest.raises(ValueError, match="is no label"):
            machine_name({"label": label})
    with pytest.raises(ValueError, match="is no label"):
        capture(label)


git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def run_git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath="]
    subprocess.run(["git", "-C", str(folder), *own, *arguments], check=True, capture_output=True)


@git
def test_a_checkout_has_a_commit_and_is_dirty_once_something_but_the_results_changed(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    assert environment._commit(folder) == {"commit": None, "dirty": None}
    run_git(folder, "init", "-q")
    assert environment._commit(folder) == {"commit": None, "dirty": None}  # nothing is committed yet
    (folder / "queue.py").write_text("x = 1\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-q", "-m", "one")
    clean = environment._commit(folder)
    assert re.fullmatch(r"[0-9a-f]{40}", clean["commit"])
    assert clean["dirty"] is False
    (folder / "results").mkdir()
    (folder / "results" / "run.json").write_text("{}")
    assert environment._commit(folder) == clean
    (folder / "mine.py").write_text("")
    assert environment._commit(folder) == {**clean, "dirty": True}


@git
def test_a_lab_that_is_installed_inside_another_checkout_does_not_report_that_ones_commit(tmp_path: Path) -> None:
    inner = tmp_path.resolve() / "site-packages"
    inner.mkdir()
    (inner / "x.py").write_text("")
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-q", "-m", "one")
    assert environment._commit(inner) == {"commit": None, "dirty": None}


def test_no_git_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment._commit(tmp_path) == {"commit": None, "dirty": None}


def test_now_is_told_to_the_second_in_utc() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", utc_now())
