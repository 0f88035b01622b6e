"""Queues that do the worst a queue can do to its process, at every place: `hostile_queues:take__fork_on` and the like.

The name before the two underscores is the method that misbehaves when it is first called, the one behind says how. The
classes are made when they are asked for: PLACES times ACTS of them.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tests.runners.queues_that_misbehave import Plain

PLACES = ("init", "enqueue", "take", "requeue", "len")


class Unspeakable(Exception):
    """An exception that has no text."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Base(BaseException):
    """Nothing that `except Exception` sees."""


def hang() -> None:
    """Wait without using the processor."""
    while True:
        signal.pause()


def spin() -> None:
    """Use the processor and never come back."""
    while True:
        pass


def eat() -> None:
    """Ask for memory piece by piece, and touch it."""
    held = []
    while True:
        held.append(bytearray(b"x") * (64 << 20))


def print_much() -> None:
    """Print more than a pipe holds, some of it no text."""
    for _ in range(2000):
        print("y" * 1000)
        os.write(1, b"\xff\x00\x1b[2J" * 200)


def complain_much() -> None:
    """The same on stderr."""
    for _ in range(2000):
        os.write(2, b"\xff\x00\x1b[2J" * 200)


def fork_on() -> None:
    """Go on in two processes, each of which believes to be the one."""
    os.fork()


def fork_a_child() -> None:
    """Leave a child behind that does nothing."""
    if os.fork() == 0:
        signal.pause()


def fork_a_daemon() -> None:
    """Leave one behind that has left group, session and folder."""
    if os.fork() == 0:
        os.setsid()
        os.chdir("/")
        signal.pause()


def leave() -> None:
    """End as if all were well."""
    os._exit(0)


def leave_badly() -> None:
    """End with a code."""
    os._exit(77)


def leave_politely() -> NoReturn:
    """Ask the interpreter to end."""
    sys.exit("good bye")


def abort() -> None:
    """Die of a signal."""
    os.abort()


def raising(error: BaseException | type[BaseException]) -> Callable[[], None]:
    """Return a function that raises."""

    def act() -> None:
        raise error

    return act


def recurse() -> None:
    """Call itself until there is no more stack."""
    recurse()


def close_descriptors() -> None:
    """Close stdin, stdout and stderr."""
    for descriptor in range(3):
        os.close(descriptor)


def close_everything() -> None:
    """Close every descriptor that there may be."""
    os.closerange(0, 256)


def change_signals() -> None:
    """Ignore what can be ignored, and have an alarm ring."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)


def ring() -> None:
    """Die of an alarm."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.pause()


def stop() -> None:
    """Stop its own process, as Ctrl-Z does."""
    os.kill(os.getpid(), signal.SIGSTOP)


def move_away() -> None:
    """Work in another folder."""
    os.chdir("/")


def take_the_folder_away() -> None:
    """Remove the folder that it works in."""
    shutil.rmtree(Path.cwd())


def take_stderr_away() -> None:
    """Remove the file that stderr goes to, and put a pipe there that nobody writes to."""
    Path("stderr").unlink()
    os.mkfifo("stderr")


def replace_builtins() -> None:
    """Make the words of the language mean something else."""
    builtins.open = builtins.len = builtins.print = lambda *a, **k: 3  # type: ignore[assignment]


def replace_time() -> None:
    """Make time stand still, and go back."""
    for name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "thread_time_ns", "monotonic_ns"):
        setattr(time, name, lambda: -5)


def replace_json() -> None:
    """Write something else than was asked for."""
    json.dump = json.dumps = lambda *a, **k: None  # type: ignore[assignment]


def thread() -> None:
    """Start a thread that never ends."""
    threading.Thread(target=hang).start()


def never_end() -> None:
    """Have something called at the end that does not come back."""
    atexit.register(hang)


def fill_the_folder() -> None:
    """Put folders and pipes where the worker writes."""
    for name in ("result.json", "result.json.part", "take.i64", "requeue.i64", "progress", "cost.json"):
        path = Path(name)
        if not path.exists():
            path.mkdir()


