"""The claims of the documents about memory: what a message takes, and what a container keeps after a burst."""

from __future__ import annotations

from lab.bench import Bench
from lab.claim import FASTER, Judgement, Line, Outcome, weigh
from lab.claims_perl import ARRAY, LIST, MANY
from lab.evidence import Place
from lab.reference import perl
from lab.units import format_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

POINTER_BYTES = 8

KEPT, GIVEN_BACK = 0.5, 0.01
"""Shares of one pointer a message of the burst: a container that has more than half still keeps its room, one that has
less than a hundredth has given it back."""


def memory_per_message(bench: Bench) -> Iterable[Judgement]:
    """A node and its links against a slot."""
    places = bench.evidence.places(LIST, ARRAY, kind="memory", workload="resident")
    ours, theirs = (
        perl(bench.reference, "memory", subject, "resident", str(MANY), statistic="per_message")
        for subject in (LIST, ARRAY)
    )
    in_perl = f"{ours:g} B on the list, {theirs:g} B on the array" if ours and theirs else ""
    yield Judgement(
        "memory-per-message",
        "A message takes less memory on the array than on the linked list.",
        in_perl and f"{in_perl}: {ours / theirs:.2f} times" if ours and theirs else "",
        tuple(weigh([bench.beside(place, ARRAY, LIST) for place in places], FASTER)),
    )


def drained_container(bench: Bench) -> Iterable[Judgement]:
    """What the container still holds after a burst, in pointers a message of the burst."""
    for subject, keeps in ((LIST, False), (ARRAY, True)):
        places = bench.evidence.places(subject, kind="memory", workload="drained")
        left = perl(bench.reference, "memory_drained", subject, "container", "10", statistic="shallow")
        what = "keeps the room it grew to" if keeps else "follows the queue"
        yield Judgement(
            "drained-container",
            f"Drained to a few messages after a burst, the container of `{subject}` {what}.",
            "" if left is None else f"{format_bytes(left)} with 10 messages left",
            tuple(_drained_line(bench, place, subject, keeps) for place in places),
            subject,
        )


def _drained_line(bench: Bench, place: Place, subject: str, keeps: bool) -> Line:
    """Sizes are counts, the same in every process, so two processes that agree are enough."""
    (values,) = bench.evidence.figures(place, subject)
    room = [value / (POINTER_BYTES * place.sizes["messages"]) for value in values]
    figures = {"subject": subject, "unit": "bytes", "values": values, "pointers_a_message": room}
    if len(values) < 2:
        return Line(str(place), Outcome.INCONCLUSIVE, f"needs 2 processes, has {len(values)}", figures)
    if len(set(values)) > 1:
        said = f"{format_bytes(min(values))} .. {format_bytes(max(values))}: differs from process to process"
        return Line(str(place), Outcome.INCONCLUSIVE, said, figures)
    holds = room[0] > KEPT if keeps else room[0] < GIVEN_BACK
    said = f"{subject} {format_bytes(values[0])}, {room[0]:.2%} of one pointer a message of the burst"
    return Line(str(place), Outcome.HOLDS if holds else Outcome.FAILS, said, figures)
