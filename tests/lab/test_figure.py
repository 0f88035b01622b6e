"""How subjects look, and what a panel is made of: marks, contrast, labels that do not meet, ticks."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab.figure import LOOKS, PALETTE, beside, in_order, look
from lab.figure_axis import linear_axis, log_axis, tail_axis
from lab.figure_panel import (
    BOTTOM,
    DARK_PAPER,
    HEIGHT,
    LABEL_GAP,
    MARK_GAP,
    MARKS,
    PAPER,
    STYLE,
    TOP,
    Line,
    Note,
    Panel,
    apart,
    mark,
    svg,
)
from queues.registry import PEERS, SUBJECTS

SVG = "{http://www.w3.org/2000/svg}"


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("paper", [PAPER, DARK_PAPER])
def test_every_colour_stands_out_on_light_and_dark_paper(colour: str, paper: str) -> None:
    assert contrast(colour, paper) >= 3


def test_the_style_draws_on_the_papers_that_the_colours_were_chosen_for() -> None:
    assert "fill:#fff}" in STYLE
    assert f"fill:{DARK_PAPER}}}" in STYLE


def test_every_timer_subject_has_a_look_and_no_two_have_the_same() -> None:
    for subject in {**SUBJECTS["timer"], **PEERS["timer"]}:
        assert subject in LOOKS, f"{subject} wants a line in LOOKS"
    looks = [look(subject) for subject in {**SUBJECTS["timer"], **PEERS["timer"]}]
    assert len(set(looks)) == len(looks)
    assert all(found in MARKS for _, found in LOOKS.values())


@given(st.text(min_size=1))
def test_a_subject_that_nobody_named_has_a_look_that_follows_from_its_name(name: str) -> None:
    assert look(name) == look(name)
    assert look(name)[0] in PALETTE
    assert look(name)[1] in MARKS


def test_the_order_is_that_of_the_looks_and_others_follow_by_name() -> None:
    assert in_order(["z", "array", "a", "linked"]) == ["linked", "array", "a", "z"]


@given(st.lists(st.floats(0, 300), max_size=17))
def test_labels_stand_apart_in_their_order_and_inside_when_they_fit(heights: list[float]) -> None:
    low, high = 0.0, 300.0
    found = apart(sorted(heights), low, high, LABEL_GAP)
    assert len(found) == len(heights)
    assert all(b - a >= LABEL_GAP - 1e-9 for a, b in pairwise(found))
    assert all(low <= height <= high + 1e-9 for height in found)


def test_more_labels_than_fit_run_over_the_end_but_never_into_each_other() -> None:
    found = apart([0.0] * 5, 0, 20, LABEL_GAP)
    assert found == [place * LABEL_GAP for place in range(5)]


def panel(names: list[str], notes: list[Note] | None = None) -> Panel:
    lines = [Line(name, [(10, 100.0), (1_000, 105.0 + place)]) for place, name in enumerate(names)]
    x, y = log_axis("k", [10, 1_000], lambda v: f"{v:g}"), log_axis("ns", [90, 200], lambda v: f"{v:g}")
    return Panel("<Take> & put back", x, y, lines, notes or [], floor=(95.0, "floor"))


def test_a_panel_is_whole_svg_with_its_words_as_text() -> None:
    root = ElementTree.fromstring(svg(panel(["linked", "array"])))
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"<Take> & put back", "linked", "array", "floor", "k", "ns"} <= set(words)
    assert root.attrib["aria-label"] == "<Take> & put back"
    assert "href" not in svg(panel(["linked"]))


def test_the_same_panel_gives_the_same_text() -> None:
    assert svg(panel(["a", "b"])) == svg(panel(["a", "b"]))


def test_a_note_stands_on_no_point_that_has_one() -> None:
    notes = [Note(1_000, 150, "its own"), Note(980, 147, "a neighbour")]
    drawn = panel(["a"], notes)
    root = ElementTree.fromstring(svg(drawn))
    high = drawn.y
    low, reach = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    points = [low - reach * high.share(note.y) for note in notes]
    for text in root.iter(f"{SVG}text"):
        if text.text in ("its own", "a neighbour"):
            assert all(abs(float(text.attrib["y"]) - (point + 4)) >= MARK_GAP - 0.1 for point in points)


def test_many_names_make_a_panel_higher_and_none_stands_on_another() -> None:
    names = [f"subject-{place}" for place in range(30)]
    root = ElementTree.fromstring(svg(panel(names)))
    placed = sorted(float(text.attrib["y"]) for text in root.iter(f"{SVG}text") if text.text in names)
    assert all(b - a >= LABEL_GAP - 0.2 for a, b in pairwise(placed))
    assert placed[-1] <= float(root.attrib["height"])


def test_notes_on_one_place_stand_above_one_another() -> None:
    notes = [Note(1_000, 150, f"note {place}") for place in range(4)]
    root = ElementTree.fromstring(svg(panel(["a"], notes)))
    placed = sorted(float(text.attrib["y"]) for text in root.iter(f"{SVG}text") if (text.text or "").startswith("note"))
    assert all(b - a >= LABEL_GAP - 0.2 for a, b in pairwise(placed))


@pytest.mark.parametrize("name", MARKS)
def test_every_mark_draws_something(name: str) -> None:
    root = ElementTree.fromstring(mark(name, 10, 10, "#d55e00"))
    assert root.tag in ("circle", "path")


def test_a_mark_that_there_is_not_is_an_error() -> None:
    with pytest.raises(KeyError):
        mark("?", 0, 0, "#000000")


def test_a_logarithmic_axis_refuses_what_has_no_logarithm() -> None:
    for values in ([], [0.0], [-1.0, 5.0]):
        with pytest.raises(ValueError, match="expected positive values"):
            log_axis("k", values, str)


@given(st.floats(1e-3, 1e9), st.floats(1, 1e9))
def test_a_logarithmic_axis_holds_its_values_and_has_some_ticks(low: float, factor: float) -> None:
    axis = log_axis("k", [low, low * factor], lambda value: f"{value:g}")
    assert 0 <= axis.share(low) < axis.share(low * factor * 1.01)
    assert axis.share(low * factor) <= 1
    assert 2 <= len(axis.ticks) <= 7
    assert all(0 <= axis.share(value) <= 1 for value, _ in axis.ticks)


@example([5e-324])
@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=9))
def test_a_linear_axis_holds_its_values_and_0(values: list[float]) -> None:
    axis = linear_axis("b", values, lambda value: f"{value:g}")
    for value in (*values, 0.0):
        assert -1e-9 <= axis.share(value) <= 1 + 1e-9
    assert 1 <= len(axis.ticks) <= 8


def test_the_tail_axis_gives_every_nine_as_much_room() -> None:
    axis = tail_axis("q", [0.0, 0.9999])
    assert [axis.share(q) for q in (0.9, 0.99, 0.999, 0.9999)] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    upper = tail_axis("q", [0.5, 0.9999])
    assert upper.share(0.99) - upper.share(0.9) == pytest.approx(upper.share(0.9999) - upper.share(0.999))
    assert [said for _, said in upper.ticks] == ["50 %", "90 %", "99 %", "99.9 %", "99.99 %"]
    with pytest.raises(ValueError, match="expected one under 1"):
        tail_axis("q", [1.0])


def test_pictures_side_by_side_are_one_that_is_as_wide_as_all() -> None:
    both = ElementTree.fromstring(beside([svg(panel(["a"])), svg(panel(["b"]))]))
    assert both.attrib["width"] == "1000"
    assert [inner.attrib["x"] for inner in both.findall(f"{SVG}svg")] == ["0", "500"]
    assert re.match("<svg", beside([]))
