"""For every promise of the timer queue one queue that breaks it: the model, with one fault.

A check that cannot fail is a defect; tests/queues/test_conformance.py sees each of them fail here.
"""

from __future__ import annotations

from typing import Any

from tests.queues import broken_cancel, broken_process, broken_requeue, broken_taking, broken_views

BROKEN: dict[str, type[Any]] = {
    **broken_taking.FAULTS,
    **broken_requeue.FAULTS,
    **broken_process.FAULTS,
    **broken_cancel.FAULTS,
    **broken_views.FAULTS,
}
"""promise -> a queue class that breaks it."""
