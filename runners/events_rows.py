"""Fills the table of events as the document does, in the database itself: a million rows in seconds.

Every execution fills a table of its own, once for all forms of the question; nothing is kept from one to the next.

The history: tasks that job1 and job2 have both ended, half of them SUCCEEDED and half FAILED in both; then some that
job1 alone has succeeded with. So `tasks` finished ones and `pending` make `2 * tasks + pending` rows. Row k of the
history is dated k milliseconds, what is pending follows; statistics are brought up to date.
"""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OF, BY = "job1", "job2"
STEP_US = 1_000

HISTORY = """
    INSERT INTO events (job, task, result, at_us)
    SELECT CASE WHEN n.m {rest} 2 = 1 THEN 'job1' ELSE 'job2' END, {task},
        CASE WHEN n.m <= :tasks THEN 'SUCCEEDED' ELSE 'FAILED' END, ((n.m + 1) {half} 2) * :step_us
    FROM {numbers}"""
"""Row m is of job1 when m is odd, of job2 when it is even, both about task (m + 1) / 2."""

PIECES = {
    "sqlite": {
        "task": "CAST((n.m + 1) / 2 AS TEXT)",
        "half": "/",
        "rest": "%",
        "numbers": """(WITH RECURSIVE s(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM s WHERE m < 2 * :tasks)
            SELECT m FROM s) n""",
    },
    "postgresql": {
        "task": "CAST((n.m + 1) / 2 AS text)",
        "half": "/",
        "rest": "%%",
        "numbers": "generate_series(1, 2 * CAST(:tasks AS bigint)) AS n(m)",
    },
    "mariadb": {
        "task": "CAST((n.m + 1) DIV 2 AS CHAR(20))",
        "half": "DIV",
        "rest": "%%",
        "numbers": "(SELECT seq AS m FROM seq_1_to_100000000 WHERE seq <= 2 * :tasks) n",
    },
}
SETTLE = {"postgresql": ("CHECKPOINT",), "mariadb": ("FLUSH TABLES events FOR EXPORT", "UNLOCK TABLES")}
"""What makes an engine write back what it was given: one that is at it answers several times slower meanwhile."""

ANALYZE = {"sqlite": "ANALYZE", "postgresql": "ANALYZE events", "mariadb": "ANALYZE TABLE events PERSISTENT FOR ALL"}


def fill(queue: Any, tasks: int, pending: int, *, indexed: bool = True) -> int:
    """Fill an empty table that has no indexes; return the bound: the instant of the first that is pending.

    `tasks` is even. The queue's own way of recording is not taken: a history was recorded long ago.
    """
    if tasks:  # the indexes come after it, which is many times as quick
        text = HISTORY.format(**PIECES[queue.engine])
        queue._write(lambda: queue._run(text, {"tasks": tasks, "step_us": STEP_US}))
    since_us = (tasks + 1) * STEP_US
    if indexed:
        queue.make_indexes()
    queue.record_many((OF, f"new {k}", "SUCCEEDED", since_us + k * STEP_US) for k in range(pending))
    queue._read(lambda: queue._run(ANALYZE[queue.engine], {}))
    with contextlib.suppress(Exception):  # on a server that is not ours we may not be allowed to
        for text in SETTLE.get(queue.engine, ()):
            queue._run(text, {})
    return since_us
