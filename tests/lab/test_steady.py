"""Whether calls drift: the test's own false alarms on independent noise, and what it must find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata

from lab.steady import BLOCKS, CHANCE, LEAST_CALLS, MATTERS, _mid_ranks, block_medians, kuiper, steadiness

Noise = Callable[[np.random.Generator, int], NDArray[np.int64]]


def lognormal(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    return rng.lognormal(7, 0.5, n).astype(np.int64)


def of_a_coarse_clock(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    return rng.integers(1, 4, n) * 1_000


def heavy(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    return (1_000 * rng.pareto(1.2, n) + 500).astype(np.int64)


@pytest.mark.parametrize("n", [LEAST_CALLS, 360, 1_000])
@pytest.mark.parametrize("noise", [lognormal, of_a_coarse_clock, heavy])
def test_false_alarms_on_independent_noise_are_at_most_one_in_a_hundred(noise: Noise, n: int) -> None:
    rng = np.random.default_rng([n, 5])
    times = 1_000
    rare = 0
    for _ in range(times):
        found = steadiness(noise(rng, n))
        assert found is not None
        rare += found.p < CHANCE  # whatever the size of the change
    assert rare / times <= CHANCE + 3 * (CHANCE / times) ** 0.5


def step(n: int) -> NDArray[np.float64]:
    return np.where(np.arange(n) < n // 2, 1, 1.1)


def trend(n: int) -> NDArray[np.float64]:
    return np.linspace(1, 1.15, n)


def swing(n: int) -> NDArray[np.float64]:
    """A machine that is slow for a while and recovers: the first and the last block are alike."""
    return np.where((np.arange(n) > n * 0.4) & (np.arange(n) < n * 0.65), 1.12, 1)


@pytest.mark.parametrize("shape", [step, trend, swing])
def test_a_step_a_trend_and_a_swing_are_found(shape: Callable[[int], NDArray[np.float64]]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        found = steadiness((rng.lognormal(7, 0.1, 4_000) * shape(4_000)).astype(np.int64))
        assert found is not None
        assert not found.steady
        assert found.change > 1 + MATTERS
    down = steadiness((rng.lognormal(7, 0.1, 4_000) / step(4_000)).astype(np.int64))
    assert down is not None
    assert not down.steady
    assert down.change == pytest.approx(1 / 1.1, rel=0.02)
    assert down.drift == pytest.approx(1 / 1.1, rel=0.05)


def test_a_change_too_small_to_matter_is_none_however_sure_it_is() -> None:
    rng = np.random.default_rng(4)
    found = steadiness((rng.lognormal(9, 0.05, 200_000) * np.linspace(1, 1.02, 200_000)).astype(np.int64))
    assert found is not None
    assert found.p < 1e-6
    assert found.steady


def test_known_values() -> None:
    constant = steadiness([700] * 5_000)
    assert constant is not None
    assert (constant.steady, constant.p, constant.change, constant.drift) == (True, 1.0, 1.0, 1.0)
    two_halves = steadiness([700] * 640 + [1_400] * 640)
    assert two_halves is not None
    assert (two_halves.steady, two_halves.change, two_halves.drift) == (False, 2.0, 2.0)
    assert steadiness([700] * (LEAST_CALLS - 1)) is None
    assert steadiness([0] * 500) is None  # a clock that is too coarse to see anything


@given(st.lists(st.integers(0, 9), min_size=1, max_size=80))
def test_ranks_are_scipys(values: list[int]) -> None:
    assert _mid_ranks(np.array(values, dtype=np.int64)).tolist() == rankdata(values).tolist()


@given(st.integers(128, 3_000))
def test_blocks_have_one_size_and_leave_out_less_than_one_of_them(n: int) -> None:
    medians = block_medians(np.arange(n))
    size = medians[1] - medians[0]
    assert 32 <= len(medians) <= BLOCKS
    assert set(np.diff(medians).tolist()) == {size}
    assert 0 <= n - size * len(medians) < size


def test_the_chance_is_that_of_the_range_of_a_brownian_bridge() -> None:
    rng = np.random.default_rng(8)
    steps = rng.normal(size=(8_000, 400))
    walk = np.cumsum(steps - steps.mean(axis=1, keepdims=True), axis=1) / 20
    ranges = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    short = 2 * 0.5826 / 20  # a walk of 400 steps runs short of the bridge by so much (Siegmund, 1985, X.2)
    for at in (1.2, 1.5, 1.747):
        assert np.mean(ranges > at) == pytest.approx(kuiper(at + short), abs=0.02)
    assert kuiper(0.3) == 1.0
    values = [kuiper(at) for at in np.linspace(0.4, 3, 50)]
    assert values == sorted(values, reverse=True)
