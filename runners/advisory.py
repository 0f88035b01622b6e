"""Measures the advisory schedulers: every call over the number of jobs, how jobs meet, and how a cadence drifts.

    python -m runners.advisory --jobs 10 --jobs 1000 --processes 3

Calls are timed like those of any suite: each case in a fresh process, pinned, with the null call beside it, recorded in
a run that `--results` keeps (`lab verify` knows it). What meets and what drifts is counted on a simulated clock.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from lab import archive, environment
from lab.case import Case
from lab.sample import P50, P99, least_n, median_worst
from lab.table import Table, text
from lab.units import format_count, format_ns
from queues.registry import PEERS, SUBJECTS, load
from runners.advisory_simulated import CALLERS, Drift, Peaks, drift, peaks
from runners.promises import search_path
from runners.run import Settings, Step, carry_out, plan
from runners.spawn import Limits
from runners.workload import NotOffered
from runners.workloads import find

FAMILY = "advisory"
SIZES = (10, 100, 1_000, 10_000, 100_000)
WORKLOADS = ("next-job", "update-period", "replace", "spread")
OPERATIONS = ("next_job", "update_period", "remove", "add", "spread")
TOLD = ("subject", "workload", "operation", "params", "process", "status", "message")
COLUMNS = (*TOLD, "n", "p50_ns", "p99_ns", "max_ns", "null_p50_ns")
REFERENCE = "heap"
LIMITS = Limits(seconds=180)
LEFT = frozenset({"operation", "subject", "caller"})
NO_FIGURE = "–"

MOST_CALLS = 4_000
"""Timed calls of a case, enough for a p99.9."""

JOBS_LOOKED_AT = {"sorted-each-call": 3_000_000, "apscheduler": 20_000_000, "sched": 20_000_000}
"""For subjects of which some call looks at every job: how many jobs a case may look at, which bounds its calls."""

LEAST_CALLS = 20
SPREADS = 200_000
"""Jobs spread in a case, each once, at least three times."""

MOST_SPREADS = 450
"""Enough for a p99."""

MOST_MEETING = 10_000
"""Jobs of the largest schedule that an hour of is simulated."""

DRIFTS: tuple[tuple[str, Any], ...] = (*((caller, 10.0) for caller in CALLERS), (next(iter(CALLERS)), 0.1))
"""Callers and periods of the job whose drift is counted; sums of 0.1 are rounded."""


def subjects() -> dict[str, str]:
    """Return name -> "module:Class" of all that can be measured: ours, then the peers."""
    return {**SUBJECTS[FAMILY], **PEERS[FAMILY]}


def calls_of(subject: str, workload: str, jobs: int) -> int:
    """Return how many calls of a case are timed: few where a call is slow.

    >>> calls_of("heap", "next-job", 100_000), calls_of("sorted-each-call", "next-job", 100_000)
    (4000, 30)
    """
    if workload == "spread":
        return min(MOST_SPREADS, max(3, SPREADS // jobs))
    return max(LEAST_CALLS, min(MOST_CALLS, JOBS_LOOKED_AT.get(subject, jobs * MOST_CALLS) // jobs))


def cases(names: Iterable[str], sizes: Iterable[int]) -> list[Case]:
    """Return a case for every subject, workload that it offers, and size."""
    found = []
    for jobs in sizes:
        for workload in WORKLOADS:
            for subject in names:
                if offered(subject, workload):
                    calls = calls_of(subject, workload, jobs)
                    found.append(Case.of("latency", FAMILY, subject, workload, jobs=jobs, calls=calls))
    return found


def offered(subject: str, workload: str) -> bool:
    """Whether the subject has every method that the workload needs."""
    try:
        find(FAMILY, workload).require_offered(load(FAMILY, subject))
    except NotOffered:
        return False
    return True


def measure(folder: Path, planned: Sequence[Case], processes: int, seed: int, quiet: bool) -> list[dict[str, Any]]:
    """Carry out the cases as a run in `folder` and return its rows."""
    facts = environment.capture()

    def report(step: Step) -> None:
        if step.status and not quiet:
            sys.stderr.write(f"{step.number}/{step.total} {step.execution.key}: {step.status}\n")

    run = archive.create(
        folder,
        environment.machine_name(facts),
        FAMILY,
        seed=seed,
        options={"processes": processes},
        environment=facts,
        planned=plan(planned, processes, seed),
    )
    with run:
        carry_out(run, Settings(limits=LIMITS, path=search_path(), report=report))
        run.finish()
    return [row for row in run.rows().to_pylist() if row["family"] == FAMILY]


def jobs_of(row: Mapping[str, Any]) -> int:
    """Return how many jobs the case of a row has."""
    return int(dict(part.split("=") for part in row["params"].split(","))["jobs"])


def shown(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int, str], Mapping[str, Any]]:
    """Return (operation, jobs, subject) -> the row of the execution with the median worst call."""
    groups: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == "ok":
            groups.setdefault((row["operation"], jobs_of(row), row["subject"]), []).append(row)
    return {identity: median_worst(found) for identity, found in groups.items()}


def percentile(row: Mapping[str, Any], q: Fraction, column: str) -> str:
    """Return a percentile, or that there are too few calls for it."""
    return format_ns(row[column]) if row["n"] >= least_n(q) else "n too small"


def calls_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return every operation at every size: p50, what the null call takes of it, p99, max, and p50 over heap's."""
    found = shown(rows)
    order = {name: place for place, name in enumerate(subjects())}
    body = []
    for operation, jobs, subject in sorted(
        found, key=lambda identity: (OPERATIONS.index(identity[0]), identity[1], order.get(identity[2], 99))
    ):
        row = found[operation, jobs, subject]
        reference = found.get((operation, jobs, REFERENCE))
        ratio = f"{row['p50_ns'] / reference['p50_ns']:,.3g}" if reference else NO_FIGURE
        figures = (percentile(row, P50, "p50_ns"), format_ns(row["null_p50_ns"]), percentile(row, P99, "p99_ns"))
        calls = format_count(row["n"])
        body.append((operation, format_count(jobs), subject, calls, *figures, format_ns(row["max_ns"]), ratio))
    header = ("operation", "jobs", "subject", "calls", "p50", "null p50", "p99", "max", f"p50 / {REFERENCE}")
    notes = tuple(dict.fromkeys(f"{row['subject']}: {row['message']}" for row in rows if row["status"] != "ok"))
    return Table("Every call", header, tuple(body), notes, LEFT)


