"""What a person is told while a run is under way."""

from __future__ import annotations

import io

from lab.case import Case, execution_of
from runners.progress import Progress
from runners.run import Step

SECOND = 1_000_000_000


def executions(count: int) -> list:  # type: ignore[type-arg]
    case = Case.of("latency", "timer", "array", "growth", messages=5)
    return [execution_of(case, process, 1) for process in range(count)]


def test_the_time_left_is_what_the_same_case_took_before() -> None:
    planned = executions(4)
    progress = Progress(planned, io.StringIO())
    assert progress.left_ns() == 0
    progress(Step(1, 4, planned[0], "ok", "", 2 * SECOND))
    assert progress.left_ns() == 6 * SECOND


def test_a_case_that_was_not_measured_yet_takes_what_its_kind_or_any_took() -> None:
    first, other = executions(1)[0], execution_of(Case.of("memory", "timer", "array", "resident", messages=5), 0, 1)
    progress = Progress([first, other], io.StringIO())
    progress(Step(1, 2, first, "ok", "", 3 * SECOND))
    assert progress.left_ns() == 3 * SECOND


def test_a_failed_execution_is_told_at_once_in_one_line() -> None:
    said = io.StringIO()
    planned = executions(2)
    progress = Progress(planned, said)
    progress(Step(1, 2, planned[0], "error", "ZeroDivisionError: no\nTraceback", SECOND))
    assert said.getvalue() == "timer/array/growth/messages=5/latency/cpu/gc-on: error: ZeroDivisionError: no\n"
    assert progress.failed == 1


def test_a_log_gets_a_line_at_the_end_and_no_control_characters() -> None:
    said = io.StringIO()
    planned = executions(2)
    progress = Progress(planned, said)
    for number, execution in enumerate(planned, start=1):
        progress(Step(number, 2, execution))
        progress(Step(number, 2, execution, "ok", "", SECOND))
    progress.end()
    lines = said.getvalue().splitlines()
    assert lines[0].startswith("[1/2] array growth messages=5 (latency)")
    assert lines[-1].startswith("[2/2]")
    assert "\x1b" not in said.getvalue()


def test_what_takes_its_time_at_the_end_is_told_in_a_log_and_on_a_terminal() -> None:
    for said, told in ((io.StringIO(), "causes are looked for\n"), (Terminal(), "\r\x1b[2Kcauses are looked for")):
        Progress([], said).tell("causes are looked for")
        assert said.getvalue() == told


class Terminal(io.StringIO):
    """A stream that says that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_that_is_rewritten_and_taken_away() -> None:
    said = Terminal()
    planned = executions(2)
    progress = Progress(planned, said)
    progress(Step(1, 2, planned[0]))
    progress(Step(1, 2, planned[0], "ok", "", SECOND))
    progress(Step(2, 2, planned[1]))
    progress.end()
    assert "\n" not in said.getvalue()
    assert "about 1 s left" in said.getvalue()
    assert said.getvalue().endswith("\r\x1b[2K")
