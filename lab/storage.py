"""Files that are whole or not there: written under another name and renamed, and checked when they are read.

What is wrong with a file is a `Flaw`: a sentence that begins with the file's name in its run.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager, suppress

from lab.record import CALLS, OWNER, SchemaError, accept, calls_tables, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, BinaryIO

    import pyarrow as pa
    from numpy.typing import ArrayLike

TEMPORARY = ".tmp"
ROWS_DIGEST = b"timer-queue-lab.rows_sha256"
PIECE = 2**16
"""Rows of a table that are in memory at one time where it is read in pieces."""


class Flaw(Exception):
    """What is wrong with one file of a run: one sentence that begins with the file's name."""


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file so that it is there whole or not at all, whatever is killed when; O(bytes)."""
    with writing_whole(path) as file:
        file.write(content)


@contextmanager
def writing_whole(path: Path, *, flush_name: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write to that takes the place of `path` when all is written, whatever is killed when.

    The content goes to a name that no reader looks at, in the same folder, is flushed to the disk and renamed. The new
    name is flushed as well, unless a power cut may take it: what is lost then is measured again.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    if flush_name:
        flush_folder(path.parent)


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
    run.json vouches for yet. Their names are flushed when the run is sealed, and they are not compressed.
    """
    if with_digest:
        metadata = {**(table.schema.metadata or {}), ROWS_DIGEST: digest_of(table.to_pylist()).encode()}
        table = table.replace_schema_metadata(metadata)
    write_tables(path, table.schema, [table], flush_name=not with_digest, compact=not with_digest)


def write_calls(path: Path, calls: Mapping[str, ArrayLike]) -> None:
    """Write raw calls, operation -> its ns in order, whole or not at all; ValueError as for `calls_tables`."""
    write_tables(path, schema(CALLS), calls_tables(calls), flush_name=False)


def write_tables(
    path: Path, shape: pa.Schema, tables: Iterable[pa.Table], *, flush_name: bool = True, compact: bool = True
) -> None:
    """Write tables of one schema as one, each as it comes, so that no more than one need be in memory.

    `compact` is for what stays; in a row or two there is nothing to compress, and to try takes its time.
    """
    import pyarrow.parquet as pq

    counting = (shape.metadata or {}).get(OWNER) == CALLS.encode()  # its index counts up: deltas are smallest
    options: dict[str, Any] = {
        "compression": "zstd" if compact else "none",
        "write_page_checksum": True,
        "use_dictionary": ["operation", "ns"] if counting else compact,
        "column_encoding": {"index": "DELTA_BINARY_PACKED"} if counting else None,
    }
    with writing_whole(path, flush_name=flush_name) as file, pq.ParquetWriter(file, shape, **options) as writer:
        for table in tables:
            writer.write_table(table)


def read_table(path: Path, name: str, table: str, *, sha256: str | None = None, with_digest: bool = False) -> pa.Table:
    """Return a table of the lab from its file, in today's shape; O(bytes).

    Flaw when the file is not there, cut off, edited, of another tool or of a newer version. `name` is what the file is
    called in the sentence, `sha256` what its content must have; `with_digest` says that its rows must have a digest.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _system(name):
        content = path.read_bytes()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise Flaw(f"{name} is not what was written: its content was cut off or edited")
    with _parquet(name):
        stored = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read(use_threads=False)
    digest = (stored.schema.metadata or {}).get(ROWS_DIGEST)
    try:
        if digest is not None and digest_of(stored.to_pylist()).encode() != digest:
            raise Flaw(f"{name} is not what was written: its rows were edited")
        accepted = accept(stored, table)
    except SchemaError as error:
        raise Flaw(f"{name} does not belong here: {error}") from None
    except (TypeError, ValueError):
        raise Flaw(f"{name} is not what was written: its rows were edited") from None
    if with_digest and digest is None:
        raise Flaw(f"{name} is not what was written: the digest of its rows is gone")
    return accepted


def read_pieces(path: Path, name: str, table: str, *, sha256: str | None = None) -> Iterator[pa.Table]:
    """Yield a table of the lab from its file, `PIECE` rows at a time, in today's shape; the Flaws of `read_table`.

    For raw calls, which have no digest of their rows. With `sha256` nothing is yielded of a file that is not what was
    written, without it everything before the damage. O(bytes) of time, O(a piece) of memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _system(name):
        found = sha256_of(path) if sha256 is not None else None
        file = path.open("rb")
    if found != sha256:
        file.close()
        raise Flaw(f"{name} is not what was written: its content was cut off or edited")
    with file:
        with _parquet(name):
            stored = pq.ParquetFile(file, page_checksum_verification=True)
            batches = stored.iter_batches(PIECE, use_threads=False)
        try:
            accept(pa.Table.from_batches([], stored.schema_arrow), table)
            while (batch := _next_batch(batches, name)) is not None:
                yield accept(pa.Table.from_batches([batch], stored.schema_arrow), table)
        except SchemaError as error:
            raise Flaw(f"{name} does not belong here: {error}") from None


def _next_batch(batches: Iterator[pa.RecordBatch], name: str) -> pa.RecordBatch | None:
    with _parquet(name):
        return next(batches, None)


@contextmanager
def _system(name: str) -> Iterator[None]:
    """Turn what the system says of a file into a flaw."""
    try:
        yield
    except FileNotFoundError:
        raise Flaw(f"{name} is missing") from None
    except OSError as error:
        raise Flaw(f"{name} cannot be read ({error.strerror})") from None


@contextmanager
def _parquet(name: str) -> Iterator[None]:
    """Turn what Arrow says of a file's content into a flaw."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError):
        raise Flaw(f"{name} is no readable Parquet file: it was cut off, edited or written by something else") from None


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


def flush_folder(folder: Path) -> None:
    """Flush a folder, so that renames in it survive a power cut where the system can promise that.

    A folder that is not there is passed over.
    """
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
