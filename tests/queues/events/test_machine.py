"""Hypothesis plays any schedule of calls on SQLite and on the model; the smallest that differs is what it tells."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queues.events.promise_schedules import JOBS, TASKS, difference, said
from queues.events.rules import FAILED, FORMS, SUCCEEDED
from queues.events.sqlite import SqliteRelaxed

NOW = st.integers(-50, 200)
JOB, TASK, RESULT = st.sampled_from(JOBS), st.sampled_from(TASKS), st.sampled_from((SUCCEEDED, FAILED))
PAIR = st.permutations(JOBS).map(lambda jobs: tuple(jobs[:2]))
INSTANT = st.none() | st.integers(-50, 200)
LATEST = st.integers(0, 4)


def step(method: str, *more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(method), NOW, *more)


def of_pair(method: str, *more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(NOW, PAIR, *more).map(lambda drawn: (method, drawn[0], *drawn[1], *drawn[2:]))


STEPS = st.lists(
    st.one_of(
        step("record", JOB, TASK, RESULT, INSTANT),
        of_pair("pending", st.sampled_from(FORMS), INSTANT, st.none() | st.integers(1, 3)),
        of_pair("finish", RESULT),
        of_pair("claim"),
        step("complete", LATEST, RESULT),
        step("heartbeat", LATEST, RESULT),
        step("release", LATEST, RESULT),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_sqlite_does_what_the_model_does(steps: list[Any]) -> None:
    found = difference(SqliteRelaxed, steps)
    assert found is None, f"{'; '.join(map(said, steps[: found[0] + 1]))}: {found[1]}"
