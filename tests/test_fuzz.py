"""A damaged run, or one of another tool or another time, before every door: a right answer or one sentence.

`python -m tests.fuzz` does the same as often as it is told, on a run that was measured.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from lab import archive, environment
from tests import fuzz
from tests.fuzz import Base, Said, call, judged, made, not_measuring, one
from tests.lab import runs


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return made(tmp_path_factory.mktemp("fuzz"))


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_a_damaged_run_is_answered_rightly_or_with_one_sentence_that_names_it(base: Base, chance: Random) -> None:
    done, wrong = one(base, chance)
    note(done)
    assert not wrong, f"{done}: {wrong}"


SOUND = Said(0, "take 2.00 us", "")


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (Said(0, "take 3.00 us", ""), "another answer without a word"),
        (Said(2, "", "lab: it went wrong"), "names no file"),
        (Said(2, "", "lab: run.json is wrong\nand more"), "more than one sentence"),
        (Said(7, "", "run.json"), "ended with 7"),
        (Said(1, "", "Traceback (most recent call last) run.json"), "ended with 1"),
        (SOUND, ""),
        (Said(0, "take 3.00 us\nnote: run.json was edited", ""), ""),
        (Said(2, "", "lab: run.json was edited"), ""),
    ],
)
def test_the_judge_knows_a_wrong_answer(said: Said, wrong: str, tmp_path: Path) -> None:
    found = judged(said, SOUND, tmp_path / "root" / "machine" / "run", "run.json", sealed=False)
    assert (wrong in found) if wrong else not found


@pytest.mark.parametrize(("process", "wrong"), [(0, ""), (1, "another answer without a word about the file")])
def test_calls_are_named_by_their_case_and_process_too(process: int, wrong: str, tmp_path: Path) -> None:
    name = "calls/timer.array.cycle.due=10.latency.cpu.gc-on.p0.parquet"
    said = Said(1, f"timer/array/cycle/due=10/latency/cpu/gc-on, process {process}, take: max_ns is 1.0", "")
    assert judged(said, SOUND, tmp_path / "root" / "machine" / "run", name, sealed=False) == wrong


def test_a_door_that_hangs_is_told(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(run: object) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "SECONDS", 0.1)
    monkeypatch.setattr("lab.archive.open_run", hang)
    monkeypatch.setattr(base, "said", {(state, "show"): SOUND for state in base.runs})
    with pytest.raises(fuzz.Hung):
        fuzz.call("show", str(base.other), seconds=0.1)


def test_a_table_of_a_hundred_thousand_rows_is_refused_in_time(base: Base, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with fuzz.copy_of(base, base.runs["complete"]) as run:
        path = run / "executions.parquet"
        table = pq.read_table(path)
        pq.write_table(pa.concat_tables([table] * (100_000 // len(table))).combine_chunks(), path)
        fuzz.seal(run, ["executions.parquet"])
        said = fuzz.call("show", str(run))
    assert said.code == 2
    assert "executions.parquet holds a row twice" in said.err


@pytest.mark.parametrize("count", [5, 7])
def test_a_damaged_part_is_named_by_the_run_that_measures_it_again(count: int, tmp_path: Path) -> None:
    given: dict[str, Any] = {"seed": 1, "options": {}, "environment": environment.capture()}
    with archive.create(tmp_path, "a-machine", "quick", planned=runs.plan(), **given) as run:
        for position, execution in enumerate(runs.plan()[:count]):
            runs.measure(run, execution, position)
    part = min((run.path / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-9])
    with not_measuring():
        said = call("run", "--resume", str(run.path))
    assert f"note: parts/{part.name} " in said.out
    assert said.out.count("what it was about is measured again\n") == 1
    assert f": {count - 1} executions in " in said.out
