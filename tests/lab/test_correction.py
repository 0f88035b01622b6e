"""Families of p-values: worked examples, scipy's answers, and what every correction owes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from lab.correction import benjamini_hochberg, holm

FAMILIES = st.lists(st.floats(0, 1), max_size=30)


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less_and_never_goes_down() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.04, 0.001, 0.6]) == pytest.approx([0.08, 0.003, 0.6])
    assert holm([0.5, 0.6]) == [1.0, 1.0]


def test_benjamini_hochberg_on_the_example_of_the_1995_paper() -> None:
    # Benjamini & Hochberg (1995), section 4.1: 15 p-values, four rejected at 0.05 (Bonferroni and Holm reject three)
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    ]  # fmt: skip
    assert sum(adjusted <= 0.05 for adjusted in benjamini_hochberg(p)) == 4
    assert sum(adjusted <= 0.05 for adjusted in holm(p)) == 3


@given(FAMILIES.filter(bool))
def test_benjamini_hochberg_is_scipys(family: list[float]) -> None:
    assert benjamini_hochberg(family) == pytest.approx(false_discovery_control(family).tolist())


@given(FAMILIES)
def test_holm_rejects_what_its_step_down_procedure_rejects(family: list[float]) -> None:
    alpha, left = 0.05, sorted(family)
    rejected = 0
    while left and left[0] <= alpha / len(left):
        left.pop(0)
        rejected += 1
    adjusted = holm(family)
    assert abs(sum(p <= alpha for p in adjusted) - rejected) <= sum(abs(p - alpha) < 1e-12 for p in adjusted)


@given(FAMILIES)
def test_a_correction_never_lowers_a_p_value_and_keeps_their_order(family: list[float]) -> None:
    for correct in (holm, benjamini_hochberg):
        adjusted = correct(family)
        assert all(after >= before * (1 - 1e-12) for before, after in zip(family, adjusted, strict=True))
        ranked = [after for _, after in sorted(zip(family, adjusted, strict=True))]
        assert ranked == sorted(ranked)
        assert all(after <= 1 for after in adjusted)


def test_what_is_no_p_value_is_refused() -> None:
    for wrong in (-0.1, 1.1, float("nan")):
        for correct in (holm, benjamini_hochberg):
            with pytest.raises(ValueError, match="is no p-value: expected 0 to 1"):
                correct([0.5, wrong])
