"""The stored counts of the regression check: a small file for each version of Python, under version control.

Counts are exact, so every difference to the baseline is a change of the queue or of the interpreter. Instructions are
not in it: they belong to one build of the interpreter and of libc. A baseline is never made in silence, only by
`lab reattach --accept`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.storage import write_whole
from lab.units import format_count
from runners.guard import size_of

FOLDER = Path(__file__).resolve().parent.parent / "results" / "baselines"
KIND = "timer-queue-lab baseline of counts"
VERSION = 1
WORDS = {"bytecodes": "bytecodes", "allocated_blocks": "blocks left"}
"""Column -> what it counts, in words."""

Counts = dict[str, float]
"""subject/operation/k/column -> the count of one call."""


class BaselineError(Exception):
    """A baseline that cannot be read or written; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The counts that are stored for one version of Python, and the version that they were made with."""

    python: str
    counts: Counts

    def knows(self, subject: str) -> bool:
        """Return whether anything is stored of a subject."""
        return any(key.startswith(f"{subject}/") for key in self.counts)


@dataclass(frozen=True, slots=True)
class Change:
    """One count that is not what the baseline has."""

    key: str
    was: float
    now: float

    @property
    def operation(self) -> str:
        """The operation that it is a count of."""
        return self.key.split("/")[1]

    @property
    def sentence(self) -> str:
        """The change in words.

        >>> Change("linked/take/1000/bytecodes", 9, 11).sentence
        'linked take at k = 1,000: 11 bytecodes, the baseline has 9 (+2)'
        """
        subject, operation, k, column = self.key.split("/")
        now = f"{self.now:g} {WORDS[column]}, the baseline has {self.was:g} ({self.now - self.was:+g})"
        return f"{subject} {operation} at k = {format_count(int(k))}: {now}"


def path_of(python: str, folder: Path = FOLDER) -> Path:
    """Return the file of the baseline of a version of CPython, the interpreter that shows its bytecodes.

    >>> path_of("3.11.7").name
    'cpython-3.11.json'
    """
    return folder / f"cpython-{'.'.join(python.split('.')[:2])}.json"


def counts_of(rows: Iterable[Mapping[str, Any]]) -> Counts:
    """Return the counts of one call of everything that the rows of a run have counted, but of no instructions."""
    return {
        f"{row['subject']}/{row['operation']}/{size_of(row['params'])}/{column}": _per_call(row[column], row["n"])
        for row in rows
        if row["kind"] == "counts" and row["status"] == "ok"
        for column in WORDS
        if row[column] is not None
    }


def _per_call(count: int, calls: int) -> float:
    whole, rest = divmod(count, calls)
    return count / calls if rest else whole


def load(path: Path) -> Baseline | None:
    """Return the baseline in a file, None when there is no such file; BaselineError for a file that is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if (content["kind"], content["schema_version"]) != (KIND, VERSION):
            raise ValueError(f"kind {content['kind']!r}, version {content['schema_version']!r}")
        counts = {str(key): float(count) for key, count in content["counts"].items()}
        if any(len(key.split("/")) != 4 or key.split("/")[3] not in WORDS for key in counts):
            raise ValueError("a count of something else")
        return Baseline(str(content["python"]), counts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BaselineError(
            f"{path} is no baseline of version {VERSION} ({error}): restore it, or delete it and accept a new one"
        ) from None


def changes(stored: Counts, found: Counts) -> list[Change]:
    """Return every count of `found` that differs from the stored one, in order; what is not stored is no change.

    >>> [change.key for change in changes({"linked/take/10/bytecodes": 9}, {"linked/take/10/bytecodes": 11})]
    ['linked/take/10/bytecodes']
    """
    return [Change(key, stored[key], now) for key, now in found.items() if stored.get(key, now) != now]


def accept(path: Path, python: str, found: Counts, stored: Baseline | None) -> None:
    """Write `found` over what is stored of its subjects and leave the others; BaselineError if it cannot be written."""
    renewed = {key.split("/")[0] for key in found}
    kept = {key: count for key, count in (stored.counts if stored else {}).items() if key.split("/")[0] not in renewed}
    counts = {key: int(count) if count == int(count) else count for key, count in {**kept, **found}.items()}
    content = {"kind": KIND, "schema_version": VERSION, "python": python, "counts": counts}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{json.dumps(content, indent=1, sort_keys=True)}\n".encode())
    except OSError as error:
        raise BaselineError(f"{path} cannot be written ({error.strerror}): name a folder with --baselines") from None
