"""What the front door loads before it answers: as little as it can, since a person waits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"numpy", "pandas", "pyarrow", "scipy", "matplotlib", "memray", "pyperf", "pydantic", "rich", "nbconvert"}

LOADED = """
import json, sys
from lab.cli import main
try: main()
except SystemExit: pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_loads_no_library_but_the_one_that_reads_the_command_line() -> None:
    modules = loaded("--help")
    assert {name.split(".")[0] for name in modules} & HEAVY == set()
    wired = {f"lab.cli{part}" for part in ("", "_check", "_queues", "_report", "_run", "_show")}
    assert {name for name in modules if name.startswith("lab.")} == {*wired, "lab.front", "lab.judging"}
    assert not any(name.split(".")[0] in ("runners", "queues") for name in modules)


def test_showing_a_run_loads_nothing_that_draws_measures_or_is_not_asked_for() -> None:
    (run,) = sorted((ROOT / "results" / "reference").glob("*-standard"))[-1:]
    modules = loaded("show", str(run))
    assert "pyarrow" in modules
    assert {name.split(".")[0] for name in modules} & (HEAVY - {"numpy", "pyarrow", "pydantic"}) == set()
