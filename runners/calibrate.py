"""Proves the instrument: subjects with a known truth go through everything that a queue goes through, and back.

A run of the archive is made in a folder of its own, carried out by `runners.run`, finished, opened again and read; what
is in its tables is held against what was put in (runners/proofs.py, runners/weights.py). Nothing is told to the
instrument: to it the subjects are queues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab import alarms, archive, environment
from lab.calibration import Check, counted, no_figure
from lab.case import Case, Execution
from lab.claim import Outcome
from lab.noise import TWIN
from lab.units import format_ns
from lab.verdict import Finding, Verdict, compare_samples
from runners import burners, proofs, weights
from runners.readout import NoFigure, Readout
from runners.run import Settings, Step, carry_out, plan
from runners.spawn import Limits

FAMILY = "truth"
SUITE = "calibrate"
SEED = 1

FOR_VERDICTS = 5
"""Processes a subject that is compared has: as many as a verdict needs."""

STATED = 0.05
"""The rate of false alarms that a verdict promises."""


NOTES = (
    "spin, put in: what the subject saw burn on its thread's clock, the way in and out and the reads at both ends.",
    "net of the null call, put in: the same without what a call of nothing takes.",
)
"""How to read the table."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How often everything is done: processes of what is timed against a span, and of everything else."""

    timed: int
    others: int
    seldom_calls: int
    repetitions: int
    messages: int
    comparisons: int
    resamplings: int


FULL = Effort(
    timed=5, others=5, seldom_calls=20_000, repetitions=20, messages=200_000, comparisons=5, resamplings=1_000
)
QUICK = Effort(timed=3, others=2, seldom_calls=8_000, repetitions=1, messages=80_000, comparisons=1, resamplings=500)


@dataclass(frozen=True, slots=True)
class Part:
    """Cases that are proved together: what they are, in how many processes each, and what they must show."""

    name: str
    cases: tuple[Case, ...]
    processes: int
    prove: Callable[[Readout], list[Check]]


def calibrate(
    effort: Effort,
    folder: Path,
    *,
    only: Sequence[str] = (),
    report: Callable[[Step], None] = lambda step: None,
) -> list[Check]:
    """Put every truth through the instrument and return how it came out, a check for each.

    The run is made in the results folder `folder` and stays there. `only` names the parts to do, all without it;
    `report` is told how far it is. KeyboardInterrupt passes on.
    """
    chosen = [part for part in parts(effort) if not only or part.name in only]
    executions, facts = planned(effort, only), environment.capture()
    with archive.create(
        folder, environment.machine_name(facts), SUITE, seed=SEED, options={}, environment=facts, planned=executions
    ) as run:
        carry_out(run, Settings(limits=Limits(seconds=30), report=report))
        run.finish()
    read = Readout(archive.open_run(run.path))
    return [*(check for part in chosen for check in part.prove(read)), whole(run.path)]


def planned(effort: Effort, only: Sequence[str] = ()) -> list[Execution]:
    """Return every execution in its order, part by part, so that what is compared is measured at one time."""
    chosen = [part for part in parts(effort) if not only or part.name in only]
    return [execution for part in chosen for execution in plan(part.cases, part.processes, SEED)]


def parts(effort: Effort) -> list[Part]:
    """Return what is proved, in the order of the table.

    >>> [part.name for part in parts(QUICK)]
    ['spin', 'seldom', 'apart', 'sleep', 'collection', 'memory', 'verdicts']
    """
    return [_spin(effort), _seldom(effort), _apart(effort), _sleep(effort), _collection(effort), *_memory(effort)] + [
        _verdicts(effort)
    ]


def case(kind: str, workload: str, subject: str, target: str, *, clock: str = "cpu", **params: int) -> Case:
    """Return the case of a subject whose class is `target`, of runners/."""
    return Case(kind, FAMILY, subject, workload, tuple(params.items()), clock, target=f"runners.{target}")


SPINS = {
    "spin-2us": (burners.Spin2, 5_000),
    "spin-10us": (burners.Spin10, 2_000),
    "spin-50us": (burners.Spin50, 900),
}
"""subject -> its class, and how many calls make a mean that one interrupted call moves by less than 3 %."""


def _spin(effort: Effort) -> Part:
    cases = tuple(
        case("latency", "spin", name, f"burners:{subject.__name__}", calls=calls)
        for name, (subject, calls) in SPINS.items()
    )

    def prove(read: Readout) -> list[Check]:
        timed = zip(cases, SPINS.values(), strict=True)
        checks = [check for one, (subject, _) in timed for check in proofs.spin(read, one, subject.BURNS_NS)]
        return checks + proofs.ranks(read, cases)

    return Part("spin", cases, effort.timed, prove)


def _seldom(effort: Effort) -> Part:
    one = case("latency", "seldom", "once-in-1000", "burners:OnceInAThousand", calls=effort.seldom_calls)
    return Part("seldom", (one,), effort.others, partial(proofs.seldom, case=one))


APART_CALLS = 13_000


def _apart(effort: Effort) -> Part:
    """Each repetition has a number of calls of its own, and so is a case of its own."""
    pairs = [
        (
            case("latency", "seldom", "slow-at-one", "burners:SlowAtOneCall", calls=APART_CALLS + number),
            case("latency", "seldom", "slow-at-any", "burners:SlowAtAnyCall", calls=APART_CALLS + number),
        )
        for number in range(effort.repetitions)
    ]
    cases = tuple(one for pair in pairs for one in pair)
    return Part("apart", cases, 3, partial(proofs.apart, pairs=pairs))


