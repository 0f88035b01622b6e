"""A run is valid at every moment, goes on where it stopped, and says the same before and after it is compacted."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab import archive, manifest, record, storage
from lab.archive import ArchiveError, find_runs, newest, open_run, resume, verify
from lab.case import Case, execution_of
from lab.record import SchemaError, schema
from lab.sample import structural_worst
from tests.lab.runs import ARRAY, ENVIRONMENT, HEAP, OPERATIONS, OWN, calls_of, measure, measured, plan, start

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def fresh_schema() -> Iterator[None]:
    schema.cache_clear()
    yield
    schema.cache_clear()


def files(run: Path) -> set[str]:
    return {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}


def test_a_new_run_is_running_and_has_nothing(tmp_path: Path) -> None:
    run = start(tmp_path)
    assert run.path.parent == tmp_path / "a-machine"
    assert datetime.strptime(run.name, "%Y%m%dT%H%M%SZ-quick").replace(tzinfo=UTC) <= datetime.now(UTC)
    assert (run.machine, run.suite, run.seed, run.state) == ("a-machine", "quick", 5, "running")
    assert (run.options, run.environment, run.ended_utc) == ({"gc": "on"}, ENVIRONMENT, None)
    assert run.planned == [execution.id for execution in plan()] == run.left()
    assert run.targets == {OWN.key: "own:Queue"}
    assert run.done() == set()
    assert run.rows() == schema().empty_table()
    assert run.cases().num_rows == 0
    assert verify(run.path) == []


def test_two_runs_of_the_same_second_do_not_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2026, 11, 30, 19, 45, tzinfo=UTC)

    monkeypatch.setattr(archive, "datetime", Stopped)
    names = [start(tmp_path).name for _ in range(12)]
    assert names[:3] == ["20261130T194500Z-quick", "20261130T194500Z-quick-2", "20261130T194500Z-quick-3"]
    assert len(set(names)) == 12
    assert [path.name for path in find_runs(tmp_path)] == names


def test_a_record_fills_in_what_follows_from_its_execution(tmp_path: Path) -> None:
    run, execution = start(tmp_path), plan()[2]
    run.record(execution, [{"operation": "", "status": "timeout", "message": "over 60 s", "process": 0}])
    row = run.rows().to_pylist()[0]
    assert (row["subject"], row["target"], row["params"]) == ("own.queue", "own:Queue", "messages=50")
    assert (row["process"], row["seed"], row["hash_seed"]) == (0, execution.seed, execution.hash_seed)
    assert (row["status"], row["message"], row["p50_ns"]) == ("timeout", "over 60 s", None)
    assert run.done() == {execution.id}
    assert run.left() == [other.id for other in plan() if other != execution]


def test_a_message_keeps_no_path(tmp_path: Path) -> None:
    run = start(tmp_path, options={"queue": "/home/x/y.py", "limits": [1, "/a/b"]})
    run.record(plan()[0], [{"operation": "", "status": "failed", "message": "File '/home/x/y.py', line 3"}])
    assert run.rows().to_pylist()[0]["message"] == "File '…/y.py', line 3"
    assert open_run(run.path).options == {"queue": "…/y.py", "limits": [1, "…/b"]}


@pytest.mark.parametrize(
    ("rows", "calls", "message"),
    [
        ([], {}, "expected at least one row, each operation once"),
        ([{"operation": "a", "status": "ok"}] * 2, {}, "each operation once"),
        ([{"operation": "a", "status": "ok"}], {"b": [1]}, "calls of ['b']: expected a row for each operation"),
        ([{"operation": "a", "status": "ok"}], {"a": [1.5]}, "expected whole ns in a row"),
        ([{"operation": "a", "status": "ok", "process": 2}], {}, "a row has 2 in the column 'process', but its"),
        ([{"operation": "a", "status": "ok", "subject": "x"}], {}, "a row has 'x' in the column 'subject', but"),
        ([{"operation": "a", "status": "ok", "message": 5}], {}, "row 0 has 5 in the column 'message'"),
        ([{"status": "ok"}], {}, "row 0 has no value in the column 'operation'"),
    ],
)
def test_rows_that_do_not_fit_leave_nothing_behind(
    rows: list[dict[str, Any]], calls: dict[str, Any], message: str, tmp_path: Path
) -> None:
    run = start(tmp_path)
    with pytest.raises(ValueError, match=".") as raised:  # noqa: RUF043
        run.record(plan()[0], rows, calls)
    assert message in str(raised.value)
    assert files(run.path) == {"run.json"}


def test_an_execution_that_is_not_planned_is_refused(tmp_path: Path) -> None:
    stranger = execution_of(Case.of("latency", "timer", "array", "growth", messages=5), 0, 5)
    with pytest.raises(ValueError, match="timer/array/growth/messages=5/latency/cpu/gc-on, process 0, is not planned"):
        start(tmp_path).record(stranger, [{"operation": "a", "status": "ok"}])


def test_a_second_record_of_an_execution_replaces_the_first_with_its_calls(tmp_path: Path) -> None:
    run, execution = start(tmp_path), plan()[0]
    measure(run, execution, 0)
    assert set(run.calls(ARRAY, "take")) == {0}
    run.record(execution, [{"operation": "", "status": "failed", "message": "the second time"}])
    assert run.rows().column("message").to_pylist() == ["the second time"]
    assert run.calls(ARRAY, "take") == {}


def test_rows_cases_and_calls_are_the_same_before_and_after_compaction(tmp_path: Path) -> None:
    before = open_run(measured(tmp_path / "1", finish=False))
    rows, cases = before.rows(), before.cases()
    with resume(before.path) as run:
        assert run.finish() == "complete"
        assert run.rows() == rows
        assert run.cases() == cases
    after = open_run(before.path)
    assert (after.state, after.left(), after.done()) == ("complete", [], set(after.planned))
    assert after.rows() == rows
    assert after.cases() == cases
    assert files(after.path) == {"run.json", "executions.parquet", "cases.parquet"} | {
        f"calls/{execution.stem}.parquet" for execution in plan() if execution.case is not OWN
    }
    assert not (after.path / "parts").exists()
    for process, samples in after.calls(HEAP, "requeue").items():
        assert samples.tolist() == calls_of(execution_of(HEAP, process, 5), "requeue").tolist()
    assert after.calls(HEAP, "free") == after.calls(OWN, "take") == {}


def test_rows_come_in_the_order_of_the_run(tmp_path: Path) -> None:
    run = start(tmp_path)
    for position, execution in enumerate(reversed(plan())):
        measure(run, execution, position)
    assert run.rows().column("position").to_pylist() == [0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8]
    assert run.rows().column("process").to_pylist() == [2] * 5 + [1] * 5 + [0] * 5
    assert run.rows().column("operation").to_pylist()[:3] == ["", "take", "requeue"]


@pytest.mark.parametrize("read", ["rows", "cases", "done", "left", "frame"])
def test_a_run_that_is_completed_while_it_is_read_is_read_whole(read: str, tmp_path: Path) -> None:
    path = measured(tmp_path, finish=False)
    reader = open_run(path)
    with resume(path) as run:
        assert run.finish() == "complete"
    found, whole = getattr(reader, read)(), getattr(open_run(path), read)()
    assert found.equals(whole) if hasattr(found, "equals") else found == whole
    assert reader.ignored == []


def test_a_frame_has_the_key_of_every_row(tmp_path: Path) -> None:
    frame = open_run(measured(tmp_path)).frame()
    assert list(frame.columns) == ["key", *schema().names]
    assert set(frame.key) == {ARRAY.key, HEAP.key, OWN.key}
    assert frame.loc[frame.key == ARRAY.key, "n"].tolist() == [40] * 6


def test_cases_hold_the_structural_worst_call_of_what_is_ok(tmp_path: Path) -> None:
    cases = open_run(measured(tmp_path)).cases().to_pylist()
    assert [(case["subject"], case["operation"]) for case in cases] == [
        (subject, operation) for subject in ("array", "heap") for operation in OPERATIONS
    ]
    for case in cases:
        own = ARRAY if case["subject"] == "array" else HEAP
        matrix = [calls_of(execution_of(own, process, 5), case["operation"]) for process in range(3)]
        assert (case["structural_worst_ns"], case["structural_worst_index"]) == structural_worst(matrix)
        assert (case["processes"], case["n"]) == (3, 40)


@pytest.mark.parametrize(
    ("calls", "changes"),
    [
        ([[1, 2, 3]], {}),  # one process
        ([[1, 2, 3], [1, 2]], {}),  # unequal n
        ([[1, 2, 3], [1, 2, 3]], {"calls_per_sample": 10}),
        ([[1, 2, 3], [1, 2, 3]], {"warmup": 3}),
    ],
)
def test_a_structural_worst_call_is_left_out_where_there_is_none(
    calls: list[list[int]], changes: dict[str, Any], tmp_path: Path
) -> None:
    run = start(tmp_path, planned=[execution_of(ARRAY, process, 5) for process in range(len(calls))])
    for process, samples in enumerate(calls):
        row = {"operation": "take", "status": "ok", "n": len(samples), "warmup": 0, "calls_per_sample": 1, **changes}
        run.record(execution_of(ARRAY, process, 5), [row], {"take": array("q", samples)})
    case = run.cases().to_pylist()[0]
    assert case["structural_worst_ns"] is case["structural_worst_index"] is None
    assert case["processes"] == len(calls)
    assert case["n"] == (None if calls == [[1, 2, 3], [1, 2]] else 3)


@pytest.mark.parametrize("rows", [1, 7, 40, 2**18])
def test_the_slowest_calls_are_the_same_in_pieces_of_any_size(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PIECE", rows)
    monkeypatch.setattr(record, "CALLS_AT_A_TIME", 3 * rows)
    for case in open_run(measured(tmp_path)).cases().to_pylist():
        own = ARRAY if case["subject"] == "array" else HEAP
        matrix = [calls_of(execution_of(own, process, 5), case["operation"]) for process in range(3)]
        assert case["worst_index"][0] == case["structural_worst_index"] == structural_worst(matrix)[1]  # type: ignore[index]
        assert case["worst_ns"] == [min(calls[k] for calls in matrix) for k in case["worst_index"]]
        assert case["worst_process_ns"] == [calls[k] for k in case["worst_index"] for calls in matrix]
        assert set(case["worst_cause"]) == {"not looked for"}


def test_raw_calls_of_a_complete_run_may_be_absent(tmp_path: Path) -> None:
    path = measured(tmp_path)
    for file in (path / "calls").iterdir():
        file.unlink()
    (path / "calls").rmdir()
    run = open_run(path)
    assert run.calls(ARRAY, "take") == {}
    assert run.cases().to_pylist()[0]["structural_worst_ns"] is not None
    assert verify(path) == []


def test_a_run_that_is_stopped_is_sealed_and_goes_on(tmp_path: Path) -> None:
    path = measured(tmp_path, count=4)
    stopped = open_run(path)
    assert (stopped.state, len(stopped.done()), verify(path)) == ("interrupted", 4, [])
    assert stopped.ended_utc is not None
    assert newest(tmp_path, unfinished=True) == path
    with resume(path, plan()[::-1], ENVIRONMENT) as run:
        assert (run.state, run.ended_utc) == ("running", None)
        assert run.left() == [execution.id for execution in plan()[4:]]
        for position, execution in list(enumerate(plan()))[4:]:
            measure(run, execution, position)
        assert run.finish() == "complete"
    assert verify(path) == []
    whole = open_run(measured(tmp_path / "whole"))
    assert open_run(path).rows() == whole.rows()
    assert open_run(path).cases() == whole.cases()
    with pytest.raises(ArchiveError, match="there is no unfinished run in"):
        newest(tmp_path, unfinished=True)


def test_a_run_is_not_complete_with_something_left(tmp_path: Path) -> None:
    run = start(tmp_path)
    with pytest.raises(ArchiveError, match="has 9 executions left, such as timer/array/cycle"):
        run.finish("complete")
    with pytest.raises(ValueError, match="'running' is no state of a finished run: expected complete or interrupted"):
        run.finish("running")
    assert run.finish() == "interrupted"
    assert verify(run.path) == []


def test_what_is_closed_or_only_read_takes_no_more(tmp_path: Path) -> None:
    run = start(tmp_path)
    run.close()
    run.close()
    for reader in (run, open_run(run.path)):
        with pytest.raises(ArchiveError, match="is open for reading only: resume it"):
            measure(reader, plan()[0], 0)
        with pytest.raises(ArchiveError, match="is open for reading only"):
            reader.finish()


def test_a_complete_run_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is complete: there is nothing left to do"):
        resume(measured(tmp_path))


def test_a_run_is_resumed_with_its_own_plan_and_on_its_own_machine_only(tmp_path: Path) -> None:
    path = measured(tmp_path, count=1)
    with pytest.raises(ArchiveError, match=r"has another plan: only the run has timer/array/.*, process 2"):
        resume(path, plan(processes=2))
    with pytest.raises(ArchiveError, match=r"has another plan: only the command has timer/array/.*, process 3"):
        resume(path, plan(processes=4))
    with pytest.raises(ArchiveError, match=r"was begun with python '3\.11\.7', not '3\.13\.0': start a new run"):
        resume(path, environment={**ENVIRONMENT, "python": "3.13.0"})
    assert open_run(path).state == "interrupted"


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    run = start(tmp_path)
    measure(run, plan()[0], 0)
    with pytest.raises(ArchiveError, match="is being written by another process: wait until that one ends, or stop it"):
        resume(run.path)
    assert len(open_run(run.path).done()) == 1  # reading goes on meanwhile
    run.close()
    resume(run.path).close()


KILLED = """
import json, os, signal, sys
from pathlib import Path
from tests.lab.runs import measure, plan, start

