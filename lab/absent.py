"""Keeps a package out of a process that another package would load only to look whether it is needed."""

from __future__ import annotations

import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class _Refusal:
    """A finder of modules that says of one of them that it is not there."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def absent(name: str) -> Iterator[None]:
    """Have imports of the module `name` end in ModuleNotFoundError inside the block; no change when it is loaded.

    Whoever remembers that it was not there goes on without it; all others may import it afterwards. (None in its place
    in `sys.modules` would do for Python, but compiled modules take it for the module.)

    >>> with absent("wave"):
    ...     import wave
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'wave'
    """
    refusal = _Refusal(name)
    sys.meta_path.insert(0, refusal)
    try:
        yield
    finally:
        sys.meta_path.remove(refusal)
