"""Tells a person how far a run is: what is being measured, what failed, and about how long it will still take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TextIO

from lab.case import Execution
from lab.units import format_span
from runners.run import Step

QUIET_SECONDS = 5.0
"""Least time between two lines where nobody watches (a log, a pipe)."""


class Progress:
    """Called with every Step; on a terminal one line that is rewritten, elsewhere a line now and then.

    The time left is the sum over what is to come of what the same case took before, or of what a case of its kind
    took, or of what any took.
    """

    def __init__(self, left: Sequence[Execution], stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._left = list(left)
        self._by_key: dict[str, list[int]] = defaultdict(list)
        self._by_kind: dict[str, list[int]] = defaultdict(list)
        self._terminal = self._stream.isatty()
        self._told_at = -QUIET_SECONDS
        self.failed = 0

    def __call__(self, step: Step) -> None:
        """Note the step and tell of it."""
        if not step.status:
            if self._terminal:
                self._rewrite(self._line(step))
            return
        case = step.execution.case
        if self._left and self._left[0] == step.execution:
            self._left.pop(0)
        self._by_key[case.key].append(step.duration_ns)
        self._by_kind[case.kind].append(step.duration_ns)
        if step.status not in ("ok", "not-offered") and not step.message.startswith("not tried again"):
            self.failed += 1
            where = f"{step.interpreter}: " if step.interpreter else ""
            self._write(f"{where}{case.key}: {step.status}: {step.message.splitlines()[0] if step.message else ''}")
        elif not self._terminal and (time.monotonic() - self._told_at >= QUIET_SECONDS or step.number == step.total):
            self._told_at = time.monotonic()
            self._write(self._line(step))

    def tell(self, sentence: str) -> None:
        """Say what takes its time beside the executions."""
        if self._terminal:
            self._rewrite(sentence)
        else:
            self._write(sentence)

    def left_ns(self) -> int:
        """Return about how long the rest will take, in ns; 0 before anything ended."""
        measured = [duration for durations in self._by_key.values() for duration in durations]
        if not measured:
            return 0
        by_kind = {kind: fmean(durations) for kind, durations in self._by_kind.items()}
        overall = fmean(measured)
        return int(
            sum(
                fmean(self._by_key[execution.key])
                if self._by_key.get(execution.key)
                else by_kind.get(execution.case.kind, overall)
                for execution in self._left
            )
        )

    def end(self) -> None:
        """Take the rewritten line away."""
        if self._terminal:
            self._rewrite("")

    def _line(self, step: Step) -> str:
        left_ns = self.left_ns()
        left = f" · about {format_span(left_ns)} left" if left_ns else ""
        case = step.execution.case
        where = f"{step.interpreter}: " if step.interpreter else ""
        what = f"{where}{case.subject} {case.workload} {case.params_text} ({case.kind})"
        return f"[{step.number}/{step.total}] {what}{left}"

    def _write(self, line: str) -> None:
        if self._terminal:
            self._rewrite("")
        print(line, file=self._stream, flush=True)

    def _rewrite(self, line: str) -> None:
        print(f"\r\x1b[2K{line[:160]}", end="", file=self._stream, flush=True)
