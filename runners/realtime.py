"""What takes the time that it is about: how late something was in real time, and many workers at once.

Nothing is timed call by call here. A workload of these kinds does its work, on the wall clock, and hands over what it
found; this looks whether it is fit to be kept, and keeps it. What is thrown away here would end a run in the archive.
"""

from __future__ import annotations

from math import isfinite

from runners.counters import Counters
from runners.latency import CheckFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Save: TypeAlias = Callable[[str, array[int]], str]
    Figures: TypeAlias = dict[str, Any]


class Found:
    """What a workload in real time has found.

    `samples`: operation -> ns, one for each thing that happened. `figures`: name -> number, such as dropped_ticks or
    drift_ns, the unit last in the name. `facts`: name -> text, such as a server's version, a setting, a query plan.
    """

    __slots__ = ("facts", "figures", "samples")

    def __init__(
        self,
        samples: dict[str, array[int]] | None = None,
        figures: dict[str, float] | None = None,
        facts: dict[str, str] | None = None,
    ) -> None:
        self.samples = samples or {}
        self.figures = figures or {}
        self.facts = facts or {}


def measure(workload: Any, queue_class: Any, case: Figures, clock: object, save: Save) -> Figures:
    """Let the workload do what a case of its kind is, and keep what it found; CheckFailed for what is no finding."""
    counters = Counters()
    found = workload.real[case["kind"]](queue_class, case["params"], case["seed"])
    differences = counters.since()
    require_fit(workload, found)
    operations = [
        {"operation": name, "samples": save(name, samples), "n": len(samples)}
        for name, samples in found.samples.items()
    ]
    return {"counters": differences, "operations": operations, "figures": found.figures, "facts": found.facts}


def require_fit(workload: Any, found: Found) -> None:
    """Raise CheckFailed for an operation that the workload has not or without a sample, and for what is no number.

    Some operations may be missing, such as that of a call that was never refused. Text that is no text is refused, and
    so is a name of a fact with "=" in it, where its text begins.
    """
    for name, samples in found.samples.items():
        if name not in workload.operations or not len(samples):
            raise CheckFailed(f"{len(samples)} samples of {name!r}: expected some, of {', '.join(workload.operations)}")
    for name, value in found.figures.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
            raise CheckFailed(f"the figure {name} is {value!r}: expected a finite number")
    for name, text in found.facts.items():
        if not isinstance(text, str) or "=" in name:
            raise CheckFailed(f"the fact {name!r} is {text!r}: expected a text, and a name without =")
