"""A case explained after its last process: the causes that the run keeps, and when it must say that it cannot know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab import archive
from lab.case import Case, Execution, execution_of
from lab.sample import operation_columns
from lab.worst import Slowest
from runners.explain import Explainer, asked_of, cause_of, problem_of
from runners.interpreters import carry_out_together
from runners.run import Settings, carry_out
from runners.spawn import Limits, Outcome
from tests.runners.queues_with_causes import COLLECTS_AT, GROWS_AT, PAGES, TOUCHES_AT
from tests.runners.test_run import started

HERE = Path(__file__).resolve().parent

Row = dict[str, Any]


def growth(subject: str, messages: int = 2_000) -> Case:
    target = f"queues_with_causes:{subject}"
    return Case.of("latency", "timer", subject.lower(), "growth", messages=messages, target=target)


def measured(folder: Path, *cases: Case, processes: int = 2) -> dict[str, Row]:
    """Return subject -> its row of cases.parquet, of a run that was carried out."""
    with started(folder, list(cases), processes=processes) as run:
        carry_out(run, Settings(limits=Limits(seconds=20), path=(str(HERE),)))
        assert run.finish() == "complete"
    assert archive.verify(run.path) == []
    return {row["subject"]: row for row in archive.open_run(run.path).cases().to_pylist()}


def causes(row: Row) -> dict[int, str]:
    return dict(zip(row["worst_index"], row["worst_cause"], strict=True))


@pytest.mark.processes
def test_the_slowest_calls_of_a_run_have_their_causes(tmp_path: Path) -> None:
    found = measured(tmp_path, growth("Collects"), growth("Grows"), growth("Touches"))
    assert "gc2" in causes(found["collects"])[COLLECTS_AT].split("; ")
    assert causes(found["grows"])[GROWS_AT].startswith("growth: list to 8")
    pages = causes(found["touches"])[TOUCHES_AT]
    assert pages.startswith("first touch: ")
    assert PAGES <= int(pages.split()[2]) <= PAGES + 16


@pytest.mark.processes
def test_a_case_that_does_otherwise_when_it_is_explained_has_unknown_causes_and_a_short_one_none(
    tmp_path: Path,
) -> None:
    short = growth("Touches", messages=999)
    found = measured(tmp_path, growth("CollectsOnceMore"), growth("Leaves"), short)
    other = set(causes(found["collectsoncemore"]).values())
    assert len(other) == 1
    assert other.pop().startswith("unknown: other collections where it was explained (")
    assert set(causes(found["leaves"]).values()) == {
        "unknown: the process that explains ended badly (crashed: ended without a result: the subject left the process)"
    }
    assert set(causes(found["touches"]).values()) == {"not looked for"}


@pytest.mark.processes
@pytest.mark.parametrize("together", [False, True])
def test_what_a_killed_run_had_not_explained_is_explained_when_it_is_resumed(together: bool, tmp_path: Path) -> None:
    case = growth("Collects")
    run = started(tmp_path, [case])
    settings = Settings(limits=Limits(seconds=20), path=(str(HERE),))
    with run:
        carry_out(run, settings)
        run.causes.clear()  # what a process that is killed before it finishes leaves behind
    with archive.resume(run.path) as again:
        assert again.left() == []
        if together:  # as the front door does
            carry_out_together([(again, settings)], lambda step: None)
        else:
            carry_out(again, settings)
        assert again.finish() == "complete"
        (row,) = again.cases().to_pylist()
    assert "gc2" in causes(row)[COLLECTS_AT]


@pytest.mark.processes
def test_a_single_process_is_explained_as_well(tmp_path: Path) -> None:
    row = measured(tmp_path, growth("Collects"), processes=1)["collects"]
    assert row["structural_worst_ns"] is None
    assert "gc2" in causes(row)[COLLECTS_AT]


def outcome(**changes: Any) -> Outcome:
    given: Row = {"reported": True, "counters": {"collections": [9, 1, 0]}, **changes}
    return Outcome(given.pop("status", "ok"), given.pop("message", ""), given)


def row(process: int = 0, collections: tuple[int | None, ...] = (9, 1, 0)) -> Row:
    counted = {f"collections_{generation}": count for generation, count in enumerate(collections)}
    return {"process": process, "operation": "take", "p50_ns": 1_000.0, **counted}


@pytest.mark.parametrize(
    ("ended", "rows", "problem"),
    [
        (outcome(), [row(0), row(1)], ""),
        (
            outcome(),
            [row(0), row(1, (9, 1, 1))],
            "other collections where it was explained (9/1/0) than in process 1 (9/1/1)",
        ),
        (
            outcome(),
            [row(0, (None, None, None))],
            "other collections where it was explained (9/1/0) than in process 0 (None/None/None)",
        ),
        (outcome(reported=False), [row()], "this interpreter does not report its collections"),
        (
            outcome(status="timeout", message="did not end within 20 s and was stopped"),
            [row()],
            "the process that explains ended badly (timeout: did not end within 20 s and was stopped)",
        ),
    ],
)
def test_a_pass_that_made_other_calls_than_the_timed_ones_explains_nothing(
    ended: Outcome, rows: list[Row], problem: str
) -> None:
    assert problem_of(ended, rows) == problem


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        ({"collections": [], "faults": 0, "growth": None}, ""),
        ({"collections": [2, 0], "faults": 0, "growth": None}, "gc2; gc0"),
        ({"collections": [], "faults": 1, "growth": None}, "first touch: 1 page"),
        (
            {"collections": [0], "faults": 1_234, "growth": ["dict", 9_320]},
            "gc0; growth: dict to 9,320 bytes; first touch: 1,234 pages",
        ),
    ],
)
def test_a_cause_in_words(happened: Row, said: str) -> None:
    assert cause_of(happened) == said


def test_growth_is_not_looked_for_in_calls_that_the_machine_made_slow() -> None:
    slow = Slowest((7, 3), (9_000, 1_000), ((9_000, 9_500), (1_000, 80_000)), 9_000, 7)
    assert asked_of({"take": slow}, [row(0), row(1)]) == {"explain": {"take": [7, 3]}, "grown": {"take": [7]}}


def test_the_process_that_explains_is_another_one_than_those_that_were_timed(tmp_path: Path) -> None:
    case = growth("Collects")
    asked: list[tuple[int, int]] = []

    def start(execution: Execution, folder: Path, more: Mapping[str, Any]) -> Outcome:
        asked.append((execution.process, execution.hash_seed))
        return outcome(status="timeout", message="no")

    run = started(tmp_path, [case])
    calls = list(range(2_000))
    for process in range(2):
        columns = {"operation": "enqueue", "status": "ok", **operation_columns(calls)}
        run.record(execution_of(case, process, 5), [columns], {"enqueue": calls})
    told: list[str] = []
    explainer = Explainer(run, start)
    explainer.all(told.append)
    explainer.all(told.append)  # it is explained already
    run.close()
    assert asked == [(2, execution_of(case, 2, 5).hash_seed)]
    assert told == ["what made the slowest calls of 1 case slow is looked for"]
