"""One panel of a picture as SVG text: axes, lines with marks and bands, and a name at the end of every line.

Written by hand rather than by a plotting library: a panel is small, opens light and dark, keeps its letters as letters,
needs no font and comes out the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import cos, pi, sin

from lab.figure_axis import Axis

Point = tuple[float, float]

WIDTH, HEIGHT = 500, 330
LEFT, TOP, BOTTOM = 62, 40, 46
LETTER = 6.3
"""Pixels that a letter of a label takes at most, on average."""

LABEL_GAP = 14.0
"""Pixels from one label to the next, so that none stands on another."""

MARK_GAP = 9.0
"""Pixels from the middle of a note to the middle of a mark, so that neither stands on the other."""

STYLE = (
    ".drawn{color:#1d2127;font-family:system-ui,sans-serif;font-size:11px}.drawn .paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.drawn{color:#e4e6ea}.drawn .paper{fill:#15181d}}"
)
"""Ink and paper as the reader has chosen light or dark; all else is in ink or in a colour that stands out on both."""

PAPER, DARK_PAPER = "#ffffff", "#15181d"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: its SVG, and what it shows in words, for those who cannot see it."""

    svg: str
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """What is drawn for one name: points by x, the band around them (x, low, high), its colour and its mark.

    `marked` says which of the points carry the mark; None marks all. `joined` draws a line through them; `dashes` is
    the stroke-dasharray of that line.
    """

    name: str
    points: Sequence[Point]
    colour: str = "currentColor"
    mark: str = "o"
    band: Sequence[tuple[float, float, float]] = ()
    marked: Sequence[Point] | None = None
    joined: bool = True
    dashes: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A short text beside a point of the panel, such as the cause of a slow call."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel before it is drawn: title, axes, lines, notes; `floor` is (value of y, its name) where there is one."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    notes: Sequence[Note] = ()
    floor: tuple[float, str] | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    """line -> what stands behind its name, such as the slope that was fitted."""


def svg(panel: Panel) -> str:
    """Return the panel as SVG text, O(points); the same panel always gives the same text.

    Names stand behind the ends of their lines, moved apart where they would meet; the panel grows with their number.
    """
    names = [_label(panel, line) for line in panel.lines]
    right = 30 + LETTER * max((len(name) for name in names), default=0)
    height = max(HEIGHT, TOP + BOTTOM + LABEL_GAP * (len(names) + 1))
    box = _Box(panel, LEFT, WIDTH - right, TOP, height - BOTTOM)
    said = escape(panel.title, quote=True)
    size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn" {size} role="img" aria-label="{said}">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height:g}"/>',
        _text(LEFT, 18, panel.title, size=13, weight=600),
        *_axes(box),
        *_floor(box),
        *(part for line in panel.lines for part in _line(box, line)),
        *_names(box),
        *_notes(box),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Box:
    """Where the plot of a panel lies, in pixels."""

    panel: Panel
    left: float
    right: float
    top: float
    bottom: float

    def x(self, value: float) -> float:
        return self.left + self.panel.x.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.panel.y.share(value) * (self.bottom - self.top)


def _label(panel: Panel, line: Line) -> str:
    behind = panel.extra.get(line.name, "")
    return f"{line.name} {behind}".rstrip()


def _text(x: float, y: float, said: str, *, anchor: str = "start", size: int = 11, weight: int = 400) -> str:
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    big = f' font-size="{size}"' if size != 11 else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor"{end}{big}{bold}>{escape(said)}</text>'


def _axes(box: _Box) -> Iterable[str]:
    """The frame: a faint line at every tick, its text, and the two labels."""
    panel = box.panel
    faint = 'stroke="currentColor" stroke-opacity="0.16"'
    for value, said in panel.y.ticks:
        y = box.y(value)
        yield f'<path d="M{box.left:g} {y:.1f}H{box.right:.1f}" {faint}/>'
        yield _text(box.left - 6, y + 4, said, anchor="end")
    last = -1e9
    for value, said in panel.x.ticks:
        x, half = box.x(value), len(said) * LETTER / 2
        yield f'<path d="M{x:.1f} {box.top:g}V{box.bottom:g}" {faint}/>'
        if x - half > last + 4:
            yield _text(x, box.bottom + 15, said, anchor="middle")
            last = x + half
    yield f'<path d="M{box.left:g} {box.top:g}V{box.bottom:g}H{box.right:.1f}" fill="none" stroke="currentColor"/>'
    yield _text((box.left + box.right) / 2, box.bottom + 34, panel.x.label, anchor="middle")
    yield _text(6, TOP - 8, panel.y.label)


def _floor(box: _Box) -> Iterable[str]:
    if box.panel.floor is not None:
        value, said = box.panel.floor
        y = box.y(value)
        yield (f'<path d="M{box.left:g} {y:.1f}H{box.right:.1f}" stroke="currentColor" stroke-dasharray="2 3"/>')
        yield _text(box.left + 4, y + 13, said)


