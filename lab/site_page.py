"""One page of the site: HTML with its style and script inside, which asks nothing of any other host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from lab.notebook_file import PARAMETERS, Notebook
from lab.notebook_html import Piece, bundle

Link = tuple[str, str]
"""File and name of a page."""

STYLE = Path(__file__).with_name("site.css").read_text(encoding="utf-8")
SCRIPT = Path(__file__).with_name("site.js").read_text(encoding="utf-8")


def page(title: str, body: str, links: Sequence[Link], here: str) -> str:
    """Return a page with its navigation; `here` is its own file."""
    named = "".join(
        f'<a href="{escape(file)}"{" aria-current=page" if file == here else ""}>{escape(name)}</a>'
        for file, name in links
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<style>{STYLE}</style></head>\n'
        f"<body><nav>{named}</nav>\n<main>\n{body}\n</main>\n<script>{SCRIPT}</script></body></html>\n"
    )


def markdown(text: str) -> str:
    """Return Markdown as HTML; HTML in it is shown, not obeyed."""
    import mistune  # what nbconvert renders Markdown with

    render = mistune.create_markdown(escape=True, plugins=["table"])
    return str(render(text)).strip()


def shown(bundles: Sequence[Mapping[str, str]]) -> str:
    """Return MIME bundles as HTML; pictures that follow one another stand side by side where there is room."""
    parts = []
    for drawn, group in groupby(bundles, key=lambda one: "image/svg+xml" in one):
        members = list(group)
        if drawn:
            figures = (_figure(one) for one in members)
            parts.append(f'<div class="panels">{"".join(figures)}</div>')
        else:
            parts += [_one(one) for one in members]
    return "\n".join(parts)


def pieces(found: Sequence[Piece]) -> str:
    """Return pieces as HTML."""
    return shown([bundle(piece) for piece in found])


def _figure(found: Mapping[str, str]) -> str:
    return f"<figure>{found['image/svg+xml']}<figcaption hidden>{escape(found['text/plain'])}</figcaption></figure>"


def _one(found: Mapping[str, str]) -> str:
    if "text/html" in found:
        table, mark, notes = found["text/html"].partition("</table>")
        return f'<div class="scroll">{table}{mark}</div>{notes}'
    if "text/markdown" in found:
        return f'<div class="md">{markdown(found["text/markdown"])}</div>'
    return f"<pre><code>{escape(found['text/plain'])}</code></pre>"


def body(notebook: Notebook, run: str) -> str:
    """Return an executed notebook as HTML: words, what the cells show, and their code folded away.

    `run` stands where the cell of the parameters names the folder of the run.
    """
    parts = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(markdown(cell["source"]))
            continue
        source = cell["source"]
        if PARAMETERS in cell.get("metadata", {}).get("tags", []):
            source = "\n".join(_named(line, run) for line in source.splitlines())
        code = f"<details><summary>code</summary><pre><code>{escape(source)}</code></pre></details>"
        parts += [shown([_joined(output) for output in cell["outputs"]]), code]
    return "\n".join(parts)


def _named(line: str, run: str) -> str:
    return f"RUN = {run!r}" if line.startswith("RUN =") else "RUNS = […]" if line.startswith("RUNS =") else line


def _joined(output: Mapping[str, Any]) -> dict[str, str]:
    return {kind: "".join(text) for kind, text in output["data"].items()}


def title_of(notebook: Notebook) -> str:
    """Return the first heading of a notebook, without its mark; "" when it begins with none.

    >>> title_of({"cells": [{"cell_type": "markdown", "source": "# 1. What does a call cost?\\n\\nWords."}]})
    '1. What does a call cost?'
    """
    first = notebook["cells"][0]["source"].lstrip().splitlines()
    return first[0].lstrip("# ").strip() if first and first[0].startswith("#") else ""


def question_of(notebook: Notebook) -> str:
    """Return the first paragraph in bold of a notebook: its question; "" when it has none."""
    paragraphs = notebook["cells"][0]["source"].split("\n\n")
    asked = [" ".join(text.split()).strip("*") for text in paragraphs if text.startswith("**")]
    return asked[0] if asked else ""
