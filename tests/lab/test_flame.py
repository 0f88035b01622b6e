"""The picture of who holds the memory: widths are bytes, and nothing in it can do harm."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import archive
from lab.case import execution_of
from lab.flame import NARROWEST, WIDTH, flame_svg, flames_of, tree
from tests.lab.runs import ARRAY, SEED, measure, measured, plan, start

FOLDED = "fill (memory.py) 100\nfill (memory.py);append (list.py) 300\nsteps (memory.py) 600\n"
SVG = "{http://www.w3.org/2000/svg}"


def boxes(svg: str) -> dict[str, tuple[float, float, float]]:
    """Return title -> (left, top, width) of every box."""
    found = {}
    for group in Xml.fromstring(svg).iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert rect is not None
        found[title.text or ""] = (float(rect.attrib["x"]), float(rect.attrib["y"]), float(rect.attrib["width"]))
    return found


def test_a_box_is_as_wide_as_what_it_holds_and_stands_under_its_caller() -> None:
    assert boxes(flame_svg(FOLDED, "array")) == {
        "fill (memory.py): 400 B (40.0 %)": (0.0, 28.0, 384.0),
        "append (list.py): 300 B (30.0 %)": (0.0, 48.0, 288.0),
        "steps (memory.py): 600 B (60.0 %)": (384.0, 28.0, 576.0),
    }
    assert "array: 0.977 KiB" in flame_svg(FOLDED, "array")


def test_what_cannot_be_seen_is_not_drawn_and_nothing_is_a_picture_too() -> None:
    assert len(boxes(flame_svg("a 1000000\nb 1\n", "x"))) == 1
    assert boxes(flame_svg("", "x")) == {}
    assert boxes(flame_svg("a 0\n", "x")) == {}


def test_names_are_text_and_no_markup() -> None:
    svg = flame_svg("<lambda> (a&b.py) 5\n", "<script>")
    assert "<script>" not in svg
    assert list(boxes(svg)) == ["<lambda> (a&b.py): 5 B (100.0 %)"]


stacks = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.integers(0, 10**9)), max_size=12
)


@given(stacks)
def test_no_frame_holds_less_than_its_own_and_boxes_stay_inside(lines: list[tuple[list[str], int]]) -> None:
    folded = "".join(f"{';'.join(stack)} {size}\n" for stack, size in lines)
    root = tree(folded)
    assert root.bytes == sum(size for _, size in lines) == sum(frame.bytes for frame in root.inner.values())
    for left, _, width in boxes(flame_svg(folded, "x")).values():
        assert width >= NARROWEST - 0.1
        assert 0 <= left <= left + width <= WIDTH + 0.2
    assert re.search(r"<(script|a|image)\b", flame_svg(folded, "x")) is None


def test_the_flames_of_a_run_are_found_by_stem(tmp_path: Path) -> None:
    assert flames_of(tmp_path) == {}
    (tmp_path / "flames").mkdir()
    (tmp_path / "flames" / "timer.array.resident.messages=5.p0.folded").write_text(FOLDED, encoding="utf-8")
    assert flames_of(tmp_path) == {"timer.array.resident.messages=5.p0": FOLDED}


def test_a_flame_is_kept_with_its_run_and_vouched_for_once_it_is_sealed(tmp_path: Path) -> None:
    with start(tmp_path) as run:
        for position, execution in enumerate(plan()):
            measure(run, execution, position)
        run.keep_flame(plan()[0], "half 5\n")
        run.keep_flame(plan()[0], FOLDED)  # the second replaces the first
        assert archive.verify(run.path) == []
        run.finish()
    assert flames_of(run.path) == {plan()[0].stem: FOLDED}
    name = f"flames/{plan()[0].stem}.folded"
    assert archive.verify(run.path) == []
    (run.path / name).write_text(FOLDED[:-5], encoding="utf-8")
    assert archive.verify(run.path)[0].startswith(f"{name} was truncated")
    (run.path / name).unlink()
    assert archive.verify(run.path) == [f"{name} is missing"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (f"{plan()[0].stem}.folded", b"no number\n", "holds a line that is no stack and its bytes"),
        (f"{plan()[0].stem}.folded", b"cut 5", "holds a line that is no stack and its bytes"),
        (f"{plan()[0].stem}.folded", b"\xff 5\n", "is no readable text"),
        (f"{plan()[0].stem}.bin", b"a 5\n", "does not belong here"),
        ("timer.other.folded", b"a 5\n", "does not belong here"),
    ],
)
def test_a_file_that_is_no_flame_of_the_run_is_named(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = measured(tmp_path, count=2, finish=False)
    (path / "flames").mkdir()
    (path / "flames" / name).write_bytes(content)
    (problem,) = archive.verify(path)
    assert problem.startswith(f"flames/{name} ")
    assert said in problem


def test_only_what_is_planned_has_a_flame_and_only_while_the_run_is_written(tmp_path: Path) -> None:
    with start(tmp_path) as run, pytest.raises(ValueError, match="is not planned in this run"):
        run.keep_flame(execution_of(ARRAY, 9, SEED), FOLDED)
    with pytest.raises(archive.ArchiveError, match="open for reading only"):
        run.keep_flame(plan()[0], FOLDED)
