"""The parts of the README that come from a run."""

from __future__ import annotations

import re


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
