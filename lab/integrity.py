"""Whether a run is what the lab wrote: every file of its folder is accounted for, and what is not is named."""

from __future__ import annotations

import re

from lab.manifest import COMPLETE, NAME, RUNNING, Manifest, load
from lab.record import CALLS, CASE_COLUMNS, CASES, EXECUTIONS, case_of
from lab.storage import Flaw, is_temporary, read_pieces, read_table, sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized
    from pathlib import Path
    from typing import Any, TypeVar

    import pyarrow as pa

    Piece = TypeVar("Piece", bound=Sized)

PARTS, RAW, FLAMES, REPORT = "parts", "calls", "flames", "report"
FOLDED = re.compile(r"([^;\n]+(;[^;\n]+)* \d+\n)*")
"""The text of a flame: stacks, `;` between their frames, and the bytes that each held, one a line."""

CASE_NAMES = [column.name for column in CASE_COLUMNS]
TABLES = {f"{EXECUTIONS}.parquet": EXECUTIONS, f"{CASES}.parquet": CASES}


def verify(path: Path) -> list[str]:
    """Return what is wrong with the run in a folder, one sentence a problem, each beginning with the file's name.

    [] means sound. Finds what is truncated, edited, foreign, missing or of a newer schema, in a run of any state; what
    a killed process left under a temporary name is no problem, and the report is no part of the run. Raw calls may be
    absent as a whole, because they are not kept under version control. O(bytes of the run).
    """
    try:
        manifest = load(path)
    except Flaw as flaw:
        return [str(flaw)]
    sealed = manifest.state != RUNNING
    problems = _sealed(path, manifest) if sealed else []
    for file in sorted(item for item in path.rglob("*") if not item.is_dir() or item.is_symlink()):
        name = file.relative_to(path).as_posix()
        if name == NAME or is_temporary(file) or name.startswith(f"{REPORT}/") or (sealed and name in manifest.files):
            continue
        problems += _unlisted(file, name, manifest)
    if sealed and not problems:
        problems += _contents(path, manifest)
    return problems


def read_part(path: Path, name: str, expected: tuple[str, int], sha256: str | None = None) -> pa.Table:
    """Return the rows of one execution; a Flaw when the file is damaged or holds another execution than its name.

    `sha256` is what its content must have, where the list of a sealed run says so.
    """
    table = read_table(path, name, EXECUTIONS, sha256=sha256, with_digest=True)
    try:
        found = executions_in(table)
    except ValueError:
        raise Flaw(f"{name} holds a row that belongs to no case") from None
    if found != {expected}:
        raise Flaw(f"{name} holds other executions than its name says")
    _require_each_once(table, name)
    return table


def require_planned(table: pa.Table, name: str, planned: Sequence[tuple[str, int]]) -> None:
    """Refuse a table of a complete run that is about anything but what the run plans; O(rows).

    A table of executions has each of them, a table of cases no other ones.
    """
    try:
        if "process" in table.column_names:
            fits = executions_in(table) == set(planned)
        else:
            fits = set(_keys(table).values()) <= {key for key, _ in planned}
    except ValueError:
        raise Flaw(f"{name} holds a row that belongs to no case") from None
    if not fits:
        raise Flaw(f"{name} does not hold exactly the executions that {NAME} plans")
    _require_each_once(table, name)


def _require_each_once(table: pa.Table, name: str) -> None:
    own = [*CASE_NAMES, *(each for each in ("process", "operation") if each in table.column_names)]
    if len(_unique(table, own)) != len(table):
        raise Flaw(f"{name} holds a row twice")


def _keys(table: pa.Table) -> dict[tuple[Any, ...], str]:
    """Return the columns of each case -> its key; ValueError for columns that make no case."""
    return {values: case_of(dict(zip(CASE_NAMES, values, strict=True))).key for values in _unique(table, CASE_NAMES)}


