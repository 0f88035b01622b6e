"""The part of the suites that measures timer queues that outlive the process, at sizes that these can bear.

Wall clock: most of a call is waited for, on a disk or on another process. `array` and `chunked` stand beside them.
"""

from __future__ import annotations

from queues.registry import DURABLE
from runners.parts import Part

BESIDE = ("array", "chunked")
SUBJECTS = (*DURABLE["timer"], *BESIDE)

CALLS = {10: 200, 1_000: 40, 10_000: 8}
"""due -> cycles of a case."""

BEHIND = {10_000: (10, 1_000, 10_000), 100_000: (10, 10_000)}
"""Messages queued behind -> sizes of batches."""

CYCLES = [{"due": due, "queued": queued, "calls": CALLS[due]} for queued, dues in BEHIND.items() for due in dues]

PARTS = (
    Part(
        "timer",
        SUBJECTS,
        latency={"durable-enqueue": [{"messages": 1_000}], "durable-cycle": CYCLES},
        batched={
            "durable-enqueue-many": [{"messages": messages} for messages in (100, 1_000, 10_000)],
            "durable-life": [{"messages": 300}],
        },
        clock="wall",
    ),
)

STANDARD = (
    Part(
        "timer",
        ("sqlite", *BESIDE),
        latency={
            "durable-enqueue": [{"messages": 1_000}],
            "durable-cycle": [{"due": 10, "queued": 10_000, "calls": 200}],
        },
        batched={"durable-enqueue-many": [{"messages": 1_000}]},
        clock="wall",
    ),
)
"""What needs no server and takes no time."""
