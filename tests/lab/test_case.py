"""A case and its key are the same thing twice, and what chance decides follows from the run's seed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lab.absent import absent
from lab.case import (
    CLOCKS,
    COLLECTORS,
    KINDS,
    OWN_NAMES,
    Case,
    execution_of,
    parse_key,
    parse_parameters,
    stem_of,
    subject_of,
)

ROOT = Path(__file__).resolve().parents[2]

words = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in OWN_NAMES)
cases = st.builds(
    Case,
    kind=st.sampled_from(KINDS),
    family=words,
    subject=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True),
    workload=words,
    params=st.dictionaries(names, st.integers(-(10**18), 10**18) | words, max_size=3),
    clock=st.sampled_from(CLOCKS),
    gc=st.sampled_from(COLLECTORS),
)


def cycle(**changes: Any) -> Case:
    given: dict[str, Any] = {"kind": "latency", "family": "timer", "subject": "array", "workload": "cycle"}
    return Case(**{**given, "params": {"queued": 200000, "due": 1000}, **changes})


def test_a_key_says_everything_with_the_parameters_by_name() -> None:
    assert cycle().key == "timer/array/cycle/due=1000,queued=200000/latency/cpu/gc-on"
    assert cycle(params={}, clock="wall", gc="off").key == "timer/array/cycle/-/latency/wall/gc-off"
    assert cycle().stem(3) == "timer.array.cycle.due=1000,queued=200000.latency.cpu.gc-on.p3"
    assert stem_of(cycle().key, 3) == cycle().stem(3)


def test_parameters_given_by_name_by_mapping_or_as_pairs_in_any_order_are_the_same_case() -> None:
    by_name = Case.of("latency", "timer", "array", "cycle", due=1000, queued=200000)
    assert by_name == cycle() == cycle(params=[("due", 1000), ("queued", 200000)])
    assert hash(by_name) == hash(cycle())
    assert by_name.parameters == {"due": 1000, "queued": 200000}
    assert by_name.param("due") == 1000
    with pytest.raises(KeyError, match=r"no parameter 'part'.*there are due=1000,queued=200000"):
        by_name.param("part")


@given(cases)
def test_parse_key_is_the_inverse_of_key(case: Case) -> None:
    assert parse_key(case.key) == case
    assert dict(parse_parameters(case.params_text)) == case.parameters


@given(cases, cases, st.integers(0, 20), st.integers(0, 20))
def test_two_executions_never_share_a_file(one: Case, other: Case, first: int, second: int) -> None:
    assume((one, first) != (other, second))
    assert one.stem(first) != other.stem(second)


def test_a_stem_leaves_room_for_the_suffix_of_a_temporary_file() -> None:
    longest = cycle(subject="a" * (200 - len(cycle().key) + len("array")))
    assert len(longest.key) == 200
    assert len(f".{longest.stem(99999)}.parquet.tmp") <= 255


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "speed"}, "'speed' is no kind: expected one of latency, batched"),
        ({"clock": "sun"}, "'sun' is no clock: expected one of cpu, wall"),
        ({"gc": True}, "True is no collector: expected one of on, off"),
        ({"family": "Timer"}, "'Timer' is no name of a family"),
        ({"subject": "my/queue"}, "'my/queue' is no name of a subject"),
        ({"subject": ".."}, "is no name of a subject"),
        ({"subject": "Array"}, "is no name of a subject"),  # a file system may not tell it from array
        ({"workload": "cycle.two"}, "is no name of a workload"),
        ({"workload": ""}, "is no name of a workload"),
        ({"params": {"due": True}}, "parameter due=True: expected a whole number or a lower-case word"),
        ({"params": {"due": 1.5}}, "parameter due=1.5: expected"),
        ({"params": {"due": "10"}}, "parameter due='10': expected"),  # would come back as a number
        ({"params": {"due": "a.b"}}, "parameter due='a.b': expected"),
        ({"params": {"due": 10**18 + 1}}, "parameter due=1000000000000000001: expected"),
        ({"params": {"Due": 1}}, "'Due' is no name of a parameter"),
        ({"params": {"gc": 1}}, "'gc' is no name of a parameter"),
        ({"params": [("due", 1), ("due", 2)]}, "parameter due is given twice"),
        ({"target": "module"}, "'module' is no target: expected 'package.module:Class'"),
        ({"target": "/home/x.py:Class"}, "is no target"),
        ({"subject": "a" * 200}, "is longer than 200 characters"),
    ],
)
def test_what_would_make_a_key_ambiguous_or_a_file_name_unsafe_is_one_sentence(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        cycle(**changes)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "timer/array/cycle",
        "timer/array/cycle/due=1/latency/cpu/on",
        "timer/array/cycle/due/latency/cpu/gc-on",
        "timer/array/cycle/queued=1,due=1/latency/cpu/gc-on",  # another order
        "timer/array/cycle/due=01/latency/cpu/gc-on",
        "timer/array/cycle//latency/cpu/gc-on",
        "timer/../cycle/-/latency/cpu/gc-on",
        "timer/array/cycle/-/latency/cpu/gc-on/",
    ],
)
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"expected|written"):
        parse_key(key)


def test_a_users_class_gives_the_name_of_its_subject() -> None:
    assert subject_of("my_queues.fast:Heap.Inner") == "my_queues.fast.heap.inner"
    assert subject_of("_private:Größe") == "private.gr--e"
    assert cycle(subject=subject_of("_x:_Y"), target="_x:_Y").key.startswith("timer/x._y/")
    with pytest.raises(ValueError, match="is no target"):
        subject_of("no-module")


def test_the_workloads_seed_is_the_same_for_every_subject_and_process() -> None:
    variants = [
        execution_of(case, process, 7)
        for process in range(3)
        for case in (cycle(), cycle(subject="heap"), cycle(gc="off"), cycle(clock="wall"), cycle(kind="batched"))
    ]
    assert len({execution.seed for execution in variants}) == 1
    assert len({execution.hash_seed for execution in variants}) == len(variants)


def test_the_workloads_seed_follows_from_the_runs_seed_the_workload_and_its_parameters() -> None:
    seeds = {
        execution_of(cycle(), 0, 7).seed,
        execution_of(cycle(), 0, 8).seed,
        execution_of(cycle(workload="growth"), 0, 7).seed,
        execution_of(cycle(params={"due": 1001, "queued": 200000}), 0, 7).seed,
    }
    assert len(seeds) == 4


def test_chance_is_the_same_in_every_process_and_version() -> None:
    execution = execution_of(cycle(), 3, 1)
    assert (execution.seed, execution.hash_seed, execution.padding) == (2923967969824377191, 2696150882, 3321)
    assert execution.id == (cycle().key, 3)
    assert execution.stem == cycle().stem(3)


@given(cases, st.integers(0, 99), st.integers())
def test_seeds_and_padding_stay_in_their_ranges(case: Case, process: int, seed: int) -> None:
    execution = execution_of(case, process, seed)
    assert 0 <= execution.seed < 2**63
    assert 1 <= execution.hash_seed < 2**32  # 0 would turn hash randomisation off
    assert 0 <= execution.padding < 4096


def test_paddings_reach_all_of_their_range() -> None:
    paddings = {execution_of(cycle(), process, 1).padding for process in range(1000)}
    assert min(paddings) < 100
    assert max(paddings) > 3995
    assert len(paddings) > 800


@pytest.mark.parametrize(("process", "seed"), [(-1, 0), (True, 0), (0.0, 0), (0, 1.5), (0, "1")])
def test_a_process_number_and_a_seed_are_whole(process: Any, seed: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a whole number|they count from 0"):
        execution_of(cycle(), process, seed)


@pytest.mark.processes
def test_the_top_of_the_front_door_stays_light() -> None:
    program = (
        "import sys, lab.case, lab.units, lab.environment, lab.record, lab.archive, lab.rank;"
        "print(sorted({'numpy', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.processes
def test_what_is_written_is_made_without_pandas_which_can_be_had_afterwards() -> None:
    program = (
        "import sys; from pathlib import Path; from tests.lab.runs import measured; from lab.archive import open_run;"
        "run = open_run(measured(Path(sys.argv[1]))); print('pandas' in sys.modules, len(run.frame()))"
    )
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program, folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "15"]


def test_a_module_that_is_loaded_stays_and_one_kept_out_is_there_afterwards() -> None:
    with absent("json"):
        assert importlib.import_module("json") is sys.modules["json"]
    sys.modules.pop("colorsys", None)
    with absent("colorsys"), pytest.raises(ModuleNotFoundError, match="No module named 'colorsys'"):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").__name__ == "colorsys"
