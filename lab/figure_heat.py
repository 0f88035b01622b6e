"""The heat table: every operation of a run, subject by subject, as a ratio to one of them, shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from statistics import geometric_mean
from typing import Any

from lab.figure import in_order
from lab.notebook_html import LEVELS, Shaded
from lab.ratios import Ratio, ratios
from lab.table import Table

Row = Mapping[str, Any]

BASE = "array"

GROUPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "enqueue, in order": (("cost", "enqueue-in-order", ""),),
    "enqueue, out of order": (("cost", "enqueue-out-of-order", ""), ("batched", "enqueue-at-random", "")),
    "enqueue, its slowest calls (p99.9)": (("latency", "steady-enqueue", "p99.9"), ("latency", "growth", "p99.9")),
    "take": (("latency", "cycle", "p50 take"), ("latency", "window-cycle", "p50 take")),
    "put back": (("latency", "cycle", "p50 requeue"), ("latency", "window-cycle", "p50 requeue")),
    "put back, a part": (("latency", "requeue-unused", "p50"),),
    "dispatch": (("batched", "process", ""), ("latency", "steady-dispatch", "p50")),
    "a message's life": (("batched", "life-", ""),),
    "worst structural call": (("latency", "", "structural worst"),),
    "let go of all": (("latency", "free ", "p50"),),
    "memory a message": (("memory", "resident", "bytes a message"),),
}
"""row of the heat table -> (kind, how the case begins, words of figure and operation) of what goes into it."""


def heat(rows: Sequence[Row], cases: Sequence[Row], base: str = BASE) -> Shaded:
    """Return the heat table: the geometric mean over the cases of an operation of the ratio to `base`.

    Under 1 is less than the base. A cell says how far apart its cases are where there are several; a blank one has no
    case that both have. Each doubling is a step of shade. Empty without any ratio. O(rows).
    """
    found = ratios(rows, cases, base)
    subjects = [name for name in in_order(ratio.subject for ratio in found) if name != "null"]
    lines: list[tuple[str, ...]] = []
    shades: dict[tuple[int, int], int] = {}
    for what, members in GROUPS.items():
        inside = [ratio for ratio in found if any(_belongs(ratio, *member) for member in members) and ratio.value > 0]
        if not inside:
            continue
        cells = {subject: [ratio.value for ratio in inside if ratio.subject == subject] for subject in subjects}
        for column, subject in enumerate(subjects, start=1):
            if cells[subject]:
                shades[len(lines), column] = level(geometric_mean(cells[subject]))
        lines.append((what, *(_cell(cells[subject]) for subject in subjects)))
    title = f"What each operation costs, as a ratio to `{base}`"
    mean = "Geometric mean over the cases of the operation (lowest and highest case)."
    shade = f"Under 1, blue: less than `{base}`; over 1, orange: more. Each doubling is a step of shade."
    header = ("operation", *subjects)
    return Shaded(Table(title, header, tuple(lines), (mean, shade), frozenset({"operation"})), shades)


def _belongs(ratio: Ratio, kind: str, begins: str, words: str) -> bool:
    said = f"{ratio.figure} {ratio.operation}"
    return ratio.kind == kind and f"{ratio.case} ".startswith(begins) and all(word in said for word in words.split())


def _cell(values: Sequence[float]) -> str:
    if not values:
        return ""
    middle = _number(geometric_mean(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({_number(min(values))} .. {_number(max(values))})"


def _number(value: float) -> str:
    """Two decimals, whole from 100 on.

    >>> _number(0.123), _number(1234.5)
    ('0.12', '1,234')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def level(ratio: float) -> int:
    """Return the shade of a ratio: 0 near 1, a step for each doubling or halving, at most LEVELS.

    >>> level(1.1), level(2.0), level(0.25), level(1e6)
    (0, 1, -2, 4)
    """
    return max(-LEVELS, min(LEVELS, round(log2(ratio))))


def leaders(shaded: Shaded, base: str = BASE) -> dict[str, str]:
    """Return operation -> who needs least for it: the subject of the smallest ratio, the base's being 1."""
    table = shaded.table
    found = {}
    for row in table.rows:
        ratio = {base: 1.0} | {
            subject: float(cell.split(" ")[0].replace(",", ""))
            for subject, cell in zip(table.header[1:], row[1:], strict=True)
            if cell
        }
        found[row[0]] = min(ratio, key=lambda name: ratio[name])
    return found


def leader(shaded: Shaded, base: str = BASE) -> str:
    """Return in one sentence who needs least where."""
    best: dict[str, list[str]] = {}
    for operation, subject in leaders(shaded, base).items():
        best.setdefault(subject, []).append(operation)
    ordered = sorted(best.items(), key=lambda pair: -len(pair[1]))
    return "Least of all needs " + "; ".join(f"`{name}` for {' · '.join(what)}" for name, what in ordered) + "."
