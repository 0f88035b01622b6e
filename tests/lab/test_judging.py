"""`lab compare`, `lab aa` and `lab export` over stored runs: what they print, their exit codes, their refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from lab.cli import main
from lab.record import ADDED, CASES, EXECUTIONS, SCHEMA_VERSION, VERSION
from lab.storage import digest_of, sha256_of
from tests.lab.replays import MACHINE, QUIET, TWIN, Figures, cycle, scaled, spread, stored

Lab = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lab:
    """The front door in this process: exit code, what it said, what it said on stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["lab", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err + said.out
        return int(end.value.code or 0), said.out, said.err

    return run


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("before"), {**QUIET, **TWIN})


def test_a_run_beside_itself_holds(lab: Lab, before: Path) -> None:
    code, said, errors = lab("compare", before, before)
    assert (code, errors) == (0, "")
    assert "\n8 same\n" in said
    assert "array-twin" not in said


def test_a_regression_is_1_and_the_json_says_the_same(lab: Lab, before: Path, tmp_path: Path) -> None:
    after = stored(tmp_path, scaled(QUIET, 1.4, "linked"))
    code, said, errors = lab("compare", before, after)
    assert code == 1
    assert "at least one case got slower" in errors
    assert "1.400 (1.390 .. 1.411)" in said
    code, said, _ = lab("compare", before, after, "--json")
    assert (code, json.loads(said)["exit_code"]) == (1, 1)
    code, said, _ = lab("compare", before, after, "--markdown")
    assert code == 1
    assert "\n### timer, latency\n" in said
    assert lab("compare", after, before)[0] == 0


def test_each_of_several_runs_is_held_against_the_first(lab: Lab, before: Path, tmp_path: Path) -> None:
    made = stored(tmp_path, scaled(QUIET, 1.4, "linked"))
    after = made.rename(made.with_name(f"{made.name}-2"))  # both may have been made in the same second
    code, said, _ = lab("compare", after, before, after, "--json")
    found = json.loads(said)["comparisons"]
    assert [(one["first"], one["second"]) for one in found] == [(after.name, before.name), (after.name, after.name)]
    assert code == 0


def test_another_interpreter_is_5_unless_that_is_what_is_compared(lab: Lab, before: Path, tmp_path: Path) -> None:
    newer = {**MACHINE, "python": "3.12.1"}
    after = stored(tmp_path, scaled(QUIET, 0.5, "linked"), environment=newer, python="3.12.1")
    code, said, errors = lab("compare", before, after)
    assert code == 5
    assert "not comparable: python: 3.11.7 and 3.12.1 (--across interpreter compares them)" in said
    assert "the field that differs stands beside it" in errors
    code, said, _ = lab("compare", before, after, "--across", "interpreter")
    assert code == 0
    assert "÷ calibration" in said


def test_two_arms_of_the_collector_are_5_and_0_across_them(lab: Lab, tmp_path: Path) -> None:
    arms = [stored(tmp_path, {(cycle("array", gc=gc), "take"): spread(2_000)}) for gc in ("on", "off")]
    code, said, _ = lab("compare", *arms)
    assert code == 5
    assert "gc: on and off" in said
    assert lab("compare", *arms, "--across", "gc")[0] == 0


def test_a_missing_case_is_named_and_3_unless_the_run_is_partial(lab: Lab, before: Path, tmp_path: Path) -> None:
    after = stored(tmp_path, {key: values for key, values in QUIET.items() if key[0].kind != "cost"})
    code, said, errors = lab("compare", before, after)
    assert code == 3
    assert "timer/linked/cycle/due=10,queued=200/cost/cpu/gc-on cycle  only in the first run" in said
    assert 'that is not "no change"' in errors
    assert lab("compare", before, after, "--partial")[0] == 0


def test_nothing_in_common_and_nothing_measured_are_4(lab: Lab, before: Path, tmp_path: Path) -> None:
    other = stored(tmp_path / "other", {(cycle("heap"), "take"): spread(2_000)})
    code, _, errors = lab("compare", before, other)
    assert (code, "no case in common" in errors) == (4, True)
    empty = stored(tmp_path / "empty", {(cycle("array"), "take"): spread(1)}, status="timeout", message="too long")
    for arguments in (("compare", before, empty), ("aa", empty), ("export", empty, "--format", "csv")):
        code, _, errors = lab(*arguments)
        assert (code, "holds no measured execution" in errors) == (4, True)


