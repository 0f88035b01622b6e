"""The claims about advisory schedulers: what sorting at each call costs and a heap does not, and what spread is for."""

from __future__ import annotations

from statistics import median

from lab.bench import Bench
from lab.claim import OVER, UNDER, Judgement, Line, Outcome, enough, not_measured, weigh
from lab.evidence import Evidence, Place, typical
from lab.record import figures_of
from lab.reference import read_reference
from lab.schedules import FAMILY, FEW, MANY, REFERENCE, SORTING, jobs_of, times
from lab.units import format_count, format_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from lab.claim import Rule
    from lab.recorded import Recorded

    Row = Mapping[str, Any]

MOST_GROWTH = 3.0
"""next_job of the heap may cost that many times as much at MANY jobs as at FEW."""

LEAST_LEAD = 1_000.0
"""So many times faster than sorting at each call it must be at MANY jobs."""

DRIFT_NS = 1.0
"""Less than that is none: what rounding makes of an instant."""


def judge_run(run: Recorded) -> list[Judgement]:
    """Return every claim with what a run makes of it; [] for a run that has no advisory scheduler.

    ArchiveError when the run's files are damaged. O(rows).
    """
    rows = [row for row in run.rows().to_pylist() if row["family"] == FAMILY]
    if not rows:
        return []
    return judge(Bench(Evidence.of(run, order=(SORTING, REFERENCE), family=FAMILY), read_reference()), rows)


def judge(bench: Bench, rows: Sequence[Row]) -> list[Judgement]:
    """Return every claim, from the evidence about the family and its rows. O(rows)."""
    return [
        Judgement("sorting-grows", "Sorting at each call, next_job grows with the number of jobs.", "", _grows(bench)),
        Judgement(
            "heap-stays",
            f"With a heap, next_job costs at {MANY:,} jobs at most {MOST_GROWTH:g} times what it costs at {FEW:,}.",
            "",
            _ratio(bench, (REFERENCE, FEW), (REFERENCE, MANY), MOST_GROWTH, UNDER),
        ),
        Judgement(
            "heap-leads",
            f"At {MANY:,} jobs next_job is {LEAST_LEAD:,.0f} times faster with a heap than with sorting, at least.",
            "",
            _ratio(bench, (REFERENCE, MANY), (SORTING, MANY), LEAST_LEAD, OVER),
        ),
        Judgement(
            "spread-parts",
            "After spread no two jobs have their next run in the same instant.",
            "",
            _all(rows, "meeting", "due_at_once_after_jobs", lambda most: most == 1, _met),
        ),
        Judgement(
            "no-drift",
            "Whoever waits as advised does not drift.",
            "",
            _all(rows, "cadence", "drift_ns", lambda drift: abs(drift) < DRIFT_NS, _drifted, "waits-as-advised"),
        ),
    ]


def _places(bench: Bench, *subjects: str) -> dict[int, Place]:
    """Return jobs -> where next_job of a subject was measured."""
    places = bench.evidence.places(*subjects, kind="latency", workload="next-job", operation="next_job")
    return {place.sizes["jobs"]: place for place in places}


def _grows(bench: Bench) -> tuple[Line, ...]:
    return tuple(bench.growth(SORTING, {"next_job": _places(bench, SORTING)}, grows=True))


def _ratio(bench: Bench, below: tuple[str, int], above: tuple[str, int], limit: float, rule: Rule) -> tuple[Line, ...]:
    """Hold what `above` (subject, jobs) costs, divided by what `below` does in the same process, against a limit."""
    places = [_places(bench, subject).get(jobs) for subject, jobs in (below, above)]
    what = f"next_job, {above[0]} at {format_count(above[1])} jobs ÷ {below[0]} at {format_count(below[1])}"
    if places[0] is None or places[1] is None:
        return (not_measured(what, "no row of it in this run"),)
    first, second = (
        bench.evidence.by_process(place, subject, "p50_ns")
        for place, (subject, _) in zip((places[0], places[1]), (below, above), strict=True)
    )
    common = sorted(first.keys() & second.keys())
    ratios = [second[process] / first[process] for process in common]
    spans = (typical(places[0], list(first.values())), typical(places[1], list(second.values())))
    said = f"{spans[1]} ÷ {spans[0]}" + (f" = {times(median(ratios))}, limit {limit:,g}" if ratios else "")
    if missing := enough(ratios):
        return (Line(what, Outcome.INCONCLUSIVE, f"{said}: {missing}", {"values": ratios, "limit": limit}),)
    return tuple(weigh([bench.limit(what, ratios, limit, said)], rule))


def _all(
    rows: Sequence[Row],
    workload: str,
    figure: str,
    holds: Callable[[float], bool],
    said: Callable[[Row, float], tuple[str, str]],
    caller: str = "",
) -> tuple[Line, ...]:
    """Return a line for each case of a workload: what is counted on a simulated clock needs one process, not five."""
    lines = []
    for row in _once(rows, workload):
        if caller in row["params"]:
            value = figures_of(row)[figure]
            what, words = said(row, value)
            outcome = Outcome.HOLDS if holds(value) else Outcome.FAILS
            lines.append(Line(what, outcome, words, {figure: value, "subject": row["subject"]}))
    return tuple(lines)


def _met(row: Row, most: float) -> tuple[str, str]:
    return f"{row['subject']}, {format_count(jobs_of(row))} jobs", f"at most {format_count(int(most))} in one instant"


def _drifted(row: Row, drift_ns: float) -> tuple[str, str]:
    return f"{row['subject']}, {row['params']}", f"{format_ns(round(drift_ns))} behind the grid"


def _once(rows: Iterable[Row], workload: str) -> list[Row]:
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row["workload"] == workload and row["status"] == "ok":
            found.setdefault((row["subject"], row["params"]), row)
    return list(found.values())
