"""The site of a report in a browser: every page loads from disk and asks nobody, its figures, navigation and tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.integrity import verify
from tests.notebooks.sites import chromium, newest_reference, notebooks, once, reported, shared_folder

WIDTHS = (390, 1440)
PAGES = ("index", *notebooks(), "tables")

OVERLAPS = """
figure => {
  const boxes = [...figure.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  const found = [];
  for (const [place, [one, a]] of boxes.entries())
    for (const [other, b] of boxes.slice(place + 1))
      if (shared(a, b, 'left', 'right') > 1 && shared(a, b, 'top', 'bottom') > 4) found.push(one + ' / ' + other);
  return found;
}
"""
"""Texts of a figure that stand on one another; lines of text may touch, because boxes are taller than letters."""

OUTSIDE = """
figure => {
  const box = figure.querySelector('svg').getBoundingClientRect();
  return [...figure.querySelectorAll('text')].filter(text => {
    const own = text.getBoundingClientRect();
    return own.right > box.right + 1 || own.left < box.left - 1 || own.bottom > box.bottom + 1;
  }).map(text => text.textContent);
}
"""

FIGURES = f"""
() => {{
  const overlaps = {OVERLAPS.strip()};
  const outside = {OUTSIDE.strip()};
  return [...document.querySelectorAll('figure')].map(figure => {{
    const {{width, height}} = figure.querySelector('svg').getBoundingClientRect();
    return [{{width, height}}, overlaps(figure), outside(figure)];
  }});
}}
"""
"""Of every figure its size and what is wrong with its texts, asked for at once: questions take most of the time."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the reference run, as `lab report` writes it."""

    def make(folder: Path) -> None:
        run = folder / "results" / "reference" / newest_reference().name
        shutil.copytree(newest_reference(), run, ignore=shutil.ignore_patterns("calls", "report"))
        shutil.copytree(reported(run), folder / "site")

    return once(shared_folder(tmp_path_factory), "site", make) / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    where = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_loads_from_disk_without_an_error_and_without_asking_anybody(
    site: Path, browser: Any, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if not _own(request.url) else None)
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {width}"
        assert page.locator("details[open]").count() == 0, f"{name} does not fold its code away"
        figures = page.evaluate(FIGURES)
        assert len(figures) == page.locator("figure").count(), name
        for size, overlapping, outside in figures:
            assert size["width"] > 200, name
            assert size["height"] > 100, name
            assert overlapping == [], name
            assert outside == [], name
    assert problems == []
    page.close()


def _own(url: str) -> bool:
    return url.startswith(("file:", "data:"))


def test_navigation_and_the_list_of_questions_lead_to_every_page(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": min(WIDTHS), "height": 900})
    page.goto((site / "index.html").as_uri())
    for place, name in enumerate(PAGES):
        page.locator("nav a").nth(place).click()
        assert page.url.endswith(f"/{name}.html")
        assert page.locator("nav a[aria-current]").count() == 1
    page.locator("nav a").first.click()
    questions = page.locator("main li a")
    assert questions.count() == len(notebooks())
    questions.last.click()
    assert page.url.endswith(f"/{notebooks()[-1]}.html")
    page.close()


def test_a_table_sorts_by_the_size_of_its_figures_and_is_copied_as_lines(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": min(WIDTHS), "height": 900})
    page.goto((site / "tables.html").as_uri())
    table = page.locator("table.lab", has_text="The life of a message").first
    column = table.locator("thead th").all_inner_texts().index("a message, p50 (range of processes, µs)")
    head = table.locator("thead th").nth(column)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    ascending = _column(table, column)
    assert ascending == sorted(ascending)
    assert ascending[0] < ascending[-1]
    head.locator("button").click()
    assert _column(table, column) == sorted(ascending, reverse=True)
    copied = page.evaluate("lines(document.querySelector('table.lab'))").splitlines()
    first = page.locator("table.lab").first
    assert len(copied) == first.locator("tr").count()
    assert copied[0].split("\t") == first.locator("thead th").all_inner_texts()
    page.close()


def _column(table: Any, column: int) -> list[float]:
    """The cells of a column in nanoseconds."""
    units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    cells = [row.locator("td").nth(column).inner_text().split() for row in table.locator("tbody tr").all()]
    return [float(cell[0].replace(",", "")) * units[cell[1]] for cell in cells]


def test_no_page_names_a_path_of_this_machine(site: Path) -> None:
    for name in PAGES:
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert str(site.parent) not in text
        assert str(Path.home()) not in text


def test_the_report_is_no_part_of_the_run_and_anything_else_beside_it_is_named(site: Path, tmp_path: Path) -> None:
    run = next((site.parent / "results" / "reference").iterdir())
    assert (run / "report" / "index.html").is_file()
    assert verify(run) == []
    copied = tmp_path / run.name
    shutil.copytree(run, copied)
    (copied / "reports").mkdir()
    (copied / "reports" / "index.html").write_text("foreign", encoding="utf-8")
    assert verify(copied) == ["reports/index.html does not belong here: this run neither wrote nor plans it"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_and_paper_follow_the_reader_s_choice(site: Path, browser: Any, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto((site / "1_cost.html").as_uri())
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    drawn = page.evaluate("getComputedStyle(document.querySelector('svg .paper')).fill")
    assert paper == drawn == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 29)"}[scheme]
    page.close()
