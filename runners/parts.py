"""A part of a suite: what is measured of one family, beside the timer tables that a suite has itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.case import Case

Parameters = dict[str, int | str]
Sizes = Mapping[str, Sequence[Mapping[str, int | str]]]
"""workload -> the parameters of each of its cases."""

PRIMITIVES = frozenset({"linked", "linked-known-tail"})
"""The subjects that offer the reattach primitives on their own; the others are not asked."""

REAL = frozenset({"lateness", "throughput"})
"""The kinds that take the time that they are about: they have one clock, whatever is asked."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which workloads of a family, by kind, are measured on which subjects; `clock` is "" for that of the run.

    A family may have several parts, where some subjects are asked less than others.
    """

    family: str
    subjects: tuple[str, ...]
    latency: Sizes = field(default_factory=dict)
    cost: Sizes = field(default_factory=dict)
    batched: Sizes = field(default_factory=dict)
    memory: Sizes = field(default_factory=dict)
    counts: Sizes = field(default_factory=dict)
    lateness: Sizes = field(default_factory=dict)
    throughput: Sizes = field(default_factory=dict)
    clock: str = ""

    def by_kind(self) -> dict[str, Sizes]:
        """Return kind -> workload -> parameters, in the order in which they are shown."""
        return {
            "cost": self.cost,
            "latency": self.latency,
            "batched": self.batched,
            "memory": self.memory,
            "counts": self.counts,
            "lateness": self.lateness,
            "throughput": self.throughput,
        }

    def cases(
        self,
        subjects: Collection[str] | None = None,
        workloads: Collection[str] | None = None,
        clock: str = "cpu",
        gc: str = "on",
    ) -> Iterator[Case]:
        """Yield its cases, of those subjects and workloads alone where they are given.

        >>> part = Part("advisory", ("heap", "sched"), latency={"next-job": [{"jobs": 10, "calls": 90}]})
        >>> [case.key for case in part.cases(["heap"])]
        ['advisory/heap/next-job/calls=90,jobs=10/latency/cpu/gc-on']
        """
        chosen = [subject for subject in self.subjects if subjects is None or subject in subjects]
        for kind, sizes in self.by_kind().items():
            for workload, parameters in sizes.items():
                if workloads is None or workload in workloads:
                    yield from crossed(kind, workload, parameters, chosen, self.clock or clock, gc, family=self.family)


def crossed(
    kind: str,
    workload: str,
    parameters: Sequence[Mapping[str, int | str]],
    subjects: Sequence[str],
    clock: str,
    gc: str,
    targets: Mapping[str, str] | None = None,
    family: str = "timer",
) -> Iterator[Case]:
    """Yield a case for all parameters and subjects; who has no primitives of its own is not asked for `reattach`.

    Counts have one arm, and what takes real time has one clock. `targets`: subject -> "module:Class" of a user's queue.
    """
    targets = targets or {}
    if kind == "counts":
        clock, gc = "cpu", "off"  # no clock is read, and a collection would be counted
    elif kind in REAL:
        clock = "wall"
    for values in parameters:
        for subject in subjects:
            if workload == "reattach" and subject not in PRIMITIVES and subject not in targets:
                continue
            yield Case.of(
                kind, family, subject, workload, clock=clock, gc=gc, target=targets.get(subject, ""), **values
            )
