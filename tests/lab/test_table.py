"""A table as text and as Markdown."""

from __future__ import annotations

import pytest

from lab.table import Table, markdown, text

TABLE = Table("Cost", ("subject", "mean"), (("array", "1 µs"), ("a|b", "12 µs")), ("a note",), frozenset({"subject"}))


def test_a_row_must_have_a_cell_for_every_column() -> None:
    with pytest.raises(ValueError, match="has 1 cells: expected 2"):
        Table("Cost", ("subject", "mean"), (("array",),))


def test_text_lines_up_columns_and_ends_no_line_in_blanks() -> None:
    lines = text(TABLE).splitlines()
    assert lines == ["Cost", "subject   mean", "array     1 µs", "a|b      12 µs", "a note"]


def test_markdown_escapes_what_would_end_a_cell() -> None:
    assert "| a\\|b | 12 µs |" in markdown(TABLE)
    assert markdown(TABLE).endswith("a note  ")
