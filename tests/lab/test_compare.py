"""Comparisons of replayed runs: whole tables against golden ones, verdicts, corrections, exit codes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.case import Case
from lab.compare import Comparison, Line, compare, exit_code, heading, judged, plain, tables
from lab.pairing import Side
from lab.table import markdown, text
from lab.verdict import Verdict, benjamini_hochberg
from tests.lab.replays import (
    LIFE,
    MACHINE,
    NULL,
    QUIET,
    TWIN,
    Figures,
    cycle,
    failed,
    rows_of,
    scaled,
    side,
    spread,
)

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
BEFORE = side("before", {**QUIET, **TWIN})
WITHOUT_LIFE: Figures = {key: values for key, values in QUIET.items() if key[0] != LIFE}
NOISY: Figures = {key: spread(values[0], 0.0 if key[0] == NULL else 0.3) for key, values in QUIET.items()}
NEWER: Mapping[str, Any] = {**MACHINE, "python": "3.12.1"}
FASTER_MACHINE: Mapping[str, Any] = {**MACHINE, "processor": "made up, twice as fast", "cores": 8}

SCENARIOS: dict[str, tuple[Side, Side, tuple[str, ...], int]] = {
    "same": (BEFORE, side("after", {**QUIET, **TWIN}), (), 0),
    "worse": (BEFORE, side("after", scaled(QUIET, 1.4, "linked")), (), 1),
    "better": (BEFORE, side("after", scaled(QUIET, 0.7, "linked")), (), 0),
    "noisy": (BEFORE, side("after", NOISY), (), 3),
    "missing": (BEFORE, side("after", WITHOUT_LIFE), (), 3),
    "lost": (BEFORE, Side("after", MACHINE, [*rows_of(WITHOUT_LIFE), *failed(LIFE)]), (), 3),
    "other-interpreter": (BEFORE, side("after", QUIET, NEWER, python="3.12.1"), (), 5),
    "across-interpreters": (BEFORE, side("after", scaled(QUIET, 0.8, "linked"), NEWER, python="3.12.1"),
                            ("interpreter",), 0),
    "across-machines": (BEFORE, side("after", scaled(QUIET, 0.5, "null", "array", "linked"), FASTER_MACHINE),
                        ("machine",), 0),
    "other-n": (BEFORE, side("after", QUIET, n=383), (), 5),
    "few-processes": (BEFORE, side("after", {key: values[:3] for key, values in QUIET.items()}), (), 3),
}  # fmt: skip
"""name -> before, after, across, exit code."""


def judge(first: Side, second: Side, *across: str, **rules: Any) -> Comparison:
    return judged([compare(first, second, across=across, **rules)])[0]


def whole(one: Comparison) -> str:
    return "\n\n".join(["\n".join(heading(one)), *map(text, tables(one))]) + "\n"


def lines(one: Comparison) -> dict[tuple[Case, str, str], Line]:
    return {(line.first.case, line.first.operation, line.first.figure): line for line in one.lines}


def verdicts(one: Comparison) -> set[Verdict]:
    return {line.finding.verdict for line in one.lines}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_whole_comparison_is_the_golden_one(name: str) -> None:
    first, second, across, code = SCENARIOS[name]
    one = judge(first, second, *across)
    assert whole(one) == (GOLDEN / f"compare-{name}.txt").read_text(encoding="utf-8")
    assert exit_code([one]) == code


def test_a_case_that_has_no_pair_is_no_pass_unless_the_second_run_was_not_meant_to_have_it() -> None:
    missing, lost = (judge(*SCENARIOS[name][:2]) for name in ("missing", "lost"))
    assert (exit_code([missing]), exit_code([missing], partial=True)) == (3, 0)
    assert (exit_code([lost]), exit_code([lost], partial=True)) == (3, 3)
    more = judge(side("before", WITHOUT_LIFE), side("after", QUIET))
    assert more.pairs.only_second
    assert exit_code([more]) == 0


def test_the_worst_regression_stands_first_and_markdown_has_the_same_cells() -> None:
    worse = {**scaled(QUIET, 1.4, "linked"), (cycle("array"), "take"): spread(2_000 * 3)}
    one = judge(BEFORE, side("after", worse))
    latency = next(table for table in tables(one) if table.title == "timer, latency")
    assert [row[8] for row in latency.rows] == ["slower", "slower", "slower", "same"]
    assert latency.rows[0][1:3] == ("take", "array")
    assert markdown(latency).count("| slower |") == 3


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_beside_itself_is_never_slower_or_faster(name: str) -> None:
    _, second, _, _ = SCENARIOS[name]
    assert not verdicts(judge(second, second)) & {Verdict.SLOWER, Verdict.FASTER}


OPPOSITE = {Verdict.SLOWER: Verdict.FASTER, Verdict.FASTER: Verdict.SLOWER}


@pytest.mark.parametrize("name", SCENARIOS)
def test_swapping_the_runs_inverts_every_ratio_and_verdict(name: str) -> None:
    first, second, across, _ = SCENARIOS[name]
    there, back = lines(judge(first, second, *across)), lines(judge(second, first, *across))
    assert there.keys() == back.keys()
    for identity, line in there.items():
        opposite = back[identity].finding
        assert opposite.verdict is OPPOSITE.get(line.finding.verdict, line.finding.verdict)
        if not math.isnan(line.finding.ratio):
            assert opposite.ratio == pytest.approx(1 / line.finding.ratio)


FACTORS = st.lists(st.floats(0.3, 3), min_size=5, max_size=5)


@settings(max_examples=25)
@given(FACTORS, FACTORS)
def test_swapping_inverts_whatever_the_processes_took(a: list[float], b: list[float]) -> None:
    first, second = (side("x", {(cycle("array"), "take"): [2_000 * one for one in values]}) for values in (a, b))
    (there,), (back,) = judge(first, second).lines, judge(second, first).lines
    assert back.finding.verdict is OPPOSITE.get(there.finding.verdict, there.finding.verdict)
    assert back.finding.ratio == pytest.approx(1 / there.finding.ratio)


def test_the_instrument_gets_no_verdict_and_what_moves_it_is_part_of_the_floor() -> None:
    slow = scaled(QUIET, 1.1, "null", "array", "linked")
    one = judge(BEFORE, side("after", slow))
    assert all(line.first.case.subject != "null" for line in one.lines)
    assert one.drift == pytest.approx(0.1)
    timed = [line for line in one.lines if line.first.case.kind != "memory"]
    assert {line.finding.verdict for line in timed} == {Verdict.INCONCLUSIVE}
    assert "the null call moved by 10.0% between the runs" in whole(one)


def test_the_floor_is_the_wider_band_of_the_two_runs() -> None:
    wide = {**QUIET, (cycle("array-twin"), "take"): spread(2_400)}
    before, after = side("before", wide), side("after", scaled(QUIET, 1.15, "linked"))
    for first, second in ((before, after), (after, before)):
        (take,) = [
            line
            for line in judge(first, second).lines
            if (line.first.case.subject, line.first.operation) == ("linked", "take")
        ]
        assert take.finding.floor == pytest.approx(0.2)
        assert take.finding.verdict is Verdict.INCONCLUSIVE


def test_across_machines_the_ratio_also_stands_beside_that_of_the_calibration_workload() -> None:
    half = scaled(QUIET, 0.5, "null", "array", "linked")
    one = judge(BEFORE, side("after", half, FASTER_MACHINE), "machine")
    assert one.speed == pytest.approx(0.5)
    assert one.drift == 0.0
    timed = [line for line in one.lines if line.first.case.kind != "memory"]
    assert [round(line.relative, 6) for line in timed] == [1.0] * len(timed)
    without = judge(side("a", WITHOUT_LIFE), side("b", scaled(WITHOUT_LIFE, 0.25, "null"), FASTER_MACHINE), "machine")
    assert without.calibration == "the null call"
    assert without.speed == pytest.approx(0.25)


def test_counts_differ_by_one_and_that_is_a_regression() -> None:
    counts = Case.of("counts", "timer", "array", "cycle", due=10, queued=200)
    first, second = (side("x", {(counts, "take"): [bytecodes]}, n=1) for bytecodes in (400, 401))
    assert exit_code([judge(first, second)]) == 1
    assert exit_code([judge(first, first)]) == 0
    assert exit_code([judge(second, first)]) == 0


def test_the_correction_is_over_all_comparisons_together() -> None:
    a, weak = [100.0, 101.0, 99.0, 100.5, 99.5], [107.0, 103.0, 114.0, 105.0, 110.0]
    alone = side("x", {(cycle("array"), "take"): a}), side("y", {(cycle("array"), "take"): weak})
    assert exit_code([judge(*alone)]) == 1
    quiet = {(cycle("heap", calls=100 + number), "take"): a for number in range(20)}
    many = (side("x", {(cycle("array"), "take"): values, **quiet}) for values in (a, weak))
    assert exit_code([judge(next(many), next(many))]) == 3
    two = judged([compare(*alone), *[compare(alone[0], alone[0])] * 9])
    assert exit_code(two) == 3
    assert exit_code(judged([compare(*alone), *[compare(alone[0], alone[0])] * 3], method=benjamini_hochberg)) == 3
    assert exit_code(judged([compare(*alone), compare(*alone)], method=benjamini_hochberg)) == 1


def test_runs_without_a_case_in_common_are_not_a_pass() -> None:
    other = side("other", {(cycle("heap"), "take"): spread(2_000)})
    one = judge(BEFORE, other)
    assert (one.lines, exit_code([one])) == ((), 4)
    assert "nothing paired" in whole(one)
    assert f"{cycle('heap').key} take" in whole(one)
    assert exit_code([judge(Side("empty", MACHINE, []), Side("empty", MACHINE, []))]) == 4
    only_null = side("null", {(NULL, "null"): spread(600)})
    assert exit_code([judge(only_null, only_null)]) == 4


def test_a_regression_outranks_what_cannot_be_compared_and_that_what_is_inconclusive() -> None:
    slow = judge(BEFORE, side("after", scaled(QUIET, 1.4, "linked")))
    unlike = judge(BEFORE, side("after", QUIET, NEWER))
    noisy = judge(BEFORE, side("after", NOISY))
    fine = judge(BEFORE, BEFORE)
    assert exit_code([fine, noisy, unlike, slow]) == 1
    assert exit_code([fine, noisy, unlike]) == 5
    assert exit_code([fine, noisy]) == 3
    assert exit_code([fine]) == 0


def test_what_is_not_comparable_shows_no_ratio_and_names_its_fields() -> None:
    one = judge(BEFORE, side("after", scaled(QUIET, 1.4, "linked"), NEWER, n=9))
    assert verdicts(one) == {Verdict.NOT_COMPARABLE}
    for line in plain([one], {}, 5)["comparisons"][0]["lines"]:
        assert line["ratio"] is None
        assert "python" in line["fields"]
        assert "--across interpreter" in line["sentence"]


def test_the_plain_data_is_json_with_the_value_of_every_process() -> None:
    for first, second, across, code in SCENARIOS.values():
        found = plain([judge(first, second, *across)], {"alpha": 0.05}, code)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert found["exit_code"] == code
    lines = plain([judge(BEFORE, BEFORE)], {}, 0)["comparisons"][0]["lines"]
    take = next(line for line in lines if line["first_case"] == cycle("array").key and line["operation"] == "take")
    assert take["first_values"] == spread(2_000)
    assert (take["verdict"], take["ratio"], take["figure"]) == ("same", 1.0, "p50_ns")


def test_another_statistic_of_the_timed_calls_may_be_compared_and_no_unknown_one() -> None:
    one = judge(BEFORE, BEFORE, statistic="p99")
    figures = {line.first.figure for line in one.lines if line.first.case.kind == "latency"}
    assert figures == {"p99_ns"}
    with pytest.raises(ValueError, match="no statistic 'max': expected one of p50, mean"):
        compare(BEFORE, BEFORE, statistic="max")


def test_two_subjects_of_one_run_are_compared_when_that_is_what_is_asked() -> None:
    one = judge(BEFORE, BEFORE, "subject", subjects=("array", "linked"))
    assert {line.finding.verdict for line in one.lines} == {Verdict.SLOWER}
    assert "array → linked" in whole(one)
