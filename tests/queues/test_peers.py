"""What people use today: which promises each library keeps, pinned, so that a new version that changes one shows.

A verdict is about the library only where the library decides. What the adapters add is said in their docstrings and
shows here as "kept" without merit: the batch is cut from the heap, so what a handler enters waits (asyncio's own rule,
but not kombu's and not sched's), and the window is asked between two messages. Nothing else is repaired: no sequence
number is added to a tie, no message is saved from a handler that raises, no start is checked.

Only verdicts that do not hang on luck are pinned. Where a library orders ties by an address or a random id, a check
that has two of them by the way may go either way: "-" stands there, and the rule is tested in test_peer_rules.py.
"""

from __future__ import annotations

import doctest
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from queues.conformance import PROMISES, conform
from queues.promises.holding import Prickly
from queues.registry import PEERS, SUBJECTS, load, target
from runners.promises import search_path
from runners.spawn import Limits, run_worker

INFINITY = float("inf")
NAMES = ("kombu", "sched", "apscheduler", "asyncio-heap")
DISPATCHING = ("kombu", "sched", "asyncio-heap")
ROOT = Path(__file__).resolve().parent.parent.parent

PINNED = """
essential-methods                    kept         kept         kept         kept
start-order                          kept         kept         kept         kept
ties-keep-arrival-order              broken       kept         broken       broken
nothing-runs-early                   kept         kept         broken       kept
everything-due-is-taken              kept         kept         broken       kept
take-none-when-nothing-due           kept         kept         kept         kept
length                               kept         kept         kept         kept
batch-is-cut                         kept         kept         kept         kept
free-while-out                       kept         kept         kept         kept
limit                                -            not-offered  not-offered  not-offered
clock-may-go-back                    kept         kept         kept         kept
starts-as-given                      kept         kept         broken       kept
mixed-numbers-exact                  broken       broken       broken       broken
infinities                           broken       broken       broken       kept
huge-numbers                         broken       broken       broken       kept
requeue-in-front                     kept         kept         kept         kept
requeue-ahead-of-equal-starts        -            broken       -            broken
requeue-counts                       kept         kept         kept         kept
requeue-empties-batch                kept         kept         kept         kept
second-requeue-puts-back-0           kept         kept         kept         kept
several-batches-any-order            kept         kept         kept         kept
model-agreement                      broken       broken       broken       broken
window-closes                        kept         kept         not-offered  kept
default-window-is-60                 broken       broken       not-offered  broken
raising-handler-keeps-message        broken       broken       not-offered  broken
stop-dispatch-quiet                  broken       broken       not-offered  broken
handler-arrivals-wait                kept         kept         not-offered  kept
handler-may-cancel                   broken       broken       not-offered  broken
cancel-none-when-absent              kept         kept         kept         kept
cancel-first-at-start                broken       kept         -            kept
cancelled-leaves-nothing             broken       kept         kept         kept
zero-is-a-time                       kept         kept         not-offered  kept
default-clock                        broken       broken       kept         broken
dropped-queue-releases               kept         kept         kept         kept
dropped-batch-releases               kept         kept         kept         kept
released-as-dispatched               kept         kept         not-offered  kept
nan-start-refused                    broken       broken       broken       broken
no-number-refused                    broken       broken       kept         broken
foreign-batch-refused                broken       broken       broken       broken
"""
"""Promise, and the verdict for each of NAMES; "-" where luck decides."""

VERDICTS = {
    promise: dict(zip(NAMES, verdicts, strict=True)) for promise, *verdicts in map(str.split, PINNED.split("\n")[1:-1])
}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def peer(name: str) -> Any:
    """The class of a peer; the test is left out where its library is not installed."""
    try:
        return load("timer", name)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{name} needs {missing.name}")


def filled(name: str, *starts: float) -> Any:
    queue = peer(name)()
    for place, start in enumerate(starts):
        queue.enqueue(start, "abcdefgh"[place])
    return queue


def read(queue: Any, batch: Any) -> list[Any]:
    """What is in a batch, by `process` where there is one, as the harness does it."""
    seen: list[Any] = []
    if not hasattr(queue, "process"):
        return list(batch)
    queue.process(batch, lambda *message: seen.append(message))
    return seen


# The table


def test_the_verdicts_are_the_pinned_ones(name: str) -> None:
    chosen = [promise for promise in PROMISES if VERDICTS.get(promise.name, {}).get(name, "-") != "-"]
    found = {outcome.promise: outcome.verdict for outcome in conform(peer(name), promises=chosen)}
    assert found == {promise.name: VERDICTS[promise.name][name] for promise in chosen}


def test_every_pinned_promise_is_one_of_the_contract() -> None:
    assert set(VERDICTS) <= {promise.name for promise in PROMISES}


def test_peers_are_a_table_of_their_own_and_load_finds_both() -> None:
    assert tuple(PEERS["timer"]) == NAMES
    assert not set(PEERS["timer"]) & set(SUBJECTS["timer"])
    assert load("timer", "sched").__name__ == "SchedScheduler"
    assert load("timer", "array").__name__ == "Array"
    assert target("timer", "kombu") == "queues.peers.kombu_timer:KombuTimer"
    assert target("timer", "mine:Queue") == "mine:Queue"
    for wrong in (("timer", "rope"), ("clockwork", "sched")):
        for call in (load, target):
            with pytest.raises(LookupError, match="there are"):
                call(*wrong)


