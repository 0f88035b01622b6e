"""Files that are whole or not there: written under another name and renamed, and checked when they are read.

What is wrong with a file is a `Flaw`: a sentence that begins with the file's name in its run.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress

from lab.record import CALLS, OWNER, SchemaError, accept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    import pyarrow as pa

TEMPORARY = ".tmp"
ROWS_DIGEST = b"timer-queue-lab.rows_sha256"


class Flaw(Exception):
    """What is wrong with one file of a run: one sentence that begins with the file's name."""


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file so that it is there whole or not at all, whatever is killed when; O(bytes).

    The content goes to a name that no reader looks at, in the same folder, is flushed to the disk and renamed.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def temporary_name(path: Path) -> Path:
    """Return the name under which a file is written before it is whole."""
    return path.with_name(f".{path.name}{TEMPORARY}")


def is_temporary(path: Path) -> bool:
    """Return whether this is what a killed process left of a file that it was writing."""
    return path.name.startswith(".") and path.name.endswith(TEMPORARY)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content; O(bytes), a mebibyte at a time."""
    digest = hashlib.sha256()
    for piece in _pieces(path):
        digest.update(piece)
    return digest.hexdigest()


def digest_of(plain: Any) -> str:
    """Return the SHA-256 of plain JSON data, the same for the same data in any order of its names."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_table(path: Path, table: pa.Table, *, with_digest: bool = False) -> None:
    """Write a table as Parquet (zstd, page checksums), whole or not at all.

    `with_digest` adds a digest of the rows to the metadata: for the small files of an unfinished run, which no
    run.json vouches for yet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if with_digest:
        metadata = {**(table.schema.metadata or {}), ROWS_DIGEST: digest_of(table.to_pylist()).encode()}
        table = table.replace_schema_metadata(metadata)
    counting = (table.schema.metadata or {}).get(OWNER) == CALLS.encode()  # its index counts up: deltas are smallest
    buffer = pa.BufferOutputStream()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        write_page_checksum=True,
        use_dictionary=["operation", "ns"] if counting else True,
        column_encoding={"index": "DELTA_BINARY_PACKED"} if counting else None,
    )
    write_whole(path, memoryview(buffer.getvalue()))


def read_table(path: Path, name: str, table: str, *, sha256: str | None = None) -> pa.Table:
    """Return a table of the lab from its file, in today's shape; O(bytes).

    Flaw when the file is not there, cut off, edited, of another tool or of a newer version. `name` is what the file is
    called in the sentence, `sha256` what its content must have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Flaw(f"{name} is missing") from None
    except OSError as error:
        raise Flaw(f"{name} cannot be read ({error.strerror})") from None
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise Flaw(f"{name} is not what was written: its content was cut off or edited")
    try:
        stored = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read(use_threads=False)
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError):
        raise Flaw(f"{name} is no readable Parquet file: it was cut off, edited or written by something else") from None
    digest = (stored.schema.metadata or {}).get(ROWS_DIGEST)
    try:
        if digest is not None and digest_of(stored.to_pylist()).encode() != digest:
            raise Flaw(f"{name} is not what was written: its rows were edited")
        return accept(stored, table)
    except SchemaError as error:
        raise Flaw(f"{name} does not belong here: {error}") from None
    except (TypeError, ValueError):
        raise Flaw(f"{name} is not what was written: its rows were edited") from None


def lock(folder: Path) -> int | None:
    """Take the folder for this process alone; the descriptor returned holds it until it is closed or the process ends.

    BlockingIOError when another one has it. None where the system or the file system knows no such lock.
    """
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:  # such as a network file system without locks
        os.close(descriptor)
        return None
    return descriptor


def unlock(descriptor: int | None) -> None:
    """Give the folder back that `lock` took; None is nothing to give back."""
    if descriptor is not None:
        os.close(descriptor)


def new_folder(parent: Path, name: str) -> Path:
    """Make and return a folder that was not there; the second of the same name ends in -2."""
    number = 1
    while True:
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(2**20):
            yield piece


def _flush_folder(folder: Path) -> None:
    """Flush a folder, so that a rename survives a power cut where the system can promise that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
