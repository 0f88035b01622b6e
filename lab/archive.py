"""The archive of runs: every run a folder that is valid at every moment and goes on where it stopped.

    results/<machine>/<utc>-<suite>/run.json               what it is, what it plans, its state, its files' digests
                                    parts/<stem>.parquet   rows of one execution, until the run is complete
                                    calls/<stem>.parquet   raw calls of one execution
                                    executions.parquet     all rows, once complete
                                    cases.parquet          structural worst calls, once complete
                                    flames/<stem>.folded   who held the most memory, of a case that memray watched

A part is renamed into place after its calls, so an execution is recorded whole or not at all. Longer than 300 lines:
the life of a run, begun, recorded, gone on with and sealed, is one protocol.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lab.case import WORD, Execution
from lab.environment import scrub, scrub_plain, utc_now
from lab.integrity import FLAMES, PARTS, RAW, TABLES
from lab.integrity import verify as verify
from lab.manifest import COMPLETE, INTERRUPTED, RUNNING, STATES, Manifest, load, save
from lab.manifest import find_runs as find_runs
from lab.record import CASES, EXECUTIONS, SchemaError, execution_columns, table_of
from lab.recorded import ArchiveError as ArchiveError
from lab.recorded import Recorded, in_order, reading, writing
from lab.storage import (
    Flaw,
    flush_folder,
    is_temporary,
    lock,
    new_folder,
    sha256_of,
    unlock,
    write_calls,
    write_table,
    write_whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any

    import pyarrow as pa
    from numpy.typing import ArrayLike

MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CHECK = re.compile(r"-reattach(-\d+)?$")  # how the folder of a run ends that is a check of the lab and no suite
SAME_MACHINE = ("processor", "architecture", "cores", "kernel", "implementation", "python", "commit")
"""What may not change between the first and the last execution of a run."""


def create(
    root: Path,
    machine: str,
    suite: str,
    *,
    seed: int,
    options: Mapping[str, Any],
    environment: Mapping[str, Any],
    planned: Sequence[Execution],
) -> Run:
    """Make the folder of a new run and return the run, open for writing and locked.

    Two runs of the same second get different folders. Paths, host and user names in the options are scrubbed.
    ArchiveError when the folder cannot be written; ValueError for a machine or suite that makes no folder name, and for
    a plan that is empty or has an execution twice.
    """
    if not MACHINE.fullmatch(machine) or not WORD.fullmatch(suite):
        raise ValueError(f"{machine!r} and {suite!r} make no folder name: expected letters, digits, dots and dashes")
    ids = [execution.id for execution in planned]
    if not ids or len(set(ids)) != len(ids):
        raise ValueError(
            f"a plan of {len(ids)} executions, {len(set(ids))} different: expected each once, at least one"
        )
    manifest = Manifest(
        machine=machine,
        suite=suite,
        seed=seed,
        options=scrub_plain(dict(options)),
        environment=dict(environment),
        planned=ids,
        targets={execution.key: execution.case.target for execution in planned if execution.case.target},
        started_utc=utc_now(),
    )
    with writing(root):
        (root / machine).mkdir(parents=True, exist_ok=True)
        path = new_folder(root / machine, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{suite}")
        run = Run(path, manifest, held=lock(path), writable=True)
        for folder in (PARTS, RAW):
            (path / folder).mkdir()
        save(path, manifest)
    return run


def open_run(path: Path) -> Run:
    """Return the run in a folder for reading; ArchiveError when there is none, it is damaged, foreign or newer."""
    with reading(path):
        return Run(path, load(path))


def resume(path: Path, planned: Sequence[Execution] | None = None, environment: Mapping[str, Any] | None = None) -> Run:
    """Return an unfinished run, open for writing and locked, with everything that it has recorded.

    `planned` (in any order) and the facts of `environment` that decide must be the run's own, where they are given.
    ArchiveError when they are not, when the run is complete, or when another process is writing it.
    """
    run = open_run(path)
    if run.state == COMPLETE:
        raise ArchiveError(f"{path} is complete: there is nothing left to do, start a new run instead")
    if planned is not None:
        _require_same_plan(run, planned)
    if environment is not None:
        _require_same_machine(run, environment)
    with writing(path), reading(path):
        held = lock(path)
        try:
            manifest = load(path)  # again: from now on nobody else changes it
            manifest.state, manifest.ended_utc, manifest.files = RUNNING, None, {}
            save(path, manifest)
            for folder in (PARTS, RAW):
                (path / folder).mkdir(exist_ok=True)
            for leftover in [*filter(is_temporary, path.rglob(".*")), *(path / name for name in TABLES)]:
                leftover.unlink(missing_ok=True)
        except BaseException:
            unlock(held)
            raise
    return Run(path, manifest, held=held, writable=True)


def newest(root: Path, *, unfinished: bool = False) -> Path:
    """Return the folder of the newest run, or of the newest that can be resumed; ArchiveError when there is none.

    A run of a check, which has figures of its own few cases alone, is passed over where there is another one, and it
    is never resumed.
    """
    every = find_runs(root)
    found = [path for path in every if not CHECK.search(path.name)]
    if not unfinished:
        found = found or every
        if not found:
            raise ArchiveError(f"there is no run in {root}: make one with `make bench-quick` or name another folder")
        return found[-1]
    for path in reversed(found):
        with suppress(Flaw):
            if load(path).state != COMPLETE:
                return path
    raise ArchiveError(f"there is no unfinished run in {root}: start one with `lab run`")


class Run(Recorded):
    """One run, made by `create`, `open_run` or `resume`: what `Recorded` reads, and the writing of it.

    As a context manager it gives up writing at the end.
    """

    def __init__(self, path: Path, manifest: Manifest, *, held: int | None = None, writable: bool = False) -> None:
        super().__init__(path, manifest)
        self._held = held
        self._writable = writable
        self._plan = frozenset(manifest.planned)
        self._done: set[tuple[str, int]] | None = None
        self._written: dict[str, tuple[str, pa.Table]] = {}  # name of a part -> SHA-256 of its file, and its rows

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def done(self) -> set[tuple[str, int]]:
        """Return (key, process) of all that is recorded; the writer of a run reads the parts once and then knows."""
        if not self._writable:
            return super().done()
        if self._done is None:
            self._done = super().done()
        return set(self._done)

    def record(
        self, execution: Execution, rows: Sequence[Mapping[str, Any]], calls: Mapping[str, ArrayLike] | None = None
    ) -> None:
        """Store the rows of one execution and its raw calls (operation -> ns in order), whole or not at all.

        A second record of the same execution replaces the first. The columns that follow from the execution are filled
        in, `message` is "" unless given, and paths, host and user names in it are scrubbed. SchemaError (a ValueError)
        for rows that do not fit; ValueError for an execution that is not planned, no row at all, an operation twice or
        calls without a row; ArchiveError when it cannot be written.
        """
        self._require_writable()
        if execution.id not in self._plan:
            raise ValueError(f"{execution.key}, process {execution.process}, is not planned in this run")
        table = table_of(_row(execution, row) for row in rows)
        operations = table.column("operation").to_pylist()
        if not operations or len(set(operations)) != len(operations):
            raise ValueError(f"rows for the operations {operations}: expected at least one row, each operation once")
        if not set(calls or ()) <= set(operations):
            raise ValueError(
                f"calls of {sorted(set(calls or ()) - set(operations))}: expected a row for each operation"
            )
        raw = self.path / RAW / f"{execution.stem}.parquet"
        part = self.path / PARTS / raw.name
        with writing(self.path):
            part.unlink(missing_ok=True)  # a part never stands beside the calls of another attempt
            if calls:
                write_calls(raw, calls)
            else:
                raw.unlink(missing_ok=True)
            write_table(part, table, with_digest=True)
            self._written[f"{PARTS}/{part.name}"] = sha256_of(part), table
        if self._done is not None:
            self._done.add(execution.id)

    def _part(self, name: str, identity: tuple[str, int]) -> pa.Table:
        """Return the rows of a part; what this process has written, byte for byte, it need not decode again."""
        sha256, table = self._written.get(name, ("", None))
        with suppress(OSError):
            if table is not None and sha256_of(self.path / name) == sha256:
                return table
        return super()._part(name, identity)

    def keep_flame(self, execution: Execution, folded: str) -> None:
        """Store who held how many bytes in an execution, as folded stacks; before it is recorded, whole or not at all.

        ValueError for an execution that is not planned; ArchiveError when it cannot be written.
        """
        self._require_writable()
        if execution.id not in self._plan:
            raise ValueError(f"{execution.key}, process {execution.process}, is not planned in this run")
        with writing(self.path):
            (self.path / FLAMES).mkdir(exist_ok=True)
            write_whole(self.path / FLAMES / f"{execution.stem}.folded", folded.encode())

    def finish(self, state: str | None = None) -> str:
        """End the run and return its state; None chooses "complete" when everything planned is recorded.

        A complete run is compacted into its two tables; an interrupted one keeps its parts and can be resumed. Both are
        sealed: run.json lists every file with its digest. ArchiveError for "complete" with executions left, and when
        it cannot be written. O(bytes of the run).
        """
        self._require_writable()
        parts = self._parts()  # what counts is what can be read back
        recorded = {identity for identity, _ in parts}
        left = [identity for identity in self.planned if identity not in recorded]
        state = state or (INTERRUPTED if left else COMPLETE)
        if state not in (COMPLETE, INTERRUPTED):
            raise ValueError(f"{state!r} is no state of a finished run: expected {' or '.join(STATES[1:])}")
        if state == COMPLETE and left:
            raise ArchiveError(f"{self.path} has {len(left)} executions left, such as {left[0][0]}: resume it first")
        with writing(self.path):
            if state == COMPLETE:
                rows = in_order(parts)
                write_table(self.path / f"{EXECUTIONS}.parquet", rows)
                write_table(self.path / f"{CASES}.parquet", self._cases_of(rows))
            self._seal(state)
        self.close()
        return state

    def close(self) -> None:
        """Give up writing, and the lock, without finishing; harmless when there is nothing to give up."""
        self._writable = False
        unlock(self._held)
        self._held = None

    def _seal(self, state: str) -> None:
        """Write the state and the list of files; from that moment on the parts of a complete run are not needed."""
        names = list(TABLES) if state == COMPLETE else [f"{PARTS}/{stem}.parquet" for stem in self._manifest.stems]
        names += [f"{RAW}/{stem}.parquet" for stem in self._manifest.stems]
        names += [f"{FLAMES}/{stem}.folded" for stem in self._manifest.stems]
        files = ((name, self.path / name) for name in names)
        listed = {
            name: {"sha256": sha256_of(file), "bytes": file.stat().st_size} for name, file in files if file.exists()
        }
        for folder in (PARTS, RAW):
            flush_folder(self.path / folder)
        sealed = replace(self._manifest, state=state, ended_utc=utc_now(), files=listed)
        save(self.path, sealed)
        self._manifest = sealed
        if state == COMPLETE:
            for stem in self._manifest.stems:
                (self.path / PARTS / f"{stem}.parquet").unlink(missing_ok=True)
            with suppress(OSError):  # somebody else's file is in it: `verify` names it
                (self.path / PARTS).rmdir()

    def _require_writable(self) -> None:
        if not self._writable:
            raise ArchiveError(f"{self.path} is open for reading only: resume it to go on with it")


def _row(execution: Execution, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the columns of its execution; SchemaError when it says something else about them."""
    known = execution_columns(execution)
    for name, value in known.items():
        if row.get(name, value) != value:
            raise SchemaError(f"a row has {row[name]!r} in the column {name!r}, but its execution has {value!r}")
    message = row.get("message", "")
    written = {**row, **known, "message": scrub(message) if isinstance(message, str) else message}
    return {**written, "facts": scrub_plain(row["facts"])} if "facts" in row else written


def _require_same_plan(run: Run, planned: Sequence[Execution]) -> None:
    own, given = set(run.planned), {execution.id for execution in planned}
    for missing, whose in ((own - given, "the run"), (given - own, "the command")):
        if missing:
            key, process = min(missing)
            raise ArchiveError(f"{run.path} has another plan: only {whose} has {key}, process {process}")


def _require_same_machine(run: Run, environment: Mapping[str, Any]) -> None:
    for name in SAME_MACHINE:
        own, given = run.environment.get(name), environment.get(name)
        if own != given:
            raise ArchiveError(f"{run.path} was begun with {name} {own!r}, not {given!r}: start a new run instead")
