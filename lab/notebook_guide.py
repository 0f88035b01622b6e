"""The decision guide: what a message's life costs on each subject under the reader's own workload, from measured rows.

Of a message that is dispatched in the end:

    enqueue    in-order · E(in order, n) + late · E(out of order, n) + ties · (E(in order, n) + what ties cost more)
    take       T(n, batch) ÷ dispatched, where dispatched = batch · (1 − unused) messages leave each batch
    process    P a message
    put back   R(n, batch · unused) ÷ dispatched

Each of them is read off measured rows: between two sizes that were measured in between (both logarithmic), beyond them
at the nearest size up to ten times away, and further away not at all. What a subject has no row for is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import exp, log
from statistics import median

from lab.evidence import Evidence, Place
from lab.notebook import Reading
from lab.notebook_html import Piece
from lab.table import Table
from lab.units import format_count, format_ns, in_microseconds

FARTHEST = 10
"""A size that lies more than so many times beyond what was measured is not read off it."""

ByProcess = Mapping[int, float]


class Missing(Exception):
    """Something that a subject has no rows for; the message says what."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What the reader's dispatcher does.

    `in_order`, `late` and `ties` are the shares of messages that come in start order, before one that is queued, and
    with the very start of the last one; `queued` how many wait, `batch` how many a take finds due, `unused` which
    share of a batch goes back. ValueError, one sentence, for shares that do not add up or a size that is none.

    >>> Workload(in_order=0.9, late=0.2)
    Traceback (most recent call last):
        ...
    ValueError: the shares in order 0.9, late 0.2 and ties 0 add up to 1.1: expected 1
    """

    in_order: float = 1.0
    late: float = 0.0
    ties: float = 0.0
    queued: int = 200_000
    batch: int = 1_000
    unused: float = 0.1

    def __post_init__(self) -> None:
        shares = (self.in_order, self.late, self.ties)
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            said = f"in order {self.in_order:g}, late {self.late:g} and ties {self.ties:g}"
            raise ValueError(f"the shares {said} add up to {sum(shares):g}: expected 1")
        if self.queued < 1 or self.batch < 1 or not 0 <= self.unused < 1:
            said = f"queued {self.queued}, batch {self.batch}, unused {self.unused}"
            raise ValueError(f"{said}: expected at least 1 message, and a share from 0 to under 1")

    @property
    def dispatched(self) -> float:
        """How many messages of a batch are dispatched before the window closes."""
        return self.batch * (1 - self.unused)


@dataclass(frozen=True, slots=True)
class Life:
    """What each part of a message's life costs, ns by process, and the rows that it was read off."""

    enqueue: ByProcess
    take: ByProcess
    process: ByProcess
    put_back: ByProcess
    rows: tuple[str, ...]

    @property
    def total(self) -> list[float]:
        """The whole life in every process that has all parts, ascending."""
        parts = [getattr(self, name) for name in PARTS]
        common = set.intersection(*(set(part) for part in parts))
        return sorted(sum(part[process] for part in parts) for process in common)


PARTS = tuple(field.name for field in fields(Life) if field.name != "rows")


class _Rows:
    """Reads costs of one subject off the rows, and remembers which."""

    def __init__(self, evidence: Evidence, subject: str) -> None:
        self.evidence = evidence
        self.subject = subject
        self.used: list[str] = []

    def cost(self, kind: str, workload: str, operation: str, **sizes: float) -> ByProcess:
        """Return process -> ns of a case at `sizes`, the last of which is read in between; Missing without rows."""
        *fixed, along = sizes
        places = self.evidence.places(self.subject, kind=kind, workload=workload, operation=operation)
        places = [place for place in places if all(place.sizes.get(name) for name in sizes)]
        for name in fixed:
            near = _nearest({place.sizes[name] for place in places}, sizes[name], f"{operation or workload}: {name}")
            places = [place for place in places if place.sizes[name] == near]
        by_size = {place.sizes[along]: self._values(place) for place in places}
        what = operation if operation == workload else f"{operation} of {workload}"
        beside = ", ".join(f"{format_count(places[0].sizes[name])} {name}" for name in fixed) if places else ""
        value, said = between(by_size, sizes[along], f"{what}: {along}")
        self.used.append(f"{what}, {beside + ', ' if beside else ''}{said} {along}")
        return value

    def flat(self, workload: str) -> ByProcess:
        """Return process -> ns of a batched workload that has one size; Missing without it."""
        places = self.evidence.places(self.subject, kind="batched", workload=workload)
        if not places:
            raise Missing(f"{workload} was not measured")
        self.used.append(str(places[-1]))
        return self._values(places[-1])

    def _values(self, place: Place) -> ByProcess:
        """Net of the clock where every call was timed: what the clock takes is not the message's."""
        column = {"latency": "net_p50_ns", "cost": "mean_ns", "batched": "p50_ns"}[place.kind]
        found = self.evidence.by_process(place, self.subject, column)
        return {process: max(value, 1.0) for process, value in found.items()}


def _nearest(known: set[int], wanted: float, what: str) -> int:
    if not known:
        raise Missing(f"{what}: not measured")
    near = min(known, key=lambda size: (abs(log(size / wanted)), size))
    if not 1 / FARTHEST <= near / wanted <= FARTHEST:
        raise Missing(f"{what} {wanted:,.0f} is more than {FARTHEST} times away from {format_count(near)}, the nearest")
    return near


