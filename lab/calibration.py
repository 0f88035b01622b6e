"""The calibration of the instrument: what was put in, what came out, the error, what is allowed, and whether it holds.

Nothing here knows a subject or runs one: the checks are made of numbers, in any unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.claim import Line, Outcome, outcome_of
from lab.table import Table

Unit = Callable[[float], str]

SHARE = 0.03
"""A timed figure may be wrong by so much of itself, and by one step of the clock."""

MEMORY_SHARE = 0.02
"""A figure of memory may be wrong by so much of itself."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure of known truth, all in words but the outcome.

    `why` says what is in the way of one that does not hold, or cannot be told.
    """

    what: str
    put_in: str
    came_out: str
    error: str
    allowed: str
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that came out beside its truth; `doubt` is what the machine itself changed by meanwhile."""

    truth: float
    found: float
    doubt: float = 0.0

    @property
    def error(self) -> float:
        """By how much it is wrong."""
        return self.found - self.truth


def near(what: str, measures: Sequence[Measure], unit: Unit, share: float, step: float = 0.0, why: str = "") -> Check:
    """Return whether a figure is its truth, within `share` of it and a step more, from one measure of each process.

    That of the process with the median error is judged and shown, as a table shows one execution of a case; of an even
    number the one of the two in the middle that is farther off. One that is wrong by no more than is allowed and its
    doubt together is inconclusive, and `why` says what the doubt is. ValueError without any measure, and for a truth of
    0, of which there is no share.

    >>> near("spin", [Measure(2_000, 2_050), Measure(2_000, 2_900), Measure(2_000, 1_990)], str, 0.03).error
    '+2.5 %'
    """
    ranked = sorted(measures, key=lambda one: one.error / one.truth)
    if not ranked:
        raise ValueError(f"{what}: no measure was given, expected at least one")
    middle = max(ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2], key=lambda one: abs(one.error / one.truth))
    allowed = share * abs(middle.truth) + step
    outcome = Outcome.HOLDS if abs(middle.error) <= allowed else Outcome.FAILS
    if outcome is Outcome.FAILS and abs(middle.error) <= allowed + middle.doubt:
        outcome = Outcome.INCONCLUSIVE
    return Check(
        what,
        unit(middle.truth),
        unit(middle.found),
        f"{100 * middle.error / middle.truth:+.1f} %",
        f"±{100 * share:g} %" + (f" and {unit(step)}" if step else ""),
        outcome,
        why if outcome is Outcome.INCONCLUSIVE else "",
    )


def under(what: str, put_in: str, values: Sequence[float], limit: float, unit: Unit, said: str) -> Check:
    """Return whether what must be absent from a figure is: the median over the processes lies under `limit`.

    `said` is the limit in words. ValueError without any value.

    >>> under("sleep", "2 ms", [12, 15, 90], 100, str, "under 100").outcome.value
    'holds'
    """
    if not values:
        raise ValueError(f"{what}: no value was given, expected at least one")
    middle = sorted(values)[len(values) // 2]
    return Check(what, put_in, unit(middle), "–", said, Outcome.HOLDS if middle <= limit else Outcome.FAILS)


def counted(what: str, put_in: str, held: Sequence[bool], noun: str, why: str = "") -> Check:
    """Return whether something was so every time; `why` says what was found instead where it was not.

    >>> counted("told apart", "each of 3 runs", [True, True, False], "run").error
    '1 run'
    """
    missed = len(held) - sum(held)
    return Check(
        what,
        put_in,
        f"{sum(held)} of {len(held)}",
        f"{missed} {noun}{'' if missed == 1 else 's'}" if missed else "none",
        "none",
        Outcome.FAILS if missed or not held else Outcome.HOLDS,
        why if missed else "",
    )


def no_figure(what: str, put_in: str, outcome: Outcome, why: str) -> Check:
    """Return the check of which nothing came out."""
    return Check(what, put_in, "–", "–", "–", outcome, why)


def judged(checks: Sequence[Check]) -> Outcome:
    """Return what all of them come to: one that does not hold decides, then one that cannot tell."""
    return outcome_of([Line(check.what, check.outcome, "") for check in checks])


def table(checks: Sequence[Check], notes: Sequence[str] = ()) -> Table:
    """Return the checks as a table; its notes are followed by what is in the way of those that do not hold."""
    header = ("what", "put in", "came out", "error", "allowed", "so it")
    rows = tuple((one.what, one.put_in, one.came_out, one.error, one.allowed, one.outcome.value) for one in checks)
    reasons = (f"{one.what}: {one.why}" for one in checks if one.why)
    return Table("The instrument on known truths", header, rows, (*notes, *reasons), frozenset({"what", "so it"}))


def sentence(checks: Sequence[Check]) -> str:
    """Return how many hold, and the names of those that do not.

    >>> sentence([counted("a", "", [True], "run"), counted("b", "", [False], "run")])
    '1 of 2 checks hold; does not hold: b'
    """
    said = f"{sum(one.outcome is Outcome.HOLDS for one in checks)} of {len(checks)} checks hold"
    for outcome in (Outcome.FAILS, Outcome.INCONCLUSIVE, Outcome.NOT_MEASURED):
        names = [one.what for one in checks if one.outcome is outcome]
        if names:
            said += f"; {outcome.value}: {', '.join(names)}"
    return said
