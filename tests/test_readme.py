"""The README's table and picture are those of the reference run: `make readme` renews them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.door import lab

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "results" / "reference"


def newest_reference() -> Path:
    runs = sorted(REFERENCE.glob("*-standard"))
    assert runs, "a reference run belongs into results/reference: make reference"
    return runs[-1]


def test_the_readme_matches_the_reference_run(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    shutil.copy(ROOT / "README.md", page)
    (tmp_path / "results" / "reference").mkdir(parents=True)
    said = lab("report", "--readme", str(page), str(newest_reference()))
    assert said.returncode == 0, said.stderr
    assert page.read_text(encoding="utf-8") == (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = (tmp_path / "results" / "reference" / "cycle.svg").read_text(encoding="utf-8")
    assert drawn == (REFERENCE / "cycle.svg").read_text(encoding="utf-8")


def test_the_reference_run_is_whole_and_small() -> None:
    run = newest_reference()
    assert lab("verify", str(run)).returncode == 0
    sizes = [path.stat().st_size for path in run.rglob("*") if path.is_file() and "calls" not in path.parts]
    assert sum(sizes) <= 5 << 20


def test_the_reference_run_shows_every_table() -> None:
    said = lab("show", str(newest_reference()))
    assert said.returncode == 0, said.stderr
    for title in (
        "The instrument",
        "Enqueue",
        "The cycle",
        "Requeue of the unused",
        "Reattach",
        "Every call",
        "Memory",
    ):
        assert f"\n{title}" in said.stdout
