"""What is measured: one case, and one execution of it in one fresh process.

A case is plain data with a key that a person can read, type and sort. All that a run decides by chance (the workload's
seed, the hash seed, the padding of the environment) follows from the run's one seed, so a run can be repeated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

KINDS = ("latency", "batched", "cost", "memory", "counts", "complexity", "lateness", "throughput")
"""How a case is measured."""

CLOCKS = ("cpu", "wall")
"""cpu: time.thread_time_ns; wall: time.perf_counter_ns."""

COLLECTORS = ("on", "off")
"""Whether the garbage collector runs while a case is measured."""

NO_PARAMETERS = "-"
LARGEST_PARAMETER = 10**18
LONGEST_KEY = 200  # the key is part of a file name, and a file system stops at 255
LARGEST_HASH_SEED = 2**32 - 1
PADDING_SIZES = 4096
OWN_NAMES = ("kind", "family", "subject", "workload", "params", "clock", "gc", "target")

WORD = re.compile(r"[a-z][a-z0-9_-]*")
SUBJECT = re.compile(r"[a-z0-9][a-z0-9._-]*")
PARAMETER = re.compile(r"[a-z][a-z0-9_]*")
TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

Parameter = int | str
Parameters = tuple[tuple[str, Parameter], ...]


@dataclass(frozen=True)
class Case:
    """One subject under one workload, with its parameters and its arm (clock and collector).

    `params` may be given as a mapping or as pairs; it is kept as pairs in the order of the names. A value is a whole
    number or a lower-case word. `target` is the "module:Class" of a queue that is not in the registry; it is no part of
    the key. ValueError, one sentence, for anything that would make a key ambiguous or a file name unsafe.

    >>> Case("latency", "timer", "array", "cycle", {"queued": 200000, "due": 1000}).key
    'timer/array/cycle/due=1000,queued=200000/latency/cpu/gc-on'
    """

    kind: str
    family: str
    subject: str
    workload: str
    params: Parameters
    clock: str = "cpu"
    gc: str = "on"
    target: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", _sorted_parameters(self.params))
        _require_one_of(self.kind, "kind", KINDS)
        _require_word(self.family, "family", WORD)
        _require_word(self.subject, "subject", SUBJECT)
        _require_word(self.workload, "workload", WORD)
        _require_one_of(self.clock, "clock", CLOCKS)
        _require_one_of(self.gc, "collector", COLLECTORS)
        if not isinstance(self.target, str) or (self.target and not TARGET.fullmatch(self.target)):
            raise ValueError(f"{self.target!r} is no target: expected 'package.module:Class'")
        if len(self.key) > LONGEST_KEY:
            raise ValueError(f"the key {self.key[:40]}… is longer than {LONGEST_KEY} characters: shorten its names")

    @classmethod
    def of(
        cls,
        kind: str,
        family: str,
        subject: str,
        workload: str,
        *,
        clock: str = "cpu",
        gc: str = "on",
        target: str = "",
        **params: Parameter,
    ) -> Case:
        """Return the case with its parameters given by name, in any order.

        >>> Case.of("memory", "timer", "heap", "resident", messages=200000).param("messages")
        200000
        """
        return cls(kind, family, subject, workload, tuple(params.items()), clock, gc, target)

    @property
    def params_text(self) -> str:
        """The parameters as "due=1000,queued=200000"; empty when there are none."""
        return ",".join(f"{name}={value}" for name, value in self.params)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters as a new dict."""
        return dict(self.params)

    @property
    def key(self) -> str:
        """The case in one line; two cases have the same key only if all but their target is the same."""
        params = self.params_text or NO_PARAMETERS
        return f"{self.family}/{self.subject}/{self.workload}/{params}/{self.kind}/{self.clock}/gc-{self.gc}"

    def stem(self, process: int) -> str:
        """Return the name, without suffix, of the files of the execution in process number `process` (from 0).

        >>> Case.of("latency", "timer", "array", "growth", messages=5).stem(3)
        'timer.array.growth.messages=5.latency.cpu.gc-on.p3'
        """
        return stem_of(self.key, process)

    def param(self, name: str) -> Parameter:
        """Return the value of one parameter; KeyError says which there are."""
        for own, value in self.params:
            if own == name:
                return value
        raise KeyError(f"no parameter {name!r} in {self.key}: there are {self.params_text or 'none'}")


def stem_of(key: str, process: int) -> str:
    """Return what `Case.stem` returns, for a case of which only the key is at hand."""
    return f"{key.replace('/', '.')}.p{process}"