fatal = calls = 0

def kill():
    global calls
    calls += 1
    if calls == fatal:
        os.kill(os.getpid(), signal.SIGKILL)

def killing(original):
    def before(*arguments, **named):
        kill()
        return original(*arguments, **named)
    return before

def carry_out(folder):
    run = start(Path(folder))
    measure(run, plan()[0], 0)
    os.fsync, Path.replace, Path.unlink = killing(os.fsync), killing(Path.replace), killing(Path.unlink)
    for position in range(1, 9):
        measure(run, plan()[position], position)
    run.finish()

for line in sys.stdin:
    folder, fatal = json.loads(line)
    child = os.fork()
    if not child:
        carry_out(folder)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Makes a run in each folder that it is told, in a process of its own that dies before the step told with it."""


STEPS = {
    1: "before the old part is removed",
    2: "the calls are written but not flushed",
    3: "the calls are flushed but not renamed",
    5: "the part is flushed but not renamed",
    6: "the part is renamed",
    38: "executions.parquet is not flushed",
    42: "cases.parquet is not renamed",
    47: "run.json is not renamed",
    49: "run.json says complete, no part is removed",
    53: "some parts are removed",
}


@pytest.fixture(scope="module")
def killed_at() -> Iterator[Callable[[Path, int], int]]:
    """Make a run in a folder that is killed before a step, and return the exit code of its process."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        to, said = started.stdin, started.stdout

        def make(folder: Path, step: int) -> int:
            to.write(json.dumps([str(folder), step]) + "\n")
            to.flush()
            return int(said.readline())

        yield make
        to.close()


