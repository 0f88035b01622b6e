"""The Perl figures: there with the lab, and no error where it was installed without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import reference


def test_the_figures_come_with_the_lab() -> None:
    assert reference.read_reference()["cycle", "list", "take", "200000", "10", "", "best_of_3"] == 87.0


def test_a_lab_that_was_installed_without_its_results_has_none_and_another_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="nowhere"):
        reference.read_reference(tmp_path / "nowhere.csv")
    monkeypatch.setattr(reference, "CSV", tmp_path / "nowhere.csv")
    assert reference.read_reference(tmp_path / "nowhere.csv") == {}
