"""What other tools get: pyperf itself reads the first format, csv and json come back with every row and unit."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyperf
import pytest

from lab.export import export, named
from lab.pairing import Side
from lab.record import COLUMNS, EXECUTIONS
from tests.lab.replays import COST, MACHINE, QUIET, RESIDENT, cycle, failed, scaled, side, spread

SIDE = side("before", QUIET)


def told_by_pyperf(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "pyperf", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.processes
def test_pyperf_reads_it_for_real_shows_statistics_and_compares(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(export(SIDE, "pyperf"), encoding="utf-8")
    after.write_text(export(side("after", scaled(QUIET, 2, "linked")), "pyperf"), encoding="utf-8")
    said = told_by_pyperf("stats", str(before))
    assert f"{cycle('array').key} take p50" in said
    assert "Total number of run: 5" in said
    assert "Total duration: 500 ms" in said
    assert "Median +- MAD:" in said
    compared = told_by_pyperf("compare_to", str(before), str(after))
    assert f"{cycle('linked').key} take p50: Mean +- std dev: [before] 4.00 us" in compared
    assert compared.count("2.00x slower") == 4
    assert "Benchmark hidden because not significant" in compared


def test_one_benchmark_a_figure_one_run_a_process_in_pyperfs_units() -> None:
    suite = pyperf.BenchmarkSuite.loads(export(SIDE, "pyperf"))
    take = suite.get_benchmark(f"{cycle('array').key} take p50")
    assert [value * 1e9 for value in take.get_values()] == pytest.approx(spread(2_000))
    assert take.get_nrun() == 5
    assert take.get_metadata()["python_version"] == "3.11.7"
    memory = suite.get_benchmark(f"{RESIDENT.key} resident message")
    assert (memory.get_unit(), memory.median()) == ("byte", 209)
    assert suite.get_benchmark(f"{COST.key} cycle mean").get_unit() == "second"
    assert len(suite) == len(QUIET) + 1


def test_what_pyperf_cannot_hold_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="before has no figure that pyperf could hold: expected at least one above 0"):
        export(Side("before", MACHINE, failed(COST)), "pyperf")
    with pytest.raises(ValueError, match="no format 'xml': expected one of pyperf, csv, json"):
        export(SIDE, "xml")


def test_csv_has_every_row_and_a_unit_in_the_name_of_every_column_that_has_one() -> None:
    rows = list(csv.DictReader(io.StringIO(export(SIDE, "csv"))))
    assert len(rows) == len(SIDE.rows)
    first = rows[0]
    assert list(first) == [named(column) for column in COLUMNS[EXECUTIONS]]
    assert {"n_samples", "padding_bytes", "p50_ns", "container_bytes", "warmup_samples"} <= first.keys()
    assert (float(first["p50_ns"]), first["subject"], first["max_index_samples"]) == (spread(600)[0], "null", "")
    memory = next(row for row in rows if row["kind"] == "memory")
    assert memory["points_rss_bytes"].split(" ")[0] == "0"


def test_json_has_the_environment_and_every_row_as_it_is() -> None:
    whole = json.loads(export(SIDE, "json"))
    assert (whole["run"], whole["environment"]) == ("before", MACHINE)
    assert [row["p50_ns"] for row in whole["executions"]] == [row["p50_ns"] for row in SIDE.rows]
    assert whole["executions"][0]["n_samples"] == 384
    assert whole["executions"][-1]["points_messages"] == [0, 10_000]


def test_every_column_with_a_unit_has_it_in_its_name() -> None:
    for column in COLUMNS[EXECUTIONS]:
        if column.unit:
            assert column.unit.split(" ")[0].lower().rstrip("s") in named(column)
