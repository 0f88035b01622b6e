"""Real worker processes for tests, and a small queue of our own with everything that can be wrong with one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from runners.lifecycle import PATTERNS

ROOT = Path(__file__).resolve().parent.parent.parent
WORKER = ROOT / "runners" / "worker.py"

TINY = '''
"""A right queue in thirty lines, and wrong ones."""
import gc
import json
import os
import sys

FOUND = {}


class Batch:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)


class Tiny:
    def __init__(self):
        self.items = []

    def enqueue(self, start, *message):
        at = len(self.items)
        while at and self.items[at - 1][0] > start:
            at -= 1
        self.items.insert(at, (start, *message))

    def take(self, now, limit=None):
        due = sum(1 for item in self.items if item[0] <= now)
        due = min(due, limit or due)
        if not due:
            return None
        batch = Batch(self.items[:due])
        del self.items[:due]
        return batch

    def process(self, batch, handler, deadline=None):
        done = 0
        while batch.items and deadline is None:
            handler(*batch.items[0])
            del batch.items[0]
            done += 1
        return done

    def requeue(self, batch):
        self.items[:0] = batch.items
        batch.items = []

    def __len__(self):
        return len(self.items)


class LosesOne(Tiny):
    """Drops the last message of every batch that is put back, and says nothing."""

    def requeue(self, batch):
        del batch.items[-1:]
        Tiny.requeue(self, batch)


class LiesAboutLosing(Tiny):
    """Keeps nothing but a count."""

    def enqueue(self, start, *message):
        self.items.append((start,))

    def __len__(self):
        return len(self.items)


class Reorders(Tiny):
    """Puts back with the first two in the wrong order."""

    def requeue(self, batch):
        batch.items[:2] = batch.items[1::-1]
        Tiny.requeue(self, batch)


class Drained(Tiny):
    """Never puts back, so that every take after the first would be timed on less."""

    def requeue(self, batch):
        pass


class Keeps(Tiny):
    """Cannot be freed by dropping it: the collector would have to find it."""

    def __init__(self):
        Tiny.__init__(self)
        self.itself = self


class Hoards(Tiny):
    """Keeps the room that it once needed."""

    def __init__(self):
        Tiny.__init__(self)
        self.room = []

    def enqueue(self, start, *message):
        self.room.append(None)
        self.items.append((start, *message))

    def container(self):
        return iter((self.room, self.items))


class NoRequeue:
    enqueue, take, __len__ = Tiny.enqueue, Tiny.take, Tiny.__len__
    __init__ = Tiny.__init__


class OnlyIterates(NoRequeue):
    """Has no process, but its batches can be read."""

    def take(self, now, limit=None):
        batch = Tiny.take(self, now, limit)
        return batch.items if batch else None


class IteratesWrongly(OnlyIterates):
    def take(self, now, limit=None):
        items = OnlyIterates.take(self, now, limit)
        return items and items[::-1]


class Prints(Tiny):
    def take(self, now, limit=None):
        print("noise" * 20)
        return Tiny.take(self, now, limit)


class Leaves(Tiny):
    def take(self, now, limit=None):
        os._exit(0)


class LeavesLate(Tiny):
    """Leaves when a batch is put back in front of what was queued meanwhile."""

    def requeue(self, batch):
        if self.items and self.items[0][0] < batch.items[0][0]:
            os._exit(0)
        Tiny.requeue(self, batch)


class Exits(Tiny):
    def take(self, now, limit=None):
        sys.exit("enough")


class Raises(Tiny):
    def requeue(self, batch):
        raise RuntimeError("the spring\\nis broken")


class Noted(Tiny):
    """Writes down what it finds when it is made, and every call."""

    calls = []

    def __init__(self):
        Tiny.__init__(self)
        FOUND["enabled"] = gc.isenabled()
        FOUND["frozen"] = gc.get_freeze_count()

    def enqueue(self, start, *message):
        self.calls.append(("enqueue", start, *message))
        Tiny.enqueue(self, start, *message)

    def take(self, now, limit=None):
        self.calls.append(("take", now, limit))
        with open("noted", "w") as file:
            json.dump([FOUND, gc.get_freeze_count(), os.environ.get("PYTHONHASHSEED"), self.calls], file)
        return Tiny.take(self, now, limit)


class Listed(Tiny):
    """Writes down which modules are loaded."""

    def take(self, now, limit=None):
        if now == float("inf"):
            with open("modules", "w") as file:
                for name, module in sorted(sys.modules.items()):
                    file.write(f"{name} {getattr(module, '__file__', None)}\\n")
        return Tiny.take(self, now, limit)
'''

SMALL: dict[str, dict[str, dict[str, int]]] = {
    "latency": {
        "cycle": {"due": 10, "queued": 100, "calls": 30},
        "level-cycle": {"due": 10, "queued": 100, "calls": 10},
        "window-cycle": {"due": 10, "queued": 100, "calls": 30},
        "requeue-unused": {"due": 10, "unused": 4, "queued": 100, "calls": 30},
        "reattach": {"part": 10, "queued": 100, "calls": 30},
        "growth": {"messages": 300},
        "steady-enqueue": {"queued": 50, "calls": 200},
        "steady-dispatch": {"queued": 50, "calls": 200},
        "free": {"messages": 300},
        "free-in-batches": {"messages": 300, "limit": 70},
    },
    "batched": {
        "cycle": {"due": 10, "queued": 100},
        "window-cycle": {"due": 10, "queued": 100},
        "requeue-unused": {"due": 10, "unused": 4, "queued": 100},
        "steady-enqueue": {"queued": 50},
        "steady-dispatch": {"queued": 50},
        "reattach": {"part": 10, "queued": 100},
        "enqueue-in-order": {"messages": 200},
        "enqueue-out-of-order": {"messages": 200},
        "enqueue-at-random": {"queued": 200},
        "process": {"messages": 200},
        **{f"life-{name}": {"messages": 200} for name in PATTERNS},
    },
    "memory": {
        "resident": {"messages": 500},
        "baseline": {"messages": 500},
        "drained": {"messages": 500, "left": 10},
    },
    "counts": {
        "cycle": {"due": 10, "queued": 100, "calls": 10},
        "level-cycle": {"due": 10, "queued": 100, "calls": 3},
        "window-cycle": {"due": 10, "queued": 100, "calls": 10},
        "requeue-unused": {"due": 10, "unused": 4, "queued": 100, "calls": 10},
        "reattach": {"part": 10, "queued": 100, "calls": 10},
        "steady-enqueue": {"queued": 50, "calls": 20},
        "steady-dispatch": {"queued": 50, "calls": 20},
    },
}
"""Small parameters for every workload of every kind."""


@dataclass
class Ended:
    """A worker that has ended."""

    code: int
    stderr: str
    folder: Path
    result: dict[str, Any]

    def samples(self, name: str) -> list[int]:
        """Return the ns of one raw file."""
        values = array("q")
        values.frombytes((self.folder / name).read_bytes())
        return list(values)

    def p50(self, name: str) -> float:
        """Return the median of one raw file."""
        return median(self.samples(name))


def case_of(folder: Path, kind: str, workload: str, **changes: Any) -> dict[str, Any]:
    """Return the case of `workload` at its small size, with changes."""
    case: dict[str, Any] = {
        "kind": kind,
        "family": "timer",
        "subject": "tiny",
        "target": "tiny:Tiny",
        "path": [str(folder)],
        "workload": workload,
        "params": SMALL.get(kind, {}).get(workload, {}),
        "seed": 1,
        "clock": "cpu",
        "gc": "off" if kind == "counts" else "on",
        "out": str(folder),
    }
    return case | changes


def write_tiny(folder: Path) -> None:
    """Put the module `tiny` into `folder`."""
    (folder / "tiny.py").write_text(TINY, encoding="utf-8")


def noted(folder: Path) -> tuple[dict[str, Any], int, str, list[list[Any]]]:
    """Return what tiny:Noted wrote: what it found when it was made, frozen objects, the hash seed, every call."""
    found, frozen, hash_seed, calls = json.loads((folder / "noted").read_text(encoding="utf-8"))
    return found, frozen, hash_seed, calls


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a worker."""
    return {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "1", "LAB_PADDING": "xyz", **more}


def work(
    folder: Path,
    kind: str,
    workload: str,
    *,
    env: dict[str, str] | None = None,
    python: str = sys.executable,
    **changes: Any,
) -> Ended:
    """Run one worker in `folder` to its end."""
    write_tiny(folder)
    case = case_of(folder, kind, workload, **changes)
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")
    command = [python, "-S", "-s", "-P", str(WORKER), str(folder / "case.json")]
    done = subprocess.run(
        command, capture_output=True, text=True, env=env or environment(), cwd=folder, timeout=60, check=False
    )
    path = folder / "result.json"
    result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Ended(done.returncode, done.stderr, folder, result)
