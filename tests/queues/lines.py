"""What a call costs, in lines that run: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import queues.timer

QUEUES = str(Path(queues.timer.__file__).parent)


def lines_of(call: Callable[[], object], within: str = QUEUES) -> int:
    """How many lines below the folder `within` (of Python at all, with "") `call()` executes.

    Those of `queues/timer` by default: what stands around them while mutants are counted is none.
    """
    lines = 0

    def tracer(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(within):
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
