"""The tables of the families beside the timer queues, as far as a run has their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from lab import events, pacing, schedules
from lab.table import Table

Row = Mapping[str, Any]
One = TypeVar("One", bound=Row)
Order = Mapping[str, Sequence[str]]
"""family -> its subjects in the order in which they stand."""

TIMER = "timer"

MAKERS: tuple[tuple[tuple[str, ...], Callable[[Iterable[Row], Sequence[str]], list[Table]]], ...] = (
    ((schedules.FAMILY,), schedules.tables),
    (pacing.FAMILIES, pacing.tables),
    ((events.FAMILY,), events.tables),
)
"""Families, and the function of their rows and subjects that makes their tables."""


def tables(rows: Iterable[Row], order: Order) -> list[Table]:
    """Return every table of the other families that the rows have a figure for, or a reason why not. O(rows).

    >>> tables([], {})
    []
    """
    every = [row for row in rows if row["family"] != TIMER]
    return [
        table
        for families, make in MAKERS
        for table in make(every, list(dict.fromkeys(name for family in families for name in order.get(family, ()))))
    ]


def of_timers(rows: Iterable[One]) -> list[One]:
    """Return the rows of timer queues, not copied: the documents' tables are about them.

    >>> of_timers([{"family": "timer"}, {"family": "ticker"}])
    [{'family': 'timer'}]
    """
    return [row for row in rows if row["family"] == TIMER]
