"""Theory beside measurement: by what factor a cost should grow from the smallest size to the largest, and did.

The laws are those that the queues' own documents state (`queues/timer/*.py`, "Cost").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from lab.evidence import Evidence, Place
from lab.figure_scaling import exponent, hundredths, times
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.scaling import bound_of
from lab.table import Table
from lab.units import format_count

CONSTANT, LOGARITHMIC, PROPORTIONAL = "does not depend on it", "with its logarithm", "in proportion"


@dataclass(frozen=True, slots=True)
class Law:
    """What theory says of one operation along one size: subject -> law; a subject that is not named has none here."""

    what: str
    kind: str
    workload: str
    operation: str
    along: str
    laws: Mapping[str, str]


def _laws(constant: str = "", logarithmic: str = "", proportional: str = "") -> dict[str, str]:
    named = {CONSTANT: constant, LOGARITHMIC: logarithmic, PROPORTIONAL: proportional}
    return {subject: law for law, subjects in named.items() for subject in subjects.split()}


LAWS = (
    Law(
        "enqueue in start order",
        *("cost", "enqueue-in-order", "enqueue-in-order", "messages"),
        _laws("linked linked-known-tail array array-naive chunked heap", "sorted"),
    ),
    Law(
        "enqueue out of order",
        *("cost", "enqueue-out-of-order", "enqueue-out-of-order", "messages"),
        _laws("", "heap sorted chunked", "linked linked-known-tail array array-naive"),
    ),
    Law(
        "take what is due",
        *("latency", "cycle", "take", "due"),
        _laws("", "chunked", "linked linked-known-tail array array-naive heap sorted"),
    ),
    Law(
        "put the batch back",
        *("latency", "cycle", "requeue", "due"),
        _laws("linked-known-tail", "chunked", "linked array array-naive heap sorted"),
    ),
    Law(
        "put the batch back",
        *("latency", "cycle", "requeue", "queued"),
        _laws("linked linked-known-tail array chunked", "heap sorted", "array-naive"),
    ),
    Law(
        "put back on the list's own calls",
        *("latency", "reattach", "reattach", "part"),
        _laws("linked-known-tail", "", "linked"),
    ),
)
"""Out of order the arrays search in log n and then move pointers in one block, which is in proportion, only quicker."""


def predicted(law: str, small: int, large: int) -> float:
    """Return the factor that a law makes of the way from one size to another.

    >>> predicted(CONSTANT, 10, 1000), predicted(PROPORTIONAL, 10, 1000), predicted(LOGARITHMIC, 10, 1000)
    (1.0, 100.0, 3.0)
    """
    factors = {CONSTANT: 1.0, PROPORTIONAL: large / small, LOGARITHMIC: round(log(large) / log(small), 12)}
    return factors[law]


def theory(reading: Reading, *whats: str, along: str = "") -> list[Piece]:
    """Return the table of predicted and measured factors for operations (all when none is named), and what it comes to.

    A series goes from its smallest to its largest size, the other sizes at the largest that was measured; a figure is
    net of the clock where one end is mostly clock. O(places).
    """
    evidence = reading.bench.evidence
    rows: list[tuple[str, ...]] = []
    for law in LAWS:
        if (whats and law.what not in whats) or along not in ("", law.along):
            continue
        for subject in reading.subjects:
            ends = _ends(evidence, law, subject) if subject in law.laws else {}
            line = _line(evidence, law, subject, ends) if len(ends) > 1 else None
            if line is not None:
                rows.append(line)
    if not rows:
        return [nothing("two sizes of one operation, so theory has nothing to stand beside")]
    header = ("operation", "along", "subject", "theory", "from → to", "predicted ×", "measured ×", "slope", "")
    note = (
        "measured: median over the processes (their range). slope: of log cost over log size, over all sizes between."
    )
    table = Table("Theory beside measurement", header, tuple(rows), (note,), frozenset(header[:5]) | {""})
    return [table, _in_words(rows)]


def _in_words(rows: Sequence[tuple[str, ...]]) -> str:
    """Count the rows by what they say, and name those that do not agree."""
    said: dict[str, list[str]] = {}
    for row in rows:
        said.setdefault(row[-1], []).append(f"`{row[2]}` ({row[0]}, over {row[1]})")
    agreeing = len(said.pop(AGREES, []))
    rest = "".join(f" {word.capitalize()}: {', '.join(names)}." for word, names in sorted(said.items()))
    return f"**Theory and measurement agree in {agreeing} of {len(rows)} rows.**{rest}"


AGREES = "agrees"


def _ends(evidence: Evidence, law: Law, subject: str) -> dict[int, Place]:
    """Return size -> place along a law, the other sizes at their largest."""
    places = evidence.places(subject, kind=law.kind, workload=law.workload, operation=law.operation)
    places = [place for place in places if place.sizes.get(law.along)]
    if not places:
        return {}
    fixed = {name for place in places for name in place.sizes} - {law.along}
    most = {name: max(place.sizes.get(name, 0) for place in places) for name in fixed}
    if law.along == "queued":  # a batch so large that all of it is memory would hide what is behind it
        most["due"] = min(place.sizes["due"] for place in places)
    return {place.sizes[law.along]: place for place in places if most.items() <= place.sizes.items()}


def _line(evidence: Evidence, law: Law, subject: str, places: Mapping[int, Place]) -> tuple[str, ...] | None:
    net = any(evidence.net(place, subject) for place in places.values())
    column = "net_p50_ns" if net else "mean_ns" if law.kind == "cost" else "p50_ns"
    small, large = min(places), max(places)
    below, above = (evidence.by_process(places[size], subject, column) for size in (small, large))
    factors = sorted(above[one] / below[one] for one in below.keys() & above.keys() if below[one] > 0 < above[one])
    if not factors:
        return None
    values = {size: list(evidence.by_process(place, subject, column).values()) for size, place in places.items()}
    fitted = exponent([(size, median(found)) for size, found in sorted(values.items()) if found])
    expected, measured = predicted(law.laws[subject], small, large), median(factors)
    bound = bound_of(small, large)
    said = _beside(factors, bound * expected if law.laws[subject] != PROPORTIONAL else None, bound)
    return (
        law.what,
        law.along,
        subject,
        law.laws[subject],
        f"{format_count(small)} → {format_count(large)}",
        f"{expected:,.3g}" if expected < 1000 else f"{expected:,.0f}",
        f"{times(measured)} ({times(factors[0])} .. {times(factors[-1])})" + (" net" if net else ""),
        "–" if fitted is None else hundredths(fitted),
        said,
    )


def _beside(factors: Sequence[float], most: float | None, bound: float) -> str:
    """Say whether what was measured fits a law: at most `most`, or more than `bound` where it should grow in full.

    All processes must say the same; a cost that theory has grow may hide behind a constant part and grow less.
    """
    if most is None:
        return AGREES if factors[0] > bound else "grows less" if factors[-1] <= bound else "unclear"
    return AGREES if factors[-1] <= most else "grows more" if factors[0] > most else "unclear"
