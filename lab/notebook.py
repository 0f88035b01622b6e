"""What the cells of the notebooks call first: the run that is read, and how pieces are shown.

A cell is one call of a function that takes a `Reading` and returns pieces (`lab.notebook_html.Piece`: Markdown, a
table, a picture); `show` puts them on the page. Nothing is measured here: only results are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from lab import archive, claim, collector, documents, durable, noise
from lab.bench import Bench
from lab.claims import judge_run
from lab.disturbance import note
from lab.evidence import Evidence
from lab.figure import in_order
from lab.figure_panel import Drawing
from lab.front import machine_sentence
from lab.manifest import NAME, load
from lab.notebook_html import Piece, Shaded, bundle
from lab.reference import read_reference
from lab.storage import Flaw
from lab.table import Table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
REFERENCE = "reference"
"""The folder of the runs that come with the repository, which are read where the reader has none of their own."""

FAMILY = "timer"


class Reading:
    """One run as a notebook reads it.

    Everything is worked out when it is first asked for. `rows` are those of executions.parquet and `cases` those of
    cases.parquet, of the contenders of one family, the twin of the A/A pair left out, in plain data.
    """

    def __init__(self, path: Path, family: str = FAMILY) -> None:
        self.run = archive.open_run(path)
        self.family = family
        self.name = self.run.name
        self.machine = machine_sentence(self.run)

    @cached_property
    def every(self) -> list[dict[str, Any]]:
        """All rows of the family, those of the instrument and of the twin among them."""
        return _of(self.run.rows().to_pylist(), self.family)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the contenders and of the null subject, in whatever way their executions ended."""
        return noise.without_twins(self.every)

    @cached_property
    def good(self) -> list[dict[str, Any]]:
        """The rows that are ok, of the arm that is shown: not those that repeat a case with the collector off."""
        return [dict(row) for row in collector.apart(self.rows)[0] if row["status"] == "ok"]

    @cached_property
    def cases(self) -> list[dict[str, Any]]:
        """The rows of cases.parquet, of the same arm."""
        found = _of(self.run.cases().to_pylist(), self.family)
        return [dict(row) for row in collector.apart(noise.without_twins(found))[0]]

    @cached_property
    def subjects(self) -> list[str]:
        """Who has a figure, in the order of every picture; without the null subject."""
        return [name for name in in_order(row["subject"] for row in self.good) if name != "null"]

    @cached_property
    def bench(self) -> Bench:
        """The evidence of the run beside the Perl figures, for sentences that are judged."""
        return Bench(Evidence.of(self.run, order=self.subjects), read_reference())

    @cached_property
    def judged(self) -> tuple[list[claim.Judgement], list[str]]:
        """Every claim of the registry with what this run makes of it, and how it was judged."""
        return judge_run(self.run)

    @cached_property
    def tables(self) -> list[Table]:
        """The tables that `lab show` prints."""
        every_case = [row for row in self.run.cases().to_pylist() if row["family"] == self.family]
        found = documents.tables(collector.apart(self.rows)[0], self.cases, read_reference(), self.subjects)
        beside = [collector.table(self.rows, noise.without_twins(every_case), self.subjects)]
        return [one for one in (*found, *beside, noise.table(noise.bands(self.every))) if one.rows]

    def table(self, begins: str) -> list[Piece]:
        """Return the table of `lab show` whose title begins so, or a sentence that says that the run has none."""
        found: list[Piece] = [table for table in self.tables if table.title.startswith(begins)]
        return found or [nothing(f"the table “{begins}”")]


def _of(rows: list[dict[str, Any]], family: str) -> list[dict[str, Any]]:
    return durable.own(rows) if family == durable.FAMILY else [row for row in rows if row["family"] == family]


def nothing(what: str) -> str:
    """Return the sentence that stands where a run has no figures for something.

    >>> nothing("the cycle")
    '*Not in this run: the cycle.*'
    """
    return f"*Not in this run: {what}.*"