@pytest.mark.processes
@pytest.mark.parametrize("step", STEPS, ids=STEPS.get)
def test_a_run_that_is_killed_anywhere_is_sound_and_resumes_to_the_same_result(
    step: int, killed_at: Callable[[Path, int], int], tmp_path: Path
) -> None:
    assert killed_at(tmp_path, step) == -signal.SIGKILL
    path = newest(tmp_path)
    assert verify(path) == []
    killed = open_run(path)
    assert plan()[0].id in killed.done()
    assert killed.ignored == []
    if killed.state != "complete":
        with resume(path) as run:
            for position, execution in enumerate(plan()):
                if execution.id in run.left():
                    measure(run, execution, position)
            assert run.finish() == "complete"
        assert not [name for name in files(path) if name.endswith(".tmp")]
    assert verify(path) == []
    assert open_run(path).rows() == open_run(measured(tmp_path / "whole")).rows()


def test_a_half_written_part_is_ignored_named_and_measured_again(tmp_path: Path) -> None:
    path = measured(tmp_path, count=2, finish=False)
    part = path / "parts" / f"{plan()[1].stem}.parquet"
    storage.temporary_name(part).write_bytes(b"half")
    part.write_bytes(part.read_bytes()[:-100])
    run = open_run(path)
    assert run.done() == {plan()[0].id}
    assert run.ignored == [
        f"parts/{part.name} is no readable Parquet file: it was cut off, edited or written by something else"
    ]
    with resume(path) as again:
        assert again.left()[0] == plan()[1].id
        measure(again, plan()[1], 1)
        assert not storage.temporary_name(part).exists()
    assert len(open_run(path).done()) == 2


