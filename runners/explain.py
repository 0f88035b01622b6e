"""Has the slowest calls of each case explained by one process more, once all of a run is recorded.

The parent's side of runners/causes.py. Causes are counts, and counts mind no company: those processes run one to a
processor. What is found is handed to the run, which keeps it with the slowest calls when it is finished; a run that is
stopped before has its cases explained when it is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lab.archive import Run
from lab.case import Case, Execution, execution_of, parse_key
from lab.worst import UNKNOWN, Slowest, made_by
from runners.folders import working_folder
from runners.spawn import Outcome, at_once

LEAST_CALLS = 1_000
"""A case with fewer calls costs a set-up and explains little: it is not looked for."""

COLLECTIONS = ("collections_0", "collections_1", "collections_2")

Start = Callable[[Execution, Path, Mapping[str, Any]], Outcome]
"""Starts a worker on an execution, in a folder, with more in its case, and waits for its end."""


class Explainer:
    """Explains the cases of a run once all of it is recorded: nothing is timed any more, so several at a time."""

    def __init__(self, run: Run, start: Start) -> None:
        self.run = run
        self.start = start
        self.processes: dict[str, int] = {}
        for key, _ in run.planned:
            self.processes[key] = self.processes.get(key, 0) + 1

    def all(self, tell: Callable[[str], None]) -> None:
        """Explain what is to be explained and is not yet, and hand it to the run; `tell` is told that it begins."""
        asked = [(case, rows, slow) for case in self._cases() for rows, slow in self._slow(case)]
        if not asked:
            return
        tell(f"what made the slowest calls of {len(asked)} case{'s' if len(asked) > 1 else ''} slow is looked for")
        ends = at_once([partial(self._outcome, case, asked_of(slow, rows)) for case, rows, slow in asked])
        for (case, rows, slow), outcome in zip(asked, ends, strict=True):
            self.run.causes[case.key] = causes_of(outcome, rows, slow)

    def _cases(self) -> Iterator[Case]:
        for key in self.processes:
            if key not in self.run.causes:
                yield replace(parse_key(key), target=self.run.targets.get(key, ""))

    def _slow(self, case: Case) -> Iterator[tuple[list[dict[str, Any]], dict[str, Slowest]]]:
        """Yield the rows of a latency case that has enough calls, and operation -> its slowest calls, if there are."""
        if case.kind != "latency":
            return
        rows = [row for row in self.run.rows_of(case.key) if row["status"] == "ok"]
        if not rows or (rows[0]["n"] or 0) + (rows[0]["warmup"] or 0) < LEAST_CALLS:
            return
        if slow := self.run.slowest_of(rows):
            yield rows, slow

    def _outcome(self, case: Case, asked: Mapping[str, Any]) -> Outcome:
        execution = execution_of(case, self.processes[case.key], self.run.seed)
        with working_folder() as folder:
            return self.start(execution, folder, asked)


def causes_of(
    outcome: Outcome, rows: Sequence[Mapping[str, Any]], slow: Mapping[str, Slowest]
) -> dict[str, dict[int, str]]:
    """Return operation -> call -> cause, from what the process that explains has left."""
    problem = problem_of(outcome, rows)
    return {
        operation: dict.fromkeys(found.index, f"{UNKNOWN}: {problem}")
        if problem
        else {each["call"]: cause_of(each) for each in outcome.result["explained"][operation]}
        for operation, found in slow.items()
    }


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
