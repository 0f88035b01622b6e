"""Whether something disturbed an execution, and what: from its counters alone, never from the times of its subject.

The parent's side: pure functions, the repeating of what was disturbed, and the budget that keeps the repeats of a noisy
machine within a share of the run. A cause is a word and a colon and what was found, such as "steal: the host took 12 %
of the time".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runners.spawn import Outcome

Row = Mapping[str, Any]

Measured = tuple[Outcome, list[dict[str, Any]], dict[str, Any]]
"""One attempt: its outcome, the columns of each operation, the raw calls."""

MOST_REPEATS = 2
"""How often an execution is run again; the third one is kept, whatever disturbed it."""

REPEAT_SHARE = 0.03
"""Repeats may take so much of the time that the first attempts of a run have taken until then. On a machine that is
never quiet all of it is used up, whatever it is: more of it would be a longer run and not a quieter one."""

WAITING = frozenset({"lateness", "throughput"})
"""Kinds in which many threads of the subject's own wait for each other: that one is put off says nothing of others."""

SERVED = frozenset({"throughput"})
"""Kinds in which others may be busy for the subject: a server, or its own worker processes."""

UNTIMED = frozenset({"memory", "counts", "complexity"})
"""Kinds that time nothing: memory that went to the disk is the one disturbance of their figures."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where on an execution counts as disturbed.

    The defaults let pass what a quiet machine does. Of the 510 latency executions of the reference run in results/, a
    virtual machine with two speed states, 40 had a null call that changed by more than 25 %; of its timed executions
    99 of 100 were put off their processor fewer than 11 times a second.
    """

    steal_share: float = 0.02
    """Share of the counted time that the host may take from the processor."""

    switches_a_second: float = 20.0
    """Involuntary switches a second of counted time; a rival for the processor makes 100 and more."""

    least_switches: int = 5
    """Fewer switches than that are no rate."""

    major_faults: int = 0
    """Page faults that may go to the disk: none, each costs as much as thousands of calls."""

    null_change: float = 0.25
    """By how much the p50 of a null call may differ between before and after: the speed of the machine itself."""

    others_busy: float = 0.5
    """Processors that may be busy for others meanwhile: they share caches, memory and frequency."""


def disturbed(kind: str, rows: Sequence[Row], bounds: Bounds | None = None, machine: Machine | None = None) -> str:
    """Return the causes that disturbed an execution of `kind`, `; ` between them; "" when there were none.

    `rows` has the columns of each operation. A counter that is missing or None tells nothing. Ticks are coarse: one of
    them may have begun before the counting or gone on after it, so only what certainly fell inside counts. O(rows).

    >>> disturbed("latency", [{"counted_ns": 10**9, "involuntary_switches": 240}])
    'switches: put off the processor 240 times a second'
    """
    bounds, machine = bounds or Bounds(), machine or Machine.this()
    shared = rows[0] if rows else {}
    found = [_disk(shared, bounds)]
    if kind not in UNTIMED:
        found += [
            _steal(shared, bounds, machine),
            "" if kind in WAITING else _switches(shared, bounds),
            _speed(rows, bounds),
            "" if kind in SERVED else _load(shared, bounds, machine),
        ]
    return "; ".join(filter(None, found))


