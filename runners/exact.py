"""The parent's side of the kind counts: two processes that must agree, and callgrind where it is to be asked.

Counts do not mind company, so the processes of one case run at the same time, one to a processor.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.case import LARGEST_HASH_SEED, PADDING_SIZES, Execution
from runners import callgrind
from runners.counts import warmup_of
from runners.disturbed import Measured
from runners.remains import content, reading
from runners.rows import counter_columns, memory_columns
from runners.spawn import Limits, Outcome, at_once, run_worker
from runners.workloads import find

if TYPE_CHECKING:
    from runners.run import Settings

Counts = dict[str, dict[str, list[int]]]
"""operation -> column -> the count of each call."""

WORDS = {"bytecodes": "executed {} bytecodes", "allocated_blocks": "left {} blocks allocated"}


def measure(execution: Execution, spec: dict[str, Any], folder: Path, settings: Settings) -> Measured:
    """Count one case in two processes, and its instructions if asked; return outcome, columns and no raw calls.

    A count that differs between the processes, or between the runs of callgrind, is the finding: check-failed. Where
    valgrind is not installed, or fails, the column of instructions is empty and the outcome's message says why.
    """
    python, limits = settings.python, settings.limits
    operations = find(spec["family"], spec["workload"]).operations
    wanted = settings.instructions(execution)
    why_not = callgrind.missing() if wanted else ""
    n = counted_calls(spec)
    ways = [_way(spec, folder / name, python, limits, *chance) for name, chance in _chances(execution).items()]
    runs = callgrind.tasks(spec, folder, n, operations, python, limits) if wanted and not why_not else []
    try:
        ends = at_once(ways)
        outcome = _together(ends)
        if not outcome.ok:
            return outcome, [], {}
        with reading():
            first, second = (_counts(end, folder / name) for end, name in zip(ends, _chances(execution), strict=True))
        require_agreement(first, second)
        slow = at_once(runs)
        why_not = why_not or next((_unfit(end) for end, _ in slow if not end.ok), "")
        executed = callgrind.instructions([counted for _, counted in slow], n) if slow and not why_not else {}
    except callgrind.Disagreement as error:
        return Outcome("check-failed", f"{error}: counts must repeat exactly"), [], {}
    took_ns = outcome.duration_ns + sum(end.duration_ns for end, _ in slow)
    return replace(outcome, message=why_not, duration_ns=took_ns), _rows(outcome, first, executed), {}


def _unfit(end: Outcome) -> str:
    """Why there are no instructions though there are counts: what callgrind made of the worker."""
    return f"instructions were not counted: under callgrind the worker ended as {end.status}, {end.message}"


def _together(ends: Sequence[Outcome]) -> Outcome:
    """The first that did not end well, else the very first, with the time that all of them took."""
    shown = next((end for end in ends if not end.ok), ends[0])
    return replace(shown, duration_ns=sum(end.duration_ns for end in ends))


def counted_calls(spec: dict[str, Any]) -> int:
    """Return how many calls of a case are counted, the warm-up left out."""
    calls = int(spec["params"]["calls"])
    return calls - warmup_of(calls)


def require_agreement(first: Counts, second: Counts) -> None:
    """Raise Disagreement, naming the operation and the call, when two processes counted differently.

    >>> counts = {"take": {"bytecodes": [7, 7], "allocated_blocks": [1, 1]}}
    >>> require_agreement(counts, counts)
    >>> require_agreement(counts, {"take": {"bytecodes": [7, 8], "allocated_blocks": [1, 1]}})
    Traceback (most recent call last):
        ...
    runners.callgrind.Disagreement: take executed 7 bytecodes in one process and 8 in another at call 1
    """
    for name, columns in first.items():
        for column, counts in columns.items():
            for call, (one, two) in enumerate(zip(counts, second[name][column], strict=True)):
                if one != two:
                    found = WORDS[column].format(one)
                    raise callgrind.Disagreement(f"{name} {found} in one process and {two} in another at call {call}")


def _chances(execution: Execution) -> dict[str, tuple[int, int]]:
    """Folder -> hash seed and padding of the two processes; the second differs from the first in both."""
    other_seed = 1 + execution.hash_seed % LARGEST_HASH_SEED
    other_padding = (execution.padding + PADDING_SIZES // 2) % PADDING_SIZES
    return {"one": (execution.hash_seed, execution.padding), "two": (other_seed, other_padding)}


def _way(
    spec: dict[str, Any], folder: Path, python: str, limits: Limits, hash_seed: int, padding: int
) -> Callable[[], Outcome]:
    folder.mkdir()
    free = replace(limits, pinned=False)
    return lambda: run_worker(spec, folder, python=python, limits=free, hash_seed=hash_seed, padding=padding)


def _counts(outcome: Outcome, folder: Path) -> Counts:
    """Return what one process counted, the warm-up left out."""
    found: Counts = {}
    for operation in outcome.result["operations"]:
        columns = {"bytecodes": operation["samples"], "allocated_blocks": operation["blocks"]}
        found[operation["operation"]] = {
            column: _read(folder / name)[operation["warmup"] :] for column, name in columns.items() if name
        }
    return found


def _read(path: Path) -> list[int]:
    values = array("q")
    values.frombytes(content(path))
    return list(values)


def _rows(outcome: Outcome, counts: Counts, executed: dict[str, int]) -> list[dict[str, Any]]:
    shared = {**counter_columns(outcome.result), **memory_columns(outcome.result)}
    return [
        {
            "operation": name,
            "n": len(columns["bytecodes"]),
            "warmup": next(o["warmup"] for o in outcome.result["operations"] if o["operation"] == name),
            **{column: sum(found) for column, found in columns.items()},
            "instructions": executed.get(name),
            "merged": outcome.result.get("merged"),
            "walked": outcome.result.get("walked"),
            **shared,
        }
        for name, columns in counts.items()
    ]