def _sleep(effort: Effort) -> Part:
    cpu, wall = (
        case("latency", "waits", "sleep", "burners:Sleeps", clock=clock, calls=40) for clock in ("cpu", "wall")
    )
    return Part("sleep", (cpu, wall), effort.others, partial(proofs.sleeping, on_cpu=cpu, on_wall=wall))


def _collection(effort: Effort) -> Part:
    one = case("latency", "waits", "collects", "burners:Collects", calls=1_500)
    return Part("collection", (one,), max(2, effort.others), partial(proofs.collecting, case=one))


def _memory(effort: Effort) -> list[Part]:
    slope = case("memory", "resident", "hundred", "rooms:Hundred", messages=effort.messages)
    block = case("memory", "resident", "eight-mib", "rooms:EightMib", messages=20)
    leaks, gives_back = (
        case("memory", "drained", name, f"rooms:{subject}", messages=effort.messages, left=10)
        for name, subject in (("leaks", "Leaks"), ("gives-back", "GivesBack"))
    )

    def prove(read: Readout) -> list[Check]:
        return weights.hundred(read, slope) + weights.held(read, block, leaks, gives_back)

    return [Part("memory", (slope, block, leaks, gives_back), effort.others, prove)]


BASE = "spin-50us-base"
COMPARED = {
    "identical subjects": (BASE + TWIN, burners.Spin50, {Verdict.SAME, Verdict.INCONCLUSIVE}, "same or inconclusive"),
    "10 % slower": ("spin-55us", burners.Spin55, {Verdict.SLOWER, Verdict.INCONCLUSIVE}, "slower or inconclusive"),
    "30 % slower": ("spin-65us", burners.Spin65, {Verdict.SLOWER}, "slower"),
}
"""What is compared with a call of 50 µs -> its name, its class, the verdicts that are right, and those in words."""

COMPARED_CALLS = 200


def _verdicts(effort: Effort) -> Part:
    """Each comparison has a number of calls of its own, and so is a case of its own."""

    def one(name: str, subject: type[burners.Spin], number: int) -> Case:
        return case("latency", "spin", name, f"burners:{subject.__name__}", calls=COMPARED_CALLS + number)

    numbers = range(effort.comparisons)
    base = [one(BASE, burners.Spin50, number) for number in numbers]
    others = {
        what: [one(name, subject, number) for number in numbers] for what, (name, subject, *_) in COMPARED.items()
    }
    cases = (*base, *(each for cases in others.values() for each in cases))

    def prove(read: Readout) -> list[Check]:
        try:
            found = {
                what: [_compared(read, *pair) for pair in zip(base, cases, strict=True)]
                for what, cases in others.items()
            }
            rows = [row for each in (*base, *others["identical subjects"]) for row in read.of(each, "enqueue")]
        except NoFigure as missing:
            return [no_figure("verdicts", "calls of 50 µs to 65 µs", missing.outcome, str(missing))]
        checks = [verdict_check(what, findings) for what, findings in found.items()]
        return checks + false_alarms(rows, effort.resamplings)

    return Part("verdicts", cases, FOR_VERDICTS, prove)


def _compared(read: Readout, base: Case, other: Case) -> Finding:
    a, b = ([row["p50_ns"] for row in read.of(one, "enqueue")] for one in (base, other))
    return compare_samples(a, b)


def verdict_check(what: str, findings: Sequence[Finding]) -> Check:
    """Return whether every finding about one of the comparisons is right."""
    _, subject, right, said = COMPARED[what]
    put_in = f"{format_ns(burners.Spin50.BURNS_NS)} and {format_ns(subject.BURNS_NS)}"
    wrong = [found for found in findings if found.verdict not in right]
    ratios = [found.ratio for found in findings]
    came_out = f"{min(ratios):.3f} to {max(ratios):.3f} times"
    check = counted(f"verdict: {what}", put_in, [found.verdict in right for found in findings], "verdict")
    why = f"{wrong[0].verdict.value}: {wrong[0].sentence}" if wrong else ""
    return replace(check, came_out=f"{check.came_out}, {came_out}", allowed=said, why=why)


def false_alarms(rows: Sequence[dict[str, object]], resamplings: int) -> list[Check]:
    """Return whether verdicts on identical subjects cry wolf no more often than stated, a check for each source.

    They are asked without a threshold, which would silence most of them.
    """
    checks = []
    for rate in alarms.rates(rows, trials=resamplings, alpha=STATED, threshold=0.0, seed=SEED):
        low, high = rate.interval
        outcome = Outcome.HOLDS if low <= STATED else Outcome.FAILS
        came_out = f"{rate.rate:.1%} ({low:.1%} to {high:.1%})".replace("%", " %")
        what = f"false alarms: {rate.source}"
        checks.append(Check(what, "no difference", came_out, "–", f"{100 * STATED:g} %", outcome))
    missing = no_figure("false alarms", "no difference", Outcome.NOT_MEASURED, "no two processes differed at all")
    return checks or [missing]


def whole(path: Path) -> Check:
    """Return whether nothing is missing from what was stored, or was changed since."""
    problems = archive.verify(path)
    why = problems[0] if problems else ""
    return counted("stored: files whole", "every file of the run", [not problems], "run", why)
