"""The parent's side of the kind cost: one pyperf measurement of an execution, as the columns of its row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.case import Execution
from lab.record import require_columns
from runners.cost import read_cost
from runners.disturbed import Measured
from runners.remains import content, reading
from runners.rows import cost_columns
from runners.spawn import Outcome, run_cost

if TYPE_CHECKING:
    from runners.run import Settings

ONE_FILL = 5_000
"""A queue filled with so many messages is an average of its own: it is filled once a process, without calibration."""


def measure(execution: Execution, spec: dict[str, Any], folder: Path, settings: Settings) -> Measured:
    """One pyperf measurement; the loop count that the first process calibrated serves the later ones.

    The run repeats the processes, so there is nothing for pyperf's managing process to do: the one that measures is
    started at once, which spares most of the start-up.
    """
    loops = settings.loops.get(execution.key)
    options = ("--worker", *without_processes(settings.cost_options), "-l", str(loops or 1))
    if int(execution.case.parameters.get("messages", 0)) >= ONE_FILL:
        options = ("--worker", "-n", "1", "-w", "0", "-l", "1")
    elif not loops:
        options = (*options, "--doubling")
    outcome = run_cost(
        spec,
        folder,
        python=settings.python,
        limits=settings.limits,
        hash_seed=execution.hash_seed,
        padding=execution.padding,
        options=options,
        more=settings.environment(execution.case),
    )
    if not outcome.ok:
        return outcome, [], {}
    with reading():
        content(folder / "cost.json")
        cost = read_cost(folder / "cost.json")
        row = {"operation": execution.case.workload, **cost_columns(cost)}
        require_columns(row)
    settings.loops[execution.key] = cost["loops"]
    return Outcome("ok", "", {"python": cost.get("python")}, outcome.duration_ns), [row], {}


def without_processes(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return pyperf's options without `-p N`, which is for the managing process.

    >>> without_processes(("-p", "1", "-n", "3"))
    ('-n', '3')
    """
    if "-p" not in options:
        return options
    at = options.index("-p")
    return options[:at] + options[at + 2 :]
