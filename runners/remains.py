"""What a worker has left in its folder, read with distrust: its queue may have put anything there instead.

Only a plain file that lies in the folder itself is opened: no link, no pipe that nobody writes to, no place elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STATUSES = frozenset({"ok", "check-failed", "not-offered", "error"})
"""What a worker says of itself."""

LONGEST_RESULT_BYTES = 64 << 20
LONGEST_MESSAGE = 400
"""Characters of what a queue has to say that are kept."""

NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+.-]*")

WRONG = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises where something else lies there than a worker leaves."""


class Unreadable(Exception):
    """A worker said that it had ended well, and what it left cannot be read. Its text is one sentence."""


@contextmanager
def reading() -> Iterator[None]:
    """Turn what goes wrong while a worker's figures are read into Unreadable."""
    try:
        yield
    except WRONG as error:
        raise Unreadable(f"left figures that cannot be read ({in_words(f'{type(error).__name__}: {error}')})") from None


def opened(path: Path) -> BinaryIO:
    """Open a file for reading; OSError when it is not there or is no plain file, ValueError for another name."""
    if not NAME.fullmatch(path.name):
        raise ValueError(f"{path.name!r} is no name of a worker's file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is no plain file")
    return open(descriptor, "rb")  # noqa: PTH123 - of a descriptor


def content(path: Path, most: int = LONGEST_RESULT_BYTES) -> bytes:
    """Return what is in a file; the errors of `opened`, and ValueError when it is longer than `most`."""
    with opened(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"{path.name} is longer than {most:,} bytes")
    return found


def samples(folder: Path, name: str) -> NDArray[np.int64]:
    """Return the whole numbers in a file of samples; the errors of `opened`, and ValueError for half a number."""
    import numpy as np  # an interpreter that is only asked for its promises need not have it

    if os.sep in name:
        raise ValueError(f"{name!r} is no name of a worker's file")
    with opened(folder / name) as file:
        size = os.fstat(file.fileno()).st_size
        if size % 8:
            raise ValueError(f"{name} has {size:,} bytes: expected 8 for each sample")
        return np.fromfile(file, dtype=np.int64)


def result_of(path: Path) -> dict[str, Any] | None:
    """Return what a worker says came of its case; None when it says nothing that can be read."""
    try:
        found = json.loads(content(path))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("status", "ok") not in STATUSES:
        return None
    return found


def in_words(text: str) -> str:
    """Return what a queue has to say so that it can be shown and stored: in one line, not long, no control characters.

    >>> in_words("no such\\nword \\x1b[2J"), len(in_words("x" * 10_000))
    ('no such word ?[2J', 400)
    """
    line = " ".join(text[: 10 * LONGEST_MESSAGE].split())
    shown = "".join(character if character.isprintable() else "?" for character in line)
    return shown if len(shown) <= LONGEST_MESSAGE else f"{shown[: LONGEST_MESSAGE - 1]}…"
