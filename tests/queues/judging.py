"""Outcomes of the conformance suite, as its tests ask for them."""

from __future__ import annotations

from typing import Any

from queues.conformance import PROMISES, Outcome, conform

BY_NAME = {promise.name: promise for promise in PROMISES}


def verdicts(outcomes: list[Outcome], verdict: str) -> set[str]:
    """Return the names of the promises with this verdict."""
    return {outcome.promise for outcome in outcomes if outcome.verdict == verdict}


def outcome_of(queue_class: Any, name: str) -> Outcome:
    """Check one promise."""
    return conform(queue_class, promises=[BY_NAME[name]])[0]
