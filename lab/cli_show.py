"""What there is, and the tables of a run: `lab list` and `lab show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab.cli_queues import timer_subjects
from lab.front import RESULTS, Code, ResultsOption, RunArgument, Stop, app, machine_sentence

if TYPE_CHECKING:
    from lab.archive import Run
    from lab.table import Table

REFERENCE = Path(__file__).resolve().parent.parent / "results" / "reference" / "perl-5.40-timer.csv"


@app.command(
    "list",
    short_help="What there is: suites, subjects, workloads, runs.",
    epilog="Example: lab list --results results",
)
def list_(results: ResultsOption = RESULTS) -> None:
    """List suites, subjects, workloads and the runs that are there."""
    from lab import archive
    from queues.registry import DURABLE, PEERS, SUBJECTS
    from runners.suites import SUITES
    from runners.workloads import families

    typer.echo("suites")
    for suite in SUITES.values():
        typer.echo(f"  {suite.name:<10}{suite.sentence}; {suite.processes} processes a case")
    typer.echo("subjects")
    for family, subjects in (*SUBJECTS.items(), *PEERS.items(), *DURABLE.items()):
        for name, target in subjects.items():
            typer.echo(f"  {name:<20}{family:<12}{target}")
    typer.echo("workloads")
    for family, workloads in families().items():
        for name, found in workloads.items():
            typer.echo(f"  {name:<22}{family:<12}{found.sentence}")
    typer.echo("runs")
    runs = archive.find_runs(results)
    for path in runs:
        typer.echo(f"  {path}")
    if not runs:
        typer.echo(f"  none in {results}: `make bench-quick` makes one in about a minute")


@app.command(short_help="The tables of a run.", epilog="Example: lab show results/reference/*-standard --markdown")
def show(
    path: RunArgument = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, to paste.")] = False,
    against: Annotated[
        str | None, typer.Option(metavar="SUBJECT", help="Every figure as a ratio to that subject's instead.")
    ] = None,
    worst: Annotated[
        str | None,
        typer.Option(metavar="CASE", help="The slowest calls of a case instead, by its key or words of it."),
    ] = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Print the documents' tables of a run, row by row, with the Perl figure beside ours."""
    from lab import archive, disturbance, table
    from lab.show import rows_of

    opened = archive.open_run(path or archive.newest(results))
    rows = rows_of(opened)
    render = table.markdown if markdown else table.text
    typer.echo(f"{opened.path.name}: {opened.state}, {machine_sentence(opened)}")
    if worst is not None:
        found = _slowest(opened, worst)
    else:
        found = tables_of(opened, rows) if against is None else [_against(opened, against)]
    left_out = opened.options.get("left_out", "")
    for sentence in (*opened.ignored, left_out, disturbance.note(rows)):
        if sentence:
            typer.echo(f"note: {sentence}")
    for one in found:
        typer.echo("\n" + render(one))
    if not any(row["status"] == "ok" for row in rows):
        raise Stop(f"{opened.path} holds no measured execution: the reasons are above", Code.NOTHING_MEASURED)


def tables_of(opened: Run, rows: list[dict[str, Any]]) -> list[Table]:
    from lab.reference import read_reference
    from lab.show import tables

    return tables(rows, opened.cases().to_pylist(), read_reference(REFERENCE), subject_order())


def subject_order() -> dict[str, list[str]]:
    """Return family -> its subjects, the order in which they stand in tables."""
    from queues.registry import SUBJECTS, registered

    return {**{family: list(registered(family)) for family in SUBJECTS}, "timer": list(timer_subjects())}


def _slowest(opened: Run, wanted: str) -> list[Table]:
    from lab.slowest import chosen, slowest_tables

    cases = chosen(opened.cases().to_pylist(), wanted)
    if not cases:
        raise Stop(
            f"no measured case of {opened.path} has {wanted!r} in its key: expected its key, or words of it such as "
            "'array growth'"
        )
    tables = slowest_tables(cases, opened.rows().to_pylist())
    if not tables:
        raise Stop(
            f"{opened.path} has no slowest calls for {wanted!r}: they are kept since schema version 2, for calls that "
            "are timed one by one; measure again with `lab run`",
            Code.NOTHING_MEASURED,
        )
    return tables


def _against(opened: Run, base: str) -> Table:
    from lab.noise import without_twins
    from lab.ratios import ratio_table, ratios

    rows = without_twins(opened.rows().to_pylist())
    measured = sorted({row["subject"] for row in rows if row["status"] == "ok"} - {"null"})
    if base not in measured:
        raise Stop(f"no figure of {base!r} in {opened.path}: expected one of {', '.join(measured) or 'none'}")
    known = list(timer_subjects())
    ordered = [*known, *(subject for subject in measured if subject not in known)]
    return ratio_table(ratios(rows, opened.cases().to_pylist(), base), base, ordered)
