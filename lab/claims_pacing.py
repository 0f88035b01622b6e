"""The claims about tickers and rate limiters: who drifts, by how much, who keeps the bound, and who is how late.

What is counted or bounded must hold in every process that measured it. What is a span of time is held against a limit
and needs as many processes as any verdict.
"""

from __future__ import annotations

from functools import partial
from operator import le
from statistics import median

from lab.case import parse_parameters
from lab.claim import UNDER, Judgement, Line, Outcome, Trial, enough, not_measured, weigh
from lab.pacing import ALL, BARE, FAMILIES, KEPT, LIMITER, TICKER, groups
from lab.record import facts_of, figures_of
from lab.units import format_count, format_ns
from lab.verdict import compare_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from lab.recorded import Recorded

    Row = Mapping[str, Any]

OURS = {
    TICKER: ("channel", "arithmetic", "channel-asyncio", "arithmetic-asyncio"),
    LIMITER: ("semaphore", "arithmetic", "semaphore-asyncio", "arithmetic-asyncio"),
}
"""The designs that the claims are about."""

NAIVE = "naive-sleep"
OFF_NS = 1_000
"""A tick that stands no further than that off its grid is on it; rounding makes far less."""

NEAR = 2.0
"""The p99 of a phase error may be so many times that of a bare sleep."""

SHORT = 0.001
"""The rate that is reached may be short of the rate set by this share."""

WAKES = 2.0
"""Wake-ups that a grant may take."""


def judge_run(run: Recorded) -> list[Judgement]:
    """Return every claim with what a run makes of it; [] for a run that has neither a ticker nor a limiter.

    ArchiveError when the run's files are damaged. O(rows).
    """
    rows = [row for row in run.rows().to_pylist() if row["family"] in FAMILIES]
    return judge(rows, run.seed) if rows else []


def judge(rows: Sequence[Row], seed: int = 0) -> list[Judgement]:
    """Return every claim, from the rows of tickers and limiters; `seed` is that of the resampling. O(rows)."""
    claims = (
        ("naive-drifts", "The naive loop falls behind by at least its work at every tick.", _naive(rows)),
        ("ticker-stays", "A ticker stays on its grid, whatever its consumer works.", _stays(rows)),
        ("ticker-is-near", f"A tick comes, at p99, at most {NEAR:g} times as late as a bare sleep.", _near(rows, seed)),
        (
            "limiter-keeps-bound",
            "A limiter grants at most burst + rate × T in the time T since it was made, for every T.",
            _bound(rows),
        ),
        ("limiter-reaches-rate", f"With many waiting, a limiter reaches its rate to within {SHORT:.1%}.", _rate(rows)),
        ("wakes-are-few", f"A grant takes at most {WAKES:g} wake-ups.", _wakes(rows)),
    )
    return [Judgement(name, sentence.replace("%", " %"), "", tuple(lines)) for name, sentence, lines in claims]


def _naive(rows: Sequence[Row]) -> Iterable[Line]:
    for (_, params, _, subject), members in groups(rows, TICKER, "ticks").items():
        if subject == NAIVE and _of(params, "work_percent"):
            work_ns = _work_ns(params)
            a_tick = [figures_of(row)["drift_ns"] / (_of(params, "ticks") - 1) for row in members]
            said = f"drifts {format_ns(round(median(a_tick)))} a tick, works {format_ns(work_ns)}"
            yield _every(_what(subject, params), a_tick, partial(le, work_ns), said)


def _stays(rows: Sequence[Row]) -> Iterable[Line]:
    for (_, params, _, subject), members in groups(rows, TICKER, "ticks").items():
        if subject in OURS[TICKER]:
            off = [max(abs(figures_of(row)[name]) for name in ("drift_ns", "off_grid_ns")) for row in members]
            said = f"at most {format_ns(round(max(off)))} off its grid"
            yield _every(_what(subject, params), off, lambda value: value <= OFF_NS, said)


