"""A notebook as a file: made, read, given its parameters, and written the same way every time.

What is stored has no trace of when, where and by which program it was executed: fixed cell ids, no cell metadata but
the tag, no output metadata, execution counts in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lab.environment import scrub

Notebook = dict[str, Any]

PARAMETERS = "parameters"
"""The tag of the cell whose assignments `with_parameters` replaces."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ASSIGNED = re.compile(r"^([A-Z][A-Z_]*)\s*=.*$", re.M)


class NotebookError(Exception):
    """A notebook that cannot be used as it is; the message is one sentence that names it."""


def make(path: Path, cells: Iterable[tuple[str, str]]) -> None:
    """Write a notebook without outputs from (type, source) pairs, type being "markdown", "code" or "parameters".

    A notebook that was there is replaced. OSError when it cannot be written.
    """
    made = []
    for kind, source in cells:
        cell: dict[str, Any] = {"cell_type": "markdown" if kind == "markdown" else "code", "metadata": {}}
        if kind == PARAMETERS:
            cell["metadata"]["tags"] = [PARAMETERS]
        made.append({**cell, "source": source.strip("\n")})
    write(path, {"cells": made})


def read(path: Path) -> Notebook:
    """Return the notebook in a file, sources as one text each; NotebookError when it is none."""
    try:
        found: Notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in found["cells"]:
            cell["source"] = "".join(cell["source"])
    except OSError as error:
        raise NotebookError(f"{path.name} cannot be read ({error.strerror}): expected a notebook") from None
    except (ValueError, KeyError, TypeError):
        raise NotebookError(f"{path.name} is no notebook: expected JSON with a list of cells") from None
    return found


def write(path: Path, notebook: Notebook) -> None:
    """Write a notebook in its one form: what was executed when and how leaves no trace. OSError when it cannot."""
    cells = []
    executed = 0
    for place, cell in enumerate(notebook["cells"]):
        tags = cell.get("metadata", {}).get("tags")
        plain = {"cell_type": cell["cell_type"], "id": f"cell-{place:02}", "metadata": {"tags": tags} if tags else {}}
        if cell["cell_type"] == "code":
            outputs = [_plain_output(output) for output in cell.get("outputs", [])]
            executed += 1
            ran = any(own.get("outputs") for own in notebook["cells"])
            plain |= {"execution_count": executed if ran else None, "outputs": outputs}
        cells.append({**plain, "source": _lines(cell["source"])})
    content = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def _plain_output(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output without metadata and paths; NotebookError for one that is not data to look at."""
    if output["output_type"] != "display_data":
        said = "".join(output.get("text", "")) or output.get("ename", "") or "something"
        raise NotebookError(f"a cell gives {output['output_type']} ({scrub(said)[:80]!r}): expected what `show` shows")
    data = {kind: _lines("".join(text)) for kind, text in output["data"].items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def _lines(text: str) -> list[str]:
    return "".join(text).splitlines(keepends=True)


def with_parameters(notebook: Notebook, values: Mapping[str, Any]) -> Notebook:
    """Return a copy without outputs in which the cell of the parameters assigns `values`, as far as it names them.

    >>> cell = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": 'RUN = ""  # newest\\nBATCH = 10'}
    >>> with_parameters({"cells": [cell]}, {"RUN": "mine", "OTHER": 1})["cells"][0]["source"]
    "RUN = 'mine'\\nBATCH = 10"
    """
    cells = []
    for cell in notebook["cells"]:
        copied = {**cell, "outputs": []} if cell["cell_type"] == "code" else dict(cell)
        if PARAMETERS in cell.get("metadata", {}).get("tags", []):
            copied["source"] = ASSIGNED.sub(
                lambda found: f"{found[1]} = {values[found[1]]!r}" if found[1] in values else found[0], cell["source"]
            )
        cells.append(copied)
    return {**notebook, "cells": cells}


def with_outputs(notebook: Notebook, executed: Notebook) -> Notebook:
    """Return the notebook with its own sources and the outputs of the executed one."""
    cells = [
        {**own, "outputs": other["outputs"]} if own["cell_type"] == "code" else own
        for own, other in zip(notebook["cells"], executed["cells"], strict=True)
    ]
    return {**notebook, "cells": cells}


def texts(notebook: Notebook) -> list[list[str]]:
    """Return the texts that every code cell shows, cell by cell: what two executions are compared by."""
    return [
        ["".join(output["data"]["text/plain"]) for output in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
