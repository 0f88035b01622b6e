"""Comparisons of runs: every pair of samples with its ratio, interval and verdict, as tables and as plain data.

The gate is over all comparisons of the command together (Holm), so that many cases do not make a false alarm likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from lab.case import KINDS
from lab.noise import FIGURES, Band, bands, floor_of
from lab.pairing import Difference, Pairs, Sample, Side, environment_differences, pair, sample_differences, samples
from lab.table import Table
from lab.units import format_bytes, format_ns
from lab.verdict import Finding, Verdict, compare_samples, corrected, holm

Method = Callable[[Sequence[float]], list[float]]

STATISTICS = ("p50", "mean", "p90", "p99", "p999")
"""What of a process may be compared where every call was timed."""

HOLDS, REGRESSED, INCONCLUSIVE, NOTHING, NOT_COMPARABLE = 0, 1, 3, 4, 5
NOTHING_SAID = "–"
TIMED = ("latency", "batched", "cost")
ORDER = (Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.SAME, Verdict.FASTER, Verdict.NOT_COMPARABLE)
NAMES = {"message_bytes": "bytes a message", "container_bytes": "container", "p999_ns": "p99.9"}
LEFT = frozenset({"case", "operation", "subject", "figure", "verdict", "why"})


@dataclass(frozen=True, slots=True)
class Line:
    """One pair with what can be said of it; `relative` is its ratio beside that of the calibration workload."""

    first: Sample
    second: Sample
    finding: Finding
    differences: tuple[Difference, ...] = ()
    relative: float = math.nan


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs beside each other.

    `calibration` names the workload that unlike machines are held against, and `speed` its ratio second ÷ first.
    `drift` is how far a call that does nothing moved between two runs of one machine: part of every floor.
    """

    first: Side
    second: Side
    lines: tuple[Line, ...]
    pairs: Pairs
    environment: tuple[Difference, ...]
    calibration: str
    speed: float
    drift: float
    bands: tuple[Band, ...]


