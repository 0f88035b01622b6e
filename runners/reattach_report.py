"""The report of the regression check, as text: two tables, the A/A pair, the baseline, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lab.front import Code
from lab.scaling import Scaling
from lab.table import Table, text
from lab.units import format_count
from runners.baseline import Baseline, Change, Counts, changes, counts_of, load, path_of
from runners.baseline import accept as keep
from runners.guard import CONTROL, PROCESSES, SIZES, Guard
from runners.reattach import Judged, Judgement, Row

LEGS = ("bytecodes", "blocks", "instructions", "slope", "ratio", "worst")
MARKS = {Scaling.CONSTANT: "", Scaling.GROWS: "! ", Scaling.INCONCLUSIVE: "? "}
HEADER = ("operation", "decides", "verdict", "bytecodes", "blocks", "instructions", "slope", "could show")
LAST = f"time, k = {format_count(SIZES[0])} → {format_count(SIZES[-1])}"

OUTCOME = {
    Code.HOLDS: "holds",
    Code.REGRESSED: "regressed",
    Code.INCONCLUSIVE: "inconclusive",
    Code.NOTHING_MEASURED: "nothing measured",
}


def report(
    judgement: Judgement, rows: Sequence[Row], notes: Sequence[str], folder: Path, *, accept: bool
) -> tuple[Judgement, str]:
    """Return the judgement with the baseline taken into account, and the page; with `accept` the counts are stored.

    The difference is on the page either way. Counts of which some are missing are not accepted. BaselineError for a
    baseline that cannot be read or written.
    """
    found = counts_of(rows)
    python = next((row["python"] for row in rows if row["kind"] == "counts" and row["python"]), "")
    if not found:
        return judgement, render(judgement, [*said_of(rows), *notes])
    path = path_of(python, folder)
    stored = load(path)
    final, lines = against_baseline(judgement, found, stored, python, path)
    if accept and not all(row["status"] == "ok" for row in rows if row["kind"] == "counts"):
        lines.append("not accepted: some counts are missing, see above")
    elif accept:
        keep(path, python, found, stored)
        final, lines = judgement, [*lines, f"accepted: these counts are the baseline now, in {path.name}"]
    return final, render(final, [*said_of(rows), *notes, *lines])


def said_of(rows: Sequence[Row]) -> list[str]:
    """What executions that are ok say of themselves, such as that instructions were not counted; each once."""
    return list(dict.fromkeys(row["message"] for row in rows if row["status"] == "ok" and row["message"]))


def render(judgement: Judgement, notes: Sequence[str] = ()) -> str:
    """Return the whole report; its last line says what it comes to, and why.

    `notes` are sentences from outside the judgement, such as those of `against_baseline`.
    """
    guard = judgement.guard
    sizes = ", ".join(map(format_count, SIZES))
    title = f"{guard.subject} over k = {sizes}: k messages cut off, k behind them"
    parts = [text(_table(title, judgement.judged, _legend(guard)))]
    if guard.subject != CONTROL:
        parts.append(text(_table(f"the control: {CONTROL} walks and must grow", judgement.control, ())))
    parts.append("\n".join([*_noise_lines(judgement), *notes]))
    parts.append("\n".join(f"{OUTCOME[judgement.code]}: {reason}" for reason in judgement.reasons))
    return "\n\n".join(part for part in parts if part)


def _table(title: str, judged: Iterable[Judged], notes: Sequence[str]) -> Table:
    rows = tuple(_row(one) for one in judged)
    header = (*HEADER, LAST, "worst call")
    return Table(title, header, rows, tuple(notes), frozenset(header))


def _row(one: Judged) -> tuple[str, ...]:
    legs = {leg.name: leg for leg in one.legs}
    cells = {name: f"{MARKS[legs[name].verdict]}{legs[name].cell or '–'}" if name in legs else "–" for name in LEGS}
    shown = legs["slope"].shown if "slope" in legs else None
    decides = "yes" if one.guarded else "no"
    could_show = "–" if shown is None else f"{shown:.3f}"
    counts, times = [cells[name] for name in LEGS[:4]], [cells[name] for name in LEGS[4:]]
    return (one.operation, decides, one.verdict.value, *counts, could_show, *times)


def _legend(guard: Guard) -> tuple[str, ...]:
    marks = "!: this leg says that it grows. ?: it cannot say. Counts are those of one call."
    if guard.exact:
        return (marks,)
    return (
        marks,
        f"could show: the smallest slope that {PROCESSES} processes could have shown. Intervals: 90 %, over processes.",
    )


def _noise_lines(judgement: Judgement) -> list[str]:
    if judgement.guard.exact:
        return ["only counted (--exact): the exact leg alone decides"]
    pair = ", ".join(f"{operation} {leg.cell or leg.sentence}" for operation, leg in judgement.pair.items())
    lines = [f"A/A pair, the subject against itself: {pair}"]
    if judgement.noise:
        lines.append(f"the machine is too noisy for times ({judgement.noise}): the exact leg alone decides")
    return lines


def against_baseline(
    judgement: Judgement, found: Counts, stored: Baseline | None, python: str, path: Path
) -> tuple[Judgement, list[str]]:
    """Return the judgement with the baseline taken into account, and the sentences to print.

    A guarded operation of the subject that counts more than the baseline of the very same version of Python has
    regressed, though it is the same at every k. Every difference is printed; a missing baseline is only named.
    """
    subject = judgement.guard.subject
    how = "`lab reattach --accept` with the same options"
    if stored is None or not stored.knows(subject):
        return judgement, [f"no baseline of {subject} in {path.name}: {how} stores these counts as one"]
    different = changes(stored.counts, found)
    if not different:
        return judgement, [f"counts are those of the baseline {path.name}"]
    lines = [change.sentence for change in different]
    if stored.python != python:
        lines.append(f"the baseline was made with Python {stored.python}, this is {python}: it does not decide")
        return judgement, lines
    lines.append(f"if that is meant to be so: {how}")
    risen = [change for change in different if _decides(change, judgement)]
    if not risen or judgement.code not in (Code.HOLDS, Code.INCONCLUSIVE):
        return judgement, lines
    reasons = (*(f"above the baseline: {change.sentence}" for change in risen), *judgement.reasons)
    return replace(judgement, code=Code.REGRESSED, reasons=reasons), lines


def _decides(change: Change, judgement: Judgement) -> bool:
    guard = judgement.guard
    return change.now > change.was and change.operation in guard.guarded and change.key.startswith(f"{guard.subject}/")