def pipe_for_a_result() -> None:
    """Put a pipe where the result is read from, and leave."""
    os.mkfifo("result.json")
    os._exit(0)


def endless_result() -> None:
    """Put a link to something without an end where the result is read from, and leave."""
    Path("result.json").symlink_to("/dev/zero")
    os._exit(0)


def forging(content: object) -> Callable[[], None]:
    """Return a function that writes a result of its own and leaves."""

    def act() -> None:
        Path("result.json").write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        os._exit(0)

    return act


def kill_the_group() -> None:
    """End everything that it takes for its own."""
    os.killpg(0, signal.SIGKILL)


ACTS: dict[str, Callable[[], Any]] = {
    **{act.__name__: act for act in (hang, spin, eat, print_much, complain_much, fork_on, fork_a_child)},
    **{act.__name__: act for act in (fork_a_daemon, leave, leave_badly, leave_politely, abort, recurse, stop, ring)},
    **{act.__name__: act for act in (close_descriptors, close_everything, change_signals, move_away)},
    **{act.__name__: act for act in (take_the_folder_away, take_stderr_away, replace_builtins, replace_time)},
    **{act.__name__: act for act in (replace_json, thread, never_end, fill_the_folder, pipe_for_a_result)},
    **{act.__name__: act for act in (endless_result, kill_the_group)},
    "raise_base": raising(Base("from below")),
    "raise_interrupt": raising(KeyboardInterrupt),
    "raise_stop": raising(StopIteration),
    "raise_generator_exit": raising(GeneratorExit),
    "raise_memory": raising(MemoryError),
    "raise_half_a_character": raising(ValueError("\ud800\x1b[2J\x00")),
    "raise_much": raising(ValueError("z" * 10_000_000)),
    "raise_unspeakable": raising(Unspeakable()),
    "raise_group": raising(BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("one")])),
    "forge_nothing": forging({}),
    "forge_a_list": forging([1]),
    "forge_deep": forging("[" * 100_000),
    "forge_a_path": forging({"status": "ok", "operations": [{"operation": "take", "samples": "/etc/passwd"}]}),
    "forge_names": forging({"status": "splendid", "message": {"a": 1}, "operations": 7, "counters": []}),
}
"""name -> what a queue does to its process."""

RETURNS: dict[str, Any] = {
    "nothing": None,
    "a_text": "messages",
    "a_number": 3,
    "itself": NotImplemented,
    "endless": None,
    "huge": 10**30,
    "negative": -1,
    "nan": float("nan"),
}
"""name -> what a method returns instead of what it should."""


class Armed(Plain):
    """A queue that misbehaves at one place, the first time."""

    place = ""
    act: Callable[[], Any] = staticmethod(hang)
    armed = True

    def _come_to(self, place: str) -> None:
        if place == self.place and type(self).armed:
            type(self).armed = False
            type(self).act()

    def __init__(self) -> None:
        self._come_to("init")
        super().__init__()

    def enqueue(self, start: Any, *message: Any) -> None:
        """Keep the message."""
        self._come_to("enqueue")
        super().enqueue(start, *message)

    def take(self, now: Any) -> list[tuple[Any, ...]] | None:
        """Cut what is due."""
        self._come_to("take")
        return super().take(now)

    def requeue(self, batch: list[tuple[Any, ...]]) -> int:
        """Put it back."""
        self._come_to("requeue")
        return super().requeue(batch)

    def __len__(self) -> int:
        self._come_to("len")
        return super().__len__()


def _lying(place: str, value: Any) -> type:
    name = {"len": "__len__"}.get(place, place)
    return type("Lies", (Plain,), {name: lambda self, *arguments: value})


def __getattr__(name: str) -> type:
    """Make the class that is asked for."""
    place, _, how = name.partition("__")
    if place in PLACES and how in ACTS:
        return type(name, (Armed,), {"place": place, "act": staticmethod(ACTS[how])})
    if place in PLACES and how.removeprefix("returns_") in RETURNS:
        return _lying(place, RETURNS[how.removeprefix("returns_")])
    raise AttributeError(name)
