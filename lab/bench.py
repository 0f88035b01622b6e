"""Where claims are tried: a run's evidence beside the Perl figures, and the comparisons that a verdict needs."""

from __future__ import annotations

from lab import scaling
from lab.claim import ALPHA, Line, Outcome, Trial, enough
from lab.evidence import FIGURE, FIGURE_NAME, Evidence, Place, typical
from lab.noise import floor_of
from lab.scaling import Scaling
from lab.units import format_count
from lab.verdict import compare_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lab.reference import Reference

CONSTANT, GROWS = Scaling.CONSTANT, Scaling.GROWS

WIDE = 10
"""Sizes that lie less than ten times apart say nothing about growth."""


class Bench:
    """A run's evidence and the Perl figures: what every claim is a function of."""

    def __init__(self, evidence: Evidence, reference: Reference) -> None:
        self.evidence = evidence
        self.reference = reference

    def beside(self, place: Place, subject: str, other: str) -> Trial:
        """Compare a subject (B) with another (A) at a place, by what it usually costs there."""
        theirs, ours = self.evidence.figures(place, other, subject)
        net = "net " if self.evidence.net(place, other, subject) else ""
        return self._trial(place, (other, theirs), (subject, ours), net + FIGURE_NAME[place.kind])

    def worst_calls(self, place: Place, subject: str, other: str) -> Trial:
        """Compare the slowest call of every process of a subject (B) with another's (A)."""
        theirs, ours = (self.evidence.column(place, name, "max_ns") for name in (other, subject))
        return self._trial(place, (other, theirs), (subject, ours), "slowest call")

    def limit(self, what: str, values: Sequence[float], limit: float, said: str) -> Trial:
        """Hold values, one a process, against a fixed limit; the finding is about values ÷ limit."""
        found = compare_samples([limit] * len(values), values, threshold=0.0, alpha=ALPHA, seed=self.evidence.seed)
        return Trial(what, found, said, {"limit": limit, "values": list(values)})

    def growth(self, subject: str, series: Mapping[str, Mapping[int, Place]], *, grows: bool) -> list[Line]:
        """Return a line for every series (name -> size -> place) on whether what the subject costs grows with the size.

        Series whose sizes lie less than ten times apart are left out. Slope and ratio decide (`lab.scaling`); where a
        place is mostly clock, the raw and the net figures must say the same. O(sizes × processes).
        """
        wide = {what: places for what, places in series.items() if places and max(places) >= WIDE * min(places)}
        return [self._growth_line(what, subject, dict(sorted(places.items())), grows) for what, places in wide.items()]

    def _growth_line(self, what: str, subject: str, places: Mapping[int, Place], grows: bool) -> Line:
        column = FIGURE[next(iter(places.values())).kind]
        raw = self._by_size(subject, places, column)
        figures: dict[str, Any] = {"subject": subject, "unit": "ns", "values": {str(k): raw[k] for k in raw}}
        said = f"{subject} " + " → ".join(typical(place, raw[size]) for size, place in places.items())
        said += " at " + " → ".join(format_count(size) for size in places)
        if missing := enough(*raw.values()):
            return Line(what, Outcome.INCONCLUSIVE, f"{said}: {missing}", figures)
        judged = {"": raw}
        if any(self.evidence.net(place, subject) for place in places.values()):
            judged["net of the clock "] = self._by_size(subject, places, "net_p50_ns")
        found = {name: _legs(times) for name, times in judged.items()}
        verdicts = {scaling.verdict(legs) for legs in found.values()}
        wanted, unwanted = (GROWS, CONSTANT) if grows else (CONSTANT, GROWS)
        outcome = {wanted: Outcome.HOLDS, unwanted: Outcome.FAILS}.get(verdicts.pop(), Outcome.INCONCLUSIVE)
        if verdicts:  # raw and net disagree
            outcome = Outcome.INCONCLUSIVE
        for name, legs in found.items():
            figures |= {f"{name.replace(' ', '_')}{leg.name}": [leg.value, leg.low, leg.high] for leg in legs}
        legs_said = "; ".join(f"{name}{_in_words(legs)}" for name, legs in found.items())
        return Line(what, outcome, f"{said}: {legs_said}", figures)

    def _by_size(self, subject: str, places: Mapping[int, Place], column: str) -> dict[int, list[float]]:
        """Return size -> a column, the same processes in the same order at every size."""
        found = {size: self.evidence.by_process(place, subject, column) for size, place in places.items()}
        common = sorted(set.intersection(*(set(values) for values in found.values())))
        return {size: [values[process] for process in common] for size, values in found.items()}

    def _trial(self, place: Place, a: tuple[str, list[float]], b: tuple[str, list[float]], figure: str) -> Trial:
        floor = floor_of(self.evidence.bands, place.kind, place.operation)
        found = compare_samples(a[1], b[1], floor=floor, alpha=ALPHA, seed=self.evidence.seed)
        said = f"{figure} {b[0]} {typical(place, b[1])}, {a[0]} {typical(place, a[1])}".lstrip()
        figures = {
            "figure": figure,
            "unit": "bytes" if place.kind == "memory" else "ns",
            "subject": b[0],
            "values": b[1],
            "beside": a[0],
            "beside_values": a[1],
        }
        return Trial(str(place), found, said, figures)


def _legs(times: scaling.Times) -> list[scaling.Leg]:
    """Return the legs of slope and ratio; none where a time is 0 or less, which is nothing that the clock can tell."""
    if min(map(min, times.values())) <= 0:
        return []
    return [scaling.slope_leg(times), scaling.ratio_leg(times)]


def _in_words(legs: Sequence[scaling.Leg]) -> str:
    figures = [f"{leg.name} {leg.value:.3g} ({leg.low:.3g} .. {leg.high:.3g})" for leg in legs]
    return ", ".join(figures) or "hidden by the clock"