def _line(box: _Box, line: Line) -> Iterable[str]:
    if line.band:
        there = [f"{box.x(x):.1f} {box.y(high):.1f}" for x, _, high in line.band]
        back = [f"{box.x(x):.1f} {box.y(low):.1f}" for x, low, _ in reversed(line.band)]
        yield f'<path d="M{"L".join([*there, *back])}Z" fill="{line.colour}" fill-opacity="0.14"/>'
    places = [(box.x(x), box.y(y)) for x, y in line.points]
    if line.joined and len(places) > 1:
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        yield f'<path d="M{path}" fill="none" stroke="{line.colour}" stroke-width="1.6"{dashes}/>'
    marked = places if line.marked is None else [(box.x(x), box.y(y)) for x, y in line.marked]
    yield from (mark(line.mark, x, y, line.colour) for x, y in marked)


def _names(box: _Box) -> Iterable[str]:
    """The name of every line behind its end, and a thin line to it where it had to move."""
    ends = [(line, box.x(line.points[-1][0]), box.y(line.points[-1][1])) for line in box.panel.lines if line.points]
    ends.sort(key=lambda end: (end[2], end[0].name))
    heights = apart([y for _, _, y in ends], box.top + 4, box.bottom, LABEL_GAP)
    for (line, x, y), height in zip(ends, heights, strict=True):
        left = box.right + 12
        leader = f"M{x + 4:.1f} {y:.1f}L{left - 2:.1f} {height:.1f}"
        yield f'<path d="{leader}" stroke="{line.colour}" stroke-opacity="0.5" fill="none" stroke-width="0.8"/>'
        yield mark(line.mark, left + 3, height, line.colour)
        yield _text(left + 11, height + 4, _label(box.panel, line))


def apart(wanted: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Return heights as near to `wanted` (ascending) as lets each stand `gap` from the next, inside low … high.

    Where they do not all fit they stand `gap` apart from `low` on, over the end.

    >>> apart([10, 11, 50], 0, 100, 14), apart([99, 100], 0, 100, 14)
    ([10, 24, 50], [86, 100])
    """
    found: list[float] = []
    for height in wanted:
        found.append(max(height, low, found[-1] + gap if found else low))
    limit = high
    for place in range(len(found) - 1, -1, -1):
        found[place] = max(low + place * gap, min(found[place], limit)) if found[place] > limit else found[place]
        limit = found[place] - gap
    return found


def _notes(box: _Box) -> Iterable[str]:
    """Each note near its point, where there is room; one that would stand on another, or on a point, goes down."""
    points = [(box.x(note.x), box.y(note.y) + 4) for note in box.panel.notes]
    taken: list[tuple[float, float, float]] = []
    for note in sorted(box.panel.notes, key=lambda note: (box.y(note.y), note.x)):
        x, y, width = box.x(note.x), box.y(note.y), len(note.text) * LETTER
        left = min(max(box.left + 3, x - width / 2), box.right - width)
        height = max(box.top + 9, y - 7)
        while any(
            abs(height - at) < LABEL_GAP and left < end and begin < left + width for at, begin, end in taken
        ) or any(abs(height - at) < MARK_GAP and left - 5 < middle < left + width + 5 for middle, at in points):
            height += LABEL_GAP / 4
        taken.append((height, left - 6, left + width + 6))
        to = f"{min(max(x, left), left + width):.1f} {height + 2:.1f}"
        yield f'<path d="M{x:.1f} {y:.1f}L{to}" stroke="currentColor" stroke-opacity="0.5" stroke-width="0.7"/>'
        yield _text(left, height, note.text)


SIDES = {"s": (4, 45), "D": (4, 0), "^": (3, -90), "v": (3, 90), "<": (3, 180), ">": (3, 0), "p": (5, -90), "h": (6, 0)}
"""mark -> the corners of a polygon and where the first of them points, in degrees."""

STROKES = {"+": (0, 90), "x": (45, 135), "*": (0, 60, 120)}
"""mark -> the directions of its strokes, in degrees."""

MARKS = ("o", *SIDES, *STROKES, "O")
"""Every mark there is: o a disk, O a ring."""


def mark(name: str, x: float, y: float, colour: str, size: float = 4.0) -> str:
    """Return one mark as SVG; KeyError for a mark that there is not.

    >>> mark("O", 5, 5, "#d55e00")
    '<circle cx="5.0" cy="5.0" r="3.4" fill="none" stroke="#d55e00" stroke-width="1.6"/>'
    """
    if name in ("o", "O"):
        inside = f'fill="{colour}"' if name == "o" else f'fill="none" stroke="{colour}" stroke-width="1.6"'
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size * 0.85:.1f}" {inside}/>'
    if name in STROKES:
        reaches = [(size * cos(turn * pi / 180), size * sin(turn * pi / 180)) for turn in STROKES[name]]
        strokes = "".join(f"M{x - dx:.1f} {y - dy:.1f}L{x + dx:.1f} {y + dy:.1f}" for dx, dy in reaches)
        return f'<path d="{strokes}" stroke="{colour}" stroke-width="1.8"/>'
    corners, first = SIDES[name]
    turns = [(first + 360 * corner / corners) * pi / 180 for corner in range(corners)]
    path = "L".join(f"{x + size * cos(turn):.1f} {y + size * sin(turn):.1f}" for turn in turns)
    return f'<path d="M{path}Z" fill="{colour}"/>'
