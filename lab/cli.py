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
    from lab.notebook_html import Piece
    from lab.table import Table
    from runners.interpreters import Interpreter
    from runners.run import Settings
    from runners.servers import Pool
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


ResumedArgument = Annotated[
    Path | None, typer.Argument(metavar="[RUN]", help="With --resume: which run; else the newest.")
]
QueueOption = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE:CLASS", help="Your own queue, beside the others; may be repeated."),
]
ProcessesOption = Annotated[int | None, typer.Option(min=1, max=1000, help="Processes per case; default by suite.")]
TimeLimitOption = Annotated[
    float | None, typer.Option(min=0.1, help="Seconds one execution may take; default by suite.")
]
MemrayOption = Annotated[
    bool, typer.Option("--memray", help="See every memory case under memray as well; the full suite always does.")
]
ServerOption = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Use this PostgreSQL, MariaDB or Redis instead of starting one; may be repeated."),
]
PythonOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH|NAME", help="Measure under this interpreter; several side by side, a run each."),
]


@app.command(epilog="Example: lab run --suite quick --subject array --subject linked-known-tail")
def run(
    path: ResumedArgument = None,
    suite: Annotated[str, typer.Option(help="quick, standard or full; `lab list` says what they hold.")] = "standard",
    subject: Annotated[list[str] | None, typer.Option(help="Only this subject; may be repeated.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload; may be repeated.")] = None,
    queue: QueueOption = None,
    clock: Annotated[Clock, typer.Option(help="What every call is timed with.")] = Clock.CPU,
    gc: Annotated[Collector, typer.Option(help="The garbage collector while measuring.")] = Collector.ON,
    processes: ProcessesOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides order, starts, hash seeds and padding; recorded.")] = 1,
    label: Annotated[str | None, typer.Option(help="A name of your choice for this machine.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    time_limit: TimeLimitOption = None,
    memray: MemrayOption = False,
    python: PythonOption = None,
    server: ServerOption = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Measure a suite: a fresh process per execution, every call timed, one result folder at the end."""
    chosen = _suite(suite)
    interpreters = _interpreters(python or [], label)
    pool = _pool(server or [])
    if resume:
        _resume(path, results, time_limit, interpreters if python else [], pool)
        return
    if path is not None:
        raise Stop(f"{path} was given without --resume: expected no argument, or `lab run --resume {path}`")
    targets = _conforming(queue or [], interpreters)
    cases = _cases(chosen, subject, workload, clock.value, gc.value, targets)
    _needed(pool, cases)
    watched = _watched(chosen, memray)
    options: dict[str, Any] = {"clock": clock.value, "gc": gc.value, "memray": watched}
    options["processes"] = processes or chosen.processes
    if python:
        options["interpreters"] = [interpreter.name for interpreter in interpreters]
    started = [(_created(results, chosen.name, one, cases, seed, options), one) for one in interpreters]
    _carry_out([(each, _settings(each, time_limit, one, pool)) for each, one in started], pool)


def _pool(addresses: list[str]) -> Pool:
    """Return what starts the servers that cases need; those at the addresses run already."""
    from runners.servers import Pool, ServerError

    try:
        return Pool(addresses)
    except ServerError as error:
        raise Stop(f"--server: {error}") from None


def _needed(pool: Pool, cases: list[Case]) -> None:
    """Refuse the address of a server that no case would use: who gave it expects figures of it."""
    from runners.run import target_of

    if idle := pool.idle(target_of(case) for case in cases):
        raise Stop(
            f"--server: no case of this choice uses {' or '.join(idle)}: expected the suite and the subjects that do, "
            "as `lab list` shows them"
        )


def _watched(suite: Suite, asked: bool) -> bool:
    """Return whether memory cases are seen under memray: when asked for, and in the full suite where it is there."""
    from importlib.util import find_spec

    there = find_spec("memray") is not None
    if asked and not there:
        raise Stop("--memray was given and memray is not installed: expected it beside the lab, `pip install memray`")
    return there and (asked or suite.name == "full")


def _interpreters(given: list[str], label: str | None) -> list[Interpreter]:
    """Return the interpreters that measure: those that were named, else the one that runs this."""
    from runners.interpreters import NoInterpreter, ask_all, own

    try:
        return ask_all(given, label) if given else [own(label)]
    except (NoInterpreter, ValueError) as error:
        raise Stop(str(error)) from None


def _created(
    results: Path, suite: str, interpreter: Interpreter, cases: list[Case], seed: int, options: dict[str, Any]
) -> Run:
    from lab import archive, environment
    from runners.interpreters import offered
    from runners.run import plan

    facts = interpreter.environment
    kept, left_out = offered(cases, interpreter)
    if left_out:
        typer.echo(f"note: {left_out}")
        options = {**options, "left_out": left_out}
    if options["memray"] and "memray" not in interpreter.loads:
        typer.echo(f"note: {interpreter.name} cannot import memray: its memory cases are measured without it")
        options = {**options, "memray": False}
    planned = plan(kept, int(options["processes"]), seed)
    machine = environment.machine_name(facts)
    return archive.create(results, machine, suite, seed=seed, options=options, environment=facts, planned=planned)


def _resume(path: Path | None, results: Path, time_limit: float | None, given: list[Interpreter], pool: Pool) -> None:
    """Go on with one run, or with the newest of each interpreter that was named."""
    from lab import archive
    from runners.interpreters import newest_unfinished, of_run

    if path is None and given:
        found = [(newest_unfinished(results, one), one) for one in given]
    else:
        found_path = path or archive.newest(results, unfinished=True)
        found = [(found_path, of_run(given, archive.open_run(found_path)))]
    runs = []
    for where, one in found:
        again = archive.resume(where, environment=one.environment)
        runs.append((again, _settings(again, time_limit, one, pool)))
    _carry_out(runs, pool)


def _settings(opened: Run, time_limit: float | None, interpreter: Interpreter, pool: Pool) -> Settings:
    from dataclasses import replace

    from runners.run import Settings, target_of

    suite = _suite(opened.suite)
    limits = suite.limits if time_limit is None else replace(suite.limits, seconds=time_limit)
    return Settings(
        limits=limits,
        python=interpreter.path,
        path=interpreter.search,
        cost_options=suite.cost_options,
        memray=bool(opened.options.get("memray")),
        environment=lambda case: pool.environment(target_of(case)),
        facts=lambda case: pool.facts(target_of(case)),
    )


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

    known = _every_subject()
    for name in subjects or []:
        if name not in known:
            raise Stop(f"no subject {name!r}: expected one of {', '.join(known)}, or --queue module:Class for your own")
    for name in workloads or []:
        if name not in workload_names():
            raise Stop(f"no workload {name!r}: expected one of {', '.join(workload_names())}")
    found = cases(suite, subjects, workloads=workloads, clock=clock, gc=gc, targets=targets)
    if all(case.subject == "null" for case in found):
        asked = " ".join(
            [*(f"--subject {name}" for name in subjects or []), *(f"--workload {name}" for name in workloads or [])]
        )
        raise Stop(f"the suite {suite.name} has no case for {asked}: expected what `lab list` shows of it")
    for name in subjects or []:
        if all(case.subject != name for case in found):
            typer.echo(f"note: the suite {suite.name} has no case for --subject {name} here: it is left out")
    for name, target in targets.items():
        if all(case.subject != name for case in found):
            raise Stop(
                f"the suite {suite.name} has no case for --queue {target}: expected a suite and a workload of timer "
                "queues, as in `lab run --suite quick`; `lab conform --family` checks what is none"
            )
    return found


def _subjects() -> dict[str, str]:
    """Return name -> "module:Class" of all that can be measured: our subjects, then the peers."""
    from queues.registry import DURABLE, PEERS, SUBJECTS

    return {**SUBJECTS["timer"], **PEERS["timer"], **DURABLE["timer"]}


def _every_subject() -> list[str]:
    """Return the names of the subjects and peers of every family, each once."""
    from queues.registry import DURABLE, PEERS, SUBJECTS

    every = (SUBJECTS, PEERS, DURABLE)
    return list(dict.fromkeys(name for registry in every for names in registry.values() for name in names))


def _conforming(queues: list[str], interpreters: list[Interpreter]) -> dict[str, str]:
    """Return subject -> target of the user's queues, each checked against the contract before anything is timed.

    It is checked under every interpreter that is to measure it. How a wrong call is refused is no reason not to time a
    queue; every other broken promise is.
    """
    from itertools import product

    from lab.case import subject_of
    from queues.conformance import TOLERATED

    targets = {}
    for target, interpreter in product(queues, interpreters):
        broken = [
            (promise, detail)
            for promise, _, verdict, detail in _checked(target, interpreter=interpreter)
            if verdict == "broken" and promise not in TOLERATED
        ]
        if broken:
            promise, detail = broken[0]
            raise Stop(
                f"{target} breaks the promise {promise!r}: {detail}\n"
                "Nothing was timed: a queue that fails its contract gets no numbers. "
                f"`lab conform {target}` shows all {len(broken)} broken promises"
                f"{'' if len(interpreters) == 1 else f' (this is {interpreter.name})'}.",
                Code.NOTHING_MEASURED,
            )
        targets[subject_of(target)] = target
    return targets


def _checked(
    target: str, seconds: float = 60.0, interpreter: Interpreter | None = None, family: str = "timer"
) -> list[tuple[str, str, str, str]]:
    from runners.interpreters import own
    from runners.promises import conform as check
    from runners.spawn import Limits

    if target.count(":") != 1 or not all(target.split(":")):
        raise Stop(f"{target!r} is no queue: expected package.module:Class")
    one = interpreter or own()
    outcome, outcomes = check(target, family=family, path=one.search, limits=Limits(seconds=seconds), python=one.path)
    if not outcome.ok and not outcomes:
        hint = "" if outcome.status == "timeout" else "; make sure that it can be imported from here and try again"
        raise Stop(f"{target} could not be checked: {outcome.message}{hint}")
    return outcomes


def _carry_out(runs: list[tuple[Run, Settings]], pool: Pool) -> None:
    """Do what the runs have left, side by side, and say of each what became of it."""
    from contextlib import ExitStack

    from runners.interpreters import carry_out_together
    from runners.progress import Progress
    from runners.run import planned_executions

    progress = Progress([execution for opened, _ in runs for execution in planned_executions(opened)])
    interrupted = False
    with ExitStack() as stack:
        stack.enter_context(pool)
        for opened, _ in runs:
            stack.enter_context(opened)
        try:
            carry_out_together(runs, progress)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            progress.end()
        for opened, _ in runs:
            opened.finish()
    stops = [stop for opened, settings in runs if (stop := _ended(opened, settings, interrupted)) is not None]
    if stops:
        raise Stop("\n".join(map(str, stops)), stops[0].code)


def _ended(opened: Run, settings: Settings, interrupted: bool) -> Stop | None:
    """Say what became of a run; return how the command ends when that is not well."""
    from lab import disturbance
    from lab.units import format_span

    columns = opened.rows().select(["subject", "status"]).to_pylist()
    measured = [row for row in columns if row["status"] == "ok" and row["subject"] != "null"]  # the instrument is none
    done, planned = len(opened.done()), len(opened.planned)
    if interrupted:
        kept = f"stopped: {done} of {planned} executions are kept"
        return Stop(f"{kept}; `lab run --resume {opened.path}` goes on", Code.INTERRUPTED)
    if not measured:
        return Stop(f"nothing was measured: see `lab show {opened.path}` for the reasons", Code.NOTHING_MEASURED)
    took = sum(dict(_durations(opened)).values())
    for note in (*settings.notes, disturbance.note(opened.rows().to_pylist())):
        if note:
            typer.echo(f"note: {note}")
    typer.echo(f"{opened.state}: {done} executions in {format_span(took)}, in {opened.path}")
    typer.echo(f"next: lab show {opened.path}")
    return None


def _durations(opened: Run) -> Iterator[tuple[int, int]]:
    for row in opened.rows().select(["position", "duration_ns"]).to_pylist():
        yield row["position"], row["duration_ns"] or 0


@app.command("list", epilog="Example: lab list --results results")
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


@app.command(epilog="Example: lab show results/my-machine/20260101T120000Z-quick --markdown")
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

    opened = archive.open_run(path or archive.newest(results))
    render = table.markdown if markdown else table.text
    typer.echo(f"{opened.path.name}: {opened.state}, {machine_sentence(opened)}")
    if worst is not None:
        found = _slowest(opened, worst)
    else:
        found = _tables(opened) if against is None else [_against(opened, against)]
    left_out = opened.options.get("left_out", "")
    for sentence in (*opened.ignored, left_out, disturbance.note(opened.rows().to_pylist())):
        if sentence:
            typer.echo(f"note: {sentence}")
    for one in found:
        typer.echo("\n" + render(one))
    if not any(status == "ok" for status in opened.rows().column("status").to_pylist()):
        raise Stop(f"{opened.path} holds no measured execution: the reasons are above", Code.NOTHING_MEASURED)


def _tables(opened: Run) -> list[Table]:
    from lab import collector, documents, durable, families, noise
    from lab.reference import read_reference

    stored, subjects = opened.rows().to_pylist(), list(_subjects())
    every = families.of_timers(stored)
    rows, worst = noise.without_twins(every), noise.without_twins(families.of_timers(opened.cases().to_pylist()))
    (shown, _), (shown_worst, _) = collector.apart(rows), collector.apart(worst)
    found = documents.tables(shown, shown_worst, read_reference(REFERENCE), subjects)
    found += durable.tables(rows, subjects)
    found += [collector.table(rows, worst, subjects), noise.table(noise.bands(every))]
    return [one for one in (*found, *families.tables(stored, _order())) if one.rows]


def _order() -> dict[str, list[str]]:
    """Return family -> its subjects, the order in which they stand in tables."""
    from queues.registry import SUBJECTS, registered

    return {family: list(registered(family)) for family in SUBJECTS}


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
    known = list(_subjects())
    ordered = [*known, *(subject for subject in measured if subject not in known)]
    return ratio_table(ratios(rows, opened.cases().to_pylist(), base), base, ordered)


def _promised(rows: list[dict[str, Any]]) -> Table:
    """Ask the subjects of a run what they promise: that stands before any figure."""
    from runners.promises import promise_table

    known = _subjects()
    measured = {row["subject"]: row["target"] for row in rows if row["subject"] != "null"}
    ordered = [name for name in known if name in measured] + sorted(name for name in measured if name not in known)
    return promise_table({name: _checked(measured[name] or known[name]) for name in ordered})


@app.command(epilog="Example: lab report results/my-machine/20260101T120000Z-standard")
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


def _renew(readme: Path, opened: Run) -> None:
    """Put the table and the picture of the cycle of a run into the README beside which results/ lies."""
    from lab import figure, noise
    from lab.report import renewed
    from lab.table import markdown

    rows = noise.without_twins(opened.rows().to_pylist())
    cycle = next((one for one in _tables(opened) if one.title.startswith("The cycle")), None)
    if cycle is None:
        raise Stop(f"{opened.path} has no figure of the cycle: expected a run of the standard suite")
    picture = readme.parent / "results" / "reference" / "cycle.svg"
    drawn = figure.cycle_svg(rows, figure.queued_sizes(rows)[-1], list(_subjects()))
    picture.write_text(drawn, encoding="utf-8")
    where = f"Measured on {machine_sentence(opened)}; run `{opened.path.name}`."
    content = f"{markdown(cycle)}\n\n{where}"
    readme.write_text(renewed(readme.read_text(encoding="utf-8"), "cycle", content), encoding="utf-8")
    typer.echo(f"renewed: {readme} and {picture}")


@app.command(epilog="Example: lab verify results/my-machine/20260101T120000Z-quick")
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


@app.command(epilog="Example: lab conform my_queues.fast:Heap")
def conform(
    queue: Annotated[
        list[str] | None,
        typer.Argument(metavar="SUBJECT|FAMILY/SUBJECT|MODULE:CLASS", help="What to check; may be repeated."),
    ] = None,
    family: Annotated[str, typer.Option(help="Whose contract: timer, advisory, ticker, limiter or events.")] = "timer",
    every: Annotated[bool, typer.Option("--all", help="Check every registered subject of the family.")] = False,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds the check of one queue may take.")] = 60.0,
) -> None:
    """Check a queue against the contract: each promise kept, broken (with the smallest input) or not offered."""
    from lab.table import text
    from runners.promises import not_there, promise_table

    count, nothing = 0, list[str]()
    for one, named in _named(queue or [], family, every).items():
        verdicts = {name: _checked(target, time_limit, family=one) for name, target in named.items()}
        typer.echo(text(promise_table(verdicts, one)))
        for sentence in not_there(verdicts):
            typer.echo(f"note: {sentence}")
        broken = [(name, found) for name, outcomes in verdicts.items() for found in outcomes if found[2] == "broken"]
        for name, (promise, sentence, _, detail) in broken:
            typer.echo(f"\n{name} breaks {promise}: {sentence}\n  {detail}")
        count += len(broken)
        nothing += [f"{name} offers nothing of the family {one}" for name in _offering_nothing(verdicts)]
    if count:
        raise Stop(f"{count} promise(s) broken", Code.REGRESSED)
    if nothing:
        raise Stop(f"{'; '.join(nothing)}: expected a class of that family, or another --family", Code.NOTHING_MEASURED)


def _offering_nothing(verdicts: dict[str, list[tuple[str, str, str, str]]]) -> list[str]:
    """Return the user's own queues of which no promise could be checked: they are no queues of that family."""
    return [
        name
        for name, outcomes in verdicts.items()
        if ":" in name and all(verdict == "not-offered" for _, _, verdict, _ in outcomes)
    ]


def _named(given: list[str], family: str, every: bool) -> dict[str, dict[str, str]]:
    """Return family -> name -> "module:Class" of what is to be checked: as it was named, then all of the family."""
    from queues.registry import CONFORMANCE, registered

    families = ", ".join(CONFORMANCE)
    if family not in CONFORMANCE:
        raise Stop(f"no contract of a family {family!r}: expected one of {families}")
    found: dict[str, dict[str, str]] = {}
    for name in given:
        own, slash, subject = name.rpartition("/") if ":" not in name else ("", "", name)
        one = own if slash else family
        if one not in CONFORMANCE:
            raise Stop(f"no contract of a family {one!r}: expected one of {families}")
        known = registered(one)
        if ":" not in subject and subject not in known:
            expected = f"expected one of {', '.join(known)}, or package.module:Class"
            raise Stop(f"no subject {subject!r}{'' if one == 'timer' else f' in the family {one}'}: {expected}")
        found.setdefault(one, {})[subject] = known.get(subject, subject)
    if every:
        found[family] = {**found.get(family, {}), **registered(family)}
    if not found:
        known = registered(family)
        raise Stop(f"no queue was named: expected package.module:Class, --all, or one of {', '.join(known)}")
    return found


@app.command(epilog="Example: lab doctor --json")
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


@app.command(epilog="Example: lab reattach --subject chunked")
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

    (interpreter,) = _interpreters([python] if python else [], label)
    if queue is None and subject not in _subjects():
        raise Stop(f"no subject {subject!r}: expected one of {', '.join(_subjects())}, or --queue module:Class")
    ((name, own),) = _conforming([queue], [interpreter]).items() if queue else ((subject, ""),)
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


@app.command(epilog="Example: lab calibrate --quick")
def calibrate(
    quick: Annotated[bool, typer.Option("--quick", help="Everything, less often: in half a minute.")] = False,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what was measured in this results folder.")
    ] = None,
) -> None:
    """Put subjects with a known truth through the whole instrument and say by how much each figure is wrong."""
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    from lab import calibration, table
    from lab.claim import Outcome
    from runners.calibrate import FULL, NOTES, QUICK, planned
    from runners.calibrate import calibrate as prove
    from runners.progress import Progress

    effort = QUICK if quick else FULL
    progress = Progress(planned(effort))
    with TemporaryDirectory(prefix="lab-") if keep is None else nullcontext(str(keep)) as folder:
        try:
            checks = prove(effort, Path(folder), report=progress)
        finally:
            progress.end()
    typer.echo(table.text(calibration.table(checks, NOTES)))
    outcome = calibration.judged(checks)
    if outcome is not Outcome.HOLDS:
        code = Code.REGRESSED if outcome is Outcome.FAILS else Code.INCONCLUSIVE
        raise Stop(calibration.sentence(checks), code)
    typer.echo(calibration.sentence(checks))


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
    """Run the command line; a user's mistake ends in one sentence and an exit code, never in a traceback.

    Being told to end (SIGTERM), or losing the terminal (SIGHUP), is what Ctrl-C is: what was measured is kept, and
    nothing is left behind. Where `nohup` has had it ignored, it stays so.
    """
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    with sentences():
        app(prog_name="lab")