def _near(rows: Sequence[Row], seed: int) -> Iterable[Line]:
    found = groups(rows, TICKER, "ticks")
    trials = []
    for (workload, params, operation, subject), members in found.items():
        if subject not in OURS[TICKER] or _of(params, "work_percent") >= ALL:
            continue
        what = _what(subject, params)
        bare = found.get((workload, params, operation, BARE[facts_of(members[0]).get("form", "blocking")]))
        if not bare:
            yield not_measured(what, "no bare sleep beside it in this run")
            continue
        beside = {row["process"]: row["p99_ns"] for row in bare}
        ratios = [row["p99_ns"] / beside[row["process"]] for row in members if beside.get(row["process"])]
        spans = [format_ns(round(median(row["p99_ns"] for row in side))) for side in (members, bare)]
        said = f"p99 {spans[0]}, of a bare sleep {spans[1]}" + (f", {median(ratios):.2f} times" if ratios else "")
        said += f", limit {NEAR:g}"
        if missing := enough(ratios):
            yield Line(what, Outcome.INCONCLUSIVE, f"{said}: {missing}", {"values": ratios, "limit": NEAR})
            continue
        compared = compare_samples([NEAR] * len(ratios), ratios, threshold=0.0, seed=seed)
        trials.append(Trial(what, compared, said, {"values": ratios, "limit": NEAR}))
    yield from weigh(trials, UNDER)


def _bound(rows: Sequence[Row]) -> Iterable[Line]:
    def said(over: Sequence[float]) -> str:
        return "kept at every grant" if max(over) <= KEPT else f"{max(over):.3g} permits over it"

    return _of_waiters(rows, "over_bound_permits", lambda over: over <= KEPT, said)


def _rate(rows: Sequence[Row]) -> Iterable[Line]:
    def said(ratios: Sequence[float]) -> str:
        return f"{median(ratios):.3%} of the rate set".replace("%", " %")

    return _of_waiters(rows, "of_rate_ratio", lambda ratio: abs(ratio - 1) <= SHORT, said)


def _wakes(rows: Sequence[Row]) -> Iterable[Line]:
    def said(wakes: Sequence[float]) -> str:
        return f"{median(wakes):.2f} wake-ups a grant"

    return _of_waiters(rows, "wakes_per_grant", lambda wakes: wakes <= WAKES, said)


def _of_waiters(
    rows: Sequence[Row], figure: str, holds: Callable[[float], bool], said: Callable[[Sequence[float]], str]
) -> Iterable[Line]:
    for (_, params, _, subject), members in groups(rows, LIMITER, "waiters").items():
        values = [figures_of(row)[figure] for row in members if figure in figures_of(row)]
        if subject in OURS[LIMITER] and values:
            what = f"{subject}, {format_count(_of(params, 'waiters'))} waiting"
            yield _every(what, values, holds, said(values), figure)


def _every(
    what: str, values: Sequence[float], holds: Callable[[float], bool], said: str, figure: str = "values"
) -> Line:
    """Return the line of what must hold in every process: it fails where most do not, and else cannot tell."""
    kept = [holds(value) for value in values]
    outcome = Outcome.HOLDS if all(kept) else Outcome.INCONCLUSIVE if 2 * sum(kept) > len(kept) else Outcome.FAILS
    short = "" if all(kept) else f", in {kept.count(False)} of {len(kept)} processes not so"
    return Line(what, outcome, said + short, {figure: list(values)})


def _what(subject: str, params: str) -> str:
    return f"{subject}, work {_of(params, 'work_percent')} % of {format_ns(_of(params, 'interval_us') * 1_000)}"


def _work_ns(params: str) -> int:
    return _of(params, "interval_us") * 10 * _of(params, "work_percent")


def _of(params: str, name: str) -> int:
    return int(dict(parse_parameters(params))[name])