def compare(
    first: Side,
    second: Side,
    *,
    across: Collection[str] = (),
    threshold: float = 0.05,
    alpha: float = 0.05,
    statistic: str = "p50",
    subjects: tuple[str, str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Return every pair of two runs with its verdict, before the correction for their number (`judged` does that).

    A pair that differs in anything but what is compared `across` (machine, interpreter, commit, gc, subject) is not
    comparable, with the field. The floor of a timed comparison is the wider A/A band of the two runs or, on one
    machine and interpreter, how far the null call moved between them: what moves a call that does nothing is not the
    queue's. Across machines and interpreters every ratio also stands beside that of the calibration workload: the
    whole life of a message on the array, timed in batches, where both runs have it, else the null loop.
    `statistic` is one of STATISTICS, for the latency kind; ValueError for another.
    """
    if statistic not in STATISTICS:
        raise ValueError(f"no statistic {statistic!r}: expected one of {', '.join(STATISTICS)}")
    found = pair(first, second, across, {**FIGURES, "latency": (f"{statistic}_ns",)}, subjects)
    environment = tuple(environment_differences(first, second, across))
    both = (*bands(first.rows, seed=seed), *bands(second.rows, seed=seed))
    unlike = not {"machine", "interpreter"}.isdisjoint(across)
    calibration, speed = _calibration(first, second)
    drift = 0.0 if unlike else _distance(_typical_ratio(_instrument(first), _instrument(second)))
    rules = {"threshold": threshold, "alpha": alpha, "seed": seed}
    lines = []
    for a, b in found.pairs:
        if a.case.subject == "null":  # the instrument is no contender
            continue
        floor = max(floor_of(both, a.case.kind, a.operation), drift if a.case.kind in TIMED else 0.0)
        own = (
            one for one in sample_differences(a, b, across) if one.field not in {known.field for known in environment}
        )
        differences = (*environment, *own)
        finding = _found(a, b, {**rules, "floor": floor}, differences)
        relative = finding.ratio / speed if unlike and a.case.kind in TIMED else math.nan
        lines.append(Line(a, b, finding, differences, relative))
    return Comparison(first, second, tuple(lines), found, environment, calibration, speed, drift, both)


def _found(a: Sample, b: Sample, rules: dict[str, Any], differences: Sequence[Difference]) -> Finding:
    """Return the finding on a pair; of counts any difference is one, and what is not comparable has no ratio."""
    if a.exact:
        rules = {**rules, "threshold": 0.0}
    finding = compare_samples(a.values, b.values, exact=a.exact, **rules)
    if not differences:
        return finding
    nan, said = math.nan, "; ".join(one.sentence for one in differences)
    short = "; ".join(one.short for one in differences)
    finding = replace(finding, ratio=nan, low=nan, high=nan, p=nan)
    return replace(finding, verdict=Verdict.NOT_COMPARABLE, sentence=said, advice=short)


def _distance(ratio: float) -> float:
    return 0.0 if math.isnan(ratio) else math.expm1(abs(math.log(ratio)))


def _typical_ratio(first: Sequence[float], second: Sequence[float]) -> float:
    return median(second) / median(first) if first and second and median(first) > 0 else math.nan


def _instrument(side: Side) -> list[float]:
    rows = [row for row in side.rows if row["status"] == "ok" and row["subject"] == "null"]
    return [row["p50_ns"] for row in rows if row["p50_ns"]]


def _calibration(first: Side, second: Side) -> tuple[str, float]:
    """Return the name of the calibration workload and its ratio; NaN where the runs have none in common."""
    lives = [
        {one.case.params: one.values for one in samples(side.rows) if _is_yardstick(one)} for side in (first, second)
    ]
    for params, values in lives[0].items():
        if params in lives[1]:
            return "the life of a message on the array", _typical_ratio(values, lives[1][params])
    return "the null call", _typical_ratio(_instrument(first), _instrument(second))


def _is_yardstick(one: Sample) -> bool:
    return one.case.kind == "batched" and one.case.subject == "array" and one.case.workload == "life-constant-delay"


def judged(comparisons: Iterable[Comparison], *, alpha: float = 0.05, method: Method = holm) -> list[Comparison]:
    """Return the comparisons with p-values and verdicts corrected for the number of all of them together."""
    every = list(comparisons)
    findings = iter(corrected((line.finding for one in every for line in one.lines), alpha=alpha, method=method))
    return [replace(one, lines=tuple(replace(line, finding=next(findings)) for line in one.lines)) for one in every]


def exit_code(comparisons: Sequence[Comparison], *, partial: bool = False) -> int:
    """Return what the comparisons come to: 4 nothing paired, 1 a regression, 5 a pair that cannot be compared, 3 one
    that is inconclusive or a case of the first run without a figure in the second, else 0; the first that applies.

    `partial` says that the second run was not meant to have every case: then only those count that it tried in vain.
    """
    found = {line.finding.verdict for one in comparisons for line in one.lines}
    if not all(one.lines for one in comparisons):
        return NOTHING
    if Verdict.SLOWER in found:
        return REGRESSED
    if Verdict.NOT_COMPARABLE in found:
        return NOT_COMPARABLE
    lost = any(one.pairs.lost or (one.pairs.only_first and not partial) for one in comparisons)
    return INCONCLUSIVE if lost or Verdict.INCONCLUSIVE in found else HOLDS


def tables(one: Comparison) -> list[Table]:
    """Return a table for every family and kind, its worst regressions first, then the table of what has no pair."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in one.lines:
        groups.setdefault((line.first.case.family, line.first.case.kind), []).append(line)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], KINDS.index(group[0][1])))
    found = [_table(f"{family}, {kind}", lines) for (family, kind), lines in ordered]
    lonely = [
        *((name, "only in the first run") for name in one.pairs.only_first),
        *((name, "only in the second run") for name in one.pairs.only_second),
        *((name, f"no figure in the second run: {why}") for name, why in one.pairs.lost),
    ]
    if lonely:
        found.append(Table("Without a pair", ("case", "why"), tuple(lonely), left=LEFT))
    return found


def _table(title: str, lines: Sequence[Line]) -> Table:
    beside = any(not math.isnan(line.relative) for line in lines)
    ordered = sorted(lines, key=lambda line: (ORDER.index(line.finding.verdict), -_sortable(line.finding.ratio)))
    header = ("case", "operation", "subject", "figure", "first", "second", "ratio (interval)")
    rows = tuple(
        (
            *_cells(line),
            *((_number(line.relative),) if beside else ()),
            _p(line.finding.p),
            line.finding.verdict.value,
            line.finding.advice,
        )
        for line in ordered
    )
    return Table(title, (*header, *(("÷ calibration",) if beside else ()), "p", "verdict", "why"), rows, left=LEFT)


