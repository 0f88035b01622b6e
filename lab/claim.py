"""What a claim is: a sentence that can be false, the evidence for and against it line by line, and the verdict.

A line holds, contradicts or cannot tell; a claim holds when every line does, does not hold when one contradicts it,
and is inconclusive otherwise. What was not measured is said to be, and decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from lab.table import Table
from lab.verdict import LEAST_PROCESSES, Finding, Verdict, corrected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Test = Callable[[Finding], bool]

ALPHA = 0.05


class Outcome(StrEnum):
    """How a claim, or one line of its evidence, comes out."""

    HOLDS = "holds"
    FAILS = "does not hold"
    INCONCLUSIVE = "inconclusive"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Line:
    """One piece of evidence: what was looked at, how it bears on the claim, its figures in words and as numbers."""

    what: str
    outcome: Outcome
    said: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim and what a run makes of it.

    `perl` is what the documents found, "" where they have no figure; `subject` is whom a claim per subject is about.
    """

    name: str
    sentence: str
    perl: str
    lines: tuple[Line, ...]
    subject: str = ""

    @property
    def outcome(self) -> Outcome:
        """The verdict that follows from the lines."""
        return outcome_of(self.lines)


def outcome_of(lines: Sequence[Line]) -> Outcome:
    """Return what the lines come to together.

    One that contradicts decides, whatever was not measured; one that cannot tell, or was not measured, keeps the claim
    from holding.

    >>> outcome_of([Line("a", Outcome.HOLDS, ""), Line("b", Outcome.NOT_MEASURED, "")]).value
    'not measured'
    """
    found = {line.outcome for line in lines}
    for decisive in (Outcome.FAILS, Outcome.INCONCLUSIVE, Outcome.NOT_MEASURED):
        if decisive in found:
            return decisive
    return Outcome.HOLDS if lines else Outcome.NOT_MEASURED


