"""Which samples of two runs belong together, and what makes them not comparable.

A sample is one figure of one case and operation: a value for each process that ended well. Two samples pair when they
are about the same case; a pair gets a verdict only when nothing differs but what is compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.case import Case
from lab.noise import EXACT, FIGURES, figure_of, without_twins
from lab.rank import P50, P90, P99, P999, least_n
from lab.record import case_of

Row = Mapping[str, Any]

MACHINE = (
    "label",
    "processor",
    "architecture",
    "cores",
    "cores_usable",
    "memory_bytes",
    "system",
    "kernel",
    "libc",
    "virtual",
    "governor",
    "boost",
    "aslr",
    "clocksource",
)
INTERPRETER = ("python", "implementation", "python_build", "pyperf")
COMMIT = ("commit", "dirty")

AXES: dict[str, tuple[str, ...]] = {
    "machine": MACHINE,
    "interpreter": INTERPRETER,
    "commit": COMMIT,
    "gc": ("gc",),
    "subject": ("subject", "target"),
}
"""What may be compared -> the fields that then may differ."""

SHAPE = ("n", "warmup", "calls_per_sample", "seed")
"""Columns that must be the same in all processes of a pair: other calls are another measurement.

In the batched kind `n` is how often the same work fitted into a time budget, as pyperf's loops are: a faster queue has
more of it, and a median does not grow with it. There it must only suffice for a median.
"""


TAILS = {"p90_ns": P90, "p99_ns": P99, "p999_ns": P999}
"""The figures that a process with too few calls does not have."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run as far as a comparison reads it: its name, its environment and its rows."""

    name: str
    environment: Mapping[str, Any]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure of one case and operation, one value a process; `shape` has the values of each column of SHAPE.

    `processes` has the number of each process, in the order of `values`.
    """

    case: Case
    operation: str
    figure: str
    values: tuple[float, ...]
    processes: tuple[int, ...]
    shape: Mapping[str, frozenset[Any]]
    timer_bound: bool

    @property
    def exact(self) -> bool:
        """Whether its values are counts."""
        return self.case.kind in EXACT


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of two sides, and by key and operation what only one of them has a figure for.

    `lost` is what the second side tried and has no figure for although the first has one: (what, why).
    """

    pairs: tuple[tuple[Sample, Sample], ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]


def samples(rows: Iterable[Row], statistics: Mapping[str, tuple[str, ...]] = FIGURES) -> list[Sample]:
    """Return every sample of a run, in the order of its rows; twins and what has no figure are left out.

    `statistics` maps a kind to the figures that are read. Complexity is not timed and not compared. O(rows).
    """
    good = [row for row in without_twins(rows) if row["status"] == "ok"]
    grouped: dict[tuple[Case, str, str], list[tuple[float, Row]]] = defaultdict(list)
    for row in sorted(good, key=lambda row: row["process"]):
        for figure in statistics.get(row["kind"], ()):
            value = figure_of(row, figure)
            if value is not None:
                grouped[case_of(row), row["operation"], figure].append((value, row))
    return [_sample(*identity, found) for identity, found in grouped.items()]


def _sample(case: Case, operation: str, figure: str, found: Sequence[tuple[float, Row]]) -> Sample:
    rows = [row for _, row in found]
    shape = {name: frozenset(row.get(name) for row in rows) for name in (*SHAPE, "python")}
    bound = any(row.get("timer_bound") for row in rows)
    values, processes = tuple(value for value, _ in found), tuple(row["process"] for row in rows)
    return Sample(case, operation, figure, values, processes, shape, bound)


def pair(
    first: Side,
    second: Side,
    across: Collection[str] = (),
    statistics: Mapping[str, tuple[str, ...]] = FIGURES,
    subjects: tuple[str, str] | None = None,
) -> Pairs:
    """Return the pairs of two runs, in the order of the first.

    Samples of the same case pair first. What is left pairs when it differs only in the number of calls, the clock or
    the collector, so that it is called not comparable and not left out. Across subjects the subject does not count;
    `subjects` then chooses one for each side. O(samples).
    """
    left, right = (list(samples(side.rows, statistics)) for side in (first, second))
    if subjects is not None:
        left = [one for one in left if one.case.subject == subjects[0]]
        right = [one for one in right if one.case.subject == subjects[1]]
    free = "subject" in across
    matched: dict[int, Sample] = {}
    for key in (_same(free), _alike(free)):
        _match(left, right, key, matched)
    taken = set(map(id, matched.values()))
    lonely = [one for one in left if id(one) not in matched]
    extra = [one for one in right if id(one) not in taken]
    lost = _lost(lonely, second)
    return Pairs(
        pairs=tuple((one, matched[id(one)]) for one in left if id(one) in matched),
        only_first=tuple(name for name in _names(lonely) if name not in dict(lost)),
        only_second=tuple(_names(extra)),
        lost=tuple(lost),
    )


Key = Callable[[Sample], tuple[Any, ...]]


