"""`verify` names every file that is truncated, edited, foreign, missing or newer, and accuses no sound run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab import storage
from lab.archive import ArchiveError, open_run, resume, verify
from lab.record import SCHEMA_VERSION, calls_tables, execution_columns, table_of
from lab.storage import ROWS_DIGEST, Flaw, digest_of, read_table, write_calls
from tests.lab.runs import ARRAY, measured, plan, start

PART = f"parts/{plan()[0].stem}.parquet"
RAW = f"calls/{plan()[0].stem}.parquet"


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("complete"))


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("interrupted"), count=3)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("running"), count=3, finish=False)


@pytest.fixture(params=["complete", "interrupted", "running"])
def run(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


class Changed:
    """A file with other content for a while."""

    def __init__(self, path: Path, content: bytes | None) -> None:
        self.path, self.content = path, content

    def __enter__(self) -> None:
        self.original = self.path.read_bytes() if self.path.exists() else None
        if self.content is None:
            self.path.unlink()
        else:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_bytes(self.content)

    def __exit__(self, *error: object) -> None:
        if self.original is None:
            self.path.unlink()
        else:
            self.path.write_bytes(self.original)


def names(problems: list[str]) -> set[str]:
    return {problem.split()[0] for problem in problems}


def offsets(size: int, count: int = 40) -> list[int]:
    """Byte offsets over the whole file, both ends and their neighbours among them."""
    edge = min(9, size)
    return sorted({*range(edge), *range(size - edge, size), *range(0, size, max(1, size // count))})


def test_a_sound_run_of_any_state_has_no_problem(run: Path) -> None:
    assert verify(run) == []


@pytest.mark.parametrize("name", ["executions.parquet", "cases.parquet", RAW])
def test_a_file_of_a_complete_run_that_is_cut_off_anywhere_is_named(complete: Path, name: str) -> None:
    whole = (complete / name).read_bytes()
    for length in offsets(len(whole)):
        with Changed(complete / name, whole[:length]):
            assert verify(complete) == [f"{name} was truncated: it has {length:,} bytes of {len(whole):,}"]
            with pytest.raises(ArchiveError, match=f"{re.escape(name)} is not what was written"):
                read_everything(complete)


@pytest.mark.parametrize("name", ["executions.parquet", "cases.parquet", RAW])
def test_a_file_of_a_complete_run_with_one_changed_byte_is_named(complete: Path, name: str) -> None:
    whole = (complete / name).read_bytes()
    for offset in offsets(len(whole)):
        with Changed(complete / name, flipped(whole, offset)):
            assert verify(complete) == [f"{name} was edited: its SHA-256 is not the one in run.json"]
            with pytest.raises(ArchiveError, match=f"{re.escape(name)} is not what was written"):
                read_everything(complete)


def flipped(content: bytes, offset: int) -> bytes:
    return content[:offset] + bytes([content[offset] ^ 0x41]) + content[offset + 1 :]


def read_everything(path: Path) -> None:
    run = open_run(path)
    run.rows()
    run.cases()
    run.calls(ARRAY, "take")


def test_a_part_that_is_cut_off_anywhere_is_named_and_not_read(running: Path) -> None:
    whole = (running / PART).read_bytes()
    for length in offsets(len(whole)):
        with Changed(running / PART, whole[:length]):
            assert names(verify(running)) == {PART}
            opened = open_run(running)
            assert opened.done() == {execution.id for execution in plan()[1:3]}
            assert names(opened.ignored) == {PART}


def test_a_part_with_one_changed_byte_is_named_or_says_the_same(running: Path) -> None:
    whole, rows, named = (running / PART).read_bytes(), open_run(running).rows(), 0
    everywhere = offsets(len(whole), 100)
    for offset in everywhere:
        with Changed(running / PART, flipped(whole, offset)):
            problems = verify(running)
            assert names(problems) <= {PART}
            if problems:
                named += 1
            else:  # a statistic of a column that nobody reads
                assert open_run(running).rows() == rows
    assert named > len(everywhere) / 3


def test_the_calls_of_an_unfinished_run_that_are_cut_off_are_named(running: Path) -> None:
    whole = (running / RAW).read_bytes()
    for length in offsets(len(whole), 20):
        with Changed(running / RAW, whole[:length]):
            assert names(verify(running)) == {RAW}
            with pytest.raises(ArchiveError, match=f"{re.escape(RAW)} is no readable Parquet file"):
                open_run(running).calls(ARRAY, "take")


def test_the_calls_of_an_unfinished_run_with_one_changed_byte_are_named_or_say_the_same(running: Path) -> None:
    whole, calls = (running / RAW).read_bytes(), open_run(running).calls(ARRAY, "take")[0]
    for offset in offsets(len(whole), 150):
        with Changed(running / RAW, flipped(whole, offset)):
            problems = verify(running)
            assert names(problems) <= {RAW}
            assert problems or open_run(running).calls(ARRAY, "take")[0].tolist() == calls.tolist()


def test_a_run_json_that_is_cut_off_anywhere_is_named_and_the_run_is_not_opened(run: Path) -> None:
    whole = (run / "run.json").read_bytes()
    for length in offsets(len(whole) - 1):  # without its last line feed it says the same
        with Changed(run / "run.json", whole[:length]):
            assert verify(run) == ["run.json is no readable JSON: it was cut off or edited"]
            with pytest.raises(ArchiveError, match=r"run\.json is no readable JSON"):
                open_run(run)


def test_a_run_json_with_one_changed_byte_is_named(run: Path) -> None:
    whole = (run / "run.json").read_bytes()
    for offset in offsets(len(whole) - 1):
        with Changed(run / "run.json", flipped(whole, offset)):
            assert names(verify(run)) == {"run.json"}


def test_a_figure_changed_with_another_tool_is_named(complete: Path, running: Path) -> None:
    for path, name in ((complete, "executions.parquet"), (running, PART)):
        table = pq.read_table(path / name)
        place = table.schema.names.index("max_ns")
        better = pa.array([1.0] * table.num_rows)
        sink = pa.BufferOutputStream()
        pq.write_table(table.set_column(place, table.schema.field("max_ns"), better), sink)
        with Changed(path / name, sink.getvalue().to_pybytes()):
            assert names(verify(path)) == {name}


def test_every_missing_file_is_named(complete: Path, interrupted: Path) -> None:
    for path in (complete, interrupted):
        for name in json.loads((path / "run.json").read_text())["files"]:
            with Changed(path / name, None):
                assert verify(path) == [f"{name} is missing"]
    with Changed(complete / "run.json", None):
        assert verify(complete) == ["run.json is missing: this folder is no run, or not a whole one"]


@pytest.mark.parametrize(
    "name", ["notes.txt", "calls/notes.parquet", "parts/more.parquet", "more/executions.parquet", ".x"]
)
def test_a_file_that_does_not_belong_is_named(run: Path, name: str) -> None:
    folder = (run / name).parent
    made = not folder.exists()
    with Changed(run / name, b"whatever"):
        assert verify(run) == [f"{name} does not belong here: this run neither wrote nor plans it"]
    if made:
        folder.rmdir()


def test_what_a_killed_process_left_under_a_temporary_name_is_no_problem(run: Path) -> None:
    with Changed(storage.temporary_name(run / RAW), b"half"), Changed(storage.temporary_name(run / "run.json"), b""):
        assert verify(run) == []
        open_run(run)


def test_a_link_is_foreign_even_under_the_name_of_a_part(running: Path) -> None:
    link = running / "parts" / f"{plan()[5].stem}.parquet"
    link.symlink_to(running / PART)
    assert verify(running) == [f"parts/{link.name} does not belong here: this run neither wrote nor plans it"]
    link.unlink()


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def another_execution(number: int = 1) -> pa.Table:
    return table_of([{**execution_columns(plan()[number]), "operation": "", "status": "ok", "message": ""}])


def own_execution() -> pa.Table:
    return another_execution(0)


def vouched(table: pa.Table) -> pa.Table:
    """The table with a digest of its rows, as every part has one."""
    digest = {ROWS_DIGEST: digest_of(table.to_pylist()).encode()}
    return table.replace_schema_metadata({**table.schema.metadata, **digest})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parquet(pa.table({"a": [1]})), "does not belong here: it is a table of another tool"),
        (lambda: parquet(next(calls_tables({"take": [1]}))), "does not belong here: it holds the table 'calls'"),
        (lambda: parquet(vouched(another_execution())), "holds other executions than its name says"),
        (lambda: parquet(vouched(another_execution().slice(0, 0))), "holds other executions than its name says"),
        (lambda: parquet(vouched(pa.concat_tables([own_execution()] * 2))), "holds a row twice"),
        (lambda: parquet(own_execution()), "is not what was written: the digest of its rows is gone"),
        (lambda: parquet(another_execution().drop_columns(["n"])), "does not belong here: it lacks the column 'n'"),
        (
            lambda: parquet(
                another_execution().replace_schema_metadata(
                    {"timer-queue-lab": "executions", "timer-queue-lab.schema_version": "99"}
                )
            ),
            (
                "does not belong here: it has schema version 99 and this lab reads versions up to "
                f"{SCHEMA_VERSION}: update the lab"
            ),
        ),
        (lambda: b"", "is no readable Parquet file"),
        (lambda: b"PAR1" * 50, "is no readable Parquet file"),
    ],
)
def test_a_foreign_table_in_the_place_of_a_part_is_named_and_not_read(
    running: Path, make: Callable[[], bytes], message: str
) -> None:
    with Changed(running / PART, make()):
        problems = verify(running)
        assert len(problems) == 1
        assert problems[0].startswith(f"{PART} {message}")
        opened = open_run(running)
        assert plan()[0].id not in opened.done()
        assert opened.ignored == problems


def sealed_again(path: Path, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The run.json of a run after a change, with a digest that fits."""
    content = json.loads((path / "run.json").read_text())
    del content["digest"]
    change(content)
    return json.dumps({**content, "digest": digest_of(content)}).encode()


