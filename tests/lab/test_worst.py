"""The slowest calls: chosen by definition, the structure told from the machine on matrices with a known truth."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lab.worst import NOT_LOOKED_FOR, SHOWN, aligned, made_by, short_cause, slowest


def by_definition(matrix: list[list[int]], warmup: int, shown: int) -> list[int]:
    """Sort everything, and take from the front."""
    calls = range(warmup, len(matrix[0]))
    least = sorted(calls, key=lambda k: (-min(row[k] for row in matrix), k))[:shown]
    most = sorted(calls, key=lambda k: (-max(row[k] for row in matrix), k))[:shown]
    return [*least, *(k for k in most if k not in least)]


@given(st.integers(1, 4), st.integers(1, 60), st.integers(0, 70), st.randoms(use_true_random=False))
def test_the_slowest_calls_by_definition(processes: int, n: int, warmup: int, random: Any) -> None:
    matrix = [[random.randrange(20) for _ in range(n)] for _ in range(processes)]
    found = slowest([matrix], warmup)
    if warmup >= n:
        assert found is None
        return
    assert found is not None
    assert list(found.index) == by_definition(matrix, warmup, SHOWN)
    assert list(found.least_ns) == [min(row[k] for row in matrix) for k in found.index]
    assert [list(each) for each in found.process_ns] == [[row[k] for row in matrix] for k in found.index]
    if processes == 1:
        assert found.structural_ns is found.structural_index is None
    else:
        assert (found.structural_index, found.structural_ns) == (found.index[0], found.least_ns[0])


@given(st.integers(1, 4), st.integers(1, 60), st.integers(0, 70), st.randoms(use_true_random=False))
def test_the_slowest_calls_are_the_same_in_pieces_cut_anywhere(
    processes: int, n: int, warmup: int, random: Any
) -> None:
    matrix = [[random.randrange(20) for _ in range(n)] for _ in range(processes)]
    streams = []
    for row in matrix:
        cuts = sorted({0, n, *(random.randrange(n) for _ in range(5))})
        streams.append([np.array(row[a:b]) for a, b in pairwise(cuts)])
    assert slowest(aligned(list(map(iter, streams))), warmup) == slowest([matrix], warmup)
    random.choice(streams).append(np.array([1]))
    longer = slowest(aligned(list(map(iter, streams))), warmup)
    assert processes == 1 or longer is None


@pytest.mark.parametrize("calls", [[], [None], [[1, 2], None], [[1, 2], [1, 2, 3]]])
def test_there_are_none_without_calls_or_with_unequal_ones(calls: list[Any]) -> None:
    assert slowest([calls]) is None


def a_run(seed: int) -> tuple[NDArray[np.int64], int]:
    """Five processes of 20,000 calls on a noisy machine: call 12,345 slow in all, one call slow in one only."""
    rng = np.random.default_rng(seed)
    calls = rng.lognormal(7, 0.2, (5, 20_000))
    stalls = rng.random(calls.shape) < 0.001
    calls[stalls] += rng.exponential(20_000, int(stalls.sum()))
    calls[:, 12_345] += 40_000 * rng.uniform(1, 1.3, 5)
    process, stalled = int(rng.integers(5)), int(rng.integers(12_000))
    calls[process, stalled] += 2_000_000
    return calls.astype(np.int64), stalled


@pytest.mark.parametrize("seed", range(20))
def test_structure_and_machine_are_told_apart_every_time(seed: int) -> None:
    calls, stalled = a_run(seed)
    found = slowest([list(calls)])
    assert found is not None
    assert found.structural_index == 12_345
    typical = float(np.median(calls))
    made = {k: made_by(each, typical) for k, each in zip(found.index, found.process_ns, strict=True)}
    assert made[12_345] in ("structural", "both")  # both: the machine stalled at the same call once more
    assert made[stalled] == "machine"
    by_machine = [each for k, each in made.items() if k in found.index[SHOWN:] and k not in (12_345, stalled)]
    assert set(by_machine) <= {"machine"}


@pytest.mark.parametrize(
    ("process_ns", "made"),
    [
        ([1_000, 1_000], "structural"),
        ([100, 100], "structural"),  # nothing made it slow: it is what a call costs
        ([100, 1_000], "machine"),
        ([150, 260], "machine"),
        ([200, 301], "both"),
        ([550, 1_000], "structural"),
        ([7], "one process"),
    ],
)
def test_who_made_a_call_slow_by_hand(process_ns: list[int], made: str) -> None:
    assert made_by(process_ns, 100) == made


@pytest.mark.parametrize(
    ("cause", "short"),
    [
        ("gc2", "gc2"),
        ("gc2; gc0; growth: list to 5,000 bytes", "gc2 + gc0 + growth"),
        ("first touch: 1 page", "first touch"),
        ("", ""),
        (NOT_LOOKED_FOR, ""),
        ("unknown: other collections", ""),
    ],
)
def test_a_cause_in_short(cause: str, short: str) -> None:
    assert short_cause(cause) == short
