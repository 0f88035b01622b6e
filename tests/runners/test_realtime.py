"""The kinds lateness and throughput: what a workload found is kept whole, and what is no finding gives no number."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from lab.case import Case
from lab.record import facts_of, figures_of
from runners import realtime
from runners.disturbed import disturbed
from runners.latency import CheckFailed
from runners.realtime import Found
from runners.run import Settings, carry_out, limits_of
from runners.spawn import Limits
from runners.workload import NotOffered, Workload
from tests.runners.test_run import HERE, started

PARAMS = {"ticks": 3, "form": "not-in"}


def waiting(found: Found) -> Workload:
    return Workload(
        "wait",
        "",
        {"ticks": "ticks", "form": "how"},
        operations=("phase", "refused"),
        choices={"form": ("not-in", "except")},
        real={"lateness": lambda queue_class, params, seed: found},
    )


def measured(found: Found) -> tuple[dict[str, Any], dict[str, list[int]]]:
    kept: dict[str, list[int]] = {}

    def save(name: str, samples: array[int]) -> str:
        kept[name] = samples.tolist()
        return f"{name}.i64"

    case = {"kind": "lateness", "params": PARAMS, "seed": 1}
    return realtime.measure(waiting(found), None, case, None, save), kept


def test_what_was_found_is_kept_whole() -> None:
    found = Found({"phase": array("q", [5, 7])}, {"dropped_ticks": 2, "drift_ns": -0.5}, {"plan": "a = b"})
    result, kept = measured(found)
    assert kept == {"phase": [5, 7]}
    assert result["operations"] == [{"operation": "phase", "samples": "phase.i64", "n": 2}]
    assert result["figures"] == {"dropped_ticks": 2, "drift_ns": -0.5}
    assert result["facts"] == {"plan": "a = b"}
    assert result["counters"]["counted_ns"] >= 0


def test_figures_alone_are_a_finding() -> None:
    result, kept = measured(Found(figures={"peak_jobs": 3}))
    assert (result["operations"], kept) == ([], {})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Found({"phase": array("q")}), "0 samples of 'phase': expected some, of phase, refused"),
        (Found({"take": array("q", [1])}), "1 samples of 'take': expected some, of phase, refused"),
        (Found(figures={"drift_ns": float("nan")}), "the figure drift_ns is nan: expected a finite number"),
        (Found(figures={"drift_ns": True}), "the figure drift_ns is True"),
        (Found(figures={"drift_ns": "5"}), "the figure drift_ns is '5'"),  # type: ignore[dict-item]
        (Found(facts={"version": 15}), "the fact 'version' is 15: expected a text"),  # type: ignore[dict-item]
        (Found(facts={"a=b": "c"}), "the fact 'a=b' is 'c'"),
    ],
)
def test_what_is_no_finding_gives_no_number(found: Found, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        measured(found)


def test_a_parameter_with_choices_is_one_of_its_words() -> None:
    workload = waiting(Found())
    assert workload.kinds == ("lateness",)
    workload.require("lateness", PARAMS)
    for wrong, given in ((5, "5"), ("not-exists", "'not-exists'"), (None, "missing")):
        with pytest.raises(ValueError, match=f"parameter 'form' .* is {given}: expected one of not-in, except"):
            workload.require("lateness", {**PARAMS, "form": wrong})
    with pytest.raises(LookupError, match="has no throughput kind: there are lateness"):
        workload.require("throughput", PARAMS)


def test_threads_that_wait_for_each_other_are_no_disturbance_and_neither_is_a_server() -> None:
    put_off = [{"counted_ns": 10**9, "involuntary_switches": 500}]
    busy = [{"counted_ns": 10**9, "busy_ticks": 190, "processor_ns": 10**8}]
    stolen = [{"counted_ns": 10**9, "steal_ticks": 20}]
    assert [bool(disturbed(kind, put_off)) for kind in ("latency", "lateness", "throughput")] == [True, False, False]
    assert [bool(disturbed(kind, busy)) for kind in ("latency", "lateness", "throughput")] == [True, True, False]
    assert all(disturbed(kind, stolen) for kind in ("lateness", "throughput"))


def test_many_workers_at_once_are_not_pinned() -> None:
    cases = [Case.of(kind, "timer", "array", "cycle") for kind in ("latency", "lateness", "throughput")]
    assert [limits_of(case, Limits(seconds=3)) for case in cases] == [
        Limits(seconds=3),
        Limits(seconds=3),
        Limits(seconds=3, pinned=False),
    ]


# What a case finds in its environment


def served(kind: str, **params: Any) -> Case:
    target = "queues_that_misbehave:NeedsServer"
    workload = {"latency": "cycle", "cost": "enqueue-in-order"}[kind]
    return Case.of(kind, "timer", "served", workload, target=target, **params)


@pytest.mark.processes
def test_a_worker_finds_where_its_server_is_whatever_the_kind(tmp_path: Path) -> None:
    asked: list[str] = []

    def environment(case: Case) -> dict[str, str]:
        asked.append(case.subject)
        return {"LAB_REDIS_URL": "redis://here"}

    cases = [served("latency", due=3, queued=5, calls=4), served("cost", messages=20)]
    with started(tmp_path, cases, processes=1) as run:
        carry_out(run, Settings(limits=Limits(seconds=20), path=(str(HERE),), environment=environment))
        assert run.finish() == "complete"
        rows = run.rows().to_pylist()
    assert [row["status"] for row in rows] == ["ok"] * 3, rows
    assert set(asked) == {"served"}
    for file in run.path.rglob("*"):
        assert file.is_dir() or b"redis://here" not in file.read_bytes()


@pytest.mark.processes
def test_a_case_whose_server_is_not_here_ends_with_the_sentence(tmp_path: Path) -> None:
    def environment(case: Case) -> dict[str, str]:
        raise NotOffered("needs a Redis server: `make servers` brings one")

    with started(tmp_path, [served("latency", due=3, queued=5, calls=4)]) as run:
        carry_out(run, Settings(limits=Limits(seconds=20), path=(str(HERE),), environment=environment))
        run.finish()
        rows = run.rows().to_pylist()
    assert {row["status"] for row in rows} == {"not-offered"}
    assert rows[0]["message"] == "needs a Redis server: `make servers` brings one"
    assert (figures_of(rows[0]), facts_of(rows[0])) == ({}, {})