@dataclass(frozen=True, slots=True)
class Trial:
    """A comparison that a line is made of: what was compared, what came out, the two figures in words and numbers."""

    what: str
    finding: Finding
    said: str
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which findings bear a claim out, and which contradict it; all others cannot tell."""

    supports: Test
    contradicts: Test


def _is(*verdicts: Verdict) -> Test:
    return lambda found: found.verdict in verdicts


def _no_slower(found: Finding) -> bool:
    """Return whether B is at most a tie behind A: a difference inside the threshold or the A/A band is one."""
    return found.high <= 1 + max(found.threshold, found.floor)


FASTER = Rule(_is(Verdict.FASTER), _is(Verdict.SLOWER, Verdict.SAME))
"""B beats A: a tie contradicts it."""

NOT_SLOWER = Rule(_no_slower, _is(Verdict.SLOWER))
"""B loses nothing to A: a tie bears it out."""

UNDER = Rule(_is(Verdict.FASTER), _is(Verdict.SLOWER, Verdict.SAME))
"""B lies under the limit A."""

OVER = Rule(_is(Verdict.SLOWER, Verdict.SAME), _is(Verdict.FASTER))
"""B lies at or over the limit A."""


def weigh(trials: Sequence[Trial], rule: Rule) -> list[Line]:
    """Return a line for every trial.

    A claim over many rows holds only if every single one bears it out, each at the level of one test; to contradict it
    takes one row, so a contradiction must stand in the family of all rows (Holm). O(trials log trials).
    """
    family = corrected([trial.finding for trial in trials], alpha=ALPHA)
    lines = []
    for trial, found in zip(trials, family, strict=True):
        outcome = Outcome.INCONCLUSIVE
        if rule.supports(trial.finding):
            outcome = Outcome.HOLDS
        elif rule.contradicts(found):
            outcome = Outcome.FAILS
        said = found if outcome is not Outcome.HOLDS else trial.finding
        lines.append(Line(trial.what, outcome, f"{trial.said}: {said.sentence}", {**trial.figures, **plain(said)}))
    return lines


def plain(found: Finding) -> dict[str, Any]:
    """Return the figures of a finding as plain data for JSON, which knows no NaN and no infinity."""
    named = {"ratio": found.ratio, "low": found.low, "high": found.high, "p": found.p, "floor": found.floor}
    numbers = {name: value if math.isfinite(value) else None for name, value in named.items()}
    return {"verdict": found.verdict.value, **numbers, "processes": [found.n_a, found.n_b]}


def enough(*samples: Sequence[float]) -> str:
    """Return what is missing when a sample has fewer processes than a verdict needs, else an empty text.

    >>> enough([1, 2, 3])
    'needs 5 processes, has 3'
    """
    fewest = min(map(len, samples), default=0)
    return "" if fewest >= LEAST_PROCESSES else f"needs {LEAST_PROCESSES} processes, has {fewest}"


def not_measured(what: str, said: str) -> Line:
    """Return the line that says that something the claim is about is not in the run."""
    return Line(what, Outcome.NOT_MEASURED, said)


SHOWN = 4
"""Lines of evidence that are printed whole; of more only those that contradict are."""

NAMED = 6
"""Lines that cannot tell and are named; `--json` has them all."""


def counted(lines: Sequence[Line]) -> str:
    """Return how many lines there are of each kind, in words.

    >>> counted([Line("a", Outcome.HOLDS, ""), Line("b", Outcome.FAILS, ""), Line("c", Outcome.HOLDS, "")])
    '2 of 3 rows bear it out, 1 contradicts it'
    """
    number = {outcome: sum(line.outcome is outcome for line in lines) for outcome in Outcome}
    parts = [f"{number[Outcome.HOLDS]} of {len(lines)} rows bear it out"]
    if against := number[Outcome.FAILS]:
        parts.append(f"{against} contradict{'s' if against == 1 else ''} it")
    if unclear := number[Outcome.INCONCLUSIVE]:
        parts.append(f"{unclear} cannot tell")
    if missing := number[Outcome.NOT_MEASURED]:
        parts.append(f"{missing} not measured")
    return ", ".join(parts)


def shown(judgement: Judgement) -> list[str]:
    """Return what a run shows about a claim, a text for each line that is printed.

    All of them where they are few; else how many there are of each kind, those that contradict, and some of those that
    cannot tell by name.
    """
    lines = judgement.lines
    if not lines:
        return ["nothing of it was measured"]
    if len(lines) <= SHOWN:
        return [_line(line) for line in lines]
    against = [line for line in lines if line.outcome is Outcome.FAILS]
    unclear = [line.what for line in lines if line.outcome is Outcome.INCONCLUSIVE]
    more = f" and {len(unclear) - NAMED} more" if len(unclear) > NAMED else ""
    named = [f"unclear: {' · '.join(unclear[:NAMED])}{more}"] if unclear else []
    return [counted(lines), *(_line(line) for line in against), *named]


def _line(line: Line) -> str:
    mark = {Outcome.FAILS: "against: ", Outcome.INCONCLUSIVE: "unclear: "}.get(line.outcome, "")
    return f"{mark}{line.what}: {line.said}" if line.what else f"{mark}{line.said}"


NO_PERL = "no figure"


def text(judgements: Sequence[Judgement]) -> str:
    """Return the claims for a terminal, a paragraph each: verdict and sentence, Perl, what the run shows."""
    paragraphs = []
    for one in judgements:
        lines = [f"{one.outcome.value.upper():<15}{one.sentence}", f"{'':<15}Perl: {one.perl or NO_PERL}"]
        lines += [f"{'':<15}here: {shown(one)[0]}", *(f"{'':<21}{said}" for said in shown(one)[1:])]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def table(judgements: Sequence[Judgement], notes: Sequence[str] = ()) -> Table:
    """Return the claims as a table: claim, what the documents found in Perl, what this run shows, verdict."""
    rows = tuple((one.sentence, one.perl or NO_PERL, "; ".join(shown(one)), one.outcome.value) for one in judgements)
    header = ("claim", "Perl", "this run", "verdict")
    return Table("Claims of the documents", header, rows, tuple(notes), frozenset(header))


def as_json(judgements: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Return the claims as plain data, every line of evidence with its figures."""
    return [
        {
            "claim": one.name,
            "subject": one.subject or None,
            "sentence": one.sentence,
            "perl": one.perl or None,
            "verdict": one.outcome.value,
            "evidence": [
                {"what": line.what, "verdict": line.outcome.value, "shows": line.said, "figures": line.figures}
                for line in one.lines
            ],
        }
        for one in judgements
    ]
