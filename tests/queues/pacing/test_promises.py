"""The promises of tickers and limiters: every subject keeps all, each check goes red, and what the peers promise."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from queues.conformance import BROKEN, KEPT, NOT_OFFERED
from queues.pacing.promises import PROMISES, conform
from queues.pacing.trial import smallest
from queues.registry import PEERS, SUBJECTS, load, target
from tests.queues.pacing.broken import BROKEN_LIMITERS, BROKEN_TICKERS

BY_NAME = {family: {one.name: one for one in promises} for family, promises in PROMISES.items()}
WRONG = [("ticker", name) for name in BROKEN_TICKERS] + [("limiter", name) for name in BROKEN_LIMITERS]


@pytest.mark.parametrize(("family", "name"), [(family, name) for family in PROMISES for name in SUBJECTS[family]])
def test_every_subject_keeps_every_promise(family: str, name: str) -> None:
    outcomes = conform(load(family, name), family, steps=100)
    assert [outcome for outcome in outcomes if outcome.verdict != KEPT] == []
    assert len(outcomes) == len(PROMISES[family])


def test_every_promise_has_a_subject_that_breaks_it() -> None:
    assert {name for family, name in WRONG if family == "ticker"} == set(BY_NAME["ticker"])
    assert {name for family, name in WRONG if family == "limiter"} == set(BY_NAME["limiter"])


@pytest.mark.parametrize(("family", "name"), WRONG)
def test_the_check_of_a_promise_goes_red_on_what_breaks_it(family: str, name: str) -> None:
    wrong = {"ticker": BROKEN_TICKERS, "limiter": BROKEN_LIMITERS}[family][name]
    outcome = conform(wrong, family, promises=[BY_NAME[family][name]], steps=300)[0]
    assert outcome.verdict == BROKEN, outcome
    assert outcome.detail.startswith("made with (")
    assert " at 0x" not in outcome.detail


def outcomes_of(family: str, name: str, *promises: str) -> dict[str, Any]:
    chosen = [BY_NAME[family][promise] for promise in promises]
    return {one.promise: one for one in conform(load(family, name), family, promises=chosen, steps=600)}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("limits-moving", KEPT),
        ("pyrate-gcra", BROKEN),
        ("limits-fixed", BROKEN),
        ("limits-sliding", BROKEN),
    ],
)
def test_which_peers_break_the_bound(name: str, verdict: str) -> None:
    outcome = outcomes_of("limiter", name, "bound")["bound"]
    assert outcome.verdict == verdict, outcome
    assert ("more than" in outcome.detail) == (verdict == BROKEN)


def test_aiolimiter_keeps_the_bound_but_for_the_rounding_of_its_float() -> None:
    outcome = outcomes_of("limiter", "aiolimiter", "bound")["bound"]
    assert outcome.verdict == BROKEN
    more = float(outcome.detail.rpartition(" s, ")[2].partition(" more than")[0])
    assert 0 < more < 1e-12


def test_the_fixed_window_lets_two_bursts_pass_and_the_input_is_small() -> None:
    detail = outcomes_of("limiter", "limits-fixed", "bound")["bound"].detail
    assert detail.partition(": ")[0].count(";") <= 8, detail


def test_the_naive_loop_drifts_by_the_work_and_call_later_by_its_lateness() -> None:
    naive = outcomes_of("ticker", "naive-sleep", "work-does-not-count")["work-does-not-count"]
    assert "[1.0, 2.2, 3.4" in naive.detail
    later = outcomes_of("ticker", "call-later", "work-does-not-count", "lateness-does-not-add-up")
    assert [one.verdict for one in later.values()] == [KEPT, BROKEN]


def test_what_a_class_lacks_is_not_offered() -> None:
    outcomes = outcomes_of("limiter", "limits-fixed", "in-order", "wait-time-exact", "rate-zero")
    assert {one.verdict for one in outcomes.values()} == {NOT_OFFERED}
    assert outcomes["in-order"].detail == "no acquire"


def test_the_same_seed_tells_the_same() -> None:
    first, second = (
        conform(load("limiter", "pyrate-gcra"), "limiter", seed=3, promises=[BY_NAME["limiter"]["bound"]], steps=300)
        for _ in range(2)
    )
    assert first == second


def test_promises_have_kebab_names_and_a_sentence_each() -> None:
    for family, promises in PROMISES.items():
        assert len(BY_NAME[family]) == len(promises)
        for one in promises:
            assert one.name == one.name.lower().replace(" ", "-").replace("_", "-")
            assert one.sentence.endswith(".")


def test_shrinking_leaves_only_what_matters() -> None:
    asks = [(0.37, 2), (1.6, 3), (0.5, 1), (2.2, 5), (0.1, 1)]
    found = smallest(asks, lambda left: any(n >= 3 for _, n in left) and sum(span for span, _ in left) > 1)
    assert found == [(2.0, 3)] or found == [(2.0, 5)]


def test_the_names_of_both_families_load_and_peers_are_no_subjects() -> None:
    for family in PROMISES:
        assert not set(SUBJECTS[family]) & set(PEERS[family])
        for name in (*SUBJECTS[family], *PEERS[family]):
            assert isinstance(load(family, name), type), target(family, name)


def test_the_package_needs_only_the_standard_library() -> None:
    for path in Path(sys.modules["queues.pacing.promises"].__file__ or "").parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in sys.stdlib_module_names | {"queues"} for name in names), path.name
