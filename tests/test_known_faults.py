"""Every fault that a real system had is a test: the table of tests/README.md names it, and what it names is there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS / "README.md").read_text(encoding="utf-8")

NUMBERS = {
    "A": (1, 2, 3, 5, 7, 8, 11, 12, 13, 15, 16, 17, 18, 21, 22, 23, 24, 25, 26, 27, 29, 30, 32),
    "B": (1, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 18, 19),
    "C": (1, 2, 4, 5, 6, 7, 9, 10, 13, 14, 15, 17, 18, 19, 21, 23, 24, 25, 27),
    "D": (1, 2, 4, 5, 7, 8, 9, 12, 14, 16, 17, 18, 19, 20, 21, 22),
    "P": (1, 3, 4, 5, 7, 8, 9, 10, 11, 12),
}
LINES = [f"{part}{number:02}" for part, numbers in NUMBERS.items() for number in numbers]
"""The lines of the list of known faults: timer, advisory, ticker and limiter, SQL events, practice of measuring."""

ROW = re.compile(r"^\| ([A-Z]\d\d) \| ([^|]+) \| ([^|]+) \|$", re.M)
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def wrong_in(page: str) -> list[str]:
    """Return what is wrong with a table: lines missing, doubled or unknown, cells without a test that there is."""
    rows = ROW.findall(page)
    count = Counter(line for line, _, _ in rows)
    found = [f"{line} stands {count[line]} times" for line in LINES if count[line] != 1]
    found += [f"{line} is no line of the list" for line in count if line not in LINES]
    for line, _, cell in rows:
        named = TEST.findall(cell)
        if not named or TEST.sub("", cell).strip(" ,"):
            found.append(f"{line} names no test, or something else: {cell}")
        found += [f"{line}: {path} has no test {name}" for path, name in named if name not in defined_in(path)]
    return found


@cache
def defined_in(path: str) -> frozenset[str]:
    """Return the tests of a file that run: functions at its top whose name begins so, but for those always skipped."""
    file = TESTS / path
    if not file.is_file():
        return frozenset()
    found = ast.parse(file.read_text(encoding="utf-8")).body
    functions = [node for node in found if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return frozenset(node.name for node in functions if not any(map(_never_runs, node.decorator_list)))


def _never_runs(decorator: ast.expr) -> bool:
    return bool(re.search(r"\.(skip|xfail)\b", ast.unparse(decorator)))


def test_every_known_fault_has_its_line_and_every_test_that_is_named_is_there() -> None:
    assert wrong_in(PAGE) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (re.sub(r"^\| B07 .*\n", "", PAGE, flags=re.M), "B07 stands 0 times"),
        (re.sub(r"^(\| A12 .*\n)", r"\1\1", PAGE, flags=re.M), "A12 stands 2 times"),
        (PAGE.replace("| P05 |", "| P06 |"), "P06 is no line of the list"),
        (re.sub(r"(?<=\| C09 \| )(.*) \| .* \|$", r"\1 | later |", PAGE, flags=re.M), "C09 names no test"),
        (PAGE.replace("::test_payloads_are_never", "::test_payloads_never"), "has no test test_payloads_never"),
        (PAGE.replace("`queues/test_named_cases.py", "`queues/test_named.py"), "queues/test_named.py has no test"),
    ],
    ids=["line missing", "line doubled", "line unknown", "no test", "test renamed", "file renamed"],
)
def test_a_table_that_does_not_hold_is_told_so(changed: str, said: str) -> None:
    assert changed != PAGE
    assert any(said in sentence for sentence in wrong_in(changed))


def test_a_test_that_is_always_skipped_counts_as_none(tmp_path: Path) -> None:
    file = tmp_path / "test_made_up.py"
    file.write_text(
        "@pytest.mark.skip\ndef test_a(): ...\n@pytest.mark.skipif(x)\ndef test_b(): ...\n", encoding="utf-8"
    )
    assert defined_in(str(file)) == {"test_b"}
