"""The level cycle: a companion goes first, in front of every put back and outside of what is timed."""

from __future__ import annotations

from typing import Any

import pytest

from queues.timer.array_naive import ArrayNaive
from runners.latency import CheckFailed, blank, cycle_each
from runners.level import COMPANION_DUE, ROUNDS, level_cycle

PARAMS = {"due": 5, "queued": 20, "calls": 3}


def test_before_every_put_back_the_companion_is_taken_from_and_put_back_to_outside_the_clock() -> None:
    story: list[tuple[str, int]] = []

    class Told(ArrayNaive):
        __slots__ = ()

        def take(self, now: Any = None, limit: int | None = None) -> Any:
            batch = super().take(now, limit)
            story.append(("take", len(batch) if batch is not None else 0))
            return batch

        def requeue(self, batch: Any) -> int:
            story.append(("requeue", len(batch)))
            return super().requeue(batch)

    def clock() -> int:
        story.append(("clock", 0))
        return 0

    rig = level_cycle(Told, PARAMS, 1)
    cycle_each(clock, (blank(3), blank(3)), 3, *rig.arguments)
    tick = ("clock", 0)
    companion = [("take", COMPANION_DUE), ("requeue", COMPANION_DUE)] * ROUNDS
    assert story == [tick, ("take", 5), tick, *companion, tick, ("requeue", 5), tick] * 3
    rig.check()


@pytest.mark.parametrize("kept", [COMPANION_DUE, 5])
def test_a_companion_or_a_queue_that_loses_a_message_gives_no_number(kept: int) -> None:
    class Loses(ArrayNaive):
        __slots__ = ()

        def requeue(self, batch: Any) -> int:
            if len(batch) == kept:
                self.process(batch, lambda *_: None, deadline=float("inf"))
            return super().requeue(batch)

    rig = level_cycle(Loses, PARAMS, 1)
    with pytest.raises(CheckFailed):
        cycle_each(lambda: 0, (blank(3), blank(3)), 3, *rig.arguments)
