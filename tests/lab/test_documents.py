"""The documents' tables out of rows worked out by hand, against whole golden tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab.case import Case
from lab.documents import tables
from lab.record import schema
from lab.reference import read_reference
from lab.table import text

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
REFERENCE = read_reference(ROOT / "results" / "reference" / "perl-5.40-timer.csv")

Row = dict[str, Any]


def row(case: Case, process: int, operation: str, status: str = "ok", **columns: Any) -> Row:
    """One row of executions.parquet, empty but for what is given."""
    known = {
        "kind": case.kind,
        "family": case.family,
        "subject": case.subject,
        "workload": case.workload,
        "params": case.params_text,
        "clock": case.clock,
        "gc": case.gc,
        "target": case.target,
        "process": process,
        "operation": operation,
        "status": status,
        "message": "",
    }
    return {**dict.fromkeys(schema().names), **known, **columns}


def timed(case: Case, process: int, operation: str, p50: int, worst: int, n: int = 4_000, **columns: Any) -> Row:
    """A latency row whose other statistics follow from p50 and the worst call; the null call takes 800 ns."""
    return row(
        case,
        process,
        operation,
        n=n,
        mean_ns=p50 + 10.0,
        min_ns=p50 - 10.0,
        p50_ns=float(p50),
        p90_ns=p50 * 1.5,
        p99_ns=p50 * 2.0,
        p999_ns=p50 * 3.0,
        max_ns=float(worst),
        null_p50_ns=800.0,
        net_p50_ns=p50 - 800.0,
        timer_bound=p50 < 2_400,
        bare_p50_ns=750.0,
        **columns,
    )


def rows_of_a_run() -> list[Row]:
    """Three processes of a run of `linked` and `array` with a case of every table, and two that failed."""
    rows = []
    for process in range(3):
        rows.append(timed(null_loop(), process, "null", 800, 20_000 + process * 1_000, n=50_000, clock_step_ns=10))
        for subject, factor in (("linked", 10), ("array", 1)):
            rows += rows_of_a_subject(subject, factor, process)
    failed = Case.of("cost", "timer", "linked", "enqueue-out-of-order", messages=200_000)
    rows.append(row(failed, 0, "", "timeout", message="did not end within 20 s and was stopped"))
    rows.append(row(failed, 1, "", "timeout", message="not tried again: did not end within 20 s and was stopped"))
    return rows


def null_loop() -> Case:
    return Case.of("latency", "timer", "null", "null-loop", calls=50_000)


def rows_of_a_subject(subject: str, factor: int, process: int) -> list[Row]:
    spread = (0, 2, 1)[process]  # the second process is the worst, the third the median
    rows = [
        row(
            Case.of("cost", "timer", subject, "enqueue-in-order", messages=20_000),
            process,
            "enqueue-in-order",
            mean_ns=150.0 * factor + spread,
            n=5,
        )
    ]
    for due, take_ns, requeue_ns in ((10, 2_000, 1_000), (1_000, 12_000, 6_000)):
        cycle = Case.of("latency", "timer", subject, "cycle", due=due, queued=200_000, calls=4_000)
        for operation, ns in (("take", take_ns), ("requeue", requeue_ns)):
            rows.append(timed(cycle, process, operation, ns * factor, ns * factor * 5 + spread * 1_000))
        pair = Case.of("cost", "timer", subject, "cycle", due=due, queued=200_000)
        rows.append(row(pair, process, "cycle", mean_ns=3_000.0 * factor + spread, n=5))
    unused = Case.of("latency", "timer", subject, "requeue-unused", due=10_000, unused=10, queued=200_000, calls=40)
    rows.append(timed(unused, process, "requeue", 900 * factor, 2_000 * factor + spread, n=40))
    if subject == "linked":
        reattach = Case.of("latency", "timer", subject, "reattach", part=1_000, queued=200_000, calls=400)
        rows.append(timed(reattach, process, "detach", 27_000, 50_000 + spread, n=400))
    window = Case.of("latency", "timer", subject, "window-cycle", due=5_000, queued=200_000, calls=100)
    drifting = {"steady": process == 0} if subject == "linked" else {}
    rows.append(timed(window, process, "take", 44_000 * factor, 265_000 + spread * 100, n=100, **drifting))
    growth = Case.of("latency", "timer", subject, "growth", messages=200_000)
    p50 = (1_000 + 300 * spread) * factor
    rows.append(timed(growth, process, "enqueue", p50, 600_000 + spread * 1_000, n=200_000))
    return rows + rows_of_holding(subject, factor, process, spread)


def rows_of_holding(subject: str, factor: int, process: int, spread: int) -> list[Row]:
    """What the subject holds, how long it takes to let go of it, and its code."""
    rows = []
    free = Case.of("latency", "timer", subject, "free", messages=200_000)
    rows.append(timed(free, process, "free", 9_000_000 * factor, 9_000_000 * factor + spread, n=1))
    resident = Case.of("memory", "timer", subject, "resident", messages=200_000)
    points = [(10_000, 1_000_000), (200_000, 1_000_000 + 190_000 * (170 + factor + spread))]
    rows.append(
        row(
            resident,
            process,
            "resident",
            points_messages=[messages for messages, _ in points],
            points_rss_bytes=[resident_bytes for _, resident_bytes in points],
        )
    )
    drained = Case.of("memory", "timer", subject, "drained", messages=200_000, left=10)
    rows.append(row(drained, process, "drained", container_bytes=344 * factor))
    if process == 0:
        code = Case.of("complexity", "timer", subject, "complexity")
        rows.append(row(code, 0, "take", statements=20 + factor, branches=8, index_operations=2))
    return rows


def worst_calls() -> list[Row]:
    growth = Case.of("latency", "timer", "array", "growth", messages=200_000)
    identity = {name: value for name, value in row(growth, 0, "enqueue").items() if value is not None}
    worst = {"structural_worst_ns": 550_000, "structural_worst_index": 182_783}
    slowest = {
        "worst_index": [182_783, 5],
        "worst_cause": ["growth: list to 1,600,056 bytes; first touch: 390 pages", ""],
    }
    return [{**identity, **worst, **slowest}]


def test_every_table_looks_as_it_did() -> None:
    made = tables(rows_of_a_run(), worst_calls(), REFERENCE, ["linked", "array"])
    said = "\n\n".join(text(table) for table in made) + "\n"
    golden = GOLDEN / "documents.txt"
    got = golden.with_suffix(".got")
    got.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8"), f"compare {golden.name} with {got.name}"
    got.unlink()


def made(title: str) -> list[tuple[str, ...]]:
    found = tables(rows_of_a_run(), worst_calls(), REFERENCE, ["linked", "array"])
    return next(list(table.rows) for table in found if table.title.startswith(title))


def test_the_row_shown_is_the_execution_with_the_median_worst_call() -> None:
    growth = next(cells for cells in made("Every call") if cells[2] == "array" and cells[0].startswith("growth"))
    assert growth[7] == "601 µs (600.0 .. 602.0)"
    assert growth[8] == "550 µs @ 182,783 (growth + first touch)"


def test_the_perl_row_stands_under_ours() -> None:
    rows = made("Every call")
    ours = next(number for number, cells in enumerate(rows) if cells[2] == "array" and cells[0].startswith("growth"))
    assert rows[ours + 1][2:7] == ("  Perl array", "1.87 µs", "1.65 µs", "6.25 µs", "10.5 µs")
    assert rows[ours + 1][7] == "607 µs (556 .. 652)"


def test_a_percentile_with_too_few_samples_says_so() -> None:
    window = next(cells for cells in made("Every call") if cells[0].startswith("window"))
    assert window[5:7] == ("n too small (needs 368)", "n too small (needs 3,688)")


def test_a_timer_bound_figure_has_the_net_one_beside_it() -> None:
    cells = next(cells for cells in made("The cycle") if cells[1:3] == ("10", "array"))
    assert cells[3] == "2.00 µs ±0 % (net 1.20 µs)"
    slower = next(cells for cells in made("The cycle") if cells[1:3] == ("10", "linked"))
    assert slower[3] == "20.0 µs ±0 %"


def test_a_percentile_has_its_interval_behind_it_and_the_notes_say_how_sure_it_is() -> None:
    growth = next(cells for cells in made("Every call") if cells[2] == "array" and cells[0].startswith("growth"))
    assert growth[4:7] == ("1.30 µs (1.00–1.60; net 500 ns)", "2.60 µs (2.00–3.20)", "3.90 µs (3.00–4.80)")
    notes = next(
        table.notes for table in tables(rows_of_a_run(), [], REFERENCE) if table.title.startswith("Every call")
    )
    assert any("3 processes make that 75 % sure" in note for note in notes)


def test_a_case_that_drifts_is_marked_and_the_mark_explained() -> None:
    window = next(cells for cells in made("Every call") if cells[0].startswith("window") and cells[2] == "linked")
    assert window[4] == "440 µs ±0 % †"
    notes = next(
        table.notes for table in tables(rows_of_a_run(), [], REFERENCE) if table.title.startswith("Every call")
    )
    assert any(note.startswith("† not steady") for note in notes)


def test_the_two_arms_of_a_case_that_is_mostly_clock_stand_side_by_side() -> None:
    assert made("Where the clock") == [
        ("cycle, 200,000 queued, 10 due", "array", "1.52 µs", "3.00 µs", "≠ 0.51"),
    ]


def test_what_has_no_figure_is_listed_with_its_reason() -> None:
    assert made("No figure") == [
        (
            "cost enqueue-out-of-order",
            "messages=200000",
            "linked",
            "2",
            "timeout: did not end within 20 s and was stopped",
        )
    ]


def test_memory_is_the_slope_not_one_point() -> None:
    resident = next(cells for cells in made("Memory") if cells[1] == "array" and cells[0].startswith("resident"))
    assert resident[2] == "172 B (170 .. 174)"
    assert resident[3] == "227 B"


def test_a_run_without_a_single_figure_has_only_the_table_of_reasons() -> None:
    failed = [one for one in rows_of_a_run() if one["status"] != "ok"]
    assert [table.title for table in tables(failed, [], REFERENCE)] == ["No figure"]
    assert tables([], [], REFERENCE) == []
