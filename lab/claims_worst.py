"""The claims of the documents about single slow calls: growing, steady state, letting go of everything."""

from __future__ import annotations

from statistics import median

from lab.bench import Bench
from lab.claim import FASTER, OVER, UNDER, Judgement, Line, Outcome, Rule, Trial, enough, not_measured, weigh
from lab.claims_perl import ARRAY, LIST, MANY, perl_both, perl_range
from lab.evidence import Place, typical
from lab.units import format_count, format_ns
from lab.worst import SHOWN, short_cause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LARGE = 2_000_000
"""The longest queue of which the documents say that its growth stays under the limit."""

LIMIT_NS = 1_000_000
"""1 ms: the documents call what stays under it small, and what lies over it a pause."""

SPIKE = 10
"""A growth call is a spike when it takes more than ten times the p50 in every process."""

GROWTH = "growth"
"""The word in the cause of a call that is slow because its container grew."""


class Spikes:
    """What is known of the array's worst calls at a place, by cause.

    `grew` is the slowest call (index, least over the processes, time in each) that is slow because the container grew;
    `unexplained_ns` the slowest whose cause is not known; `unlisted_ns` what no call beyond the listed ones exceeds.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        calls = _listed(row)
        grew = [call for call, cause in calls if GROWTH in short_cause(cause)]
        self.grew = max(grew, key=lambda call: call[1], default=None)
        self.unexplained_ns = max((call[1] for call, cause in calls if not short_cause(cause)), default=0)
        self.unlisted_ns = calls[:SHOWN][-1][0][1]
        self.worst, self.worst_cause = calls[0][0], short_cause(calls[0][1])

    def over(self, limit_ns: float) -> bool | None:
        """Return whether a growth takes longer than the limit in every process; None when the causes do not tell."""
        if self.grew is not None and self.grew[1] > limit_ns:
            return True
        return None if max(self.unexplained_ns, self.unlisted_ns) > limit_ns else False

    def unexplained_over(self) -> bool:
        """Return whether a call beyond those that are not listed is slow for a reason that is not known."""
        return self.unexplained_ns >= self.unlisted_ns

    def said(self, p50_ns: float) -> str:
        """Return the call that the answer is about in words."""
        if self.grew is None:
            index, least, _ = self.worst
            said = f"slow by {self.worst_cause}" if self.worst_cause else "its cause not known"
            if not self.unexplained_over():
                said += f", no growth among the calls over {format_ns(self.unlisted_ns)}"
            return f"structural worst call {format_ns(least)} @ {format_count(index)}, {said}, p50 {format_ns(p50_ns)}"
        index, least, every = self.grew
        span = f" ({format_ns(min(every))} .. {format_ns(max(every))})" if every else ""
        return f"growth at call {format_count(index)} takes {format_ns(least)}{span}, p50 {format_ns(p50_ns)}"


def _listed(row: Mapping[str, Any]) -> list[tuple[tuple[int, int, list[int]], str]]:
    """Return the worst calls of a row of cases.parquet with their causes, by what they take at least, slowest first.

    A run without the list of the worst calls, or without causes, has its structural worst call alone.
    """
    indices = row.get("worst_index") or []
    if not indices:
        return [((row["structural_worst_index"], row["structural_worst_ns"], []), "")]
    count, every = row["processes"], row["worst_process_ns"] or []
    causes = row["worst_cause"] or [""] * len(indices)
    calls = [
        ((index, least, every[place * count : (place + 1) * count]), cause)
        for place, (index, least, cause) in enumerate(zip(indices, row["worst_ns"], causes, strict=True))
    ]
    return sorted(calls, key=lambda call: -call[0][1])


def growth_spike(bench: Bench) -> Iterable[Judgement]:
    """The array's reallocation: there is one that stands out, and it stays under the limit."""
    places = bench.evidence.places(ARRAY, kind="latency", workload="growth", operation="enqueue")
    in_perl = perl_range(bench.reference, "latency_growth", ARRAY, "enqueue")
    yield Judgement(
        "growth-spike-exists",
        f"The array's growth has a spike: a call that takes over {SPIKE} times the p50 because the container grows.",
        in_perl,
        tuple(_spike_line(bench, place, None) for place in places),
    )
    lines = [_spike_line(bench, place, LIMIT_NS) for place in places]
    if lines and max(place.sizes["messages"] for place in places) < LARGE:
        lines.append(not_measured(f"enqueue of growth, {format_count(LARGE)} messages", "not in this run"))
    yield Judgement(
        "growth-spike-is-small",
        f"The array's growth spike stays under {format_ns(LIMIT_NS)} to {format_count(LARGE)} messages.",
        in_perl,
        tuple(lines),
    )


