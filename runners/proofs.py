"""What came out of a run of subjects with a known truth, held against that truth; pure functions of what is stored.

Each proof reads the tables and the raw calls back, as a reader of any run does, and works the truth out in its own way:
ranks by sorting and counting, slow calls by looking at all of them. It shares no code with the statistics it tries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from lab.calibration import SHARE, Check, Measure, counted, near, under
from lab.case import Case
from lab.claim import Outcome
from lab.histogram import Histogram
from lab.interval import interval
from lab.rank import P50, P90, P99, P999
from lab.sample import median_worst
from lab.units import format_count, format_ns
from lab.worst import made_by
from runners.burners import SLOW_CALL, Collects, OnceInAThousand, Sleeps, SlowAtAnyCall, random_call
from runners.readout import NoFigure, Readout, Row, proved

RANKS = (("p50_ns", 1, 2, P50), ("p90_ns", 9, 10, P90), ("p99_ns", 99, 100, P99), ("p999_ns", 999, 1000, P999))
SPEED = "the machine changed its speed between the null calls and the calls"
OUTLIERS = "calls were interrupted, the empty ones as well"


def ranked(values: Sequence[float], numerator: int = 1, denominator: int = 2) -> float:
    """Return the smallest value that at least so large a share of all values does not exceed.

    >>> ranked([30, 10, 20]), ranked([1, 2, 3, 4]), ranked([1, 2, 3, 4], 999, 1000)
    (20, 2, 4)
    """
    return sorted(values)[-(-len(values) * numerator // denominator) - 1]


def spin(read: Readout, case: Case, burns_ns: int) -> list[Check]:
    """A call that burns: p50 and mean as timed, and the p50 net of the null call."""
    what = f"spin {format_ns(burns_ns)}"

    def prove(name: str, measure: Callable[[Row], Measure], why: str = "") -> Check:
        def near_truth() -> Check:
            rows = read.of(case, "enqueue")
            step = max(row["clock_step_ns"] or 0 for row in rows)
            return near(name, [measure(row) for row in rows], format_ns, SHARE, step, why)

        return proved(name, format_ns(burns_ns), near_truth)

    def account(row: Row, *names: str) -> list[list[int]]:
        return [read.calls(case, name, row) for name in names]

    def p50(row: Row) -> Measure:
        parts = zip(*account(row, "burned", "idle"), strict=True)
        return Measure(ranked(list(map(sum, parts))), row["p50_ns"])

    def mean(row: Row) -> Measure:
        burned, idle = account(row, "burned", "idle")
        return Measure(fmean(burned) + fmean(idle), row["mean_ns"], abs(fmean(idle) - ranked(idle)))

    def net(row: Row) -> Measure:
        parts = zip(*account(row, "burned", "idle", "nothing"), strict=True)
        truth = ranked([burned + idle - nothing for burned, idle, nothing in parts])
        clock_ns, before_ns = map(ranked, account(row, "clock", "before"))
        changed = (row["null_p50_before_ns"] - row["null_p50_after_ns"], clock_ns - before_ns)
        return Measure(truth, row["net_p50_ns"], max(map(abs, changed)))

    return [
        prove(f"{what}: p50", p50),
        prove(f"{what}: mean", mean, OUTLIERS),
        prove(f"{what}: p50 net of the null call", net, SPEED),
    ]


def ranks(read: Readout, cases: Sequence[Case]) -> list[Check]:
    """Every figure of a row is that of its raw calls, and its histogram gives each percentile within 1 %."""
    exact, near_by, wrong = [], [], ""
    rows = [(case, row) for case in cases for row in read.rows[case.key] if row["status"] == "ok"]
    for timed, row in rows:
        calls = read.calls(timed, row["operation"], row)
        own = {"n": len(calls), "mean_ns": sum(calls) / len(calls), "min_ns": min(calls), "max_ns": max(calls)}
        own |= {name: ranked(calls, up, down) for name, up, down, _ in RANKS}
        exact += [row[name] == value for name, value in own.items()]
        wrong = wrong or next((f"{name} is {row[name]:g}: {own[name]:g}" for name in own if row[name] != own[name]), "")
        histogram = Histogram(np.array(row["histogram_bucket"]), np.array(row["histogram_count"]))
        near_by += [abs(histogram.percentile(q) - own[name]) <= 0.01 * own[name] for name, _, _, q in RANKS]
    put_in = "the raw calls, sorted"
    return [
        counted("percentiles, mean and extremes", put_in, exact, "figure", f"{wrong} by sorting the raw calls"),
        counted("percentiles of the histogram", f"{put_in}, ±1 %", near_by, "figure", "farther than 1 % off"),
    ]


def seldom(read: Readout, case: Case) -> list[Check]:
    """Slow once in 1,000 calls: there in the interval of p99.9, absent from p99, and at its places."""
    slow_ns = OnceInAThousand.BURNS_NS
    put_in = f"{format_ns(slow_ns)} once in 1,000 calls"

    def seen() -> Check:
        rows = read.of(case, "enqueue")
        shown = median_worst(rows)
        found = interval(rows, shown, P999)
        if found is None:
            raise NoFigure(Outcome.NOT_MEASURED, f"{shown['n']} calls have no interval of p99.9")
        inside = found.low_ns <= slow_ns * (1 + SHARE) and slow_ns <= found.high_ns
        said = f"{format_ns(found.low_ns)} to {format_ns(found.high_ns)}"
        return Check(names[0], put_in, said, "–", "inside", Outcome.HOLDS if inside else Outcome.FAILS)

    def absent() -> Check:
        values = [row["p99_ns"] for row in read.of(case, "enqueue")]
        return under(names[1], put_in, values, slow_ns / 2, format_ns, f"under {format_ns(slow_ns / 2)}")

    def placed() -> Check:
        rows = read.of(case, "enqueue")
        least = list(map(min, zip(*(read.calls(case, "enqueue", row) for row in rows), strict=True)))
        found = {call for call, ns in enumerate(least) if ns > slow_ns / 2}
        wanted = set(range(999, len(least), 1_000))
        why = f"slow in every process instead: {sorted(found - wanted)[:3] or 'none'}"
        return counted(names[2], "calls 999, 1,999, …", [call in found for call in sorted(wanted | found)], "call", why)

    names = ("slow once in 1,000: interval of p99.9", "slow once in 1,000: p99", "slow once in 1,000: where")
    return [proved(name, put_in, prove) for name, prove in zip(names, (seen, absent, placed), strict=True)]


def apart(read: Readout, pairs: Sequence[tuple[Case, Case]]) -> list[Check]:
    """Slow at one call in every process, and at another call in each: told apart every time."""
    slow_ns, what = SlowAtAnyCall.BURNS_NS, "structural and machine told apart"
    put_in = f"{format_ns(slow_ns)} at call {format_count(SLOW_CALL)}, or at any, {len(pairs)} times each"

    def prove() -> Check:
        problems = [_structural(read, fixed) or _machine(read, chance) for fixed, chance in pairs]
        return counted(what, put_in, [not problem for problem in problems], "time", next(filter(None, problems), ""))

    return [proved(what, put_in, prove)]


def _slowest(read: Readout, case: Case) -> tuple[Row, dict[int, str]]:
    """The slowest calls of a case: its row, and call -> what made it slow."""
    worst, typical = read.worst_of(case, "enqueue"), read.of(case, "enqueue")[0]["p50_ns"]
    each = iter(worst["worst_process_ns"])
    took = {call: [next(each) for _ in range(worst["processes"])] for call in worst["worst_index"]}
    return worst, {call: made_by(ns, typical) for call, ns in took.items()}


def _structural(read: Readout, case: Case) -> str:
    """Say what is wrong with the case that is slow at one call; "" when nothing is."""
    worst, made = _slowest(read, case)
    index, ns, slow_ns = worst["structural_worst_index"], worst["structural_worst_ns"], SlowAtAnyCall.BURNS_NS
    if index != SLOW_CALL or not slow_ns <= ns <= slow_ns * (1 + SHARE):
        return f"the structural worst call is {format_ns(ns)} at {format_count(index)}"
    return "" if made[index] == "structural" else f"call {format_count(index)} is called {made[index]}"


def _machine(read: Readout, case: Case) -> str:
    """Say what is wrong with the case that is slow at another call in each process; "" when nothing is."""
    worst, made = _slowest(read, case)
    if worst["structural_worst_ns"] >= SlowAtAnyCall.BURNS_NS / 2:
        return f"a structural worst call of {format_ns(worst['structural_worst_ns'])} where there is none"
    for row in read.of(case, "enqueue"):
        call = random_call(row["hash_seed"], row["n"])
        if made.get(call) != "machine":
            return (
                f"call {format_count(call)}, slow in process {row['process']}, is called {made.get(call, 'not slow')}"
            )
    return ""


def sleeping(read: Readout, on_cpu: Case, on_wall: Case) -> list[Check]:
    """A call that sleeps: all of it on the wall clock, next to none of it on that of the thread."""
    put_in, names = f"{format_ns(Sleeps.NS)} asleep", ("sleep, on the clock on the wall", "sleep, on the CPU clock")

    def there() -> Check:
        rows = read.of(on_wall, "take")
        measures = [Measure(ranked(read.calls(on_wall, "account", row)), row["p50_ns"]) for row in rows]
        return near(names[0], measures, format_ns, SHARE, max(row["clock_step_ns"] or 0 for row in rows))

    def absent() -> Check:
        values = [row["p50_ns"] for row in read.of(on_cpu, "take")]
        return under(names[1], put_in, values, Sleeps.NS / 10, format_ns, f"under {format_ns(Sleeps.NS / 10)}")

    return [proved(names[0], put_in, there), proved(names[1], put_in, absent)]


def collecting(read: Readout, case: Case) -> list[Check]:
    """A call that has the collector find a ring: how long it took, how many collections there were, and the cause."""
    put_in = f"{format_count(Collects.RING)} objects at call {format_count(Collects.AT)}"
    names = ("collection: its time", "collection: how many", "collection: where and why")

    def time() -> Check:
        rows = read.of(case, "take")
        measures = [
            Measure(read.calls(case, "account", row)[Collects.AT], read.calls(case, "take", row)[Collects.AT])
            for row in rows
        ]
        return near(names[0], measures, format_ns, SHARE, max(row["clock_step_ns"] or 0 for row in rows))

    def number() -> Check:
        found = [row["collections_2"] for row in read.of(case, "take")]
        return counted(names[1], "1 of generation 2", [count == 1 for count in found], "process", f"counted {found}")

    def cause() -> Check:
        worst = read.worst_of(case, "take")
        index = worst["structural_worst_index"]
        said = dict(zip(worst["worst_index"], worst["worst_cause"], strict=True))[index]
        right = index == Collects.AT and said.startswith("gc2")
        why = f"the structural worst call is {format_count(index)}, because of {said or 'nothing that was seen'}"
        return counted(names[2], f"gc2 at call {format_count(Collects.AT)}", [right], "time", why)

    return [proved(name, put_in, prove) for name, prove in zip(names, (time, number, cause), strict=True)]
