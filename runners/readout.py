"""A finished run, read back for a proof: its rows, its raw calls, its slowest calls, and what has no figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lab.archive import Run
from lab.calibration import Check, no_figure
from lab.case import Case
from lab.claim import Outcome
from lab.record import case_of

Row = dict[str, Any]

INCONCLUSIVE_ENDS = frozenset({"timeout", "memory-limit", "not-offered"})
"""Ends of a process that say nothing about the instrument."""


class NoFigure(Exception):
    """A case has no figure: with what outcome that counts, and why."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


class Readout:
    """A finished run, read back: rows of a case and operation, raw calls of each of its processes."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.rows = keyed(run.rows().to_pylist())
        self.worst = keyed(run.cases().to_pylist())
        self._calls: dict[tuple[str, str], dict[int, list[int]]] = {}

    def of(self, case: Case, operation: str) -> list[Row]:
        """Return the rows of an operation of a case; NoFigure unless every process has one."""
        rows = self.rows.get(case.key, [])
        for row in rows:
            if row["status"] != "ok":
                outcome = Outcome.INCONCLUSIVE if row["status"] in INCONCLUSIVE_ENDS else Outcome.FAILS
                raise NoFigure(outcome, f"{row['status']}: {row['message']}".splitlines()[0])
        found = [row for row in rows if row["operation"] == operation]
        if not found:
            raise NoFigure(Outcome.NOT_MEASURED, f"there is no figure of {case.key} {operation}")
        return found

    def worst_of(self, case: Case, operation: str) -> Row:
        """Return the row of the slowest calls of a case."""
        self.of(case, operation)
        return next(row for row in self.worst[case.key] if row["operation"] == operation)

    def calls(self, case: Case, operation: str, row: Row) -> list[int]:
        """Return the raw calls of one process after the warm-up."""
        place = case.key, operation
        if place not in self._calls:
            found = self.run.calls(case, operation)
            self._calls[place] = {process: calls.tolist() for process, calls in found.items()}
        return self._calls[place][row["process"]][row["warmup"] :]


def keyed(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each case by its key, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(case_of(row).key, []).append(row)
    return found


def proved(what: str, put_in: str, prove: Callable[[], Check]) -> Check:
    """Return what a proof comes to, or the check that says why there is no figure."""
    try:
        return prove()
    except NoFigure as missing:
        return no_figure(what, put_in, missing.outcome, str(missing))
