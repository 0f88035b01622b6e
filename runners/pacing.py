"""Measures tickers, rate limiters and cooperative sleep in real time, each case in a fresh process.

    python -m runners.pacing --quick
    python -m runners.pacing --part ticker --subject arithmetic --subject naive-sleep
    python -m runners.pacing --promises

The promises are checked in virtual time (queues/pacing/promises.py); everything else takes the time that it is about.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.table import markdown, text
from queues.pacing.promises import PROMISES, conform_all
from queues.registry import PEERS, SUBJECTS
from runners.pacing_cases import FULL, MODES, PARTS, QUICK, cases, measured
from runners.pacing_tables import TABLES, medians, promise_table
from runners.pacing_ticker import YARDSTICKS

EXAMPLE = "Example: python -m runners.pacing --quick --part ticker --part waiters --json pacing.json"


def known_subjects() -> list[str]:
    """Return all names that `--subject` takes."""
    families = [*SUBJECTS["ticker"], *PEERS["ticker"], *SUBJECTS["limiter"], *PEERS["limiter"]]
    return list(dict.fromkeys([*YARDSTICKS, *families, *MODES]))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    about = (__doc__ or "").partition("\n")[0]
    made = argparse.ArgumentParser(prog="python -m runners.pacing", description=about, epilog=EXAMPLE)
    made.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    made.add_argument(
        "--subject", action="append", choices=known_subjects(), metavar="NAME", help="only this one; may be repeated"
    )
    made.add_argument("--quick", action="store_true", help="the same tables from less, in a minute")
    made.add_argument("--promises", action="store_true", help="which promises all of them keep, and nothing else")
    made.add_argument(
        "--processes", type=int, default=1, metavar="N", help="N processes a case, the median one is shown"
    )
    made.add_argument("--markdown", action="store_true", help="tables as Markdown")
    made.add_argument("--json", type=Path, metavar="FILE", help="write all results there, every sample included")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for and print its tables; 4 when nothing could be measured, 130 when it was stopped."""
    asked = parser().parse_args(arguments)
    render = markdown if asked.markdown else text
    if asked.promises:
        for family in PROMISES:
            sys.stdout.write(f"{render(promise_table(family, conform_all(family)))}\n\n")
        return 0
    if asked.processes < 1:
        sys.stderr.write(f"--processes is {asked.processes}: expected at least 1\n")
        return 2
    size = QUICK if asked.quick else FULL
    parts = tuple(asked.part or PARTS)
    planned = cases(size, parts, tuple(asked.subject or ())) * asked.processes
    results: list[dict[str, Any]] = []
    try:
        for number, case in enumerate(planned, 1):
            sys.stderr.write(f"{number}/{len(planned)} {case['kind']} {case['subject']}\n")
            results.append(measured(case, size.seconds))
    except KeyboardInterrupt:
        sys.stderr.write(f"stopped: {len(results)} of {len(planned)} cases are shown\n")
    if asked.json is not None:
        asked.json.write_text(json.dumps(results), encoding="utf-8")
    for part in parts:
        if any(result["kind"] == part for result in results):
            sys.stdout.write(f"{render(TABLES[part](medians(results)))}\n\n")
    if len(results) < len(planned):
        return 130
    return 0 if any(result["status"] == "ok" for result in results) else 4


if __name__ == "__main__":
    sys.exit(main())
