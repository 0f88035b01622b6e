"""Starts workers one at a time, each in a fresh process, and says what became of it.

The parent's side of the protocol in runners/worker.py. Whatever a subject does (hang, eat memory, print, fork, exit,
die of a signal) ends as an Outcome with a status and one sentence; nothing it does ends the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from runners import remains, strays

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "runners" / "worker.py"
COST = ROOT / "runners" / "cost.py"
ALLOCATIONS = ROOT / "runners" / "allocations.py"

# Without site, user site and the script's folder, but with the PYTHON* variables: `-I` would ignore the hash seed.
BARE = ("-S", "-s", "-P")

COST_CODES = {3: "check-failed", 4: "not-offered"}
"""What runners/cost.py says by its exit code; any other that is not 0 is an error."""

STDERR_KEPT = 4096
FILE_SIZE_LIMIT_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What one execution may use: seconds on the wall, bytes of address space, and only one processor if `pinned`."""

    seconds: float = 60.0
    memory_bytes: int = 8 << 30
    pinned: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one process.

    `status` is ok, check-failed, not-offered, error, timeout, memory-limit or crashed; `message` is one sentence, empty
    when ok; `result` is what the worker wrote (empty unless it reached its end).
    """

    status: str
    message: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    duration_ns: int = 0
    stderr: str = ""
    code: int = 0

    @property
    def ok(self) -> bool:
        """True when the process ended as it should and every check held."""
        return self.status == "ok"


def processors() -> list[int]:
    """Return the processors that this process may use, in order; empty where the system does not say.

    >>> processors() == sorted(processors())
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return []


def pinned_processor() -> int | None:
    """Return the processor that workers run on: the last one where there are two or more, else None (no pinning)."""
    available = processors()
    return available[-1] if len(available) >= 2 else None


def at_once(ways: Sequence[Callable[[], T]]) -> list[T]:
    """Call all of them, as many at a time as there are processors, and return what they return, in order.

    For what counts and times nothing.

    >>> at_once([lambda: 1, lambda: 2])
    [1, 2]
    """
    pool = ThreadPoolExecutor(max(1, len(processors())))
    try:
        return [way.result() for way in [pool.submit(way) for way in ways]]
    finally:
        pool.shutdown(cancel_futures=True)


def worker_environment(hash_seed: int = 0, padding: int = 0) -> dict[str, str]:
    """Return the whole environment of a worker: the same everywhere but for the two things recorded with the result."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "SYSTEMROOT") if name in os.environ
    }
    return kept | {"PYTHONHASHSEED": str(hash_seed), "LAB_PADDING": "x" * padding, "LC_ALL": "C.UTF-8"}


def prime(python: str = sys.executable) -> None:
    """Compile what a worker loads, so that the first execution does not pay for it; a read-only tree is no error."""
    folders = [str(ROOT / "queues"), str(ROOT / "runners")]
    command = [python, *BARE, "-m", "compileall", "-q", *folders]
    subprocess.run(command, env=worker_environment(), capture_output=True, check=False, timeout=120)


def run_worker(
    spec: dict[str, Any],
    folder: Path,
    *,
    python: str = sys.executable,
    limits: Limits | None = None,
    hash_seed: int = 0,
    padding: int = 0,
    under: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
) -> Outcome:
    """Run one worker on `spec` in `folder` and return its outcome; `folder` then holds its raw sample files.

    `under` is the command that it is run by, such as a profiler; `more` is what it finds in its environment besides.
    Never raises for what the subject does. KeyboardInterrupt ends the worker and passes on.
    """
    spec_path = folder / "spec.json"
    spec_path.write_text(json.dumps({**spec, "out": str(folder)}), encoding="utf-8")
    command = [*under, python, *BARE, str(WORKER), str(spec_path)]
    environment = {**worker_environment(hash_seed, padding), **(more or {})}
    return _run(command, folder, limits or Limits(), environment)


def run_cost(
    spec: dict[str, Any],
    folder: Path,
    *,
    python: str = sys.executable,
    limits: Limits | None = None,
    hash_seed: int = 0,
    padding: int = 0,
    options: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
) -> Outcome:
    """Run one pyperf measurement of `spec`, which starts its own worker process; its output is `folder/cost.json`.

    `more` is what the process finds in its environment besides; of that, pyperf hands on what cost.INHERITED names.
    """
    spec_path = folder / "spec.json"
    spec_path.write_text(json.dumps({**spec, "out": str(folder)}), encoding="utf-8")
    known = any((Path(entry) / "pyperf").is_dir() for entry in spec["path"])  # else `site` has to find it
    bare = BARE if known and "--worker" in options else BARE[1:]
    command = [python, *bare, str(COST), "--case", str(spec_path), "-o", str(folder / "cost.json"), *options]
    environment = {**worker_environment(hash_seed, padding), **(more or {})}
    outcome = _run(command, folder, limits or Limits(), environment, result_name="cost.json")
    return replace(outcome, status=COST_CODES.get(outcome.code, outcome.status))


def run_allocations(
    spec: dict[str, Any], folder: Path, *, python: str = sys.executable, limits: Limits | None = None
) -> Outcome:
    """Run a memory case under memray, which needs installed packages and has every object allocated by malloc."""
    spec_path = folder / "spec.json"
    spec_path.write_text(json.dumps({**spec, "out": str(folder)}), encoding="utf-8")
    command = [python, "-s", "-P", str(ALLOCATIONS), str(spec_path)]
    return _run(command, folder, limits or Limits(), worker_environment() | {"PYTHONMALLOC": "malloc"})


def _run(
    command: list[str], folder: Path, limits: Limits, environment: dict[str, str], result_name: str = "result.json"
) -> Outcome:
    before = strays.processes()
    started_ns = time.monotonic_ns()
    with (folder / "stderr").open("w+b") as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**environment, "TMPDIR": str(folder)},  # what a killed one had there goes with the folder
            cwd=folder,
            process_group=0,
        )
        _confine(process.pid, limits)
        try:
            ended = _wait(process, limits.seconds)
        finally:
            strays.end_group(process, folder, before)
        duration_ns = time.monotonic_ns() - started_ns
        tail = _tail(stderr)
    if not ended:
        message = f"did not end within {limits.seconds:g} s and was stopped{_where(folder)}"
        return Outcome("timeout", message, duration_ns=duration_ns, stderr=tail)
    return _outcome(process.returncode, folder, result_name, tail, duration_ns)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until the process ends or the time is up; True when it ended.

    On Linux the kernel says so at once; Popen.wait with a timeout looks every 50 ms, which would be a large part of a
    short execution.
    """
    if hasattr(os, "pidfd_open"):
        descriptor = os.pidfd_open(process.pid)
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            return bool(poller.poll(seconds * 1000))
        finally:
            os.close(descriptor)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    return False


