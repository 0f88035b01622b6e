"""Each room has a page that says what lives there: what it names is there, and what is there is named."""

from __future__ import annotations

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("lab", "queues", "runners", "results", "tests", "notebooks")
FILE = re.compile(r"`([\w./*]+\.(?:py|md|css|js|csv|toml|txt))`")
FOLDER = re.compile(r"`([a-z]+)/`")
TEST = re.compile(r"`(test_\w+)`")


def lost(page: str, room: Path) -> list[str]:
    """Return what a page names that is not there, in its room or, by a whole path, in the repository."""
    given = [*FILE.findall(page), *FOLDER.findall(page)]
    return [name for name in given if not any(room.glob(name)) and not any(ROOT.glob(name))]


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_page_and_what_it_names_is_there(room: str) -> None:
    page = (ROOT / room / "README.md").read_text(encoding="utf-8")
    assert lost(page, ROOT / room) == []
    assert lost(page + "`no_such_module.py`, `nowhere/`", ROOT / room) == ["no_such_module.py", "nowhere"]


@pytest.mark.parametrize("room", ["lab", "queues", "runners"])
def test_every_module_and_every_folder_of_a_room_is_named_in_its_page(room: str) -> None:
    page = (ROOT / room / "README.md").read_text(encoding="utf-8")
    given = [*FILE.findall(page), *FOLDER.findall(page)]
    there = [path.name for path in sorted((ROOT / room).iterdir()) if path.suffix == ".py" or any(path.glob("*.py"))]
    assert len(there) > 4
    missing = [name for name in there if name != "__init__.py" and not any(fnmatch(name, one) for one in given)]
    assert missing == [], f"say in {room}/README.md what {', '.join(missing)} is"


def test_the_way_from_a_run_to_a_row_and_from_a_row_to_a_figure_names_functions_that_are_there() -> None:
    page = (ROOT / "lab" / "README.md").read_text(encoding="utf-8")
    way = page[page.index("## From `lab run` to a row") : page.index("## What may be touched")]
    for module, name in re.findall(r"`([a-z_]+)\.(\w+)(?:\(path\)[^`]*)?`", way):
        if name in ("py", "parquet"):
            continue
        found = ast.parse((ROOT / "lab" / f"{module}.py").read_text(encoding="utf-8")).body
        assert name in {getattr(node, "name", None) for node in found} | assigned(found), f"{module}.{name}"


def assigned(body: list[ast.stmt]) -> set[str]:
    nodes = [node for node in body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [target for node in nodes for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_what_the_recipes_name_is_there() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert lost(page.replace("queues/timer/rope.py", "queues/timer/heap.py"), ROOT) == []
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert TEST.findall(page)
    assert [name for name in TEST.findall(page) if f"def {name}(" not in tests] == []
    for path in re.findall(r"tests/[\w/]+(?:\.\w+)?", page):
        assert (ROOT / path).exists(), path


def test_every_package_is_installed() -> None:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    rooms = [path.parent for room in ("lab", "queues", "runners") for path in (ROOT / room).rglob("__init__.py")]
    assert sorted(found["packages"]) == sorted(path.relative_to(ROOT).as_posix().replace("/", ".") for path in rooms)
    beside = {path.name for path in (ROOT / "lab").iterdir() if path.suffix in (".css", ".js", ".html", ".json")}
    assert {name for name in beside if not any(fnmatch(name, one) for one in found["package-data"]["lab"])} == set()