def _unique(table: pa.Table, columns: Sequence[str]) -> set[tuple[Any, ...]]:
    """Return the different values that columns have together. (`group_by` of Arrow would load pandas.)"""
    return set(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


def executions_in(table: pa.Table) -> set[tuple[str, int]]:
    """Return (key, process) of every execution that has a row in a table of executions."""
    keys = _keys(table)
    return {(keys[values[:-1]], values[-1]) for values in _unique(table, [*CASE_NAMES, "process"])}


def _sealed(path: Path, manifest: Manifest) -> list[str]:
    """Return what differs from the list that the run was sealed with: size first, because it says more."""
    problems = []
    if manifest.state == COMPLETE:
        problems += [f"{name} is missing from the list in {NAME}" for name in TABLES if name not in manifest.files]
    without_calls = not (path / RAW).is_dir()
    for name, recorded in sorted(manifest.files.items()):
        if without_calls and name.startswith(f"{RAW}/"):
            continue
        file, wanted = path / name, recorded.get("bytes")
        try:
            size = file.stat().st_size
            if size != wanted:
                how = "truncated: it has" if isinstance(wanted, int) and size < wanted else "edited: it has"
                problems.append(f"{name} was {how} {size:,} bytes of {wanted:,}")
            elif sha256_of(file) != recorded.get("sha256"):
                problems.append(f"{name} was edited: its SHA-256 is not the one in {NAME}")
        except FileNotFoundError:
            problems.append(f"{name} is missing")
        except OSError as error:
            problems.append(f"{name} cannot be read ({error.strerror})")
    return problems


def _unlisted(file: Path, name: str, manifest: Manifest) -> list[str]:
    """Return what is wrong with a file that the run's list does not vouch for."""
    if name.startswith(f"{FLAMES}/"):
        return _unlisted_flame(file, name, manifest)
    folder, _, stem = name.removesuffix(".parquet").rpartition("/")
    expected = manifest.stems.get(stem) if name.endswith(".parquet") and not file.is_symlink() else None
    if manifest.state == RUNNING and name in TABLES:
        return []  # a finish was cut off before it was sealed; the parts are still there
    if expected is None or folder not in (PARTS, RAW):
        return [f"{name} does not belong here: this run neither wrote nor plans it"]
    try:
        if folder == PARTS:
            read_part(file, name, expected)
        else:
            _read_through(file, name)
    except Flaw as flaw:
        return [str(flaw)]
    return []


def _unlisted_flame(file: Path, name: str, manifest: Manifest) -> list[str]:
    """Return what is wrong with a flame that no list vouches for yet."""
    stem = name.removeprefix(f"{FLAMES}/").removesuffix(".folded")
    if manifest.state != RUNNING or stem not in manifest.stems or not name.endswith(".folded") or file.is_symlink():
        return [f"{name} does not belong here: this run neither wrote nor plans it"]
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return [f"{name} is no readable text: it was cut off or edited"]
    return [] if FOLDED.fullmatch(text) else [f"{name} holds a line that is no stack and its bytes: it was edited"]


def _read_through(file: Path, name: str) -> None:
    """Read raw calls from end to end; a Flaw says what is wrong with them."""
    for _ in read_pieces(file, name, CALLS):
        pass


def counted(pieces: Iterator[Piece], name: str, expected: int) -> Iterator[Piece]:
    """Pass on the calls of an operation piece by piece; at their end a Flaw unless they are as many as expected."""
    count = 0
    for piece in pieces:
        count += len(piece)
        yield piece
    if count != expected:
        raise Flaw(f"{name} holds {count:,} calls of an operation of which {expected:,} were made: it was edited")


def _contents(path: Path, manifest: Manifest) -> list[str]:
    """Return what is wrong inside files that are, byte for byte, what was sealed: their schema and their executions."""
    problems = []
    for name in sorted(manifest.files):
        folder, _, stem = name.removesuffix(".parquet").rpartition("/")
        if folder == RAW and not (path / RAW).is_dir():
            continue
        try:
            if folder == PARTS:
                read_part(path / name, name, manifest.stems.get(stem, ("", 0)), manifest.files[name]["sha256"])
            elif folder == RAW:
                _read_through(path / name, name)
            elif name in TABLES:
                require_planned(read_table(path / name, name, TABLES[name]), name, manifest.planned)
        except Flaw as flaw:
            problems.append(str(flaw))
    return problems
