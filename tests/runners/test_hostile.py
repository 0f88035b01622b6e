"""Queues that do their worst in a run: it ends, the others have their figures, and the message says what happened.

`python -m tests.hostile` tries every misbehaviour at every place of a queue; here are those that a run once fell for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.folder_keeper import living_in
from runners.promises import conform
from tests import hostile
from tests.hostile import judged, measured, names
from tests.runners.hostile_queues import ACTS, PLACES, RETURNS

pytestmark = pytest.mark.processes

FELL_FOR = {
    "take__take_the_folder_away": "failed",
    "requeue__take_stderr_away": "ok",
    "take__thread": "ok",
    "enqueue__never_end": "ok",
    "take__raise_half_a_character": "failed",
    "take__raise_much": "failed",
    "take__raise_interrupt": "failed",
    "init__raise_unspeakable": "failed",
    "take__forge_deep": "failed",
    "take__forge_a_path": "failed",
    "requeue__forge_names": "failed",
    "take__pipe_for_a_result": "failed",
    "take__endless_result": "failed",
    "take__fork_on": "ok",
    "len__fork_a_daemon": "ok",
    "take__close_descriptors": "ok",
    "take__returns_huge": "failed",
    "len__returns_negative": "failed",
}


@pytest.mark.parametrize(("name", "status"), FELL_FOR.items())
def test_whatever_a_queue_does_the_run_ends_and_the_others_are_whole(
    name: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def noted(name: str, status: str, message: str) -> list[str]:
        seen.append(status)
        return judged(name, status, message)

    monkeypatch.setattr(hostile, "judged", noted)
    assert measured(name, tmp_path) == []
    assert set(seen) == {status}


@pytest.mark.parametrize(
    ("act", "status", "words"),
    [
        ("leave", "crashed", "the subject left the process at '"),
        ("abort", "crashed", "was ended by SIGABRT at '"),
        ("raise_interrupt", "error", "KeyboardInterrupt"),
        ("leave_badly", "error", "ended with exit code 77 at '"),
        ("forge_nothing", "error", "left no word of its promises"),
        ("forge_names", "crashed", "ended without a result"),
    ],
)
def test_a_check_that_a_queue_ends_says_at_which_promise(act: str, status: str, words: str, tmp_path: Path) -> None:
    target = f"tests.runners.hostile_queues:take__{act}"
    outcome, outcomes = conform(target, path=(str(hostile.ROOT),), limits=hostile.LIMITS)
    assert (outcome.status, outcomes) == (status, [])
    assert words in outcome.message


def test_the_judge_knows_a_bad_end() -> None:
    assert judged("take__abort", "failed", "was ended by SIGABRT") == []
    assert judged("take__abort", "splendid", "") != []
    assert judged("take__abort", "failed", "") != []
    assert judged("take__abort", "failed", "Traceback (most recent call last)") != []
    assert judged("take__abort", "failed", "half a \x1b line") != []
    assert judged("take__print_much", "failed", "it printed") != []


def test_every_misbehaviour_has_a_name_at_every_place() -> None:
    assert len(names()) == len(set(names())) == len(PLACES) * (len(ACTS) + len(RETURNS))
    assert set(FELL_FOR) <= set(names())
    assert living_in(Path("/nowhere")) == []