def test_a_part_that_is_damaged_after_it_was_written_does_not_count_for_who_wrote_it(tmp_path: Path) -> None:
    with start(tmp_path) as run:
        for position, execution in enumerate(plan()):
            measure(run, execution, position)
        whole = run.rows()
        part = run.path / "parts" / f"{plan()[1].stem}.parquet"
        part.write_bytes(part.read_bytes()[:-100])
        assert run.rows().num_rows == whole.num_rows - len(OPERATIONS)
        assert [sentence.split()[0] for sentence in run.ignored] == [f"parts/{part.name}"]
        assert run.finish() == "interrupted"


def test_damaged_calls_do_not_keep_a_run_from_ending(tmp_path: Path) -> None:
    path = measured(tmp_path, finish=False)
    file = path / "calls" / f"{plan()[0].stem}.parquet"
    file.write_bytes(file.read_bytes()[:50])
    with resume(path) as run:
        assert run.finish() == "complete"
        assert [sentence.split()[0] for sentence in run.ignored] == [f"calls/{file.name}"]
        assert [case["structural_worst_ns"] is None for case in run.cases().to_pylist()] == [True, True, False, False]
        with pytest.raises(ArchiveError, match=f"calls/{file.name} is no readable Parquet file"):
            run.calls(ARRAY, "take")
    assert [problem.split()[0] for problem in verify(path)] == [f"calls/{file.name}"]


