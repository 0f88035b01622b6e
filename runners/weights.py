"""What came out of subjects that hold a known number of bytes: the memory half of runners/proofs.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from lab.calibration import MEMORY_SHARE, Check, Measure, near, under
from lab.case import Case
from lab.claim import Outcome
from lab.memory import per_message
from lab.units import format_bytes
from runners.memory import payload
from runners.readout import NoFigure, Readout, Row, proved
from runners.rooms import BLOCK_BYTES, EXTRA_BYTES


def payload_bytes(messages: int) -> float:
    """Return what the start and the payload of a message take: their sizes, rounded up as the interpreter does."""
    sizes = [sys.getsizeof(1.0), sys.getsizeof(payload(messages - 1))]
    return float(sum(-(-size // 16) * 16 for size in sizes))


def _beyond(rows: Sequence[Row], column: str) -> Iterator[float]:
    for row in rows:
        if row[column] is None or row["rss_before_bytes"] is None:
            raise NoFigure(Outcome.NOT_MEASURED, "this system does not tell what is resident")
        yield row[column] - row["rss_before_bytes"]


def hundred(read: Readout, case: Case) -> list[Check]:
    """100 bytes a message beyond the payload: the slope."""
    what = "memory: slope beyond the payload"

    def prove() -> Check:
        rows = read.of(case, "resident")
        own = payload_bytes(int(case.param("messages")))
        found = [per_message([list(zip(row["points_messages"], row["points_rss_bytes"], strict=True))]) for row in rows]
        slopes = [cost.bytes - own for cost in found if cost is not None]
        if not slopes:
            raise NoFigure(Outcome.NOT_MEASURED, "this system does not tell what is resident")
        return near(what, [Measure(EXTRA_BYTES, slope) for slope in slopes], _bytes, MEMORY_SHARE)

    return [proved(what, f"{EXTRA_BYTES} B a message", prove)]


def held(read: Readout, block: Case, leaks: Case, gives_back: Case) -> list[Check]:
    """8 MiB kept and as much for a moment; 100 bytes for every message that was sent, kept or given back."""
    leaked = EXTRA_BYTES * int(leaks.param("messages"))

    def prove(name: str, case: Case, operation: str, column: str, truth: float) -> Check:
        def prove_it() -> Check:
            measures = [Measure(truth, found) for found in _beyond(read.of(case, operation), column)]
            return near(name, measures, format_bytes, MEMORY_SHARE)

        return proved(name, format_bytes(truth), prove_it)

    def given_back() -> Check:
        values = list(_beyond(read.of(gives_back, "drained"), "rss_after_bytes"))
        limit = MEMORY_SHARE * leaked
        return under("memory: no leak", "0 B", values, limit, format_bytes, f"under {format_bytes(limit)}")

    return [
        prove("memory: 8 MiB once", block, "resident", "rss_after_bytes", BLOCK_BYTES),
        prove("memory: peak, 8 MiB more for a moment", block, "resident", "hwm_bytes", 2 * BLOCK_BYTES),
        prove("memory: leak", leaks, "drained", "rss_after_bytes", leaked),
        proved("memory: no leak", "0 B", given_back),
    ]


def _bytes(size: float) -> str:
    return f"{size:.1f} B"