def _spike_line(bench: Bench, place: Place, limit_ns: int | None) -> Line:
    """Return whether a growth stands out over the p50 or, with a limit, whether none goes over it."""
    usual = bench.evidence.column(place, ARRAY, "p50_ns")
    row = bench.evidence.worst(place, ARRAY)
    figures: dict[str, Any] = {"p50_ns": usual, "limit_ns": limit_ns or SPIKE * max(usual)}
    if missing := enough(usual):
        return Line(str(place), Outcome.INCONCLUSIVE, missing, figures)
    if row is None or row["structural_worst_ns"] is None:
        said = "no structural worst call: that takes the raw calls of two processes or more"
        return Line(str(place), Outcome.INCONCLUSIVE, said, figures)
    spikes = Spikes(row)
    over = spikes.over(figures["limit_ns"])
    holds = over if limit_ns is None or over is None else not over
    outcome = Outcome.INCONCLUSIVE if holds is None else Outcome.HOLDS if holds else Outcome.FAILS
    index, least, every = spikes.grew or spikes.worst
    figures |= {"index": index, "structural_worst_ns": least, "values": list(every)}
    return Line(str(place), outcome, spikes.said(median(usual)), figures)


def steady_worst_calls(bench: Bench) -> Iterable[Judgement]:
    """The slowest call of a process, as in the documents; the structural worst calls stand beside it."""
    found = {
        workload: bench.evidence.places(LIST, ARRAY, kind="latency", workload=workload)
        for workload in ("steady-enqueue", "steady-dispatch")
    }
    places = [place for measured in found.values() for place in measured]
    trials = [_with_structural(bench, place, bench.worst_calls(place, ARRAY, LIST)) for place in places]
    missing = [not_measured(workload, "not in this run") for workload in found if places and not found[workload]]
    in_perl = [
        f"{operation}: {said}"
        for table, operation, due in (("enqueue", "enqueue", ""), ("dispatch", "take+process", "1"))
        if (said := perl_both(bench.reference, f"latency_steady_{table}", operation, due))
    ]
    yield Judgement(
        "steady-worst-calls",
        "In steady state the array's slowest calls are faster than the linked list's.",
        "; ".join(in_perl),
        (*weigh(trials, FASTER), *missing),
    )


def _with_structural(bench: Bench, place: Place, trial: Trial) -> Trial:
    rows = {subject: bench.evidence.worst(place, subject) for subject in (ARRAY, LIST)}
    worst = {subject: row["structural_worst_ns"] for subject, row in rows.items() if row is not None}
    known = {subject: ns for subject, ns in worst.items() if ns is not None}
    if len(known) < 2:
        return trial
    said = ", ".join(f"{subject} {format_ns(ns)}" for subject, ns in known.items())
    figures = {**trial.figures, "structural_worst_ns": known}
    return Trial(trial.what, trial.finding, f"{trial.said} (structural worst call {said})", figures)


def freeing(bench: Bench) -> Iterable[Judgement]:
    """Letting go of everything at once is a pause; in batches it is not."""
    yield Judgement(
        "freeing-is-a-pause",
        f"Letting go of {format_count(MANY)} messages at once is a pause of over {format_ns(LIMIT_NS)} on both.",
        perl_both(bench.reference, "free", "free"),
        _on_both(bench, "free", OVER),
    )
    yield Judgement(
        "batches-bound-freeing",
        f"Letting go of {format_count(MANY)} messages in limited batches keeps every call under {format_ns(LIMIT_NS)}.",
        "",
        _on_both(bench, "free-in-batches", UNDER),
    )


def _on_both(bench: Bench, workload: str, rule: Rule) -> tuple[Line, ...]:
    """Hold the longest call of both against the limit; one that was not measured is said to be missing."""
    places = {
        subject: bench.evidence.places(subject, kind="latency", workload=workload, messages=MANY)
        for subject in (LIST, ARRAY)
    }
    lines = weigh([_longest(bench, place, subject) for subject, found in places.items() for place in found], rule)
    missing = [not_measured(f"{subject}, {workload}", "not in this run") for subject in places if not places[subject]]
    return (*lines, *missing) if lines else ()


def _longest(bench: Bench, place: Place, subject: str) -> Trial:
    values = bench.evidence.column(place, subject, "max_ns")
    span = f"{format_ns(min(values))} .. {format_ns(max(values))}" if values else "–"
    said = f"longest call {typical(place, values)} ({span}), beside {format_ns(LIMIT_NS)}"
    return bench.limit(f"{subject}, {place}", values, LIMIT_NS, said)
