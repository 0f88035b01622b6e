"""The report of a run as a site of pages that open from disk: an index with the verdict, a page for each notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.integrity import REPORT
from lab.notebook import Reading, about, choose, claims
from lab.notebook_cost import heat_table
from lab.notebook_file import Notebook
from lab.notebook_html import Piece
from lab.notebook_run import Report, every, execute
from lab.site_page import Link, body, markdown, page, pieces, question_of, title_of
from lab.site_verdict import verdict
from lab.storage import write_whole
from lab.table import Table

INDEX, TABLES = "index.html", "tables.html"


def build(
    runs: Sequence[Path], extra: Mapping[str, Sequence[Piece]] | None = None, report: Report | None = None
) -> Path:
    """Execute the notebooks on `runs` and write the site into the folder of the first; return its index.

    `extra` (heading -> pieces) stands on the page of all tables, before them: what is not in results. Pages that were
    there are replaced, each whole or not at all. ArchiveError for a run that cannot be read, NotebookError for a
    notebook that cannot be executed, OSError when the folder cannot be written.
    """
    reading = choose(runs[0])
    executed = execute(every(), runs, report)
    names = {name: f"{name}.html" for name in executed}
    links: list[Link] = [(INDEX, "verdict")]
    links += [(file, name.partition("_")[2].replace("_", " ")) for name, file in names.items()]
    links.append((TABLES, "all tables"))
    pages = {
        names[name]: page(title_of(notebook), body(notebook, reading.name), links, names[name])
        for name, notebook in executed.items()
    }
    pages[INDEX] = page(f"Run {reading.name}", _index(reading, executed), links, INDEX)
    pages[TABLES] = page("All tables", _tables(reading, extra or {}), links, TABLES)
    folder = reading.run.path / REPORT
    folder.mkdir(exist_ok=True)
    for file, text in pages.items():
        write_whole(folder / file, text.encode())
    for left in set(folder.glob("*.html")) - {folder / file for file in pages}:
        left.unlink()  # of a notebook that is no longer there
    return folder / INDEX


def _index(reading: Reading, executed: Mapping[str, Notebook]) -> str:
    asked = "".join(
        f'<li><a href="{name}.html">{title_of(notebook)}</a><br>{markdown(question_of(notebook))}</li>'
        for name, notebook in executed.items()
    )
    return "\n".join(
        [
            "<h1>Which queue, what is its slowest call, and why believe it</h1>",
            f'<div class="verdict">{markdown(verdict(reading))}</div>',
            pieces(about(reading)),
            "<h2>What each operation costs</h2>",
            pieces(heat_table(reading)),
            "<h2>What holds of what the documents claim</h2>",
            pieces([_verdict_first(piece) for piece in claims(reading)]),
            f"<h2>The argument, question by question</h2><ul>{asked}</ul>",
        ]
    )


def _verdict_first(piece: Piece) -> Piece:
    """Put the last column of a table first: on a narrow screen the verdict is what has to be seen."""
    if not isinstance(piece, Table):
        return piece
    header, *rows = ((row[-1], *row[:-1]) for row in (piece.header, *piece.rows))
    return Table(piece.title, header, tuple(rows), piece.notes, piece.left)


def _tables(reading: Reading, extra: Mapping[str, Sequence[Piece]]) -> str:
    parts = ["<h1>All tables</h1>", pieces(about(reading))]
    for heading, found in extra.items():
        parts += [f"<h2>{heading}</h2>", pieces(found)]
    return "\n".join([*parts, "<h2>What was measured</h2>", pieces(reading.tables)])
