"""The commands that only read results and judge them: they import nothing that runs a queue.

Heavy imports are inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab.front import RESULTS, Code, ResultsOption, RunArgument, Stop, app, machine_sentence

if TYPE_CHECKING:
    from lab.claim import Outcome
    from lab.compare import Comparison
    from lab.pairing import Side


class Across(StrEnum):
    """What may differ between two runs because it is what is compared."""

    MACHINE = "machine"
    INTERPRETER = "interpreter"
    COMMIT = "commit"
    GC = "gc"
    SUBJECT = "subject"


class Statistic(StrEnum):
    """What of a process is compared where every call was timed."""

    P50 = "p50"
    MEAN = "mean"
    P90 = "p90"
    P99 = "p99"
    P999 = "p999"


class Format(StrEnum):
    """What `lab export` writes."""

    PYPERF = "pyperf"
    CSV = "csv"
    JSON = "json"


@app.command(
    short_help="Do the claims of the documents hold?",
    epilog="Example: lab claims results/reference/*-standard --markdown",
)
def claims(
    path: RunArgument = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, to paste.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with every row of the evidence.")] = False,
    results: ResultsOption = RESULTS,
) -> None:
    """Say of every claim of the documents whether a run bears it out: holds, does not hold, inconclusive."""
    import json

    from lab import archive, claim, table
    from lab.claims import judge_run

    if markdown and as_json:
        raise Stop("--markdown and --json were both given: expected one of them")
    opened = archive.open_run(path or archive.newest(results))
    found, notes = judge_run(opened)
    if as_json:
        document = {"run": opened.name, "state": opened.state, "notes": notes, "claims": claim.as_json(found)}
        typer.echo(json.dumps(document, indent=1, ensure_ascii=False))
    elif markdown:
        typer.echo(table.markdown(claim.table(found, notes)))
    else:
        typer.echo(f"{opened.name}: {opened.state}, {machine_sentence(opened)}")
        typer.echo("\n".join([*notes, "", claim.text(found)]))
    _end_of_claims([one.outcome for one in found])


def _end_of_claims(outcomes: list[Outcome]) -> None:
    """End with the exit code that the verdicts come to; nothing to say when every claim could be judged."""
    from lab.claim import Outcome

    total, unclear = len(outcomes), outcomes.count(Outcome.INCONCLUSIVE)
    missing = outcomes.count(Outcome.NOT_MEASURED)
    if missing == total:
        raise Stop("none of the claims was measured in this run: see `lab show` for what was", Code.NOTHING_MEASURED)
    if unclear or missing:
        raise Stop(
            f"{unclear + missing} of {total} claims could not be judged: "
            f"{unclear} inconclusive, {missing} not measured",
            Code.INCONCLUSIVE,
        )


CompareRuns = Annotated[list[Path], typer.Argument(metavar="RUN RUN [RUN…]", help="Each is held against the first.")]
AcrossOption = Annotated[
    list[Across] | None, typer.Option(help="What may differ because it is what is compared; may be repeated.")
]
SubjectOption = Annotated[
    list[str] | None, typer.Option(help="With --across subject: the subject of each run, in their order.")
]
StatisticOption = Annotated[Statistic, typer.Option(help="What of a process is compared, for timed calls.")]
ThresholdOption = Annotated[float, typer.Option(min=0, max=10, help="A smaller change is none: 0.05 is 5 %.")]
AlphaOption = Annotated[float, typer.Option(min=0.0001, max=0.2, help="Chance of a false alarm, all cases together.")]
ExploreOption = Annotated[
    bool, typer.Option("--explore", help="Benjamini-Hochberg instead of Holm: more finds, some of them false.")
]
PartialOption = Annotated[
    bool, typer.Option("--partial", help="A run need not have every case of the first; without it that is a 3.")
]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="As Markdown, to paste.")]


@app.command(
    short_help="Two runs or more: faster, slower, same?",
    epilog="Example: lab compare results/reference/*-standard results/reference/*-standard"
    " --across subject --subject linked --subject linked-known-tail",
)
def compare(
    paths: CompareRuns,
    across: AcrossOption = None,
    subject: SubjectOption = None,
    statistic: StatisticOption = Statistic.P50,
    threshold: ThresholdOption = 0.05,
    alpha: AlphaOption = 0.05,
    explore: ExploreOption = False,
    partial: PartialOption = False,
    markdown: MarkdownOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with the value of every process.")] = False,
) -> None:
    """Say of every case of two or more runs whether it got faster, slower or stayed, or why that cannot be said."""
    from lab import compare as comparing
    from lab.verdict import benjamini_hochberg, holm

    if markdown and as_json:
        raise Stop("--markdown and --json were both given: expected one of them")
    chosen = _subjects_compared(paths, across or [], subject or [])
    first, *others = _told_apart(paths, [_side(path) for path in paths])
    rules: dict[str, Any] = {"across": [str(axis) for axis in across or []], "threshold": threshold, "alpha": alpha}
    rules["statistic"] = str(statistic)
    compared = [
        comparing.compare(first, other, subjects=(chosen[0], name) if chosen else None, **rules)
        for other, name in zip(others, chosen[1:] or [""] * len(others), strict=True)
    ]
    found = comparing.judged(compared, alpha=alpha, method=benjamini_hochberg if explore else holm)
    code = Code(comparing.exit_code(found, partial=partial))
    rules["correction"] = "Benjamini-Hochberg" if explore else "Holm"
    _print_comparisons(found, rules, code, "json" if as_json else "markdown" if markdown else "text")
    _end_of_comparison(code)


def _subjects_compared(paths: list[Path], across: list[Across], subjects: list[str]) -> list[str]:
    if len(paths) < 2:
        raise Stop(f"one run was given ({paths[0]}): expected two or more, `lab list` says which there are")
    if subjects and Across.SUBJECT not in across:
        raise Stop("--subject was given without --across subject: expected both, or none")
    if subjects and len(subjects) != len(paths):
        raise Stop(f"{len(subjects)} subjects for {len(paths)} runs: expected --subject once for each run, in order")
    return subjects


def _told_apart(paths: list[Path], sides: list[Side]) -> list[Side]:
    """Return the sides, those that share a name with the run of another folder with that folder before it."""
    from dataclasses import replace

    folders = [path.resolve().parent for path in paths]
    homes: dict[str, set[Path]] = {}
    for side, folder in zip(sides, folders, strict=True):
        homes.setdefault(side.name, set()).add(folder)
    return [
        replace(side, name=f"{folder.name}/{side.name}") if len(homes[side.name]) > 1 else side
        for side, folder in zip(sides, folders, strict=True)
    ]


def _side(path: Path) -> Side:
    from lab import archive
    from lab.pairing import Side

    opened = archive.open_run(path)
    side = Side(opened.name, opened.environment, opened.rows().to_pylist())
    for sentence in opened.ignored:
        typer.echo(f"note: {sentence}", err=True)
    if not any(row["status"] == "ok" for row in side.rows):
        raise Stop(f"{path} holds no measured execution: there is nothing to judge", Code.NOTHING_MEASURED)
    return side


def _print_comparisons(found: list[Comparison], rules: dict[str, Any], code: Code, form: str) -> None:
    import json

    from lab import compare as comparing
    from lab import table

    if form == "json":
        typer.echo(json.dumps(comparing.plain(found, rules, code), indent=1, ensure_ascii=False))
        return
    render, end = (table.markdown, "  ") if form == "markdown" else (table.text, "")
    for number, one in enumerate(found):
        typer.echo("\n" * bool(number) + "\n".join(sentence + end for sentence in comparing.heading(one)))
        for grid in comparing.tables(one):
            typer.echo("\n" + render(grid))


def _end_of_comparison(code: Code) -> None:
    said = {
        Code.REGRESSED: "at least one case got slower",
        Code.NOT_COMPARABLE: "at least one pair cannot be compared: the field that differs stands beside it",
        Code.INCONCLUSIVE: 'at least one case is inconclusive or has no figure in a later run: that is not "no change"',
        Code.NOTHING_MEASURED: "the runs have no case in common: nothing was compared",
    }
    if code in said:
        raise Stop(said[code], code)


@app.command(
    short_help="How often do our own verdicts cry wolf?",
    epilog="Example: lab aa results/reference/*-standard",
)
def aa(
    path: RunArgument = None,
    resamplings: Annotated[int, typer.Option(min=100, max=100_000, help="Comparisons for each source.")] = 1_000,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.2, help="The false-alarm rate that is promised.")] = 0.05,
    threshold: ThresholdOption = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Decides the resamplings.")] = 0,
    results: ResultsOption = RESULTS,
) -> None:
    """Measure how often our own verdicts cry wolf on a run: comparisons of like with like, and the A/A band."""
    from lab import alarms, archive, noise
    from lab.table import text

    chosen = path or archive.newest(results)
    side = _side(chosen)
    found = alarms.rates(side.rows, trials=resamplings, alpha=alpha, threshold=threshold, seed=seed)
    typer.echo(text(alarms.table(found, alpha)))
    band = noise.table(noise.bands(side.rows))
    typer.echo("\n" + (text(band) if band.rows else "no A/A pair: the run has no twin of a subject"))
    if any(one.interval[0] > alpha for one in found):
        raise Stop(f"our verdicts cry wolf more often than the {alpha:.0%} that they promise", Code.REGRESSED)
    if all(one.synthetic for one in found):
        raise Stop(
            f"{chosen} has too few processes to deal out (an A/A pair needs 5 + 5, a case 10): "
            "only synthetic samples were tried, if any",
            Code.INCONCLUSIVE,
        )


@app.command(
    short_help="A run for other tools: pyperf, CSV, JSON.",
    epilog="Example: lab export results/reference/*-standard --format pyperf -o run.json",
)
def export(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    form: Annotated[Format, typer.Option("--format", help="pyperf reads the first; the others hold every row.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file; without it standard output.")] = None,
) -> None:
    """Write a run for other tools: for `python -m pyperf stats` and `compare_to`, as CSV or as JSON."""
    from lab import export as exporting
    from lab.storage import write_whole

    try:
        text = exporting.export(_side(path), str(form))
    except ValueError as error:
        raise Stop(str(error), Code.NOTHING_MEASURED) from None
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        write_whole(output, text.encode())
    except OSError as error:
        raise Stop(f"{output} cannot be written ({error.strerror}): name a file in a folder of yours") from None
    typer.echo(f"written: {output}")
