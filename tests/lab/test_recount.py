"""The figures of raw calls in pieces are those of all calls at once, in memory that does not grow with their number."""

from __future__ import annotations

import shutil
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.archive import ArchiveError, open_run, verify
from lab.case import execution_of
from lab.recount import problems, summarize_pieces
from lab.sample import operation_columns, summarize
from tests import door
from tests.lab.runs import ARRAY, SEED, calls_of, measured, start

NS = st.one_of(st.integers(0, 300), st.integers(0, 2**40), st.sampled_from([771, 772, 781, 10_000]))


@given(st.lists(NS, min_size=1, max_size=200), st.integers(0, 220), st.lists(st.integers(0, 200), max_size=6))
def test_every_figure_is_that_of_all_calls_at_once(values: list[int], warmup: int, cuts: list[int]) -> None:
    places = sorted({0, len(values), *(cut for cut in cuts if cut < len(values))})
    pieces = [values[a:b] for a, b in pairwise(places)]
    if warmup >= len(values):
        with pytest.raises(ValueError, match=f"no call after a warm-up of {warmup}"):
            summarize_pieces(lambda: pieces, warmup)
        return
    found, wanted = summarize_pieces(lambda: pieces, warmup), summarize(values, warmup)
    assert {**vars(found), "histogram": None} == {**vars(wanted), "histogram": None}
    assert found.histogram.bucket.tolist() == wanted.histogram.bucket.tolist()
    assert found.histogram.count.tolist() == wanted.histogram.count.tolist()


def test_a_negative_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="a sample of -1 ns"):
        summarize_pieces(lambda: [[5], [3, -1]])


def peak_of(calls: int) -> int:
    def read() -> Any:
        chance = np.random.default_rng(1)
        return (chance.lognormal(7, 1, 2**14).astype(np.int64) for _ in range(calls // 2**14))

    tracemalloc.start()
    try:
        assert summarize_pieces(read).n == calls
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_eight_times_as_many_calls_need_no_more_memory() -> None:
    assert peak_of(2**20) < 1.2 * peak_of(2**17)


def test_a_run_agrees_with_its_raw_calls_and_without_them_there_is_nothing_to_say(tmp_path: Path) -> None:
    run = open_run(measured(tmp_path))
    assert problems(run) == []
    shutil.rmtree(run.path / "calls")
    assert problems(run) == []


@pytest.mark.parametrize(
    ("name", "wrong"), [("p99_ns", 12.0), ("mean_ns", 1.5), ("max_index", 3), ("n", 39), ("p50_ns", 700.5)]
)
def test_a_figure_that_does_not_follow_from_the_raw_calls_is_named_though_the_run_is_sealed(
    name: str, wrong: float, tmp_path: Path
) -> None:
    execution = execution_of(ARRAY, 0, SEED)
    calls = calls_of(execution, "take")
    with start(tmp_path, planned=[execution]) as run:
        row = {"operation": "take", "status": "ok", **operation_columns(calls), name: wrong}
        run.record(execution, [row], {"take": calls})
        run.finish()
    assert verify(run.path) == []
    (said,) = problems(open_run(run.path))
    assert said.startswith(f"{ARRAY.key}, process 0, take: {name} is {wrong} and the raw calls say ")


@pytest.mark.parametrize(("name", "code"), [("p99_ns", 1), ("", 0)])
def test_lab_verify_says_so(name: str, code: int, tmp_path: Path) -> None:
    execution = execution_of(ARRAY, 0, SEED)
    calls = calls_of(execution, "take")
    row = {"operation": "take", "status": "ok", **operation_columns(calls), **({name: 12.0} if name else {})}
    with start(tmp_path, planned=[execution]) as run:
        run.record(execution, [row], {"take": calls})
        run.finish()
    done = door.lab("verify", str(run.path))
    assert done.returncode == code, done.stderr
    assert ("p99_ns is 12.0 and the raw calls say" in done.stdout) == bool(name)


def test_samples_of_many_calls_are_compared_per_call(tmp_path: Path) -> None:
    execution = execution_of(ARRAY, 0, SEED)
    calls = calls_of(execution, "take")
    columns = operation_columns(calls, warmup=4, calls_per_sample=10)
    with start(tmp_path, planned=[execution]) as run:
        run.record(execution, [{"operation": "take", "status": "ok", **columns}], {"take": calls})
    assert problems(open_run(run.path)) == []


def test_damaged_calls_are_an_error_that_names_them(tmp_path: Path) -> None:
    path = measured(tmp_path, finish=False)
    file = sorted((path / "calls").iterdir())[0]
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(ArchiveError, match="is no readable Parquet file"):
        problems(open_run(path))
