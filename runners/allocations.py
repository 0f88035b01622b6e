"""What memray sees of a memory case: `python -s -P runners/allocations.py SPEC.json`, in a process of its own.

The case is the one that runners/memory.py measures, with nothing read on the way. The process is started with
PYTHONMALLOC=malloc, so that every object is an allocation of its own and none hides in the interpreter's arenas; the
sizes are those that were asked for. What the interpreter keeps in its free lists is no allocation, so that a count may
differ by some in a thousand from one process to the next. memray keeps out of the worker that reads the resident
memory, because it would be in the figures.

`measure` is the parent's side. A process that cannot do it says why in one sentence on stderr and ends with 1.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [str(ROOT), *(entry for entry in sys.path if entry != here)]

from queues.registry import load_target  # noqa: E402
from runners.counters import settle  # noqa: E402
from runners.latency import CheckFailed  # noqa: E402
from runners.memory import Gauge  # noqa: E402
from runners.worker import last_line, read_case  # noqa: E402
from runners.workload import NotOffered  # noqa: E402
from runners.workloads import find  # noqa: E402

if TYPE_CHECKING:
    from runners.spawn import Limits

CAPTURE = "allocations.bin"
RELEASES = frozenset({"FREE", "MUNMAP", "PYMALLOC_FREE"})
"""Records of memray that are no allocation."""

Frame = tuple[str, str, int]


def measure(
    spec: dict[str, Any], keep: Callable[[str], None], *, python: str, limits: Limits
) -> tuple[dict[str, int], list[str]]:
    """Run the case under memray, hand its flame (folded stacks) to `keep`; return its columns, and what went wrong.

    Once for a case is enough: another process would count the same but for some in a thousand. Never raises for what
    the subject does. The file that memray writes, some 5 bytes an allocation, is not kept.
    """
    from runners.folders import working_folder
    from runners.spawn import run_allocations

    with working_folder() as folder:
        outcome = run_allocations(spec, folder, python=python, limits=limits)
    if not outcome.ok:
        case = f"{spec['subject']}, {spec['workload']}"
        return {}, [f"memray gave no figures for {case} ({outcome.status}: {outcome.message})"]
    keep(outcome.result["flame"])
    return {name: outcome.result[name] for name in ("allocations", "high_water_bytes")}, []


def hold(case: dict[str, Any], capture: Path) -> None:
    """Do what the case says with memray watching, and check the queue afterwards, unwatched."""
    import memray

    workload = find(case["family"], case["workload"])
    workload.require("memory", case["params"])
    assert workload.hold is not None
    queue_class = load_target(case["target"]) if case["target"] else None
    workload.require_offered(queue_class)
    gauge = Gauge(reads=False)
    settle(case["gc"])
    with memray.Tracker(capture):
        _, check = workload.hold(queue_class, case["params"], gauge)
    check()


def figures(capture: Path) -> dict[str, Any]:
    """Return what memray wrote: the allocations, the most that was held at one time, and by whom; O(allocations)."""
    import memray

    releases = {kind.value for kind in memray.AllocatorType if kind.name in RELEASES}
    with memray.FileReader(capture) as reader:
        held = [(record.stack_trace(), record.size) for record in reader.get_high_watermark_allocation_records(True)]
        allocations = sum(1 for record in reader.get_allocation_records() if record.allocator not in releases)
        high_water_bytes = reader.metadata.peak_memory
    return {"allocations": allocations, "high_water_bytes": high_water_bytes, "flame": folded(held)}


def folded(held: Iterable[tuple[list[Frame], int]]) -> str:
    """Return stacks (innermost frame first) and their bytes as folded stacks, one a line, without folders.

    The frames of this file come off the bottom: they are in every stack.

    >>> stack = [("append", "/x/linked_list.py", 9), ("fill", "/x/memory.py", 3), ("hold", "/x/allocations.py", 5)]
    >>> folded([(stack, 48), (stack, 48)])
    'fill (memory.py);append (linked_list.py) 96\\n'
    """
    bytes_by_stack: Counter[str] = Counter()
    for stack, size in held:
        frames = [f"{function} ({Path(file).name})" for function, file, _ in reversed(stack)]
        own = [name for name in frames if not name.endswith(f"({Path(__file__).name})")]
        bytes_by_stack[";".join(own or ["the workload itself"])] += size
    return "".join(f"{stack} {size}\n" for stack, size in sorted(bytes_by_stack.items()))


def main(arguments: list[str]) -> int:
    """Measure the case in the one file that is named; return the exit code."""
    try:
        (path,) = arguments
        case = read_case(path, ("memory",))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"no case to measure: {' '.join(str(error).split())}\n")
        return 2
    sys.path.extend(case["path"])
    folder = Path(case["out"])
    result: dict[str, Any] = {"status": "ok", "message": ""}
    try:
        hold(case, folder / CAPTURE)
        result |= figures(folder / CAPTURE)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed for this interpreter\n")
        return 1
    except CheckFailed as error:
        result = {"status": "check-failed", "message": str(error)}
    except NotOffered as error:
        result = {"status": "not-offered", "message": str(error)}
    except Exception as error:  # noqa: BLE001 - a queue may raise anything
        result = {"status": "error", "message": last_line(error)}
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
