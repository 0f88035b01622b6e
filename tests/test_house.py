"""The rules of the house that a reader relies on: import arrows, sizes, and a README that names every front door."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import door

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("lab", "queues", "runners")

LAB_ORDER = (
    "units",
    "absent",
    "case",
    "machine",
    "environment",
    "record",
    "disturbance",
    "storage",
    "manifest",
    "integrity",
    "chance",
    "rank",
    "histogram",
    "worst",
    "recorded",
    "archive",
    "interval",
    "steady",
    "sample",
    "recount",
    "scaling",
    "correction",
    "verdict",
    "table",
    "ratios",
    "reference",
    "memory",
    "cells",
    "arms",
    "collector",
    "documents",
    "schedules",
    "events",
    "pacing",
    "families",
    "slowest",
    "durable",
    "figure_axis",
    "figure_panel",
    "figure",
    "report",
    "noise",
    "show",
    "pairing",
    "compare",
    "export",
    "alarms",
    "evidence",
    "claim",
    "bench",
    "claims_advisory",
    "claims_durable",
    "claims_events",
    "claims_pacing",
    "claims_perl",
    "claims_cost",
    "claims_worst",
    "claims_memory",
    "claims",
    "flame",
    "figure_scaling",
    "notebook_html",
    "figure_heat",
    "figure_tail",
    "figure_calls",
    "figure_memory",
    "probe",
    "advice",
    "doctor",
    "calibration",
    "front",
    "notebook",
    "notebook_theory",
    "notebook_cost",
    "notebook_latency",
    "notebook_memory",
    "notebook_reattach",
    "notebook_words",
    "notebook_guide",
    "notebook_machines",
    "notebook_schedules",
    "notebook_events",
    "notebook_durable",
    "notebook_pacing",
    "notebook_file",
    "notebook_run",
    "site_page",
    "site_verdict",
    "site",
    "judging",
    "cli_queues",
    "cli_run",
    "cli_show",
    "cli_report",
    "cli_check",
)
"""Each module of `lab` may import only those before it; cli.py wires them all."""

FRONT_DOOR = {"cli", "cli_queues", "cli_run", "cli_show", "cli_report", "cli_check"}
"""The modules of `lab` that wire commands, and so alone may import the other rooms."""

WORKER_SIDE = (
    "worker",
    "workload",
    "workloads",
    "checks",
    "rigs",
    "null",
    "counters",
    "counts",
    "latency",
    "realtime",
    "causes",
    "level",
    "batched",
    "blocks",
    "lifecycle",
    "memory",
    "truths",
    "burners",
    "rooms",
    "advisory_rigs",
    "advisory_simulated",
    "advisory_workloads",
    "durable_workloads",
    "events_crew",
    "events_rows",
    "events_workloads",
    "pacing_clocks",
    "pacing_ticker",
    "pacing_limiter",
    "pacing_cooperative",
    "pacing_calls",
    "pacing_workloads",
)
"""What a worker may load of `runners`: the standard library, these, and `queues`."""

WRAPPED = {
    "sorted": {"sortedcontainers"},
    "kombu_timer": {"kombu"},
    "apscheduler_store": {"apscheduler"},
    "advisory_apscheduler": {"apscheduler"},
    "pacing_aiolimiter": {"aiolimiter"},
    "pacing_pyrate": {"pyrate_limiter"},
    "pacing_limits": {"limits"},
    "pacing_gevent": {"gevent"},
    "durable_postgres": {"psycopg"},
    "durable_redis": {"redis"},
    "mariadb_connection": {"pymysql"},
    "mariadb": {"pymysql"},
    "postgresql": {"psycopg"},
    "events_huey": {"huey"},
    "events_procrastinate": {"procrastinate", "psycopg"},
}
"""The one library that the file of a queue may wrap, by module name."""

LONGEST_FUNCTION = 60
USUAL_FUNCTION = 40
OVER_USUAL: frozenset[str] = frozenset()
"""Functions over 40 lines, by path:name. The ratchet: names may leave this set, none may join it."""

LONGEST_MODULE = 300
LONG_MODULE_REASON = re.compile(r"over 300 lines|longer than 300 lines", re.I)


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The dotted names a module imports at run time: what stands under TYPE_CHECKING does not count."""
    for node in _run_time_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if node.module in ROOMS:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _run_time_nodes(child)


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)} & set(ROOMS)


