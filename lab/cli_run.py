"""`lab run`: what is to be measured, asked for in words, and what became of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab.cli_queues import conforming, every_subject, named_interpreters
from lab.front import RESULTS, Code, ResultsOption, Stop, app

if TYPE_CHECKING:
    from lab.archive import Run
    from lab.case import Case
    from runners.interpreters import Interpreter
    from runners.run import Settings
    from runners.servers import Pool
    from runners.suites import Suite


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


@app.command(
    short_help="Measure a suite; one result folder at the end.",
    epilog="Example: lab run --suite quick --subject array --subject linked-known-tail",
)
def run(
    path: ResumedArgument = None,
    suite: Annotated[str, typer.Option(help="quick, standard, full or one of a family; `lab list` says.")] = "standard",
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
    interpreters = named_interpreters(python or [], label)
    pool = _pool(server or [])
    if resume:
        _resume(path, results, time_limit, interpreters if python else [], pool)
        return
    if path is not None:
        raise Stop(
            f"{path} was given without --resume: expected no argument, or `lab run --resume {shlex.quote(str(path))}`"
        )
    targets = conforming(queue or [], interpreters)
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
        again.done()  # reads the parts, and what of them is not sound
        for sentence in again.ignored:
            typer.echo(f"note: {sentence}: what it was about is measured again")
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

    known = every_subject()
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
        for opened, settings in runs:
            stack.enter_context(opened)
            settings.tell = progress.tell
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
    where = shlex.quote(str(opened.path))  # as it can be pasted
    if interrupted:
        kept = f"stopped: {done} of {planned} executions are kept"
        return Stop(f"{kept}; `lab run --resume {where}` goes on", Code.INTERRUPTED)
    if not measured:
        return Stop(f"nothing was measured: see `lab show {where}` for the reasons", Code.NOTHING_MEASURED)
    took = sum(dict(_durations(opened)).values())
    for note in (*settings.notes, disturbance.note(opened.rows().to_pylist())):
        if note:
            typer.echo(f"note: {note}")
    executions = f"{done} execution{'s' if done != 1 else ''}"
    typer.echo(f"{opened.state}: {executions} in {format_span(took)}, in {opened.path}")
    typer.echo(f"next: lab show {where}")
    return None


def _durations(opened: Run) -> Iterator[tuple[int, int]]:
    for row in opened.rows().select(["position", "duration_ns"]).to_pylist():
        yield row["position"], row["duration_ns"] or 0
