"""The claims of the documents as functions of a run: sentences that it bears out, contradicts or cannot tell.

A claim that does not hold in Python is a finding, not a failure. Longer than 300 lines because every claim is a
function here, with the Perl figures that stand beside it.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from lab import claims_advisory, claims_events, claims_pacing
from lab.bench import Bench
from lab.claim import (
    FASTER,
    NOT_SLOWER,
    OVER,
    UNDER,
    Judgement,
    Line,
    Outcome,
    Rule,
    Trial,
    enough,
    not_measured,
    outcome_of,
    weigh,
)
from lab.evidence import Evidence, Place, typical
from lab.reference import PERL, perl, read_reference, series
from lab.units import format_bytes, format_count, format_ns
from lab.verdict import LEAST_PROCESSES
from lab.worst import SHOWN, short_cause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from lab.recorded import Recorded
    from lab.reference import Reference

    Claim = Callable[[Bench], Iterable[Judgement]]

LIST, KNOWN_TAIL, ARRAY, CHUNKED = "linked", "linked-known-tail", "array", "chunked"

MANY = 200_000
"""Messages in the documents' long queue."""

LARGE = 2_000_000
"""The longest queue of which the documents say that its growth stays under the limit."""

PART = 100_000
"""The longest part that the documents put back."""

LIMIT_NS = 1_000_000
"""1 ms: the documents call what stays under it small, and what lies over it a pause."""

SPIKE = 10
"""A growth call is a spike when it takes more than ten times the p50 in every process."""

GROWTH = "growth"
"""The word in the cause of a call that is slow because its container grew."""

OPERATIONS = {
    "enqueue": {"enqueue", "enqueue-in-order", "enqueue-out-of-order"},
    "take": {"take"},
    "process": {"process", "take+process"},
    "requeue": {"requeue"},
}
"""What a claim about every operation must have a row of, and the operations of rows that are it."""

MOST = 0.5
"""The share over which something is most of the cycle."""

POINTER_BYTES = 8
KEPT, GIVEN_BACK = 0.5, 0.01
"""Shares of one pointer a message of the burst: a container that has more than half still keeps its room, one that has
less than a hundredth has given it back."""


def judge(bench: Bench) -> list[Judgement]:
    """Return every claim with what the run makes of it, in the order of the documents. O(places × subjects)."""
    return [found for claim in CLAIMS for found in claim(bench)]


def judge_run(run: Recorded) -> tuple[list[Judgement], list[str]]:
    """Return every claim with what a run makes of it, and the sentences that say how it was judged.

    The claims of the documents come first, unless the run has other families alone; then those about the families.
    ArchiveError when the run's files are damaged. O(rows + places × subjects).
    """
    evidence = Evidence.of(run, order=list(PERL))
    clock, gc = evidence.arm
    widest = max((band.floor for band in evidence.bands), default=0.0)
    tie = (
        f"; identical subjects differ by up to {widest:.1%}, a difference inside their band is a tie" if widest else ""
    )
    notes = [f"clock {clock}, collector {gc}{tie}; a verdict needs {LEAST_PROCESSES} processes a side."]
    if not evidence.bands:
        notes.append("The run holds no A/A pair, so only the threshold of ±5 % makes a tie.")
    beside = [found for judge_family in FAMILIES for found in judge_family(run)]
    documents = [] if beside and not evidence.subjects else judge(Bench(evidence, read_reference()))
    return [*documents, *beside], notes


def array_beats_linked(bench: Bench) -> Iterable[Judgement]:
    """The array is faster at everything that was timed on both."""
    places = bench.evidence.places(LIST, ARRAY)
    yield Judgement(
        "array-beats-linked",
        "The array is faster than the linked list at every operation.",
        _perl_faster(bench.reference),
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
            _perl_series(bench.reference, "cycle", subject, "requeue", "queued", "best_of_3"),
            tuple(bench.growth(subject, _along(places, "queued"), grows=False)),
            subject,
        )


def put_back_and_part(bench: Bench) -> Iterable[Judgement]:
    """Putting back grows with the part on the list and on the array; with the tail known it does not."""
    for subject, grows in ((LIST, True), (KNOWN_TAIL, False), (ARRAY, True)):
        cycle = bench.evidence.places(subject, kind="latency", workload="cycle", operation="requeue")
        reattach = bench.evidence.places(subject, kind="latency", workload="reattach", operation="reattach")
        name = {LIST: "append_to", KNOWN_TAIL: "append_to_known_tail"}.get(subject, "")
        in_perl = _perl_series(bench.reference, "reattach", subject, name, "due", "mean") if name else ""
        yield Judgement(
            "put-back-and-part",
            f"Putting back on `{subject}` {'grows' if grows else 'does not grow'} with the part put back.",
            in_perl or _perl_series(bench.reference, "cycle", subject, "requeue", "due", "best_of_3"),
            tuple(bench.growth(subject, {**_along(reattach, "part"), **_along(cycle, "due")}, grows=grows)),
            subject,
        )


