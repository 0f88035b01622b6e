"""Every claim each way, out of tables of rows made by hand: holds, does not hold, inconclusive, not measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab import claim
from lab.bench import Bench
from lab.case import Case
from lab.claim import Judgement, Outcome
from lab.claims import CLAIMS, LARGE, judge
from lab.evidence import Evidence
from lab.record import schema
from lab.reference import read_reference
from tests.lab import runs

ROOT = Path(__file__).resolve().parent.parent.parent
PERL = read_reference()
HOLDS, FAILS, INCONCLUSIVE, NOT_MEASURED = Outcome

Row = dict[str, Any]
WOBBLE = (0.98, 1.01, 1.0, 1.02, 0.99, 1.005)
"""What the processes of a case differ by, in the order of their numbers."""


def row(case: Case, process: int, operation: str, **columns: Any) -> Row:
    """One row of executions.parquet that is ok, empty but for what is given."""
    names = ("kind", "family", "subject", "workload", "clock", "gc", "target")
    known = {name: getattr(case, name) for name in names}
    known |= {"params": case.params_text, "process": process, "operation": operation, "status": "ok", "message": ""}
    return {**dict.fromkeys(schema().names), **known, **columns}


def timed(
    subject: str,
    workload: str,
    operation: str,
    ns: float,
    *,
    kind: str = "latency",
    processes: int = 5,
    wobble: float = 1.0,
    max_ns: float | None = None,
    null_ns: float = 10.0,
    **params: Any,
) -> list[Row]:
    """Rows of a timed case with the p50, the mean and the slowest call given; each process differs by WOBBLE."""
    case = Case.of(kind, "timer", subject, workload, **params)
    shift = len(case.params_text) + len(subject)  # the processes of two cases do not waver alike
    rows = []
    for process in range(processes):
        factor = 1 + (WOBBLE[(process + shift) % len(WOBBLE)] - 1) * wobble
        p50 = ns * factor
        columns = {"n": 4_000, "p50_ns": p50, "mean_ns": p50, "max_ns": (max_ns or ns) * factor}
        columns |= {"null_p50_ns": null_ns, "net_p50_ns": p50 - null_ns, "timer_bound": p50 < 3 * null_ns}
        rows.append(row(case, process, operation, **columns))
    return rows


def judged(rows: Iterable[Row], worst: Iterable[Row] = ()) -> dict[tuple[str, str], Judgement]:
    """(name of the claim, subject) -> what the rows make of it."""
    found = judge(Bench(Evidence(rows, worst, order=["linked", "linked-known-tail", "array"]), PERL))
    return {(one.name, one.subject): one for one in found}


def outcome(rows: Iterable[Row], name: str, subject: str = "", worst: Iterable[Row] = ()) -> Outcome:
    one = judged(rows, worst).get((name, subject))
    return NOT_MEASURED if one is None else one.outcome


def cycle(subject: str, take: float, requeue: float, due: int = 10, queued: int = 200_000, **options: Any) -> list[Row]:
    sizes: dict[str, Any] = {"due": due, "queued": queued, "calls": 400, **options}
    return [*timed(subject, "cycle", "take", take, **sizes), *timed(subject, "cycle", "requeue", requeue, **sizes)]


def everything(subject: str, factor: float, **options: Any) -> list[Row]:
    """A row for every operation of the contract; `factor` times what the other subject takes."""
    return [
        *timed(subject, "growth", "enqueue", 500 * factor, messages=20_000, **options),
        *cycle(subject, 2_000 * factor, 1_000 * factor, **options),
        *timed(subject, "steady-dispatch", "take+process", 3_000 * factor, queued=200_000, calls=50, **options),
    ]


def resident(subject: str, message_bytes: float, processes: int = 5) -> list[Row]:
    case = Case.of("memory", "timer", subject, "resident", messages=200_000)
    return [
        row(
            case,
            process,
            "resident",
            points_messages=[10_000, 200_000],
            points_rss_bytes=[1_000_000, round(1_000_000 + 190_000 * message_bytes) + 4_096 * process],
        )
        for process in range(processes)
    ]


def drained(subject: str, *container_bytes: int) -> list[Row]:
    case = Case.of("memory", "timer", subject, "drained", messages=200_000, left=10)
    return [row(case, process, "drained", container_bytes=size) for process, size in enumerate(container_bytes)]


def putting_back(subject: str, by_size: dict[int, float], size: str, **options: Any) -> list[Row]:
    """Requeue of `cycle` along one size, `due` or `queued`."""
    other: dict[str, Any] = {"due": {"queued": 200_000}, "queued": {"due": 1_000}}[size]
    found = []
    for at, ns in by_size.items():
        sizes: dict[str, Any] = {**other, size: at, "calls": 400, **options}
        found += timed(subject, "cycle", "requeue", ns, **sizes)
    return found


def queueing(workload: str, subject: str, by_size: dict[int, float], **options: Any) -> list[Row]:
    found = []
    for messages, ns in by_size.items():
        found += timed(subject, workload, workload, ns, kind="cost", messages=messages, **options)
    return found


def freed(workload: str, ns: dict[str, float], **options: Any) -> list[Row]:
    sizes: dict[str, Any] = {"messages": 200_000} if workload == "free" else {"messages": 200_000, "limit": 1_000}
    return [
        found for subject, each in ns.items() for found in timed(subject, workload, "free", each, **sizes, **options)
    ]


def steady(array_ns: float, linked_ns: float, **options: Any) -> list[Row]:
    found = []
    for workload, operation in (("steady-enqueue", "enqueue"), ("steady-dispatch", "take+process")):
        for subject, max_ns in (("array", array_ns), ("linked", linked_ns)):
            found += timed(subject, workload, operation, 1_000, max_ns=max_ns, queued=200_000, calls=50, **options)
    return found


FLAT, STEEP = {10: 1_000.0, 1_000: 1_000.0, 100_000: 1_050.0}, {10: 1_000.0, 1_000: 20_000.0, 100_000: 2_000_000.0}
LENGTH_FLAT, LENGTH_STEEP = {10_000: 1_000.0, 200_000: 1_100.0}, {10_000: 1_000.0, 200_000: 20_000.0}
MESSAGES_BETWEEN = {1_000: 500.0, 200_000: 500 * 200**0.1}
MESSAGES_FLAT, MESSAGES_STEEP = {1_000: 500.0, 200_000: 520.0}, {500: 9_000.0, 8_000: 170_000.0}

WAYS: list[tuple[str, str, Outcome, Callable[[], list[Row]]]] = [
    ("array-beats-linked", "", HOLDS, lambda: everything("array", 1) + everything("linked", 2)),
    ("array-beats-linked", "", FAILS, lambda: everything("array", 2) + everything("linked", 1)),
    ("array-beats-linked", "", INCONCLUSIVE, lambda: everything("array", 1, processes=3) + everything("linked", 2)),
    ("array-beats-linked", "", NOT_MEASURED, lambda: everything("array", 1)),
    ("put-back-and-length", "heap", HOLDS, lambda: putting_back("heap", LENGTH_FLAT, "queued")),
    ("put-back-and-length", "heap", FAILS, lambda: putting_back("heap", LENGTH_STEEP, "queued")),
    ("put-back-and-length", "heap", INCONCLUSIVE, lambda: putting_back("heap", LENGTH_STEEP, "queued", processes=4)),
    ("put-back-and-length", "heap", NOT_MEASURED, lambda: putting_back("heap", {200_000: 1_000.0}, "queued")),
    ("put-back-and-part", "linked", HOLDS, lambda: putting_back("linked", STEEP, "due")),
    ("put-back-and-part", "linked", FAILS, lambda: putting_back("linked", FLAT, "due")),
    ("put-back-and-part", "linked", INCONCLUSIVE, lambda: putting_back("linked", STEEP, "due", processes=2)),
    ("put-back-and-part", "linked", NOT_MEASURED, lambda: putting_back("array", STEEP, "due")),
    ("put-back-and-part", "linked-known-tail", HOLDS, lambda: putting_back("linked-known-tail", FLAT, "due")),
    ("put-back-and-part", "linked-known-tail", FAILS, lambda: putting_back("linked-known-tail", STEEP, "due")),
    (
        "put-back-and-part",
        "linked-known-tail",
        INCONCLUSIVE,
        lambda: putting_back("linked-known-tail", {10: 1_000.0, 100_000: 2_500.0}, "due", wobble=10),
    ),
    ("put-back-and-part", "linked-known-tail", NOT_MEASURED, lambda: putting_back("linked", STEEP, "due")),
    ("put-back-and-part", "array", HOLDS, lambda: putting_back("array", STEEP, "due")),
    ("put-back-and-part", "array", FAILS, lambda: putting_back("array", FLAT, "due")),
    (
        "known-tail-beats-array",
        "",
        HOLDS,
        lambda: cycle("linked-known-tail", 9, 17_000, 100_000) + cycle("array", 9, 1_500_000, 100_000),
    ),
    (
        "known-tail-beats-array",
        "",
        FAILS,
        lambda: cycle("linked-known-tail", 9, 1_500_000, 100_000) + cycle("array", 9, 17_000, 100_000),
    ),
    (
        "known-tail-beats-array",
        "",
        INCONCLUSIVE,
        lambda: cycle("linked-known-tail", 9, 1_000, 100_000, wobble=20) + cycle("array", 9, 1_100, 100_000, wobble=20),
    ),
    (
        "known-tail-beats-array",
        "",
        NOT_MEASURED,
        lambda: cycle("linked-known-tail", 9, 17_000, 10_000) + cycle("array", 9, 1_500_000, 10_000),
    ),
    ("scan-is-most-of-the-cycle", "", HOLDS, lambda: cycle("linked", 9_000, 1_000)),
    ("scan-is-most-of-the-cycle", "", FAILS, lambda: cycle("linked", 1_000, 9_000)),
    ("scan-is-most-of-the-cycle", "", INCONCLUSIVE, lambda: cycle("linked", 9_000, 1_000, processes=3)),
    ("scan-is-most-of-the-cycle", "", NOT_MEASURED, lambda: cycle("array", 9_000, 1_000)),
    ("steady-worst-calls", "", HOLDS, lambda: steady(50_000, 200_000)),
    ("steady-worst-calls", "", FAILS, lambda: steady(200_000, 50_000)),
    ("steady-worst-calls", "", INCONCLUSIVE, lambda: steady(100_000, 120_000, wobble=20)),
    ("steady-worst-calls", "", NOT_MEASURED, lambda: steady(50_000, 200_000)[:10]),
    ("freeing-is-a-pause", "", HOLDS, lambda: freed("free", {"linked": 18e6, "array": 13e6})),
    ("freeing-is-a-pause", "", FAILS, lambda: freed("free", {"linked": 18e6, "array": 13e3})),
    ("freeing-is-a-pause", "", INCONCLUSIVE, lambda: freed("free", {"linked": 18e6, "array": 13e6}, processes=1)),
    ("freeing-is-a-pause", "", NOT_MEASURED, lambda: freed("free", {"linked": 18e6})),
    ("batches-bound-freeing", "", HOLDS, lambda: freed("free-in-batches", {"linked": 5e5, "array": 4e5})),
    ("batches-bound-freeing", "", FAILS, lambda: freed("free-in-batches", {"linked": 5e5, "array": 4e6})),
    ("batches-bound-freeing", "", INCONCLUSIVE, lambda: freed("free-in-batches", {"linked": 1e6, "array": 4e5})),
    ("batches-bound-freeing", "", NOT_MEASURED, lambda: freed("free", {"linked": 5e5, "array": 4e5})),
    ("memory-per-message", "", HOLDS, lambda: resident("array", 169) + resident("linked", 209)),
    ("memory-per-message", "", FAILS, lambda: resident("array", 209) + resident("linked", 169)),
    ("memory-per-message", "", INCONCLUSIVE, lambda: resident("array", 169, 3) + resident("linked", 209)),
    ("memory-per-message", "", NOT_MEASURED, lambda: resident("linked", 209)),
    ("drained-container", "linked", HOLDS, lambda: drained("linked", 856, 856)),
    ("drained-container", "linked", FAILS, lambda: drained("linked", 1_600_000, 1_600_000)),
    ("drained-container", "linked", INCONCLUSIVE, lambda: drained("linked", 856)),
    ("drained-container", "linked", NOT_MEASURED, lambda: drained("array", 856, 856)),
    ("drained-container", "array", HOLDS, lambda: drained("array", 1_754_784, 1_754_784)),
    ("drained-container", "array", FAILS, lambda: drained("array", 344, 344)),
    ("drained-container", "array", INCONCLUSIVE, lambda: drained("array", 1_754_784, 1_754_792)),
    ("enqueue-and-length", "array", HOLDS, lambda: queueing("enqueue-in-order", "array", MESSAGES_FLAT)),
    ("enqueue-and-length", "array", FAILS, lambda: queueing("enqueue-in-order", "array", MESSAGES_STEEP)),
    (
        "enqueue-and-length",
        "array",
        INCONCLUSIVE,
        lambda: queueing("enqueue-in-order", "array", MESSAGES_BETWEEN, wobble=5),
    ),
    ("enqueue-and-length", "array", NOT_MEASURED, lambda: queueing("enqueue-in-order", "heap", MESSAGES_FLAT)),
    ("enqueue-out-of-order", "", HOLDS, lambda: queueing("enqueue-out-of-order", "linked", MESSAGES_STEEP)),
    ("enqueue-out-of-order", "", FAILS, lambda: queueing("enqueue-out-of-order", "linked", MESSAGES_FLAT)),
    (
        "enqueue-out-of-order",
        "",
        INCONCLUSIVE,
        lambda: queueing("enqueue-out-of-order", "linked", MESSAGES_STEEP, processes=4),
    ),
    (
        "enqueue-out-of-order",
        "",
        NOT_MEASURED,
        lambda: queueing("enqueue-out-of-order", "linked", {500: 9_000.0, 900: 9_000.0}),
    ),
    ("chunked-loses-to-nothing", "", HOLDS, lambda: everything("chunked", 1) + everything("heap", 2)),
    ("chunked-loses-to-nothing", "", FAILS, lambda: everything("chunked", 2) + everything("heap", 1)),
    (
        "chunked-loses-to-nothing",
        "",
        INCONCLUSIVE,
        lambda: everything("chunked", 1, processes=4) + everything("heap", 2),
    ),
    ("chunked-loses-to-nothing", "", NOT_MEASURED, lambda: everything("chunked", 1)),
]


@pytest.mark.parametrize(
    ("name", "subject", "expected", "made"), WAYS, ids=[f"{way[0]} {way[1]} {way[2].value}" for way in WAYS]
)
def test_a_claim_comes_out_as_the_rows_have_it(
    name: str, subject: str, expected: Outcome, made: Callable[[], list[Row]]
) -> None:
    assert outcome(made(), name, subject) is expected


def growth(messages: int, processes: int = 5) -> list[Row]:
    return timed("array", "growth", "enqueue", 1_000, messages=messages, processes=processes)


def slow_calls(messages: int, *calls: tuple[int, str], listed: bool = True) -> Row:
    """A row of cases.parquet: (least ns, cause) of the worst calls, each 10 µs slower in the next process."""
    case = Case.of("latency", "timer", "array", "growth", messages=messages)
    indices = [100 + place for place in range(len(calls))]
    found = {**row(case, 0, "enqueue"), "processes": 5, "n": messages}
    found |= {"structural_worst_ns": max(ns for ns, _ in calls), "structural_worst_index": 100}
    if listed:
        found["worst_index"] = indices
        found["worst_ns"] = [ns for ns, _ in calls]
        found["worst_process_ns"] = [ns + 10_000 * process for ns, _ in calls for process in range(5)]
        found["worst_cause"] = [cause for _, cause in calls]
    return found


REALLOCATION = "growth: list to 1,600,056 bytes"
USUAL = (2_000, "gc0: 700 objects")


@pytest.mark.parametrize(
    ("calls", "exists", "small"),
    [
        ([(600_000, REALLOCATION), USUAL], HOLDS, HOLDS),
        ([(1_600_000, "gc2: 100,000 objects"), (600_000, REALLOCATION), USUAL], HOLDS, HOLDS),
        ([(1_600_000, REALLOCATION), USUAL], HOLDS, FAILS),
        ([(9_000, REALLOCATION), USUAL], FAILS, HOLDS),
        ([(1_600_000, "gc2: 100,000 objects"), USUAL], FAILS, HOLDS),
        ([(1_600_000, "unknown: other collections than timed"), USUAL], INCONCLUSIVE, INCONCLUSIVE),
        ([(600_000, ""), USUAL], INCONCLUSIVE, HOLDS),
        ([(600_000, "not looked for")], INCONCLUSIVE, HOLDS),
        ([(9_000_000 - place, "gc2: all") for place in range(10)], INCONCLUSIVE, INCONCLUSIVE),
    ],
)
def test_the_growth_spike_is_told_by_its_cause(calls: list[tuple[int, str]], exists: Outcome, small: Outcome) -> None:
    rows, worst = growth(LARGE), [slow_calls(LARGE, *calls)]
    assert outcome(rows, "growth-spike-exists", worst=worst) is exists
    assert outcome(rows, "growth-spike-is-small", worst=worst) is small


def test_a_run_without_the_list_of_worst_calls_has_no_cause_to_go_by() -> None:
    worst = [slow_calls(LARGE, (1_600_000, ""), listed=False)]
    assert outcome(growth(LARGE), "growth-spike-exists", worst=worst) is INCONCLUSIVE
    assert outcome(growth(LARGE), "growth-spike-is-small", worst=worst) is INCONCLUSIVE
    assert outcome(growth(LARGE), "growth-spike-exists") is INCONCLUSIVE


def test_a_small_spike_at_200_000_says_nothing_about_2_000_000_but_a_large_one_does() -> None:
    rows = growth(200_000)
    small, large = (slow_calls(200_000, (ns, REALLOCATION), USUAL) for ns in (600_000, 1_600_000))
    assert outcome(rows, "growth-spike-is-small", worst=[small]) is NOT_MEASURED
    assert outcome(rows, "growth-spike-is-small", worst=[large]) is FAILS
    assert outcome([], "growth-spike-is-small") is NOT_MEASURED


def test_a_spike_of_fewer_than_five_processes_is_inconclusive() -> None:
    worst = [slow_calls(LARGE, (600_000, REALLOCATION), USUAL)]
    assert outcome(growth(LARGE, 4), "growth-spike-exists", worst=worst) is INCONCLUSIVE


def test_every_claim_is_judged_each_way_somewhere_above() -> None:
    tried = {(name, subject) for name, subject, *_ in WAYS} | {
        ("growth-spike-exists", ""),
        ("growth-spike-is-small", ""),
    }
    rows = [*everything("linked", 2), *everything("linked-known-tail", 2), *everything("array", 1)]
    named = {(one.name, one.subject) for one in judged(rows).values() if one.name != "put-back-and-length"}
    assert {name for name, _ in named} == {name for name, _ in tried} - {"put-back-and-length"}
    assert len(CLAIMS) == 12


def test_one_tie_is_enough_against_a_claim_of_being_faster_everywhere() -> None:
    rows = everything("array", 1) + everything("linked", 2)
    rows += timed("array", "free", "free", 10_000, messages=50) + timed("linked", "free", "free", 10_000, messages=50)
    found = judged(rows)["array-beats-linked", ""]
    assert found.outcome is FAILS
    assert [line.what for line in found.lines if line.outcome is FAILS] == ["free, 50 messages"]


def test_a_claim_about_every_operation_does_not_stand_on_one() -> None:
    rows = timed("array", "growth", "enqueue", 500, messages=9) + timed("linked", "growth", "enqueue", 900, messages=9)
    found = judged(rows)["array-beats-linked", ""]
    assert found.outcome is NOT_MEASURED
    assert [line.what for line in found.lines if line.outcome is NOT_MEASURED] == ["take", "process", "requeue"]


def twin(factor: float) -> list[Row]:
    """An A/A pair that differs by `factor` in requeue."""
    sizes: dict[str, Any] = {"due": 7, "queued": 7, "calls": 400}
    return timed("array", "cycle", "requeue", 1_000, **sizes) + timed(
        "array-twin", "cycle", "requeue", 1_000 * factor, **sizes
    )


def test_a_difference_inside_the_a_a_band_is_a_tie() -> None:
    rows = everything("chunked", 1) + everything("heap", 1.5)
    slower = cycle("chunked", 2_000, 1_150, due=20) + cycle("heap", 2_000, 1_000, due=20)
    assert outcome(rows + slower, "chunked-loses-to-nothing") is FAILS
    found = judged(rows + slower + twin(1.3))["chunked-loses-to-nothing", ""]
    assert found.outcome is HOLDS


def test_the_twin_of_an_a_a_pair_is_no_contender() -> None:
    rows = everything("chunked", 2) + everything("array-twin", 1)
    assert outcome(rows, "chunked-loses-to-nothing") is NOT_MEASURED
    assert ("put-back-and-length", "array-twin") not in judged(rows)


def test_the_rows_of_another_family_say_nothing_about_timer_queues() -> None:
    rows = [{**one, "family": "advisory"} for one in everything("array", 1) + everything("linked", 2)]
    assert {one.outcome for one in judged(rows).values()} == {NOT_MEASURED}
    assert {subject for name, subject in judged(rows) if name == "put-back-and-length"} == {"linked", "array"}


def test_a_run_of_two_arms_is_judged_by_the_commonest_and_never_by_both() -> None:
    rows = everything("array", 1) + everything("linked", 2)
    slower = [{**one, "gc": "off"} for one in everything("array", 9)]
    assert outcome(rows + slower, "array-beats-linked") is HOLDS
    assert Evidence(rows + slower).arm == ("cpu", "on")


def test_the_rows_that_chunked_loses_are_named_with_the_winner() -> None:
    rows = everything("chunked", 1) + everything("heap", 2) + everything("sorted", 3)
    rows += drained("chunked", 536, 536, 536, 536, 536) + drained("heap", 344, 344, 344, 344, 344)
    found = judged(rows)["chunked-loses-to-nothing", ""]
    said = claim.shown(found)
    assert said[0] == "4 of 5 rows bear it out, 1 contradicts it"
    assert said[1].startswith("against: drained, 200,000 messages, 10 left: chunked 536 B, heap 344 B: 1.558 times")


def test_what_is_mostly_clock_cannot_be_called_constant() -> None:
    hidden = {10: 1_010.0, 1_000: 1_015.0, 100_000: 1_050.0}  # ten times as much beyond the clock's 1,000 ns
    rows = putting_back("linked-known-tail", hidden, "due", null_ns=1_000, wobble=0.1)
    found = judged(rows)["put-back-and-part", "linked-known-tail"]
    assert found.outcome is INCONCLUSIVE
    assert "net of the clock" in found.lines[0].said


def test_rows_that_are_mostly_clock_are_compared_without_it() -> None:
    rows = timed("array", "growth", "enqueue", 1_100, messages=9, null_ns=1_000, wobble=0.1)
    rows += timed("linked", "growth", "enqueue", 1_200, messages=9, null_ns=1_000, wobble=0.1)
    line = judged(rows)["array-beats-linked", ""].lines[0]
    assert line.said.startswith("net p50 array 101 ns, linked 200 ns: 0.503 times")


def test_perl_stands_beside_every_claim_that_it_has_a_figure_for() -> None:
    rows = [*everything("linked", 2), *everything("linked-known-tail", 2), *everything("array", 1)]
    found = judged(rows)
    assert found["array-beats-linked", ""].perl == "the array is faster in 27 of 28 figures, 1.00 to 738 times"
    assert found["put-back-and-part", "linked-known-tail"].perl.startswith("5.40 µs → 5.00 µs → 16.8 µs at 10 →")
    assert found["memory-per-message", ""].perl == "268 B on the list, 227 B on the array: 1.18 times"
    assert found["growth-spike-exists", ""].perl == "607 µs (556 µs .. 652 µs) at 200,000"
    assert found["scan-is-most-of-the-cycle", ""].perl == "81% to 97% of take + requeue"
    without = [one.name for one in found.values() if not one.perl]
    assert without == ["put-back-and-length", "batches-bound-freeing", "chunked-loses-to-nothing"]


def test_without_the_perl_figures_the_claims_are_judged_all_the_same() -> None:
    rows = everything("array", 1) + everything("linked", 2)
    found = judge(Bench(Evidence(rows), {}))
    assert found[0].outcome is HOLDS
    assert {one.perl for one in found} == {""}


def test_json_has_every_row_of_the_evidence_and_no_number_that_json_lacks() -> None:
    rows = everything("array", 1, processes=3) + everything("linked", 2)
    plain = claim.as_json(list(judged(rows).values()))
    text = json.dumps(plain, allow_nan=False)
    first = json.loads(text)[0]
    assert first["claim"] == "array-beats-linked"
    assert first["verdict"] == "inconclusive"
    assert len(first["evidence"]) == 4
    assert first["evidence"][0]["figures"]["processes"] == [5, 3]
    assert first["evidence"][0]["figures"]["p"] is None


def test_a_run_of_nothing_has_claims_that_were_not_measured() -> None:
    assert {one.outcome for one in judged([]).values()} == {NOT_MEASURED}


class Said(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Lab = Callable[..., Said]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lab:
    """The command line in this process: a process of its own takes seconds to load what is loaded here."""
    from lab.cli import main

    def say(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["lab", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capfd.readouterr()
        return Said(int(end.value.code or 0), out, err)

    return say


def test_the_claims_over_the_reference_run_are_as_they_were(lab: Lab) -> None:
    """When a new reference run is made: `lab claims RUN > tests/golden/claims.txt`, after reading what changed."""
    (run,) = sorted((ROOT / "results" / "reference").glob("*-standard"))[-1:]
    said = lab("claims", str(run))
    golden = ROOT / "tests" / "golden" / "claims.txt"
    got = golden.with_suffix(".got")
    got.write_text(said.stdout, encoding="utf-8")
    assert said.stdout == golden.read_text(encoding="utf-8"), f"compare {golden.name} with {got.name}"
    got.unlink()
    assert said.returncode == 3
    assert "claims could not be judged" in said.stderr


def test_a_run_without_one_row_that_a_claim_is_about_ends_with_nothing_measured(lab: Lab, tmp_path: Path) -> None:
    path = runs.measured(tmp_path, count=1)
    said = lab("claims", str(path))
    assert "NOT MEASURED" in said.stdout
    assert (said.returncode, "Traceback" in said.stderr) == (4, False)
    document = json.loads(lab("claims", "--json", str(path)).stdout)
    assert {one["verdict"] for one in document["claims"]} == {"not measured"}
    assert "| claim | Perl | this run | verdict |" in lab("claims", "--markdown", str(path)).stdout


def test_two_forms_at_once_and_no_run_at_all_are_refused(lab: Lab, tmp_path: Path) -> None:
    both = lab("claims", "--markdown", "--json")
    assert both.returncode == 2
    assert "expected one of them" in both.stderr
    none = lab("claims", "--results", str(tmp_path))
    assert none.returncode == 2
    assert str(tmp_path) in none.stderr


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([HOLDS, FAILS], None),
        ([HOLDS, INCONCLUSIVE], 3),
        ([HOLDS, NOT_MEASURED], 3),
        ([NOT_MEASURED, NOT_MEASURED], 4),
    ],
)
def test_the_exit_code_says_whether_every_claim_could_be_judged(outcomes: list[Outcome], code: int | None) -> None:
    from lab.front import Stop
    from lab.judging import _end_of_claims

    if code is None:
        _end_of_claims(outcomes)
        return
    with pytest.raises(Stop) as stop:
        _end_of_claims(outcomes)
    assert stop.value.code == code
