"""The one line on what was disturbed while a run was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.cli_show import show
from lab.disturbance import by_cause, note
from tests.lab.runs import measure, plan, start

STEAL, LOAD = "steal: the host took 12 % of the time", "load: others kept 1.5 processors busy"
AGAIN = "set aside and measured again"
KEPT = "stand as measured (2 × load of others, 1 × stolen by the host)"


def row(
    position: int, attempt: int | None = 0, set_aside: str | None = "", disturbed: str | None = ""
) -> dict[str, Any]:
    return {"position": position, "process": 0, "attempt": attempt, "set_aside": set_aside, "disturbed": disturbed}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], ""),
        ([row(0), row(1)], ""),
        ([row(0, None, None, None)], ""),  # of a version that did not look
        (
            [row(0, 1, STEAL), row(0, 1, STEAL), row(1)],  # two operations of one execution
            "1 disturbed attempt of 1 execution was set aside and measured again (1 × stolen by the host)",
        ),
        (
            [row(0, 2, f"{STEAL}; {LOAD}; {STEAL}"), row(1, 1, STEAL)],
            f"3 disturbed attempts of 2 executions were {AGAIN} (3 × stolen by the host, 1 × load of others)",
        ),
        ([row(0, 0, "", LOAD)], "1 disturbed execution stands as measured (1 × load of others)"),
        (
            [row(0, 2, f"{STEAL}; {STEAL}", LOAD), row(1, 0, "", f"{LOAD}; {STEAL}")],
            f"2 disturbed attempts of 1 execution were {AGAIN} (2 × stolen by the host); 2 disturbed executions {KEPT}",
        ),
    ],
)
def test_the_line_counts_attempts_executions_and_causes(rows: list[dict[str, Any]], said: str) -> None:
    assert note(rows) == said


def test_a_cause_that_is_not_known_here_is_named_as_it_was_written() -> None:
    assert by_cause(["moon: it was full", "moon: again"]) == "2 × moon"


def test_show_says_what_was_disturbed_before_any_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with start(tmp_path) as run:
        for position, execution in enumerate(plan()):
            measure(run, execution, position)
        execution = plan()[0]
        rows = [row for row in run.rows().to_pylist() if row["position"] == 0]
        own = ("attempt", "set_aside", "disturbed")
        kept = [{name: value for name, value in found.items() if name not in own} for found in rows]
        run.record(execution, [{**found, "attempt": 1, "set_aside": STEAL, "disturbed": LOAD} for found in kept])
        run.finish()
    show(run.path)
    said = capsys.readouterr().out.splitlines()
    again = f"1 disturbed attempt of 1 execution was {AGAIN} (1 × stolen by the host)"
    stands = "1 disturbed execution stands as measured (1 × load of others)"
    assert said[1] == f"note: {again}; {stands}"
    with start(tmp_path) as quiet:
        for position, execution in enumerate(plan()):
            measure(quiet, execution, position)
        quiet.finish()
    show(quiet.path)
    assert "disturbed" not in capsys.readouterr().out
