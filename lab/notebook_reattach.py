"""The pieces of the notebook about the reattach: does putting back cost the same whatever is put back?"""

from __future__ import annotations

from lab.claim import Outcome, outcome_of
from lab.figure_scaling import exponent, hundredths, middles, scaling, series
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.scaling import SLOPE_BOUND
from lab.units import format_count, format_ns


def primitives(reading: Reading) -> list[Piece]:
    """Return the list's own calls over the part that is cut off and put back, and what their slopes say."""
    pieces: list[Piece] = []
    sentences = []
    for operation in ("reattach", "detach"):
        found = series(reading.good, "part", kind="latency", workload="reattach", operation=operation)
        pieces += scaling(f"{operation}, on the list itself", "messages in the part", found)
        for subject, by_size in found.items():
            points = middles(by_size)
            slope = exponent(points)
            if slope is not None:
                word = "hardly depends on" if abs(slope) <= 2 * SLOPE_BOUND else "grows with"
                ends = f"{format_ns(points[0][1])} at {format_count(int(points[0][0]))}"
                ends += f", {format_ns(points[-1][1])} at {format_count(int(points[-1][0]))}"
                sentences.append(f"{operation} on `{subject}` {word} the part (slope {hundredths(slope)}: {ends})")
    return [*pieces, f"**{'; '.join(sentences)}.**"] if sentences else [nothing("the workload reattach")]


def unused(reading: Reading) -> list[Piece]:
    """Return the put back of the unused part of a batch over that part, logarithmic; nothing unused is left out."""
    found = series(reading.good, "unused", kind="latency", workload="requeue-unused", operation="requeue")
    above = {subject: {size: ns for size, ns in by_size.items() if size} for subject, by_size in found.items()}
    drawn = scaling("requeue of what was not used", "messages unused", {k: v for k, v in above.items() if v})
    return list(drawn) if drawn else [nothing("the workload requeue-unused")]


def verdict(reading: Reading) -> list[Piece]:
    """Say in a sentence what the proposal of the documents is worth on this run, from its claims."""
    wanted = ("put-back-and-part", "known-tail-beats-array")
    lines = {
        one.sentence: one.outcome
        for one in reading.judged[0]
        if one.name in wanted and outcome_of(one.lines) is not Outcome.NOT_MEASURED
    }
    if not lines:
        return [nothing("a claim about putting back")]
    said = " ".join(f"“{sentence}” — {outcome.value}." for sentence, outcome in lines.items())
    return [f"**{said}**"]
