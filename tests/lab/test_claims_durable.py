"""The claims about queues that outlive the process, and their page, on rows made to bear them out or to contradict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab import claims_durable, notebook_durable
from lab.case import Case
from lab.claim import Judgement, Outcome
from lab.claims import judge_run
from lab.figure_panel import Drawing
from lab.notebook import Reading, choose, has_family
from lab.notebook_html import Piece
from lab.table import Table
from tests.lab.replays import rows_of, spread, stored

SUBJECTS = {"sqlite": 60e3, "sqlite-full": 400e3, "postgres-async": 200e3, "postgres": 900e3, "redis": 90e3}
OUTSIDE = tuple(SUBJECTS)
Figures = dict[tuple[Case, str], list[float]]


def case(subject: str, kind: str, workload: str, **sizes: int) -> Case:
    return Case(kind, "timer", subject, workload, tuple(sizes.items()), "wall")


def figures(
    subjects: tuple[str, ...] = (*OUTSIDE, "array"), processes: int = 5, factors: Mapping[str, float] | None = None
) -> Figures:
    """What a quiet run shows; `factors` make `alone`, `together`, `long` dearer, or `relaxed`."""
    factors = factors or {}
    made: Figures = {}
    for subject in subjects:
        base = SUBJECTS.get(subject, 300.0)
        if subject in ("sqlite", "postgres-async"):
            base *= factors.get("relaxed", 1.0)
        alone = base * factors.get("alone", 1.0)
        made[case(subject, "latency", "durable-enqueue", messages=1_000), "enqueue"] = spread(alone, 0.02, processes)
        for messages in (100, 10_000):
            each = base * factors.get("together", 1.0) / messages**0.5
            key = case(subject, "batched", "durable-enqueue-many", messages=messages)
            made[key, "enqueue"] = spread(each, 0.02, processes)
        for queued in (10_000, 100_000):
            for due in (10, 1_000):
                key = case(subject, "latency", "durable-cycle", calls=8, due=due, queued=queued)
                dear = factors.get("long", 1.0) if queued > 10_000 else 1.0
                for operation in ("take", "requeue"):
                    made[key, operation] = spread(base * due * dear, 0.02, processes)
    return made


def judged(made: Figures) -> dict[str, Judgement]:
    return {one.name: one for one in claims_durable.judge(rows_of(made))}


FEW = ("sqlite", "sqlite-full", "array")
"""Subjects of runs that are stored, which takes its time."""


def test_every_claim_holds_on_rows_that_bear_it_out_and_names_no_queue_in_memory() -> None:
    found = judged(figures())
    assert {name: one.outcome for name, one in found.items()} == dict.fromkeys(found, Outcome.HOLDS)
    assert [line.what for line in found["disk-is-waited-for"].lines] == [
        "sqlite beside sqlite-full",
        "postgres-async beside postgres",
    ]
    lines = [line.what for one in found.values() for line in one.lines]
    assert not any("array" in what for what in lines)
    kinds = {line.what.split(",")[0] for line in found["length-behind-stays"].lines}
    assert (kinds, len(found["length-behind-stays"].lines)) == ({"sqlite", "postgres-async"}, 2 * 4)


@pytest.mark.parametrize(
    ("claim", "factor", "value"),
    [
        ("batch-saves", "together", 30.0),
        ("disk-is-waited-for", "relaxed", 20.0),
        ("length-behind-stays", "long", 3.0),
    ],
)
def test_a_claim_that_is_contradicted_does_not_hold(claim: str, factor: str, value: float) -> None:
    assert judged(figures(factors={factor: value}))[claim].outcome is Outcome.FAILS


def test_too_few_processes_cannot_tell_and_what_is_not_there_is_not_measured() -> None:
    assert {one.outcome for one in judged(figures(processes=3)).values()} == {Outcome.INCONCLUSIVE}
    assert judged(figures(("sqlite", "redis")))["disk-is-waited-for"].outcome is Outcome.NOT_MEASURED
    short = {key: values for key, values in figures().items() if "queued=100000" not in key[0].params_text}
    assert judged(short)["length-behind-stays"].outcome is Outcome.NOT_MEASURED


def test_a_run_of_durable_queues_alone_is_asked_no_claim_of_the_documents(tmp_path: Path) -> None:
    judgements, _ = judge_run(Reading(stored(tmp_path, figures(FEW, processes=2))).run)
    assert [one.name for one in judgements] == ["batch-saves", "disk-is-waited-for", "length-behind-stays"]


def test_one_durable_queue_beside_others_is_no_run_about_them(tmp_path: Path) -> None:
    single = stored(tmp_path, figures(("sqlite", "array"), processes=2))
    assert claims_durable.judge_run(Reading(single, "durable").run) == []
    assert not has_family(single, "durable")
    several = stored(tmp_path, figures(FEW, processes=2))
    newer = stored(tmp_path, figures(("sqlite", "array"), processes=2))
    assert newer.name > several.name
    assert choose(family="durable", results=tmp_path).run.path == several


def said(pieces: list[Piece]) -> str:
    return " ".join(piece for piece in pieces if isinstance(piece, str))


def test_the_page_shows_pictures_tables_and_verdicts(tmp_path: Path) -> None:
    reading = Reading(stored(tmp_path, figures(FEW)), "durable")
    for pieces in (notebook_durable.putting_in(reading), notebook_durable.cycle(reading, "take")):
        assert isinstance(pieces[0], Drawing)
        assert "`sqlite` costs least of those that outlive the process" in said(pieces)
        assert "`array`" in said(pieces)
    assert all(isinstance(piece, Table) for piece in notebook_durable.tables(reading))
    (verdicts,) = notebook_durable.verdicts(reading)
    assert isinstance(verdicts, Table)
    assert [cells[-1] for cells in verdicts.rows] == ["holds", "not measured", "holds"]


def test_a_run_without_them_says_so(tmp_path: Path) -> None:
    other = Case.of("latency", "timer", "array", "cycle", calls=400, due=10, queued=200)
    reading = Reading(stored(tmp_path, {(other, "take"): spread(900)}), "durable")
    for pieces in (
        notebook_durable.putting_in(reading),
        notebook_durable.cycle(reading, "take"),
        notebook_durable.tables(reading),
        notebook_durable.verdicts(reading),
    ):
        assert said(pieces).startswith("*Not in this run: ")
