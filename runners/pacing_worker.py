"""Entry of the fresh process that measures one case of runners/pacing.py: it reads a JSON object and writes one.

    python -S -s -P runners/pacing_worker.py < CASE > RESULT

`status` of the result is ok, check-failed (the subject did something else, so there is no number) or error.
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib in a worker
if __name__ == "__main__":
    sys.path.insert(0, ROOT)

from runners import pacing_cooperative, pacing_limiter, pacing_ticker  # noqa: E402
from runners.pacing_clocks import CheckFailed  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = {
    "ticker": pacing_ticker.measure,
    "calls": pacing_limiter.measure_calls,
    "waiters": pacing_limiter.measure_waiters,
    "cooperative": pacing_cooperative.measure,
}


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    """Measure the case; whatever the subject raises ends as a status and one sentence."""
    try:
        return {"status": "ok", "message": "", **KINDS[case["kind"]](case)}
    except CheckFailed as error:
        return {"status": "check-failed", "message": str(error)}
    except Exception as error:  # noqa: BLE001 - a peer may raise anything
        return {"status": "error", "message": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def main() -> int:
    """Measure the case on stdin; the result is the only thing on stdout."""
    import json

    case = json.load(sys.stdin)
    sys.path.extend(case.pop("path"))
    stdout, sys.stdout = sys.stdout, sys.stderr
    result = outcome(case)
    json.dump(result, stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
