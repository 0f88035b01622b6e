"""Subjects of known truth: that they do what they say, on a clock that only reading moves, and what they refuse."""

from __future__ import annotations

import doctest
import gc
from importlib import import_module
from typing import Any

import pytest

from runners import burners, memory, rooms, truths
from runners.burners import Collects, OnceInAThousand, SlowAtAnyCall, SlowAtOneCall, Spin2, Spin10, random_call
from runners.latency import CheckFailed, blank
from runners.null import NullQueue
from runners.rigs import PAYLOAD, ordered
from runners.workloads import WORKLOADS, find

READ_NS = 70


@pytest.fixture
def read_clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that moves by 70 ns at every read and by nothing else; subjects and loop read the same."""
    now = [0]

    def read() -> int:
        now[0] += READ_NS
        return now[0]

    monkeypatch.setattr(burners, "thread_time_ns", read)
    return read


@pytest.mark.parametrize("subject", [Spin2, Spin10])
def test_the_account_of_a_spin_is_what_a_loop_sees(read_clock: Any, subject: type[burners.Spin]) -> None:
    calls = 20
    rig = truths.spin(subject, {"calls": calls}, 1)
    samples = tuple(blank(calls) for _ in find("truth", "spin").operations)
    truths.spin_each(read_clock, samples, calls, *rig.arguments)
    rig.check()
    timed, burned, idle, nothing, clock, before = map(list, samples)
    reads = -(-subject.BURNS_NS // READ_NS)
    assert burned == [reads * READ_NS] * calls
    assert idle == [2 * READ_NS] * calls
    assert nothing == clock == before == [READ_NS] * calls
    assert timed == [a + b for a, b in zip(burned, idle, strict=True)]


def test_the_null_subject_has_no_account() -> None:
    samples = tuple(blank(5) for _ in range(6))
    truths.spin_each(iter(range(100)).__next__, samples, 5, NullQueue(1), 0, PAYLOAD)
    assert [list(account) for account in samples[1:]] == [[0] * 5] * 5
    assert list(samples[0]) == [1] * 5


def test_what_burns_seldom_burns_at_its_calls_and_nowhere_else(read_clock: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    calls = 13_000
    expected = {
        OnceInAThousand: list(range(999, calls, 1_000)),
        SlowAtOneCall: [12_345],
        SlowAtAnyCall: [random_call(2, calls)],
    }
    for subject, slow in expected.items():
        rig, samples = truths.seldom(subject, {"calls": calls}, 1), (blank(calls),)
        workload = find("truth", "seldom")
        assert workload.loop is not None
        workload.loop(read_clock, samples, calls, *rig.arguments)
        rig.check()
        assert [call for call, ns in enumerate(samples[0]) if ns > READ_NS] == slow
        assert all(samples[0][call] >= subject.BURNS_NS for call in slow)


def test_a_random_call_is_another_one_in_every_process() -> None:
    found = {random_call(seed, 13_000) for seed in range(1, 1_000)}
    assert len(found) > 900
    assert min(found) >= 0
    assert max(found) < 13_000


def test_a_subject_that_was_not_called_as_often_as_it_was_to_be_gives_no_number() -> None:
    rig = truths.seldom(SlowAtOneCall, {"calls": 3}, 1)
    with pytest.raises(CheckFailed, match="it was called 0 times: expected 3"):
        rig.check()


@pytest.mark.parametrize("frozen", [False, True])
def test_a_collector_that_does_not_find_the_ring_fails_the_check(frozen: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(Collects, "RING", 1_000)
    monkeypatch.setattr(Collects, "AT", 2)
    gc.collect()
    queue = Collects(3)
    if frozen:
        gc.freeze()
    try:
        for _ in range(3):
            queue.take(0.0)
    finally:
        gc.unfreeze()
    if frozen:
        with pytest.raises(CheckFailed, match="the collector found 0 of 1000 objects"):
            queue.check()
    else:
        queue.check()
        assert queue.found == 1_000


def test_subjects_of_memory_keep_every_message_and_pass_the_check_of_every_queue() -> None:
    for subject in (rooms.Hundred, rooms.EightMib, rooms.Leaks, rooms.GivesBack):
        _, check = memory.resident(subject, {"messages": 30}, memory.Gauge())
        check()
    for drains in (rooms.Numbered, rooms.Leaks, rooms.GivesBack):
        for left in (0, 7, 30):
            queue, check = memory.drained(drains, {"messages": 30, "left": left}, memory.Gauge())
            assert len(queue) == left
            check()


def test_numbered_messages_are_taken_in_order_and_only_when_due() -> None:
    queue = rooms.Numbered()
    for start in ordered(0, 5):
        queue.enqueue(start, memory.payload(int(start)))
    assert queue.take(-1.0) is None
    batch = queue.take(2.5)
    assert batch is not None
    assert list(batch) == [(0.0, "message 0"), (1.0, "message 1"), (2.0, "message 2")]
    sent: list[Any] = []
    assert queue.process(batch, lambda *message: sent.append(message)) == 3
    assert (len(batch), len(queue), len(sent)) == (0, 2, 3)
    assert queue.take(2.0) is None


def test_the_family_is_found_by_name_and_stands_in_no_list() -> None:
    assert "truth" not in WORKLOADS
    assert find("truth", "drained").kinds == ("memory",)
    with pytest.raises(LookupError, match="no workload 'spun' in family 'truth': there are spin, seldom, waits"):
        find("truth", "spun")
    for workload in truths.WORKLOADS.values():
        assert workload.sentence
        assert all(workload.parameters.values())


@pytest.mark.parametrize("name", ["lab.calibration", "runners.burners", "runners.proofs", "runners.calibrate"])
def test_the_examples_of_a_module_run(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert failed == 0
    assert tried > 0
