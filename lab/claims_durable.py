"""The claims about queues that outlive the process: what a batch saves, what the disk costs, what length costs."""

from __future__ import annotations

from statistics import median

from lab import durable
from lab.claim import ALPHA, FASTER, UNDER, Judgement, Line, Outcome, Rule, Trial, enough, not_measured, weigh
from lab.units import format_count, format_ns
from lab.verdict import compare_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from lab.recorded import Recorded

    Row = Mapping[str, Any]
    Values = Mapping[str, list[float]]

LEAST_SAVED = 5.0
"""A message that is put in with many others costs at most that part of one that is put in alone."""

MOST_GROWTH = 2.0
"""A take or a requeue may cost so many times as much before a long queue as before a short one."""

WIDE = 10
"""Queues behind that are less than so many times apart say nothing about length."""

RELAXED = {"sqlite-full": "sqlite", "postgres": "postgres-async"}
"""The arm whose calls are on the disk when they return -> the one whose calls do not wait for it."""


def judge_run(run: Recorded) -> list[Judgement]:
    """Return every claim with what a run makes of it; [] for a run that has not several durable queues.

    ArchiveError when the run's files are damaged. O(rows).
    """
    rows = durable.own(run.rows().to_pylist())
    return judge(rows, run.seed) if len(durable.kept_outside(row["subject"] for row in rows)) > 1 else []


def judge(rows: Sequence[Row], seed: int = 0) -> list[Judgement]:
    """Return every claim, from the rows of the workloads of durable queues; `seed` is the resampling's. O(rows)."""
    good = [row for row in rows if row["status"] == "ok"]
    claims = (
        (
            "batch-saves",
            f"Put in at once, a message costs at most a {LEAST_SAVED:g}th of what it costs alone.",
            _batch(good, seed),
        ),
        ("disk-is-waited-for", "A call that need not be on the disk when it returns is faster.", _disk(good, seed)),
        (
            "length-behind-stays",
            f"Where no disk is waited for, a long queue makes take and requeue at most {MOST_GROWTH:g} times as dear.",
            _behind(good, seed),
        ),
    )
    return [Judgement(name, sentence, "", tuple(lines)) for name, sentence, lines in claims]


def _values(rows: Iterable[Row], workload: str, operation: str, **sizes: int) -> Values:
    """Return subject -> the p50 of every process, of the durable queues alone."""
    found: dict[str, list[float]] = {}
    for row in rows:
        ours = (row["workload"], row["operation"]) == (workload, operation)
        if ours and sizes.items() <= durable.sizes(row).items():
            found.setdefault(row["subject"], []).append(float(row["p50_ns"]))
    return {subject: found[subject] for subject in durable.kept_outside(found)}


def _batch(rows: Sequence[Row], seed: int) -> list[Line]:
    alone = _values(rows, "durable-enqueue", "enqueue")
    sizes = [durable.sizes(row)["messages"] for row in rows if row["workload"] == "durable-enqueue-many"]
    many = max(sizes, default=0)
    together = _values(rows, "durable-enqueue-many", "enqueue", messages=many)
    pairs = []
    for subject, values in alone.items():
        if subject in together:
            said = f"{_ns(values)} alone, {_ns(together[subject])} with {format_count(many)} at once"
            pairs.append((subject, [value / LEAST_SAVED for value in values], together[subject], said))
    return _weighed(pairs, UNDER, seed)


def _disk(rows: Sequence[Row], seed: int) -> list[Line]:
    found = _values(rows, "durable-enqueue", "enqueue")
    pairs = []
    for waits, relaxed in RELAXED.items():
        if waits in found and relaxed in found:
            said = f"enqueue {_ns(found[relaxed])}, with the disk waited for {_ns(found[waits])}"
            pairs.append((f"{relaxed} beside {waits}", found[waits], found[relaxed], said))
    missing = [f"{relaxed} beside {waits}" for waits, relaxed in RELAXED.items() if {waits, relaxed} - found.keys()]
    return [*_weighed(pairs, FASTER, seed), *(not_measured(what, "not both in this run") for what in missing)]


def _behind(rows: Sequence[Row], seed: int) -> list[Line]:
    lengths = {durable.sizes(row)["queued"] for row in rows if row["workload"] == "durable-cycle"}
    if not lengths or max(lengths) < WIDE * min(lengths):
        return [not_measured("", "no two lengths of the queue behind that are ten times apart")]
    few, many = min(lengths), max(lengths)
    dues = {
        length: {durable.sizes(row)["due"] for row in rows if durable.sizes(row).get("queued") == length}
        for length in (few, many)
    }
    pairs = []
    for due in sorted(dues[few] & dues[many]):
        for operation in ("take", "requeue"):
            short, long = (_values(rows, "durable-cycle", operation, due=due, queued=length) for length in (few, many))
            for subject in RELAXED.values():  # the time of a disk changes by more than this from minute to minute
                if subject in short and subject in long:
                    said = f"{_ns(short[subject])} → {_ns(long[subject])} before "
                    said += f"{format_count(few)} → {format_count(many)}"
                    limit = [MOST_GROWTH * value for value in short[subject]]
                    pairs.append((f"{subject}, {operation} of {format_count(due)}", limit, long[subject], said))
    return _weighed(pairs, UNDER, seed)


def _ns(values: Sequence[float]) -> str:
    return format_ns(median(values))


def _weighed(pairs: Iterable[tuple[str, list[float], list[float], str]], rule: Rule, seed: int) -> list[Line]:
    """Return a line for each (what, limit or other, ours, said): whether ours lies below, as `rule` has it."""
    trials, lines = [], []
    for what, other, ours, said in pairs:
        figures = {"other": other, "ours": ours}
        if missing := enough(other, ours):
            lines.append(Line(what, Outcome.INCONCLUSIVE, f"{said}: {missing}", figures))
        else:
            found = compare_samples(other, ours, threshold=0.0, alpha=ALPHA, seed=seed)
            trials.append(Trial(what, found, said, figures))
    return [*weigh(trials, rule), *lines]
