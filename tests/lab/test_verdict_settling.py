"""How many processes would settle a finding: by the normal approximation, at its edges, and where none would."""

from __future__ import annotations

import math
from itertools import product

import pytest
from scipy.stats import t as student

from lab import verdict
from lab.verdict import Finding, Verdict, compare_samples, settling

WIDE = [90.0, 95.0, 100.0, 105.0, 110.0]
QUIETER = "identical subjects differ by {}% here: a quieter machine would settle it"


def finding(
    ratio: float,
    *,
    spread: float = 0.1,
    threshold: float = 0.05,
    floor: float = 0.0,
    n: tuple[int, int] = (5, 5),
    said: Verdict = Verdict.INCONCLUSIVE,
) -> Finding:
    return Finding(said, ratio, ratio, ratio, 0.5, *n, "", spread=spread, threshold=threshold, floor=floor)


def asked(found: Finding, alpha: float) -> str:
    """What settling has to say of a finding, by its definition and scipy's t; one number after the other is tried."""
    d, margin, floor = abs(math.log(found.ratio)), math.log1p(found.threshold), math.log1p(found.floor)
    for n in range(5, 61):
        error, freedom = math.sqrt(math.pi / n) * found.spread, 2 * n - 2
        if d <= margin:
            enough = margin - d > (student.ppf(1 - alpha, freedom) + 1) * error
        else:
            enough = d - margin > error and d - floor > (student.ppf(1 - alpha / 2, freedom) + 1) * error
        if enough:
            return f"about {n} processes a side would settle it"
    return "more"


@pytest.mark.parametrize("alpha", [0.05, 0.001, 1e-6])
@pytest.mark.parametrize("floor", [0.0, 0.02, 0.05])
def test_settling_asks_for_the_fewest_processes_that_the_approximation_allows(floor: float, alpha: float) -> None:
    answers = set()
    for ratio, spread in product((1.0, 1.02, 1.08, 1.11, 1.3, 1 / 1.3, 0.9), (0.004, 0.01, 0.02, 0.04)):
        found = finding(ratio, spread=spread, floor=floor, said=Verdict.SAME)
        wanted = asked(found, alpha)
        if wanted != "more":
            assert settling(found, alpha) == wanted, (ratio, spread)
            answers.add(wanted)
    assert len(answers) > 5


def test_settling_goes_by_alpha_of_one_in_twenty_unless_it_is_said() -> None:
    found = compare_samples(WIDE, WIDE)
    assert settling(found) == settling(found, 0.05) == found.advice
    assert settling(found) != settling(found, 0.04)


def test_settling_asks_for_as_many_whichever_side_comes_first() -> None:
    more = [value * 1.12 for value in WIDE]
    assert compare_samples(more, WIDE).advice == compare_samples(WIDE, more).advice
    assert compare_samples(more, WIDE).advice.startswith("about ")


def test_what_has_no_ratio_of_a_finite_size_is_far_from_every_bound() -> None:
    for a, b in ((3, 0), (0, 3)):
        assert settling(compare_samples([a] * 5, [b] * 5)) == "about 5 processes a side would settle it"


@pytest.mark.parametrize(("n", "least"), [((20, 30), 21), ((30, 20), 21), ((5, 20), 8), ((8, 8), 9), ((7, 8), 8)])
def test_an_inconclusive_finding_asks_for_more_processes_than_it_had(n: tuple[int, int], least: int) -> None:
    assert settling(finding(1.2, spread=0.09, n=n)) == f"about {least} processes a side would settle it"
    settled = finding(1.2, spread=0.09, n=n, said=Verdict.SLOWER)
    assert settling(settled) == asked(settled, 0.05) == "about 8 processes a side would settle it"


def test_as_many_as_anybody_would_start_are_still_asked_for_and_one_more_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = finding(1.2, spread=0.09)
    monkeypatch.setattr(verdict, "MOST_PROCESSES", 8)
    assert settling(found) == "about 8 processes a side would settle it"
    monkeypatch.setattr(verdict, "MOST_PROCESSES", 7)
    assert settling(found) == "more than 7 processes a side would be needed: it lies too near to ±0.05"


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_a_ratio_of_just_the_threshold_is_settled_by_no_number_of_processes(spread: float) -> None:
    assert math.log(2.0) == math.log1p(1.0)
    advice = "more than 1,000 processes a side would be needed: it lies too near to ±1"
    assert settling(finding(2.0, threshold=1.0, spread=spread)) == advice
    assert settling(finding(2.0, threshold=1.0, floor=1.0, spread=spread)) == advice


@pytest.mark.parametrize(("ratio", "threshold"), [(1.0, 1.0), (2.0, 0.0)], ids=["inside", "beyond"])
def test_errors_that_just_fill_the_room_are_too_large(
    ratio: float, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 8 processes the error is half the spread here, and twice the error is the room that there is."""
    monkeypatch.setattr(verdict, "MEDIAN_ERROR", 1.0)
    monkeypatch.setattr(verdict, "student_quantile", lambda freedom, share: 1.0)
    found = finding(ratio, threshold=threshold, spread=math.log(2.0))
    assert settling(found) == "about 9 processes a side would settle it"


def test_an_error_as_large_as_what_lies_beyond_the_threshold_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "MEDIAN_ERROR", 1.0)
    monkeypatch.setattr(verdict, "student_quantile", lambda freedom, share: 0.0)
    beyond = math.log(1.3) - math.log1p(0.05)
    assert settling(finding(1.3, spread=2 * beyond)) == "about 9 processes a side would settle it"


@pytest.mark.parametrize(("ratio", "quieter"), [(1.0, True), (1.05, True), (1.06, True), (1.1, True), (1.101, False)])
def test_no_number_of_processes_settles_what_lies_inside_a_floor_above_the_threshold(
    ratio: float, quieter: bool
) -> None:
    for either_way in (ratio, 1 / ratio):
        said = settling(finding(either_way, threshold=0.05, floor=0.1, spread=0.01))
        assert (said == QUIETER.format("10.0")) is quieter, (either_way, said)
    inside = settling(finding(ratio, threshold=0.1, floor=0.1, spread=0.001))
    assert "processes a side would" in inside  # a floor of no more than the threshold leaves room for the same


def test_exact_values_apart_by_just_the_floor_ask_for_a_quieter_machine() -> None:
    """Their ratio and the floor are the same number, however the logarithms of the two are rounded."""
    for percent in range(1, 100):
        for a, b in ((100, 100 + percent), (100 + percent, 100)):
            found = compare_samples([a] * 5, [b] * 5, threshold=0.005, floor=percent / 100)
            assert (found.verdict, found.advice) == (Verdict.INCONCLUSIVE, QUIETER.format(f"{percent:.1f}"))


def test_rounding_is_all_the_room_that_a_floor_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "ROUNDING", 0.0)
    assert settling(finding(2.0, floor=1.0, spread=0.01)) == QUIETER.format("100.0")
    assert settling(finding(2.0, floor=0.999, spread=1e-9)).startswith("about ")
