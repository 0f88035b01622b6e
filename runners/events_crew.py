"""Many worker processes on one event queue: each claims and completes until nothing is left.

`python -S -s -P runners/events_crew.py` is one of them; its orders come on stdin, a JSON object a line, and its answers
go to stdout, so that the address of a server is in its environment and nowhere else. `Crew` is who gives the orders.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from array import array

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib in a worker
if __name__ == "__main__":
    sys.path.insert(0, ROOT)

from queues.events.rules import StaleClaim  # noqa: E402
from queues.registry import load_target  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PAUSE_SECONDS = 0.002
"""How long a worker waits that found nothing to claim while others still hold some."""

REPORT_EVERY = 10
"""Completions after which a worker says how far it is, when asked to."""


class Crew:
    """So many processes of `target` on the events at `place`; used as a context manager, which ends what is left."""

    def __init__(
        self, target: str, place: Mapping[str, Any], workers: int, path: Iterable[str] = (), python: str = ""
    ) -> None:
        """Start them; they have connected when this returns."""
        order = {"target": target, "place": dict(place), "path": list(path)}
        command = [python or sys.executable, "-S", "-s", "-P", os.path.abspath(__file__)]  # noqa: PTH100
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.processes: list[subprocess.Popen[str]] = [subprocess.Popen(command, **pipes) for _ in range(workers)]  # type: ignore[call-overload]
        try:
            for number, process in enumerate(self.processes):
                self.tell(process, {**order, "worker": f"w{number}"})
            for process in self.processes:
                self.hear(process)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End those that are left."""
        for process in self.processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:  # noqa: SIM105 - what a dead process has not read is still in the pipe
                        pipe.close()
                    except OSError:
                        pass

    def run(self, **order: Any) -> list[dict[str, Any]]:
        """Give all the same order at once and return what each answers when it has done it."""
        for process in self.processes:
            self.tell(process, order)
        return [self.hear(process) for process in self.processes]

    def tell(self, process: subprocess.Popen[str], order: Mapping[str, Any]) -> None:
        """Give one an order."""
        assert process.stdin is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()

    def hear(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """Return the next answer of one. RuntimeError when it failed, or ended without any."""
        assert process.stdout is not None
        line = process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "a worker ended without an answer"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def work(queue: Any, worker: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """Claim and complete until the queue is empty for job `by`: what a worker does whose handler takes no time.

    With `lease_us` in real time: an event that a dead worker holds comes back when its lease is over. With `seconds` it
    is at it for so long, whatever is left. Answers with the tasks done, and ns per claim and completion as two lists.
    """
    of, by, lease_us = order["of"], order["by"], order["lease_us"]
    claims, completions, done = array("q"), array("q"), []
    clock = time.perf_counter_ns
    seconds = order.get("seconds")
    end = None if seconds is None else clock() + seconds * 1e9
    while end is None or clock() < end:
        before = clock()
        claim = queue.claim(of, by, worker=worker, lease_us=lease_us)
        between = clock()
        if claim is None:
            if end is None and (order.get("until_none") or not queue.pending(of, by, limit=1)):
                break
            if os.getppid() != order.get("owner", os.getppid()):  # nobody is left to hear the answer
                break
            time.sleep(PAUSE_SECONDS)
            continue
        if order.get("hold"):
            say(held=claim.event.task)
            sys.stdin.readline()
        started = clock()
        try:
            queue.complete(claim, "SUCCEEDED")
        except StaleClaim:  # it took longer than the lease, and another has the event: the work is dropped
            continue
        completions.append(clock() - started)
        claims.append(between - before)
        done.append(claim.event.task)
        if order.get("report") and len(done) % REPORT_EVERY == 0:
            say(done=len(done))
    answer = {"tasks": done, "claim_ns": claims.tolist(), "complete_ns": completions.tolist()}
    return {**answer, "retried": getattr(queue, "retried", 0)}


def record(queue: Any, worker: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """Record events of job `of`, one a transaction, with names of its own: `count` of them, or for so many `seconds`.

    Answers with their tasks.
    """
    tasks: list[str] = []
    end = time.monotonic() + order.get("seconds", float("inf"))
    while len(tasks) < order.get("count", float("inf")) and time.monotonic() < end:
        task = f"{worker} {len(tasks)}"
        queue.record(order["of"], task, "SUCCEEDED")
        tasks.append(task)
    return {"tasks": tasks, "retried": getattr(queue, "retried", 0)}


DOES = {"work": work, "record": record}


def say(**answer: Any) -> None:
    """Answer whoever gave the order."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Be one worker, until stdin ends."""
    owner = os.getppid()
    try:
        first = json.loads(sys.stdin.readline())
        sys.path.extend(first["path"])
    except (ValueError, TypeError, KeyError):
        sys.stderr.write("no order on stdin: expected a JSON object with path, target, place and worker in a line\n")
        return 2
    try:
        queue = load_target(first["target"])(**first["place"])
        say(ready=True)
        for line in iter(sys.stdin.readline, ""):
            order = json.loads(line)
            say(**DOES[order["do"]](queue, first["worker"], {**order, "owner": owner}))
        queue.close()
    except Exception as error:  # noqa: BLE001 - whatever it is, who waits for an answer is told
        say(error=f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
