"""One check of one ticker or limiter in virtual time: what was done is written down, and told when it goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from queues.pacing.model import worst_excess
from queues.pacing.rig import ThreadRig, rig_of
from queues.pacing.rig_loop import LoopRig
from queues.pacing.rigging import Waiting, offer

LONGEST_LOG = 14
REFUSALS = (ValueError, TypeError, AssertionError, ZeroDivisionError)
"""How a class may say that it cannot do these settings at all."""

Ask = tuple[Any, int]
"""(after which span, how many): one step of a schedule for a limiter."""


@dataclass(frozen=True)
class Promise:
    """One thing that the contract promises, what of an `offer` it needs, and the check, which raises Broken."""

    name: str
    sentence: str
    needs: tuple[str, ...]
    check: Callable[[Trial], None]


Check = Callable[["Trial"], None]


def promise(chapter: list[Promise], name: str, needs: str) -> Callable[[Check], Check]:
    """Add the decorated check to `chapter`; the first line of its docstring is the sentence of the promise."""

    def added(check: Check) -> Check:
        sentence = (check.__doc__ or "").partition("\n")[0]
        chapter.append(Promise(name, sentence, tuple(needs.split()), check))
        return check

    return added


class Broken(Exception):
    """A promise was not kept; the text says on which input, what was expected and what came."""


class NotOffered(Exception):
    """The class cannot do any of the settings that the check needs."""


class Trial:
    """Makes the rigs of one check and remembers what was done."""

    def __init__(self, subject: Any, random: Random, steps: int) -> None:
        """`steps`: about how many steps a check with random schedules may take."""
        self.subject = subject
        self.random = random
        self.steps = steps
        self.offer = offer(subject)
        self.log: list[str] = []
        self._rig: ThreadRig | LoopRig | None = None

    def begin(self, *settings: Any, now: Any = 0.0, **named: Any) -> ThreadRig | LoopRig:
        """Make a new subject at `now`, taking the one before down; NotOffered when it refuses the settings."""
        self.end()
        words = [*(f"{value!r}" for value in settings), *(f"{name}={value!r}" for name, value in named.items())]
        self.log = [f"made with ({', '.join(words)}) at {now!r}"]
        try:
            self._rig = rig_of(self.subject, *settings, now=now, **named)
        except REFUSALS as error:
            raise NotOffered(f"({', '.join(words)}) is refused: {error}") from error
        return self._rig

    def end(self) -> None:
        """Take the last rig down."""
        rig, self._rig = self._rig, None
        if rig is not None:
            rig.__exit__(None, None, None)

    @property
    def rig(self) -> ThreadRig | LoopRig:
        """The rig at hand."""
        if self._rig is None:
            raise RuntimeError("begin() comes first")
        return self._rig

    def call(self, name: str, *given: Any) -> Any:
        """Call a method and write down what came of it."""
        text = f"{name}({', '.join(map(repr, given))})"
        try:
            result = self.rig.call(name, *given)
        except Exception as error:
            self.log.append(f"{text} raises {type(error).__name__}")
            raise Broken(self.told(str(error))) from error
        self.log.append(text if result is None else f"{text} -> {result!r}")
        return result

    def at(self, instant: Any) -> None:
        """Let time pass until `instant`."""
        self.rig.pass_until(instant)
        self.log.append(f"at {instant!r}")

    def enter(self, name: str, *given: Any) -> Waiting:
        """Let one more wait."""
        self.log.append(f"{name}({', '.join(map(repr, given))}) waits")
        return self.rig.enter(name, *given)

    def leave(self, waiting: Waiting, number: int) -> None:
        """Let the `number`-th that waits be interrupted, or cancelled."""
        self.log.append(f"waiter {number} is interrupted")
        self.rig.throw(waiting, KeyboardInterrupt())
        self.rig.settle()

    def expect(self, got: Any, expected: Any, what: str) -> None:
        """Break the promise unless `got == expected`."""
        if got != expected:
            raise Broken(self.told(f"{what}: expected {expected!r}, got {got!r}"))

    def refused(self, kinds: tuple[type[BaseException], ...], name: str, *given: Any) -> None:
        """Break the promise unless the call raises one of `kinds`, at once."""
        text = f"{name}({', '.join(map(repr, given))})"
        names = " or ".join(kind.__name__ for kind in kinds)
        waiting = self.rig.enter(name, *given) if name == "acquire" else None
        try:
            if waiting is None:
                result: Any = self.rig.call(name, *given)
            elif waiting.error is not None:
                raise waiting.error
            else:
                result = "it waits" if not waiting.done else None
        except kinds:
            return
        except BaseException as error:
            raise Broken(self.told(f"{text}: expected {names}, got {type(error).__name__}: {error}")) from error
        raise Broken(self.told(f"{text}: expected {names}, got {result!r}"))

    def told(self, what: str) -> str:
        """Return what was done, repetitions counted, and what went wrong."""
        words: list[list[Any]] = []
        for text in self.log:
            if words and words[-1][0] == text:
                words[-1][1] += 1
            else:
                words.append([text, 1])
        lines = [text if times == 1 else f"{times} × {text}" for text, times in words]
        if len(lines) > LONGEST_LOG:
            half = LONGEST_LOG // 2
            lines = [*lines[:half], f"... {len(lines) - 2 * half} more ...", *lines[-half:]]
        return f"{'; '.join(lines)}: {what}"


def each_setting(trial: Trial, settings: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield those of `settings` that the subject does not refuse; NotOffered when it refuses all."""
    refused = ""
    some = False
    for setting in settings:
        try:
            trial.begin(*setting)
        except NotOffered as error:
            refused = str(error)
            continue
        some = True
        yield setting
    if not some:
        raise NotOffered(refused)