def choose(run: str | Path = "", family: str = FAMILY, results: Path = RESULTS) -> Reading:
    """Return the run that a notebook reads.

    `run` is the folder of a run, or its name in `results`; "" chooses the newest run of the family that is not a
    reference run, else the newest reference run of it, else the newest run of all. ArchiveError, one sentence, when
    there is none.
    """
    return _reading(_chosen(str(run), family, results).resolve(), family)


@lru_cache(maxsize=8)
def _reading(path: Path, family: str) -> Reading:
    return Reading(path, family)


def _chosen(run: str, family: str, results: Path) -> Path:
    every = [path for path in archive.find_runs(results) if not archive.CHECK.search(path.name)]
    if run:
        named = [path for path in every if path.name == run]
        given = [path for path in (Path(run), ROOT / run) if path.is_dir()]
        return (named or given or [Path(run)])[-1]
    of_family = [path for path in every if has_family(path, family)]
    own = [path for path in of_family if path.parent.name != REFERENCE]
    found = own or of_family
    return found[-1] if found else archive.newest(results)


def has_family(path: Path, family: str) -> bool:
    """Return whether the run in a folder plans a case of a family; False for a folder that cannot be read.

    "durable" stands for the timer queues that outlive the process: a run has it that measures several of them.
    """
    try:
        about = (path / NAME).stat()
        keys = _keys(path, about.st_mtime_ns, about.st_size)
    except (Flaw, OSError):
        return False
    return durable.planned(keys) if family == durable.FAMILY else any(key.startswith(f"{family}/") for key in keys)


@lru_cache(maxsize=32)
def _keys(path: Path, changed_ns: int, size: int) -> list[str]:
    """Return the keys of a run's cases, read once as long as its file is the same; the Flaw of `load` is not kept."""
    return sorted({key for key, _ in load(path).planned})


def show(*pieces: Piece | Sequence[Piece]) -> None:
    """Put pieces, or lists of them, on the page, one under the other."""
    from IPython import display

    put: Callable[..., None] = display.display
    for piece in flat(pieces):
        put(bundle(piece), raw=True)


def flat(pieces: Iterable[Piece | Sequence[Piece]]) -> list[Piece]:
    """Return pieces and lists of pieces as one list.

    >>> flat(["a", ["b", "c"]])
    ['a', 'b', 'c']
    """
    found: list[Piece] = []
    for piece in pieces:
        found += [piece] if isinstance(piece, (str, Table, Shaded, Drawing)) else piece
    return found


def about(reading: Reading) -> list[Piece]:
    """Say which run is read: its machine, what is missing in it, what was disturbed."""
    run = reading.run
    subjects = ", ".join(f"`{name}`" for name in reading.subjects) or "no subject"
    lines = [f"Run `{reading.name}` ({run.state}), measured on {reading.machine}: {subjects}."]
    failed = [row for row in reading.rows if row["status"] != "ok"]
    planned, done = len(run.planned), len(run.done())
    if done < planned:
        lines.append(f"It is not whole: {planned - done} of {planned} executions are missing.")
    if failed:
        lines.append(f"{len(failed)} of its executions have no figure; the table “No figure” says why.")
    lines += [f"{sentence}." for sentence in (note(reading.every), *run.ignored) if sentence]
    if reading.family == FAMILY and not any(row["clock_step_ns"] for row in reading.good):
        lines.append("It was written before schema version 2: the causes of slow calls are not in it.")
    return ["  \n".join(lines)]


def claims(reading: Reading, *names: str) -> list[Piece]:
    """Return the table of claims, of those named or of all, with the verdict of this run on each.

    A claim is in `lab.claims` and judged anew from the run that is read, so no sentence outlives its evidence.
    """
    judgements, notes = reading.judged
    wanted = [one for one in judgements if not names or one.name in names]
    return [claim.table(wanted, notes)] if wanted else [nothing("the claims " + ", ".join(names))]
