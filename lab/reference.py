"""The figures of the Perl study, to stand beside ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

Reference = Mapping[tuple[str, ...], float]
"""(table, implementation, operation, queued, due, unused, statistic) -> value, in the unit of its table."""

CSV = Path(__file__).resolve().parent.parent / "results" / "reference" / "perl-5.40-timer.csv"
"""The file that comes with the lab."""

KEY = ("table", "implementation", "operation", "queued", "due", "unused", "statistic")

PERL = {"linked": "list", "linked-known-tail": "list-known-tail", "array": "array"}
"""What our subjects are called in the Perl study; the others have no counterpart there."""


def read_reference(path: Path = CSV) -> dict[tuple[str, ...], float]:
    """Return every figure of the file; none where the lab was installed without its own. OSError for another one."""
    if path == CSV and not path.is_file():
        return {}
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


def series(
    reference: Reference, table: str, subject: str, operation: str, along: str, *, statistic: str
) -> dict[tuple[tuple[str, int], ...], list[tuple[int, float]]]:
    """Return the Perl figures of a subject of ours along one size: the other sizes -> (size, value), ascending.

    `along` is queued, due or unused. {} where the study has none. O(figures).

    >>> key = ("cycle", "list", "take", "200000", "10", "", "best_of_3")
    >>> series({key: 87.0}, "cycle", "linked", "take", "due", statistic="best_of_3")
    {(('queued', 200000),): [(10, 87.0)]}
    """
    found: dict[tuple[tuple[str, int], ...], list[tuple[int, float]]] = {}
    wanted = (table, PERL.get(subject, ""), operation)
    for key, value in reference.items():
        sizes = {name: int(size) for name, size in zip(KEY[3:6], key[3:6], strict=True) if size}
        if key[:3] == wanted and key[6] == statistic and along in sizes:
            others = tuple((name, size) for name, size in sizes.items() if name != along)
            found.setdefault(others, []).append((sizes[along], value))
    return {others: sorted(points) for others, points in sorted(found.items())}
