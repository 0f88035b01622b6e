"""The false-alarm rate of a judge: an honest one passes, one that cries wolf is caught, too little data is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lab.alarms import Rate, rates, table
from lab.verdict import Finding, Verdict, compare_samples
from tests.lab.replays import QUIET, TWIN, Figures, Row, cycle, rows_of, spread

CHANCE = np.random.default_rng(41)


def noisy(n: int = 5) -> list[float]:
    values: list[float] = (2_000 * np.exp(0.1 * CHANCE.standard_normal(n))).tolist()
    return values


PAIRED: Figures = {
    (cycle(subject), operation): noisy() for subject in ("array", "array-twin") for operation in ("take", "requeue")
}
TEN: Figures = {(cycle("linked"), "take"): noisy(10)}
ROWS = rows_of({**PAIRED, **TEN})


def careless(a: Sequence[float], b: Sequence[float], *, alpha: float, threshold: float) -> Finding:
    """Slower whenever the median is by more than the threshold: what a script without statistics does."""
    found = compare_samples(a, b, alpha=alpha, threshold=threshold)
    return replace(found, verdict=Verdict.SLOWER if found.ratio > 1 + threshold else found.verdict)


def test_every_source_that_the_run_has_is_tried_and_our_verdicts_keep_what_they_promise() -> None:
    found = rates(ROWS, trials=400)
    assert [(one.source, one.synthetic, len(one.trials), sum(one.trials)) for one in found] == [
        ("A/A pairs, dealt out anew", False, 2, 400),
        ("halves of one case", False, 1, 400),
        ("log-normal, each case's own spread", True, 1, 400),
        ("drawn from the scatter of all cases", True, 1, 400),
    ]
    assert all(one.interval[0] <= 0.05 for one in found)
    assert {row[-1] for row in table(found, 0.05).rows} == {"held"}


def test_a_judge_that_cries_wolf_is_caught_by_every_source() -> None:
    found = rates(ROWS, trials=200, judge=careless)
    assert all(one.interval[0] > 0.05 for one in found)
    assert {row[-1] for row in table(found, 0.05).rows} == {"above the stated alpha"}


def test_the_same_seed_gives_the_same_rates_and_another_one_other_draws() -> None:
    once, again, other = (rates(ROWS, trials=100, judge=careless, seed=seed) for seed in (1, 1, 2))
    assert once == again
    assert [one.alarms for one in once] != [one.alarms for one in other]


def test_three_processes_leave_synthetic_samples_alone_and_no_process_nothing() -> None:
    few = rows_of({key: values[:3] for key, values in {**QUIET, **TWIN}.items()})
    found = rates(few, trials=50)
    assert [one.synthetic for one in found] == [True, True]
    assert all(row[0].startswith("synthetic: ") for row in table(found, 0.05).rows)
    nothing: list[Row] = []
    assert rates(nothing) == []


def test_values_that_do_not_scatter_cannot_be_dealt_out() -> None:
    still = {(cycle(name), "take"): [2_000.0] * 5 for name in ("array", "array-twin")}
    assert rates(rows_of(still)) == []


def test_trials_of_few_pools_say_less_than_as_many_of_one_kind() -> None:
    alike = Rate("", False, "5", (100,) * 4, (5, 5, 5, 5)).interval
    apart = Rate("", False, "5", (100,) * 4, (0, 0, 0, 20)).interval
    assert alike == pytest.approx(Rate("", False, "5", (400,), (20,)).interval)
    assert apart[0] == 0.0
    assert apart[1] > alike[1]
    # Wilson's interval of 20 in 400 by hand: (0.05 + 0.0048 ± 0.0219) / 1.0096
    assert alike == pytest.approx((0.0326, 0.0759), abs=2e-4)
    assert spread(1.0)[0] != spread(1.0)[1]
