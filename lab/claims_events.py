"""The claims about event queues: what the time restriction and the index are for, and that claims do not slow down."""

from __future__ import annotations

import math
from statistics import median

from lab import events
from lab.claim import Judgement, Line, Outcome, not_measured
from lab.events import BOUNDED, FAMILY, FORMS, UNBOUNDED
from lab.units import format_count, format_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from lab.recorded import Recorded

    Row = Mapping[str, Any]

MOST_GROWTH = 2.0
"""A bounded question of an indexed table may cost that many times as much of a large table as of a small one."""

WIDE = 10
"""Tables whose rows are less than so many times apart say nothing about growth."""

LEAST_GROWTH = 2.0
"""What grows with the rows at least doubles over tables that are WIDE apart."""

MOST_SLOWDOWN = 2.0
"""Claims over a long history may come so many times slower than over none."""

ENOUGH = 3
"""Processes a case: the suite of these queues has no more, and its figures are ratios of many times."""


def judge_run(run: Recorded) -> list[Judgement]:
    """Return every claim with what a run makes of it; [] for a run that has no event queue.

    ArchiveError when the run's files are damaged. O(rows).
    """
    rows = [row for row in run.rows().to_pylist() if row["family"] == FAMILY]
    return judge(rows) if rows else []


def judge(rows: Sequence[Row]) -> list[Judgement]:
    """Return every claim, from the rows of the family. O(rows)."""
    return [
        Judgement(
            "bounded-indexed-flat",
            f"Bounded and indexed, asking what is pending costs at most {MOST_GROWTH:g} times as much in large tables.",
            "",
            tuple(_growth(rows, BOUNDED, "indexed", lambda ratio, _: ratio <= MOST_GROWTH)),
        ),
        Judgement(
            "unindexed-grows",
            "Without the index it grows with the rows.",
            "",
            tuple(_growth(rows, BOUNDED, "bare", _grows)),
        ),
        Judgement(
            "unbounded-grows",
            "NOT IN over the whole table grows faster than over the recent events, in the same tables.",
            "",
            tuple(_faster(rows)),
        ),
        Judgement(
            "claims-stay",
            f"Over a long history claims come at most {MOST_SLOWDOWN:g} times slower than over none.",
            "",
            tuple(_claims(rows)),
        ),
    ]


def _grows(ratio: float, span: float) -> bool:
    """Whether a ratio is growth with the rows: it at least doubles, over ten times as many."""
    return ratio >= LEAST_GROWTH and span >= 1


def _good(found: Iterable[Row]) -> list[float]:
    return [float(row["p50_ns"]) for row in found if row["status"] == "ok"]


def _ends(by_rows: Mapping[int, Sequence[Row]]) -> tuple[int, int] | None:
    """Return the smallest and the largest number of rows that have figures, where they are far enough apart."""
    measured = [count for count, found in by_rows.items() if _good(found)]
    if not measured or max(measured) < (WIDE - 1) * min(measured):
        return None
    return min(measured), max(measured)


def _growth(rows: Iterable[Row], workload: str, index: str, holds: Any) -> Iterable[Line]:
    for (subject, kind, form), by_rows in events.pending(rows, workload).items():
        if kind != index:
            continue
        what = f"{subject}, {form}"
        ends = _ends(by_rows)
        if ends is None:
            yield not_measured(what, "no two tables that are ten times apart have a figure")
            continue
        few, many = (_good(by_rows[count]) for count in ends)
        yield _line(what, ends, few, many, holds)


def _line(what: str, ends: tuple[int, int], few: list[float], many: list[float], holds: Any) -> Line:
    ratio = median(many) / median(few)
    said = f"{format_ns(median(few))} → {format_ns(median(many))} at {' → '.join(map(format_count, ends))} rows"
    figures = {"rows": list(ends), "few_ns": few, "many_ns": many, "ratio": ratio, "slope": _slope(ends, ratio)}
    if min(len(few), len(many)) < ENOUGH:
        return Line(what, Outcome.INCONCLUSIVE, f"{said}: needs {ENOUGH} processes", figures)
    outcome = Outcome.HOLDS if holds(ratio, ends[1] / ends[0]) else Outcome.FAILS
    return Line(what, outcome, f"{said}: {ratio:.2f} times, slope {figures['slope']:.2f}", figures)


def _slope(ends: tuple[int, int], ratio: float) -> float:
    """Return the slope of log(time) over log(rows) between the ends: 0 for what stays, 1 for what grows with the rows.

    >>> _slope((1_000, 100_000), 100.0)
    1.0
    """
    return math.log(ratio) / math.log(ends[1] / ends[0])


def _faster(rows: Iterable[Row]) -> Iterable[Line]:
    own = list(rows)
    whole, recent = events.pending(own, UNBOUNDED), events.pending(own, BOUNDED)
    for (subject, index, form), by_rows in whole.items():
        if form != FORMS[0]:
            continue
        bounded = recent.get((subject, index, form), {})
        common = {count: by_rows[count] for count in by_rows if count in bounded and _good(bounded[count])}
        what = f"{subject}, {index}"
        stopped = [count for count, found in by_rows.items() if any(row["status"] == "timeout" for row in found)]
        ends = _ends(common)
        if stopped and (ends is None or max(stopped) > ends[1]):
            yield Line(what, Outcome.HOLDS, f"of {format_count(max(stopped))} rows it did not end in its time")
        elif ends is None:
            yield not_measured(what, "no two tables that are ten times apart have both figures")
        else:
            yield _both(what, ends, by_rows, bounded)


def _both(
    what: str, ends: tuple[int, int], whole: Mapping[int, Sequence[Row]], recent: Mapping[int, Sequence[Row]]
) -> Line:
    samples = [_good(kind[count]) for kind in (whole, recent) for count in ends]
    slow, fast = median(samples[1]) / median(samples[0]), median(samples[3]) / median(samples[2])
    said = f"{slow:.2f} times over the whole table, {fast:.2f} times over the recent events"
    said += f", from {' to '.join(map(format_count, ends))} rows"
    figures = {"rows": list(ends), "whole": slow, "recent": fast}
    if min(map(len, samples)) < ENOUGH:
        return Line(what, Outcome.INCONCLUSIVE, f"{said}: needs {ENOUGH} processes", figures)
    return Line(what, Outcome.HOLDS if slow > fast else Outcome.FAILS, said, figures)


def _claims(rows: Iterable[Row]) -> Iterable[Line]:
    groups = events.claims(rows)
    for (subject, workers, history), by_operation in groups.items():
        none = groups.get((subject, workers, "0"))
        if history == "0" or none is None:
            continue
        found, base = by_operation["claim"], none["claim"]
        ratio = events.rate(base) / events.rate(found)
        said = (
            f"{events.rate(base):,.0f} → {events.rate(found):,.0f} events a second with {workers} workers, over none → "
        )
        said += f"{format_count(int(history))} finished tasks"
        figures = {"ratio": ratio, "processes": [len(base), len(found)]}
        if min(len(base), len(found)) < ENOUGH:
            yield Line(subject, Outcome.INCONCLUSIVE, f"{said}: needs {ENOUGH} processes", figures)
        else:
            yield Line(subject, Outcome.HOLDS if ratio <= MOST_SLOWDOWN else Outcome.FAILS, said, figures)
