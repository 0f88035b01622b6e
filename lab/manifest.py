"""run.json: what a run is, what it plans, what state it is in, and which files are its own."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.case import parse_key, stem_of
from lab.record import SCHEMA_VERSION, SchemaError, check_version
from lab.storage import Flaw, digest_of, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "run.json"
KIND = "timer-queue-lab run"
RUNNING, COMPLETE, INTERRUPTED = "running", "complete", "interrupted"
STATES = (RUNNING, COMPLETE, INTERRUPTED)

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    version: lambda content: content for version in (1, 2)
}
"""version -> the function that turns the content of a run.json of that version into one of the next version."""

FIELDS: dict[str, type | tuple[type, ...]] = {
    "machine": str,
    "suite": str,
    "seed": int,
    "options": dict,
    "environment": dict,
    "planned": list,
    "targets": dict,
    "state": str,
    "started_utc": str,
    "ended_utc": (str, type(None)),
    "files": dict,
}


@dataclass
class Manifest:
    """The content of run.json; `planned` holds (key, process), `files` name -> {"sha256", "bytes"} of a sealed run."""

    machine: str
    suite: str
    seed: int
    options: dict[str, Any]
    environment: dict[str, Any]
    planned: list[tuple[str, int]]
    targets: dict[str, str]
    started_utc: str
    state: str = RUNNING
    ended_utc: str | None = None
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def stems(self) -> dict[str, tuple[str, int]]:
        """The stem of every planned execution's files -> (key, process)."""
        return {stem_of(key, process): (key, process) for key, process in self.planned}


def save(run: Path, manifest: Manifest) -> None:
    """Write run.json into the folder of the run, whole or not at all, with a digest of itself."""
    content = {"kind": KIND, "schema_version": SCHEMA_VERSION, **asdict(manifest)}
    content["planned"] = [{"key": key, "process": process} for key, process in manifest.planned]
    content["digest"] = digest_of(content)
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(run / NAME, f"{text}\n".encode())


def load(run: Path) -> Manifest:
    """Return what run.json in the folder of the run says; a Flaw when it is missing, damaged, foreign or newer."""
    content = _content(run)
    if content.get("kind") != KIND:
        raise Flaw(f"{NAME} was not written by this lab: expected its kind to be {KIND!r}")
    version = content.get("schema_version")
    try:
        check_version(version)
    except SchemaError as error:
        raise Flaw(f"{NAME} cannot be read: {error}") from None
    if content.pop("digest", None) != digest_of(content):
        raise Flaw(f"{NAME} is not what was written: its content was edited")
    assert isinstance(version, int)
    for older in range(version, SCHEMA_VERSION):
        if older not in MIGRATIONS:
            raise Flaw(f"{NAME} has schema version {older}, from which no way leads to {SCHEMA_VERSION}")
        content = MIGRATIONS[older](content)
    return _manifest(content)


def _content(run: Path) -> dict[str, Any]:
    try:
        text = (run / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Flaw(f"{NAME} is missing: this folder is no run, or not a whole one") from None
    except UnicodeDecodeError:
        raise Flaw(f"{NAME} is no readable JSON: it was cut off or edited") from None
    except OSError as error:
        raise Flaw(f"{NAME} cannot be read ({error.strerror})") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise Flaw(f"{NAME} is no readable JSON: it was cut off or edited") from None
    if not isinstance(content, dict):
        raise Flaw(f"{NAME} was not written by this lab: expected an object with its kind")
    return content


def _manifest(content: dict[str, Any]) -> Manifest:
    """Return the manifest, every field of it checked: what is read here decides which files are opened."""
    for name, wanted in FIELDS.items():
        if name not in content or not isinstance(content[name], wanted) or isinstance(content[name], bool):
            raise Flaw(f"{NAME} has {content.get(name)!r} as its {name}: the lab never writes that")
    if content["state"] not in STATES:
        raise Flaw(f"{NAME} has the state {content['state']!r}: expected one of {', '.join(STATES)}")
    try:
        planned = [(str(item["key"]), int(item["process"])) for item in content["planned"]]
        for key in {key for key, _ in planned}:
            parse_key(key)
    except (TypeError, KeyError, ValueError) as error:
        raise Flaw(f"{NAME} plans something that is no execution ({error})") from None
    for name in content["files"]:
        if not re.fullmatch(r"([a-z]+/)?[a-zA-Z0-9=,._-]+\.(parquet|folded)", name):
            raise Flaw(f"{NAME} lists {name!r}, which is no file of a run")
    return Manifest(**{**{name: content[name] for name in FIELDS}, "planned": planned})
