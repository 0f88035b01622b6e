"""The designs of a ticker beside each other and the model, in virtual time: same ticks, same instants, same drops."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues.pacing.model import TickerModel
from queues.pacing.rig import rig_of
from queues.pacing.rigging import is_awaited
from queues.registry import SUBJECTS, load

NAMES = list(SUBJECTS["ticker"])
WORK = st.one_of(st.just(0.0), st.floats(0.0, 20.0), st.sampled_from([1.0, 2.0, 0.5, 1e-9, 100.0]))
INTERVALS = [1.0, 0.1, 1 / 3, 7, Fraction(1, 3), 1e-6]
ORIGINS = [0.0, 12345.678, 1e9]
checked = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def played(subject: Any, interval: Any, origin: Any, capacity: int, works: list[Any]) -> list[Any]:
    """(when it came back, tick, dropped) after each piece of work, which is in intervals."""
    with rig_of(subject, interval, now=origin, capacity=capacity) as rig:
        trace = []
        for work in works:
            if work:
                rig.pass_until(rig.clock() + work * interval)
            tick = rig.call("wait_next")
            trace.append((rig.clock(), tick, rig.get("dropped")))
        return trace


@checked
@given(
    st.sampled_from(INTERVALS),
    st.sampled_from(ORIGINS),
    st.sampled_from([1, 2, 3, 50]),
    st.lists(WORK, min_size=1, max_size=12),
)
def test_all_designs_do_the_same(interval: Any, origin: float, capacity: int, works: list[float]) -> None:
    first, *others = [played(load("ticker", name), interval, origin, capacity, works) for name in NAMES]
    for name, other in zip(NAMES[1:], others, strict=True):
        assert other == first, name


@checked
@given(st.sampled_from([1.0, 0.25, 3, 1 / 3]), st.integers(1, 4), st.lists(WORK, min_size=1, max_size=12))
@pytest.mark.parametrize("name", NAMES)
def test_every_design_does_what_the_model_does(name: str, interval: Any, capacity: int, works: list[float]) -> None:
    model = TickerModel(100.0, interval, capacity)
    now: Any = 100.0
    expected = []
    for work in works:
        now, tick = model.wait_next(now + work * interval if work else now)
        expected.append((now, tick, model.dropped))
    assert played(load("ticker", name), interval, 100.0, capacity, works) == expected


@pytest.mark.parametrize("name", [name for name in NAMES if not is_awaited(load("ticker", name))])
@pytest.mark.parametrize("origin", [Fraction(7, 5), Fraction(10**9)])
def test_a_clock_of_fractions_is_kept_exactly(name: str, origin: Any) -> None:
    works = [Fraction(0), Fraction(7, 2), Fraction(0), Fraction(0)]
    trace = played(load("ticker", name), Fraction(1, 3), origin, 2, works)
    assert trace == [
        (origin + Fraction(1, 3), origin + Fraction(1, 3), 0),
        (origin + Fraction(1, 3) + Fraction(7, 6), origin + Fraction(2, 3), 1),
        (origin + Fraction(1, 3) + Fraction(7, 6), origin + Fraction(3, 3), 1),
        (origin + Fraction(5, 3), origin + Fraction(5, 3), 1),
    ]


@checked
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.sampled_from(["wait", "leave", "drops"])), max_size=14)
)
def test_several_that_wait_and_leave_get_the_same_ticks_in_every_design(steps: list[tuple[float, str]]) -> None:
    traces = []
    for name in NAMES:
        with rig_of(load("ticker", name), 1.0, now=0.0) as rig:
            waiting: list[Any] = []
            dropped = []
            for span, step in steps:
                rig.pass_until(rig.clock() + span)
                left = [one for one in waiting if not one.done]
                if step == "wait":
                    waiting.append(rig.enter("wait_next"))
                elif step == "leave" and left:
                    rig.throw(left[len(left) // 2], KeyboardInterrupt())
                    rig.settle()
                else:
                    dropped.append(rig.get("dropped"))
            rig.pass_until(rig.clock() + 20.0)
            traces.append(([(one.done, one.at, one.result, type(one.error) is type(None)) for one in waiting], dropped))
            rig.call("close")
            rig.settle()
            assert rig.left() == []
    assert all(trace == traces[0] for trace in traces)
