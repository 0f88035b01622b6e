"""P-values of many comparisons at once: what is left of each when the family is taken into account."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm (1979), in the order given: reject those ≤ alpha, and in the whole family a
    false alarm has a chance of at most alpha.

    O(n log n). ValueError for a p outside 0 .. 1.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(_ascending(p_values)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Benjamini and Hochberg (1995), in the order given: among those ≤ alpha a share of
    at most alpha is expected to be false alarms.

    O(n log n). ValueError for a p outside 0 .. 1.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    adjusted, smallest = [0.0] * len(p_values), 1.0
    for rank, place in reversed(list(enumerate(_ascending(p_values), start=1))):
        smallest = min(smallest, p_values[place] * len(p_values) / rank)
        adjusted[place] = smallest
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"{p!r} is no p-value: expected 0 to 1")
    return sorted(range(len(p_values)), key=lambda place: p_values[place])
