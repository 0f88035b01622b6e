"""Every figure of a run as a ratio to one subject's, paired by block, so that a machine that drifts drops out.

Process p of every subject of a case was measured in the same block, one after the other (`runners.run.plan`), so the
ratio is formed within the block and the median taken over the blocks. Nothing here knows a contestant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lab.rank import P50, P99, P999, least_n, percentile_interval
from lab.sample import slope
from lab.table import Table

Row = Mapping[str, Any]
Place = tuple[str, str, str]

FIGURES = {
    "latency": (("p50_ns", P50), ("p99_ns", P99), ("p999_ns", P999)),
    "batched": (("p50_ns", P50),),
    "cost": (("mean_ns", None),),
}
"""kind -> the columns compared, and the quantile that says how many samples they need."""

SHOWN = {"p50_ns": "p50", "p99_ns": "p99", "p999_ns": "p99.9", "mean_ns": "mean", "worst": "structural worst"}
AHEAD, TIE, BEHIND = "ahead", "tie", "behind"


@dataclass(frozen=True, slots=True)
class Ratio:
    """What one figure of `subject` is, divided by the base's: the median over blocks and the interval around it.

    `low` and `high` are the 95 % interval for the median by order statistics where there are at least 6 blocks, else
    the range over the blocks; of a figure that all processes make together (the structural worst call, the memory
    slope) both are the value.
    """

    kind: str
    case: str
    operation: str
    figure: str
    subject: str
    value: float
    low: float
    high: float
    blocks: int

    @property
    def verdict(self) -> str:
        """ahead when the whole interval is under 1, behind when it is above, else a tie."""
        return AHEAD if self.high < 1 else BEHIND if self.low > 1 else TIE


def ratios(rows: Iterable[Row], worst: Iterable[Row], base: str) -> list[Ratio]:
    """Return every ratio to `base` that the rows of a run allow, cases in the order in which they first appear.

    `rows` are those of executions.parquet, `worst` those of cases.parquet. A case that the base has not, and a block in
    which either is not ok, count for nothing. O(rows).
    """
    good = [row for row in rows if row["status"] == "ok"]
    found = [*_of_calls(good, base), *_of_worst(worst, base), *_of_memory(good, base)]
    return sorted(found, key=lambda ratio: (ratio.kind, ratio.case, ratio.operation))


def _place(row: Row) -> Place:
    case = " ".join(part for part in (row["workload"], row["params"]) if part)
    arm = "" if (row["clock"], row["gc"]) == ("cpu", "on") else f" {row['clock']}, gc {row['gc']}"
    return row["kind"], case + arm, row["operation"]


def _of_calls(good: Sequence[Row], base: str) -> Iterable[Ratio]:
    by_place: dict[tuple[Place, str], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in good:
        for column, quantile in FIGURES.get(row["kind"], ()):
            if row[column] and (quantile is None or (row["n"] or 0) >= least_n(quantile)):
                by_place[_place(row), column][row["subject"]][row["process"]] = row[column]
    for (place, column), subjects in by_place.items():
        below = subjects.get(base, {})
        for subject, values in subjects.items():
            blocks = sorted(values[process] / below[process] for process in values.keys() & below.keys())
            if subject != base and blocks:
                yield Ratio(*place, SHOWN[column], subject, *_median_and_interval(blocks), len(blocks))


def _median_and_interval(ordered: Sequence[float]) -> tuple[float, float, float]:
    ranks = percentile_interval(len(ordered), P50) or (1, len(ordered))
    return median(ordered), ordered[ranks[0] - 1], ordered[ranks[1] - 1]


def _of_worst(worst: Iterable[Row], base: str) -> Iterable[Ratio]:
    found: dict[Place, dict[str, Row]] = defaultdict(dict)
    for row in worst:
        if row["structural_worst_ns"]:
            found[_place(row)][row["subject"]] = row
    for place, subjects in found.items():
        for subject, row in subjects.items():
            if subject != base and base in subjects:
                value = row["structural_worst_ns"] / subjects[base]["structural_worst_ns"]
                yield Ratio(*place, SHOWN["worst"], subject, value, value, value, row["processes"])


def _of_memory(good: Sequence[Row], base: str) -> Iterable[Ratio]:
    slopes: dict[Place, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    containers: dict[Place, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in good:
        if row["kind"] != "memory":
            continue
        if row["container_bytes"]:
            containers[_place(row)][row["subject"]].append(row["container_bytes"])
        if row["points_messages"] and len(set(row["points_messages"])) > 2:
            points = zip(row["points_messages"], row["points_rss_bytes"], strict=True)
            slopes[_place(row)][row["subject"]].append(slope(points))
    for figure, by_place in (("bytes a message", slopes), ("container", containers)):
        for place, subjects in by_place.items():
            for subject, values in subjects.items():
                if subject != base and base in subjects and median(subjects[base]) > 0:
                    value = median(values) / median(subjects[base])
                    yield Ratio(*place, figure, subject, value, value, value, len(values))


def ratio_table(found: Sequence[Ratio], base: str, subjects: Sequence[str]) -> Table:
    """Return the ratios as a table, a column for each of `subjects` that has any, and a count of wins in the notes.

    A figure with `!` is behind the base beyond its interval. An empty table when there is nothing to compare.
    """
    columns = [subject for subject in subjects if any(ratio.subject == subject for ratio in found)]
    lines: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for ratio in found:
        lines[ratio.kind, ratio.case, ratio.operation, ratio.figure][ratio.subject] = _cell(ratio)
    rows = tuple((*place, *(cells.get(subject, "–") for subject in columns)) for place, cells in lines.items())
    notes = [_note(found, subject, base) for subject in columns]
    notes.append(
        "Median over blocks of the ratio within a block; in brackets its 95 % interval (the range, under 6 blocks). "
        f"Under 1 is better than {base}; ! marks what is behind beyond the interval."
    )
    header = ("kind", "case", "operation", "figure", *columns)
    return Table(f"Every figure divided by that of {base}", header, rows, tuple(notes), frozenset(header[:4]))


def _cell(ratio: Ratio) -> str:
    mark = "!" if ratio.verdict == BEHIND else ""
    if ratio.low == ratio.high:
        return f"{mark}{ratio.value:.2f}"
    return f"{mark}{ratio.value:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


def _note(found: Sequence[Ratio], subject: str, base: str) -> str:
    own = [ratio.verdict for ratio in found if ratio.subject == subject]
    counted = ", ".join(f"{own.count(verdict)} {verdict}" for verdict in (AHEAD, TIE, BEHIND))
    return f"{subject} against {base}: {counted}, of {len(own)} figures."
