"""The front door: reads the command line, calls the rooms behind it, prints; computes nothing.

The only file of `lab` that imports `runners`, and so longer than 300 lines: every command is wired here.
Heavy imports are inside the commands, so that `--help` answers at once. What commands share stands in front.py, the
commands that only judge what was measured in judging.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab import judging as judging
from lab.front import RESULTS, Code, ResultsOption, RunArgument, Stop, machine_sentence, sentences
from lab.front import app as app

if TYPE_CHECKING:
    from lab.archive import Run
    from lab.case import Case
    from lab.table import Table
    from runners.run import Settings
    from runners.suites import Suite

REFERENCE = Path(__file__).resolve().parent.parent / "results" / "reference" / "perl-5.40-timer.csv"


class Clock(StrEnum):
    """cpu: the thread's processor time; wall: time as it passes."""

    CPU = "cpu"
    WALL = "wall"


class Collector(StrEnum):
    """Whether the garbage collector runs while a case is measured."""

    ON = "on"
    OFF = "off"


@app.command(epilog="Example: lab run --suite quick --subject array --subject linked-known-tail")
def run(
    path: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="With --resume: which run; else the newest.")
    ] = None,
    suite: Annotated[str, typer.Option(help="quick, standard or full; `lab list` says what they hold.")] = "standard",
    subject: Annotated[list[str] | None, typer.Option(help="Only this subject; may be repeated.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload; may be repeated.")] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:CLASS", help="Your own queue, beside the others; may be repeated."),
    ] = None,
    clock: Annotated[Clock, typer.Option(help="What every call is timed with.")] = Clock.CPU,
    gc: Annotated[Collector, typer.Option(help="The garbage collector while measuring.")] = Collector.ON,
    processes: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Processes per case; default by suite.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides order, starts, hash seeds and padding; recorded.")] = 1,
    label: Annotated[str | None, typer.Option(help="A name of your choice for this machine.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds one execution may take; default by suite.")
    ] = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Measure a suite: a fresh process per execution, every call timed, one result folder at the end."""
    chosen = _suite(suite)
    if resume:
        _resume(path, results, time_limit)
        return
    if path is not None:
        raise Stop(f"{path} was given without --resume: expected no argument, or `lab run --resume {path}`")
    targets = _conforming(queue or [])
    cases = _cases(chosen, subject, workload, clock.value, gc.value, targets)
    options = {"clock": clock.value, "gc": gc.value, "processes": processes or chosen.processes}
    _carry_out(_created(results, chosen.name, label, cases, seed, options), _settings(chosen, time_limit))


def _created(
    results: Path, suite: str, label: str | None, cases: list[Case], seed: int, options: dict[str, str | int]
) -> Run:
    from lab import archive, environment
    from runners.run import plan

    try:
        facts = environment.capture(label)
        machine = environment.machine_name(facts)
    except ValueError as error:
        raise Stop(str(error)) from None
    planned = plan(cases, int(options["processes"]), seed)
    return archive.create(results, machine, suite, seed=seed, options=options, environment=facts, planned=planned)


def _resume(path: Path | None, results: Path, time_limit: float | None) -> None:
    from lab import archive, environment

    found = path or archive.newest(results, unfinished=True)
    opened = archive.resume(found, environment=environment.capture())
    _carry_out(opened, _settings(_suite(opened.suite), time_limit))


def _settings(suite: Suite, time_limit: float | None) -> Settings:
    from dataclasses import replace

    from runners.promises import search_path
    from runners.run import Settings

    limits = suite.limits if time_limit is None else replace(suite.limits, seconds=time_limit)
    return Settings(limits=limits, path=search_path(), cost_options=suite.cost_options)


def _suite(name: str) -> Suite:
    from runners.suites import SUITES

    if name not in SUITES:
        raise Stop(f"no suite {name!r}: expected one of {', '.join(SUITES)}")
    return SUITES[name]


def _cases(
    suite: Suite,
    subjects: list[str] | None,
    workloads: list[str] | None,
    clock: str,
    gc: str,
    targets: dict[str, str],
) -> list[Case]:
    from runners.suites import cases, workload_names

    known = _subjects()
    for name in subjects or []:
        if name not in known:
            raise Stop(f"no subject {name!r}: expected one of {', '.join(known)}, or --queue module:Class for your own")
    for name in workloads or []:
        if name not in workload_names():
            raise Stop(f"no workload {name!r}: expected one of {', '.join(workload_names())}")
    chosen = [*(subjects or suite.subjects), *targets]
    return cases(suite, chosen, workloads=workloads, clock=clock, gc=gc, targets=targets)


def _subjects() -> dict[str, str]:
    """Return name -> "module:Class" of all that can be measured: our subjects, then the peers."""
    from queues.registry import PEERS, SUBJECTS

    return {**SUBJECTS["timer"], **PEERS["timer"]}


def _conforming(queues: list[str]) -> dict[str, str]:
    """Return subject -> target of the user's queues, each checked against the contract before anything is timed.

    How a wrong call is refused is no reason not to time a queue; every other broken promise is.
    """
    from lab.case import subject_of
    from queues.conformance import TOLERATED

    targets = {}
    for target in queues:
        outcomes = _checked(target)
        broken = [
            (promise, detail)
            for promise, _, verdict, detail in outcomes
            if verdict == "broken" and promise not in TOLERATED
        ]
        if broken:
            promise, detail = broken[0]
            raise Stop(
                f"{target} breaks the promise {promise!r}: {detail}\n"
                "Nothing was timed: a queue that fails its contract gets no numbers. "
                f"`lab conform {target}` shows all {len(broken)} broken promises.",
                Code.NOTHING_MEASURED,
            )
        targets[subject_of(target)] = target
    return targets


def _checked(target: str, seconds: float = 60.0) -> list[tuple[str, str, str, str]]:
    from runners.promises import conform as check
    from runners.promises import search_path
    from runners.spawn import Limits

    if target.count(":") != 1 or not all(target.split(":")):
        raise Stop(f"{target!r} is no queue: expected package.module:Class")
    outcome, outcomes = check(target, path=search_path(), limits=Limits(seconds=seconds))
    if not outcome.ok and not outcomes:
        hint = "" if outcome.status == "timeout" else "; make sure that it can be imported from here and try again"
        raise Stop(f"{target} could not be checked: {outcome.message}{hint}")
    return outcomes


def _carry_out(opened: Run, settings: Settings) -> None:
    from lab.units import format_span
    from runners.progress import Progress
    from runners.run import carry_out, planned_executions

    progress = Progress(planned_executions(opened))
    settings.report = progress
    interrupted = False
    with opened:
        try:
            carry_out(opened, settings)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            progress.end()
        state = opened.finish()
    columns = opened.rows().select(["subject", "status"]).to_pylist()
    measured = [row for row in columns if row["status"] == "ok" and row["subject"] != "null"]  # the instrument is none
    done, planned = len(opened.done()), len(opened.planned)
    if interrupted:
        raise Stop(
            f"stopped: {done} of {planned} executions are kept; `lab run --resume {opened.path}` goes on",
            Code.INTERRUPTED,
        )
    if not measured:
        raise Stop(f"nothing was measured: see `lab show {opened.path}` for the reasons", Code.NOTHING_MEASURED)
    took = sum(dict(_durations(opened)).values())
    typer.echo(f"{state}: {done} executions in {format_span(took)}, in {opened.path}")
    typer.echo(f"next: lab show {opened.path}")


def _durations(opened: Run) -> Iterator[tuple[int, int]]:
    for row in opened.rows().select(["position", "duration_ns"]).to_pylist():
        yield row["position"], row["duration_ns"] or 0


@app.command("list", epilog="Example: lab list --results results")
def list_(results: ResultsOption = RESULTS) -> None:
    """List suites, subjects, workloads and the runs that are there."""
    from lab import archive
    from queues.registry import PEERS, SUBJECTS
    from runners.suites import SUITES
    from runners.workloads import WORKLOADS

    typer.echo("suites")
    for suite in SUITES.values():
        typer.echo(f"  {suite.name:<10}{suite.sentence}; {suite.processes} processes a case")
    typer.echo("subjects")
    for family, subjects in (*SUBJECTS.items(), *PEERS.items()):
        for name, target in subjects.items():
            typer.echo(f"  {name:<20}{family:<10}{target}")
    typer.echo("workloads")
    for family, workloads in WORKLOADS.items():
        for name, found in workloads.items():
            typer.echo(f"  {name:<20}{family:<10}{found.sentence}")
    typer.echo("runs")
    runs = archive.find_runs(results)
    for path in runs:
        typer.echo(f"  {path}")
    if not runs:
        typer.echo(f"  none in {results}: `make bench-quick` makes one in about a minute")


@app.command(epilog="Example: lab show results/my-machine/20260101T120000Z-quick --markdown")
def show(
    path: RunArgument = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, to paste.")] = False,
    results: ResultsOption = RESULTS,
) -> None:
    """Print the documents' tables of a run, row by row, with the Perl figure beside ours."""
    from lab import archive, table

    opened = archive.open_run(path or archive.newest(results))
    render = table.markdown if markdown else table.text
    typer.echo(f"{opened.path.name}: {opened.state}, {machine_sentence(opened)}")
    found = _tables(opened)
    for sentence in opened.ignored:
        typer.echo(f"note: {sentence}")
    for one in found:
        typer.echo("\n" + render(one))
    if not any(status == "ok" for status in opened.rows().column("status").to_pylist()):
        raise Stop(f"{opened.path} holds no measured execution: the reasons are above", Code.NOTHING_MEASURED)