def ask(trial: Trial, setting: tuple[Any, ...], asks: Sequence[Ask], now: Any = 0.0) -> list[tuple[Any, int, bool]]:
    """Play a schedule of `try_acquire` and return (instant, n, granted) for each."""
    rig = trial.begin(*setting, now=now)
    answers = []
    for span, n in asks:
        if span:
            trial.at(rig.clock() + span)
        answers.append((rig.clock(), n, bool(trial.call("try_acquire", n))))
    return answers


def excess(answers: Sequence[tuple[Any, int, bool]], rate: Any, burst: int, least: float = 0.0) -> str:
    """Return by how much what was granted exceeds the bound at worst, in words; empty up to `least` permits."""
    found = worst_excess([(instant, n) for instant, n, granted in answers if granted], rate, burst)
    if found is None or found[0] <= least:
        return ""
    more, (first, last) = found
    span = Fraction(last) - Fraction(first)
    total = sum(n for instant, n, granted in answers if granted and first <= instant <= last)
    return f"{total} granted in {float(span):.9g} s, {float(more):.3g} more than {burst} + {rate!r} * T"


def smallest(asks: Sequence[Ask], fails: Callable[[Sequence[Ask]], bool], budget: int = 400) -> list[Ask]:
    """Return a schedule that still fails of which no step can be left out or made simpler, as far as `budget` tries go.

    >>> smallest([(0.25, 3), (1.5, 1), (0.5, 2)], lambda asks: sum(n for _, n in asks) >= 2)
    [(0, 3)]
    """
    best = list(asks)
    tries = 0

    def better(candidate: list[Ask]) -> bool:
        nonlocal best, tries
        tries += 1
        if tries > budget or candidate == best or not candidate or not fails(candidate):
            return False
        best = candidate
        return True

    before: list[Ask] = []
    while before != best and tries <= budget:
        before = best
        size = max(1, len(best) // 2)
        while size:
            place = len(best) - size
            while place >= 0:
                better(best[:place] + best[place + size :])
                place = min(place, len(best)) - size
            size //= 2
        for place in range(len(best)):
            span, n = best[place]
            for simpler in ((0, n), (float(round(span)), n), (round(span, 1), n), (span, 1)):
                if better([*best[:place], simpler, *best[place + 1 :]]):
                    break
    return best
