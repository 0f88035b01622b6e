"""Asks a queue, in a process of its own, which promises of its contract it keeps; and the table subject × promise."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lab.table import Table
from runners.spawn import Limits, run_worker
from runners.spawn import Outcome as Ended

Outcome = tuple[str, str, str, str]
"""(promise, sentence, verdict, detail)."""


SAID = {"kept": "kept", "broken": "BROKEN", "not-offered": "–"}


def promise_table(verdicts: Mapping[str, Sequence[Outcome]]) -> Table:
    """Return one row per promise and one column per subject, in the order in which the promises are checked.

    >>> promise_table({"array": [("limit", "A limit caps the batch.", "kept", "")]}).rows
    (('limit', 'kept'),)
    """
    promises = list(dict.fromkeys(outcome[0] for outcomes in verdicts.values() for outcome in outcomes))
    by_subject = {name: {outcome[0]: outcome[2] for outcome in outcomes} for name, outcomes in verdicts.items()}
    rows = tuple(
        (promise, *(SAID.get(found.get(promise, ""), "?") for found in by_subject.values())) for promise in promises
    )
    header = ("promise", *by_subject)
    return Table(
        "Promises", header, rows, ("–: the queue does not offer what the promise is about.",), frozenset(header)
    )


def conform(
    target: str, *, path: Iterable[str] = (), limits: Limits | None = None, seed: int = 0, python: str = sys.executable
) -> tuple[Ended, list[Outcome]]:
    """Check a queue against its contract in a process of its own: (promise, sentence, verdict, detail) each.

    A queue that hangs, dies or leaves the process ends as the outcome's status and message; nothing here can hang.
    """
    spec = {
        "kind": "conform",
        "family": "timer",
        "subject": target,
        "target": target,
        "path": list(path),
        "workload": "conform",
        "params": {},
        "seed": seed,
        "clock": "cpu",
        "gc": "on",
    }
    with tempfile.TemporaryDirectory(prefix="lab-") as name:
        outcome = run_worker(spec, Path(name), python=python, limits=limits or Limits(seconds=60), hash_seed=1)
    return outcome, [(str(a), str(b), str(c), str(d)) for a, b, c, d in outcome.result.get("outcomes", [])]


def search_path() -> tuple[str, ...]:
    """Return where a user's queue may live: the folder the command was given in, then what this interpreter searches.

    Standard-library folders are left out, the worker has its own.
    """
    standard = {os.path.realpath(os.path.dirname(json.__file__)), os.path.realpath(os.path.dirname(os.__file__))}  # noqa: PTH120
    found = [os.getcwd()]  # noqa: PTH109
    for entry in sys.path:
        absolute = os.path.abspath(entry)  # noqa: PTH100
        if Path(absolute).is_dir() and os.path.realpath(absolute) not in standard and absolute not in found:
            found.append(absolute)
    return tuple(entry for entry in found if not entry.endswith("lib-dynload"))
