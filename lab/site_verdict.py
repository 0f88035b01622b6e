"""The verdict on a run in a paragraph, out of its rows: which queue, its slowest call, and why to believe it.

What a message's whole life costs comes first. What differs there by less than identical subjects do is a tie, and among
those that tie the slowest call of the structure decides.
"""

from __future__ import annotations

from collections import Counter
from statistics import geometric_mean, median
from typing import Any

from lab.claim import Outcome
from lab.noise import bands, floor_of
from lab.notebook import Reading
from lab.units import format_count, format_ns
from lab.verdict import LEAST_PROCESSES
from lab.worst import short_cause

LEAST_TIE = 0.05
"""A smaller difference is a tie on every machine: the threshold of all our verdicts."""

ALWAYS_THERE = ("growth", "steady-enqueue", "steady-dispatch")
"""Workloads whose slowest calls a user meets whatever the dispatcher does."""


def lives(reading: Reading) -> dict[str, dict[str, float]]:
    """Return subject -> pattern of starts -> what a message's life costs in ns, the median over the processes."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in reading.good:
        if row["kind"] == "batched" and row["workload"].startswith("life-"):
            found.setdefault(row["subject"], {}).setdefault(row["workload"], []).append(row["p50_ns"])
    return {subject: {name: median(ns) for name, ns in by.items()} for subject, by in found.items()}


def overall(reading: Reading) -> dict[str, float]:
    """Return subject -> the geometric mean over the patterns in ns, cheapest first, of those that have all of them."""
    found = lives(reading)
    most = max((len(by) for by in found.values()), default=0)
    means = {subject: geometric_mean(by.values()) for subject, by in found.items() if len(by) == most}
    return dict(sorted(means.items(), key=lambda pair: pair[1]))


def slowest_calls(reading: Reading) -> dict[str, dict[str, Any]]:
    """Return subject -> the row of cases.parquet with its largest structural worst call in ALWAYS_THERE."""
    found: dict[str, dict[str, Any]] = {}
    for row in reading.cases:
        ns = row["structural_worst_ns"]
        if row["workload"] in ALWAYS_THERE and ns is not None:
            known = found.get(row["subject"])
            if known is None or ns > known["structural_worst_ns"]:
                found[row["subject"]] = row
    return found


def verdict(reading: Reading) -> str:
    """Return the verdict as Markdown."""
    means = overall(reading)
    if not means:
        return "**This run cannot say which queue to use:** it timed no message's whole life (the workloads life-…)."
    worst = slowest_calls(reading)
    band = floor_of(bands(reading.every), "batched", "life")
    tie = max(LEAST_TIE, band)
    why = (
        f"identical subjects come out up to {band:.0%} apart"
        if band > LEAST_TIE
        else f"up to {tie:.0%} is no difference"
    )
    first, *others = means
    near = [name for name in others if means[name] <= means[first] * (1 + tie)]
    able = [name for name in (first, *near) if name in worst]
    chosen = min(able, key=lambda name: worst[name]["structural_worst_ns"]) if able else first
    said = [f"**Use `{chosen}`.** {_lives(reading, means, near, why)}"]
    said += _slowest(worst, chosen, [name for name in (first, *near) if name != chosen])
    return ". ".join([*said, *_memory(reading, chosen), *_why(reading)]) + "."


def _lives(reading: Reading, means: dict[str, float], near: list[str], why: str) -> str:
    """Who is cheapest over the whole life, who ties with it, and who comes last."""
    first, *others = means
    patterns = len(lives(reading)[first])
    said = f"Over {patterns} patterns of starts a message's whole life costs least on `{first}`, "
    said += f"{format_ns(round(means[first]))} (geometric mean)"
    if near:
        named = ", ".join(f"`{name}` ({means[name] / means[first]:.2f} times)" for name in near)
        ties = "ties" if len(near) == 1 else "tie"
        said += f"; {named} {ties} with it, because {why}"
    elif others:
        said += f"; the next, `{others[0]}`, costs {means[others[0]] / means[first]:.2f} times as much"
    if len(others) > 1 and others[-1] not in near:
        said += f"; the last is `{others[-1]}`, {means[others[-1]] / means[first]:.3g} times"
    return said


def _slowest(worst: dict[str, dict[str, Any]], chosen: str, beside: list[str]) -> list[str]:
    """The slowest call that the structure of the chosen one makes, what made it slow, and those of who ties with it."""
    if chosen not in worst:
        return ["Its slowest call is not in this run"]
    row = worst[chosen]
    causes = dict(zip(row["worst_index"] or (), row["worst_cause"] or (), strict=False))
    cause = short_cause(causes.get(row["structural_worst_index"], ""))
    said = f"The slowest call of its own making takes {format_ns(row['structural_worst_ns'])} "
    said += f"({row['operation']} number {format_count(row['structural_worst_index'])} of {row['workload']}"
    said += f", {cause})" if cause else ")"
    known = [f"{format_ns(worst[name]['structural_worst_ns'])} on `{name}`" for name in beside if name in worst]
    return [said + (f", against {', '.join(known)}" if known else "")]


def _memory(reading: Reading, subject: str) -> list[str]:
    table = next((one for one in reading.tables if one.title == "Memory"), None)
    held = [row for row in table.rows if row[0].startswith("resident") and row[1] == subject] if table else []
    return [f"A message takes {held[0][2].partition(' (')[0]} of memory"] if held else []


def _why(reading: Reading) -> list[str]:
    """How often each case was measured, and how the claims of the documents came out."""
    count = len({row["process"] for row in reading.good})
    enough = "" if count >= LEAST_PROCESSES else f", under the {LEAST_PROCESSES} that a verdict needs"
    outcomes = Counter(one.outcome for one in reading.judged[0])
    counted = ", ".join(f"{outcomes[one]} {_plural(one, outcomes[one])}" for one in Outcome if outcomes[one])
    said = f"Every case ran in {count} fresh process{'es' if count > 1 else ''}{enough}"
    return [said, f"Of {sum(outcomes.values())} claims of the documents {counted}"]


def _plural(outcome: Outcome, count: int) -> str:
    words = {
        Outcome.HOLDS: ("holds", "hold"),
        Outcome.FAILS: ("does not hold", "do not hold"),
        Outcome.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
        Outcome.NOT_MEASURED: ("was not measured", "were not measured"),
    }
    return words[outcome][count != 1]
