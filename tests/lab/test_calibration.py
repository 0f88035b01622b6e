"""The table of the calibration: what is near enough, what is in doubt, and what all checks come to."""

from __future__ import annotations

from itertools import permutations

import pytest

from lab.calibration import Check, Measure, counted, judged, near, no_figure, sentence, table, under
from lab.claim import Outcome
from lab.table import text
from lab.units import format_ns

HOLDS, FAILS, INCONCLUSIVE = Outcome.HOLDS, Outcome.FAILS, Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("found", "doubt", "outcome"),
    [
        (2_070, 0, HOLDS),
        (2_071, 0, FAILS),
        (1_930, 0, HOLDS),
        (1_929, 0, FAILS),
        (2_071, 1, INCONCLUSIVE),
        (2_171, 100, FAILS),
        (1_830, 100, INCONCLUSIVE),
    ],
)
def test_a_share_and_a_step_are_allowed_and_no_more(found: float, doubt: float, outcome: Outcome) -> None:
    check = near("spin", [Measure(2_000, found, doubt)], format_ns, 0.03, 10, "the machine changed")
    assert check.outcome is outcome
    assert check.allowed == "±3 % and 10 ns"
    assert check.why == ("the machine changed" if outcome is INCONCLUSIVE else "")


def test_the_process_with_the_median_error_is_judged_and_of_two_the_farther_off() -> None:
    errors = (-900, 10, 40)
    for order in permutations(errors):
        assert near("spin", [Measure(1_000, 1_000 + error) for error in order], str, 0.03).came_out == "1010"
    for order in permutations((-80, 10)):
        assert near("spin", [Measure(1_000, 1_000 + error) for error in order], str, 0.03).outcome is FAILS
    assert (
        near("spin", [Measure(1_000, 1_100), Measure(4_000, 4_040), Measure(2_000, 2_000)], str, 0.03).put_in == "4000"
    )


def test_nothing_to_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="no measure was given, expected at least one"):
        near("spin", [], str, 0.03)
    with pytest.raises(ValueError, match="no value was given, expected at least one"):
        under("sleep", "", [], 1, str, "")
    assert counted("places", "", [], "call").outcome is FAILS


def test_what_must_be_absent_is_under_its_limit_in_the_middle_process() -> None:
    assert under("sleep", "2 ms", [1, 2, 900], 10, str, "under 10").outcome is HOLDS
    assert under("sleep", "2 ms", [1, 11, 900], 10, str, "under 10").outcome is FAILS
    assert under("sleep", "2 ms", [10], 10, str, "under 10").outcome is HOLDS


def test_every_time_means_every_time() -> None:
    held = counted("told apart", "20 times", [True] * 20, "time", "never shown")
    assert (held.came_out, held.error, held.outcome, held.why) == ("20 of 20", "none", HOLDS, "")
    missed = counted("told apart", "20 times", [True] * 18 + [False] * 2, "time", "call 5")
    assert (missed.came_out, missed.error, missed.outcome, missed.why) == ("18 of 20", "2 times", FAILS, "call 5")


def good(name: str) -> Check:
    return counted(name, "", [True], "time")


def test_one_that_fails_decides_then_one_that_cannot_tell() -> None:
    unclear, missing = no_figure("b", "", INCONCLUSIVE, ""), no_figure("c", "", Outcome.NOT_MEASURED, "")
    wrong = no_figure("d", "", FAILS, "")
    assert judged([good("a")]) is HOLDS
    assert judged([good("a"), missing]) is Outcome.NOT_MEASURED
    assert judged([good("a"), missing, unclear]) is INCONCLUSIVE
    assert judged([unclear, wrong, missing]) is FAILS
    assert sentence([good("a"), wrong, unclear, missing]) == (
        "1 of 4 checks hold; does not hold: d; inconclusive: b; not measured: c"
    )


def test_the_table_says_why_a_check_does_not_hold() -> None:
    shown = text(
        table([good("a"), no_figure("b", "2 µs", FAILS, "check-failed: it was called twice")], ["how to read"])
    )
    assert shown.splitlines()[-2:] == ["how to read", "b: check-failed: it was called twice"]
    assert "does not hold" in shown
