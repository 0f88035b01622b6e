"""A `match` that changes the queue while `cancel` looks: told so, and no message is lost for it (A18, A26)."""

from __future__ import annotations

from typing import Any

import pytest

from queues.model import Model
from queues.registry import SUBJECTS, load

CHANGES: dict[str, Any] = {
    "cancels": lambda queue: queue.cancel(2),
    "cancels what is earlier": lambda queue: queue.cancel(1),
    "puts in an equal one": lambda queue: queue.enqueue(2, "new"),
    "puts in an earlier one": lambda queue: queue.enqueue(0, "new"),
    "takes all": lambda queue: queue.take(9),
    "takes what is earlier": lambda queue: queue.take(1),
}


@pytest.fixture(params=["model", *SUBJECTS["timer"]])
def queue(request: pytest.FixtureRequest) -> Any:
    made = (Model if request.param == "model" else load("timer", request.param))(clock=lambda: 0)
    for start, name in ((1, "early"), (2, "a"), (2, "b"), (2, "c"), (3, "late")):
        made.enqueue(start, name)
    return made


def held(queue: Any) -> list[Any]:
    queue.check()
    found = list(queue.contents())
    assert len(found) == len(queue) >= 0
    assert queue.next_start == (found[0][0] if found else None)
    return found


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("answer", [True, False])
def test_a_match_that_changes_the_queue_is_told_so_and_only_its_own_change_stands(
    queue: Any, change: str, answer: bool
) -> None:
    twin = Model()
    for item in queue.contents():
        twin.enqueue(*item)
    CHANGES[change](twin)

    def match(name: str) -> bool:
        CHANGES[change](queue)
        return answer

    with pytest.raises(RuntimeError, match="match put messages in or took some out"):
        queue.cancel(2, match)
    assert held(queue) == list(twin.contents())


def test_in_a_running_batch_too(queue: Any) -> None:
    batch = queue.take(2)
    seen = []

    def match(name: str) -> bool:
        queue.cancel(2)
        return True

    def handler(start: int, name: str) -> None:
        seen.append(name)
        if name == "early":
            with pytest.raises(RuntimeError, match="match put messages in"):
                queue.cancel(2, match)

    assert queue.process(batch, handler, deadline=9) == 3
    assert seen == ["early", "b", "c"]
    assert held(queue) == [(3, "late")]


def test_a_match_may_ask_the_queue_and_look_through_it(queue: Any) -> None:
    def match(name: str) -> bool:
        return len(queue) == 5 and queue.next_start == 1 and len(list(queue.contents())) == 5 and name == "b"

    assert queue.cancel(2, match) == (2, "b")
    assert held(queue) == [(1, "early"), (2, "a"), (2, "c"), (3, "late")]
