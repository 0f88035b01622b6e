"""The front door: a user's mistake is one sentence with the next step and the right exit code, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli_report import _writable
from lab.recorded import ArchiveError, writing
from tests import door

ROOT = Path(__file__).resolve().parent.parent
MISBEHAVING = ROOT / "tests" / "runners"


def lab(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab", *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )


def refused(said: subprocess.CompletedProcess[str], *words: str, code: int = 2) -> None:
    assert said.returncode == code, said.stderr
    assert "Traceback" not in said.stderr + said.stdout
    for word in words:
        assert word in said.stderr, said.stderr


def test_an_unknown_suite_is_named_with_those_there_are() -> None:
    refused(lab("run", "--suite", "huge"), "'huge'", "quick, standard, full")


def test_an_unknown_subject_is_named_with_those_there_are() -> None:
    refused(door.lab("run", "--subject", "rope"), "'rope'", "array", "--queue")


def test_an_unknown_workload_is_named_with_those_there_are() -> None:
    refused(door.lab("run", "--workload", "tea"), "'tea'", "cycle")


def test_a_clock_that_does_not_exist_is_refused() -> None:
    refused(door.lab("run", "--clock", "sundial"), "sundial")


def test_a_module_that_does_not_import_is_one_sentence(tmp_path: Path) -> None:
    refused(lab("run", "--queue", "nowhere_at_all:Queue", "--results", str(tmp_path)), "nowhere_at_all")
    refused(lab("conform", "nowhere_at_all:Queue"), "nowhere_at_all")


def test_a_module_that_raises_while_imported_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text("raise RuntimeError('half a module')\n", encoding="utf-8")
    refused(lab("conform", "faulty:Queue", cwd=tmp_path), "faulty:Queue", "half a module")


def test_a_queue_that_is_not_module_colon_class_is_refused() -> None:
    refused(door.lab("run", "--queue", "just_a_module"), "just_a_module", "module:Class")


def test_a_module_without_that_class_is_refused() -> None:
    refused(lab("conform", "queues.timer.array:Rope"), "Rope")


def test_a_results_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("not a folder", encoding="utf-8")
    refused(
        lab("run", "--suite", "quick", "--workload", "free", "--subject", "array", "--results", str(blocked)), "a-file"
    )


def test_a_report_that_cannot_be_written_is_refused_before_any_notebook_is_executed() -> None:
    folder = Path("/proc")  # where not even root may make a file
    with pytest.raises(ArchiveError, match="/proc cannot be written"), writing(folder):
        _writable(folder)


def test_showing_where_there_is_no_run_says_how_to_make_one(tmp_path: Path) -> None:
    refused(door.lab("show", "--results", str(tmp_path)), str(tmp_path))


def test_a_broken_queue_gets_no_numbers_and_its_first_broken_promise_is_named(tmp_path: Path) -> None:
    said = lab("run", "--queue", "queues_that_misbehave:Loses", "--results", str(tmp_path), cwd=MISBEHAVING)
    refused(said, "queues_that_misbehave:Loses breaks the promise", "Nothing was timed", code=4)
    assert list(tmp_path.iterdir()) == []


def test_a_queue_that_hangs_while_checked_is_named_with_the_promise(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "class Slow:\n"
        "    def enqueue(self, start, *message): pass\n"
        "    def take(self, now):\n"
        "        while True: pass\n"
        "    def requeue(self, batch): return 0\n"
        "    def __len__(self): return 0\n",
        encoding="utf-8",
    )
    said = lab("conform", "--time-limit", "2", "slow:Slow", cwd=tmp_path)
    refused(said, "slow:Slow", "did not end within 2 s")


def test_nothing_measured_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    choice = ["--suite", "standard", "--workload", "growth", "--subject", "linked", "--processes", "1"]
    said = lab("run", *choice, "--time-limit", "0.1", "--results", str(tmp_path))
    refused(said, "nothing was measured", code=4)


def test_conform_prints_every_promise_and_holds_for_a_registered_subject() -> None:
    said = lab("conform", "array")
    assert said.returncode == 0, said.stderr
    assert "kept" in said.stdout
    assert "BROKEN" not in said.stdout


def test_conform_names_the_broken_promise_with_its_input() -> None:
    said = lab("conform", "queues_that_misbehave:Loses", cwd=MISBEHAVING)
    assert said.returncode == 1
    assert "BROKEN" in said.stdout
    assert "enqueue(" in said.stdout


def test_conform_takes_a_family_by_name_or_before_the_subject() -> None:
    said = lab("conform", "advisory/heap", "limits-fixed", "--family", "limiter")
    assert said.returncode == 1, said.stderr
    assert "Promises of an advisory scheduler" in said.stdout
    assert "limits-fixed breaks bound: " in said.stdout
    assert "granted in" in said.stdout
    refused(door.lab("conform", "advisory/rope"), "'rope' in the family advisory", "sorted-each-call, heap")
    refused(door.lab("conform", "--family", "tea", "--all"), "no contract of a family 'tea'", "timer, advisory, ticker")
    refused(door.lab("conform", "tea/green"), "no contract of a family 'tea'")
    refused(door.lab("conform", "--family", "ticker"), "no queue was named", "channel")


def test_a_class_that_offers_nothing_of_a_family_is_not_said_to_hold() -> None:
    said = lab("conform", "--family", "ticker", "queues.timer.array:Array")
    refused(said, "queues.timer.array:Array offers nothing of the family ticker", code=4)


def test_a_choice_that_no_case_fits_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    said = door.lab("run", "--suite", "pacing", "--subject", "linked", "--results", str(tmp_path))
    refused(said, "the suite pacing has no case for --subject linked", "lab list")
    said = door.lab("run", "--suite", "events", "--queue", "queues.timer.array:Array", "--results", str(tmp_path))
    refused(said, "the suite events has no case for --queue queues.timer.array:Array", "lab run --suite quick")
    choice = ["--suite", "durable", "--subject", "sqlite", "--results", str(tmp_path)]
    said = door.lab("run", *choice, "--server", "mysql://u:secret-word@127.0.0.1:1/x")
    refused(said, "--server: no case of this choice uses MariaDB")
    assert "secret-word" not in said.stderr
    assert list(tmp_path.iterdir()) == []
    choice = ["--workload", "durable-enqueue", "--processes", "1", "--results", str(tmp_path)]
    said = lab("run", "--suite", "durable", "--subject", "sqlite", "--subject", "heap", *choice)
    assert "note: the suite durable has no case for --subject heap here: it is left out" in said.stdout


def test_list_shows_every_family() -> None:
    said = door.lab("list").stdout
    assert "\n  durable-enqueue-many  timer " in said  # the longest name stands apart from what follows
    for words in (
        "advisory  ",
        "arithmetic-asyncio  limiter",
        "ticks                 ticker",
        "plan                  cooperative",
    ):
        assert words in said, words


@pytest.mark.parametrize("subject", ["array", "linked", "linked-known-tail", "array-naive"])
def test_the_demo_tells_the_same_story_on_every_queue(subject: str) -> None:
    said = door.lab("demo", "--subject", subject)
    assert said.returncode == 0
    assert said.stdout == door.lab("demo").stdout.replace("'array'", f"'{subject}'")
    assert "put back one by one" in said.stdout


@pytest.mark.parametrize("subject", ["rope", "kombu", "queues.timer.array:Array", ":"])
def test_the_demo_of_what_is_none_of_our_queues_is_refused(subject: str) -> None:
    refused(door.lab("demo", "--subject", subject), subject, "expected one of linked, ")


def test_a_path_that_no_system_takes_is_one_sentence() -> None:
    refused(door.lab("show", "x" * 5000), "name too long")
    assert "none in" in door.lab("list", "--results", "x" * 5000).stdout


def test_list_names_suites_subjects_workloads_and_says_when_there_is_no_run(tmp_path: Path) -> None:
    said = door.lab("list", "--results", str(tmp_path)).stdout
    for word in ("quick", "standard", "full", "linked-known-tail", "steady-dispatch", "none in"):
        assert word in said


def test_a_small_run_can_be_shown_and_verified(tmp_path: Path) -> None:
    results = ["--results", str(tmp_path)]
    choice = ["--suite", "quick", "--subject", "array", "--workload", "growth", "--workload", "drained"]
    done = lab("run", *choice, *results)
    assert done.returncode == 0, done.stderr
    shown = door.lab("show", *results)
    assert shown.returncode == 0, shown.stderr
    for words in ("Every call on its own", "growth, 20,000 messages", "Perl p50", "container, 50,000 drained to 10"):
        assert words in shown.stdout
    assert "| subject |" in door.lab("show", "--markdown", *results).stdout
    assert door.lab("verify", *results).returncode == 0
    table = next(tmp_path.rglob("executions.parquet"))
    table.write_bytes(table.read_bytes()[:-100])
    damaged = door.lab("verify", *results)
    refused(damaged, "problem", code=1)
    assert "executions.parquet" in damaged.stdout


def test_no_result_file_holds_a_host_user_or_path(tmp_path: Path) -> None:
    import getpass
    import socket

    results = ["--results", str(tmp_path)]
    lab("run", "--suite", "quick", "--subject", "array", "--workload", "free", *results)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert written
    secrets = [str(Path.home()), str(ROOT), sys.prefix]
    secrets += [name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 4]
    for secret in secrets:
        assert secret.encode() not in written