@pytest.mark.parametrize(
    "module", ["handles", *(path.partition(":")[0].rpartition(".")[2] for path in PEERS["timer"].values())]
)
def test_the_examples_hold(module: str) -> None:
    failed, tried = doctest.testmod(import_module(f"queues.peers.{module}"))
    assert tried > 0
    assert failed == 0


# What holds for all of them


def test_take_never_sleeps_and_takes_nothing_that_is_later(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asleep(_seconds: float) -> None:
        raise AssertionError("take slept")

    monkeypatch.setattr(time, "sleep", asleep)
    queue = filled(name, 1.0, 2.0, 3.0)
    assert read(queue, queue.take(2.0)) == [(1.0, "a"), (2.0, "b")]
    assert queue.take(2.999) is None
    assert len(queue) == 1


def test_payloads_are_not_compared_hashed_or_asked_for_truth(name: str) -> None:
    queue = peer(name)()
    payloads = [Prickly(letter) for letter in "abcdefgh"]
    for payload in payloads:
        queue.enqueue(1.0, payload)
    queue.requeue(queue.take(1.0))
    cancelled = queue.cancel(1.0)
    rest = read(queue, queue.take(1.0))
    assert sorted(message[1].name for message in [cancelled, *rest]) == list("abcdefgh")


def test_cancel_finds_what_came_before_it_after_it_and_what_was_put_back(name: str) -> None:
    queue = filled(name, 1.0, 2.0, 3.0)
    assert queue.cancel(9.0) is None
    queue.enqueue(4.0, "late")
    queue.requeue(queue.take(2.0))
    assert [queue.cancel(start) for start in (4.0, 1.0, 3, 1.0)] == [(4.0, "late"), (1.0, "a"), (3.0, "c"), None]
    assert read(queue, queue.take(INFINITY)) == [(2.0, "b")]


def test_cancel_finds_nothing_of_what_was_taken(name: str) -> None:
    queue = filled(name, 1.0, 1.0, 2.0)
    assert queue.cancel(0.0) is None
    batch = queue.take(1.0)
    assert queue.cancel(1.0) is None
    assert sorted(read(queue, batch)) == [(1.0, "a"), (1.0, "b")]


def test_a_queue_that_never_cancels_keeps_no_handles(name: str) -> None:
    queue = filled(name, 1.0, 2.0)
    queue.requeue(queue.take(1.0))
    found = [queue._kept]
    queue.cancel(1.0)
    found.append(list(queue._kept))
    queue.take(2.0)
    assert [*found, queue._kept] == [None, [2.0], {}]


@pytest.mark.parametrize("name", DISPATCHING)
def test_the_window_is_asked_before_each_message(name: str) -> None:
    times = iter(range(100))
    queue = peer(name)(clock=lambda: next(times))
    for start in range(6):
        queue.enqueue(float(start), "m")
    batch = queue.take(5.0)
    assert queue.process(batch, lambda *_: None, 4) == 4
    assert len(batch) == 2
    assert queue.process(batch, lambda *_: None, 5) == 0
    assert queue.requeue(batch) == 2
    assert len(queue) == 2


# In a worker

CASES = [
    ("latency", "cycle", {"due": 10, "queued": 100, "calls": 30}),
    ("latency", "growth", {"messages": 300}),
    ("batched", "enqueue-in-order", {"messages": 200}),
    ("batched", "life-half-cancelled", {"messages": 300}),
]


@pytest.mark.processes
@pytest.mark.parametrize(("kind", "workload", "params"), CASES)
def test_every_workload_that_is_offered_is_carried_out(
    name: str, kind: str, workload: str, params: dict[str, int], tmp_path: Path
) -> None:
    peer(name)
    spec = {"family": "timer", "subject": name, "target": target("timer", name), "path": list(search_path())}
    case = {"kind": kind, "workload": workload, "params": params, "seed": 1, "clock": "cpu", "gc": "on"}
    outcome = run_worker(spec | case, tmp_path, limits=Limits(seconds=30))
    if workload.startswith("life") and name not in DISPATCHING:
        assert (outcome.status, outcome.message.partition(":")[0]) == ("not-offered", "process() is not offered")
        return
    assert (outcome.status, outcome.message) == ("ok", "")
    assert all(operation["n"] > 0 for operation in outcome.result["operations"])


NEEDS = {"kombu": {"kombu", "vine", "amqp"}, "apscheduler": {"apscheduler", "tzlocal"}}
LISTING = """
import sys
before = set(sys.modules)
sys.path[:0] = [sys.argv[1]]
sys.path += sys.argv[3:]
from queues.registry import load_target
load_target(sys.argv[2])
print(*sorted({getattr(sys.modules[name], "__name__", name).partition(".")[0] for name in set(sys.modules) - before}))
"""


@pytest.mark.processes
def test_a_worker_loads_the_standard_library_and_the_wrapped_one(name: str) -> None:
    peer(name)
    command = [sys.executable, "-S", "-s", "-P", "-c", LISTING, str(ROOT), target("timer", name), *search_path()]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    foreign = {module for module in listed if module not in sys.stdlib_module_names and not module.startswith("_")}
    assert foreign <= {"queues"} | NEEDS.get(name, set())
    assert "queues" in foreign
