"""The mean cost of a call, by pyperf: `python runners/cost.py --case SPEC.json -o OUT.json -p 1 -n 5 -w 1 [-l LOOPS]`.

pyperf calibrates the loops and starts a process of its own that measures; this file is both ends of it, and the case
is handed on. A run starts the measuring end itself (`--worker -l 1 --doubling`), which then calibrates as well. The
loop bodies are those of the batched kind (runners/batched.py). A queue that fails its check, lacks a method or raises
gives no number: one sentence on stderr and exit code 3, 4 or 1; 2 is a case that cannot be read.

`read_cost` is the parent's side and reads what pyperf has written.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [str(ROOT), *(entry for entry in sys.path if entry != here)]

from queues.addresses import ENGINE_OF, variable  # noqa: E402
from runners.checks import Checking  # noqa: E402
from runners.counters import Counters, settle  # noqa: E402
from runners.latency import CheckFailed  # noqa: E402
from runners.worker import end, last_line, read_case  # noqa: E402
from runners.workload import NotOffered, load_offered  # noqa: E402
from runners.workloads import find  # noqa: E402

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.thread_time, "wall": time.perf_counter}
"""In seconds, as pyperf has it; its own clock is the wall."""

INHERITED = [
    "PYTHONHASHSEED",
    "LAB_PADDING",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    *map(variable, sorted({*ENGINE_OF.values()})),
]
"""What pyperf's clean environment would leave out and the measuring process must have."""

COUNTERS = "counters.json"
"""What the system counted while a cost case was measured, in the folder of the case."""

BROKEN, UNREADABLE, CHECK_FAILED, NOT_OFFERED = 1, 2, 3, 4
"""Exit codes."""


class Measurement:
    """The case, set up in the process that measures; pyperf calls `time_loops`.

    pyperf divides by the loops and by `calls`, so that a value is the time of one message or of one cycle.
    """

    def __init__(self, case: dict[str, Any]) -> None:
        workload = find(case["family"], case["workload"])
        workload.require("cost", case["params"])
        assert workload.sampler is not None
        queue_class = load_offered(case["target"])
        workload.require_offered(queue_class)
        self.clock = CLOCKS[case["clock"]]
        Checking.front = case.get("front", 0)
        settle(case["gc"])
        self.sampler = workload.sampler(queue_class, case["params"], case["seed"])
        self.calls: int = self.sampler.calls

    def time_loops(self, loops: int) -> float:
        """Return the sum of the timed parts in seconds; queues are made, and their lengths looked at, in between."""
        return float(sum(self.sampler.sample(self.clock) for _ in range(loops)))


def main() -> int:
    """Measure the case of the command line, or start the process that does; return the exit code."""
    # What pyperf has psutil for, to pin itself and to watch its memory, the run does from outside: not waited for.
    absent = sys.modules.setdefault("psutil", None) is None  # type: ignore[arg-type]
    search(sys.argv)
    import pyperf

    if absent:
        del sys.modules["psutil"]  # a queue may want it

    program = ("-s", "-P", str(Path(__file__).resolve()))
    runner = pyperf.Runner(
        values=5, processes=1, warmups=1, min_time=0.05, program_args=program, add_cmdline_args=hand_on
    )
    runner.argparser.add_argument("--case", required=True, metavar="SPEC.json", help="the case to measure")
    runner.argparser.add_argument("--doubling", action="store_true", help="with --worker: double -l up to --min-time")
    runner.argparser.set_defaults(inherit_environ=INHERITED, quiet=True)
    arguments = runner.parse_args()
    try:
        case = read_case(arguments.case, ("cost",))
    except (OSError, ValueError) as error:
        return refuse(UNREADABLE, f"no case to measure: {' '.join(str(error).split())}")
    name = f"{case['family']}/{case['workload']}"
    return measure(runner, name, case) if arguments.worker else supervise(runner, name)


def search(arguments: list[str]) -> None:
    """Look for modules where the case of the command line says as well, if there is one; what is wrong is said later.

    A run starts this without `site`, to spare its time, so that pyperf is found only there.
    """
    try:
        found = read_case(arguments[arguments.index("--case") + 1], ("cost",))["path"]
    except (IndexError, OSError, ValueError):
        return
    sys.path.extend(entry for entry in found if entry not in sys.path)


def hand_on(command: list[str], arguments: Namespace) -> None:
    """Give the process that pyperf starts the same case."""
    command.extend(("--case", arguments.case))


def measure(runner: Any, name: str, case: dict[str, Any]) -> int:
    """Measure in this process. The check comes last, and pyperf drops the values of a process that ends with a code."""
    try:
        measurement = Measurement(case)
        if runner.args.doubling:
            runner.args.loops = doubled(measurement, runner.args.loops, runner.args.min_time)
        counters = Counters()
        runner.bench_time_func(name, measurement.time_loops, inner_loops=measurement.calls)
        leave(case, counters.since())
        measurement.sampler.check()
    except CheckFailed as error:
        return refuse(CHECK_FAILED, f"check failed: {error}")
    except NotOffered as error:
        return refuse(NOT_OFFERED, f"not offered: {error}")
    except BaseException as error:  # noqa: BLE001 - a queue may raise anything, SystemExit and KeyboardInterrupt too
        sys.__excepthook__(type(error), error, error.__traceback__)
        return refuse(BROKEN, last_line(error))
    return 0


def doubled(measurement: Measurement, loops: int, least_seconds: float) -> int:
    """Return how many loops fill `least_seconds`, doubling as pyperf does.

    pyperf has a process of its own do that and another one manage both, so that the first execution of a case would
    fill its queue twice and start three interpreters; pyperf measures all the same.
    """
    while measurement.time_loops(loops) < least_seconds:
        loops *= 2
    return loops


def leave(case: dict[str, Any], counters: dict[str, Any]) -> None:
    """Write what the system counted meanwhile; the process that calibrates comes first, the one that measures last."""
    (Path(case["out"]) / COUNTERS).write_text(json.dumps(counters), encoding="utf-8")


def supervise(runner: Any, name: str) -> int:
    """Have pyperf start the measuring processes; what one of them refused has been said by itself."""
    try:
        runner.bench_time_func(name, float)
    except RuntimeError as error:
        code = str(error).rpartition("exit code ")[2]
        if code.isdigit():
            return int(code)
        return refuse(BROKEN, f"the measuring process left no values: {error}")
    return 0


def refuse(code: int, sentence: str) -> int:
    """Say why there is no number."""
    sys.stderr.write(f"{sentence}\n")
    return code


def read_cost(path: Path | str) -> dict[str, Any]:
    """Return what one pyperf run found, per message or per cycle: values, mean and median in ns (float).

    `loops` is what `-l` takes to spare a later process the calibration; `calls` is how many messages or cycles one loop
    stands for; `counters` is what the process that measured has left beside it. Raises OSError or ValueError when the
    file is none of pyperf's.
    """
    import pyperf

    found = pyperf.Benchmark.load(str(path))
    values_ns = [value * 1e9 for value in found.get_values()]
    metadata = found.get_metadata()
    return {
        "loops": found.get_loops(),
        "calls": found.get_inner_loops(),
        "values_ns": values_ns,
        "mean_ns": fmean(values_ns),
        "median_ns": median(values_ns),
        "counters": counters_beside(Path(path)),
        "pyperf": pyperf.__version__,
        "python": str(metadata.get("python_version", "")).partition(" ")[0] or None,
    }


def counters_beside(path: Path) -> dict[str, Any]:
    """Return the counters that were left in the folder of pyperf's file; {} when there are none."""
    try:
        found = json.loads((path.parent / COUNTERS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    end(main())
