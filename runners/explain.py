"""Has the slowest calls of a case explained by one process more, once all its processes are recorded.

The parent's side of runners/causes.py. What it finds is handed to the run, which keeps it with the slowest calls when
it is finished; a run that is stopped before has its cases explained when it is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.archive import Run
from lab.case import Case, Execution, execution_of, parse_key
from lab.worst import UNKNOWN, Slowest, made_by
from runners.folders import working_folder
from runners.spawn import Outcome

LEAST_CALLS = 1_000
"""A case with fewer calls costs a set-up and explains little: it is not looked for."""

COLLECTIONS = ("collections_0", "collections_1", "collections_2")

Start = Callable[[Execution, Path, Mapping[str, Any]], Outcome]
"""Starts a worker on an execution, in a folder, with more in its case, and waits for its end."""


class Explainer:
    """Explains each case of a run when the last of its processes is recorded, and at the end what is left."""

    def __init__(self, run: Run, start: Start) -> None:
        self.run = run
        self.start = start
        self.processes: dict[str, int] = {}
        for key, _ in run.planned:
            self.processes[key] = self.processes.get(key, 0) + 1

    def after(self, execution: Execution) -> None:
        """Explain the case of an execution that was just recorded, if it was the last of its case."""
        done = self.run.done()
        if all((execution.key, process) in done for process in range(self.processes[execution.key])):
            self.explain(execution.case)

    def rest(self) -> None:
        """Explain the cases that were recorded before this process took over the run."""
        for key in self.processes:
            if key not in self.run.causes:
                self.explain(replace(parse_key(key), target=self.run.targets.get(key, "")))

    def explain(self, case: Case) -> None:
        """Explain the slowest calls of every operation of a latency case that has enough calls; hand it to the run."""
        if case.kind != "latency":
            return
        rows = [row for row in self.run.rows_of(case.key) if row["status"] == "ok"]
        if not rows or (rows[0]["n"] or 0) + (rows[0]["warmup"] or 0) < LEAST_CALLS:
            return
        slow = self.run.slowest_of(rows)
        if not slow:
            return
        outcome = self._outcome(case, asked_of(slow, rows))
        problem = problem_of(outcome, rows)
        self.run.causes[case.key] = {
            operation: dict.fromkeys(found.index, f"{UNKNOWN}: {problem}")
            if problem
            else {each["call"]: cause_of(each) for each in outcome.result["explained"][operation]}
            for operation, found in slow.items()
        }

    def _outcome(self, case: Case, asked: Mapping[str, Any]) -> Outcome:
        execution = execution_of(case, self.processes[case.key], self.run.seed)
        with working_folder() as folder:
            return self.start(execution, folder, asked)


def asked_of(slow: Mapping[str, Slowest], rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[int]]]:
    """Return what the worker is asked: `explain` has every slow call, `grown` those that the machine did not make."""
    typical = {row["operation"]: row["p50_ns"] for row in rows}
    return {
        "explain": {operation: list(found.index) for operation, found in slow.items()},
        "grown": {
            operation: [
                call
                for call, process_ns in zip(found.index, found.process_ns, strict=True)
                if made_by(process_ns, typical[operation]) != "machine"
            ]
            for operation, found in slow.items()
        },
    }


def problem_of(outcome: Outcome, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return why the calls that were explained are not those that were timed, or "" when they are."""
    if not outcome.ok:
        return f"the process that explains ended badly ({outcome.status}: {outcome.message})"
    if not outcome.result["reported"]:
        return "this interpreter does not report its collections"
    counted = outcome.result["counters"]["collections"]
    for row in rows:
        timed = [row[name] for name in COLLECTIONS][: len(counted)]
        if timed != counted:
            return (
                f"other collections where it was explained ({_slashed(counted)}) than in process "
                f"{row['process']} ({_slashed(timed)})"
            )
    return ""


def _slashed(counts: Sequence[int | None]) -> str:
    return "/".join(str(count) for count in counts)


def cause_of(found: Mapping[str, Any]) -> str:
    """Return in words what happened in one call; "" when nothing that is looked for did.

    >>> cause_of({"call": 7, "collections": [2], "faults": 0, "growth": None})
    'gc2'
    >>> cause_of({"call": 7, "collections": [], "faults": 12, "growth": ["list", 1_600_056]})
    'growth: list to 1,600,056 bytes; first touch: 12 pages'
    """
    parts = [f"gc{generation}" for generation in found["collections"]]
    if found["growth"]:
        kind, size = found["growth"]
        parts.append(f"growth: {kind} to {size:,d} bytes")
    if found["faults"]:
        parts.append(f"first touch: {found['faults']:,d} page{'s' if found['faults'] > 1 else ''}")
    return "; ".join(parts)
