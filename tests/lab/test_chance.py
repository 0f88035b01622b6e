"""The two distributions are scipy's, where intervals and p-values ask for them."""

from __future__ import annotations

import doctest
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr, stdtr, stdtrit

from lab import chance, rank
from lab.chance import binomial_cdf, student_cdf, student_quantile


def test_the_examples_run() -> None:
    failed, tried = doctest.testmod(chance)
    assert (failed, tried) == (0, 3)


@given(st.integers(1, 5_000), st.floats(0.001, 0.999), st.data())
def test_the_binomial_is_scipys(n: int, p: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(-1, n))
    wanted = 0.0 if k < 0 else float(bdtr(k, n, p))
    assert binomial_cdf(k, n, p) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [36, 368, 3_688, 12_345, 200_000, 2_000_000])
@pytest.mark.parametrize("q", [rank.P50, rank.P90, rank.P99, rank.P999])
def test_the_ranks_of_an_interval_are_those_that_scipy_gives(n: int, q: Fraction) -> None:
    found = rank.percentile_interval(n, q)
    if found is None:
        assert n < rank.least_n(q)
        return
    lower, upper = found
    p, tail = float(q), 0.025
    assert bdtr(lower - 1, n, p) <= tail < bdtr(lower, n, p)
    assert bdtr(upper - 2, n, p) < 1 - tail <= bdtr(upper - 1, n, p)


@given(st.one_of(st.floats(0.5, 60), st.integers(1, 10_000)), st.floats(-60, 60))
def test_students_t_is_scipys(freedom: float, t: float) -> None:
    assert student_cdf(freedom, t) == pytest.approx(float(stdtr(freedom, t)), rel=1e-9, abs=1e-13)


@given(st.one_of(st.floats(0.9, 60), st.integers(1, 10_000)), st.floats(1e-6, 1 - 1e-6))
def test_the_quantile_of_students_t_is_scipys_and_the_inverse(freedom: float, p: float) -> None:
    found = student_quantile(freedom, p)
    assert found == pytest.approx(float(stdtrit(freedom, p)), rel=1e-7, abs=1e-9)
    assert student_cdf(freedom, found) == pytest.approx(p, rel=1e-9)


def test_the_ends() -> None:
    assert (student_quantile(3, 0), student_quantile(3, 1), student_quantile(3, 0.5)) == (-inf, inf, 0.0)
    assert (student_cdf(3, -inf), student_cdf(3, inf)) == (0.0, 1.0)
    with pytest.raises(ValueError, match="no share"):
        student_quantile(3, 1.1)