def _same(subject_free: bool) -> Key:
    def key(one: Sample) -> tuple[Any, ...]:
        case = one.case
        subject = "" if subject_free else case.subject
        arm = case.clock, case.gc
        return (case.kind, case.family, subject, case.workload, case.params, *arm, one.operation, one.figure)

    return key


def _alike(subject_free: bool) -> Key:
    def key(one: Sample) -> tuple[Any, ...]:
        case = one.case
        subject = "" if subject_free else case.subject
        sizes = tuple(pair for pair in case.params if pair[0] != "calls")
        return (case.kind, case.family, subject, case.workload, sizes, one.operation, one.figure)

    return key


def _match(left: Sequence[Sample], right: Sequence[Sample], key: Key, matched: dict[int, Sample]) -> None:
    """Pair what has the same key and no pair yet; a key that several samples of a side share pairs none of them."""
    taken = set(map(id, matched.values()))
    offered: dict[tuple[Any, ...], list[Sample]] = defaultdict(list)
    wanted: dict[tuple[Any, ...], list[Sample]] = defaultdict(list)
    for one in right:
        if id(one) not in taken:
            offered[key(one)].append(one)
    for one in left:
        if id(one) not in matched:
            wanted[key(one)].append(one)
    for identity, ours in wanted.items():
        theirs = offered.get(identity, [])
        if len(ours) == 1 and len(theirs) == 1:
            matched[id(ours[0])] = theirs[0]


def _names(found: Iterable[Sample]) -> list[str]:
    return list(dict.fromkeys(f"{one.case.key} {one.operation}" for one in found))


def _lost(lonely: Iterable[Sample], second: Side) -> list[tuple[str, str]]:
    """Return what the second side ran without getting a figure, with the reason of its first process that failed."""
    why: dict[str, str] = {}
    for row in second.rows:
        if row["status"] != "ok":
            said = f"{row['status']}: {row['message']}".splitlines()[0]
            why.setdefault(case_of(row).key, said)
    return [(name, why[name.split(" ", 1)[0]]) for name in _names(lonely) if name.split(" ", 1)[0] in why]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs, its two values, and the axis across which it may (None: across none)."""

    field: str
    first: Any
    second: Any
    axis: str | None

    @property
    def short(self) -> str:
        """What differs."""
        return f"{self.field}: {_said(self.first)} and {_said(self.second)}"

    @property
    def sentence(self) -> str:
        """What differs, and how to compare it if that is what is wanted."""
        return f"{self.short} (--across {self.axis} compares them)" if self.axis else self.short


def _said(value: Any) -> str:
    if isinstance(value, frozenset):
        return " or ".join(sorted(map(str, value)))
    return str(value)[:60]


def environment_differences(first: Side, second: Side, across: Collection[str] = ()) -> list[Difference]:
    """Return every field of the machine, the interpreter and the commit that differs and is not what is compared.

    Load and the time of day do not count. A field that only one side knows differs.
    """
    return [
        Difference(field, _known(first, field), _known(second, field), axis)
        for axis in ("machine", "interpreter", "commit")
        if axis not in across
        for field in AXES[axis]
        if _known(first, field) != _known(second, field)
    ]


def _known(side: Side, field: str) -> Any:
    """Return a field of the environment; of the packages pyperf alone times anything."""
    if field == "pyperf":
        return (side.environment.get("packages") or {}).get(field)
    return side.environment.get(field)


def _enough(one: Sample) -> bool:
    """Return whether every process has the samples that its percentile needs, a median if it is another figure."""
    least = least_n(TAILS.get(one.figure, P50))
    return all(n is not None and n >= least for n in one.shape["n"])


def sample_differences(first: Sample, second: Sample, across: Collection[str] = ()) -> list[Difference]:
    """Return what two paired samples differ in and is not what is compared: clock, collector, n, …"""
    found = [
        Difference(field, getattr(first.case, field), getattr(second.case, field), axis)
        for field, axis in (("clock", None), ("gc", "gc"), ("subject", "subject"), ("target", "subject"))
        if getattr(first.case, field) != getattr(second.case, field) and axis not in across
    ]
    other_calls = first.case.params != second.case.params  # and so another seed, which follows from them
    if other_calls:
        found.append(Difference("params", first.case.params_text, second.case.params_text, None))
    repeated = first.case.kind == "batched" and _enough(first) and _enough(second)
    for field in SHAPE:
        ours, theirs = first.shape[field], second.shape[field]
        if (repeated and field == "n") or (other_calls and field == "seed"):
            continue
        if ours != theirs or len(ours) > 1:
            found.append(Difference(field, ours, theirs, None))
    if first.figure in TAILS and not (_enough(first) and _enough(second)):
        name = first.figure.removesuffix("_ns")
        needed = f"n for {name} (needs {least_n(TAILS[first.figure]):,})"
        found.append(Difference(needed, first.shape["n"], second.shape["n"], None))
    versions = first.shape["python"], second.shape["python"]
    if versions[0] != versions[1] and None not in versions[0] | versions[1] and "interpreter" not in across:
        found.append(Difference("python", *versions, "interpreter"))
    return found
