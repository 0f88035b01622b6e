"""Whom the claims of the documents are about, and the figures of the Perl study that stand beside them, in words."""

from __future__ import annotations

from lab.reference import PERL, perl, series
from lab.units import format_count, format_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.reference import Reference

LIST, KNOWN_TAIL, ARRAY, CHUNKED = "linked", "linked-known-tail", "array", "chunked"

MANY = 200_000
"""Messages in the documents' long queue."""


def in_us(value: float) -> str:
    """The Perl study has microseconds."""
    return format_ns(value * 1000)


def perl_series(reference: Reference, table: str, subject: str, operation: str, along: str, statistic: str) -> str:
    """Return the Perl figures along one size: "8.00 µs → 63.8 µs at 10 → 1,000 due (200,000 queued)"."""
    found = []
    for others, points in series(reference, table, subject, operation, along, statistic=statistic).items():
        values, sizes = (
            " → ".join(in_us(value) for _, value in points),
            " → ".join(format_count(at) for at, _ in points),
        )
        fixed = ", ".join(f"{format_count(size)} {name}" for name, size in others)
        found.append(f"{values} at {sizes} {along}" + (f" ({fixed})" if fixed else ""))
    return "; ".join(found)


def perl_range(reference: Reference, table: str, subject: str, operation: str, due: str = "") -> str:
    """Return the slowest call of the Perl study and its range over the runs."""
    worst, low, high = (
        perl(reference, table, subject, operation, str(MANY), due, statistic=name)
        for name in ("max", "max_lowest_run", "max_highest_run")
    )
    if worst is None or low is None or high is None:
        return ""
    return f"{in_us(worst)} ({in_us(low)} .. {in_us(high)}) at {format_count(MANY)}"


def perl_both(reference: Reference, table: str, operation: str, due: str = "") -> str:
    """Return the slowest calls of the Perl list and of the Perl array; "" where one of them is not there."""
    found = {subject: perl_range(reference, table, subject, operation, due) for subject in (LIST, ARRAY)}
    return ", ".join(f"{said} on the {PERL[subject]}" for subject, said in found.items()) if all(found.values()) else ""


def perl_faster(reference: Reference) -> str:
    """Return at how many figures the Perl study has the array faster than the list, and by how much."""
    times = {
        key: value / reference[key[0], PERL[ARRAY], *key[2:]]
        for key, value in reference.items()
        if key[1] == PERL[LIST] and key[6] in ("mean", "best_of_3") and (key[0], PERL[ARRAY], *key[2:]) in reference
    }
    if not times:
        return ""
    faster = sum(ratio > 1 for ratio in times.values())
    least, most = min(times.values()), max(times.values())
    return f"the array is faster in {faster} of {len(times)} figures, {least:.2f} to {most:.0f} times"


def perl_shares(reference: Reference) -> str:
    """Return the share of the take in the cycle of the Perl list, from smallest to largest."""
    shares = [
        value / (value + reference[(*key[:2], "requeue", *key[3:])])
        for key, value in reference.items()
        if key[:3] == ("cycle", PERL[LIST], "take")
    ]
    return f"{min(shares):.0%} to {max(shares):.0%} of take + requeue" if shares else ""
