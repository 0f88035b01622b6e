"""The noise band of a run: how far two identical subjects come out apart, operation by operation.

A run measures one subject twice, once under its own name and once as its twin; the two differ by nothing but chance,
layout and order. A difference inside the band is a tie. Bands are worked out of rows and stored nowhere.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lab.sample import slope
from lab.table import Table
from lab.verdict import Finding, compare_samples

Row = Mapping[str, Any]
One = TypeVar("One", bound=Row)

TWIN = "-twin"

FIGURES = {
    "latency": ("p50_ns",),
    "batched": ("p50_ns",),
    "cost": ("mean_ns",),
    "memory": ("message_bytes", "container_bytes"),
    "counts": ("bytecodes", "allocated_blocks", "instructions"),
    "lateness": ("p50_ns",),
    "throughput": ("p50_ns",),
}
"""kind -> the figures of a process that are compared; complexity is read off the source and not compared."""

EXACT = frozenset({"counts"})
"""The kinds whose figures are counts: any difference is real."""

CASE = ("kind", "family", "workload", "params", "clock", "gc", "operation")


def twin_name(subject: str) -> str:
    """Return the name of a subject's twin.

    >>> twin_name("array")
    'array-twin'
    """
    return subject + TWIN


def without_twins(rows: Iterable[One]) -> list[One]:
    """Return the rows of the contenders, not copied: a twin is part of the instrument and in no table of subjects.

    >>> without_twins([{"subject": "array"}, {"subject": "array-twin"}])
    [{'subject': 'array'}]
    """
    return [row for row in rows if not row["subject"].endswith(TWIN)]


def figure_of(row: Row, name: str) -> float | None:
    """Return one figure of a row, or None where it has none: a column, `message_bytes` or a count of one call.

    `message_bytes` is the slope of the resident size over the messages. Counts are those of all `n` calls together and
    come back per call. O(points).
    """
    if name == "message_bytes":
        points = row.get("points_messages")
        if not points or len(set(points)) < 2:
            return None
        return slope(zip(points, row["points_rss_bytes"], strict=True))
    value = row.get(name)
    if value is None:
        return None
    return value / (row.get("n") or 1) if name in FIGURES["counts"] else float(value)


@dataclass(frozen=True, slots=True)
class Band:
    """How far the ratio of two identical subjects goes at one operation, and in which case it went farthest.

    `floor` is the distance of that ratio from 1, the same upwards and downwards: 0.05 is 1/1.05 to 1.05. It is the
    ratio of medians itself, not the end of its interval: what processes scatter by is already in the error of every
    comparison, and the floor is for what identical subjects differ by beside that (layout, order).
    """

    kind: str
    operation: str
    case: str
    figure: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    finding: Finding

    @property
    def floor(self) -> float:
        """The distance from 1; 0 where there is no ratio."""
        ratio = self.finding.ratio
        return math.expm1(abs(math.log(ratio))) if 0 < ratio < math.inf else 0.0


def bands(rows: Iterable[Row], *, seed: int = 0) -> list[Band]:
    """Return the band of every operation of which the run holds an A/A pair, the widest where it holds several.

    In the order of the rows; [] for a run without a twin. O(rows + pairs × resamplings).
    """
    widest: dict[tuple[str, str], Band] = {}
    for pair in pairs(rows, seed=seed):
        known = widest.get((pair.kind, pair.operation))
        if known is None or pair.floor > known.floor:
            widest[pair.kind, pair.operation] = pair
    return list(widest.values())


def pairs(rows: Iterable[Row], *, seed: int = 0) -> list[Band]:
    """Return every A/A pair of a run, case by case and figure by figure."""
    good = [row for row in rows if row["status"] == "ok"]
    values: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(good, key=lambda row: row["process"]):
        for name in FIGURES.get(row["kind"], ()):
            value = figure_of(row, name)
            if value is not None:
                values[(*(row[column] for column in CASE), name)][row["subject"]].append(value)
    found = []
    for identity, by_subject in values.items():
        for subject, own in by_subject.items():
            twin = by_subject.get(twin_name(subject))
            if twin:
                found.append(_pair(identity, own, twin, seed))
    return found


def _pair(identity: tuple[Any, ...], a: Sequence[float], b: Sequence[float], seed: int) -> Band:
    kind, _, workload, params, _, _, operation, figure = identity
    case = f"{workload}, {params}" if params else workload
    finding = compare_samples(a, b, seed=seed, exact=kind in EXACT)
    return Band(kind, operation, case, figure, tuple(a), tuple(b), finding)


def floor_of(found: Sequence[Band], kind: str, operation: str) -> float:
    """Return the floor for a comparison: of its own operation, else the widest of its kind, else the widest of all.

    0 where there is no band at all; kinds that count exactly have no noise and always 0.
    """
    if kind in EXACT:
        return 0.0
    own = [band for band in found if (band.kind, band.operation) == (kind, operation)]
    alike = own or [band for band in found if band.kind == kind] or [band for band in found if band.kind not in EXACT]
    return max((band.floor for band in alike), default=0.0)


def table(found: Sequence[Band]) -> Table:
    """Return the table of the bands."""
    rows = [
        (
            band.kind,
            band.operation,
            band.case,
            f"{len(band.a)} + {len(band.b)}",
            f"±{band.floor:.1%}",
            _interval(band.finding),
            band.finding.verdict.value,
        )
        for band in found
    ]
    return Table(
        "The A/A pair: one subject measured twice, as if it were two",
        ("kind", "operation", "case", "processes", "band", "95 % interval", "our verdict"),
        tuple(rows),
        ("band: how far the ratio of medians lies from 1; a difference inside it is a tie.",),
        frozenset({"kind", "operation", "case", "our verdict"}),
    )


def _interval(finding: Finding) -> str:
    return "–" if math.isnan(finding.low) else f"{finding.low:.3f} .. {finding.high:.3f}"
