"""A server's password stands nowhere in what a run leaves, whether its workers reach the server or not."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from lab.case import Case
from queues.addresses import variable
from queues.registry import target
from runners.promises import search_path
from runners.run import Settings, carry_out
from runners.servers import Pool
from runners.spawn import Limits
from tests.engines import server
from tests.runners.test_run import started

pytestmark = pytest.mark.processes

CASES = {
    "postgresql": Case.of("latency", "events", "postgresql", "pending", rows=25, index="bare", calls=4, clock="wall"),
    "mariadb": Case.of("throughput", "events", "mariadb", "claims", events=8, history=0, workers=2, clock="wall"),
    "redis": Case.of("latency", "timer", "redis", "durable-enqueue", messages=20, clock="wall"),
}


def left_by(root: Path, case: Case, environment: dict[str, str], url: str) -> tuple[list[str], str]:
    """Carry a case out; the ends of its executions, and all that the run's folder holds, packed and unpacked."""
    with Pool([url]) as pool, started(root, [case], processes=1) as run:
        of_case = target(case.family, case.subject)
        pool.environment(of_case)
        settings = Settings(
            limits=Limits(seconds=30),
            path=tuple(search_path()),
            environment=lambda case: environment,
            facts=lambda case: pool.facts(of_case),
        )
        carry_out(run, settings)
        rows = run.rows().to_pylist()
    files = [path.read_bytes().decode("latin-1") for path in sorted(root.rglob("*")) if path.is_file()]
    assert len(files) > 1
    return [row["status"] for row in rows], "\n".join([*files, json.dumps(rows, default=str)])


@pytest.mark.parametrize("engine", CASES)
def test_the_password_of_a_server_stands_in_nothing_that_a_run_leaves(engine: str, tmp_path: Path) -> None:
    own = server(engine)
    password = unquote(urlsplit(own.url).password or "")
    ends, left = left_by(tmp_path, CASES[engine], {variable(engine): own.url}, own.url)
    assert set(ends) == {"ok"}
    assert len(password) == 32
    assert password not in left


@pytest.mark.parametrize("engine", CASES)
def test_a_password_that_the_server_refuses_stands_in_no_message_either(engine: str, tmp_path: Path) -> None:
    own = server(engine)
    wrong = own.url.replace(unquote(urlsplit(own.url).password or ""), "another-secret-word")
    ends, left = left_by(tmp_path, CASES[engine], {variable(engine): wrong}, own.url)
    assert set(ends) == {"failed"}
    assert "another-secret-word" not in left