@pytest.mark.parametrize("kept", [0, 1])
def test_calls_that_are_fewer_than_were_made_are_named_and_make_no_worst_call(kept: int, tmp_path: Path) -> None:
    path = measured(tmp_path, finish=False)
    file = path / "calls" / f"{plan()[0].stem}.parquet"
    pq.write_table(pq.read_table(file).slice(0, kept), file)
    with resume(path) as run:
        assert [case["structural_worst_ns"] is None for case in run.cases().to_pylist()] == [True, True, False, False]
        made = len(calls_of(plan()[0], "take"))
        told = f"calls/{file.name} holds {{}} calls of an operation of which {made} were made: it was edited"
        assert run.ignored == [told.format(count) for count in dict.fromkeys((kept, 0))]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "file", tmp_path / "file" / "results"):
        with pytest.raises(ArchiveError, match=r"cannot be written \(.+\): name a folder that you may write to$"):
            start(root)


@pytest.mark.parametrize(("owner", "function"), [(os, "fsync"), (Path, "open")])
def test_a_full_disk_is_one_sentence_and_leaves_no_half_file(
    owner: Any, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(tmp_path)

    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(owner, function, full)
        with pytest.raises(ArchiveError, match=r"cannot be written \(No space left on device\)"):
            measure(run, plan()[0], 0)
        with pytest.raises(ArchiveError, match=r"cannot be written \(No space left on device\)"):
            run.finish()
    assert files(run.path) == {"run.json"}
    assert run.state == "running"
    assert run.finish() == "interrupted"


@pytest.mark.parametrize(
    ("machine", "suite"), [("", "quick"), ("..", "quick"), ("a/b", "quick"), ("m", "Quick"), ("m", "")]
)
def test_a_machine_and_a_suite_make_a_folder_name(machine: str, suite: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="make no folder name"):
        archive.create(tmp_path, machine, suite, seed=1, options={}, environment={}, planned=plan())


def test_a_plan_has_every_execution_once(tmp_path: Path) -> None:
    for wrong in ([], plan() + plan()[:1]):
        with pytest.raises(ValueError, match="expected each once, at least one"):
            archive.create(tmp_path, "m", "quick", seed=1, options={}, environment={}, planned=wrong)


def test_the_newest_run_is_found_on_every_machine_and_among_the_references(tmp_path: Path) -> None:
    assert find_runs(tmp_path / "nothing") == []
    with pytest.raises(ArchiveError, match=r"there is no run in .*: make one with `make bench-quick`"):
        newest(tmp_path)
    names = [
        "reference/m/20250101T000000Z-full",
        "z/20260101T000000Z-quick",
        "a/20260102T000000Z-quick-2",
        "a/20260102T000000Z-quick-10",
    ]
    for name in reversed(names):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").write_text("{}")
    (tmp_path / "a" / "20270101T000000Z-quick").mkdir()  # killed before it had a run.json
    assert [path.relative_to(tmp_path).as_posix() for path in find_runs(tmp_path)] == names
    assert newest(tmp_path) == tmp_path / names[-1]


def test_the_run_of_a_check_is_the_newest_only_where_there_is_no_other_and_is_never_resumed(tmp_path: Path) -> None:
    for name in ("20270101T000000Z-reattach", "20270102T000000Z-reattach-2"):
        (tmp_path / "m" / name).mkdir(parents=True)
        (tmp_path / "m" / name / "run.json").write_text("{}")
    assert newest(tmp_path) == tmp_path / "m" / "20270102T000000Z-reattach-2"
    with pytest.raises(ArchiveError, match="there is no unfinished run"):
        newest(tmp_path, unfinished=True)
    (tmp_path / "m" / "20260101T000000Z-quick").mkdir()
    (tmp_path / "m" / "20260101T000000Z-quick" / "run.json").write_text("{}")
    assert newest(tmp_path) == tmp_path / "m" / "20260101T000000Z-quick"


def test_what_is_no_run_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ArchiveError, match=r"run\.json is missing: this folder is no run, or not a whole one"):
            open_run(path)
        with pytest.raises(ArchiveError, match=r"run\.json is missing"):
            resume(path)


