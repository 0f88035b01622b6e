"""What notebooks and the site show, as HTML and as text: tables, shaded or not, pictures, Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from lab.figure_panel import Drawing
from lab.table import Table, text

LEVELS = 4
"""Steps of shade to either side of no shade."""

LONG = 40
"""Letters from which on a cell may be broken into lines."""

BETTER, WORSE = (31, 119, 200), (213, 94, 0)
"""Red, green, blue of a shade: blue is less, orange more; the two stay apart for the colour-blind."""


@dataclass(frozen=True, slots=True)
class Shaded:
    """A table some cells of which are shaded: (row, column) from 0 -> −LEVELS (far better) … LEVELS (far worse).

    The number in the cell says the same as its shade.
    """

    table: Table
    shades: Mapping[tuple[int, int], int]


def by_words(table: Table, levels: Mapping[str, int]) -> Shaded:
    """Return a table shaded by what its cells say: word -> level, of cells that are exactly that word.

    >>> by_words(Table("Promises", ("a",), (("kept",), ("broken",))), {"broken": 3}).shades
    {(1, 0): 3}
    """
    cells = ((line, column, cell) for line, row in enumerate(table.rows) for column, cell in enumerate(row))
    return Shaded(table, {(line, column): levels[cell] for line, column, cell in cells if cell in levels})


Piece = str | Table | Shaded | Drawing
"""What a cell of a notebook can show: a text is Markdown."""


def bundle(piece: Piece) -> dict[str, str]:
    """Return the MIME bundle of a piece: what a browser shows, and the text beside it.

    >>> sorted(bundle("*so*"))
    ['text/markdown', 'text/plain']
    """
    if isinstance(piece, str):
        return {"text/markdown": piece, "text/plain": piece}
    if isinstance(piece, Drawing):
        return {"image/svg+xml": piece.svg, "text/plain": piece.said}
    table, shades = (piece.table, piece.shades) if isinstance(piece, Shaded) else (piece, {})
    return {"text/html": html(table, shades), "text/plain": text(table)}


def html(table: Table, shades: Mapping[tuple[int, int], int] | None = None) -> str:
    """Return a table as HTML: title, head, rows and notes; cells are escaped. O(cells).

    >>> html(Table("Cost", ("mean",), (("<1 µs",),))).splitlines()[3]
    '<tr><td>&lt;1 µs</td></tr>'
    """
    left = [name in table.left for name in table.header]
    head = "".join(f"<th{_side(own)}>{escape(name)}</th>" for name, own in zip(table.header, left, strict=True))
    lines = [
        '<table class="lab">',
        f"<caption>{_written(table.title)}</caption><thead><tr>{head}</tr></thead>",
        "<tbody>",
    ]
    for place, row in enumerate(table.rows):
        cells = (
            f"<td{_kind(cell)}{_side(own)}{_shade((shades or {}).get((place, column), 0))}>{_written(cell)}</td>"
            for column, (cell, own) in enumerate(zip(row, left, strict=True))
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines.append("</tbody></table>")
    lines += [f'<p class="note">{_written(note)}</p>' for note in table.notes]
    return "\n".join(lines)


def _written(text: str) -> str:
    """Escape a text; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _kind(cell: str) -> str:
    return ' class="long"' if len(cell) > LONG else ""


def _side(left: bool) -> str:
    return ' style="text-align:left"' if left else ""


def _shade(level: int) -> str:
    if not level:
        return ""
    colour = ",".join(map(str, WORSE if level > 0 else BETTER))
    return f' style="background:rgba({colour},{0.13 * min(abs(level), LEVELS):.2f})"'