@dataclass(frozen=True, slots=True)
class Machine:
    """What ticks mean here: how long one is, in ns, and how many processors count them."""

    tick_ns: int = 10_000_000
    processors: int = 1

    @staticmethod
    def this() -> Machine:
        """Return the machine that this runs on."""
        try:
            ticks_a_second = os.sysconf("SC_CLK_TCK")
        except (AttributeError, ValueError, OSError):
            ticks_a_second = 100
        return Machine(1_000_000_000 // max(1, ticks_a_second), os.cpu_count() or 1)


@dataclass(slots=True)
class Budget:
    """How much time repeats may still take: `share` of what the first attempts took, the next repeat included.

    The first executions of a run can therefore not be repeated: nothing vouches yet for how long it will be.

    >>> budget = Budget(share=0.25, first_ns=4_000)
    >>> budget.allows(1_000), budget.allows(1_001)
    (True, False)
    """

    share: float = REPEAT_SHARE
    first_ns: int = 0
    repeats_ns: int = 0

    def allows(self, next_ns: int) -> bool:
        """Return whether a repeat that takes about `next_ns` keeps within the share."""
        return self.repeats_ns + next_ns <= self.share * self.first_ns

    def remember(self, rows: Iterable[Row]) -> None:
        """Take over what the executions in `rows` took, as far as it is recorded: a repeat as long as what was kept."""
        for row in {(row["position"], row["process"]): row for row in rows}.values():
            self.first_ns += row["duration_ns"] or 0
            self.repeats_ns += (row["attempt"] or 0) * (row["duration_ns"] or 0)


def undisturbed(
    kind: str, measure: Callable[[], Measured], budget: Budget, bounds: Bounds | None = None
) -> tuple[list[str], Measured]:
    """Measure until nothing disturbs it, three times at most; return the causes of what was set aside, and the rest.

    `measure` runs one attempt and returns its outcome, the columns of each operation and the raw calls. An end other
    than ok is an answer and is kept. When the budget is used up, a disturbed one is kept as well.
    """
    set_aside: list[str] = []
    while True:
        measured = measure()
        outcome, operations, _ = measured
        if set_aside:
            budget.repeats_ns += outcome.duration_ns
        else:
            budget.first_ns += outcome.duration_ns
        causes = disturbed(kind, operations, bounds) if outcome.ok else ""
        if not causes or len(set_aside) == MOST_REPEATS or not budget.allows(outcome.duration_ns):
            return set_aside, measured
        set_aside.append(causes)


def _steal(row: Row, bounds: Bounds, machine: Machine) -> str:
    ticks = row.get("steal_own_ticks")
    if ticks is None:
        ticks = row.get("steal_ticks")
    counted_ns = row.get("counted_ns")
    if ticks is None or not counted_ns:
        return ""
    share = min(1.0, max(0, ticks - 1) * machine.tick_ns / counted_ns)
    return f"steal: the host took {share:.0%} of the time".replace("%", " %") if share > bounds.steal_share else ""


def _switches(row: Row, bounds: Bounds) -> str:
    switches, counted_ns = row.get("involuntary_switches"), row.get("counted_ns")
    if switches is None or not counted_ns or switches < bounds.least_switches:
        return ""
    rate = switches * 1_000_000_000 / counted_ns
    return f"switches: put off the processor {rate:.0f} times a second" if rate > bounds.switches_a_second else ""


def _disk(row: Row, bounds: Bounds) -> str:
    faults = row.get("major_faults") or 0
    went = "fault" if faults == 1 else "faults"
    return f"disk: {faults} page {went} went to the disk" if faults > bounds.major_faults else ""


def _speed(rows: Sequence[Row], bounds: Bounds) -> str:
    """The operation whose null call changed most says it; a ratio and its inverse are the same change."""
    pairs = [(row.get("null_p50_before_ns"), row.get("null_p50_after_ns")) for row in rows]
    known = [(before, after) for before, after in pairs if before and after]
    if not known:
        return ""
    before, after = max(known, key=lambda pair: max(pair) / min(pair))
    if max(before, after) / min(before, after) <= 1 + bounds.null_change:
        return ""
    return f"speed: a null call took {before:.0f} ns before and {after:.0f} ns after"


def _load(row: Row, bounds: Bounds, machine: Machine) -> str:
    busy, own_ns, counted_ns = row.get("busy_ticks"), row.get("processor_ns"), row.get("counted_ns")
    if busy is None or own_ns is None or not counted_ns:
        return ""
    others = ((busy - machine.processors) * machine.tick_ns - own_ns) / counted_ns
    return f"load: others kept {others:.1f} processors busy" if others > bounds.others_busy else ""
