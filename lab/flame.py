"""Who holds the memory, as a picture: folded stacks, one a line with its bytes, drawn as a flame that hangs down.

A line is `outer;inner 96`: the frames of a stack from the outside in, and what it allocated itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from lab.integrity import FLAMES
from lab.units import format_bytes

WIDTH, HEIGHT, TOP = 960, 20, 28
NARROWEST = 0.5
"""Pixels; what is narrower cannot be seen and is not drawn."""

LETTER = 6.6
"""Pixels that a letter takes; a name that does not fit is cut, and whole in the tooltip."""

COLOURS = ("#e69f00", "#f0b840", "#d55e00", "#e57c33", "#cc9966")


@dataclass(slots=True)
class Frame:
    """A function in the picture: what it and all it called hold, in bytes, and the frames it called by name."""

    bytes: int = 0
    inner: dict[str, Frame] = field(default_factory=dict)


def flames_of(run: Path) -> dict[str, str]:
    """Return stem -> folded stacks of every flame in the folder of a run, by stem; {} when it has none."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((run / FLAMES).glob("*.folded"))}


def tree(folded: str) -> Frame:
    """Return the frames that the folded stacks make up; the root holds all bytes.

    >>> root = tree("fill;append 90\\nfill 10\\n")
    >>> root.bytes, root.inner["fill"].bytes, root.inner["fill"].inner["append"].bytes
    (100, 100, 90)
    """
    root = Frame()
    for line in folded.splitlines():
        stack, _, size = line.rpartition(" ")
        frame = root
        frame.bytes += int(size)
        for name in stack.split(";"):
            frame = frame.inner.setdefault(name, Frame())
            frame.bytes += int(size)
    return root


def flame_svg(folded: str, title: str) -> str:
    """Return the picture as SVG: a box a frame, as wide as what it holds, under the frame that called it. O(frames).

    Boxes stand in the order of their names, so that the same stacks give the same picture. No script and no font.
    """
    root = tree(folded)
    boxes = list(_boxes(root, 0.0, WIDTH / root.bytes if root.bytes else 0.0, 0))
    height = TOP + HEIGHT * (1 + max((depth for _, depth, _, _, _ in boxes), default=0))
    size = f'width="{WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="11">',
        f'<text x="4" y="18">{escape(title)}: {format_bytes(root.bytes)}</text>',
    ]
    for number, (name, depth, x, width, held) in enumerate(boxes):
        said = f"{name}: {format_bytes(held)} ({100 * held / root.bytes:.1f} %)"
        y = TOP + HEIGHT * depth
        shown = escape(name[: max(0, int((width - 6) / LETTER))])
        lines.append(
            f'<g><title>{escape(said)}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 1}" '
            f'fill="{COLOURS[number % len(COLOURS)]}"/><text x="{x + 3:.1f}" y="{y + 13}">{shown}</text></g>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _boxes(frame: Frame, left: float, scale: float, depth: int) -> Iterator[tuple[str, int, float, float, int]]:
    """Yield name, depth, left edge, width and bytes of every frame inside that is wide enough to be seen."""
    for name, inner in sorted(frame.inner.items()):
        width = inner.bytes * scale
        if width >= NARROWEST:
            yield name, depth, left, width, inner.bytes
            yield from _boxes(inner, left, scale, depth + 1)
        left += width
