"""What people use today, as adapters: each event is handed out once, and what the adapter lacks is as it says."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import pytest

from queues.registry import PEERS, load
from tests.engines import server

EVENTS = [("job1", f"task {number}", "SUCCEEDED", number) for number in range(5)]


def class_of(name: str) -> Any:
    if name == "procrastinate":
        os.environ.update(server("postgresql").environment())
    return load("events", name)


@pytest.mark.parametrize("name", list(PEERS["events"]))
def test_a_peer_hands_out_each_event_once_over_any_connection(name: str) -> None:
    with closing(class_of(name)()) as queue:
        assert queue.record_many(EVENTS) == 5
        assert len(queue.pending("job1", "job2")) == 5
        assert len(queue.pending("job1", "job2", limit=2)) == 2
        with closing(class_of(name)(**queue.place)) as other:
            seen = []
            for one in (queue, other, other, queue, other):
                claim = one.claim("job1", "job2", worker="w", lease_us=1_000)
                seen.append(claim.event.task)
                one.complete(claim, "SUCCEEDED")
            assert seen == [task for _, task, _, _ in EVENTS]
            assert other.claim("job1", "job2", worker="w", lease_us=1_000) is None
        assert queue.pending("job1", "job2") == []
        assert any(character.isdigit() for character in queue.facts()[name])
