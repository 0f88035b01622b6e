"""What was disturbed while a run was measured: how many attempts were set aside, and why, out of its rows.

The causes were found when it was measured (`runners.disturbed`) and stand in the rows as "cause: what was found".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

WORDS = {
    "steal": "stolen by the host",
    "switches": "put off the processor",
    "disk": "memory on the disk",
    "speed": "a change of speed",
    "load": "load of others",
}
"""cause -> how a person reads it."""


def note(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line on the disturbed attempts of a run; "" when there were none, or nobody looked (older runs).

    An attempt with several causes counts under each of them. O(rows).

    >>> rows = [{"kind": "latency", "position": 0, "process": 0, "attempt": 1, "disturbed": "",
    ...          "set_aside": "steal: the host took 12 % of the time; load: others kept 1.5 processors busy"}]
    >>> note(rows)
    '1 disturbed attempt of 1 execution was set aside and measured again (1 × load of others, 1 × stolen by the host)'
    """
    executions = {(row["position"], row["process"]): row for row in rows}.values()
    repeated = [row for row in executions if row["attempt"]]
    kept = [row for row in executions if row["disturbed"]]
    parts = []
    if repeated:
        attempts = sum(row["attempt"] for row in repeated)
        many = "s" if attempts > 1 else ""
        were = "were" if attempts > 1 else "was"
        of = f"{attempts} disturbed attempt{many} of {len(repeated)} execution{'s' if len(repeated) > 1 else ''}"
        parts.append(f"{of} {were} set aside and measured again ({by_cause(row['set_aside'] for row in repeated)})")
    if kept:
        stand = "disturbed executions stand" if len(kept) > 1 else "disturbed execution stands"
        parts.append(f"{len(kept)} {stand} as measured ({by_cause(row['disturbed'] for row in kept)})")
    return "; ".join(parts)


def by_cause(texts: Iterable[str]) -> str:
    """Return how often each cause stands in the texts, the most frequent first, then by its name.

    >>> by_cause(["steal: the host took 3 % of the time", "steal: the host took 4 % of the time; disk: 1 page fault"])
    '2 × stolen by the host, 1 × memory on the disk'
    """
    found = Counter(cause.partition(":")[0] for text in texts for cause in text.split("; "))
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], WORDS.get(pair[0], pair[0])))
    return ", ".join(f"{count} × {WORDS.get(cause, cause)}" for cause, count in ordered)
