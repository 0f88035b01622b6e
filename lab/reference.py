"""The figures of the Perl study, to stand beside ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

Reference = Mapping[tuple[str, ...], float]
"""(table, implementation, operation, queued, due, unused, statistic) -> value, in the unit of its table."""

KEY = ("table", "implementation", "operation", "queued", "due", "unused", "statistic")

PERL = {"linked": "list", "linked-known-tail": "list-known-tail", "array": "array"}
"""What our subjects are called in the Perl study; the others have no counterpart there."""


def read_reference(path: Path) -> dict[tuple[str, ...], float]:
    """Return every figure of the file. OSError when it cannot be read."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {tuple(line[name] for name in KEY): float(line["value"]) for line in csv.DictReader(lines)}


def perl(reference: Reference, table: str, subject: str, operation: str, *sizes: str, statistic: str) -> float | None:
    """Return the Perl figure for a subject of ours, or None where the study has none.

    `sizes` are queued, due and unused, as text; those left out are empty.

    >>> figures = {("cycle", "list", "take", "200000", "10", "", "best_of_3"): 87.0}
    >>> perl(figures, "cycle", "linked", "take", "200000", "10", statistic="best_of_3")
    87.0
    >>> perl(figures, "cycle", "heap", "take", "200000", "10", statistic="best_of_3")
    """
    queued, due, unused = (*sizes, "", "", "")[:3]
    return reference.get((table, PERL.get(subject, ""), operation, queued, due, unused, statistic))
