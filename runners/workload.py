"""What a workload is: a name, what it needs, and what is done in each kind of measurement."""

from __future__ import annotations

import sys

from queues.registry import load_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from runners.realtime import Found
    from runners.rigs import Rig

    Parameters: TypeAlias = dict[str, Any]
    Arguments: TypeAlias = tuple[Any, ...]
    Real: TypeAlias = Callable[[Any, Parameters, int], Found]


VARIABLE_ARGUMENTS = 0x04 | 0x08
"""Flags of a code object that takes *args or **kwargs: `inspect` has names for them, and a worker does not load it."""


class NotOffered(Exception):
    """The queue lacks a method that the workload needs, or cannot be had here. Its text is one sentence."""


def load_offered(target: str) -> Any:
    """Return the class behind "module:Class"; NotOffered when one of ours wraps a library that is not to be had here.

    A queue from elsewhere that cannot be imported is its owner's mistake: ImportError and all else passes.
    """
    try:
        return load_target(target)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if not target.startswith("queues.") or library in ("", "queues"):
            raise
        python = "{} {}.{}.{}".format(sys.implementation.name, *sys.version_info[:3])
        raise NotOffered(f"needs the library {library!r}, which {python} cannot import here") from None


def accepts(method: Any, argument: str) -> bool:
    """Return whether `method` can be given `argument` by that name or in its place; True where it is not in Python.

    >>> accepts(lambda now=None, limit=None: None, "limit"), accepts(lambda now=None: None, "limit")
    (True, False)
    """
    code = getattr(method, "__code__", None)
    if code is None or code.co_flags & VARIABLE_ARGUMENTS:
        return True
    return argument in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


class Workload:
    """A named way of using a queue.

    `parameters` has a sentence for each; `may_be_zero` names those that need not be at least 1. `needs` are the
    methods that a queue must have, such as "take" or "take(limit)". `operations` are what a latency case yields, one
    distribution each; the other kinds time them together. `kinds` are the ways in which it can be measured. `steady`
    says that every call does the same work, so that the first calls are warm-up and not the smallest of a growth.

    latency has `calls(params)`, `setup(queue_class, params, seed) -> Rig`, `null(params)`, the arguments of the loop
    over the null subject, and `loop`; batched and cost have `sampler(queue_class, params, seed)`; memory has
    `hold(queue_class, params, gauge) -> (queue, check)`. `real` has for lateness and throughput, where it
    can be measured so, a function `(queue_class, params, seed) -> Found` (runners/realtime.py). `choices` has the words
    that a parameter which is no number may be.
    """

    __slots__ = (
        "calls",
        "choices",
        "hold",
        "kinds",
        "loop",
        "may_be_zero",
        "name",
        "needs",
        "null",
        "operations",
        "parameters",
        "real",
        "sampler",
        "sentence",
        "setup",
        "steady",
    )

    def __init__(
        self,
        name: str,
        sentence: str,
        parameters: dict[str, str],
        *,
        needs: tuple[str, ...] = (),
        operations: tuple[str, ...] = (),
        may_be_zero: tuple[str, ...] = (),
        steady: bool = False,
        calls: Callable[[Parameters], int] = lambda params: params["calls"],
        setup: Callable[[Any, Parameters, int], Rig] | None = None,
        null: Callable[[Parameters], Arguments] | None = None,
        loop: Callable[..., None] | None = None,
        sampler: Callable[[Any, Parameters, int], Any] | None = None,
        hold: Callable[[Any, Parameters, Any], tuple[Any, Callable[[], None]]] | None = None,
        real: dict[str, Real] | None = None,
        choices: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.name = name
        self.sentence = sentence
        self.parameters = parameters
        self.needs = needs
        self.operations = operations
        self.may_be_zero = may_be_zero
        self.steady = steady
        self.calls = calls
        self.setup = setup
        self.null = null
        self.loop = loop
        self.sampler = sampler
        self.hold = hold
        self.real = real or {}
        self.choices = choices or {}
        counted = loop if steady and needs else None  # calls that all do the same, on a queue
        measured = (("latency", loop), ("batched", sampler), ("cost", sampler), ("memory", hold), ("counts", counted))
        self.kinds = (*(kind for kind, part in measured if part is not None), *self.real)

    def parameters_of(self, kind: str) -> dict[str, str]:
        """Return the parameters of a case of `kind`: only where a call is timed, or counted, are calls told.

        >>> list(Workload("wait", "", {"due": "", "calls": ""}).parameters_of("cost"))
        ['due']
        """
        if kind in ("latency", "counts", *self.real):
            return self.parameters
        return {name: sentence for name, sentence in self.parameters.items() if name != "calls"}

    def require(self, kind: str, params: Parameters) -> None:
        """Refuse a kind that the workload has not, and parameters that are missing, unknown or no whole numbers
        (of a parameter with choices: none of its words).

        Raises LookupError or ValueError, one sentence that names what there is.

        >>> Workload("hold", "", {"messages": ""}, hold=print).require("memory", {"message": 1000})
        Traceback (most recent call last):
            ...
        ValueError: workload 'hold' has no parameter 'message': there are messages
        """
        if kind not in self.kinds:
            raise LookupError(f"workload {self.name!r} has no {kind} kind: there are {', '.join(self.kinds)}")
        known = self.parameters_of(kind)
        for name in params:
            if name not in known:
                there_are = f"there are {', '.join(known)}" if known else "there are none"
                raise ValueError(f"workload {self.name!r} has no parameter {name!r}: {there_are}")
        for name, sentence in known.items():
            value, words = params.get(name), self.choices.get(name)
            least = 0 if name in self.may_be_zero else 1
            if value not in words if words else type(value) is not int or value < least:
                given = "missing" if value is None else repr(value)
                wanted = f"one of {', '.join(words)}" if words else f"a whole number of at least {least}"
                raise ValueError(
                    f"parameter {name!r} of workload {self.name!r} is {given}: expected {wanted} ({sentence})"
                )

    def require_offered(self, queue_class: Any) -> None:
        """Raise NotOffered unless the queue has every method that the workload calls, with the argument it gives.

        A need is a method's name, or "take(limit)" where the argument is not everybody's. Whether a method that is not
        written in Python has it shows when it is called.
        """
        for need in self.needs:
            name, _, argument = need.rstrip(")").partition("(")
            method = getattr(queue_class, name, None)
            if not callable(method):
                raise NotOffered(f"{name}() is not offered: workload {self.name!r} needs it")
            if argument and not accepts(method, argument):
                raise NotOffered(f"{name}({argument}) is not offered: workload {self.name!r} needs it")
