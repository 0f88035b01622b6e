"""How much memory the lab needs for many raw calls: `python -m tests.big` makes a run of 100 million and reads it.

Each step is a fresh process, so that its peak (VmHWM of /proc/self/status) is its own. The calls are made up, ten
processes of one case; they are written and read as those of any run are. Needs about 1 GB of disk in a temporary folder
and a few minutes.

    write      record every execution: the calls of one execution are in memory, as they are when one was measured
    finish     compact the run: slowest calls and structural worst call over all processes
    verify     read every file from end to end
    recount    every figure, the percentiles too, anew from the raw calls
    show       the tables of the slowest calls, as `lab show --worst` makes them
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lab import archive
from lab.case import Case, Execution, execution_of
from lab.recount import problems
from lab.sample import operation_columns
from lab.slowest import chosen, slowest_tables

CASE = Case.of("latency", "timer", "array", "growth", messages=0)
OPERATION = "enqueue"
PROCESSES = 10


def executions(calls: int) -> list[Execution]:
    """Return one execution a process, of `calls` calls in all."""
    case = Case.of(CASE.kind, CASE.family, CASE.subject, CASE.workload, messages=calls // PROCESSES)
    return [execution_of(case, process, 1) for process in range(PROCESSES)]


def write(results: Path, calls: int) -> str:
    """Record the run and leave it unfinished."""
    planned = executions(calls)
    facts = {"processor": "made up", "cores": 1, "implementation": "cpython", "python": "3"}
    with archive.create(results, "made-up", "big", seed=1, options={}, environment=facts, planned=planned) as run:
        for execution in planned:
            made = np.random.default_rng(execution.process).lognormal(7, 0.5, calls // PROCESSES).astype(np.int64)
            run.record(
                execution, [{"operation": OPERATION, "status": "ok", **operation_columns(made)}], {OPERATION: made}
            )
    return f"{sum(file.stat().st_size for file in run.path.rglob('*') if file.is_file()):,} bytes"


def finish(results: Path, calls: int) -> str:
    """Compact the run."""
    with archive.resume(archive.newest(results)) as run:
        run.finish()
    (case,) = run.cases().to_pylist()
    return f"structural worst {case['structural_worst_ns']:,} ns at call {case['structural_worst_index']:,}"


def verify(results: Path, calls: int) -> str:
    """Read every file of the run."""
    found = archive.verify(archive.newest(results))
    return f"{len(found)} problems"


def recount(results: Path, calls: int) -> str:
    """Work every figure of the run out anew."""
    run = archive.open_run(archive.newest(results))
    shown = ", ".join(f"{row['p999_ns']:,.0f}" for row in run.rows().to_pylist()[:3])
    return f"{len(problems(run))} figures differ; p99.9 of the first processes: {shown} ns"


def show(results: Path, calls: int) -> str:
    """Make the tables of the slowest calls."""
    run = archive.open_run(archive.newest(results))
    cases = chosen(run.cases().to_pylist(), "array growth")
    return f"{sum(len(table.rows) for table in slowest_tables(cases, run.rows().to_pylist()))} rows"


STEPS: dict[str, Callable[[Path, int], str]] = {step.__name__: step for step in (write, finish, verify, recount, show)}


def peak_bytes() -> int:
    """Return the most that was resident in this process so far; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def step(name: str, results: Path, calls: int) -> None:
    """Do one step and print what it took."""
    began = time.monotonic()
    said = STEPS[name](results, calls)
    print(f"{name:<10}{time.monotonic() - began:>7.1f} s {peak_bytes() / 2**20:>8,.0f} MiB  {said}", flush=True)


def main(arguments: list[str]) -> None:
    """Do every step, each in a process of its own, or the one that is named."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.big", description="Example: python -m tests.big --calls 10000000"
    )
    parser.add_argument("--calls", type=int, default=100_000_000, help="raw calls in all (default: %(default)s)")
    parser.add_argument("--step", choices=STEPS, help="this step alone, on what the steps before it left")
    parser.add_argument("--results", type=Path, help="keep the run in this folder instead of a temporary one")
    given = parser.parse_args(arguments)
    if given.calls < PROCESSES:
        parser.error(f"--calls {given.calls}: expected at least {PROCESSES}, one for each process")
    if given.step:
        if given.results is None:
            parser.error(f"--step {given.step} works on a run: name its folder with --results")
        step(given.step, given.results, given.calls)
        return
    with TemporaryDirectory(prefix="lab-") as folder:
        results = given.results or Path(folder)
        print(f"{given.calls:,} calls in {PROCESSES} processes of a case; wall time, peak resident, what came of it")
        for name in STEPS:
            own = ["--step", name, "--results", str(results), "--calls", str(given.calls)]
            subprocess.run([sys.executable, "-m", "tests.big", *own], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
