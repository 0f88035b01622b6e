"""A queue under one check: every call is written down, and a broken promise is told with the calls that show it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from operator import eq
from random import Random
from typing import Any

from queues.promises.offer import VIEWS, Clock, Offer, attempt, build

INFINITY = float("inf")
LONGEST_LOG = 16
LONGEST_LIST = 12
ENDLESS = 1_000_000
"""More than any check puts in: an iterator that yields as many never ends."""
ITERATORS = ("contents", "container")


@dataclass(frozen=True)
class Promise:
    """One thing that the contract promises, and the check of it, which raises Broken when it is not kept."""

    name: str
    sentence: str
    needs: tuple[str, ...]
    tolerated: bool
    """Whether a queue that breaks it may still be timed: no workload does what it is about."""
    check: Callable[[Trial], None]


Check = Callable[["Trial"], None]


def promise(chapter: list[Promise], name: str, needs: str = "", *, tolerated: bool = False) -> Callable[[Check], Check]:
    """Add the decorated check to `chapter`; `needs` are names of an Offer, apart by spaces.

    The first line of its docstring is the sentence of the promise, what follows says on which input it is checked.
    """

    def added(check: Check) -> Check:
        sentence = (check.__doc__ or "").partition("\n")[0]
        chapter.append(Promise(name, sentence, tuple(needs.split()), tolerated, check))
        return check

    return added


class Broken(Exception):
    """A promise was not kept; the text says on which input, what was expected and what came."""


class Raised(Broken):
    """The queue raised `error` where nothing of the kind belonged."""

    def __init__(self, text: str, error: BaseException) -> None:
        """Keep the exception beside the text."""
        super().__init__(text)
        self.error = error


class Trial:
    """Makes the queues of one check and remembers what was done to them."""

    def __init__(self, queue_class: Any, offer: Offer, random: Random, steps: int) -> None:
        """Prepare a check of `queue_class`; `steps` is how many random steps a check of behaviour may spend."""
        self.queue_class = queue_class
        self.offer = offer
        self.random = random
        self.steps = steps
        self.clock = Clock()
        self.log: list[str] = []
        self._names: list[tuple[object, str]] = []

    def queue(self, now: Any = 0.0, window: Any = 60.0) -> Any:
        """Return a new queue whose calls are written down, with a clock that stands at `now`; forget the one before."""
        self.log = []
        self._names = []
        self.clock = Clock(now)
        return self._made("", window, self.clock)

    def other(self) -> Any:
        """Return a second queue beside the one at hand."""
        return self._made("other.", 60.0, Clock())

    def with_defaults(self) -> Any:
        """Return a new queue with nothing set at all."""
        self.log = []
        self._names = []
        return self._made("", 60.0, None)

    def _made(self, prefix: str, window: Any, clock: Clock | None) -> Any:
        bare = self.call(f"{prefix}queue()", partial(build, self.queue_class, self.offer, window, clock))
        self.log.pop()
        return Recorded(self, bare, prefix)

    def bare(self) -> Any:
        """Return a queue itself, for checks that must not hold what it gives out."""
        self.log = []
        self.clock = Clock()
        return build(self.queue_class, self.offer, 60.0, self.clock)

    def call(self, text: str, function: Callable[[], Any]) -> Any:
        """Write `text` down and call `function`; an exception becomes Raised, which the check may expect."""
        self.log.append(text)
        place = len(self.log) - 1
        result, error = attempt(function)
        if isinstance(error, Broken):
            raise error
        if error is not None:
            raise Raised(self.told(f"raised {told_error(error)}"), error) from error
        if result is not None and text.partition("(")[0].endswith("take"):
            name = f"batch{len(self._names) + 1 if self._names else ''}"
            self._names.append((result, name))
            self.log[place] = f"{name} = {text}"
        return result

    def show(self, value: object) -> str:
        """Return how `value` reads in the list of calls."""
        for thing, name in self._names:
            if thing is value:
                return name
        if callable(value) and not isinstance(value, type):
            return str(getattr(value, "__name__", "handler")).strip("<>_")
        return shown(value)

    def told(self, what: str) -> str:
        """Return the calls so far and what went wrong."""
        calls = self.log
        if len(calls) > LONGEST_LOG:
            half = LONGEST_LOG // 2
            calls = [*calls[:half], f"... {len(calls) - 2 * half:,} calls ...", *calls[-half:]]
        return f"{'; '.join(calls) or 'a new queue'}: {what}"

    def expect(self, got: object, expected: object, what: str = "") -> None:
        """Break the promise unless `got == expected`; `what` names the thing where the last call does not."""
        if got != expected:
            named = any(thing is got for thing, _ in self._names)
            both = f"expected {shown(expected)}, got {self.show(got)}" if named else compared(expected, got)
            raise Broken(self.told(f"{what + ': ' if what else ''}{both}"))

    def refused(self, kinds: type[BaseException] | tuple[type[BaseException], ...], call: Any, *given: Any) -> None:
        """Break the promise unless `call(*given)` raises one of `kinds`."""
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        try:
            result = call(*given)
        except Raised as raised:
            if not isinstance(raised.error, kinds):
                raise Broken(f"{raised}; expected {names}") from raised
            return
        raise Broken(self.told(f"expected {names}, got {self.show(result)}"))

    def read(self, queue: Any, batch: Any) -> list[Any]:
        """Return all that is left in `batch`, as (start, *message); by `process` where offered, else by iterating."""
        if batch is None:
            raise Broken(self.told("expected a batch, got None"))
        if "process" not in self.offer:
            messages = self.call(f"list({self.show(batch)})", lambda: list(islice(batch, ENDLESS)))
            return [tuple(message) for message in messages]
        seen: list[Any] = []

        def collect(start: Any, *message: Any) -> None:
            seen.append((start, *message))

        queue.process(batch, collect, *((INFINITY,) if "process-deadline" in self.offer else ()))
        return seen

    def expect_batch(self, queue: Any, batch: Any, expected: list[Any]) -> None:
        """Break the promise unless `batch` holds `expected`, as far as this queue lets one see: at least how many."""
        if not expected:
            self.expect(batch, None)
        elif "read" in self.offer:
            self.expect(self.read(queue, batch), expected)
        else:
            self.expect(self.length(batch), len(expected))

    def expect_all(self, queue: Any, expected: list[Any], now: Any = INFINITY) -> None:
        """Take everything and break the promise unless it is `expected`; without reading, start by start."""
        if "read" in self.offer or not expected:
            self.expect_batch(queue, queue.take(now), expected)
            return
        for start in sorted({message[0] for message in expected}):
            self.expect_batch(queue, queue.take(start), [message for message in expected if message[0] == start])
        self.expect(self.length(queue), 0)

    def length(self, thing: Any) -> int:
        """Return `len(thing)` of a batch or a queue, written down."""
        return int(self.call(f"len({self._name(thing)})", lambda: len(thing.bare if _recorded(thing) else thing)))

    def truth(self, thing: Any) -> bool:
        """Return `bool(thing)` of a batch or a queue, written down."""
        return bool(self.call(f"bool({self._name(thing)})", lambda: bool(thing.bare if _recorded(thing) else thing)))

    def _name(self, thing: Any) -> str:
        return f"{thing.prefix}queue" if _recorded(thing) else self.show(thing)


class Recorded:
    """A queue whose every call lands in the log of a trial."""

    def __init__(self, trial: Trial, bare: Any, prefix: str) -> None:
        """Stand in front of the queue `bare`."""
        self.trial = trial
        self.bare = bare
        self.prefix = prefix

    def __getattr__(self, name: str) -> Any:
        """Return a method that writes itself down, or the value of a view, written down; iterators give a list."""
        if name in VIEWS:
            return self.trial.call(self.prefix + name, lambda: getattr(self.bare, name))
        return partial(self._call, name)

    def _call(self, name: str, *given: Any, **named: Any) -> Any:
        words = [self.trial.show(value) for value in given]
        words += [f"{key}={self.trial.show(value)}" for key, value in named.items()]
        text = f"{self.prefix}{name}({', '.join(words)})"
        if name in ITERATORS:
            return self.trial.call(text, lambda: list(islice(getattr(self.bare, name)(), ENDLESS)))
        return self.trial.call(text, lambda: getattr(self.bare, name)(*given, **named))


def _recorded(thing: object) -> bool:
    return isinstance(thing, Recorded)


def shown(value: object) -> str:
    """Return `repr(value)`, short: a huge number and a long list are cut.

    >>> shown([(10**400, "a")])
    "[(10**400, 'a')]"
    """
    if type(value) is int and abs(value) >= 10**20:
        digits = str(abs(value))
        power = f"10**{len(digits) - 1}"
        return f"{'-' if value < 0 else ''}{power if set(digits) == {'1', '0'} else 'about ' + power}"
    if type(value) is tuple:
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        words = [shown(item) for item in value[:LONGEST_LIST]]
        return f"[{', '.join(words)}{f', ... {len(value) - LONGEST_LIST:,} more' if len(value) > LONGEST_LIST else ''}]"
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= 80 else f"{text[:77]}..."


def compared(expected: object, got: object) -> str:
    """Return "expected …, got …", of two long lists only the part where they begin to differ.

    >>> compared(list(range(100)), [*range(50), *range(51, 100)])
    'from place 49 on, of 100 and 99: expected [48, 49, 50, 51, 52, 53], got [48, 49, 51, 52, 53, 54]'
    """
    if not (isinstance(expected, list) and isinstance(got, list) and max(len(expected), len(got)) > LONGEST_LIST):
        return f"expected {shown(expected)}, got {shown(got)}"
    same = sum(1 for _ in takewhile(bool, map(eq, expected, got)))
    part = slice(max(0, same - 2), max(0, same - 2) + LONGEST_LIST // 2)
    where = f"from place {part.start + 1} on, of {len(expected):,} and {len(got):,}"
    return f"{where}: expected {shown(expected[part])}, got {shown(got[part])}"


def told_error(error: BaseException) -> str:
    """Return an exception as "Name: its first line"."""
    line = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
