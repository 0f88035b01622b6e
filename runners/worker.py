"""Entry of the fresh process that measures one case: `python -S -s -P runners/worker.py SPEC.json`.

Reads the case, loads the one queue, measures it, writes one raw file of ns per operation and last `result.json` into
the folder that the case names; that file is there only when all of it is there. Exit code 0 then, whatever its status
says: ok, check-failed (with no numbers), not-offered, or error (what the queue raised; the traceback is on stderr).
Exit code 2, and one sentence on stderr, when there is nothing to do.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts it by hand gets a sentence, not a syntax error
    sys.stderr.write(f"this is Python {sys.version.split()[0]}: the lab needs Python 3.11 or newer\n")
    sys.exit(2)

import os
import time
from array import array

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib in a worker
if __name__ == "__main__":
    sys.path.insert(0, ROOT)

from queues.registry import CONFORMANCE, load_target  # noqa: E402
from runners import batched, counts, latency, memory  # noqa: E402
from runners.checks import Checking  # noqa: E402
from runners.counters import settle  # noqa: E402
from runners.latency import CheckFailed  # noqa: E402
from runners.workload import NotOffered, load_offered  # noqa: E402
from runners.workloads import find  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLOCKS = {"cpu": time.thread_time_ns, "wall": time.perf_counter_ns}
KINDS = {"latency": latency.measure, "batched": batched.measure, "memory": memory.measure, "counts": counts.measure}
REAL = ("lateness", "throughput")
"""The kinds of runners/realtime.py."""

LONGEST_TEXT = 4096
"""Characters of what a queue says of its error that are passed on."""

ONE_OF = {"clock": tuple(CLOCKS), "gc": ("on", "off")}
TYPES = {"family": str, "target": str, "workload": str, "out": str, "path": list, "params": dict, "seed": int}


class Decoding:
    """How the scanner of the standard library reads numbers and objects: as `json.loads` has it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


def parse(text: str) -> Any:
    """Return what a JSON text says; ValueError when it is none.

    The package `json` brings `re` and `enum` along, half of what a worker would add to a bare interpreter. Its scanner
    alone reads what a case is made of; the package is loaded for everything else, which includes telling what is wrong,
    and to write the result, when the memory has been read.
    """
    try:
        from _json import make_scanner

        scan: Any = make_scanner
        value, end = scan(Decoding)(text, 0)
        if end == len(text):
            return value
    except (ImportError, StopIteration, SystemError, ValueError):
        pass
    import json

    return json.loads(text)


def read_case(path: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the case in the file; ValueError or OSError, one sentence, when it is none of one of the kinds."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        case = parse(file.read())
    if not isinstance(case, dict):
        raise ValueError(f"the case is {type(case).__name__}: expected a JSON object")
    for name, known in {"kind": kinds, **ONE_OF}.items():
        if case.get(name) not in known:
            raise ValueError(f"{name!r} of the case is {case.get(name)!r}: expected one of {', '.join(known)}")
    for name, kind in TYPES.items():
        if not isinstance(case.get(name), kind):
            raise ValueError(f"{name!r} of the case is {case.get(name)!r}: expected {kind.__name__}")
    return case


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Measure one case; raises CheckFailed, NotOffered, LookupError, ValueError, or whatever the queue raises."""
    workload = find(case["family"], case["workload"])
    workload.require(case["kind"], case["params"])
    Checking.front = case.get("front", 0)
    queue_class = load_offered(case["target"]) if case["target"] else None
    workload.require_offered(queue_class)

    own = os.getpid()

    def save(name: str, samples: array[int]) -> str:
        file_name = f"{name}.i64"
        if os.getpid() != own:  # what a queue has forked writes over no sample
            return file_name
        with open(os.path.join(case["out"], file_name), "wb") as raw:  # noqa: PTH118, PTH123
            samples.tofile(raw)
        return file_name

    if case["kind"] in REAL:
        from runners import realtime  # no other worker pays for it

        measure_kind: Any = realtime.measure
    elif case.get("explain"):
        from runners import causes  # nor for that

        measure_kind = causes.explainer(case)
    else:
        measure_kind = KINDS[case["kind"]]
    settle(case["gc"])
    result: dict[str, Any] = measure_kind(workload, queue_class, case, CLOCKS[case["clock"]], save)
    return result


def conform(case: dict[str, Any]) -> dict[str, Any]:
    """Check the contract; the name of each promise is left in the file `progress` before it is tried."""
    check_all = load_target(CONFORMANCE[case["family"]])

    def progress(promise: str) -> None:
        with open(os.path.join(case["out"], "progress"), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123
            file.write(promise)

    progress("looking at what it offers")
    outcomes = check_all(load_offered(case["target"]), seed=case["seed"], progress=progress, **case["params"])
    return {"outcomes": [[found.promise, found.sentence, found.verdict, found.detail] for found in outcomes]}


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    """Return the result of the case, whatever the queue does but leave the process; a traceback goes to stderr."""
    try:
        figures = conform(case) if case["kind"] == "conform" else measure(case)
    except CheckFailed as error:
        return {"status": "check-failed", "message": str(error)}
    except NotOffered as error:
        return {"status": "not-offered", "message": str(error)}
    except BaseException as error:  # noqa: BLE001 - a queue may raise anything, SystemExit and KeyboardInterrupt too
        sys.__excepthook__(type(error), error, error.__traceback__)
        return {"status": "error", "message": last_line(error)}
    return {"status": "ok", "message": "", **figures}


def last_line(error: BaseException) -> str:
    """Return what a traceback of `error` ends with, in one line."""
    try:
        text = " ".join(str(error)[:LONGEST_TEXT].split())
    except BaseException:  # noqa: BLE001 - the text of a foreign exception may fail as well
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def main(arguments: list[str]) -> int:
    """Measure the case in the one file that is named; return the exit code."""
    try:
        if len(arguments) != 1:
            raise ValueError(f"{len(arguments)} arguments: expected one, the file with the case")
        case = read_case(arguments[0], (*KINDS, *REAL, "conform"))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"no case to measure: {' '.join(str(error).split())}\n")
        return 2
    sys.path.extend(case["path"])
    own = os.getpid()
    result = outcome(case)
    if os.getpid() != own:  # a queue that forks and goes on: one of the two is the worker
        return 0
    result["python"] = "{}.{}.{}".format(*sys.version_info[:3])
    result["implementation"] = sys.implementation.name
    import json

    path = os.path.join(case["out"], "result.json")  # noqa: PTH118
    with open(f"{path}.part", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(result, file)
    os.replace(f"{path}.part", path)  # noqa: PTH105
    return 0


def end(code: int) -> None:
    """End this process now: what a queue left to run (a thread, a function at exit) is not waited for."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the queue has closed it, or put something in its place
            continue
    os._exit(code)


if __name__ == "__main__":
    end(main(sys.argv[1:]))
