"""No query is made of what a caller gives: values go beside the text, and what cannot is one of a few plain names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from queues.events.rules import FORMS, SUCCEEDED
from tests.queues.durable_subjects import ONE_AN_ENGINE, subject
from tests.queues.events.subjects import each_engine, opened

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    *sorted((ROOT / "queues" / "events").glob("*.py")),
    *sorted((ROOT / "queues" / "timer").glob("durable_*.py")),
    ROOT / "runners" / "events_rows.py",
    ROOT / "runners" / "events_storm.py",
    ROOT / "runners" / "held_locks.py",
)
RUNS = {"execute", "executemany", "executescript", "_run", "read", "_read", "change", "_changed"}
"""The methods that carry a statement out: it is their first argument."""

PLAIN = {
    "require_plain(self.name)": "refuses what would have to be quoted",
    "name": "one of the settings that are named beside it",
    "table": "one of the tables that are named beside it",
    "texts": "the settings that are named beside it",
    "text": "a statement of ours, to be explained",
    "int(self.max_pages)": "a number",
    "'FULL' if self.durable else 'NORMAL'": "one of two words",
}
"""What a statement may be put together of, besides constants, and why."""

HOSTILE = ("x'; DROP TABLE events; --", 'x" OR ""="', "x') OR 1=1 --", "%s %(job)s :job ?", "\\'; --", "`work`", "x\ty")


def put_together(path: Path) -> list[str]:
    """Return what is interpolated, added or formatted into the statements that a file carries out."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNS and node.args:
            statement = node.args[0]
            parts = list(ast.walk(statement))
            found += [ast.unparse(part.value) for part in parts if isinstance(part, ast.FormattedValue)]
            found += [ast.unparse(part) for part in parts if _joined(part) or _formatted(part)]
    return found


def _joined(part: ast.AST) -> bool:
    """Whether texts become one; those of psycopg's `sql` are quoted by it."""
    method = part.func if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) else None
    return method is not None and method.attr in ("join", "format") and not ast.unparse(method).startswith("sql.")


def _formatted(part: ast.AST) -> bool:
    return isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_statement_is_put_together_of_plain_names_alone(path: Path) -> None:
    assert [part for part in put_together(path) if part not in PLAIN and not part.isupper()] == []


def test_what_is_allowed_is_what_there_is() -> None:
    assert {part for path in FILES for part in put_together(path) if not part.isupper()} == set(PLAIN)


def test_one_that_is_put_together_of_a_value_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "made_up.py"
    file.write_text("c.execute(f'SELECT {job}')\nc._run('SELECT %s' % job, {})\nc.read(' '.join(jobs))\n", "utf-8")
    assert put_together(file) == ["job", "'SELECT %s' % job", "' '.join(jobs)"]


@each_engine
@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_would_be_a_query_is_kept_as_a_text(engine: str, text: str) -> None:
    with opened(engine) as queue:
        queue.record(text, text, SUCCEEDED, 1)
        queue.record("other", "y", SUCCEEDED, 2)
        for form in FORMS:
            (event,) = queue.pending(text, f"{text} again", form=form, since_us=0)
            assert (event.job, event.task) == (text, text)
        claim = queue.claim(text, f"{text} again", worker=text, lease_us=9, now_us=0)
        assert (claim.event.task, claim.worker) == (text, text)
        queue.complete(claim, SUCCEEDED)
        assert queue.pending(text, f"{text} again") == []
        assert [event.task for event in queue.pending("other", "z")] == ["y"]


@pytest.mark.parametrize("name", ONE_AN_ENGINE)
def test_a_message_that_would_be_a_query_is_kept_as_a_message(name: str) -> None:
    messages: list[tuple[Any, ...]] = [(float(place), text) for place, text in enumerate(HOSTILE)]
    with subject(name)() as queue:
        queue.enqueue_many(messages)
        for message in messages:
            queue.enqueue(*message)
        assert list(queue.contents()) == [message for message in messages for _ in range(2)]
