"""The report of a run: its tables and pictures in a folder; and the parts of the README that come from a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.table import Table, markdown

PAGE = "report.md"


def write(
    folder: Path,
    title: str,
    tables: Sequence[Table],
    pictures: Mapping[str, str],
    flames: Mapping[str, str] | None = None,
) -> Path:
    """Write `report.md` and its pictures (name -> SVG) into `folder` and return the page. OSError when it cannot.

    The page shows `pictures` at its top and leads to `flames` at its end. A page that was there is replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in {**pictures, **(flames or {})}.items():
        (folder / name).write_text(svg, encoding="utf-8")
    parts = [f"# {title}", *(f"![{name.removesuffix('.svg')}]({name})" for name in pictures), *map(markdown, tables)]
    if flames:
        links = [f"- [{name.removesuffix('.svg')}]({name})" for name in flames]
        parts.append("\n".join(["### Who holds the memory, at its most", "", *links]))
    page = folder / PAGE
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def renewed(text: str, name: str, content: str) -> str:
    """Return `text` with what stands between the marks of block `name` replaced by `content`.

    ValueError when the marks are not there.

    >>> renewed("a <!-- n --> old <!-- /n --> b", "n", "new")
    'a <!-- n -->\\nnew\\n<!-- /n --> b'
    """
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->).*?(<!-- /{re.escape(name)} -->)", re.S)
    if not pattern.search(text):
        raise ValueError(f"no block {name!r}: expected <!-- {name} --> … <!-- /{name} --> in the page")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text)
