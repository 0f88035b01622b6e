"""What a call costs, in lines of the queues that run: the same on every machine, and whatever calls them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import queues.timer

QUEUES = str(Path(queues.timer.__file__).parent)


def lines_of(call: Callable[[], object]) -> int:
    """How many lines of `queues/timer` `call()` executes; what stands around them in the count of mutants is none."""
    lines = 0

    def tracer(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(QUEUES):
            return None
        lines += event == "line"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines
