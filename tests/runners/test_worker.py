"""The fresh process: what it writes, what it refuses, and what a queue may do in it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from queues.registry import SUBJECTS
from runners.worker import parse
from runners.workloads import families
from tests.runners.workers import ROOT, SMALL, WORKER, environment, noted, work

pytestmark = pytest.mark.processes

SUBJECTS_HERE = {name: SUBJECTS["timer"][name] for name in ("linked", "linked-known-tail", "array", "array-naive")}
EVERYTHING = [
    pytest.param(kind, workload, target, id=f"{kind}-{workload}-{subject}")
    for kind, workloads in SMALL.items()
    for workload in workloads
    for subject, target in {**SUBJECTS_HERE, "tiny": "tiny:Tiny"}.items()
    if workload != "reattach" or subject.startswith("linked")
    if not (workload.startswith("life-") and subject == "tiny")  # it takes no clock, see below
]
COUNTERS = {
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "steal_ticks",
    "steal_own_ticks",
    "busy_ticks",
    "counted_ns",
    "processor_ns",
    "frequency_mhz",
    "collections",
}


def test_a_queue_that_takes_no_clock_of_its_own_is_not_offered_a_life(tmp_path: Path) -> None:
    ended = work(tmp_path, "batched", "life-constant-delay", target="tiny:Tiny")
    assert (ended.code, ended.result["status"]) == (0, "not-offered")
    assert "clock" in ended.result["message"]


@pytest.mark.parametrize(("kind", "workload", "target"), EVERYTHING)
def test_every_workload_on_every_subject_writes_a_whole_result(
    tmp_path: Path, kind: str, workload: str, target: str
) -> None:
    ended = work(tmp_path, kind, workload, target=target)
    assert (ended.code, ended.result.get("status"), ended.stderr) == (0, "ok", "")
    assert ended.result["python"] == "{}.{}.{}".format(*sys.version_info[:3])
    assert ended.result["implementation"] == sys.implementation.name
    assert set(ended.result["counters"]) == COUNTERS
    assert {"rss_before_bytes", "rss_after_bytes", "hwm_bytes"} <= set(ended.result["memory"])
    assert not list(tmp_path.glob("*.part"))
    assert bool(ended.result["operations"]) == (kind != "memory")
    for operation in ended.result["operations"]:
        samples = ended.samples(operation["samples"])
        assert len(samples) == operation["n"]
        assert min(samples) > 0
        if kind == "latency":
            assert operation["calls_per_sample"] == 1
            assert len(ended.samples(operation["null_before"])) == len(ended.samples(operation["null_after"])) == 2000


def test_the_parameters_say_how_many_samples_there_are(tmp_path: Path) -> None:
    found = {}
    for workload in SMALL["latency"]:
        target = SUBJECTS_HERE["linked"]
        result = work(tmp_path, "latency", workload, target=target).result
        found[workload] = [(operation["operation"], operation["n"]) for operation in result["operations"]]
    assert found == {
        "cycle": [("take", 30), ("requeue", 30)],
        "level-cycle": [("take", 10), ("requeue", 10)],
        "window-cycle": [("take", 30), ("requeue", 30)],
        "requeue-unused": [("requeue", 30)],
        "reattach": [("detach", 30), ("reattach", 30)],
        "growth": [("enqueue", 300)],
        "steady-enqueue": [("enqueue", 200)],
        "steady-dispatch": [("take+process", 200)],
        "free": [("free", 1)],
        "free-in-batches": [("free", 5)],
    }


def test_the_null_loop_needs_no_subject(tmp_path: Path) -> None:
    ended = work(tmp_path, "latency", "null-loop", target="", subject="null", params={"calls": 100})
    assert ended.result["status"] == "ok"
    assert [operation["operation"] for operation in ended.result["operations"]] == ["null"]


AT_LEAST_1 = "expected a whole number of at least 1"
WRONG = [
    ("LosesOne", "latency", "cycle", "the batch holds 9 messages: expected 10"),
    ("LosesOne", "latency", "requeue-unused", "the batch holds 9 messages: expected 10"),
    ("LiesAboutLosing", "latency", "growth", "message 0 is (0.0,): expected (0.0, 'message')"),
    ("LiesAboutLosing", "batched", "enqueue-in-order", "message 0 is (0.0,): expected (0.0, 'message')"),
    ("LiesAboutLosing", "memory", "resident", "message 0 is (0.0,): expected (0.0, 'message 0')"),
    ("Reorders", "latency", "cycle", "message 0 is (1.0, 'message'): expected (0.0, 'message')"),
    ("Drained", "latency", "cycle", "take() returned None: expected a batch of 10"),
    ("Drained", "batched", "cycle", "take() returned None: expected a batch of 10"),
    ("Keeps", "latency", "free", "dropping 300 messages did not release them: 300 references are left"),
    ("IteratesWrongly", "latency", "growth", "message 0 is (299.0, 'message'): expected (0.0, 'message')"),
]


@pytest.mark.parametrize(("subject", "kind", "workload", "said"), WRONG)
def test_a_queue_that_fails_its_check_gives_no_number(
    tmp_path: Path, subject: str, kind: str, workload: str, said: str
) -> None:
    params = dict(SMALL[kind][workload])
    if subject == "Reorders":
        params["calls"] = 31  # an even number of swaps is none
    ended = work(tmp_path, kind, workload, target=f"tiny:{subject}", params=params)
    assert (ended.code, ended.result["status"], ended.result["message"]) == (0, "check-failed", said)
    assert "operations" not in ended.result
    assert "memory" not in ended.result
    assert not list(tmp_path.glob("*.i64"))


def test_a_queue_without_process_is_read_by_iterating(tmp_path: Path) -> None:
    assert work(tmp_path, "latency", "growth", target="tiny:OnlyIterates").result["status"] == "ok"


@pytest.mark.parametrize(
    ("target", "workload", "missing"),
    [
        ("tiny:NoRequeue", "cycle", "requeue"),
        ("tiny:OnlyIterates", "steady-dispatch", "process"),
        (SUBJECTS_HERE["array"], "reattach", "primitives"),
    ],
)
def test_a_queue_that_lacks_a_method_is_not_offered(tmp_path: Path, target: str, workload: str, missing: str) -> None:
    ended = work(tmp_path, "latency", workload, target=target)
    assert (ended.code, ended.result["status"]) == (0, "not-offered")
    assert ended.result["message"] == f"{missing}() is not offered: workload {workload!r} needs it"
    assert ended.stderr == ""


def test_what_a_queue_prints_is_harmless(tmp_path: Path) -> None:
    assert work(tmp_path, "latency", "cycle", target="tiny:Prints").result["status"] == "ok"


def test_a_queue_that_leaves_the_process_leaves_no_result(tmp_path: Path) -> None:
    ended = work(tmp_path, "latency", "cycle", target="tiny:Leaves")
    assert (ended.code, ended.result) == (0, {})
    assert not list(tmp_path.glob("*.i64"))


@pytest.mark.parametrize(
    ("subject", "message"),
    [("Raises", "RuntimeError: the spring is broken"), ("Exits", "SystemExit: enough")],
)
def test_what_a_queue_raises_is_an_error_and_its_traceback_goes_to_stderr(
    tmp_path: Path, subject: str, message: str
) -> None:
    ended = work(tmp_path, "latency", "cycle", target=f"tiny:{subject}")
    assert (ended.code, ended.result["status"], ended.result["message"]) == (0, "error", message)
    assert "Traceback" in ended.stderr
    assert "tiny.py" in ended.stderr
    assert "operations" not in ended.result


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "tiny:Big"}, "LookupError: module 'tiny' has no 'Big': expected the name of a queue class"),
        ({"target": "huge:Big"}, "ModuleNotFoundError: No module named 'huge'"),
        ({"family": "tea"}, f"LookupError: no family 'tea': there are {', '.join(families())}"),
        (
            {"params": {"due": 0, "queued": 1, "calls": 1}},
            f"ValueError: parameter 'due' of workload 'cycle' is 0: {AT_LEAST_1} (messages due at every take)",
        ),
        (
            {"params": {"due": 1, "queued": 1, "calls": 1, "unused": 2}},
            "ValueError: workload 'cycle' has no parameter 'unused': there are due, queued, calls",
        ),
    ],
)
def test_a_case_that_cannot_be_measured_says_so_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    ended = work(tmp_path, "latency", "cycle", **changes)
    assert (ended.code, ended.result["status"], ended.result["message"]) == (0, "error", message)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no case to measure: Expecting value"),
        ("[1]", "no case to measure: the case is list: expected a JSON object"),
        ('{"kind": "speed"}', "'kind' of the case is 'speed': expected one of latency, batched, memory, counts, l"),
        ('{"kind": "latency", "clock": "sun"}', "'clock' of the case is 'sun': expected one of cpu, wall"),
        ('{"kind": "latency", "clock": "cpu", "gc": "on"}', "'family' of the case is None: expected str"),
        ('{"kind": "latency", ', "no case to measure: Expecting property name"),
        ('{"kind": "latency"} or so', "no case to measure: Extra data"),
        (None, "no case to measure: [Errno 2]"),
    ],
)
def test_without_a_case_it_ends_with_one_sentence_and_code_2(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "case.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-S", "-s", "-P", WORKER, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_a_case_is_read_as_json_has_it() -> None:
    for text in ('{"a": [1, -2.5, true, null, "\\u00e9\\ud83d\\ude00\\n"], "b": {}}', ' {"a": 1}\n', "[1e400]"):
        assert parse(text) == json.loads(text)


def test_an_older_python_is_refused_in_one_sentence_with_code_2() -> None:
    source = WORKER.read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))  # so that it gets as far as the sentence
    script = f"import sys; sys.version_info = (3, 10, 9); exec(compile({source!r}, 'worker.py', 'exec'))"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "the lab needs Python 3.11 or newer" in done.stderr


def test_it_loads_the_standard_library_the_workloads_and_the_queue_and_nothing_else(tmp_path: Path) -> None:
    work(tmp_path, "latency", "cycle", target="tiny:Listed", path=[str(tmp_path), *sys.path])
    standard = (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"])
    own = set()
    for line in (tmp_path / "modules").read_text(encoding="utf-8").splitlines():
        name, file = line.split(" ", 1)
        if file == "None" or (file.startswith(standard) and "site-packages" not in file):
            continue
        own.add(name if file.startswith(str(ROOT)) or name == "tiny" else line)
    assert own == {
        *("__main__", "tiny", "queues", "queues.registry", "queues.timer", "queues.timer.rules", "runners"),
        *(f"runners.{name}" for name in ("batched", "counters", "latency", "lifecycle", "memory", "null", "rigs")),
        *("runners.workload", "runners.workloads", "runners.blocks", "runners.checks", "runners.counts"),
        "runners.level",
    }


def test_a_worker_is_at_most_3_mib_larger_than_a_bare_interpreter(tmp_path: Path) -> None:
    report = "print(next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmRSS')))"
    command = [sys.executable, "-I", "-S", "-c", report]  # without site: what an installation hangs in there varies
    bare_bytes = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) * 1024
    target = SUBJECTS_HERE["array"]
    work(tmp_path, "latency", "cycle", target=target)  # so that all is compiled
    loaded_bytes = work(tmp_path, "latency", "cycle", target=target).result["memory"]["rss_before_bytes"]
    assert loaded_bytes - bare_bytes <= 3 * 2**20


@pytest.mark.parametrize("collector", ["on", "off"])
def test_the_collector_is_frozen_before_the_queue_is_made_and_never_after(tmp_path: Path, collector: str) -> None:
    work(tmp_path, "latency", "growth", target="tiny:Noted", gc=collector)
    found, frozen_at_the_end, _, _ = noted(tmp_path)
    assert found["enabled"] == (collector == "on")
    assert found["frozen"] > 1000
    assert frozen_at_the_end == found["frozen"]


@pytest.mark.parametrize(
    ("kind", "workload"),
    [
        ("batched", "enqueue-out-of-order"),
        ("latency", "cycle"),
        ("latency", "requeue-unused"),
        ("latency", "steady-dispatch"),
    ],
)
def test_the_kth_call_is_the_same_in_every_process(tmp_path: Path, kind: str, workload: str) -> None:
    calls = []
    for hash_seed in ("1", "2"):
        work(tmp_path, kind, workload, target="tiny:Noted", env=environment(PYTHONHASHSEED=hash_seed))
        calls.append(noted(tmp_path)[3])
    if kind == "batched":  # how many samples there are depends on the time they take
        calls = [[call for call in made if call[0] == "enqueue"] for made in calls]
        shorter = min(map(len, calls))
        calls = [made[:shorter] for made in calls]
    assert len(calls[0]) > 100
    assert calls[0] == calls[1]


def test_another_seed_is_another_order(tmp_path: Path) -> None:
    calls = []
    for seed in (1, 2):
        work(tmp_path, "batched", "enqueue-out-of-order", target="tiny:Noted", seed=seed)
        calls.append(noted(tmp_path)[3])
    assert calls[0] != calls[1]


def test_what_a_queue_counts_itself_is_reported(tmp_path: Path) -> None:
    result = work(tmp_path, "batched", "enqueue-out-of-order", target=SUBJECTS_HERE["linked"]).result
    assert result["merged"] == 0
    assert result["walked"] > 0
    assert "walked" not in work(tmp_path, "batched", "enqueue-out-of-order").result


def test_conform_reports_every_promise_and_leaves_word_of_the_last_one(tmp_path: Path) -> None:
    ended = work(tmp_path, "conform", "conform", target=SUBJECTS_HERE["array"], params={"steps": 60})
    assert (ended.code, ended.result["status"], ended.stderr) == (0, "ok", "")
    assert {len(outcome) for outcome in ended.result["outcomes"]} == {4}
    assert {verdict for _, _, verdict, _ in ended.result["outcomes"]} == {"kept"}
    assert (tmp_path / "progress").read_text(encoding="utf-8") == ended.result["outcomes"][-1][0]


@pytest.mark.parametrize(("subject", "last"), [("Leaves", "what it offers"), ("LeavesLate", "-")])
def test_a_queue_that_dies_under_conform_leaves_the_name_of_the_promise(
    tmp_path: Path, subject: str, last: str
) -> None:
    ended = work(tmp_path, "conform", "conform", target=f"tiny:{subject}", params={"steps": 60})
    assert (ended.code, ended.result) == (0, {})
    assert last in (tmp_path / "progress").read_text(encoding="utf-8")
