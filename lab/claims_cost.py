"""The claims of the documents about what an operation costs, and what that grows with."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from lab.bench import Bench
from lab.claim import FASTER, NOT_SLOWER, OVER, Judgement, Line, Outcome, not_measured, outcome_of, weigh
from lab.claims_perl import (
    ARRAY,
    CHUNKED,
    KNOWN_TAIL,
    LIST,
    MANY,
    in_us,
    perl_faster,
    perl_series,
    perl_shares,
)
from lab.evidence import Place
from lab.reference import perl
from lab.units import format_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PART = 100_000
"""The longest part that the documents put back."""

OPERATIONS = {
    "enqueue": {"enqueue", "enqueue-in-order", "enqueue-out-of-order"},
    "take": {"take"},
    "process": {"process", "take+process"},
    "requeue": {"requeue"},
}
"""What a claim about every operation must have a row of, and the operations of rows that are it."""

MOST = 0.5
"""The share over which something is most of the cycle."""


def array_beats_linked(bench: Bench) -> Iterable[Judgement]:
    """The array is faster at everything that was timed on both."""
    places = bench.evidence.places(LIST, ARRAY)
    yield Judgement(
        "array-beats-linked",
        "The array is faster than the linked list at every operation.",
        perl_faster(bench.reference),
        (*weigh([bench.beside(place, ARRAY, LIST) for place in places], FASTER), *_uncovered(places)),
    )


def put_back_and_length(bench: Bench) -> Iterable[Judgement]:
    """Putting back costs the same whatever is queued behind, subject by subject."""
    found = {
        subject: bench.evidence.places(subject, kind="latency", workload="cycle", operation="requeue")
        for subject in bench.evidence.subjects
    }
    measured = {subject: places for subject, places in found.items() if places}
    for subject, places in (measured or {LIST: [], ARRAY: []}).items():
        yield Judgement(
            "put-back-and-length",
            f"Putting back on `{subject}` does not depend on the length of the queue.",
            perl_series(bench.reference, "cycle", subject, "requeue", "queued", "best_of_3"),
            tuple(bench.growth(subject, _along(places, "queued"), grows=False)),
            subject,
        )


def put_back_and_part(bench: Bench) -> Iterable[Judgement]:
    """Putting back grows with the part on the list and on the array; with the tail known it does not."""
    for subject, grows in ((LIST, True), (KNOWN_TAIL, False), (ARRAY, True)):
        cycle = bench.evidence.places(subject, kind="latency", workload="cycle", operation="requeue")
        reattach = bench.evidence.places(subject, kind="latency", workload="reattach", operation="reattach")
        name = {LIST: "append_to", KNOWN_TAIL: "append_to_known_tail"}.get(subject, "")
        in_perl = perl_series(bench.reference, "reattach", subject, name, "due", "mean") if name else ""
        yield Judgement(
            "put-back-and-part",
            f"Putting back on `{subject}` {'grows' if grows else 'does not grow'} with the part put back.",
            in_perl or perl_series(bench.reference, "cycle", subject, "requeue", "due", "best_of_3"),
            tuple(bench.growth(subject, {**_along(reattach, "part"), **_along(cycle, "due")}, grows=grows)),
            subject,
        )


def known_tail_beats_array(bench: Bench) -> Iterable[Judgement]:
    """The one operation where the list would win."""
    places = bench.evidence.places(KNOWN_TAIL, ARRAY, workload="cycle", operation="requeue", due=PART)
    ours = perl(bench.reference, "reattach", KNOWN_TAIL, "append_to_known_tail", str(MANY), str(PART), statistic="mean")
    in_perl = (
        "" if ours is None else f"`{KNOWN_TAIL}` {in_us(ours)} at {format_count(PART)}, `{ARRAY}` not measured there"
    )
    yield Judgement(
        "known-tail-beats-array",
        f"At {format_count(PART)} the known tail puts back faster than the array.",
        in_perl,
        tuple(weigh([bench.beside(place, KNOWN_TAIL, ARRAY) for place in places], FASTER)),
    )


def scan_is_most_of_the_cycle(bench: Bench) -> Iterable[Judgement]:
    """What the documents call the scan is the take: the walk over what is due, and the cut behind it."""
    trials = []
    for place in bench.evidence.places(LIST, kind="latency", workload="cycle", operation="take"):
        shares = _shares(bench, place)
        if shares:
            said = f"{median(shares):.1%} of take + requeue ({min(shares):.1%} .. {max(shares):.1%}), beside {MOST:.0%}"
            trials.append(bench.limit(str(place), shares, MOST, said))
    yield Judgement(
        "scan-is-most-of-the-cycle",
        "The take, which scans for what is due, is over half of the linked list's cycle.",
        perl_shares(bench.reference),
        tuple(weigh(trials, OVER)),
    )


def _shares(bench: Bench, take: Place) -> list[float]:
    """Return take ÷ (take + requeue), process by process, net of the clock where one of them is mostly clock."""
    evidence = bench.evidence
    for requeue in evidence.places(LIST, kind="latency", workload="cycle", operation="requeue"):
        if requeue.params == take.params:
            column = "net_p50_ns" if evidence.net(take, LIST) or evidence.net(requeue, LIST) else "p50_ns"
            both = (evidence.by_process(place, LIST, column) for place in (take, requeue))
            ours, theirs = both
            common = sorted(ours.keys() & theirs.keys())
            return [ours[process] / (ours[process] + theirs[process]) for process in common]
    return []


def enqueue_and_length(bench: Bench) -> Iterable[Judgement]:
    """Queueing in start order costs the same however many are queued; out of order the list walks."""
    for subject in (LIST, ARRAY):
        places = bench.evidence.places(subject, kind="cost", workload="enqueue-in-order")
        yield Judgement(
            "enqueue-and-length",
            f"In start order, queueing on `{subject}` costs the same however many are queued.",
            perl_series(bench.reference, "enqueue_in_order", subject, "enqueue", "queued", "mean"),
            tuple(bench.growth(subject, _along(places, "messages"), grows=False)),
            subject,
        )
    places = bench.evidence.places(LIST, kind="cost", workload="enqueue-out-of-order")
    yield Judgement(
        "enqueue-out-of-order",
        "Out of start order, queueing on the linked list grows with the queue.",
        perl_series(bench.reference, "enqueue_out_of_order", LIST, "enqueue", "queued", "mean"),
        tuple(bench.growth(LIST, _along(places, "messages"), grows=True)),
    )


def chunked_loses_to_nothing(bench: Bench) -> Iterable[Judgement]:
    """Row by row, time and memory, against every other contender of the run."""
    places = bench.evidence.places(CHUNKED, kind=("latency", "cost", "batched", "memory"))
    others = {place: [name for name in bench.evidence.measured(place) if name != CHUNKED] for place in places}
    trials = [bench.beside(place, CHUNKED, other) for place in places for other in others[place]]
    lines = iter(weigh(trials, NOT_SLOWER))
    contested = [place for place in places if others[place]]
    rows = [_row(place, [next(lines) for _ in others[place]]) for place in contested]
    rows += _uncovered(contested)
    yield Judgement("chunked-loses-to-nothing", "`chunked` loses to nothing, row by row.", "", tuple(rows))


def _row(place: Place, lines: Sequence[Line]) -> Line:
    """Fold the comparisons with every other contender at one place into one row, which those it lost to decide."""
    outcome = outcome_of(lines)
    deciding = [line for line in lines if line.outcome is outcome]
    said = (
        f"no slower than {len(lines)} others" if outcome is Outcome.HOLDS else "; ".join(one.said for one in deciding)
    )
    return Line(str(place), outcome, said, {"against": [line.figures for line in lines]})


def _uncovered(places: Sequence[Place]) -> list[Line]:
    """Return a line for every operation of the contract that a claim about all of them has no row of.

    [] when there is no row at all: nothing of the claim was measured then.
    """
    measured = {place.operation for place in places}
    missing = [name for name, names in OPERATIONS.items() if not measured & names]
    return [not_measured(name, "no row of it in this run") for name in missing] if places else []


def _along(places: Iterable[Place], size: str) -> dict[str, dict[int, Place]]:
    """Group places that differ in one size alone: name -> that size -> place."""
    found: dict[str, dict[int, Place]] = defaultdict(dict)
    for place in places:
        others = [f"{format_count(value)} {name}" for name, value in place.sizes.items() if name != size]
        name = place.workload if place.workload == place.operation else f"{place.operation} of {place.workload}"
        found[", ".join([name, *others])][place.sizes[size]] = place
    return found