def _tables(opened: Run) -> list[Table]:
    from lab import documents
    from lab.reference import read_reference

    rows, worst = opened.rows().to_pylist(), opened.cases().to_pylist()
    return documents.tables(rows, worst, read_reference(REFERENCE), list(_subjects()))


def _promised(rows: list[dict[str, Any]]) -> Table:
    """Ask the subjects of a run what they promise: that stands before any figure."""
    from runners.promises import promise_table

    known = _subjects()
    measured = {row["subject"]: row["target"] for row in rows if row["subject"] != "null"}
    ordered = [name for name in known if name in measured] + sorted(name for name in measured if name not in known)
    return promise_table({name: _checked(measured[name] or known[name]) for name in ordered})


@app.command(epilog="Example: lab report results/my-machine/20260101T120000Z-standard")
def report(
    path: RunArgument = None,
    readme: Annotated[Path | None, typer.Option(help="Renew the table and the picture of this page instead.")] = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Write what its subjects promise, and the tables and pictures of a run, as a page beside it."""
    from lab import archive, figure
    from lab.report import renewed, write
    from lab.table import markdown

    opened = archive.open_run(path or archive.newest(results))
    tables = _tables(opened)
    rows = opened.rows().to_pylist()
    pictures = {
        f"cycle-{queued}.svg": figure.cycle_svg(rows, queued, list(_subjects())) for queued in figure.queued_sizes(rows)
    }
    if readme is None:
        folder = opened.path.parent / f"{opened.path.name}-report"
        page = write(folder, f"{opened.path.name}: {machine_sentence(opened)}", [_promised(rows), *tables], pictures)
        typer.echo(f"written: {page}")
        return
    cycle = next(one for one in tables if one.title.startswith("The cycle"))
    picture = readme.parent / "results" / "reference" / "cycle.svg"
    picture.write_text(list(pictures.values())[-1], encoding="utf-8")
    where = f"Measured on {machine_sentence(opened)}; run `{opened.path.name}`."
    content = f"{markdown(cycle)}\n\n{where}"
    readme.write_text(renewed(readme.read_text(encoding="utf-8"), "cycle", content), encoding="utf-8")
    typer.echo(f"renewed: {readme} and {picture}")


@app.command(epilog="Example: lab verify results/my-machine/20260101T120000Z-quick")
def verify(path: RunArgument = None, results: ResultsOption = RESULTS) -> None:
    """Look for a truncated, edited or foreign file in a run and name it."""
    from lab import archive

    found = path or archive.newest(results)
    problems = archive.verify(found)
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise Stop(f"{found} has {len(problems)} problem(s): its figures should not be used", Code.REGRESSED)
    typer.echo(f"{found} is whole")


@app.command(epilog="Example: lab conform my_queues.fast:Heap")
def conform(
    queue: Annotated[
        list[str] | None, typer.Argument(metavar="SUBJECT|MODULE:CLASS", help="What to check; may be repeated.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every registered subject.")] = False,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds the check of one queue may take.")] = 60.0,
) -> None:
    """Check a queue against the contract: each promise kept, broken (with the smallest input) or not offered."""
    from lab.table import text
    from runners.promises import promise_table

    known = _subjects()
    names = [*(queue or []), *(known if every else [])]
    if not names:
        raise Stop(f"no queue was named: expected package.module:Class, --all, or one of {', '.join(known)}")
    verdicts = {}
    for name in names:
        if ":" not in name and name not in known:
            raise Stop(f"no subject {name!r}: expected one of {', '.join(known)}, or package.module:Class")
        verdicts[name] = _checked(known.get(name, name), time_limit)
    typer.echo(text(promise_table(verdicts)))
    broken = [(name, outcome) for name, outcomes in verdicts.items() for outcome in outcomes if outcome[2] == "broken"]
    for name, (promise, sentence, _, detail) in broken:
        typer.echo(f"\n{name} breaks {promise}: {sentence}\n  {detail}")
    if broken:
        raise Stop(f"{len(broken)} promise(s) broken", Code.REGRESSED)


@app.command(epilog="Example: lab demo --subject linked-known-tail")
def demo(subject: Annotated[str, typer.Option(help="The queue that the rounds run on.")] = "array") -> None:
    """Follow a few rounds of the dispatcher on a clock that does not make you wait."""
    from runners.demo import story

    try:
        for line in story(subject):
            typer.echo(line)
    except LookupError as error:
        raise Stop(str(error.args[0])) from None


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and an exit code, never in a traceback."""
    with sentences():
        app(prog_name="lab")
