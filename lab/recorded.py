"""A run as it lies in its folder, for reading: its rows, its raw calls and its structural worst calls.

The answers are the same while a run is under way, after it was stopped and after it was compacted.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress

from lab.case import Case, stem_of
from lab.integrity import PARTS, RAW, counted, read_part, require_planned
from lab.manifest import COMPLETE, NAME, Manifest, load
from lab.record import CALLS, CASE_COLUMNS, CASES, EXECUTIONS, case_of, schema, table_of
from lab.storage import Flaw, read_pieces, read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from lab.worst import Slowest

    Identity = tuple[str, int]

GROUP = (*(column.name for column in CASE_COLUMNS), "operation")


class ArchiveError(Exception):
    """Something about a run or the results folder that the user can put right; the message is one sentence."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a flaw of a file of the run at `path` into an ArchiveError that names the run and the next step."""
    try:
        yield
    except Flaw as flaw:
        raise ArchiveError(f"{path}: {flaw} (`lab verify` lists everything that is wrong with a run)") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system refuses while `path` is written into an ArchiveError."""
    try:
        yield
    except BlockingIOError:
        raise ArchiveError(
            f"{path} is being written by another process: wait until that one ends, or stop it"
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ArchiveError(f"{path} cannot be written ({why}): name a folder that you may write to") from None


class Recorded:
    """The run in a folder, for reading.

    `path` is its folder, `name` that folder's name; machine, suite, seed, options, environment, targets (key ->
    "module:Class" of a user's queue), started_utc and planned ((key, process) in order) are as it was started with.
    `ignored` holds a sentence on every part that was damaged when the parts were last read. `causes` (key -> operation
    -> call -> cause) is what the slowest calls were explained by; `cases` says so.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.name = path.name
        self.machine = manifest.machine
        self.suite = manifest.suite
        self.seed = manifest.seed
        self.options = manifest.options
        self.environment = manifest.environment
        self.targets = manifest.targets
        self.started_utc = manifest.started_utc
        self.planned = manifest.planned
        self.ignored: list[str] = []
        self.causes: dict[str, dict[str, dict[int, str]]] = {}
        self._manifest = manifest

    @property
    def state(self) -> str:
        """running, complete or interrupted; "running" without a writer is a run whose process was killed."""
        return self._manifest.state

    @property
    def ended_utc(self) -> str | None:
        """When it was finished; None while it is running."""
        return self._manifest.ended_utc

    def done(self) -> set[Identity]:
        """Return (key, process) of all that is recorded; a damaged part is not, and `ignored` names it. O(parts)."""
        parts = self._recorded()
        return set(self.planned) if parts is None else {identity for identity, _ in parts}

    def left(self) -> list[Identity]:
        """Return (key, process) of all that is not recorded yet, in the order of the plan."""
        done = self.done()
        return [identity for identity in self.planned if identity not in done]

    def rows(self) -> pa.Table:
        """Return one row per execution and operation recorded so far, by `position`, else in the order of the plan.

        Damaged parts are left out and named in `ignored`. ArchiveError when the table of a complete run is damaged.
        """
        parts = self._recorded()
        return self._table(EXECUTIONS) if parts is None else in_order(parts)

    def rows_of(self, key: str) -> list[dict[str, Any]]:
        """Return the rows of one case by process, as plain data; damaged parts are left out. O(rows of the case)."""
        if self.state == COMPLETE:
            return [row for row in self.rows().to_pylist() if case_of(row).key == key]
        found = []
        for process in sorted(process for planned, process in self.planned if planned == key):
            name = f"{PARTS}/{stem_of(key, process)}.parquet"
            if (self.path / name).exists():
                with suppress(Flaw):
                    found += self._part(name, (key, process)).to_pylist()
        return found

    def slowest_of(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Slowest]:
        """Return operation -> its slowest calls, from the rows of one case that are ok.

        An operation without raw calls, or with unequal ones, is left out. O(calls of the case).
        """
        operations: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            operations.setdefault(row["operation"], []).append(row)
        found = {operation: self._slowest(members) for operation, members in operations.items()}
        return {operation: slow for operation, slow in found.items() if slow is not None}

    def frame(self) -> pd.DataFrame:
        """Return `rows` as a pandas frame with the column `key` in front; whole numbers with nulls become floats."""
        table = self.rows()
        keys = [case_of(row).key for row in table.select(GROUP).to_pylist()]
        frame: pd.DataFrame = table.to_pandas()
        frame.insert(0, "key", keys)
        return frame

    def cases(self) -> pa.Table:
        """Return one row per case and operation that has an execution that is ok, with its structural worst call.

        For an unfinished run it is worked out from the calls so far: O(all calls), a piece of each process in memory.
        """
        rows = None if self.state == COMPLETE else self.rows()  # which may find that it is complete by now
        return self._table(CASES) if rows is None or self.state == COMPLETE else self._cases_of(rows)

    def calls(self, case: Case, operation: str) -> dict[int, NDArray[np.int64]]:
        """Return process -> the ns of every call of an operation, in order; {} where raw calls were not kept.

        ArchiveError when a file of calls is damaged. O(calls).
        """
        import numpy as np

        pieces = {process: list(samples) for process, samples in self.pieces(case, operation).items()}
        return {process: np.concatenate(found) for process, found in pieces.items() if found}

    def pieces(self, case: Case, operation: str) -> dict[int, Iterator[NDArray[np.int64]]]:
        """Return what `calls` does with the ns of each process a piece at a time.

        What is wrong with a file is found when its first piece is asked for, or at the piece where it is. O(a piece)
        of memory for each process.
        """
        wanted = case.key  # worked out once: a plan has thousands
        stems = {process: case.stem(process) for key, process in self.planned if key == wanted}
        found = {process: self._samples(stems[process], operation) for process in sorted(stems)}
        return {process: self._named(samples) for process, samples in found.items() if samples is not None}

    def _named(self, pieces: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
        with reading(self.path):
            yield from pieces

    def _cases_of(self, rows: pa.Table) -> pa.Table:
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for row in rows.to_pylist():
            if row["status"] == "ok":
                groups.setdefault(tuple(row[name] for name in GROUP), []).append(row)
        named = ((dict(zip(GROUP, group, strict=True)), members) for group, members in groups.items())
        return table_of(({**names, **self._worst(members)} for names, members in named), CASES)

    def _recorded(self) -> list[tuple[Identity, pa.Table]] | None:
        """Return the sound parts; None when the run is complete, should it have become so while they were read.

        Who writes it takes the parts away when all of them are in its tables, and says so in run.json before.
        """
        if self.state == COMPLETE:
            return None
        parts = self._parts()
        if len(parts) == len(self.planned):
            return parts
        with suppress(Flaw):
            manifest = load(self.path)
            if manifest.state == COMPLETE:
                self._manifest, self.ignored = manifest, []
                return None
        return parts

    def _parts(self) -> list[tuple[Identity, pa.Table]]:
        """Return (key, process) and rows of every sound part in the order of the plan."""
        found = []
        self.ignored = [sentence for sentence in self.ignored if not sentence.startswith(f"{PARTS}/")]
        for key, process in self.planned:
            name = f"{PARTS}/{stem_of(key, process)}.parquet"
            if self._should_be_there(name):
                try:
                    found.append(((key, process), self._part(name, (key, process))))
                except Flaw as flaw:
                    self.ignored = list(dict.fromkeys([*self.ignored, str(flaw)]))
        return found

    def _part(self, name: str, identity: Identity) -> pa.Table:
        return read_part(self.path / name, name, identity, self._listed(name))

    def _should_be_there(self, name: str) -> bool:
        """Return whether a file can be expected: it is there, if only as a link to nothing, or the run lists it."""
        path = self.path / name
        return path.exists() or path.is_symlink() or (self._listed(name) is not None and path.parent.is_dir())

    def _table(self, table: str) -> pa.Table:
        name = f"{table}.parquet"
        with reading(self.path):
            if self._listed(name) is None:
                raise Flaw(f"{name} is missing from the list in {NAME}")
            found = read_table(self.path / name, name, table, sha256=self._listed(name))
            require_planned(found, name, self.planned)
            return found

    def _listed(self, name: str) -> str | None:
        found: str | None = self._manifest.files.get(name, {}).get("sha256")
        return found

    def _samples(self, stem: str, operation: str) -> Iterator[NDArray[np.int64]] | None:
        """Return the calls of an operation in one process piece by piece; None where its raw calls were not kept."""
        name = f"{RAW}/{stem}.parquet"
        return self._pieces(name, operation) if self._should_be_there(name) else None

    def _pieces(self, name: str, operation: str) -> Iterator[NDArray[np.int64]]:
        import pyarrow.compute as pc

        for piece in read_pieces(self.path / name, name, CALLS, sha256=self._listed(name)):
            samples: NDArray[np.int64] = piece.filter(pc.field("operation") == operation).column("ns").to_numpy()
            if len(samples):
                yield samples

    def _worst(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the columns of `cases` that follow from the rows of one case and operation, one row a process."""
        columns: dict[str, Any] = {"processes": len(rows), "n": rows[0]["n"] if _alike(rows) else None}
        slow = self._slowest(rows)
        if slow is None:
            return columns
        from lab.worst import NOT_LOOKED_FOR

        causes = self.causes.get(case_of(rows[0]).key, {}).get(rows[0]["operation"], {})
        return columns | {
            "structural_worst_ns": slow.structural_ns,
            "structural_worst_index": slow.structural_index,
            "worst_index": slow.index,
            "worst_ns": slow.least_ns,
            "worst_process_ns": [ns for of_call in slow.process_ns for ns in of_call],
            "worst_cause": [causes.get(call, NOT_LOOKED_FOR) for call in slow.index],
        }

    def _slowest(self, rows: Sequence[Mapping[str, Any]]) -> Slowest | None:
        """Return the slowest calls of one case and operation, or None; a file that is damaged is named in `ignored`."""
        from lab.worst import aligned, slowest

        if not _alike(rows) or rows[0]["n"] is None or rows[0]["calls_per_sample"] not in (None, 1):
            return None
        stems = [case_of(row).stem(row["process"]) for row in sorted(rows, key=lambda row: row["process"])]
        operation, warmup = rows[0]["operation"], rows[0]["warmup"] or 0

        streams = [(f"{RAW}/{stem}.parquet", self._samples(stem, operation)) for stem in stems]
        kept = [counted(stream, name, rows[0]["n"] + warmup) for name, stream in streams if stream is not None]
        try:
            return slowest(aligned(kept), warmup) if len(kept) == len(stems) else None
        except Flaw as flaw:
            self.ignored = list(dict.fromkeys([*self.ignored, str(flaw)]))
            return None


def _alike(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether all processes made the same calls: as many, as many of them warm-up, timed one by one or not."""
    return len({(row["n"], row["warmup"], row["calls_per_sample"]) for row in rows}) == 1


def in_order(parts: Sequence[tuple[Identity, pa.Table]]) -> pa.Table:
    """Return the rows of all parts as one table, by `position`; parts of the same or no position stay as they are."""
    import pyarrow as pa

    ordered = sorted(parts, key=lambda part: _position(part[1]))
    return pa.concat_tables([schema(EXECUTIONS).empty_table(), *(table for _, table in ordered)]).combine_chunks()


def _position(part: pa.Table) -> float:
    position = part.column("position")[0].as_py()
    return float("inf") if position is None else position