def growth(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return how the reach is met, as far as the sizes were measured: ratios of p50."""
    found = shown(rows)

    def p50(jobs: int, subject: str) -> float | None:
        row = found.get(("next_job", jobs, subject))
        return None if row is None else float(row["p50_ns"])

    many, few, sorting = p50(100_000, REFERENCE), p50(100, REFERENCE), p50(100_000, "sorted-each-call")
    ratios = {}
    if many and few:
        ratios["heap next_job, 100,000 jobs / 100 jobs"] = many / few
    if many and sorting:
        ratios["next_job at 100,000 jobs, sorted-each-call / heap"] = sorting / many
    return ratios


def peaks_table(found: Sequence[Peaks]) -> Table:
    """Return how many jobs meet in one instant, before and after spread."""

    def said(count: int | None) -> str:
        return NO_FIGURE if count is None else format_count(count)

    body = tuple(
        (one.subject, said(one.jobs), said(one.planned), said(one.planned_spread))
        + (said(one.in_an_hour), said(one.in_an_hour_spread))
        for one in found
    )
    header = ("subject", "jobs", "next runs", "after spread", "in an hour", "after spread ")
    note = "The most jobs in one instant, of the next runs and of all runs in an hour, for a caller that takes no time."
    return Table("Jobs that meet", header, body, (note,), LEFT)


def drift_table(found: Sequence[Drift]) -> Table:
    """Return how far the last run is from the grid."""
    body = tuple(
        (one.caller, one.period, one.subject, format_count(one.runs), f"{one.behind_seconds:.6g}")
        + (f"{one.a_run_seconds:.3g}",)
        for one in found
    )
    header = ("caller", "period", "subject", "runs", "behind the grid, s", "a run, s")
    notes = tuple(f"{name}: {sentence}." for name, sentence in CALLERS.items())
    return Table("Drift of the cadence", header, body, notes, LEFT)


def simulated(names: Sequence[str], sizes: Sequence[int]) -> tuple[list[Peaks], list[Drift]]:
    """Return what meets and what drifts; our subjects do the same (tests hold that), so the heap stands for all."""
    chosen = [name for name in names if name not in SUBJECTS[FAMILY] or name == REFERENCE]
    if any(name in SUBJECTS[FAMILY] for name in names) and REFERENCE not in chosen:
        chosen.insert(0, REFERENCE)
    small = [jobs for jobs in sizes if jobs <= MOST_MEETING]
    met = [peaks(name, load(FAMILY, name), jobs) for jobs in small for name in chosen if spreads(name)]
    drifted = [drift(name, load(FAMILY, name), caller, period) for caller, period in DRIFTS for name in chosen]
    return met, [one for one in drifted if one is not None]


def spreads(name: str) -> bool:
    """Whether the subject can spread: of one that cannot there is nothing to compare."""
    return callable(getattr(load(FAMILY, name), "spread", None))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m runners.advisory",
        description="Measure the advisory schedulers: every call over the number of jobs, jobs that meet, drift.",
        epilog="Example: python -m runners.advisory --subject heap --subject sched --jobs 100 --jobs 10000 --json",
    )
    made.add_argument("--subject", action="append", choices=list(subjects()), help="only this one; may be repeated")
    made.add_argument("--jobs", action="append", type=whole, help="only this many jobs; may be repeated")
    made.add_argument("--processes", type=whole, default=1, help="fresh processes a case (default: 1)")
    made.add_argument("--seed", type=int, default=1, help="decides order and periods (default: 1)")
    made.add_argument("--results", type=Path, help="keep the run in this folder")
    made.add_argument("--json", action="store_true", help="print data instead of tables")
    return made


def whole(word: str) -> int:
    """Return a whole number of at least 1; the error is one sentence."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number of at least 1")
    return int(word)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print tables or data; return the exit code: 4 when nothing could be measured."""
    given = parser().parse_args(arguments)
    names, sizes = given.subject or list(subjects()), given.jobs or list(SIZES)
    planned = cases(dict.fromkeys(names), dict.fromkeys(sizes))
    with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
        try:
            rows = measure(given.results or Path(scratch), planned, given.processes, given.seed, given.json)
        except archive.ArchiveError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    met, drifted = simulated(names, sizes)
    if given.json:
        calls = [{name: row[name] for name in COLUMNS} for row in rows]
        found = {"calls": calls, "reach": growth(rows), "peaks": [*map(asdict, met)], "drift": [*map(asdict, drifted)]}
        print(json.dumps(found, indent=1))
    else:
        reach = [f"{what}: {ratio:,.3g}" for what, ratio in growth(rows).items()]
        print("\n\n".join([*map(text, (calls_table(rows), peaks_table(met), drift_table(drifted))), *reach]))
    return 0 if any(row["status"] == "ok" for row in rows) else 4


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.stderr.write("stopped: nothing is printed of what was measured\n")
        sys.exit(130)
