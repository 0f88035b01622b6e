"""The machine, the instrument, the constant-time put back, and a demonstration: what needs no suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.cli_queues import conforming, named_interpreters, timer_subjects
from lab.front import RESULTS, Code, ResultsOption, Stop, app


@app.command(short_help="Look at the machine before it measures.", epilog="Example: lab doctor --json")
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Findings and facts as JSON.")] = False) -> None:
    """Look at the machine before it measures: each finding with why it matters and what to do about it."""
    import json

    from lab import environment, machine, probe
    from lab.doctor import examine, obstacles, text, tools

    facts, files = environment.capture(), machine.facts(processor=probe.workers_processor())
    measured, there = probe.probe(), tools()
    found = examine(facts, files, measured, there)
    in_the_way = obstacles(measured)
    if as_json:
        findings = [{"topic": one.topic, "mark": one.mark, "sentence": one.sentence} for one in found]
        said = {"findings": findings, "obstacles": in_the_way, "environment": facts, "machine": files}
        typer.echo(json.dumps({**said, "measured": measured, "tools": there}, indent=1, ensure_ascii=False))
    else:
        typer.echo(text(found))
    if in_the_way:
        raise Stop(f"nothing can be measured here: {'; '.join(in_the_way)}", Code.NOTHING_MEASURED)


@app.command(
    short_help="Does putting back cost the same whatever the batch?",
    epilog="Example: lab reattach --subject chunked",
)
def reattach(
    subject: Annotated[str, typer.Option(help="The queue that is guarded.")] = "linked-known-tail",
    queue: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Your own queue instead.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Only count: nothing is timed.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Store these counts as the baseline.")] = False,
    python: Annotated[str | None, typer.Option(metavar="PATH|NAME", help="Check under this interpreter.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides order, hash seeds and padding; recorded.")] = 1,
    label: Annotated[str | None, typer.Option(help="A name of your choice for this machine.")] = None,
    baselines: Annotated[Path | None, typer.Option(help="The folder of the baselines; default: the lab's own.")] = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Check that putting back costs the same whatever the batch: exact counts, slopes, worst calls; in a minute."""
    from runners.baseline import FOLDER, BaselineError
    from runners.guard import guard_of
    from runners.progress import Progress
    from runners.reattach import judge, measure
    from runners.reattach_report import OUTCOME, report

    (interpreter,) = named_interpreters([python] if python else [], label)
    if queue is None and subject not in timer_subjects():
        raise Stop(f"no subject {subject!r}: expected one of {', '.join(timer_subjects())}, or --queue module:Class")
    ((name, own),) = conforming([queue], [interpreter]).items() if queue else ((subject, ""),)
    guard = guard_of(name, own, exact=exact, python=interpreter.path, path=interpreter.search)
    try:
        opened, notes = measure(guard, interpreter, results, seed, Progress)
    except KeyboardInterrupt:
        raise Stop("stopped: what was measured is kept; the check begins anew next time", Code.INTERRUPTED) from None
    try:
        rows = opened.rows().to_pylist()
        judgement, page = report(judge(rows, opened.calls, guard), rows, notes, baselines or FOLDER, accept=accept)
    except BaselineError as error:
        raise Stop(str(error)) from None
    typer.echo(page)
    if judgement.code != Code.HOLDS:
        raise Stop(f"the check of {name} came out as {OUTCOME[judgement.code]}: see above", judgement.code)


@app.command(short_help="The instrument against known truths.", epilog="Example: lab calibrate --quick")
def calibrate(
    quick: Annotated[bool, typer.Option("--quick", help="Everything, less often: in half a minute.")] = False,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what was measured in this results folder.")
    ] = None,
) -> None:
    """Put subjects with a known truth through the whole instrument and say by how much each figure is wrong."""
    from contextlib import nullcontext

    from lab import calibration, table
    from lab.claim import Outcome
    from runners.calibrate import FULL, NOTES, QUICK, planned
    from runners.calibrate import calibrate as prove
    from runners.folders import working_folder
    from runners.progress import Progress

    effort = QUICK if quick else FULL
    progress = Progress(planned(effort))
    with working_folder() if keep is None else nullcontext(keep) as folder:
        try:
            checks = prove(effort, folder, report=progress)
        finally:
            progress.end()
    typer.echo(table.text(calibration.table(checks, NOTES)))
    outcome = calibration.judged(checks)
    if outcome is not Outcome.HOLDS:
        code = Code.REGRESSED if outcome is Outcome.FAILS else Code.INCONCLUSIVE
        raise Stop(calibration.sentence(checks), code)
    typer.echo(calibration.sentence(checks))


@app.command(
    short_help="A few rounds of the dispatcher to follow.",
    epilog="Example: lab demo --subject linked-known-tail",
)
def demo(subject: Annotated[str, typer.Option(help="The queue that the rounds run on.")] = "array") -> None:
    """Follow a few rounds of the dispatcher on a clock that does not make you wait."""
    from runners.demo import story

    try:
        for line in story(subject):
            typer.echo(line)
    except LookupError as error:
        raise Stop(str(error.args[0])) from None
