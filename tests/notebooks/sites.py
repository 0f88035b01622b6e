"""Sites for the tests: made once a session, whichever worker asks first, and shared by the others through a folder."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.notebook_file import Notebook
from lab.notebook_run import every

ROOT = Path(__file__).resolve().parent.parent.parent


def newest_reference() -> Path:
    runs = sorted((ROOT / "results" / "reference").glob("*-standard"))
    assert runs, "a reference run belongs into results/reference: make reference"
    return runs[-1]


def once(shared: Path, name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name`, made by one worker while the others wait; a failure is every worker's."""
    folder = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "done").touch()
    return folder


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this session of pytest have in common."""
    base = factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


def reported(run: Path, *others: Path) -> Path:
    """Write the report of a run with the command, as a user does, and return its folder."""
    command = [sys.executable, "-m", "lab", "report", str(run), *map(str, others)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert said.returncode == 0, said.stderr
    assert f"written: {run / 'report' / 'index.html'}" in said.stdout
    return run / "report"


def notebooks() -> list[str]:
    return [path.stem for path in every()]


def sources(notebook: Notebook) -> list[str]:
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def chromium() -> str:
    """Where Chromium is; a machine without it skips, the CI fails."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        said = "chromium is not installed: the pages cannot be looked at (apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(said)
        pytest.skip(said)
    return found