def relist(path: Path, name: str, content: bytes) -> bytes:
    """The run.json that would vouch for another content of a file."""
    entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    return sealed_again(path, lambda plain: plain["files"].update({name: entry}))


def test_a_table_of_a_complete_run_must_hold_what_the_run_plans_even_when_it_is_listed(complete: Path) -> None:
    name = "executions.parquet"
    table = pq.read_table(complete / name)
    for content, message in (
        (parquet(table.slice(2)), "does not hold exactly the executions that run.json plans"),  # both rows of one
        (parquet(pa.table({"a": [1]})), "does not belong here: it is a table of another tool"),
    ):
        with Changed(complete / "run.json", relist(complete, name, content)), Changed(complete / name, content):
            problems = verify(complete)
            assert len(problems) == 1
            assert problems[0].startswith(f"{name} {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain.update(kind="other"), "run.json was not written by this lab"),
        (lambda plain: plain.update(schema_version=7), "run.json cannot be read: it has schema version 7 and this lab"),
        (lambda plain: plain.update(schema_version="1"), "run.json cannot be read: its schema version is '1'"),
        (lambda plain: plain.pop("seed"), "run.json has None as its seed"),
        (lambda plain: plain.update(seed=True), "run.json has True as its seed"),
        (
            lambda plain: plain.update(state="great"),
            "run.json has the state 'great': expected one of running, complete",
        ),
        (
            lambda plain: plain["planned"].append({"key": "../../x", "process": 0}),
            "run.json plans something that is no",
        ),
        (lambda plain: plain["planned"].append({"process": 0}), "run.json plans something that is no execution"),
        (lambda plain: plain["planned"].append(5), "run.json plans something that is no execution"),
        (lambda plain: plain["files"].update({"../x.parquet": {}}), "run.json lists '../x.parquet', which is no file"),
        (lambda plain: plain["planned"].append(plain["planned"][0]), "run.json plans 10 executions, 9 different"),
        (lambda plain: plain.update(planned=[]), "run.json plans 0 executions"),
        (lambda plain: plain["planned"][0].update(process=True), "run.json plans something that is no execution"),
        (lambda plain: plain["planned"][0].update(process=-1), "run.json plans something that is no execution"),
        (lambda plain: plain["files"].update({"cases.parquet": 3}), "run.json lists cases.parquet with 3: expected"),
        (lambda plain: plain["environment"].update(memory_bytes="8"), "run.json has '8' as the memory_bytes in its"),
        (lambda plain: plain["options"].update(memray=1), "run.json has 1 as the memray in its options"),
        (lambda plain: plain["targets"].update({"x": "own:Queue"}), "run.json has the target 'own:Queue' for 'x'"),
        (lambda plain: plain.update(machine="\ud800"), "run.json is not what was written"),
        (lambda plain: plain["files"].pop("cases.parquet"), "cases.parquet is missing from the list in run.json"),
    ],
)
def test_a_run_json_that_the_lab_never_writes_is_named_although_its_digest_fits(
    complete: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with Changed(complete / "run.json", sealed_again(complete, change)):
        problems = verify(complete)
        assert problems[0].startswith(message)
        assert "\n" not in problems[0]


@pytest.mark.parametrize("content", [b"[]", b"3", b"{}", b"\xff\xfe", b'{"kind": ' * 100_000, b"null"])
def test_a_run_json_of_something_else_is_named(complete: Path, content: bytes) -> None:
    with Changed(complete / "run.json", content):
        assert names(verify(complete)) == {"run.json"}
        with pytest.raises(ArchiveError, match=r"run\.json (is no readable JSON|was not written by this lab)"):
            open_run(complete)


def test_a_finish_that_was_cut_off_before_it_was_sealed_is_no_problem_and_is_done_again(tmp_path: Path) -> None:
    path = measured(tmp_path, finish=False)
    (path / "executions.parquet").write_bytes(b"whatever")
    assert verify(path) == []
    with resume(path) as run:
        assert not (path / "executions.parquet").exists()
        assert run.finish() == "complete"
    assert verify(path) == []


def test_somebody_elses_file_among_the_parts_survives_the_compaction_and_is_named(tmp_path: Path) -> None:
    run = start(tmp_path, planned=plan()[2:3])
    run.record(plan()[2], [{"operation": "", "status": "ok"}])
    (run.path / "parts" / "mine.txt").write_text("mine")
    assert run.finish() == "complete"
    assert names(verify(run.path)) == {"parts/mine.txt"}


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    write_calls(path, {"take": [1, 2]})

    def stop(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_calls(path, {"take": [3]})
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]
    assert read_table(path, "table.parquet", "calls").column("ns").to_pylist() == [1, 2]


def test_what_cannot_be_read_is_a_flaw(tmp_path: Path) -> None:
    with pytest.raises(Flaw, match=r"^x\.parquet is missing$"):
        read_table(tmp_path / "x.parquet", "x.parquet", "calls")
    with pytest.raises(Flaw, match=r"^x cannot be read \(Is a directory\)$"):
        read_table(tmp_path, "x", "calls")
