"""Two ways to time the same calls, one by one and many as one, held against each other where the clock is in the way.

A call that takes less than three null calls is mostly clock. The same calls timed as one spread one pair of clock reads
over all of them. The two arms should agree once the cost of two clock reads is taken off the single call, and a call's
share of it off the batch; where they do not, reading the clock disturbs the queue (caches, branch prediction), and the
batch is what a user pays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

from lab.case import parse_parameters
from lab.table import Table
from lab.units import format_ns

Row = Mapping[str, Any]

BATCHED = {"growth": "enqueue-in-order"}
"""workload of single calls -> the workload that makes the same calls in batches, where it has another name."""

DISAGREE = 0.10


@dataclass(frozen=True, slots=True)
class Arms:
    """Both arms of one case, in ns: `single` is the mean of a call (of all its operations), less two clock reads.

    Medians over the processes; `batched` is None where nobody timed these calls in batches.
    """

    subject: str
    workload: str
    params: str
    single_ns: float
    batched_ns: float | None

    @property
    def ratio(self) -> float | None:
        """The single call over the batched one."""
        return None if not self.batched_ns else self.single_ns / self.batched_ns

    @property
    def disagree(self) -> bool:
        """Whether the two are more than 10 % apart."""
        return self.ratio is not None and not 1 - DISAGREE <= self.ratio <= 1 + DISAGREE


def arms(rows: Iterable[Row]) -> list[Arms]:
    """Return both arms of every latency case that is timer-bound in most processes, in one of its operations at least.

    `rows` are those of executions that are ok; the null subject has no arms. O(rows).
    """
    single: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    batched: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        place = (row["family"], row["subject"], row["workload"], _sizes(row["params"]), row["clock"], row["gc"])
        if row["kind"] == "latency" and row["subject"] != "null":
            single.setdefault((*place, row["params"]), {}).setdefault(row["operation"], []).append(row)
        elif row["kind"] in ("batched", "cost"):
            batched.setdefault((row["kind"], *place), []).append(row)
    found = []
    for (family, subject, workload, sizes, clock, gc, params), operations in single.items():
        if any(_mostly_clock(members) for members in operations.values()):
            place = (family, subject, BATCHED.get(workload, workload), sizes, clock, gc)
            other = batched.get(("batched", *place)) or batched.get(("cost", *place), [])
            found.append(Arms(subject, workload, params, _alone(operations), _together(other)))
    return sorted(found, key=lambda one: (one.workload, one.params))


@lru_cache(maxsize=4096)  # asked for every row, and a run has few different ones
def _sizes(params: str) -> str:
    """The parameters but for the number of calls, which is no part of what a call does."""
    return ",".join(f"{name}={value}" for name, value in parse_parameters(params) if name != "calls")


def _mostly_clock(members: Sequence[Row]) -> bool:
    return [bool(row["timer_bound"]) for row in members].count(True) * 2 > len(members)


def _alone(operations: Mapping[str, Sequence[Row]]) -> float:
    each = (
        median(float(row["mean_ns"] - (row["bare_p50_ns"] or 0)) for row in members) for members in operations.values()
    )
    return sum(each)


def _together(members: Sequence[Row]) -> float | None:
    """The mean of pyperf, or the median batch less its share of two clock reads: either is a mean over many calls."""
    values = [row["mean_ns"] if row["kind"] == "cost" else row["p50_ns"] - _clock_share(row) for row in members]
    return median(values) if values else None


def _clock_share(row: Row) -> float:
    """What two clock reads around a batch come to for each of its calls; a batch of eight short calls shows them."""
    return float(row["bare_p50_ns"] or 0) / (row["calls_per_sample"] or 1)


def arms_table(found: Sequence[Arms], said: Callable[[str], str]) -> Table:
    """Return the arms that can be compared as a table, those that disagree marked; the notes say which have no pair.

    `said` turns the text of the column `params` into what a reader is shown.
    """
    pairs = [one for one in found if one.batched_ns is not None]
    rows = tuple(
        (
            f"{one.workload}, {said(one.params)}",
            one.subject,
            format_ns(max(0.0, one.single_ns)),
            format_ns(one.batched_ns or 0.0),
            f"{'≠ ' if one.disagree else ''}{one.ratio or 0.0:.2f}",
        )
        for one in pairs
    )
    notes = ["alone: the mean of single calls less two clock reads, all operations together; batch: many timed as one."]
    apart = [one for one in pairs if one.disagree]
    if apart:
        notes.append(
            f"Warning: in {len(apart)} of {len(pairs)} cases (≠) the arms are more than 10 % apart: believe the batch."
        )
    missing = sorted({one.workload for one in found if one.batched_ns is None})
    if missing:
        notes.append(f"Timer-bound as well, and not timed in batches of the same size: {', '.join(missing)}.")
    title = "Where the clock is most of a call: the same calls alone and in a batch"
    header = ("case", "subject", "alone", "batch", "alone ÷ batch")
    return Table(title, header, rows, tuple(notes), frozenset({"case", "subject"}))
