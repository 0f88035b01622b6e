"""Copies of the linked queue with one change each: real source, changed by exact text, in a package of its own."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ("linked", "linked_batch", "linked_known_tail", "linked_list", "reattach")
KNOWN_TAIL = "changed.linked_known_tail:LinkedKnownTail"

Change = tuple[str, str, str]
"""File without its suffix, the text that is there once, and what stands there instead."""

WALKS_TO_THE_TAIL: Change = (
    "linked_list",
    "        first = self._first()\n        if cursor.mark",
    "        first = self._first()\n        known_tail = self.tail()\n        if cursor.mark",
)
"""The tail walk, back in `append_to`."""

WALKS_TO_THE_STOP: Change = (
    "linked_list",
    "        return self._cut(stop.node)\n",
    (
        "        passed = self.node\n"
        "        while passed is not stop.node and passed.next is not None:\n"
        "            passed = passed.next\n"
        "        return self._cut(passed)\n"
    ),
)
"""`detach_through` as if the stop had to be found."""

COPIES_THE_BATCH: Change = (
    "linked_known_tail",
    "        return batch.fragment.append_to(self._anchor, batch.tail)\n",
    (
        "        kept, node = [], batch.fragment.node\n"
        "        while node is not None:\n"
        "            kept.append(node.data)\n"
        "            node = node.next\n"
        "        return batch.fragment.append_to(self._anchor, batch.tail)\n"
    ),
)
"""A copy of the batch that nobody sees."""

MOVES_IN_C: Change = (
    "reattach",
    (
        "    chain, stop = _messages(queued, part)\n"
        "    anchor = chain.cursor()\n"
        "    return (\n"
        "        lambda: anchor.detach_through(stop),\n"
        "        lambda fragment: fragment.append_to(anchor, stop),\n"
    ),
    (
        "    chain, stop = _messages(queued, part)\n"
        "    anchor = chain.cursor()\n"
        "    moved = [None] * part\n\n"
        "    def reattach(fragment):\n"
        "        moved[:0] = (None,)\n"
        "        del moved[-1]\n"
        "        return fragment.append_to(anchor, stop)\n\n"
        "    return (\n"
        "        lambda: anchor.detach_through(stop),\n"
        "        reattach,\n"
    ),
)
"""A list as long as the part, moved by one place in C: the same bytecodes and blocks whatever its length."""


KEEPS_A_COPY_MADE_IN_C: Change = (
    "reattach",
    MOVES_IN_C[1],
    (
        "    chain, stop = _messages(queued, part)\n"
        "    anchor = chain.cursor()\n"
        "    kept = []\n\n"
        "    def detach():\n"
        "        kept[:] = zip(range(1_000, 1_000 + part))\n"
        "        return anchor.detach_through(stop)\n\n"
        "    def reattach(fragment):\n"
        "        kept.clear()\n"
        "        return fragment.append_to(anchor, stop)\n\n"
        "    return (\n"
        "        detach,\n"
        "        reattach,\n"
    ),
)
"""An object kept for each message while the batch is out, made in C."""


def write(folder: Path, *changes: Change) -> str:
    """Write the package `changed` into `folder` and return the known-tail queue in it as "module:Class"."""
    package = folder / "changed"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in FILES:
        text = (ROOT / "queues" / "timer" / f"{name}.py").read_text(encoding="utf-8")
        for other in FILES:
            text = text.replace(f"from queues.timer.{other} ", f"from changed.{other} ")
        for file, old, new in changes:
            if file == name:
                assert text.count(old) == 1, f"{name}.py has {text.count(old)} times: {old}"
                text = text.replace(old, new)
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    return KNOWN_TAIL