def parse_key(key: str) -> Case:
    """Return the case that has this key (its target is not part of it and comes back empty).

    O(length). ValueError, one sentence, when no case has this key.

    >>> parse_key("timer/array/cycle/due=1000,queued=200000/latency/cpu/gc-on").param("due")
    1000
    """
    form = "family/subject/workload/name=value,…/kind/clock/gc-on"
    fields = key.split("/")
    if len(fields) != 7 or not fields[6].startswith("gc-"):
        raise ValueError(f"{key!r} is no key of a case: expected {form}")
    family, subject, workload, text, kind, clock, collector = fields
    case = Case(kind, family, subject, workload, parse_parameters(text), clock, collector.removeprefix("gc-"))
    if case.key != key:
        raise ValueError(f"{key!r} is no key of a case: the same case is written {case.key}")
    return case


def parse_parameters(text: str) -> Parameters:
    """Return the pairs that "due=1000,queued=200000" names; "" and "-" name none; ValueError for another form.

    >>> parse_parameters("due=10,form=not-in")
    (('due', 10), ('form', 'not-in'))
    """
    if text in ("", NO_PARAMETERS):
        return ()
    pairs: list[tuple[str, Parameter]] = []
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is no parameter: expected name=value")
        number = re.fullmatch(r"-?[0-9]{1,30}", value)
        pairs.append((name, int(value) if number else value))
    return _sorted_parameters(pairs)


def subject_of(target: str) -> str:
    """Return the subject's name under which a user's "package.module:Class" appears; ValueError for another form.

    >>> subject_of("my_queues.fast:Heap")
    'my_queues.fast.heap'
    """
    if not TARGET.fullmatch(target):
        raise ValueError(f"{target!r} is no target: expected 'package.module:Class'")
    name = re.sub(r"[^a-z0-9._-]", "-", target.replace(":", ".").lower()).lstrip("._-")
    return name or "queue"


@dataclass(frozen=True)
class Execution:
    """One case in one fresh process, with everything that chance decides for it.

    `process` counts from 0. `seed` is the workload's; `hash_seed` and `padding` (bytes) belong to the process alone.
    """

    case: Case
    process: int
    hash_seed: int
    padding: int
    seed: int

    @property
    def key(self) -> str:
        """The key of its case."""
        return self.case.key

    @property
    def stem(self) -> str:
        """The name of its files without suffix."""
        return self.case.stem(self.process)

    @property
    def id(self) -> tuple[str, int]:
        """(key, process): what makes it one of a kind in its run."""
        return self.case.key, self.process


def execution_of(case: Case, process: int, run_seed: int) -> Execution:
    """Return the execution of `case` in process number `process` (from 0) of a run with seed `run_seed`.

    The workload's seed follows from the run's seed, the workload and its parameters alone: the k-th call is the same
    call in every process and for every subject, which is what makes calls comparable one by one. The hash seed (1 to
    2**32-1) and the padding (0 to 4,095 bytes) differ from process to process and from subject to subject, so that no
    layout is measured alone (Mytkowicz et al., ASPLOS 2009). ValueError for a negative process or a seed that is no
    whole number.

    >>> execution = execution_of(Case.of("latency", "timer", "array", "growth", messages=5), 0, run_seed=1)
    >>> execution == execution_of(Case.of("latency", "timer", "array", "growth", messages=5), 0, run_seed=1)
    True
    """
    _require_whole(process, "process number")
    _require_whole(run_seed, "seed of a run")
    if process < 0:
        raise ValueError(f"{process} is no process number: they count from 0")
    own = f"{case.key} {process}"
    return Execution(
        case=case,
        process=process,
        hash_seed=1 + _chance("hash seed", run_seed, own) % LARGEST_HASH_SEED,
        padding=_chance("padding", run_seed, own) % PADDING_SIZES,
        seed=_chance("workload", run_seed, f"{case.workload} {case.params_text}"),
    )


def _chance(use: str, run_seed: int, text: str) -> int:
    """Return a number under 2**63 that looks random and is the same everywhere: SHA-256 knows no hash seed."""
    digest = hashlib.sha256(f"{use}\n{run_seed}\n{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _sorted_parameters(params: Mapping[str, Parameter] | Iterable[tuple[str, Parameter]]) -> Parameters:
    pairs = list(params.items() if isinstance(params, Mapping) else params)
    for name, value in pairs:
        if not isinstance(name, str) or not PARAMETER.fullmatch(name) or name in OWN_NAMES:
            raise ValueError(f"{name!r} is no name of a parameter: expected lower-case letters, digits and underscores")
        if not _is_parameter(value):
            raise ValueError(f"parameter {name}={value!r}: expected a whole number or a lower-case word")
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"parameter {name} is given twice: expected each name once")
    return tuple(sorted(pairs))


def _is_parameter(value: object) -> bool:
    if isinstance(value, str):
        return WORD.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_PARAMETER


def _require_one_of(value: str, what: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{value!r} is no {what}: expected one of {', '.join(allowed)}")


def _require_word(value: str, what: str, form: re.Pattern[str]) -> None:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"{value!r} is no name of a {what}: expected lower-case letters, digits and dashes")


def _require_whole(value: int, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is no {what}: expected a whole number")
