"""The promises: the subjects keep all, each goes red on a scheduler that breaks it, and the table of the peers."""

from __future__ import annotations

from typing import Any

import pytest

from lab.table import text
from queues.advisory.model import Model
from queues.advisory.promises import PROMISES, conform
from queues.advisory.trial import METHODS, offer_of
from queues.conformance import BROKEN as RED
from queues.conformance import KEPT, NOT_OFFERED, Outcome
from queues.registry import PEERS, SUBJECTS, load
from runners.promises import promise_table
from tests.queues.advisory.broken import BROKEN

BY_NAME = {promise.name: promise for promise in PROMISES}


def outcome_of(scheduler_class: Any, name: str) -> Outcome:
    return conform(scheduler_class, promises=[BY_NAME[name]])[0]


def test_every_promise_has_a_scheduler_that_breaks_it() -> None:
    assert set(BROKEN) == set(BY_NAME)


@pytest.mark.parametrize("name", BROKEN)
def test_the_check_of_a_promise_goes_red_on_the_scheduler_that_breaks_it(name: str) -> None:
    outcome = outcome_of(BROKEN[name], name)
    assert outcome.verdict == RED
    assert outcome.detail
    assert " at 0x" not in outcome.detail


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_model_keeps_every_promise(seed: int) -> None:
    assert [outcome for outcome in conform(Model, seed) if outcome.verdict != KEPT] == []


@pytest.mark.parametrize("subject", SUBJECTS["advisory"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_subject_keeps_every_promise(subject: str, seed: int) -> None:
    assert [outcome for outcome in conform(load("advisory", subject), seed) if outcome.verdict != KEPT] == []


def test_promises_have_unique_kebab_names_and_a_sentence_each() -> None:
    assert len(BY_NAME) == len(PROMISES)
    for promise in PROMISES:
        assert promise.name == promise.name.lower().replace(" ", "-").replace("_", "-")
        assert promise.sentence.endswith(".")


def test_what_a_promise_needs_is_something_that_the_model_offers() -> None:
    needs = {name for promise in PROMISES for name in promise.needs}
    assert offer_of(Model).missing(sorted(needs)) == []
    assert needs <= {*METHODS, "clock", "auto_spread"}


@pytest.mark.parametrize(
    ("name", "calls"), [("model-agreement", 6), ("model-agreement-clock-back", 4), ("model-agreement-spread", 4)]
)
def test_a_random_difference_is_told_by_a_small_schedule(name: str, calls: int) -> None:
    detail = outcome_of(BROKEN[name], name).detail
    assert detail.partition(": ")[0].count(";") + 1 <= calls, detail
    assert "expected" in detail


def test_the_same_seed_tells_the_same() -> None:
    for name in ("model-agreement", "model-agreement-auto-spread"):
        first, second = (conform(BROKEN[name], 7, promises=[BY_NAME[name]]) for _ in range(2))
        assert first == second
        assert first[0].verdict == RED


def test_a_scheduler_that_cannot_be_made_breaks_every_promise_and_ends_nothing() -> None:
    class Refuses:
        def __init__(self) -> None:
            raise RuntimeError("no")

    verdicts = {outcome.verdict for outcome in conform(Refuses, steps=20)}
    assert verdicts <= {RED, NOT_OFFERED}
    assert RED in verdicts


def test_progress_names_each_promise_and_an_interrupt_passes() -> None:
    names: list[str] = []

    class Hangs(Model):
        def remove(self, job_id: Any) -> None:
            raise KeyboardInterrupt

    def remember(name: str) -> None:
        names.append(name)

    conform(Model, steps=20, progress=remember)
    assert names == [promise.name for promise in PROMISES]
    with pytest.raises(KeyboardInterrupt):
        conform(Hangs, steps=20)


PEER_NAMES = ("sched", "apscheduler")
PINNED = """
essential-methods                    kept     kept
new-job-due-at-once                  kept     kept
next-run-a-period-later              kept     kept
early-advice-counts-as-run           kept     kept
most-overdue-first                   kept     broken
ties-least-recently-added            kept     broken
ties-least-recently-chosen           kept     broken
ids-never-ordered                    kept     broken
idle-polling-moves-nothing           broken   broken
idle-polling-counts-as-chosen        kept     kept
cadence-counts-from-the-run          kept     broken
catch-up-once                        kept     broken
head-blocks-nobody                   kept     broken
zero-is-a-time                       kept     kept
asks-the-clock                       kept     kept
clock-may-go-back                    broken   broken
exact-numbers                        broken   broken
update-counts-from-last-run          kept     broken
update-reorders                      kept     kept
update-of-a-new-job-stays-due        broken   broken
update-keeps-tie-place               broken   kept
removed-is-gone                      kept     kept
added-again-is-new                   kept     broken
all-jobs                             kept     broken
arguments-by-name                    kept     kept
bad-period-refused                   broken   broken
bad-update-refused                   broken   broken
repeated-id-refused                  kept     broken
unknown-id-refused                   kept     kept
no-hash-no-id                        kept     kept
no-job-refused                       kept     kept
bad-now-refused                      broken   broken
failing-clock-changes-nothing        broken   kept
model-agreement                      broken   broken
model-agreement-clock-back           broken   broken
"""
"""Promise, and the verdict for each of PEER_NAMES, so that a new version that changes one shows. Where an adapter's own
code decides, its docstring says so. What neither offers is left out."""

VERDICTS = {
    promise: dict(zip(PEER_NAMES, verdicts, strict=True))
    for promise, *verdicts in map(str.split, PINNED.strip().splitlines())
}


def test_the_peers_keep_what_they_kept_and_the_table_is_printed() -> None:
    assert tuple(PEERS["advisory"]) == PEER_NAMES
    outcomes = {name: conform(load("advisory", name)) for name in PEER_NAMES}
    rows = {
        name: [(found.promise, found.sentence, found.verdict, found.detail) for found in outcomes[name]]
        for name in PEER_NAMES
    }
    print(text(promise_table(rows)))
    verdicts = {
        promise: {name: next(one.verdict for one in outcomes[name] if one.promise == promise) for name in PEER_NAMES}
        for promise in BY_NAME
    }
    assert {name: told for name, told in verdicts.items() if set(told.values()) != {NOT_OFFERED}} == VERDICTS
