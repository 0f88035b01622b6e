"""A lock that another process holds is waited out by every call, on every engine that has such locks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from queues.registry import ENGINE_OF, target
from runners import events_storm, held_locks
from runners.held_locks import SUBJECTS, waited
from tests.engines import server
from tests.queues.durable_subjects import relaxed

pytestmark = pytest.mark.processes

SECONDS = 0.3
"""The command holds it for two seconds; the wait is as real here."""


def reachable(subject: str) -> None:
    """See to it that the subject's server is running."""
    if engine := ENGINE_OF.get(target(*subject.split("/"))):
        running = relaxed(engine) if subject.startswith("timer/") else server(engine)
        os.environ.update(running.environment())


@pytest.mark.parametrize("subject", SUBJECTS)
def test_d09_a_lock_that_another_process_holds_never_reaches_a_caller_within_the_limit(
    subject: str, tmp_path: Path
) -> None:
    reachable(subject)
    found = waited(subject, SECONDS, tmp_path)
    assert [(one.call, one.error) for one in found if not one.right] == []
    assert len(found) >= 3


@pytest.mark.parametrize("subject", SUBJECTS)
def test_d09_beyond_the_limit_it_is_told_in_our_words_and_not_in_those_of_the_engine(
    subject: str, tmp_path: Path
) -> None:
    reachable(subject)
    found = waited(subject, 100 * SECONDS, tmp_path, limit=1)  # let go when all have given up
    expected = "Busy" if subject.startswith("events") else "TimeoutError"
    assert {one.error.partition(":")[0] for one in found} == {expected}
    assert not any("database is locked" in one.error for one in found)


@pytest.mark.parametrize("given", ["0", "-1", "nan", "15", "two"])
@pytest.mark.parametrize("command", [held_locks.main, events_storm.main], ids=["locks", "storm"])
def test_seconds_that_are_none_are_one_sentence(
    command: Callable[[list[str]], int], given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = "301" if given == "15" and command is events_storm.main else given
    with pytest.raises(SystemExit) as ended:
        command(["--seconds", given])
    assert ended.value.code == 2
    assert f"argument --seconds: {'invalid' if given == 'two' else given}" in capsys.readouterr().err


def test_the_command_says_of_every_call_how_long_it_waited(capsys: pytest.CaptureFixture[str]) -> None:
    assert held_locks.main(["--subject", "events/sqlite", "--seconds", "0.1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1].split()[0] for line in lines] == ["complete", "heartbeat", "release", "finish"]
    assert all(line.endswith(" s: done") for line in lines)
