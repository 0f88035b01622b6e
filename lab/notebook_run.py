"""Executes notebooks on chosen runs: one after the other, in one kernel that forgets in between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.absent import absent
from lab.environment import scrub
from lab.notebook import FAMILY, ROOT, has_family
from lab.notebook_file import Notebook, NotebookError, read, with_outputs, with_parameters, write

FAMILY_ASKED = re.compile(r"""choose\(.*family=["']([a-z-]+)["']""")

NOTEBOOKS = ROOT / "notebooks"
LONGEST_CELL = 120
"""Seconds that a cell may take: it only reads results."""

SETTLE = "import gc, lab.claims, lab.documents, lab.notebook; gc.collect(); gc.freeze()"
"""Keeps what every notebook imports out of the full collection of each `%reset`, which walks all that is there."""

Report = Callable[[int, int, str], None]
"""Called with the number done, the number of all, and the name of the one that begins."""


def every(folder: Path = NOTEBOOKS) -> list[Path]:
    """Return the notebooks in reading order: by the number in front of their name."""
    return sorted(folder.glob("[0-9]*_*.ipynb"), key=lambda path: (int(path.name.split("_")[0]), path.name))


def execute(paths: Sequence[Path], runs: Sequence[Path], report: Report | None = None) -> dict[str, Notebook]:
    """Return name -> executed notebook; RUN is the first of `runs` that has the notebook's family, RUNS all of them.

    One kernel for all, because starting one takes longer than most notebooks. NotebookError names the notebook, the
    cell (from 1, code cells alone) and what went wrong in it; nothing is written.
    """
    with kernel() as started:
        return execute_in(started, paths, runs, report)


@contextmanager
def kernel() -> Iterator[Any]:
    """Start a kernel that `execute_in` can use again and again; it ends with the block, come what may.

    It is talked to through files in a folder of its own, so no port is open to others. NotebookError when it does not
    start.
    """
    # jsonschema makes grammars of an address as soon as it is imported, if it can: longer than a kernel takes to start.
    with absent("rfc3987_syntax"):
        from jupyter_client.manager import AsyncKernelManager
        from nbclient import NotebookClient
    stage = _node({"cells": [_cell("")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})  # a place for one cell
    with TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as folder:
        files = {"connection_file": f"{folder}/kernel.json", "ip": f"{folder}/ipc"}
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", **files)
        client = NotebookClient(stage, km=manager, timeout=LONGEST_CELL, startup_timeout=LONGEST_CELL)
        try:
            starting = client.setup_kernel(cwd=str(ROOT), cleanup_kc=True)
            starting.__enter__()
        except RuntimeError as error:
            raise NotebookError(
                f"no kernel could be started ({error}): is this environment that of `make setup`?"
            ) from None
        try:
            _outputs(client, SETTLE, "the kernel", 0)
            yield client
        finally:
            starting.__exit__(None, None, None)


def execute_in(
    client: Any, paths: Sequence[Path], runs: Sequence[Path], report: Report | None = None
) -> dict[str, Notebook]:
    """Do what `execute` does, in a kernel that is there."""
    found = {}
    for place, path in enumerate(paths):
        if report is not None:
            report(place, len(paths), path.stem)
        notebook = read(path)
        own = next((run for run in runs if has_family(run, family_of(notebook))), runs[0])
        values = {"RUN": str(own), "RUNS": [str(run) for run in runs]}
        found[path.stem] = _executed(client, path.name, with_parameters(notebook, values))
    return found


def _executed(client: Any, name: str, notebook: Notebook) -> Notebook:
    """Return a notebook with the outputs of its cells, in a kernel that has forgotten the one before."""
    _outputs(client, "%reset -f", name, 0)
    cells = []
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cells.append({**cell, "outputs": _outputs(client, cell["source"], name, number)})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(client: Any, source: str, name: str, number: int) -> list[dict[str, Any]]:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    cell = _node(_cell(source))
    try:
        client.execute_cell(cell, 0)
    except CellExecutionError as error:
        raise NotebookError(f"{name}, code cell {number}: {error.ename}: {scrub(error.evalue)}") from None
    except CellTimeoutError:
        raise NotebookError(f"{name}, code cell {number} took over {LONGEST_CELL} s: expected a cell to read") from None
    except DeadKernelError:
        raise NotebookError(f"{name}, code cell {number}: its process died") from None
    return [dict(output) for output in cell["outputs"]]


def _cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _node(content: dict[str, Any]) -> Any:
    """Return plain data as nbclient wants it."""
    from nbformat.notebooknode import from_dict

    return from_dict(content)  # type: ignore[no-untyped-call]


def store(paths: Sequence[Path], run: Path, report: Report | None = None) -> None:
    """Execute notebooks on a run, or the one beside it that has their family, and write their outputs into them.

    Their parameters stay as they are. Nothing is written when one of them fails.
    """
    with kernel() as started:
        executed: dict[str, Notebook] = {}
        for place, path in enumerate(paths):
            if report is not None:
                report(place, len(paths), path.stem)
            executed |= execute_in(started, [path], [run_for(path, run)])
    for path in paths:
        write(path, with_outputs(read(path), executed[path.stem]))


def run_for(path: Path, run: Path) -> Path:
    """Return the run that a notebook is stored on: `run`, or the newest beside it that has the notebook's family.

    Where no run has it, `run` has to do.
    """
    family = family_of(read(path))
    beside = [other for other in sorted(run.parent.iterdir()) if has_family(other, family)]
    return run if has_family(run, family) or not beside else beside[-1]


def family_of(notebook: Notebook) -> str:
    """Return the family that a notebook asks `choose` for; that of the timer queues where it asks for none."""
    asked = (FAMILY_ASKED.search(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return next((found[1] for found in asked if found), FAMILY)