def between(by_size: Mapping[int, ByProcess], wanted: float, what: str) -> tuple[ByProcess, str]:
    """Return process -> the cost at a size that may lie between two that were measured, and which those are.

    Missing where nothing was measured within ten times.

    >>> between({10: {0: 1.0}, 1000: {0: 100.0}}, 100, "take: due")
    ({0: 10.0}, '10 and 1,000')
    """
    below, above = ([s for s in by_size if s <= wanted], [s for s in by_size if s >= wanted])
    if not below or not above or max(below) == min(above):
        near = _nearest(set(by_size), wanted, what)
        return by_size[near], format_count(near)
    low, high = max(below), min(above)
    share = log(wanted / low) / log(high / low)
    common = by_size[low].keys() & by_size[high].keys()
    pairs = {process: (by_size[low][process], by_size[high][process]) for process in sorted(common)}
    value = {process: round(exp(log(a) * (1 - share) + log(b) * share), 6) for process, (a, b) in pairs.items()}
    return value, f"{format_count(low)} and {format_count(high)}"


def life_of(evidence: Evidence, subject: str, workload: Workload) -> Life:
    """Return what a message's life costs on a subject; Missing, one sentence, where it has no rows for a part of it."""
    rows = _Rows(evidence, subject)
    enqueue = _sum(
        (workload.in_order + workload.ties, lambda: _enqueue(rows, "in", workload)),
        (workload.late, lambda: _enqueue(rows, "out-of", workload)),
        (workload.ties, lambda: _more(rows.flat("life-all-ties"), rows.flat("life-constant-delay"))),
    )
    take = rows.cost("latency", "cycle", "take", queued=workload.queued, due=workload.batch)
    back: ByProcess = dict.fromkeys(take, 0.0)
    if workload.unused:
        part = max(1.0, workload.batch * workload.unused)
        back = rows.cost("latency", "cycle", "requeue", queued=workload.queued, due=part)
    process = rows.flat("process")
    share = 1 / workload.dispatched
    take, back = ({number: ns * share for number, ns in part.items()} for part in (take, back))
    return Life(enqueue, take, process, back, tuple(dict.fromkeys(rows.used)))


def _enqueue(rows: _Rows, order: str, workload: Workload) -> ByProcess:
    name = f"enqueue-{order}-order"
    return rows.cost("cost", name, name, messages=workload.queued)


def _more(first: ByProcess, second: ByProcess) -> ByProcess:
    return {process: first[process] - second[process] for process in first.keys() & second.keys()}


def _sum(*shares: tuple[float, Callable[[], ByProcess]]) -> ByProcess:
    """Add up costs by their shares; what has no share is not asked for, and need not have been measured."""
    found = [(share, cost()) for share, cost in shares if share]
    common = set.intersection(*(set(cost) for _, cost in found))
    return {process: sum(share * cost[process] for share, cost in found) for process in sorted(common)}


def guide(reading: Reading, workload: Workload) -> list[Piece]:
    """Return what the workload costs on every subject, cheapest first, the rows that say so, and who is refused."""
    lives: dict[str, Life] = {}
    refused: dict[str, str] = {}
    for subject in reading.subjects:
        try:
            life = life_of(reading.bench.evidence, subject, workload)
        except Missing as missing:
            refused[subject] = str(missing)
        else:
            lives[subject] = life
    said = [f"- `{subject}` is left out: {why}." for subject, why in refused.items()]
    if not lives:
        return ["**No subject has the rows for this workload.**", "\n".join(said) or "This run has no subject."]
    ordered = sorted(lives, key=lambda name: median(lives[name].total))
    pieces: list[Piece] = [_table(lives, ordered), _answer(lives, ordered)]
    return [*pieces, *(["\n".join(said)] if said else []), _used(lives, ordered)]


def _table(lives: Mapping[str, Life], ordered: list[str]) -> Table:
    best = median(lives[ordered[0]].total)
    rows = []
    for subject in ordered:
        total = lives[subject].total
        parts = (format_ns(round(median(getattr(lives[subject], name).values()), 3)) for name in PARTS)
        span = f"{in_microseconds(total[0])} .. {in_microseconds(total[-1])}"
        whole = f"{format_ns(round(median(total), 3))} ({span})"
        rows.append((subject, *parts, whole, f"{median(total) / best:.2f}"))
    header = (
        "subject",
        "enqueue",
        "take",
        "process",
        "put back",
        "a message's life (range of processes, µs)",
        "÷ best",
    )
    note = "Each part is that of one message that is dispatched in the end; medians over the processes."
    return Table("Your workload", header, tuple(rows), (note,), frozenset({"subject"}))


def _answer(lives: Mapping[str, Life], ordered: list[str]) -> str:
    """Say who is cheapest, and who cannot be told apart from it."""
    first = lives[ordered[0]].total
    near = [f"`{name}`" for name in ordered[1:] if lives[name].total[0] <= first[-1]]
    said = f"**Under this workload `{ordered[0]}` is cheapest: {format_ns(round(median(first), 3))} a message"
    if near:
        return f"{said}; its processes and those of {', '.join(near)} overlap, so these cannot be told apart here.**"
    if len(ordered) == 1:
        return f"{said}; nobody else has the rows.**"
    times = median(lives[ordered[1]].total) / median(first)
    return f"{said}; the next, `{ordered[1]}`, costs {times:.2f} times as much.**"


def _used(lives: Mapping[str, Life], ordered: list[str]) -> Table:
    """The rows that the costs were read off, and for whom."""
    users: dict[str, list[str]] = {}
    for subject in ordered:
        for row in lives[subject].rows:
            users.setdefault(row, []).append(subject)
    rows = tuple((row, ", ".join(names)) for row, names in users.items())
    note = "“10 and 1,000” is read in between, both logarithmic; timed calls are net of the clock."
    return Table("The rows that were used", ("measured", "for"), rows, (note,), frozenset({"measured", "for"}))
