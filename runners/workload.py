"""What a workload is: a name, what it needs, and what is done in each kind of measurement."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from runners.rigs import Rig

    Parameters: TypeAlias = dict[str, int]
    Arguments: TypeAlias = tuple[Any, ...]


class NotOffered(Exception):
    """The queue lacks a method that the workload needs. Its text is one sentence."""


class Workload:
    """A named way of using a queue.

    `parameters` has a sentence for each; `may_be_zero` names those that need not be at least 1. `needs` are the methods
    that a queue must have. `operations` are what a latency case yields, one distribution each; the other kinds time
    them together. `kinds` are the ways in which it can be measured. `steady` says that every call does the same work,
    so that the first calls are warm-up and not the smallest of a growth.

    latency has `calls(params)`, `setup(queue_class, params, seed) -> Rig`, `null(params)`, the arguments of the loop
    over the null subject, and `loop`; batched and cost have `sampler(queue_class, params, seed)`; memory has
    `hold(queue_class, params) -> (figures, check)`.
    """

    __slots__ = (
        "calls",
        "hold",
        "kinds",
        "loop",
        "may_be_zero",
        "name",
        "needs",
        "null",
        "operations",
        "parameters",
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
        hold: Callable[[Any, Parameters], tuple[dict[str, Any], Callable[[], None]]] | None = None,
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
        measured = (("latency", loop), ("batched", sampler), ("cost", sampler), ("memory", hold))
        self.kinds = tuple(kind for kind, part in measured if part is not None)

    def parameters_of(self, kind: str) -> dict[str, str]:
        """Return the parameters of a case of `kind`: only latency is told how many calls to time.

        >>> list(Workload("wait", "", {"due": "", "calls": ""}).parameters_of("cost"))
        ['due']
        """
        if kind == "latency":
            return self.parameters
        return {name: sentence for name, sentence in self.parameters.items() if name != "calls"}

    def require(self, kind: str, params: Parameters) -> None:
        """Refuse a kind that the workload has not, and parameters that are missing, unknown or no whole numbers.

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
            least = 0 if name in self.may_be_zero else 1
            value = params.get(name)
            if type(value) is not int or value < least:
                given = "missing" if value is None else repr(value)
                expected = f"expected a whole number of at least {least} ({sentence})"
                raise ValueError(f"parameter {name!r} of workload {self.name!r} is {given}: {expected}")

    def require_offered(self, queue_class: Any) -> None:
        """Raise NotOffered unless the queue has every method that the workload calls."""
        for name in self.needs:
            if not callable(getattr(queue_class, name, None)):
                raise NotOffered(f"{name}() is not offered: workload {self.name!r} needs it")
