"""What is made of a run that is there: its report, the table of the README, and whether it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab.cli_queues import checked, timer_subjects
from lab.cli_show import tables_of
from lab.front import RESULTS, Code, ResultsOption, RunArgument, Stop, app, machine_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.archive import Run
    from lab.notebook_html import Piece
    from lab.table import Table


@app.command(
    short_help="A run as a site: verdict, claims, pictures, tables.",
    epilog="Example: lab report results/reference/*-standard",
)
def report(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN…]", help="The run, and others to stand beside it; or the newest."),
    ] = None,
    readme: Annotated[Path | None, typer.Option(help="Renew the table and the picture of this page instead.")] = None,
    store: Annotated[bool, typer.Option("--store", help="Store the notebooks executed on the run instead.")] = False,
    results: ResultsOption = RESULTS,
) -> None:
    """Execute the notebooks on a run and write the site of its report into its folder: verdict, claims, every table."""
    from lab import archive, notebook_run, recorded, site
    from lab.notebook_file import NotebookError

    if readme is not None and store:
        raise Stop("--readme and --store were both given: expected one of them")
    runs = paths or [archive.newest(results)]
    opened = archive.open_run(runs[0])
    if readme is not None:
        _renew(readme, opened)
        return
    try:
        with recorded.writing(opened.path):
            if not store:
                _writable(opened.path)  # before minutes of notebooks
            if store:
                notebook_run.store(notebook_run.every(), runs[0], _progress_of_notebooks)
                typer.echo(f"stored: {len(notebook_run.every())} notebooks, executed on {opened.name}")
            else:
                typer.echo(f"written: {site.build(runs, _beside_results(opened), _progress_of_notebooks)}")
    except NotebookError as error:
        raise Stop(f"{error}; the notebooks are in {notebook_run.NOTEBOOKS.name}/") from None


def _promised(rows: list[dict[str, Any]]) -> Table:
    """Ask the subjects of a run what they promise: that stands before any figure."""
    from runners.promises import promise_table

    known = timer_subjects()
    measured = {row["subject"]: row["target"] for row in rows if row["subject"] != "null"}
    ordered = [name for name in known if name in measured] + sorted(name for name in measured if name not in known)
    return promise_table({name: checked(measured[name] or known[name]) for name in ordered})


def _writable(folder: Path) -> None:
    from tempfile import TemporaryFile

    with TemporaryFile(dir=folder):
        pass


def _progress_of_notebooks(done: int, planned: int, name: str) -> None:
    typer.echo(f"  {done + 1} of {planned}: {name.replace('_', ' ')}", err=True)


def _beside_results(opened: Run) -> dict[str, list[Piece]]:
    """Return what the report shows and no table of results holds: the promises, asked anew, and the flames."""
    from lab import flame, noise
    from lab.figure_panel import Drawing
    from lab.notebook_html import by_words

    timers = [row for row in noise.without_twins(opened.rows().to_pylist()) if row["family"] == "timer"]
    promised = by_words(_promised(timers), {"BROKEN": 3, "–": 1})
    found: dict[str, list[Piece]] = {"What is promised": [promised]}
    flames = {stem: folded for stem, folded in flame.flames_of(opened.path).items() if f"{noise.TWIN}." not in stem}
    if flames:
        drawn = [Drawing(flame.flame_svg(folded, stem), stem) for stem, folded in flames.items()]
        found["Who holds the memory, at its most"] = list(drawn)
    return found


def _page(readme: Path) -> Callable[[str], str]:
    """Read a page that has a place for the cycle, and return what puts a table there; Stop when it has none."""
    from functools import partial

    from lab.report import renewed

    try:
        text = readme.read_text(encoding="utf-8")
        renewed(text, "cycle", "")
    except OSError as error:
        raise Stop(f"--readme: {readme} cannot be read ({error.strerror}): expected a page such as README.md") from None
    except ValueError as error:
        said = "it is no text" if isinstance(error, UnicodeDecodeError) else str(error)
        raise Stop(f"--readme: {readme} cannot be renewed: {said}") from None
    return partial(renewed, text, "cycle")


def _renew(readme: Path, opened: Run) -> None:
    """Put the table and the picture of the cycle of a run into the README beside which results/ lies."""
    from lab import figure, noise
    from lab.recorded import writing
    from lab.table import markdown

    renew = _page(readme)
    every = opened.rows().to_pylist()
    rows = noise.without_twins(every)
    cycle = next((one for one in tables_of(opened, every) if one.title.startswith("The cycle")), None)
    if cycle is None:
        raise Stop(f"{opened.path} has no figure of the cycle: expected a run of the standard suite")
    picture = readme.parent / "results" / "reference" / "cycle.svg"
    drawn = figure.cycle_svg(rows, figure.queued_sizes(rows)[-1], list(timer_subjects()))
    where = f"Measured on {machine_sentence(opened)}; run `{opened.path.name}`."
    content = f"{markdown(cycle)}\n\n{where}"
    for path, text in ((picture, drawn), (readme, renew(content))):
        with writing(path):
            path.write_text(text, encoding="utf-8")
    typer.echo(f"renewed: {readme} and {picture}")


@app.command(short_help="Is a run whole?", epilog="Example: lab verify results/reference/*-standard")
def verify(path: RunArgument = None, results: ResultsOption = RESULTS) -> None:
    """Look for a truncated, edited or foreign file in a run, and for a figure that its raw calls do not bear out."""
    from lab import archive, recount

    found = path or archive.newest(results)
    problems = archive.verify(found) or recount.problems(archive.open_run(found))
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise Stop(f"{found} has {len(problems)} problem(s): its figures should not be used", Code.REGRESSED)
    typer.echo(f"{found} is whole")
