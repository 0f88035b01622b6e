"""A table as data, and how it looks as text and as Markdown: nothing here knows what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Table:
    """A titled grid of cells that are text already; columns named in `left` are flush left, the others right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"row {row} has {len(row)} cells: expected {len(self.header)}, one for each column")


def text(table: Table) -> str:
    """Return the table for a terminal: title, header, rows, then the notes; no trailing blanks.

    >>> rows = (("array", "1 µs"), ("heap", "12 µs"))
    >>> print(text(Table("Cost", ("subject", "mean"), rows, left=frozenset({"subject"}))))
    Cost
    subject   mean
    array     1 µs
    heap     12 µs
    """
    widths = [max(len(cell) for cell in column) for column in zip(table.header, *table.rows, strict=True)]
    lines = [table.title]
    lines += [_line(cells, widths, table) for cells in (table.header, *table.rows)]
    return "\n".join([*lines, *table.notes])


def _line(cells: Sequence[str], widths: Sequence[int], table: Table) -> str:
    placed = (
        cell.ljust(width) if name in table.left else cell.rjust(width)
        for cell, width, name in zip(cells, widths, table.header, strict=True)
    )
    return "  ".join(placed).rstrip()


def markdown(table: Table) -> str:
    """Return the table as GitHub Markdown under a heading of the third level.

    >>> print(markdown(Table("Cost", ("subject", "mean"), (("array", "1 µs"),), left=frozenset({"subject"}))))
    ### Cost
    <BLANKLINE>
    | subject | mean |
    | :-- | --: |
    | array | 1 µs |
    """
    rule = [":--" if name in table.left else "--:" for name in table.header]
    lines = [f"### {table.title}", ""]
    lines += ["| " + " | ".join(_escaped(cell) for cell in cells) + " |" for cells in (table.header, rule, *table.rows)]
    if table.notes:
        lines += ["", *[f"{_escaped(note)}  " for note in table.notes]]
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
