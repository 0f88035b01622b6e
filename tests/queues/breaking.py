"""How a queue class says which promise it breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def breaker(faults: dict[str, type[Any]]) -> Callable[[str], Callable[[type[Any]], type[Any]]]:
    """Return a decorator that notes in `faults` that the class breaks the promise so named."""

    def breaks(promise: str) -> Callable[[type[Any]], type[Any]]:
        def noted(queue_class: type[Any]) -> type[Any]:
            assert promise not in faults, promise
            faults[promise] = queue_class
            return queue_class

        return noted

    return breaks
