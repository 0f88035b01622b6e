"""Asks a queue, in a process of its own, which promises of its contract it keeps; and the table subject × promise."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.table import Table
from queues.conformance import NOT_OFFERED
from queues.registry import CONFORMANCE, DURABLE, ENGINE_OF, load_target
from runners.folders import working_folder
from runners.remains import in_words
from runners.servers import ServerError, started
from runners.spawn import Limits, run_worker
from runners.spawn import Outcome as Ended

Outcome = tuple[str, str, str, str]
"""(promise, sentence, verdict, detail)."""


DURABLE_STEPS = 60
"""Random steps that a check spends on a queue of which every call is a transaction; others get forty times as many."""

CALLED = {
    "timer": ("Promises", "queue"),
    "advisory": ("Promises of an advisory scheduler", "scheduler"),
    "limiter": ("Promises of a rate limiter", "limiter"),
    "events": ("Promises of an event queue", "queue"),
}
"""family -> the title of its table, and what a subject of it is called."""

SAID = {"kept": "kept", "broken": "BROKEN", "not-offered": "–"}


def promise_table(verdicts: Mapping[str, Sequence[Outcome]], family: str = "timer") -> Table:
    """Return one row per promise and one column per subject, in the order in which the promises are checked.

    >>> promise_table({"array": [("limit", "A limit caps the batch.", "kept", "")]}).rows
    (('limit', 'kept'),)
    """
    promises = list(dict.fromkeys(outcome[0] for outcomes in verdicts.values() for outcome in outcomes))
    by_subject = {name: {outcome[0]: outcome[2] for outcome in outcomes} for name, outcomes in verdicts.items()}
    rows = tuple(
        (promise, *(SAID.get(found.get(promise, ""), "?") for found in by_subject.values())) for promise in promises
    )
    header, (title, what) = ("promise", *by_subject), CALLED.get(family, (f"Promises of a {family}", family))
    return Table(title, header, rows, (f"–: the {what} does not offer what the promise is about.",), frozenset(header))


def conform(
    target: str,
    *,
    family: str = "timer",
    path: Iterable[str] = (),
    limits: Limits | None = None,
    seed: int = 0,
    python: str = sys.executable,
) -> tuple[Ended, list[Outcome]]:
    """Check a queue against its family's contract in a process of its own: (promise, sentence, verdict, detail) each.

    A queue that hangs, dies or leaves the process ends as the outcome's status and message; nothing here can hang. One
    of ours that needs a server gets one of its own; where that cannot be had, no promise is offered, and the detail
    says why.
    """
    spec = {
        "kind": "conform",
        "family": family,
        "subject": target,
        "target": target,
        "path": list(path),
        "workload": "conform",
        "params": {"steps": DURABLE_STEPS} if target in DURABLE["timer"].values() else {},
        "seed": seed,
        "clock": "cpu",
        "gc": "on",
    }
    limits = limits or Limits(seconds=60)
    try:
        with _served(target) as more, working_folder() as folder:
            outcome = run_worker(spec, folder, python=python, limits=limits, hash_seed=1, more=more)
    except ServerError as error:
        outcome = Ended("not-offered", str(error))
    if outcome.status == "not-offered":
        return outcome, [(one.name, one.sentence, NOT_OFFERED, outcome.message) for one in _promises(family)]
    if not outcome.ok:
        return outcome, []
    try:
        found = [(str(a), str(b), str(c), in_words(str(d))) for a, b, c, d in outcome.result["outcomes"]]
    except (KeyError, TypeError, ValueError):
        found = []
    return outcome if found else Ended("error", "left no word of its promises: it wrote a result of its own"), found


def _promises(family: str) -> Sequence[Any]:
    """Return the promises of a family, each with its name and its sentence."""
    found = load_target(f"{CONFORMANCE[family].partition(':')[0]}:PROMISES")
    promises: Sequence[Any] = found[family] if isinstance(found, dict) else found
    return promises


@contextmanager
def _served(target: str) -> Iterator[Mapping[str, str]]:
    """Yield what a worker finds the server of `target` by: one that need keep nothing for longer than the check."""
    engine = ENGINE_OF.get(target, "").partition("-")[0]
    if not engine:
        yield {}
        return
    with started(engine, durable=False) as server:
        yield server.environment()


def not_there(verdicts: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Return a sentence for each subject that could not be asked anything.

    >>> not_there({"redis": [("limit", "A limit caps the batch.", "not-offered", "Redis is not installed")]})
    ['redis was not checked: Redis is not installed']
    """
    said = []
    for name, outcomes in verdicts.items():
        details = {detail for _, _, _, detail in outcomes}
        if len(details) == 1 and all(verdict == NOT_OFFERED for _, _, verdict, _ in outcomes):
            said.append(f"{name} was not checked: {details.pop()}")
    return said


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