def known_tail_beats_array(bench: Bench) -> Iterable[Judgement]:
    """The one operation where the list would win."""
    places = bench.evidence.places(KNOWN_TAIL, ARRAY, workload="cycle", operation="requeue", due=PART)
    ours = perl(bench.reference, "reattach", KNOWN_TAIL, "append_to_known_tail", str(MANY), str(PART), statistic="mean")
    in_perl = (
        "" if ours is None else f"`{KNOWN_TAIL}` {_us(ours)} at {format_count(PART)}, `{ARRAY}` not measured there"
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
        _perl_shares(bench.reference),
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


class Spikes:
    """What is known of the array's worst calls at a place, by cause.

    `grew` is the slowest call (index, least over the processes, time in each) that is slow because the container grew;
    `unexplained_ns` the slowest whose cause is not known; `unlisted_ns` what no call beyond the listed ones exceeds.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        calls = _listed(row)
        grew = [call for call, cause in calls if GROWTH in short_cause(cause)]
        self.grew = max(grew, key=lambda call: call[1], default=None)
        self.unexplained_ns = max((call[1] for call, cause in calls if not short_cause(cause)), default=0)
        self.unlisted_ns = calls[:SHOWN][-1][0][1]
        self.worst, self.worst_cause = calls[0][0], short_cause(calls[0][1])

    def over(self, limit_ns: float) -> bool | None:
        """Return whether a growth takes longer than the limit in every process; None when the causes do not tell."""
        if self.grew is not None and self.grew[1] > limit_ns:
            return True
        return None if max(self.unexplained_ns, self.unlisted_ns) > limit_ns else False

    def unexplained_over(self) -> bool:
        """Return whether a call beyond those that are not listed is slow for a reason that is not known."""
        return self.unexplained_ns >= self.unlisted_ns

    def said(self, p50_ns: float) -> str:
        """Return the call that the answer is about in words."""
        if self.grew is None:
            index, least, _ = self.worst
            said = f"slow by {self.worst_cause}" if self.worst_cause else "its cause not known"
            if not self.unexplained_over():
                said += f", no growth among the calls over {format_ns(self.unlisted_ns)}"
            return f"structural worst call {format_ns(least)} @ {format_count(index)}, {said}, p50 {format_ns(p50_ns)}"
        index, least, every = self.grew
        span = f" ({format_ns(min(every))} .. {format_ns(max(every))})" if every else ""
        return f"growth at call {format_count(index)} takes {format_ns(least)}{span}, p50 {format_ns(p50_ns)}"


def _listed(row: Mapping[str, Any]) -> list[tuple[tuple[int, int, list[int]], str]]:
    """Return the worst calls of a row of cases.parquet with their causes, by what they take at least, slowest first.

    A run without the list of the worst calls, or without causes, has its structural worst call alone.
    """
    indices = row.get("worst_index") or []
    if not indices:
        return [((row["structural_worst_index"], row["structural_worst_ns"], []), "")]
    count, every = row["processes"], row["worst_process_ns"] or []
    causes = row["worst_cause"] or [""] * len(indices)
    calls = [
        ((index, least, every[place * count : (place + 1) * count]), cause)
        for place, (index, least, cause) in enumerate(zip(indices, row["worst_ns"], causes, strict=True))
    ]
    return sorted(calls, key=lambda call: -call[0][1])


def growth_spike(bench: Bench) -> Iterable[Judgement]:
    """The array's reallocation: there is one that stands out, and it stays under the limit."""
    places = bench.evidence.places(ARRAY, kind="latency", workload="growth", operation="enqueue")
    in_perl = _perl_range(bench.reference, "latency_growth", ARRAY, "enqueue")
    yield Judgement(
        "growth-spike-exists",
        f"The array's growth has a spike: a call that takes over {SPIKE} times the p50 because the container grows.",
        in_perl,
        tuple(_spike_line(bench, place, None) for place in places),
    )
    lines = [_spike_line(bench, place, LIMIT_NS) for place in places]
    if lines and max(place.sizes["messages"] for place in places) < LARGE:
        lines.append(not_measured(f"enqueue of growth, {format_count(LARGE)} messages", "not in this run"))
    yield Judgement(
        "growth-spike-is-small",
        f"The array's growth spike stays under {format_ns(LIMIT_NS)} to {format_count(LARGE)} messages.",
        in_perl,
        tuple(lines),
    )


def _spike_line(bench: Bench, place: Place, limit_ns: int | None) -> Line:
    """Return whether a growth stands out over the p50 or, with a limit, whether none goes over it."""
    usual = bench.evidence.column(place, ARRAY, "p50_ns")
    row = bench.evidence.worst(place, ARRAY)
    figures: dict[str, Any] = {"p50_ns": usual, "limit_ns": limit_ns or SPIKE * max(usual)}
    if missing := enough(usual):
        return Line(str(place), Outcome.INCONCLUSIVE, missing, figures)
    if row is None or row["structural_worst_ns"] is None:
        said = "no structural worst call: that takes the raw calls of two processes or more"
        return Line(str(place), Outcome.INCONCLUSIVE, said, figures)
    spikes = Spikes(row)
    over = spikes.over(figures["limit_ns"])
    holds = over if limit_ns is None or over is None else not over
    outcome = Outcome.INCONCLUSIVE if holds is None else Outcome.HOLDS if holds else Outcome.FAILS
    index, least, every = spikes.grew or spikes.worst
    figures |= {"index": index, "structural_worst_ns": least, "values": list(every)}
    return Line(str(place), outcome, spikes.said(median(usual)), figures)


def steady_worst_calls(bench: Bench) -> Iterable[Judgement]:
    """The slowest call of a process, as in the documents; the structural worst calls stand beside it."""
    found = {
        workload: bench.evidence.places(LIST, ARRAY, kind="latency", workload=workload)
        for workload in ("steady-enqueue", "steady-dispatch")
    }
    places = [place for measured in found.values() for place in measured]
    trials = [_with_structural(bench, place, bench.worst_calls(place, ARRAY, LIST)) for place in places]
    missing = [not_measured(workload, "not in this run") for workload in found if places and not found[workload]]
    in_perl = [
        f"{operation}: {said}"
        for table, operation, due in (("enqueue", "enqueue", ""), ("dispatch", "take+process", "1"))
        if (said := _perl_both(bench.reference, f"latency_steady_{table}", operation, due))
    ]
    yield Judgement(
        "steady-worst-calls",
        "In steady state the array's slowest calls are faster than the linked list's.",
        "; ".join(in_perl),
        (*weigh(trials, FASTER), *missing),
    )


def _with_structural(bench: Bench, place: Place, trial: Trial) -> Trial:
    rows = {subject: bench.evidence.worst(place, subject) for subject in (ARRAY, LIST)}
    worst = {subject: row["structural_worst_ns"] for subject, row in rows.items() if row is not None}
    known = {subject: ns for subject, ns in worst.items() if ns is not None}
    if len(known) < 2:
        return trial
    said = ", ".join(f"{subject} {format_ns(ns)}" for subject, ns in known.items())
    figures = {**trial.figures, "structural_worst_ns": known}
    return Trial(trial.what, trial.finding, f"{trial.said} (structural worst call {said})", figures)


def freeing(bench: Bench) -> Iterable[Judgement]:
    """Letting go of everything at once is a pause; in batches it is not."""
    yield Judgement(
        "freeing-is-a-pause",
        f"Letting go of {format_count(MANY)} messages at once is a pause of over {format_ns(LIMIT_NS)} on both.",
        _perl_both(bench.reference, "free", "free"),
        _on_both(bench, "free", OVER),
    )
    yield Judgement(
        "batches-bound-freeing",
        f"Letting go of {format_count(MANY)} messages in limited batches keeps every call under {format_ns(LIMIT_NS)}.",
        "",
        _on_both(bench, "free-in-batches", UNDER),
    )


def _on_both(bench: Bench, workload: str, rule: Rule) -> tuple[Line, ...]:
    """Hold the longest call of both against the limit; one that was not measured is said to be missing."""
    places = {
        subject: bench.evidence.places(subject, kind="latency", workload=workload, messages=MANY)
        for subject in (LIST, ARRAY)
    }
    lines = weigh([_longest(bench, place, subject) for subject, found in places.items() for place in found], rule)
    missing = [not_measured(f"{subject}, {workload}", "not in this run") for subject in places if not places[subject]]
    return (*lines, *missing) if lines else ()


def _longest(bench: Bench, place: Place, subject: str) -> Trial:
    values = bench.evidence.column(place, subject, "max_ns")
    span = f"{format_ns(min(values))} .. {format_ns(max(values))}" if values else "–"
    said = f"longest call {typical(place, values)} ({span}), beside {format_ns(LIMIT_NS)}"
    return bench.limit(f"{subject}, {place}", values, LIMIT_NS, said)


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


def enqueue_and_length(bench: Bench) -> Iterable[Judgement]:
    """Queueing in start order costs the same however many are queued; out of order the list walks."""
    for subject in (LIST, ARRAY):
        places = bench.evidence.places(subject, kind="cost", workload="enqueue-in-order")
        yield Judgement(
            "enqueue-and-length",
            f"In start order, queueing on `{subject}` costs the same however many are queued.",
            _perl_series(bench.reference, "enqueue_in_order", subject, "enqueue", "queued", "mean"),
            tuple(bench.growth(subject, _along(places, "messages"), grows=False)),
            subject,
        )
    places = bench.evidence.places(LIST, kind="cost", workload="enqueue-out-of-order")
    yield Judgement(
        "enqueue-out-of-order",
        "Out of start order, queueing on the linked list grows with the queue.",
        _perl_series(bench.reference, "enqueue_out_of_order", LIST, "enqueue", "queued", "mean"),
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


CLAIMS: tuple[Claim, ...] = (
    array_beats_linked,
    enqueue_and_length,
    put_back_and_length,
    put_back_and_part,
    known_tail_beats_array,
    scan_is_most_of_the_cycle,
    growth_spike,
    steady_worst_calls,
    freeing,
    memory_per_message,
    drained_container,
    chunked_loses_to_nothing,
)
"""Every claim, in the order of the documents."""


FAMILIES: tuple[Callable[[Recorded], list[Judgement]], ...] = (
    claims_advisory.judge_run,
    claims_pacing.judge_run,
    claims_events.judge_run,
)
"""The claims about the other families, each of which says nothing of a run without its rows."""


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


def _us(value: float) -> str:
    """The Perl study has microseconds."""
    return format_ns(value * 1000)


def _perl_series(reference: Reference, table: str, subject: str, operation: str, along: str, statistic: str) -> str:
    """Return the Perl figures along one size: "8.00 µs → 63.8 µs at 10 → 1,000 due (200,000 queued)"."""
    found = []
    for others, points in series(reference, table, subject, operation, along, statistic=statistic).items():
        values, sizes = " → ".join(_us(value) for _, value in points), " → ".join(format_count(at) for at, _ in points)
        fixed = ", ".join(f"{format_count(size)} {name}" for name, size in others)
        found.append(f"{values} at {sizes} {along}" + (f" ({fixed})" if fixed else ""))
    return "; ".join(found)


def _perl_range(reference: Reference, table: str, subject: str, operation: str, due: str = "") -> str:
    """Return the slowest call of the Perl study and its range over the runs."""
    worst, low, high = (
        perl(reference, table, subject, operation, str(MANY), due, statistic=name)
        for name in ("max", "max_lowest_run", "max_highest_run")
    )
    if worst is None or low is None or high is None:
        return ""
    return f"{_us(worst)} ({_us(low)} .. {_us(high)}) at {format_count(MANY)}"


def _perl_both(reference: Reference, table: str, operation: str, due: str = "") -> str:
    """Return the slowest calls of the Perl list and of the Perl array; "" where one of them is not there."""
    found = {subject: _perl_range(reference, table, subject, operation, due) for subject in (LIST, ARRAY)}
    return ", ".join(f"{said} on the {PERL[subject]}" for subject, said in found.items()) if all(found.values()) else ""


def _perl_faster(reference: Reference) -> str:
    """Return at how many figures the Perl study has the array faster than the list, and by how much."""
    times = {
        key: value / reference[key[0], PERL[ARRAY], *key[2:]]
        for key, value in reference.items()
        if key[1] == PERL[LIST] and key[6] in ("mean", "best_of_3") and (key[0], PERL[ARRAY], *key[2:]) in reference
    }
    if not times:
        return ""
    faster = sum(ratio > 1 for ratio in times.values())
    least, most = min(times.values()), max(times.values())
    return f"the array is faster in {faster} of {len(times)} figures, {least:.2f} to {most:.0f} times"


def _perl_shares(reference: Reference) -> str:
    """Return the share of the take in the cycle of the Perl list, from smallest to largest."""
    shares = [
        value / (value + reference[(*key[:2], "requeue", *key[3:])])
        for key, value in reference.items()
        if key[:3] == ("cycle", PERL[LIST], "take")
    ]
    return f"{min(shares):.0%} to {max(shares):.0%} of take + requeue" if shares else ""