def test_two_subjects_of_a_run_are_compared_by_name(lab: Lab, before: Path) -> None:
    code, said, _ = lab("compare", before, before, "--across", "subject", "--subject", "linked", "--subject", "array")
    assert "linked → array" in said
    assert "faster" in said
    assert code == 3  # what only the list was measured in has no pair


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "{run}"), "expected two or more"),
        (("compare", "{run}", "{run}", "--json", "--markdown"), "expected one of them"),
        (("compare", "{run}", "{run}", "--subject", "array"), "without --across subject"),
        (("compare", "{run}", "{run}", "--across", "subject", "--subject", "array"), "once for each run"),
        (("compare", "{run}", "nowhere"), "nowhere"),
        (("compare", "{run}", "{run}", "--across", "moon"), "moon"),
        (("export", "{run}", "--format", "xml"), "xml"),
        (("export", "{run}", "--format", "csv", "-o", "{run}/run.json/x.csv"), "cannot be written"),
    ],
)
def test_a_mistake_is_2_with_one_sentence(lab: Lab, before: Path, arguments: tuple[str, ...], words: str) -> None:
    code, _, errors = lab(*(argument.format(run=before) for argument in arguments))
    assert code == 2
    assert words in errors


def without_later_columns(run: Path) -> None:
    """Write the tables of a complete run as the first lab wrote them."""
    for name in (EXECUTIONS, CASES):
        path = run / f"{name}.parquet"
        today = pq.read_table(path)
        later = [column for version in ADDED.values() for column in version.get(name, ())]
        older = today.drop_columns([column for column in later if column in today.column_names])
        pq.write_table(older.replace_schema_metadata({**today.schema.metadata, VERSION: b"1"}), path)


def seal(run: Path, version: int) -> None:
    """Make run.json say that all of the run is of this schema version."""
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    content["schema_version"] = version
    for name, facts in content["files"].items():
        facts.update(sha256=sha256_of(run / name), bytes=(run / name).stat().st_size)
    del content["digest"]
    content["digest"] = digest_of(content)
    (run / "run.json").write_text(json.dumps(content), encoding="utf-8")


def test_a_run_of_the_first_schema_is_compared_and_one_of_a_newer_schema_refused(
    lab: Lab, before: Path, tmp_path: Path
) -> None:
    older = stored(tmp_path, {**QUIET, **TWIN})
    without_later_columns(older)
    seal(older, 1)
    code, said, errors = lab("compare", older, before)
    assert (code, errors) == (0, "")
    assert "\n8 same\n" in said
    seal(older, SCHEMA_VERSION + 1)
    code, _, errors = lab("compare", before, older)
    assert code == 2
    assert f"schema version {SCHEMA_VERSION + 1} and this lab reads versions up to {SCHEMA_VERSION}" in errors


def test_aa_says_how_often_our_verdicts_cry_wolf(lab: Lab, tmp_path: Path) -> None:
    chance = np.random.default_rng(43)
    pair: Figures = {
        (cycle(name), "take"): (2_000 * np.exp(0.1 * chance.standard_normal(5))).tolist()
        for name in ("array", "array-twin")
    }
    code, said, errors = lab("aa", stored(tmp_path, pair), "--resamplings", 200)
    assert (code, errors) == (0, "")
    assert "False alarms of our own verdicts" in said
    assert "A/A pairs, dealt out anew" in said
    assert "synthetic: log-normal" in said
    assert "The A/A pair: one subject measured twice, as if it were two" in said


def test_aa_with_too_few_processes_is_3(lab: Lab, tmp_path: Path) -> None:
    few = {key: values[:3] for key, values in {**QUIET, **TWIN}.items()}
    code, said, errors = lab("aa", stored(tmp_path, few), "--resamplings", 100)
    assert code == 3
    assert "too few processes to deal out" in errors
    assert "3 + 3" in said


def test_aa_is_1_when_a_verdict_cries_wolf(lab: Lab, before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lab import alarms

    wolf = alarms.Rate("halves of one case", False, "5", (1_000,), (90,))
    monkeypatch.setattr(alarms, "rates", lambda *_, **__: [wolf])
    code, said, errors = lab("aa", before)
    assert code == 1
    assert "above the stated alpha" in said
    assert "cry wolf more often than the 5%" in errors


def test_export_writes_a_file_or_to_standard_output(lab: Lab, before: Path, tmp_path: Path) -> None:
    target = tmp_path / "run.csv"
    assert lab("export", before, "--format", "csv", "-o", target) == (0, f"written: {target}\n", "")
    code, said, _ = lab("export", before, "--format", "csv")
    assert code == 0
    assert target.read_text(encoding="utf-8") == said
    assert "benchmarks" in json.loads(lab("export", before, "--format", "pyperf")[1])