def _cells(line: Line) -> tuple[str, ...]:
    first, second, finding = line.first, line.second, line.finding
    case = first.case
    subjects = dict.fromkeys((case.subject, second.case.subject))
    figure = NAMES.get(first.figure, first.figure.removesuffix("_ns").replace("_", " "))
    interval = "" if math.isnan(finding.low) else f" ({finding.low:.3f} .. {finding.high:.3f})"
    return (
        f"{case.workload}, {case.params_text}" if case.params else case.workload,
        first.operation,
        " → ".join(subjects),
        f"{figure} (mostly clock)" if first.timer_bound or second.timer_bound else figure,
        *(_value(median(one.values), one.figure) for one in (first, second)),
        _number(finding.ratio) + interval,
    )


def _sortable(ratio: float) -> float:
    return -math.inf if math.isnan(ratio) else ratio


def _value(value: float, figure: str) -> str:
    if figure.endswith("_ns"):
        return format_ns(value)
    return format_bytes(value) if figure.endswith("_bytes") else f"{value:g}"


def _number(value: float) -> str:
    return NOTHING_SAID if math.isnan(value) else f"{value:.3f}"


def _p(p: float) -> str:
    return NOTHING_SAID if math.isnan(p) else "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def heading(one: Comparison) -> list[str]:
    """Return the sentences above the tables: the runs, why they cannot be compared, the instrument, the verdicts."""
    said = [f"{one.first.name} → {one.second.name}: ratio = second ÷ first, below 1 is faster"]
    said += [f"not comparable: {difference.sentence}" for difference in one.environment]
    if not math.isnan(one.speed):
        said.append(f"calibration: {one.calibration} took {one.speed:.3f} times as long in the second run")
    if one.drift:
        said.append(f"the null call moved by {one.drift:.1%} between the runs: smaller differences are ties")
    widest = max(one.bands, key=lambda band: band.floor, default=None)
    said.append(
        "no A/A pair in either run: the floor is that of the null call alone"
        if widest is None
        else f"A/A pairs: the widest band is ±{widest.floor:.1%} ({widest.kind}, {widest.operation})"
    )
    counted = ((verdict, sum(line.finding.verdict is verdict for line in one.lines)) for verdict in ORDER)
    said.append(", ".join(f"{count} {verdict.value}" for verdict, count in counted if count) or "nothing paired")
    return said


def plain(comparisons: Sequence[Comparison], rules: dict[str, Any], code: int) -> dict[str, Any]:
    """Return all of it as plain data for JSON; a figure that there is not is null, one beyond all bounds "inf"."""
    return {"rules": rules, "exit_code": code, "comparisons": [_plain(one) for one in comparisons]}


def _plain(one: Comparison) -> dict[str, Any]:
    return {
        "first": one.first.name,
        "second": one.second.name,
        "not_comparable": [difference.sentence for difference in one.environment],
        "calibration": one.calibration,
        "calibration_ratio": _json(one.speed),
        "null_call_drift": one.drift,
        "only_first": list(one.pairs.only_first),
        "only_second": list(one.pairs.only_second),
        "lost": [{"case": name, "why": why} for name, why in one.pairs.lost],
        "lines": [_plain_line(line) for line in one.lines],
    }


def _plain_line(line: Line) -> dict[str, Any]:
    finding = line.finding
    return {
        "first_case": line.first.case.key,
        "second_case": line.second.case.key,
        "operation": line.first.operation,
        "figure": line.first.figure,
        "first_values": list(line.first.values),
        "second_values": list(line.second.values),
        "verdict": finding.verdict.value,
        **{name: _json(getattr(finding, name)) for name in ("ratio", "low", "high", "p", "floor", "threshold")},
        "ratio_to_calibration": _json(line.relative),
        "fields": [difference.field for difference in line.differences],
        "sentence": finding.sentence,
    }


def _json(value: float) -> float | str | None:
    return None if math.isnan(value) else "inf" if math.isinf(value) else value
