"""The reattach check: what each leg catches in the real queue, and what known figures come to, exit code and text."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab import archive, environment
from lab.archive import Run
from lab.case import Case, Execution
from lab.front import Code
from lab.scaling import Scaling
from runners import baseline, callgrind
from runners.baseline import Baseline, BaselineError
from runners.guard import (
    CONTROL,
    INSTRUCTED,
    OUT_OF_TIME,
    SECONDS,
    SHARED,
    SIZES,
    Guard,
    case,
    cases,
    guard_of,
    instructions_in_time,
    planned,
    size_of,
)
from runners.reattach import Judged, Judgement, judge
from runners.reattach_report import report
from runners.run import Settings, carry_out, plan
from runners.spawn import Limits
from tests.runners import changed

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "reattach.txt"
GROWS, CONSTANT, INCONCLUSIVE = Scaling.GROWS, Scaling.CONSTANT, Scaling.INCONCLUSIVE
SUBJECT = "linked-known-tail"


def measured(
    folder: Path,
    guard: Guard,
    chosen: Iterable[Case],
    processes: int = 1,
    instructions: Callable[[Execution], bool] = lambda execution: False,
) -> Run:
    """Carry out some cases of the check, for real."""
    todo = plan(list(chosen), processes, 1)
    facts = environment.capture()
    run = archive.create(folder / "results", "test", "reattach", seed=1, options={}, environment=facts, planned=todo)
    carry_out(run, Settings(limits=Limits(seconds=30), path=(str(folder),), instructions=instructions))
    run.finish()
    return run


def caught(folder: Path, *changes: changed.Change, workload: str, sizes: tuple[int, ...]) -> dict[str, dict[str, str]]:
    """Count a changed copy of the known-tail queue at some sizes; return operation -> leg -> verdict."""
    guard = Guard("changed", changed.write(folder, *changes), primitives=True, exact=True)
    run = measured(folder, guard, [case(guard, "counts", guard.subject, workload, k) for k in sizes])
    return legs_of(judged(run, guard), SHARED[workload])


def judged(run: Run, guard: Guard) -> Judgement:
    return judge(run.rows().to_pylist(), run.calls, guard)


def legs_of(judgement: Judgement, operations: Iterable[str]) -> dict[str, dict[str, str]]:
    return {
        one.operation: {leg.name: leg.verdict.value for leg in one.legs if leg.name not in ("counts", "latency")}
        for one in judgement.judged
        if one.operation in set(operations)
    }


EQUAL = {"bytecodes": "CONSTANT", "blocks": "CONSTANT"}
WALKED = {"bytecodes": "GROWS", "blocks": "CONSTANT"}
SMALL = (10, 100, 1_000)


def test_an_unchanged_copy_is_the_same_at_every_k(tmp_path: Path) -> None:
    assert caught(tmp_path, workload="reattach", sizes=SMALL) == {"detach": EQUAL, "reattach": EQUAL}


def test_the_tail_walk_put_back_into_append_to_is_caught_by_bytecodes(tmp_path: Path) -> None:
    found = caught(tmp_path / "relink", changed.WALKS_TO_THE_TAIL, workload="reattach", sizes=SMALL)
    assert found == {"detach": EQUAL, "reattach": WALKED}
    found = caught(tmp_path / "queue", changed.WALKS_TO_THE_TAIL, workload="level-cycle", sizes=(10, 100))
    assert found["requeue"]["bytecodes"] == "GROWS"


def test_a_detach_through_that_walks_is_caught_by_bytecodes(tmp_path: Path) -> None:
    found = caught(tmp_path, changed.WALKS_TO_THE_STOP, workload="reattach", sizes=SMALL)
    assert found == {"detach": WALKED, "reattach": EQUAL}


def test_a_hidden_copy_of_the_batch_is_caught_by_bytecodes(tmp_path: Path) -> None:
    found = caught(tmp_path, changed.COPIES_THE_BATCH, workload="level-cycle", sizes=(10, 100))
    assert found["requeue"]["bytecodes"] == "GROWS"


def test_a_hidden_copy_that_the_queue_keeps_is_caught_by_blocks_without_a_bytecode_for_a_message(
    tmp_path: Path,
) -> None:
    found = caught(tmp_path, changed.KEEPS_A_COPY_MADE_IN_C, workload="reattach", sizes=SMALL)
    assert found["detach"] == {"bytecodes": "CONSTANT", "blocks": "GROWS"}


def test_a_move_in_c_that_executes_no_bytecode_is_caught_by_slope_ratio_and_worst_call(tmp_path: Path) -> None:
    guard = Guard("changed", changed.write(tmp_path, changed.MOVES_IN_C), primitives=True)
    chosen = [case(guard, "latency", guard.subject, "reattach", k) for k in SIZES]
    chosen += [case(guard, "counts", guard.subject, "reattach", k) for k in SMALL]
    found = legs_of(judged(measured(tmp_path, guard, chosen, processes=5), guard), ["reattach"])
    assert found == {"reattach": {**EQUAL, "slope": "GROWS", "ratio": "GROWS", "worst": "GROWS"}}


@pytest.mark.skipif(bool(callgrind.missing()), reason=callgrind.MISSING)
def test_a_move_in_c_that_executes_no_bytecode_is_caught_by_instructions(tmp_path: Path) -> None:
    guard = Guard("changed", changed.write(tmp_path, changed.MOVES_IN_C), primitives=True, exact=True)
    chosen = [case(guard, "counts", guard.subject, "reattach", k) for k in INSTRUCTED]
    run = measured(tmp_path, guard, chosen, instructions=lambda execution: True)
    found = legs_of(judged(run, guard), SHARED["reattach"])
    assert found == {
        "detach": {**EQUAL, "instructions": "CONSTANT"},
        "reattach": {**EQUAL, "instructions": "GROWS"},
    }


def test_a_users_queue_is_asked_for_its_relinks_and_a_registered_one_is_known(tmp_path: Path) -> None:
    own = changed.write(tmp_path)
    assert guard_of("own", own, path=[str(tmp_path)]).guarded == ("detach", "reattach", "requeue")
    assert guard_of("own", "queues.timer.chunked:Chunked").guarded == ("take", "requeue")
    chunked = guard_of("chunked")
    assert (chunked.operations, chunked.guarded) == (("take", "requeue"), ("take", "requeue"))
    assert {found.target for found in cases(guard_of(SUBJECT), "counts")} == {""}
    twin = [found for found in cases(chunked, "latency") if found.subject == "chunked-twin"]
    assert [(size_of(found.params_text), found.target) for found in twin] == [(10, "queues.timer.chunked:Chunked")]


def test_callgrind_comes_last_and_only_as_long_as_there_is_time() -> None:
    guard = guard_of(SUBJECT)
    todo = planned(guard, 1)
    slow = todo[-4:]
    assert [(e.case.workload, size_of(e.case.params_text)) for e in slow] == [
        ("reattach", 10),
        ("reattach", 10_000),
        ("level-cycle", 10),
        ("level-cycle", 10_000),
    ]
    assert len({execution.id for execution in todo}) == len(todo)
    for moments, expected in (
        ([1.0, 29.0, 33.0, 38.0, 42.0], [True, True, True, True]),
        ([1.0, 37.0, 43.0, 49.0], [True, True, False, False]),
        ([1.0, 57.0], [False, False, False, False]),
    ):
        now, notes = iter(moments), list[str]()
        wanted = instructions_in_time(guard, notes, lambda now=now: next(now))  # type: ignore[misc]
        assert not wanted(todo[0])
        assert [wanted(execution) for execution in slow] == expected
        assert notes == [OUT_OF_TIME] * (not all(expected))
    patient = instructions_in_time(guard_of(SUBJECT, exact=True), [], itertools.count(step=SECONDS).__next__)
    assert all(patient(execution) for execution in slow)


Cost = Callable[[str, str, int], float]
"""What a call takes or counts: by subject, operation and k."""


def walks(subject: str, operation: str) -> bool:
    return subject == CONTROL or operation == "take"


def usual_ns(subject: str, operation: str, k: int) -> float:
    return 1_000.0 + (100 * k if walks(subject, operation) else 0)


def usual_count(subject: str, operation: str, k: int) -> float:
    return 50 + (10 * k if walks(subject, operation) else 0)


class Replayed:
    """A whole check whose figures are known, as if it had been measured."""

    def __init__(
        self,
        guard: Guard,
        ns: Cost = usual_ns,
        count: Cost = usual_count,
        failing: Callable[[Case], str] = lambda case: "",
    ) -> None:
        self.guard = guard
        self.rows: list[dict[str, Any]] = []
        self.samples: dict[tuple[str, str], dict[int, np.ndarray[Any, Any]]] = {}
        for execution in planned(guard, 1):
            found = execution.case
            row: dict[str, Any] = {
                "kind": found.kind,
                "subject": found.subject,
                "workload": found.workload,
                "status": "ok",
            }
            row |= {"params": found.params_text, "process": execution.process, "message": failing(found)}
            if row["message"]:
                self.rows.append(row | {"operation": "", "status": "failed"})
                continue
            for operation in SHARED[found.workload]:
                of_call = ns if found.kind == "latency" else count
                cost = of_call(found.subject, operation, size_of(found.params_text))
                self.rows.append(row | {"operation": operation, "python": "3.11.7", "warmup": 1})
                self._add(execution, operation, cost)

    def _add(self, execution: Execution, operation: str, cost: float) -> None:
        found, row = execution.case, self.rows[-1]
        if found.kind == "counts":
            counted = round(2 * cost)
            known = found.subject != CONTROL and size_of(found.params_text) in INSTRUCTED
            row |= {
                "n": 2,
                "bytecodes": counted,
                "allocated_blocks": 2,
                "instructions": 20 * counted if known else None,
            }
            return
        turn = (execution.process + len(found.params_text) + len(found.subject)) % 5 - 2
        samples = np.full(20, round(cost * (1 + turn / 100)))
        row |= {"n": 19, "p50_ns": float(samples[0])}
        self.samples.setdefault((found.key, operation), {})[execution.process] = samples

    def judge(self) -> Judgement:
        return judge(self.rows, lambda found, operation: self.samples[found.key, operation], self.guard)

    def report(self, folder: Path, *notes: str, accept: bool = False) -> tuple[Judgement, str]:
        return report(self.judge(), self.rows, notes, folder, accept=accept)


def verdicts(judged: Iterable[Judged]) -> dict[str, str]:
    return {one.operation: one.verdict.value for one in judged}


GUARD = Guard(SUBJECT, "queues.timer.linked_known_tail:LinkedKnownTail", primitives=True)


def test_a_check_that_holds_shows_a_take_that_grows_and_does_not_count_it() -> None:
    judgement = Replayed(GUARD).judge()
    assert (judgement.code, judgement.noise) == (Code.HOLDS, "")
    assert verdicts(judgement.judged) == {
        "detach": "CONSTANT",
        "reattach": "CONSTANT",
        "take": "GROWS",
        "requeue": "CONSTANT",
    }
    assert set(verdicts(judgement.control).values()) == {"GROWS"}


@pytest.mark.parametrize("operation", ["detach", "reattach", "requeue"])
def test_growth_of_one_guarded_operation_has_regressed_whichever_leg_shows_it(operation: str) -> None:
    def slow(subject: str, name: str, k: int) -> float:
        return usual_ns(subject, name, k) + (k if name == operation and subject == SUBJECT else 0)

    def more(subject: str, name: str, k: int) -> float:
        return usual_count(subject, name, k) + (k if name == operation and subject == SUBJECT else 0)

    for leg, replayed in (("slope", Replayed(GUARD, ns=slow)), ("bytecodes", Replayed(GUARD, count=more))):
        judgement = replayed.judge()
        assert judgement.code == Code.REGRESSED
        assert verdicts(judgement.judged)[operation] == "GROWS"
        assert any(f"{operation} GROWS: {leg}" in reason for reason in judgement.reasons)


def test_a_control_that_does_not_grow_is_a_broken_instrument() -> None:
    judgement = Replayed(GUARD, ns=lambda *_: 1_000.0, count=lambda *_: 50.0).judge()
    assert judgement.code == Code.INCONCLUSIVE
    assert judgement.reasons[0].startswith("the instrument is broken: linked walks, and it came out as detach CONSTANT")


def noisy(subject: str, operation: str, k: int) -> float:
    """The twin takes three times as long as the subject, and the largest size seems to grow."""
    return usual_ns(subject, operation, k) * (3 if subject.endswith("-twin") or k == SIZES[-1] else 1)


def test_on_a_noisy_machine_the_exact_leg_alone_decides_and_says_so(tmp_path: Path) -> None:
    judgement, page = Replayed(GUARD, ns=noisy).report(tmp_path)
    assert judgement.code == Code.HOLDS
    assert "detach: A/A 3.00x (3.00 .. 3.00), bound 1.50x" in judgement.noise
    assert "the machine is too noisy for times" in page
    assert "the exact leg alone decides" in page

    def more(subject: str, name: str, k: int) -> float:
        return usual_count(subject, name, k) + (k if name == "requeue" else 0)

    assert Replayed(GUARD, ns=noisy, count=more).judge().code == Code.REGRESSED


def test_a_control_whose_slope_does_not_show_its_growth_says_that_the_machine_is_too_noisy() -> None:
    def hidden(subject: str, operation: str, k: int) -> float:
        return 1_000.0 if subject == CONTROL else usual_ns(subject, operation, k)

    judgement = Replayed(GUARD, ns=hidden).judge()
    assert judgement.code == Code.HOLDS
    assert "linked detach: slope 0.000" in judgement.noise


def test_what_was_not_measured_does_not_hold() -> None:
    def largest(found: Case) -> str:
        large = found.kind == "latency" and found.subject == SUBJECT and size_of(found.params_text) == SIZES[-1]
        return "did not end within 30 s" if large else ""

    judgement = Replayed(GUARD, failing=largest).judge()
    assert judgement.code == Code.INCONCLUSIVE
    assert "detach INCONCLUSIVE: no latency at k = 100,000: failed: did not end within 30 s" in judgement.reasons

    judgement = Replayed(GUARD, failing=lambda found: "gone" if found.subject == SUBJECT else "").judge()
    assert judgement.code == Code.NOTHING_MEASURED
    assert judgement.reasons[0] == "nothing was measured of linked-known-tail"


def test_the_control_itself_as_the_subject_has_regressed() -> None:
    guard = guard_of(CONTROL)
    assert Replayed(guard).judge().code == Code.REGRESSED
    assert len({execution.id for execution in planned(guard, 1)}) == len(planned(guard, 1))


def test_with_exact_no_time_is_asked_for_and_none_decides() -> None:
    judgement = Replayed(guard_of(SUBJECT, exact=True), ns=noisy).judge()
    assert judgement.code == Code.HOLDS
    assert {leg.name for one in judgement.judged for leg in one.legs} == {"bytecodes", "blocks", "instructions"}


def test_the_report_looks_like_this(tmp_path: Path) -> None:
    def slow(subject: str, operation: str, k: int) -> float:
        return usual_ns(subject, operation, k) + (k / 10 if operation == "reattach" and subject == SUBJECT else 0)

    judgement, page = Replayed(GUARD, ns=slow).report(tmp_path, "a note")
    assert judgement.code == Code.REGRESSED
    assert f"{page}\n" == GOLDEN.read_text(encoding="utf-8")


def test_a_baseline_is_made_only_when_it_is_accepted_and_then_compared(tmp_path: Path) -> None:
    check, folder = Replayed(GUARD), tmp_path / "baselines"
    judgement, page = check.report(folder)
    assert "no baseline of linked-known-tail in cpython-3.11.json: `lab reattach --accept`" in page
    assert (judgement.code, folder.exists()) == (Code.HOLDS, False)
    check.report(folder, accept=True)
    assert "counts are those of the baseline cpython-3.11.json" in check.report(folder)[1]


def test_counts_of_which_some_are_missing_are_not_accepted(tmp_path: Path) -> None:
    check = Replayed(GUARD, failing=lambda found: "gone" if (found.kind, found.params[1][1]) == ("counts", 10) else "")
    assert "not accepted: some counts are missing" in check.report(tmp_path / "baselines", accept=True)[1]
    assert not (tmp_path / "baselines").exists()


def test_counts_above_the_baseline_have_regressed_and_below_it_are_only_printed(tmp_path: Path) -> None:
    Replayed(GUARD).report(tmp_path, accept=True)

    def changed_by(step: int) -> Cost:
        def cost(subject: str, operation: str, k: int) -> float:
            return usual_count(subject, operation, k) + (step if (subject, operation) == (SUBJECT, "requeue") else 0)

        return cost

    more, less = (Replayed(GUARD, count=changed_by(step)) for step in (3, -3))
    judgement, page = more.report(tmp_path)
    assert judgement.code == Code.REGRESSED
    line = "linked-known-tail requeue at k = 10: 53 bytecodes, the baseline has 50 (+3)"
    assert f"regressed: above the baseline: {line}" in page
    judgement, page = less.report(tmp_path)
    assert judgement.code == Code.HOLDS
    assert "47 bytecodes, the baseline has 50 (-3)" in page
    judgement, page = more.report(tmp_path, accept=True)
    assert judgement.code == Code.HOLDS
    assert line in page
    assert "accepted: these counts are the baseline now" in page


def test_a_baseline_of_another_patch_of_python_is_compared_and_does_not_decide(tmp_path: Path) -> None:
    check = Replayed(GUARD)
    found = {key: count - 1 for key, count in baseline.counts_of(check.rows).items()}
    baseline.accept(baseline.path_of("3.11.7", tmp_path), "3.11.2", found, None)
    judgement, page = check.report(tmp_path)
    assert judgement.code == Code.HOLDS
    assert "the baseline was made with Python 3.11.2, this is 3.11.7: it does not decide" in page


def test_accepting_one_subject_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "cpython-3.11.json"
    stored = Baseline("3.11.7", {"array/take/10/bytecodes": 5, "linked/take/10/bytecodes": 9})
    baseline.accept(path, "3.11.7", {"linked/take/10/bytecodes": 8}, stored)
    assert baseline.load(path) == Baseline("3.11.7", {"array/take/10/bytecodes": 5, "linked/take/10/bytecodes": 8})


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "soup"}', '{"kind": "timer-queue-lab baseline of counts"}'])
def test_a_file_that_is_no_baseline_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cpython-3.11.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BaselineError, match="is no baseline of version 1"):
        baseline.load(path)


@pytest.mark.parametrize("path", sorted(baseline.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_stored_baselines_have_every_count_of_the_default_subject(path: Path) -> None:
    stored = baseline.load(path)
    assert stored is not None
    assert baseline.path_of(stored.python) == path
    expected = {
        f"{found.subject}/{operation}/{size_of(found.params_text)}/{column}"
        for found in cases(GUARD, "counts")
        for operation in SHARED[found.workload]
        for column in baseline.WORDS
    }
    assert set(stored.counts) >= expected


def lab(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab", "reattach", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, **variables},
    )


def test_the_command_counts_for_real_and_holds_against_the_stored_baseline(tmp_path: Path) -> None:
    said = lab("--exact", "--results", str(tmp_path), PATH=str(tmp_path))  # no valgrind there
    assert said.returncode == 0, said.stdout + said.stderr
    assert "holds: detach, reattach, requeue of linked-known-tail: the same at every k" in said.stdout
    assert "instructions were not counted: valgrind is not installed" in said.stdout
    run = archive.open_run(archive.newest(tmp_path))
    assert (run.suite, run.state) == ("reattach", "complete")
    path = baseline.path_of(sys.version.split()[0])
    if path.exists() and json.loads(path.read_text(encoding="utf-8"))["python"] == sys.version.split()[0]:
        assert f"counts are those of the baseline {path.name}" in said.stdout


def test_a_subject_that_is_not_there_is_one_sentence() -> None:
    said = lab("--subject", "rope")
    assert (said.returncode, "Traceback" in said.stderr) == (2, False)
    assert "no subject 'rope': expected one of linked" in said.stderr