@pytest.mark.parametrize("path", modules("lab"), ids=lambda path: path.name)
def test_lab_knows_no_contestant_but_for_its_front_door(path: Path) -> None:
    allowed = set(ROOMS) if path.stem in FRONT_DOOR else {"lab"}
    assert rooms_imported(path) <= allowed


@pytest.mark.parametrize("path", modules("lab"), ids=lambda path: path.name)
def test_lab_modules_import_only_those_before_them(path: Path) -> None:
    if path.stem in ("__init__", "__main__", "cli"):
        return
    assert path.stem in LAB_ORDER, "give a new module of lab its place in LAB_ORDER"
    before = set(LAB_ORDER[: LAB_ORDER.index(path.stem)])
    within = {name.split(".")[1] for name in imported(path) if name.startswith("lab.")}
    assert within <= before


@pytest.mark.parametrize("path", modules("queues"), ids=lambda path: path.name)
def test_queues_import_the_standard_library_queues_and_the_one_library_they_wrap(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"queues"} | WRAPPED.get(path.stem, set())
    assert {name.split(".")[0] for name in imported(path)} <= allowed


@pytest.mark.parametrize("name", WORKER_SIDE)
def test_the_worker_side_imports_the_standard_library_itself_and_queues(name: str) -> None:
    path = ROOT / "runners" / f"{name}.py"
    for module in imported(path):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names or top in ("queues", "runners"), f"{name} imports {module}"
        if top == "runners":
            assert module.split(".")[1] in WORKER_SIDE, f"{name} imports {module}, which a worker must not load"


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            spoken = docstring.count("\n") + 1 if docstring else 0
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1 - spoken


@pytest.mark.parametrize("room", [*ROOMS, "tests"])
def test_functions_are_short_and_stay_so(room: str) -> None:
    for path in modules(room):
        for name, lines in functions(path):
            place = f"{path.relative_to(ROOT)}:{name}"
            assert lines <= LONGEST_FUNCTION, f"{place} has {lines} lines"
            assert lines <= USUAL_FUNCTION or place in OVER_USUAL, f"{place} has {lines} lines: shorten it"


@pytest.mark.parametrize("room", ROOMS)
def test_a_module_over_300_lines_says_why_in_its_first_lines(room: str) -> None:
    for path in modules(room):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LONGEST_MODULE:
            assert LONG_MODULE_REASON.search("\n".join(lines[:15])), f"{path.relative_to(ROOT)} has {len(lines)} lines"


def make_targets() -> list[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z-]+):.*##", text, re.M)


def lab_commands() -> list[str]:
    from lab.cli import app

    return [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]


def test_the_readme_names_every_make_target() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = make_targets()
    assert "bench" in targets
    assert [target for target in targets if f"make {target}" not in readme] == []


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = lab_commands()
    assert "run" in commands
    assert [command for command in commands if f"lab {command}" not in readme] == []


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "list",
        "show",
        "report",
        "verify",
        "conform",
        "doctor",
        "demo",
        "claims",
        "compare",
        "aa",
        "export",
        "reattach",
        "calibrate",
    ],
)
def test_the_help_of_every_command_has_an_example(command: str) -> None:
    assert command in lab_commands()
    said = door.lab(command, "--help")
    assert said.returncode == 0
    assert f"Example: lab {command}" in said.stdout


def test_every_command_is_in_the_help_test() -> None:
    marked = test_the_help_of_every_command_has_an_example.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert sorted(marked) == sorted(lab_commands())


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False)
    return listed.stdout.splitlines()


def test_no_tracked_file_names_a_home_folder_or_an_index_host() -> None:
    home = re.escape(f"{Path.home()}/").encode()
    wanted = re.compile(home + rb"|https?://[^\s\"']+/simple|index-url [^\s]")
    for name in tracked():
        path = ROOT / name
        if path.is_file() and name != "tests/test_house.py":
            assert not wanted.search(path.read_bytes()), name


def test_no_committed_file_is_large() -> None:
    for name in tracked():
        path = ROOT / name
        if path.is_file():
            assert path.stat().st_size <= 5 << 20, name


def test_the_lock_pins_every_package_with_a_hash() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert len(blocks) > 50
    for block in blocks:
        if not block.startswith("#"):
            assert "==" in block.splitlines()[0], block[:60]
            assert "--hash=sha256:" in block, block[:60]
