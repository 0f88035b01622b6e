"""Statements, branches and index operations, counted by hand here and off the source there."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from queues.registry import SUBJECTS
from runners.complexity import complexity, counts


def counted(source: str) -> tuple[int, int, int]:
    """Return (statements, branches, index operations) of the one function in `source`."""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return tuple(counts(function).values())  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", (1, 0, 0)),
        ("def f():\n  'Only a docstring.'", (0, 0, 0)),
        ("def f():\n  'A docstring.'\n  'no docstring'", (1, 0, 0)),
        ("def f(a):\n  if a:\n    return 1\n  elif not a:\n    return 2\n  else:\n    return 3", (5, 2, 0)),
        ("def f(a):\n  while a:\n    a -= 1\n  else:\n    a = 0", (3, 1, 0)),
        ("def f(a):\n  for b in a:\n    continue", (2, 1, 0)),
        ("async def f(a):\n  async for b in a:\n    await b", (2, 1, 0)),
        ("def f(a):\n  return 1 if a else 2", (1, 1, 0)),
        ("def f(a, b, c):\n  return a and b and c or a", (1, 3, 0)),
        ("def f(a):\n  return [b for c in a if c for b in c if b if not b]", (1, 5, 0)),
        ("def f():\n  try:\n    g()\n  except A:\n    pass\n  except B:\n    pass\n  finally:\n    h()", (5, 2, 0)),
        ("def f(a):\n  match a:\n    case 1:\n      return\n    case _:\n      pass", (3, 2, 0)),
        ("def f(a):\n  with a:\n    raise A", (2, 0, 0)),
        ("def f(a, i):\n  a[i] = a[i + 1]\n  del a[0]\n  a[1:2] += a[0][1]", (3, 0, 6)),
        ("def f(a: list[int], *b: c[d]) -> e[f]:\n  g: list[int] = a[0]\n  h: dict[int, int]", (2, 0, 1)),
        ("def f(a):\n  def g(b: c[d] = a[0]):\n    'Text.'\n    return b[1] if b else 0\n  return g", (3, 1, 2)),
        ("def f(a):\n  return lambda b=a[0]: b[1] or 2", (1, 1, 2)),
        ("@cache[0]\ndef f(a=b[0]):\n  return a", (1, 0, 0)),
    ],
)
def test_what_counts(source: str, expected: tuple[int, int, int]) -> None:
    assert counted(source) == expected


@pytest.mark.parametrize("subject", SUBJECTS["timer"])
def test_every_subject_has_the_methods_of_the_documents_table(subject: str) -> None:
    rows = {row["method"]: row for row in complexity(SUBJECTS["timer"][subject])}
    assert {"enqueue", "take", "requeue", "process"} <= set(rows)
    assert all(row["statements"] for row in rows.values())
    assert set(rows["take"]) == {"method", "statements", "branches", "index_operations"}


def test_a_derived_queue_has_the_methods_that_it_inherits_and_its_own_where_it_overrides() -> None:
    base = {row["method"]: row for row in complexity("queues.timer.linked:Linked")}
    derived = {row["method"]: row for row in complexity("queues.timer.linked_known_tail:LinkedKnownTail")}
    assert list(base) == list(derived)
    assert base["take"] == derived["take"]
    assert base["_cut"] != derived["_cut"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's package, which must never be imported."""
    package = tmp_path / "mine"
    (package / "deep").mkdir(parents=True)
    for name, source in {
        "__init__.py": "raise RuntimeError('imported')",
        "queue.py": "from .base import Base as Parent\nfrom . import deep\nimport mine.other as there\n"
        "class Queue(Parent[int], there.Mixed, dict):\n"
        "    @property\n    def size(self): return 1\n"
        "    @size.setter\n    def size(self, value): self.a = value; self.b = 1\n"
        "    def take(self): return 1\n    class Batch:\n        def rest(self): return self.items[0]\n"
        "class Loop(Loop): pass\nAlias = Queue\n"
        "if True:\n    class Late:\n        def late(self): pass\n"
        "raise RuntimeError('imported')",
        "base.py": "class Base:\n    def take(self): return 1 if self else 2\n    def put(self): pass",
        "other.py": "class Mixed(Exception):\n    def mix(self): pass",
        "deep/__init__.py": "from ..queue import Queue",
        "broken.py": "class Queue(:",
    }.items():
        (package / name).write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return package


def methods(target: str) -> list[tuple[str | int, ...]]:
    return [tuple(row.values()) for row in complexity(target)]


@pytest.mark.usefixtures("mine")
def test_a_users_class_is_read_with_its_bases_and_never_imported() -> None:
    expected = [
        ("mix", 1, 0, 0),
        ("take", 1, 0, 0),
        ("put", 1, 0, 0),
        ("size", 1, 0, 0),
        ("size.setter", 2, 0, 0),
    ]
    assert methods("mine.queue:Queue") == expected
    assert methods("mine.queue:Alias") == expected
    assert methods("mine.deep:Queue") == expected
    assert methods("mine.queue:Queue.Batch") == [("rest", 1, 0, 1)]
    assert methods("mine.queue:Late") == [("late", 1, 0, 0)]
    assert methods("mine.queue:Loop") == []
    assert "mine" not in sys.modules


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("mine.queue:Quern", "no class in the source of 'mine.queue:Quern': expected 'package.module:Class'"),
        ("mine.queue:Queue.Bath", "no class in the source of 'mine.queue:Queue.Bath': Queue has no class Bath"),
        ("mine.nothing:Queue", "no Python source of module 'mine.nothing'"),
        ("nowhere:Queue", "no Python source of module 'nowhere'"),
        ("nowhere.deep:Queue", "no Python source of module 'nowhere.deep'"),
        ("time:Queue", "no Python source of module 'time'"),
        (":Queue", "no Python source of module ''"),
        ("mine.queue", "no class in the source of 'mine.queue:'"),
    ],
)
def test_a_class_that_cannot_be_found_is_named(target: str, said: str) -> None:
    with pytest.raises(LookupError) as refused:
        complexity(target)
    assert said in str(refused.value)


@pytest.mark.usefixtures("mine")
def test_what_is_no_python_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        complexity("mine.broken:Queue")
