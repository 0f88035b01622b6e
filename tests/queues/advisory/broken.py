"""For every promise of the advisory scheduler one scheduler that breaks it: the model, with one fault."""

from __future__ import annotations

from typing import Any

from tests.queues.advisory import broken_advice, broken_jobs, broken_spread

BROKEN: dict[str, type[Any]] = {**broken_advice.FAULTS, **broken_jobs.FAULTS, **broken_spread.FAULTS}
"""promise -> a scheduler class that breaks it."""