@pytest.mark.usefixtures("fresh_schema")
def test_an_older_run_is_read_through_the_migrations_and_a_newer_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = measured(tmp_path)
    rows = open_run(path).rows()

    def older(table: pa.Table) -> pa.Table:
        place = table.schema.names.index("python")
        return table.set_column(place, "python", pa.array(["carried over"] * table.num_rows))

    newest = record.SCHEMA_VERSION
    schema.cache_clear()
    for module in (record, manifest):
        monkeypatch.setattr(module, "SCHEMA_VERSION", newest + 1)
    monkeypatch.setitem(record.MIGRATIONS["executions"], newest, older)
    monkeypatch.setitem(record.MIGRATIONS["calls"], newest, lambda table: table)
    monkeypatch.setitem(record.MIGRATIONS["cases"], newest, lambda table: table)
    with pytest.raises(ArchiveError, match=f"has schema version {newest}, from which no way leads to {newest + 1}"):
        open_run(path)
    monkeypatch.setitem(manifest.MIGRATIONS, newest, lambda content: {**content, "suite": "older"})
    run = open_run(path)
    assert run.suite == "older"
    assert run.rows().column("python").to_pylist() == ["carried over"] * rows.num_rows
    assert run.rows().drop_columns(["python"]).to_pylist() == rows.drop_columns(["python"]).to_pylist()
    assert len(run.calls(ARRAY, "take")) == 3
    assert verify(path) == []
    newer = measured(tmp_path / "newer")
    monkeypatch.undo()
    schema.cache_clear()
    message = f"it has schema version {newest + 1} and this lab reads versions up to {newest}: update the lab"
    with pytest.raises(ArchiveError, match=message):
        open_run(newer)
    assert verify(newer) == [f"run.json cannot be read: {message}"]
    with pytest.raises(SchemaError, match=message):
        record.check_version(newest + 1)