def _confine(pid: int, limits: Limits) -> None:
    """Pin the process and bound its memory, processor time and file size from outside, where the system allows it.

    Done right after the start: an interpreter needs milliseconds before it reaches the first line of a worker. The
    limit on processor time ends a worker whose parent was killed and can stop it no more.
    """
    processor = pinned_processor() if limits.pinned else None
    with contextlib.suppress(OSError, AttributeError):
        if processor is not None:
            os.sched_setaffinity(pid, {processor})
    if not hasattr(resource, "prlimit"):
        return
    seconds = int(limits.seconds) + 10
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, FILE_SIZE_LIMIT_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, kind, (value, value))


def _outcome(code: int, folder: Path, result_name: str, tail: str, duration_ns: int) -> Outcome:
    result = remains.result_of(folder / result_name) if code == 0 else None
    if result is not None:
        status = str(result.get("status", "ok"))
        message = remains.in_words(str(result.get("message", "")))
        if status == "error" and "MemoryError" in message:
            status, message = "memory-limit", "asked for more memory than the limit allows"
        return Outcome(status, message, result, duration_ns, tail)
    last_line = next((line for line in reversed(tail.splitlines()) if line.strip()), "")
    if "MemoryError" in last_line:
        return Outcome("memory-limit", "asked for more memory than the limit allows", {}, duration_ns, tail)
    at = _where(folder)
    if code < 0:
        return Outcome("crashed", f"was ended by {_signal_name(-code)}{at}", {}, duration_ns, tail)
    if code == 0:
        return Outcome("crashed", f"ended without a result: the subject left the process{at}", {}, duration_ns, tail)
    said = remains.in_words(last_line) or f"ended with exit code {code}{at}"
    return Outcome("error", said, {}, duration_ns, tail, code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _tail(stderr: BinaryIO) -> str:
    """Return the end of what was said on stderr, as text that can be stored, whatever the file is called now."""
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, size - STDERR_KEPT))
    text = stderr.read(STDERR_KEPT).decode("utf-8", "replace")
    return "".join(character if character.isprintable() or character in "\n\t" else "?" for character in text)


def _where(folder: Path) -> str:
    """Name the promise that a conformance worker was at, when it left word of it."""
    with contextlib.suppress(OSError, ValueError):
        if found := remains.in_words(remains.content(folder / "progress").decode()):
            return f" at {found!r}"
    return ""
