"""What is done to an event queue: asking for what is pending, in every form, and claiming with many workers at once."""

from __future__ import annotations

import os
import sys
import time
from array import array

from queues.events.rules import FORMS
from runners.events_crew import Crew
from runners.events_rows import BY, OF, fill
from runners.latency import CheckFailed
from runners.realtime import Found
from runners.rigs import Rig
from runners.workload import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Parameters = dict[str, Any]
    Samples = tuple[array[int], ...]

PENDING = 5
"""What the document has pending."""

LEASE_US = 60_000_000
INDEXES = ("indexed", "bare")


class Asked:
    """A table filled as the document does, and the questions that are asked of it again and again."""

    def __init__(self, queue_class: Any, params: Parameters) -> None:
        """Fill it. `rows` is what the document counts: two for every finished task, and the five that are pending."""
        self.events = queue_class(indexed=False)
        indexed = params["index"] == "indexed"
        self.since_us: int | None = fill(self.events, (params["rows"] - PENDING) // 2, PENDING, indexed=indexed)
        self.forms: tuple[str, ...] = FORMS
        if "form" in params:
            self.forms, self.since_us = (params["form"],), None
            leave_word(self.events.plan(OF, BY, form=params["form"]))

    def ask(self, form: str) -> Any:
        """Ask once."""
        return self.events.pending(OF, BY, form=form, since_us=self.since_us)

    def check_found(self, found: Any) -> None:
        """Refuse an answer that is not the five events, in order."""
        tasks = [event.task for event in found]
        if tasks != [f"new {number}" for number in range(PENDING)]:
            raise CheckFailed(f"pending found {len(tasks)} events, {tasks[:3]} first: expected the {PENDING} new ones")

    def check(self) -> None:
        """Let go of the table; every answer has been looked at."""
        self.events.close()

    @property
    def facts(self) -> dict[str, str]:
        """How the engine goes about each form, and what decides how fast."""
        plans = {f"plan of {form}": self.events.plan(OF, BY, form=form, since_us=self.since_us) for form in self.forms}
        return {**plans, **self.events.facts()}


def leave_word(text: str) -> None:
    """Write down, in the folder of an execution, what it is at: should it not end in its time, that is told."""
    if os.path.exists("spec.json"):  # noqa: PTH110 - elsewhere nobody would read it
        with open("progress", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)


def asked(queue_class: Any, params: Parameters, seed: int) -> Rig:
    """Return what the loop asks; its `facts` are looked at when the clock has stopped."""
    found = Asked(queue_class, params)
    return Rig(found, (found.ask, found.forms, found.check_found), found.check)


def ask_each(
    clock: Callable[[], int],
    samples: Samples,
    calls: int,
    ask: Callable[[str], Any],
    forms: tuple[str, ...],
    check: Callable[[Any], None],
) -> None:
    """Time one question a form in every call; the answers are looked at outside."""
    for call in range(calls):
        for form, form_samples in zip(forms, samples, strict=True):
            t0 = clock()
            found = ask(form)
            t1 = clock()
            form_samples[call] = t1 - t0
            check(found)


def nothing(*_: Any) -> None:
    """What the null loop asks, and how it looks at the answer."""


def claiming(queue_class: Any, params: Parameters, seed: int) -> Found:
    """Let a crew claim and complete events, from a queue that has so many of them and as long a history as is asked.

    Exactly once is looked at: every event must have been done by one worker and be pending no more.
    """
    queue = queue_class(indexed=False) if params["history"] else queue_class()
    try:
        start_us = fill(queue, params["history"], 0) if params["history"] else 0
        queue.record_many((OF, f"new {k}", "SUCCEEDED", start_us + k) for k in range(params["events"]))
        target = f"{queue_class.__module__}:{queue_class.__qualname__}"
        with Crew(target, queue.place, params["workers"], path=sys.path) as crew:
            started = time.perf_counter_ns()
            answers = crew.run(do="work", of=OF, by=BY, lease_us=LEASE_US, until_none=True)
            took_ns = time.perf_counter_ns() - started
        require_once([task for answer in answers for task in answer["tasks"]], params["events"])
        if queue.pending(OF, BY, limit=1):
            raise CheckFailed("an event is still pending after all were completed")
        samples = {
            name: array("q", (ns for answer in answers for ns in answer[f"{name}_ns"]))
            for name in ("claim", "complete")
        }
        least, most = (pick(len(answer["tasks"]) for answer in answers) for pick in (min, max))
        figures = {
            "events_per_second": params["events"] * 1e9 / took_ns,
            "took_ns": float(took_ns),
            "least_by_a_worker_events": float(least),
            "most_by_a_worker_events": float(most),
        }
        return Found(samples, figures, queue.facts())
    finally:
        queue.close()


def require_once(tasks: list[str], events: int) -> None:
    """Refuse a run in which an event was done twice or not at all."""
    if len(set(tasks)) != len(tasks) or len(tasks) != events:
        raise CheckFailed(f"{len(tasks)} events done, {len(set(tasks))} different ones: expected each of {events} once")


ROWS = "rows of the table, 5 of them pending"
INDEX = "whether the table has its indexes"
CALLS = "timed calls"

ALL = (
    Workload(
        "pending",
        "ask which recent successes of job1 job2 has not processed, in every form, of a table as the document fills it",
        {"rows": ROWS, "index": INDEX, "calls": CALLS},
        needs=("pending", "record_many", "plan"),
        operations=FORMS,
        steady=True,
        choices={"index": INDEXES},
        setup=asked,
        null=lambda params: (nothing, FORMS, nothing),
        loop=ask_each,
    ),
    Workload(
        "pending-unbounded",
        "the same question in one form, looking at the whole table",
        {"rows": ROWS, "form": "form of the query", "index": INDEX, "calls": CALLS},
        needs=("pending", "record_many", "plan"),
        operations=("pending",),
        steady=True,
        choices={"form": FORMS, "index": INDEXES},
        setup=asked,
        null=lambda params: (nothing, ("",), nothing),
        loop=ask_each,
    ),
    Workload(
        "claims",
        "claim and complete every event of job1, with so many worker processes at once",
        {
            "events": "events that are pending",
            "history": "tasks that both jobs have finished before",
            "workers": "processes",
        },
        needs=("claim", "complete", "record_many"),
        operations=("claim", "complete"),
        may_be_zero=("history",),
        real={"throughput": claiming},
    ),
)

WORKLOADS: dict[str, dict[str, Workload]] = {"events": {workload.name: workload for workload in ALL}}
"""family -> name -> Workload; runners/suite_events.py says at which sizes."""
